"""The path of Qwen3-8B on a tiny random Qwen3, on the CPU: NF4, streaming, stopping, schema."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from osrag.errors import BadInput, BadWeights, ModelBusy, ModelFailed
from osrag.models.protocols import ChatOptions, Message, complete
from osrag.models.structured import TOP, ask, weigh
from osrag.models.transformers_chat import ChatConfig, TransformersChat, load_model, load_transformers_chat, prompt_ids
from osrag.models.usage import UsageMeter
from tests.large import tiny

ASK = [Message("system", "be plain"), Message("user", "什么是进程?")]
GREEDY = ChatOptions(max_tokens=24, temperature=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.qwen3(tmp_path_factory.mktemp("qwen3"))


def config(folder: Path, **more: Any) -> ChatConfig:
    return replace(
        ChatConfig(folder=folder, name="tiny", precision="float32", device="cpu", context_tokens=512), **more
    )


@pytest.fixture(scope="module")
def chat(folder: Path) -> TransformersChat:
    return load_transformers_chat(config(folder), UsageMeter())


def test_the_prompt_is_the_model_s_own_with_thinking_off(chat: TransformersChat):
    tokenizer = chat._generator.tokenizer
    text = tokenizer.decode(prompt_ids(tokenizer, ASK, thinking=False))
    assert text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert "什么是进程?" in text
    assert "<think>" not in tokenizer.decode(prompt_ids(tokenizer, ASK, thinking=True))


def test_the_stream_is_what_plain_generate_gives(chat: TransformersChat):
    import torch

    tokenizer, model = chat._generator.tokenizer, chat._generator.model
    ids = torch.tensor([prompt_ids(tokenizer, ASK, thinking=False)])
    plain = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=24, do_sample=False, pad_token_id=256
    )
    expected = tokenizer.decode(plain[0, ids.shape[1] :], skip_special_tokens=True)
    pieces = [piece for piece in chat.stream(ASK, GREEDY) if piece]
    assert "".join(pieces).rstrip("\ufffd") == expected.lstrip().rstrip("\ufffd")
    assert len(pieces) > 3


def test_the_chances_of_a_few_words_are_those_of_the_first_token(chat: TransformersChat):
    import torch

    tokenizer, model = chat._generator.tokenizer, chat._generator.model
    ids = torch.tensor([prompt_ids(tokenizer, ASK, thinking=False)])
    with torch.inference_mode():
        scores = model(input_ids=ids).logits[0, -1].float()
    likely = [tokenizer.decode([n]) for n in scores.topk(TOP).indices.tolist()]
    words = [word.strip().casefold() for word in likely]
    one, other = [word for word in words if word and words.count(word) == 1][:2]
    chances = torch.softmax(scores, dim=-1).topk(TOP).values.tolist()
    expected = chances[words.index(one)] / (chances[words.index(one)] + chances[words.index(other)])
    assert weigh(chat, ASK, (one, other), ChatOptions())[0] == pytest.approx(expected, abs=1e-4)


def test_one_seed_gives_one_reply(chat: TransformersChat):
    options = ChatOptions(max_tokens=16, temperature=1.0, seed=5)
    assert complete(chat, ASK, options) == complete(chat, ASK, options)
    assert complete(chat, ASK, options) != complete(chat, ASK, replace(options, seed=6))


def test_usage_is_counted(folder: Path):
    meter = UsageMeter()
    complete(load_transformers_chat(config(folder), meter), ASK, GREEDY)
    call = meter.last()[0]
    assert call.prompt_tokens_new > 20 and 0 < call.generated <= 24
    assert call.ended in {"length", "done"} and call.first_token_s is not None


class Grade(BaseModel, extra="forbid"):
    reason: str = Field(max_length=12)
    points: int = Field(ge=0, le=10)


def test_random_weights_still_answer_in_the_schema(chat: TransformersChat):
    pytest.importorskip("xgrammar", reason="requirements-gpu.txt is not installed")
    for seed in (1, 2):
        options = ChatOptions(max_tokens=200, temperature=1.0, seed=seed)
        grade = ask(chat, ASK, Grade, options)
        assert 0 <= grade.points <= 10
        raw = complete(chat, ASK, replace(options, schema=Grade.model_json_schema()))
        assert Grade.model_validate(json.loads(raw))


def test_replies_side_by_side_do_not_disturb_each_other(chat: TransformersChat):
    """Different lengths and limits, a token of each in turn: each reply is what it is alone."""
    tokenizer = chat._generator.tokenizer
    asks = {"why?": 5, "what is virtual memory and who maps it?": 20, "页表": 11}
    streams = [
        chat._generator.pieces(prompt_ids(tokenizer, [Message("user", text)], thinking=False), GREEDY, limit)
        for text, limit in asks.items()
    ]
    turns = list(zip_longest(*streams))
    for (text, limit), pieces in zip(asks.items(), zip(*turns, strict=True), strict=True):
        together = [piece for piece in pieces if piece]
        alone = complete(chat, [Message("user", text)], replace(GREEDY, max_tokens=limit))
        assert "".join(piece.text for piece in together).lstrip() == alone.lstrip()
        assert together[-1].generated == len(together) <= limit
        assert together[-1].ended in {"length", "done"}


class Slow:
    """A model whose steps take time."""

    def __init__(self, model: Any, step_s: float) -> None:
        self._model, self.step_s, self.steps = model, step_s, 0
        model.register_forward_pre_hook(self._wait)

    def _wait(self, *_: Any) -> None:
        self.steps += 1
        time.sleep(self.step_s)


@pytest.fixture
def slow(folder: Path) -> Iterator[tuple[TransformersChat, Slow]]:
    chat = load_transformers_chat(config(folder, slots=3), UsageMeter())
    yield chat, Slow(chat._generator.model, 0.03)


def test_a_reader_who_leaves_stops_the_model(slow: tuple[TransformersChat, Slow]):
    chat, steps = slow
    stream = chat.stream(ASK, ChatOptions(max_tokens=400, temperature=1.0, seed=1))
    while not next(stream):
        pass
    start = time.monotonic()
    stream.close()
    assert time.monotonic() - start < 0.3
    time.sleep(0.2)
    seen = steps.steps
    time.sleep(0.3)
    assert steps.steps == seen


def test_several_students_are_answered_and_none_mixed(slow: tuple[TransformersChat, Slow]):
    chat, _ = slow
    alone = {n: complete(chat, [Message("user", f"q{n}")], replace(GREEDY, max_tokens=8)) for n in range(6)}
    got: dict[int, str] = {}

    def student(n: int) -> None:
        got[n] = complete(chat, [Message("user", f"q{n}")], replace(GREEDY, max_tokens=8))

    threads = [threading.Thread(target=student, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert got == alone


def test_a_full_house_says_so(slow: tuple[TransformersChat, Slow]):
    chat, _ = slow
    held = [chat.stream(ASK, ChatOptions(max_tokens=400, temperature=1.0, seed=n)) for n in range(3)]
    for stream in held:
        next(stream)
    with pytest.raises(ModelBusy, match="3 places"):
        list(chat.stream(ASK, ChatOptions(first_token_s=0.3)))
    for stream in held:
        stream.close()


def test_every_wait_has_a_deadline(folder: Path):
    chat = load_transformers_chat(config(folder), UsageMeter())
    Slow(chat._generator.model, 2.0)
    start = time.monotonic()
    with pytest.raises(ModelFailed, match="first token"):
        list(chat.stream(ASK, ChatOptions(first_token_s=0.4)))
    assert time.monotonic() - start < 1.5


def test_an_error_in_mid_reply_reaches_the_reader_and_the_next_call_works(folder: Path):
    chat = load_transformers_chat(config(folder), UsageMeter())
    calls = 0

    def breaks(*_: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise RuntimeError("CUDA error: an illegal memory access was encountered\nmore")

    chat._generator.model.register_forward_pre_hook(breaks)
    stream = chat.stream(ASK, GREEDY)
    with pytest.raises(ModelFailed, match="illegal memory access"):
        list(stream)
    assert complete(chat, ASK, GREEDY)


def test_a_full_graphics_memory_is_a_sentence(folder: Path):
    import torch

    chat = load_transformers_chat(config(folder), UsageMeter())

    def full(*_: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    chat._generator.model.register_forward_pre_hook(full)
    with pytest.raises(ModelFailed, match="graphics memory is full") as caught:
        complete(chat, ASK, GREEDY)
    assert "OSRAG_SLOTS" in caught.value.hint


def test_too_long_a_question_is_the_asker_s(chat: TransformersChat):
    with pytest.raises(BadInput, match="tokens"):
        next(chat.stream([Message("user", "x" * 600)], GREEDY))


def test_half_a_download_cannot_be_loaded(tmp_path: Path):
    name = tiny.drop_shard(tiny.qwen3(tmp_path))
    with pytest.raises(BadWeights, match="cannot be loaded") as caught:
        load_model(config(tmp_path))
    assert name and "fetch" in caught.value.hint


def test_nf4_with_double_quantisation_answers_on_the_cpu(folder: Path):
    bitsandbytes = pytest.importorskip("bitsandbytes", reason="requirements-gpu.txt is not installed")
    chat = load_transformers_chat(config(folder, precision="nf4"), UsageMeter())
    model = chat._generator.model
    layer = model.model.layers[0].mlp.up_proj
    assert isinstance(layer, bitsandbytes.nn.Linear4bit)
    assert layer.weight.quant_type == "nf4" and layer.weight.quant_state.nested
    assert not isinstance(model.lm_head, bitsandbytes.nn.Linear4bit)
    assert complete(chat, ASK, replace(GREEDY, max_tokens=6))


def test_bfloat16_is_what_zerogpu_loads(folder: Path):
    import torch

    model, _ = load_model(config(folder, precision="bfloat16"))
    assert model.dtype == torch.bfloat16
