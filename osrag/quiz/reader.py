"""A choice decided by the reader: the small model with an adapter trained to answer by sentences of the book.

As it comes the small model hardly uses what it reads: with the sentence that decides before it, it is right little
more often. The adapter (low rank, Hu et al., arXiv 2106.09685) was trained on questions written from the course book,
each with sentences as the search gives them, the right one among them or not (docs/experiments-quiz.md,
`bench/fit_reader.py`). It sees all sentences at once, so only the options are read again when they are turned.
"""

from collections.abc import Sequence
from dataclasses import replace

from osrag.models.protocols import ChatModel, Message
from osrag.prompts import render
from osrag.quiz.evidence import Proof
from osrag.quiz.prompt import Count, option_lines, room_for_reading
from osrag.quiz.types import FALSE, TRUE, Option, QuizItem
from osrag.text import clip
from osrag.wording import say

SENTENCES = 5  # of the book, at most, as in training
LEAST_TOKENS = 100  # of sentences; an exercise that leaves less is asked in fewer turns
NUMBER_TOKENS = 5  # of `[2] ` and the end of the line
QUESTION_CHARS = 900
TRUTHS = {"A": TRUE, "B": FALSE}  # what the letters stand for where a statement is asked as a choice


def can_read(item: QuizItem, proof: Proof, chat: ChatModel) -> bool:
    """The reader knows questions with a few options of which one is right, and statements.

    One that is too long to be read again for the analysis within the budget goes to the model as it comes.
    """
    if not chat.abilities.reads or item.type not in ("single_choice", "true_false") or len(item.options) > 8:
        return False
    best = max((chat.count_tokens(sentence.text) for sentence in proof.deciding(1)), default=0)
    return room_for_reading(as_choice(item), best, 1, chat.count_tokens) >= best


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


def reading_of(item: QuizItem, proof: Proof, turns: int, count: Count) -> tuple[list[str], int]:
    """The sentences to read, the likeliest to decide first, and in how many turns: what the budget affords."""
    found = [sentence.text for sentence in proof.deciding(SENTENCES)]
    best = count(found[0]) if found else 0
    while turns > 1 and room_for_reading(item, best, turns, count) < LEAST_TOKENS:
        turns -= 1
    kept = found[:1]  # whatever it costs
    left = room_for_reading(item, best, turns, count) - best
    for text in found[1:]:
        if (tokens := count(text) + NUMBER_TOKENS) <= left:
            kept.append(text)
            left -= tokens
    return kept, turns
