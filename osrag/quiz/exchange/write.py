"""The forms that a bank is written in, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from osrag.quiz.exchange.anki import anki_deck
from osrag.quiz.exchange.common import Written, left_out
from osrag.quiz.exchange.gift import write_gift
from osrag.quiz.exchange.moodle import write_moodle
from osrag.quiz.exchange.qti import write_qti
from osrag.quiz.exercise import Exercise


@dataclass(frozen=True, slots=True)
class Form:
    """How a form is written, from exercises and the title of a course, and what kind of file it is."""

    write: Callable[[Sequence[Exercise], str], Written]
    suffix: str
    media: str  # its media type


def _anki(exercises: Sequence[Exercise], title: str) -> Written:
    fields = ("hint", "rubric", "difficulty", "knowledge_point", "chapter")
    lost = tuple(what for one in exercises for what in left_out(one, *fields))
    return Written(anki_deck(title, [(one, "") for one in exercises]), lost)


FORMS = {
    "moodle": Form(lambda exercises, _: write_moodle(exercises), ".xml", "application/xml"),
    "gift": Form(lambda exercises, _: write_gift(exercises), ".gift", "text/plain"),
    "qti": Form(write_qti, ".zip", "application/zip"),
    "anki": Form(_anki, ".apkg", "application/octet-stream"),
}
