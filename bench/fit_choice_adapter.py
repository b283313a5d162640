"""Train `osrag/data/choice_adapter.gguf`: an adapter that lets the small model decide a choice by sentences.

    python bench/fit_choice_adapter.py --out choice_adapter.gguf [--minutes 50]

Reads QUESTIONS.jsonl (default: examples/eval/quiz/reader.jsonl, written from the facts of the course book), looks for
the sentences that the quiz would show with each, and trains on the weights as they are packed, so that the adapter
fits what is shipped. In a fifth of the examples the sentence that decides is left out, in two fifths it stands at a
random place: of other people's questions the search finds it first for two in five only, and the adapter must not
learn to trust the first sentence. One example in five is a statement, right or wrong, made of a question and one of
its options. The shipped file was trained in two goes, the second with statements (docs/experiments/quiz.md). Needs
torch, transformers, peft (FlagEmbedding brings it) and gguf. An hour on two cores reads some 2,000 examples.
"""

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


from osrag.app.parts import Parts
from osrag.models.protocols import Message
from osrag.models.store import Store
from osrag.quiz.choice import NUMBER_TOKENS, SENTENCES, as_choice
from osrag.quiz.evidence import ProofFinder
from osrag.quiz.exercise import Exercise, Option
from osrag.quiz.prompt import ADAPTER_TOKENS, adapter_prompt
from osrag.settings import load_settings
from osrag.text import squeeze
from osrag.types import Language

QUESTIONS = Path(__file__).resolve().parent.parent / "examples" / "eval" / "quiz" / "reader.jsonl"
KEYS = "ABCD"
BLANK = re.compile(r"（\s*）|_{3,}")
CANDIDATES = 10  # sentences that are looked at for each question
LEFT_OUT, AS_FOUND = 0.22, 0.38  # shares of examples without the sentence that decides, and in the order of the search
STATEMENTS = 0.2  # share of examples that are statements, where the question has a blank to fill
RANK, FIRST_LAYER = 8, 14  # of 28 layers: the upper half learns, and nothing runs back through the lower one
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj")
RATE, BATCH, WARM_UP = 3e-4, 8, 10
NAMES = {"q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output"}  # of GGUF


@dataclass(frozen=True, slots=True)
class Found:
    """A question with the sentences that the search found for it."""

    item: Exercise
    right: str  # text of the right option
    sentences: tuple[str, ...]  # the best one first
    deciding: str  # the sentence that holds the quote, or the quote


def questions(path: Path) -> list[tuple[Exercise, str, str]]:
    """(question, text of the right option, quote) of both languages of every line."""
    found = []
    languages: tuple[Language, ...] = ("zh", "en")
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for language, quote in zip(languages, row["quotes"], strict=True):
            one = row[language]
            texts = [one["right"], *one["wrong"]]
            options = tuple(Option(key, text) for key, text in zip(KEYS, texts, strict=True))
            found.append((Exercise("single_choice", language, one["q"], options), one["right"], quote))
    return found


def holds(sentence: str, quote: str) -> bool:
    one, other = squeeze(sentence), squeeze(quote)
    return other in one or (len(one) > 8 and one in other)


def search(finder: ProofFinder, item: Exercise, right: str, quote: str) -> Found:
    proof = finder.find(item)
    near = tuple(sentence.text for sentence in proof.deciding(CANDIDATES))
    whole = [*near, *(sentence.text for sentence in proof.evidence.statements)]
    return Found(item, right, near, next((text for text in whole if holds(text, quote)), quote))


def shown(found: Found, pick: random.Random, count: Any) -> list[str]:
    """Sentences of one example: without the one that decides, as the search has them, or with it at any place."""
    most, draw = pick.choice([3, 4, SENTENCES, SENTENCES]), pick.random()
    rest = [text for text in found.sentences if text != found.deciding]
    if draw < LEFT_OUT:
        order = rest
    elif draw < LEFT_OUT + AS_FOUND and found.deciding in found.sentences:
        order = list(found.sentences)
    else:
        order = list(rest)
        order.insert(pick.choice([0, 0, 1, 2, 3] if most > 3 else [0, 1, 2]), found.deciding)
    kept: list[str] = []
    left = ADAPTER_TOKENS
    for text in order:
        if not kept or count(text) + NUMBER_TOKENS <= left:
            kept.append(text)
            left -= count(text) + NUMBER_TOKENS
        if len(kept) == most:
            break
    return kept


def chat_text(messages: Sequence[Message]) -> str:
    """In the chat format of Qwen2.5, as the engine writes it."""
    turns = "".join(f"<|im_start|>{one.role}\n{one.content}<|im_end|>\n" for one in messages)
    return f"{turns}<|im_start|>assistant\n"


def examples(rows: Sequence[Found], tokenizer: Any, pick: random.Random) -> Iterator[tuple[list[int], int]]:
    """(token ids of a prompt, token of its right letter), the options of each in an order of their own."""

    def count(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    for found in rows:
        item, right = stated(found, pick) if pick.random() < STATEMENTS else (found.item, found.right)
        texts = [option.text for option in item.options]
        pick.shuffle(texts)
        options = tuple(Option(key, text) for key, text in zip(KEYS, texts, strict=False))
        prompt = chat_text(adapter_prompt(replace(item, options=options), shown(found, pick, count)))
        letter = tokenizer(KEYS[texts.index(right)])["input_ids"][0]
        yield tokenizer(prompt)["input_ids"], letter


def stated(found: Found, pick: random.Random) -> tuple[Exercise, str]:
    """A statement as a choice between right and wrong, and the right word; the question itself where it has no blank.

    What fills the blank is the right option, or as often another.
    """
    item = found.item
    others = [option.text for option in item.options if option.text != found.right]
    true = pick.random() < 0.5
    text = found.right if true else pick.choice(others)
    question, blanks = BLANK.subn(lambda match: text, item.question, count=1)
    if not blanks:
        return item, found.right
    asked = as_choice(Exercise("true_false", item.language, question))
    return asked, asked.options[0 if true else 1].text


def unpacked(weights: Path) -> tuple[Any, Any]:
    """The model of a GGUF file in bfloat16, and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    folder, file = str(weights.parent), weights.name
    config = GgufConfig(gguf_file=file, dequantize=True)
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=file, dtype=torch.bfloat16, quantization_config=config
    )
    return model, AutoTokenizer.from_pretrained(folder, gguf_file=file)


def letters(core: Any, prompts: Sequence[Sequence[int]], pad: int) -> torch.Tensor:
    """(prompts, vocabulary) what the model holds of the token that follows each prompt."""
    longest = max(map(len, prompts))
    ids = torch.full((len(prompts), longest), pad)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt)
        mask[row, : len(prompt)] = 1
    states = core.model(ids, attention_mask=mask, use_cache=False).last_hidden_state
    last = states[torch.arange(len(prompts)), mask.sum(1) - 1]
    return core.lm_head(last).float()


def in_batches(data: Sequence[tuple[list[int], int]], pick: random.Random) -> list[list[int]]:
    """Places of examples of like length together, the batches in random order."""
    out: list[list[int]] = []
    for start in range(0, len(data), BATCH * 16):
        near = sorted(range(start, min(start + BATCH * 16, len(data))), key=lambda place: len(data[place][0]))
        group = [near[place : place + BATCH] for place in range(0, len(near), BATCH)]
        pick.shuffle(group)
        out += group
    return out


def train(
    model: Any, tokenizer: Any, data: Sequence[tuple[list[int], int]], minutes: float, pick: random.Random
) -> Any:
    """The model with its adapter after one pass, or as much of it as fits into `minutes`."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(7)
    layers = list(range(FIRST_LAYER, model.config.num_hidden_layers))
    tuned = get_peft_model(
        model, LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=list(TARGETS), layers_to_transform=layers)
    )
    core = tuned.base_model.model
    learning = [one for one in tuned.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=RATE, weight_decay=0.0, betas=(0.9, 0.99))
    order = in_batches(data, pick)
    start, seen = time.monotonic(), []
    for step, places in enumerate(order):
        done = max(step / len(order), (time.monotonic() - start) / 60 / minutes)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * max(0.02, 1 - done)
        right = torch.tensor([data[place][1] for place in places])
        loss = torch.nn.functional.cross_entropy(
            letters(core, [data[place][0] for place in places], tokenizer.pad_token_id), right
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        seen.append(float(loss))
        if step % 10 == 9:
            print(f"{step + 1}/{len(order)} loss {np.mean(seen[-20:]):.3f}", file=sys.stderr, flush=True)
    return tuned


def write(tuned: Any, path: Path) -> None:
    """The adapter as llama.cpp reads it: half precision, named by block."""
    import gguf
    from safetensors.numpy import load_file

    with tempfile.TemporaryDirectory() as folder:
        tuned.save_pretrained(folder)
        tensors = load_file(Path(folder) / "adapter_model.safetensors")
    writer = gguf.GGUFWriter(str(path), "qwen2")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 2.0 * RANK)
    for name, values in tensors.items():
        found = re.search(r"layers\.(\d+)\.self_attn\.(\w+)\.lora_([AB])\.weight", name)
        assert found, name
        writer.add_tensor(f"blk.{found[1]}.{NAMES[found[2]]}.weight.lora_{found[3].lower()}", values.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path, nargs="?", default=QUESTIONS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=2700, help="questions, each in one language (default: 2700)")
    parser.add_argument("--minutes", type=float, default=50.0, help="of training at most (default: 50)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    pick = random.Random(args.seed)
    settings = load_settings()
    finder = ProofFinder(Parts(settings).textbook)
    asked = questions(args.questions)
    pick.shuffle(asked)
    rows = [search(finder, *one) for one in asked[: args.count]]
    model, tokenizer = unpacked(Store(settings).path("chat"))
    tuned = train(model, tokenizer, list(examples(rows, tokenizer, pick)), args.minutes, pick)
    write(tuned, args.out)


if __name__ == "__main__":
    main()
