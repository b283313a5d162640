"""The large models on a graphics card, with random weights of the true shapes: memory, first token, tokens a second.

    python bench/gpu.py [--precision nf4|bfloat16|both] [--only chat|embed] [--tiny] [--json FILE]

Random weights take as much memory and time as trained ones, so nothing is downloaded. torch and
transformers are enough to start: without bitsandbytes NF4 is left out, without FlagEmbedding the
same encoder runs through transformers, and the result says so. What was measured is written after
each part, so that a run that is cut off leaves what it has. `--tiny` runs the same code on a small
model and one thread of the CPU; of its figures only the cost of streaming means something.
"""

import argparse
import gc
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.models.protocols import ChatOptions, Message
from osrag.models.transformers_chat import (
    ChatConfig,
    TokenGenerator,
    TransformersChat,
    half_precision,
    prompt_ids,
)
from osrag.models.usage import UsageMeter
from tests.large import tiny

QWEN3_8B = {
    "vocab_size": 151_936,
    "hidden_size": 4096,
    "intermediate_size": 12_288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 40_960,
    "tie_word_embeddings": False,
}
SMALL = {**QWEN3_8B, "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 8, "vocab_size": 8192}
SMALL |= {"num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64}
BGE_M3 = {"vocab_size": 250_002, "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
BGE_M3 |= {"intermediate_size": 4096, "max_position_embeddings": 8194, "type_vocab_size": 1}
PROMPT_TOKENS, NEW_TOKENS = 700, 128
CHUNKS = 20_000
# Tokens of a description in index/kernel_chunks by the vocabulary of XLM-RoBERTa: its 5th, 15th, … 95th percentile
# (mean 57). The random model's tokenizer makes a token of a sign.
CHUNK_TOKENS = (20, 28, 33, 39, 45, 51, 60, 72, 91, 125)
FLOORS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "NF4 with 4k of context within 7.5 GB": lambda found: found["nf4"]["peak_gb_4k_context"] <= 7.5,
    "streaming under 5 % of plain generate, NF4": lambda found: found["nf4"]["streaming_overhead_percent"] < 5,
    "streaming under 5 %, bfloat16": lambda found: found["bfloat16"]["streaming_overhead_percent"] < 5,
    "20,000 chunks in 60 s": lambda found: found["embed"]["seconds"] <= 60,
}


def random_chat_model(shape: dict[str, Any], precision: str, device: str) -> Any:
    """A Qwen3 of this shape, made on the device matrix by matrix; in NF4 each is quantised at once."""
    import torch
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    half = half_precision(device)
    with torch.device("meta"):
        model = Qwen3ForCausalLM(Qwen3Config(**shape)).to(half)
    rotary = type(model.model.rotary_emb)(model.config)
    if precision == "nf4":
        _to_linear4bit(model, half, device)
    for name, parameter in list(model.named_parameters()):
        if parameter.device.type != "meta":
            continue
        owner, leaf = model.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2]
        value = torch.ones(parameter.shape, dtype=half, device=device)
        if parameter.ndim > 1:
            value.normal_(std=0.02)
        setattr(owner, leaf, torch.nn.Parameter(value, requires_grad=False))
    model.model.rotary_emb = rotary.to(device)
    model.generation_config = GenerationConfig(eos_token_id=shape["vocab_size"] - 1)
    return model.eval()


def _to_linear4bit(model: Any, half: Any, device: str) -> None:
    import bitsandbytes as bnb
    import torch

    for name, module in list(model.named_modules()):
        if not isinstance(module, torch.nn.Linear) or name == "lm_head":
            continue
        linear = bnb.nn.Linear4bit(
            module.in_features, module.out_features, bias=False, compute_dtype=half, compress_statistics=True,
            quant_type="nf4", device="meta",
        )  # fmt: skip
        weight = torch.empty(module.out_features, module.in_features, dtype=half, device=device).normal_(std=0.02)
        linear.weight = bnb.nn.Params4bit(
            weight.cpu(), requires_grad=False, compress_statistics=True, quant_type="nf4"
        ).to(device)
        model.get_submodule(name.rpartition(".")[0]).__setattr__(name.rpartition(".")[2], linear)


def make_chat(shape: dict[str, Any], precision: str, device: str) -> TransformersChat:
    from transformers import AutoTokenizer

    with tempfile.TemporaryDirectory() as folder:
        tiny.bytes_tokenizer(Path(folder), size=shape["vocab_size"])
        tokenizer = AutoTokenizer.from_pretrained(folder)
    config = ChatConfig(Path(), "random", "nf4" if precision == "nf4" else "bfloat16", device, 4096, 16)
    generator = TokenGenerator(random_chat_model(shape, precision, device), tokenizer)
    return TransformersChat(generator, config, UsageMeter(keep=1000))


def ask(prompt_tokens: int) -> list[Message]:
    return [Message("user", "x" * (prompt_tokens - 20))]  # the tokenizer makes a token of a byte


def plain_generate(chat: TransformersChat, tokens: int, new: int) -> float:
    """Tokens a second of `generate` alone, without streaming."""
    import torch

    generator: Any = chat._generator
    ids = torch.tensor([prompt_ids(generator.tokenizer, ask(tokens), thinking=False)], device=generator.model.device)
    start = time.perf_counter()
    with torch.inference_mode():
        out = generator.model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=new, min_new_tokens=new,
            do_sample=True, top_k=20, top_p=0.8, temperature=0.7, pad_token_id=0,
        )  # fmt: skip
    return (out.shape[1] - ids.shape[1]) / (time.perf_counter() - start)


def overhead(chat: TransformersChat, tokens: int, new: int, rounds: int) -> dict[str, Any]:
    """Streaming against plain `generate`, turn by turn, so that a machine that slows down slows both."""
    plain: list[float] = []
    streamed: list[float] = []
    for _ in range(rounds):
        plain.append(plain_generate(chat, tokens, new))
        streamed.append(students(chat, 1, tokens, new)["tokens_per_s"])
    share = 1 - sorted(streamed)[rounds // 2] / sorted(plain)[rounds // 2]
    return {
        "plain_tokens_per_s": plain,
        "streamed_tokens_per_s": streamed,
        "streaming_overhead_percent": 100 * share,
    }


def students(chat: TransformersChat, count: int, tokens: int, new: int) -> dict[str, float]:
    """`count` students who ask at once."""
    firsts: list[float] = []
    made: list[int] = []

    def student(seed: int) -> None:
        start = time.perf_counter()
        first = 0.0
        for piece in chat.stream(ask(tokens), ChatOptions(max_tokens=new, seed=seed, purpose=f"s{count}")):
            if piece and not first:
                first = time.perf_counter() - start
        firsts.append(first)

    threads = [threading.Thread(target=student, args=(seed,)) for seed in range(count)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    made = [call.generated for call in chat._gateway._usage.last(count)]
    return {
        "students": count,
        "first_token_s_median": sorted(firsts)[count // 2],
        "first_token_s_worst": max(firsts),
        "tokens_per_s": sum(made) / seconds,
    }


def bench_chat(precision: str, device: str, small: bool, rounds: int) -> dict[str, Any]:
    import torch

    shape = SMALL if small else QWEN3_8B
    tokens, new = (100, 64) if small else (PROMPT_TOKENS, NEW_TOKENS)
    cuda = device.startswith("cuda")
    start = time.perf_counter()
    chat = make_chat(shape, precision, device)
    found: dict[str, Any] = {"made_s": time.perf_counter() - start, "prompt_tokens": tokens, "new_tokens": new}
    if cuda:
        found["loaded_gb"] = torch.cuda.memory_allocated() / 1e9
    plain_generate(chat, tokens, 4)  # kernels load
    if cuda:
        # First of all: what many students at once leave behind is not what one needs.
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        students(chat, 1, 4000, 64)
        found["peak_gb_4k_context"] = torch.cuda.max_memory_reserved() / 1e9
        free, total = torch.cuda.mem_get_info()
        found["card_used_gb"] = (total - free) / 1e9  # with what the driver keeps for itself
    found |= overhead(chat, tokens, new, rounds)
    found["rows"] = [students(chat, count, tokens, new) for count in (1, 4, 16)]
    return found


class PlainBgeM3:
    """The same encoder through transformers alone, batches of like lengths, for a machine without FlagEmbedding."""

    def __init__(self, folder: Path, device: str, batch: int) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        half = torch.float16 if device.startswith("cuda") else torch.float32
        self._model = AutoModel.from_pretrained(folder, dtype=half, add_pooling_layer=False).to(device).eval()
        self._batch = batch

    def passages(self, texts: Sequence[str]) -> Any:
        """(texts, dim) unit rows, on the processor."""
        import torch

        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        rows: list[Any] = [None] * len(texts)
        with torch.inference_mode():
            for start in range(0, len(order), self._batch):
                places = order[start : start + self._batch]
                inputs = self._tokenizer([texts[place] for place in places], padding=True, return_tensors="pt")
                first = self._model(**inputs.to(self._model.device)).last_hidden_state[:, 0]
                unit = torch.nn.functional.normalize(first.float(), dim=1).cpu()
                for place, row in zip(places, unit, strict=True):
                    rows[place] = row
        return torch.stack(rows)


def bench_embed(device: str, small: bool) -> dict[str, Any]:
    count, batch = (40, 8) if small else (CHUNKS, 256)
    signs = "abcdefghij"
    texts = [(signs * 13)[: CHUNK_TOKENS[place % len(CHUNK_TOKENS)] - 3] + signs[place % 7] for place in range(count)]
    flag = find_spec("FlagEmbedding") is not None
    with tempfile.TemporaryDirectory() as folder:
        tiny.bge_m3(Path(folder), shape=None if small else BGE_M3)
        encoder: Any
        if flag:
            from osrag.models.bge import BgeM3

            encoder = BgeM3(Path(folder), revision="random", device=device, batch=batch)
        else:
            encoder = PlainBgeM3(Path(folder), device, batch)
    encoder.passages(texts[:batch])  # kernels load
    start = time.perf_counter()
    encoder.passages(texts)
    seconds = time.perf_counter() - start
    return {
        "through": "FlagEmbedding" if flag else "transformers (FlagEmbedding is not installed)",
        "chunks": count,
        "tokens_mean": sum(CHUNK_TOKENS) / len(CHUNK_TOKENS),
        "seconds": seconds,
        "chunks_per_s": count / seconds,
    }


def verdicts(found: dict[str, Any]) -> dict[str, str]:
    """Each floor: held, missed or not measured."""
    said: dict[str, str] = {}
    for name, holds in FLOORS.items():
        try:
            said[name] = "held" if holds(found) else "missed"
        except (KeyError, TypeError):
            said[name] = "not measured"
    return said


def parts_of(args: argparse.Namespace, device: str) -> dict[str, Callable[[], Any]]:
    """What is to be measured, by name."""
    parts: dict[str, Callable[[], Any]] = {}
    wanted = ("nf4", "bfloat16") if args.precision == "both" else (args.precision,)
    for precision in wanted if args.only != "embed" else ():
        if precision == "nf4" and find_spec("bitsandbytes") is None:
            parts[precision] = lambda: "not measured: bitsandbytes is not installed"
        else:
            parts[precision] = lambda precision=precision: bench_chat(precision, device, args.tiny, args.rounds)
    if args.only != "chat":
        parts["embed"] = lambda: bench_embed(device, args.tiny)
    return parts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=("nf4", "bfloat16", "both"), default="both")
    parser.add_argument("--only", choices=("chat", "embed"))
    parser.add_argument("--rounds", type=int, default=5, help="turns of streaming against plain generate")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    import torch

    if not torch.cuda.is_available() and not args.tiny:
        print("bench/gpu.py: no CUDA device here; run it on a machine with one, or with --tiny to try the code")
        return 2
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if args.tiny:
        torch.set_num_threads(1)  # threads of so small a model mostly wait for each other
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    found: dict[str, Any] = {"device": name, "torch": torch.__version__, "tiny": args.tiny}
    for part, measure in parts_of(args, device).items():
        print(f"measuring {part} …", file=sys.stderr, flush=True)
        found[part] = measure()
        if not args.tiny:
            found["floors"] = verdicts(found)
        if args.json:
            args.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        gc.collect()
        if device == "cuda":
            torch.cuda.empty_cache()
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
