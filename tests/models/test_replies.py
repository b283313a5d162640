"""Which slot reads which prompt, and what of a reply is shown."""

import logging

import pytest
from pydantic import BaseModel

from osrag.models.gateway import Slots, WithoutThinking, flat
from osrag.models.protocols import Message
from osrag.models.structured import UnreadableReply, read

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


class Mark(BaseModel):
    reason: str
    points: int


def test_of_a_reply_that_cannot_be_read_no_word_is_logged_or_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    whole = '{"reason": "the student writes of a page", "points": "many"}'
    for end in range(len(whole)):  # as it streams
        with pytest.raises(UnreadableReply) as told:
            read(whole[: end + 1], Mark)
        assert "student" not in str(told.value)
    assert caplog.records == []
