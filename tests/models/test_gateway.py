"""The gateway in front of scripted models."""

import logging
import time
from collections.abc import Generator, Sequence

import numpy as np
import pytest

from osrag.errors import ModelFailed
from osrag.models.gateway import ChatGateway, EncoderGateway, RateLimit, backoff_s, loggable
from osrag.models.protocols import ChatAbilities, ChatOptions, Message, Vectors, complete
from osrag.models.usage import UsageMeter

ASK = [Message("user", "What is a semaphore?")]


class Scripted:
    """A chat model that follows a script: strings are pieces, exceptions are raised, numbers are waits."""

    name = "scripted"
    abilities = ChatAbilities(context_tokens=4096, constrained=True, chain=False, slots=1)

    def __init__(self, *scripts: Sequence[str | Exception | float]) -> None:
        self.scripts = list(scripts)
        self.calls = 0
        self.closed = 0

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        script = self.scripts[min(self.calls, len(self.scripts) - 1)]
        self.calls += 1
        try:
            for step in script:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float):
                    time.sleep(step)
                    yield ""
                else:
                    yield step
        finally:
            self.closed += 1

    def prepare(self, prefix: Sequence[Message]) -> None: ...

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def close(self) -> None: ...


def gate(model: Scripted, meter: UsageMeter | None = None, per_s: float = 1000.0) -> ChatGateway:
    return ChatGateway(model, meter or UsageMeter(), per_s=per_s, base_s=0.0)


def test_a_reply_passes_through() -> None:
    model = Scripted(["", "a ", "semaphore"])
    assert list(gate(model).stream(ASK, ChatOptions())) == ["", "a ", "semaphore"]
    assert gate(model).count_tokens("two words") == 2


def test_a_passing_failure_is_tried_twice_more() -> None:
    meter = UsageMeter()
    model = Scripted([ModelFailed("503", transient=True)], ["", ModelFailed("429", transient=True)], ["yes"])
    assert complete(gate(model, meter), ASK, ChatOptions()) == "yes"
    assert meter.totals()["answer"].events["retry"] == 2


def test_a_third_failure_is_told() -> None:
    meter = UsageMeter()
    model = Scripted([ModelFailed("busy", transient=True)])
    with pytest.raises(ModelFailed, match="busy"):
        complete(gate(model, meter), ASK, ChatOptions())
    assert model.calls == 3
    assert meter.totals()["answer"].events["failed"] == 1


def test_a_lasting_failure_is_told_at_once() -> None:
    model = Scripted([ModelFailed("wrong key")])
    with pytest.raises(ModelFailed):
        complete(gate(model), ASK, ChatOptions())
    assert model.calls == 1


def test_nothing_is_said_twice() -> None:
    model = Scripted(["half a ", ModelFailed("broke off", transient=True)])
    said: list[str] = []
    with pytest.raises(ModelFailed):
        said.extend(gate(model).stream(ASK, ChatOptions()))
    assert (said, model.calls) == (["half a "], 1)


def test_a_reader_who_leaves_closes_the_model() -> None:
    model = Scripted(["a", "b", "c"])
    pieces = gate(model).stream(ASK, ChatOptions())
    next(pieces)
    pieces.close()
    assert model.closed == 1


def test_a_call_costs_less_than_5_ms() -> None:
    gateway = gate(Scripted(["a"] * 20), per_s=1e9)
    begin = time.perf_counter()
    for _ in range(100):
        complete(gateway, ASK, ChatOptions())
    assert (time.perf_counter() - begin) / 100 < 0.005


def test_too_many_calls_wait_their_turn() -> None:
    now = [0.0]
    rate = RateLimit(5, clock=lambda: now[0])
    assert [rate.reserve() for _ in range(5)] == [0.0] * 5
    assert rate.reserve() == pytest.approx(0.2)
    assert rate.reserve() == pytest.approx(0.4)
    now[0] = 10.0
    assert rate.reserve() == 0.0


def test_the_wait_is_counted_and_can_be_left() -> None:
    meter = UsageMeter()
    gateway = gate(Scripted(["a"]), meter, per_s=1.0)
    complete(gateway, ASK, ChatOptions())
    pieces = gateway.stream(ASK, ChatOptions())
    assert next(pieces) == ""
    pieces.close()
    assert meter.totals()["answer"].events["rate_wait"] == 1


def test_pauses_double_and_obey_the_server() -> None:
    assert [0.375 <= backoff_s(1, 0.5) <= 0.625, 1.5 <= backoff_s(3, 0.5) <= 2.5] == [True, True]
    told = ModelFailed("slow down", transient=True)
    told.retry_after_s = 3.0
    assert 3.0 <= backoff_s(1, 0.5, told) <= 3.1
    told.retry_after_s = 600.0
    assert backoff_s(1, 0.5, told) <= 10.0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("my key is sk-abcdef1234567890", "my key is ***"),
        ("Authorization: Bearer abc.def-ghi123", "Authorization: ***"),
        ("hf_ABCDEFGHIJKL and api_key=secret1 end", "*** and *** end"),
        ("a\n  b", "a b"),
    ],
)
def test_logs_hide_keys(text: str, shown: str) -> None:
    assert loggable(text) == shown


def test_logs_are_short(caplog: pytest.LogCaptureFixture) -> None:
    assert len(loggable("x " * 5000)) == 200
    assert "***" in loggable("y " * 95 + "sk-" + "a" * 500)
    with caplog.at_level(logging.DEBUG, logger="osrag.models.gateway"):
        complete(gate(Scripted(["a"])), [Message("user", "secret=hunter2 " + "z" * 900)], ChatOptions())
    assert "hunter2" not in caplog.text
    assert "z" * 200 not in caplog.text


class ScriptedEncoder:
    name, revision, dim = "scripted", "r1", 2

    def __init__(self, *failures: Exception, wait_s: float = 0.0) -> None:
        self.failures = list(failures)
        self.wait_s = wait_s
        self.sizes: list[int] = []

    def queries(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        time.sleep(self.wait_s)
        if self.failures:
            raise self.failures.pop(0)
        return np.array([[len(text), 0] for text in texts], np.float32)

    passages = queries


def test_embeddings_are_tried_three_times_more_and_keep_their_order() -> None:
    meter = UsageMeter()
    encoder = ScriptedEncoder(*[ModelFailed("503", transient=True)] * 3)
    rows = EncoderGateway(encoder, meter, per_s=1000, base_s=0.0).passages(["x" * n for n in range(130)])
    assert rows[:, 0].tolist() == list(range(130))
    assert encoder.sizes == [64, 64, 64, 64, 64, 2]
    assert meter.totals()["embedding"].events["retry"] == 3


def test_a_fourth_failure_of_the_encoder_is_told() -> None:
    with pytest.raises(ModelFailed):
        EncoderGateway(
            ScriptedEncoder(*[ModelFailed("503", transient=True)] * 4), UsageMeter(), per_s=1000, base_s=0.0
        ).queries(["a"])


def test_an_encoder_that_hangs_is_left() -> None:
    gateway = EncoderGateway(ScriptedEncoder(wait_s=1.0), UsageMeter(), limit_s=0.1)
    with pytest.raises(ModelFailed, match="no answer in"):
        gateway.queries(["a"])


def test_no_texts_no_rows() -> None:
    assert EncoderGateway(ScriptedEncoder(), UsageMeter()).queries([]).shape == (0, 2)
