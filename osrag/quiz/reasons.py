"""Prepared explanations of bank questions: why each option is right or wrong, or how the answer is worked out.

A file `chNN.reasons.jsonl` in the folder `reasons` of a bank has a line for each exercise:

    {"id": "ch05-001", "zh": {"options": {"A": {"why": "…", "quote": "…"}, …}}, "en": {…}}
    {"id": "ch05-024", "zh": {"worked": [{"say": "…", "quote": "…"}, …]}, "en": {…}}

A choice has a reason for every option (a statement for T and F), any other exercise its worked answer. `quote` is a
stretch of the course book that bears the sentence out; the page is found by it.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from osrag.quiz.beside import TwoSided, attached
from osrag.quiz.exercise import FALSE, TRUE, Exercise, Reason


class Why(BaseModel):
    """The reason of an option."""

    model_config = ConfigDict(extra="forbid", str_min_length=1)
    why: str
    quote: str


class Statement(BaseModel):
    """A sentence of a worked answer."""

    model_config = ConfigDict(extra="forbid", str_min_length=1)
    say: str
    quote: str


class Side(BaseModel):
    """The explanation in one language."""

    model_config = ConfigDict(extra="forbid")
    options: dict[str, Why] = {}
    worked: tuple[Statement, ...] = ()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """All sentences, in order."""
        options = (Reason(one.why, one.quote, key) for key, one in self.options.items())
        return (*options, *(Reason(one.say, one.quote) for one in self.worked))


class ReasonLine(TwoSided):
    """One line of a file."""

    zh: Side | None = None
    en: Side | None = None


def with_reasons(exercises: Sequence[Exercise], folder: Path) -> tuple[list[Exercise], list[str]]:
    """The exercises with their reasons; reasons that do not fit their exercise are left out and named."""
    return attached(
        exercises,
        folder,
        "reasons",
        ReasonLine,
        field="reasons",
        twice="is explained twice",
        made=lambda _, side: side.reasons or None,
        unfit=unfit,
    )


def unfit(exercise: Exercise, reasons: Sequence[Reason]) -> str:
    """Why these reasons cannot be those of the exercise; empty where they fit."""
    keys = [one.key for one in reasons]
    wanted = [option.key for option in exercise.options] if exercise.is_choice else [""] * len(keys)
    if exercise.type == "true_false":
        wanted = [TRUE, FALSE]
    return "" if keys == wanted and keys else f"for {', '.join(keys) or 'nothing'}; wanted: {', '.join(wanted)}"
