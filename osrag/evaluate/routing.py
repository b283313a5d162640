"""Whether a question goes to the source that it was written for, where the visitor leaves that open."""

from collections.abc import Iterable, Iterator

from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.app.route import Router
from osrag.app.run import routed, within_limits
from osrag.evaluate.figures import Row, share_of_one
from osrag.text import language_of
from osrag.types import SourceName


def rows(parts: Parts, questions: Iterable[str], wanted: SourceName, *, by: Router | None = None) -> Iterator[Row]:
    """A row for each question. The choice is wrong where the wanted source does not answer; both may."""
    for text in questions:
        chosen = routed(parts, within_limits(parts, Question(text, source="auto")), by=by).source
        scores = {"right": chosen == wanted, "both": chosen == "both", "wrong_source": chosen not in (wanted, "both")}
        note = {"question": text, "chosen": chosen} if scores["wrong_source"] else {}
        yield Row((language_of(text),), {name: share_of_one(value) for name, value in scores.items()}, note)
