"""Which models a profile means on which machine, and one step down when they cannot be had."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from osrag.errors import MissingExtra, ModelFailed, ModelNotFound, OsragError
from osrag.models import load
from osrag.models.load import (
    Machine,
    chat_config,
    load_chat_with_fallback,
    load_encoder_with_fallback,
    load_large_chat,
    slots_that_fit,
    this_machine,
)
from osrag.models.protocols import ChatOptions, Message, complete
from osrag.models.sources import HubModel
from osrag.models.transformers_chat import ChatConfig, duration_s, load_transformers_chat, load_zerogpu_chat
from osrag.models.usage import UsageMeter
from osrag.settings import Settings
from tests.fakes import FakeEncoder, ScriptedChat
from tests.large import tiny

LAPTOP, T4, H100, ZERO = Machine(), Machine(gpu_mib=15_360), Machine(gpu_mib=81_000), Machine(zerogpu=True)


def settings(**more: Any) -> Settings:
    return Settings(_env_file=None, **more)


def quiet(what: str, done: int, total: int) -> None:
    pass


@pytest.mark.parametrize(
    ("machine", "profile"), [(LAPTOP, "cpu"), (T4, "gpu"), (Machine(gpu_mib=4_000), "cpu"), (ZERO, "zerogpu")]
)
def test_auto_takes_the_best_that_the_machine_has(machine: Machine, profile: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "this_machine", lambda: machine)
    monkeypatch.setattr(load, "have_packages", lambda *names: True)
    assert load.resolve_profile(settings()) == profile


def test_auto_stays_small_without_the_packages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "this_machine", lambda: T4)
    monkeypatch.setattr(load, "have_packages", lambda *names: False)
    assert load.resolve_profile(settings()) == "cpu"


@pytest.mark.parametrize(
    ("profile", "chat", "encoder", "reranker"),
    [
        ("cpu", "llama_cpp", "e5", "none"),
        ("gpu", "transformers", "bge_m3", "bge_reranker"),
        ("zerogpu", "transformers", "e5", "none"),
        ("endpoint", "openai", "e5", "none"),
        ("retrieval", "none", "e5", "none"),
    ],
)
def test_parts_of_each_profile(profile: Any, chat: str, encoder: str, reranker: str):
    chosen = settings(profile=profile)
    found = (load.chat_backend(chosen), load.encoder_backend(chosen), load.reranker_backend(chosen))
    assert found == (chat, encoder, reranker)


def test_each_part_can_be_replaced():
    chosen = settings(profile="gpu", chat_backend="openai", encoder_backend="e5", reranker_backend="none")
    assert load.needed(chosen) == ("encoder",)
    assert load.encoder_backend(settings(profile="endpoint", endpoint_embedding_model="bge-m3")) == "openai"
    assert load.needed(settings(profile="cpu")) == ("encoder", "chat")
    wanted = load.needed(settings(profile="gpu"))
    assert [what.title for what in wanted if isinstance(what, HubModel)] == ["bge-m3", "bge-reranker-v2-m3", "Qwen3-8B"]


def test_precision_and_slots_fit_the_card(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(load, "have_packages", lambda *names: True)
    small = chat_config(settings(slots=16), Machine(gpu_mib=8_192))
    assert (small.precision, small.slots) == ("nf4", 2)
    assert chat_config(settings(slots=16), T4).slots == 14
    assert chat_config(settings(slots=16), H100).precision == "bfloat16"
    assert chat_config(settings(precision="nf4"), H100).precision == "nf4"
    assert chat_config(settings(), ZERO).precision == "bfloat16"
    assert slots_that_fit(7_600, 7_500, 4096, 8) == 1
    assert (T4.device, ZERO.device, LAPTOP.device) == ("cuda:0", "cpu", "cpu")


def test_no_card_and_too_small_a_card_are_sentences():
    with pytest.raises(MissingExtra, match="no CUDA device") as caught:
        chat_config(settings(profile="gpu"), LAPTOP)
    assert "OSRAG_PROFILE=cpu" in caught.value.hint
    with pytest.raises(ModelFailed, match=r"4,000 MB.*nf4 needs 7,500"):
        chat_config(settings(profile="gpu"), Machine(gpu_mib=4_000))


def test_this_machine_is_read_without_torch():
    assert this_machine({"SPACES_ZERO_GPU": "true"}) == ZERO
    assert this_machine({}).gpu_mib >= 0


SMALL = ScriptedChat([["small"]], name="small")


def loader(*errors: OsragError) -> Any:
    """Loads that fail one after the other, then give the small model."""
    left = list(errors)

    def load_one(chosen: Settings, progress: Any, usage: Any) -> Any:
        if left:
            raise left.pop(0)
        return SMALL

    return load_one


def test_large_steps_down_to_small_and_says_so(monkeypatch: pytest.MonkeyPatch):
    error = ModelNotFound("Qwen/Qwen3-8B could not be fetched", hint="check the connection")
    monkeypatch.setattr(load, "load_chat", loader(error))
    model, notices = load_chat_with_fallback(settings(profile="gpu"), quiet)
    assert model is SMALL and [notice.step for notice in notices] == ["small_chat"]
    assert "could not be fetched (check the connection)" in notices[0].text("en")
    assert "小模型" in notices[0].text("zh")


def test_small_steps_down_to_retrieval_only(monkeypatch: pytest.MonkeyPatch):
    errors = MissingExtra("no CUDA"), ModelFailed("no memory")
    monkeypatch.setattr(load, "load_chat", loader(*errors))
    model, notices = load_chat_with_fallback(settings(profile="gpu"), quiet)
    assert model is None and [notice.step for notice in notices] == ["small_chat", "no_chat"]
    monkeypatch.setattr(load, "load_chat", loader(errors[1]))
    model, notices = load_chat_with_fallback(settings(profile="cpu"), quiet)
    assert model is None and [notice.step for notice in notices] == ["no_chat"]


def test_nothing_is_said_when_nothing_failed(monkeypatch: pytest.MonkeyPatch):
    assert load_chat_with_fallback(settings(profile="retrieval"), quiet) == (None, ())
    monkeypatch.setattr(load, "load_chat", loader())
    assert load_chat_with_fallback(settings(profile="gpu"), quiet) == (SMALL, ())


def test_the_real_gpu_profile_on_this_machine_says_what_is_missing():
    if this_machine().gpu_mib:
        pytest.skip("this machine has a graphics card")
    with pytest.raises(MissingExtra, match="no CUDA device"):
        load.load_chat(settings(profile="gpu"))


def test_the_encoder_steps_down_to_e5(monkeypatch: pytest.MonkeyPatch):
    small = FakeEncoder()

    def load_one(chosen: Settings, progress: Any) -> Any:
        if chosen.encoder_backend == "e5":
            return small
        raise ModelNotFound("BAAI/bge-m3 could not be fetched")

    monkeypatch.setattr(load, "load_encoder", load_one)
    encoder, notices = load_encoder_with_fallback(settings(profile="gpu"), quiet)
    assert encoder is small and notices[0].step == "small_encoder"
    monkeypatch.setattr(load, "load_encoder", lambda *_: load_one(settings(), quiet))
    with pytest.raises(ModelNotFound):
        load_encoder_with_fallback(settings(profile="cpu"), quiet)


def test_a_model_brought_by_hand_answers_through_the_gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The whole way of profile `gpu`, only the card is the CPU."""
    tiny.qwen3(tmp_path / "Qwen3-8B")
    monkeypatch.setattr(
        load,
        "chat_config",
        lambda chosen, machine: ChatConfig(tmp_path, "Qwen3-8B", "float32", "cpu", 512, 2),
    )
    meter = UsageMeter()
    chosen = settings(profile="gpu", model_dir=tmp_path, cache_dir=tmp_path / "cache")
    chat = load_large_chat(chosen, meter, quiet, T4)
    assert complete(chat, [Message("user", "why?")], ChatOptions(max_tokens=8, temperature=0, purpose="t"))
    assert chat.name == "Qwen3-8B" and meter.totals()["t"]["calls"] == 1


def test_zerogpu_lends_a_card_for_as_long_as_the_reply_needs():
    assert duration_s([0] * 100, ChatOptions(), 64) == 15
    assert duration_s([0] * 2000, ChatOptions(), 1000) == 46
    assert duration_s([0] * 2000, ChatOptions(), 9999) == 120


def test_zerogpu_takes_the_same_path(tmp_path: Path):
    pytest.importorskip("spaces", reason="requirements-gpu.txt is not installed")
    config = ChatConfig(tiny.qwen3(tmp_path), "tiny", "float32", "cpu", 512, 2)
    options = ChatOptions(max_tokens=12, temperature=0)
    ask = [Message("user", "什么是锁?")]
    lent = load_zerogpu_chat(replace(config, precision="float32"), UsageMeter())
    assert complete(lent, ask, options) == complete(load_transformers_chat(config, UsageMeter()), ask, options)
    stream = lent.stream(ask, replace(options, max_tokens=300))
    next(stream)
    stream.close()  # a reader may leave
    assert complete(lent, ask, options)
