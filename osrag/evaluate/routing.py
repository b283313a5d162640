"""Whether a question goes to what it was written for, where the visitor leaves that open."""

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel

from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.app.route import Router
from osrag.app.run import routed, within_limits
from osrag.evaluate.figures import Row, share_of_one
from osrag.kernel.logs.read import read_log
from osrag.lab.reading import read
from osrag.quiz.computed import readings
from osrag.text import language_of

Place = Literal["textbook", "kernel", "both", "lab", "log"]


class PlacedQuestion(BaseModel, extra="ignore"):
    """A question, and what is to answer it."""

    question: str
    source: Place
    held_out: bool = False


def placed(questions: Iterable[str], source: Place) -> list[PlacedQuestion]:
    """Questions that were all written for one source."""
    return [PlacedQuestion(question=text, source=source) for text in questions]


def rows(parts: Parts, questions: Iterable[PlacedQuestion], *, by: Router | None = None) -> Iterator[Row]:
    """A row for each question. The choice is wrong where what is wanted does not answer; both may."""
    for one in questions:
        chosen = place_of(parts, one.question, by)
        wrong = chosen not in (one.source, "both")
        scores = {"right": chosen == one.source, "both": chosen == "both" != one.source, "wrong_source": wrong}
        note = {"question": one.question, "chosen": chosen} if wrong else {}
        yield Row(
            (language_of(one.question), one.source), {name: share_of_one(value) for name, value in scores.items()}, note
        )


def place_of(parts: Parts, text: str, by: Router | None = None) -> Place:
    """What answers a question: a log and an exercise are known by their form, in that order."""
    question = within_limits(parts, Question(text, source="auto"))
    if read_log(question.text) is not None:
        return "log"
    reading = read(question.text, parts.checker)
    if reading is not None and readings(reading):
        return "lab"
    source = routed(parts, question, by=by).source
    assert source != "auto"
    return source
