"""The gateway in front of scripted replies."""

import logging
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import pytest

from osrag.errors import ModelFailed
from osrag.models.gateway import ChatGateway, Pace, RateLimit, Slot, backoff_s, chat_pace, loggable
from osrag.models.protocols import ChatOptions, Message, complete
from osrag.models.usage import Call, UsageMeter
from osrag.settings import load_settings

ASK = [Message("user", "What is a semaphore?")]


class Scripted:
    """A backend that follows a script: strings are pieces, exceptions are raised, numbers are waits."""

    def __init__(self, *scripts: Sequence[str | Exception | float]) -> None:
        self.scripts = list(scripts)
        self.calls = 0
        self.closed = 0

    def reply(
        self, messages: Sequence[Message], options: ChatOptions, slot: Slot, call: Call
    ) -> Generator[str, None, None]:
        script = self.scripts[min(self.calls, len(self.scripts) - 1)]
        self.calls += 1
        try:
            for step in script:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, float):
                    time.sleep(step)
                yield "" if isinstance(step, float) else step
            call.ended = "done"
        finally:
            self.closed += 1


@dataclass
class Gated:
    """As much of a ChatModel as `complete` asks for."""

    model: Scripted
    gateway: ChatGateway

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        return self.gateway.stream(messages, options, self.model.reply)


def gate(model: Scripted, meter: UsageMeter | None = None, per_s: float = 1000.0) -> Gated:
    return Gated(model, ChatGateway(1, meter or UsageMeter(), Pace(per_s, retries=2), base_s=0.0))


def test_a_reply_passes_through() -> None:
    model = Scripted(["", "a ", "semaphore"])
    assert list(gate(model).stream(ASK, ChatOptions())) == ["", "a ", "semaphore"]


def test_a_passing_failure_is_tried_twice_more() -> None:
    meter = UsageMeter()
    model = Scripted([ModelFailed("503", transient=True)], ["", ModelFailed("429", transient=True)], ["yes"])
    assert complete(gate(model, meter), ASK, ChatOptions()) == "yes"
    assert meter.totals()["answer"]["retry"] == 2


def test_the_operator_says_how_often_a_failed_call_is_tried_again() -> None:
    model = Scripted([ModelFailed("busy", transient=True)])
    settings = load_settings(chat_retries=0)
    with pytest.raises(ModelFailed, match="busy"):
        complete(Gated(model, ChatGateway(1, UsageMeter(), chat_pace(settings), base_s=0.0)), ASK, ChatOptions())
    assert model.calls == 1


def test_a_third_failure_is_told() -> None:
    meter = UsageMeter()
    model = Scripted([ModelFailed("busy", transient=True)])
    with pytest.raises(ModelFailed, match="busy"):
        complete(gate(model, meter), ASK, ChatOptions())
    assert model.calls == 3
    assert meter.totals()["answer"]["gave_up"] == 1


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


def test_no_first_token_in_time_ends_the_call() -> None:
    meter, model = UsageMeter(), Scripted([0.05] * 100)
    begin = time.monotonic()
    with pytest.raises(ModelFailed, match="no first token"):
        complete(gate(model, meter), ASK, ChatOptions(first_token_s=0.2))
    assert time.monotonic() - begin < 4  # the script itself goes on for five seconds
    assert (model.calls, model.closed, meter.last()[0].ended) == (1, 1, "failed")


def test_thoughts_do_not_hold_off_the_deadline_of_the_first_token() -> None:
    with pytest.raises(ModelFailed, match="no first token"):
        complete(gate(Scripted(["<think>", *[0.05, "hm "] * 100])), ASK, ChatOptions(first_token_s=0.2))


def test_later_pauses_are_not_the_deadline_s_business() -> None:
    assert complete(gate(Scripted(["a", 0.3, "b"])), ASK, ChatOptions(first_token_s=0.1)) == "ab"


def test_a_slot_is_free_again_however_a_reply_ends() -> None:
    meter = UsageMeter()
    gated = gate(Scripted(["a"], ["a", ModelFailed("died")], ["a", "b"]), meter)
    assert complete(gated, ASK, ChatOptions()) == "a"
    with pytest.raises(ModelFailed):
        complete(gated, ASK, ChatOptions())
    pieces = gated.stream(ASK, ChatOptions())
    assert next(pieces) == "a"
    pieces.close()
    assert [call.ended for call in meter.last(3)] == ["done", "failed", "stopped"]
    assert gated.gateway.slots.take("", 0) is not None


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
    assert meter.totals()["answer"]["rate_wait"] == 1


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
    assert 190 < len(loggable("x " * 5000)) <= 200
    assert "***" in loggable("y " * 95 + "sk-" + "a" * 500)
    with caplog.at_level(logging.DEBUG, logger="osrag.models.gateway"):
        complete(gate(Scripted(["a"])), [Message("user", "secret=hunter2 " + "z" * 900)], ChatOptions())
    assert "hunter2" not in caplog.text
    assert "z" * 200 not in caplog.text
