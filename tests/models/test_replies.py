"""What all chat models share: who reads where, how long one waits, what is shown and counted."""

import time
from collections.abc import Generator

import pytest

from osrag.errors import ModelFailed
from osrag.models.protocols import ChatOptions, Message
from osrag.models.replies import Running, Slot, Slots, WithoutThinking, flat, in_turn
from osrag.models.usage import UsageMeter

PREFIX = [Message("system", "Answer from the book.")]


def ask(question: str) -> str:
    return flat([*PREFIX, Message("user", question)])


def test_the_flat_text_of_a_prefix_begins_that_of_the_prompt() -> None:
    assert ask("why?").startswith(flat(PREFIX))


def test_a_prompt_goes_where_most_of_it_is_known() -> None:
    slots = Slots(3)
    for question in ("what is a lock?", "what is a page?"):
        slot = slots.take("", 0)
        slots.give_back(slot, ask(question), left=False)
    taken = slots.take(ask("what is a lock? and why?"), 0)
    assert taken is not None and taken.text == ask("what is a lock?")


def test_a_slot_that_was_left_rests_while_others_are_free() -> None:
    slots = Slots(2)
    first = slots.take("a", 0)
    slots.give_back(first, "a", left=True)
    second = slots.take("a", 0)
    assert second is not first
    assert slots.take("a", 0) is first  # better than none
    assert slots.take("a", 0) is None


def test_a_new_engine_remembers_nothing() -> None:
    slots = Slots(1)
    slot = slots.take("a", 0)
    slots.give_back(slot, "a", left=False)
    slots.forget()
    assert slot.text == ""


def reply_of(*steps: str | float, closed: list[bool] | None = None, ended: str = "done"):
    """A backend: strings are pieces, numbers are waits with an empty piece after them."""

    def reply(slot: Slot, running: Running) -> Generator[str, None, None]:
        try:
            for step in steps:
                if isinstance(step, float):
                    time.sleep(step)
                yield "" if isinstance(step, float) else step
            running.ended = ended
        finally:
            if closed is not None:
                closed.append(True)

    return reply


def heard(reply, meter: UsageMeter | None = None, slots: Slots | None = None, **options: object) -> str:
    pieces = in_turn(slots or Slots(1), meter or UsageMeter(), [Message("user", "why?")], ChatOptions(**options), reply)
    return "".join(pieces)


def test_no_first_token_in_time_ends_the_call() -> None:
    closed: list[bool] = []
    meter = UsageMeter()
    with pytest.raises(ModelFailed, match="no first token"):
        heard(reply_of(*[0.05] * 100, closed=closed), meter, first_token_s=0.2)
    assert closed == [True] and meter.last()[0].ended == "failed"


def test_thoughts_do_not_hold_off_the_deadline_of_the_first_token() -> None:
    with pytest.raises(ModelFailed, match="no first token"):
        heard(reply_of("<think>", *[0.05, "hm "] * 100), first_token_s=0.2)


def test_later_pauses_are_not_the_deadline_s_business() -> None:
    assert heard(reply_of("a", 0.3, "b"), first_token_s=0.1) == "ab"


def test_a_slot_is_free_again_however_a_reply_ends() -> None:
    slots, meter = Slots(1), UsageMeter()
    for ended in ("done", "length"):
        assert heard(reply_of("a", ended=ended), meter, slots) == "a"
    pieces = in_turn(slots, meter, [Message("user", "why?")], ChatOptions(), reply_of("a", "b"))
    assert next(pieces) == "a"
    pieces.close()
    assert [call.ended for call in meter.last(3)] == ["done", "length", "stopped"]
    assert slots.take("", 0) is not None


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        (["<thi", "nk>let me", " see</th", "ink>\n\n", "A ", "lock"], "A lock"),
        (["<thread> is", " a word"], "<thread> is a word"),
        (["\n <think>never ended"], ""),
        (["<th"], "<th"),
        ([" plain"], " plain"),
    ],
)
def test_thoughts_at_the_head_are_not_shown(pieces: list[str], shown: str) -> None:
    filtered = WithoutThinking()
    assert "".join([*(filtered.feed(piece) for piece in pieces), filtered.flush()]) == shown
