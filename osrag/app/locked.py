"""Questions in the chat that are exercises whose answer an instructor keeps back: a hint comes instead."""

import functools
from collections.abc import Iterator

from osrag.answer.events import Event, Retrieved, SourceDone, Token
from osrag.app.parts import Parts
from osrag.quiz.banks import Banks
from osrag.quiz.exercise import Exercise
from osrag.study.ladder import climb
from osrag.study.limits import Limits
from osrag.text import share_of, tokens
from osrag.wording import say

LEAST_TOKENS = 3  # of an exercise that is told from a question on its topic
SAME = 0.85  # share of an exercise's words that a question has which is this exercise


def locked_exercise(text: str, limits: Limits, banks: Banks) -> Exercise | None:
    """The exercise of the bank that a text repeats, if its answer is kept back."""
    if limits.open:
        return None
    said = frozenset(tokens(text))
    best: tuple[float, Exercise] | None = None
    for exercise in banks.now.exercises():
        words = _words(exercise.question)
        if len(words) >= LEAST_TOKENS and (share := share_of(words, said)) >= SAME and limits.locked(exercise):
            best = max(best or (0.0, exercise), (share, exercise), key=lambda one: one[0])
    return best[1] if best else None


@functools.lru_cache(maxsize=20_000)
def _words(question: str) -> tuple[str, ...]:
    """The words of an exercise, each once; a bank is compared with every question of the chat."""
    return tuple(dict.fromkeys(tokens(question)))


def answer_locked(exercise: Exercise, parts: Parts) -> Iterator[Event]:
    """The first hint of an exercise, and the way to the quiz; nothing where the class gets no help."""
    language = exercise.language
    text = say("quiz_off", language)
    if parts.limits.top(exercise) is not None:
        hint = climb(parts.judge, parts.banks.now, exercise, "", "ask")
        way = f"[{say('hint_to_quiz', language)}](?quiz={exercise.id})"
        text = f"{say('hint_in_chat', language)}\n\n{hint.text}\n\n{way}"
    yield Retrieved("textbook", (), "")
    yield Token("textbook", text)
    yield SourceDone("textbook", text, (), "refused", ())
