"""Prepared explanations of bank questions: why each option is right or wrong, or how the answer is worked out.

A file `chNN.reasons.jsonl` in the folder `reasons` of a bank has a line for each exercise:

    {"id": "ch05-001", "zh": {"options": {"A": {"why": "…", "quote": "…"}, …}}, "en": {…}}
    {"id": "ch05-024", "zh": {"worked": [{"say": "…", "quote": "…"}, …]}, "en": {…}}

A choice has a reason for every option (a statement for T and F), any other exercise its worked answer. `quote` is a
stretch of the course book that bears the sentence out; the page is found by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from osrag.quiz.beside import lines_beside
from osrag.quiz.exercise import FALSE, TRUE, Exercise, Reason
from osrag.types import Language


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


class ReasonLine(BaseModel):
    """One line of a file."""

    model_config = ConfigDict(extra="forbid")
    id: str
    zh: Side | None = None
    en: Side | None = None


def read_reasons(folder: Path) -> tuple[dict[tuple[str, Language], tuple[Reason, ...]], list[str]]:
    """(id, language) -> reasons, from all files of a bank's folder; and what is left out, with file and line."""
    found: dict[tuple[str, Language], tuple[Reason, ...]] = {}
    slips: list[str] = []
    for where, line in lines_beside(folder, "reasons", ReasonLine, slips):
        sides: Mapping[Language, Side | None] = {"zh": line.zh, "en": line.en}
        for language, side in sides.items():
            if side is not None and (line.id, language) in found:
                slips.append(f"{where}: {line.id} is explained twice in {language}")
            elif side is not None:
                found[line.id, language] = side.reasons
    return found, slips


def with_reasons(exercises: Sequence[Exercise], folder: Path) -> tuple[list[Exercise], list[str]]:
    """The exercises with their reasons; reasons that do not fit their exercise are left out and named."""
    found, slips = read_reasons(folder)
    out: list[Exercise] = []
    for exercise in exercises:
        reasons = found.pop((exercise.id, exercise.language), ())
        if reasons and (what := unfit(exercise, reasons)):
            slips.append(f"reasons of {exercise.name}: {what}")
            reasons = ()
        out.append(replace(exercise, reasons=reasons) if reasons else exercise)
    return out, slips + [f"reasons of {id_}/{language}: no such exercise" for id_, language in found]


def unfit(exercise: Exercise, reasons: Sequence[Reason]) -> str:
    """Why these reasons cannot be those of the exercise; empty where they fit."""
    keys = [one.key for one in reasons]
    wanted = [option.key for option in exercise.options] if exercise.is_choice else [""] * len(keys)
    if exercise.type == "true_false":
        wanted = [TRUE, FALSE]
    return "" if keys == wanted and keys else f"for {', '.join(keys) or 'nothing'}; wanted: {', '.join(wanted)}"
