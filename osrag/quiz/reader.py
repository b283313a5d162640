"""A choice decided by the reader: the small model with an adapter trained to answer by sentences of the book.

As it comes the small model hardly uses what it reads: with the sentence that decides before it, it is right little
more often. The adapter (low rank, Hu et al., arXiv 2106.09685) was trained on questions written from the course book,
each with sentences as the search gives them, the right one among them or not (docs/experiments-quiz.md,
`bench/fit_choice_adapter.py`). It sees all sentences at once, so only the options are read again when they are turned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from osrag.models.protocols import ChatModel, Message
from osrag.prompts import render
from osrag.quiz.evidence import Proof
from osrag.quiz.prompt import QUESTION_CHARS, option_lines, room_for_reading
from osrag.quiz.types import FALSE, TRUE, Option, QuizItem
from osrag.text import clip
from osrag.wording import say

SENTENCES = 5  # of the book, at most, as in training
LEAST_TOKENS = 100  # of sentences; an exercise that leaves less is asked in fewer turns
NUMBER_TOKENS = 5  # of `[2] ` and the end of the line
TRUTHS = {"A": TRUE, "B": FALSE}  # what the letters stand for where a statement is asked as a choice


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader is to read."""

    asked: QuizItem  # the exercise; a statement as a choice
    sentences: tuple[str, ...]  # of the book, the likeliest to decide first
    turns: int  # orders of the options, each asked once


def as_choice(item: QuizItem) -> QuizItem:
    """A statement as a choice between right (A) and wrong (B); a choice as it is."""
    if item.type != "true_false":
        return item
    words = [say(name, item.language).capitalize() for name in ("quiz_true", "quiz_false")]
    options = tuple(Option(letter, word) for letter, word in zip(TRUTHS, words, strict=True))
    return replace(item, type="single_choice", options=options)


def reading_prompt(item: QuizItem, sentences: Sequence[str]) -> list[Message]:
    """Sentences, question, options: word for word as in training."""
    case = render(
        "quiz_reader_case",
        item.language,
        sentences="\n".join(f"[{number}] {text}" for number, text in enumerate(sentences, start=1)),
        question=clip(item.question, QUESTION_CHARS),
        options=option_lines(item),
    )
    return [Message("system", render("quiz_reader", item.language)), Message("user", case)]


def reading_of(item: QuizItem, proof: Proof, turns: int, chat: ChatModel) -> Reading | None:
    """As much as the budget affords.

    None for what the model is asked as it comes: without the adapter, questions of other kinds or with many options,
    and one too long to be read again for the analysis.
    """
    if not chat.abilities.has_adapter or item.type not in ("single_choice", "true_false") or len(item.options) > 8:
        return None
    asked, count = as_choice(item), chat.count_tokens
    found = [sentence.text for sentence in proof.deciding(SENTENCES)]
    best = count(found[0]) if found else 0
    turns = min(turns, len(asked.options))
    while turns > 1 and room_for_reading(asked, best, turns, count) < LEAST_TOKENS:
        turns -= 1
    left = room_for_reading(asked, best, turns, count) - best
    if left < 0:
        return None
    kept = found[:1]
    for text in found[1:]:
        if (tokens := count(text) + NUMBER_TOKENS) <= left:
            kept.append(text)
            left -= tokens
    return Reading(asked, tuple(kept), turns)
