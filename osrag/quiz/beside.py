"""Files beside a bank, of a line for each exercise: `{"id": "ch05-001", "zh": {…}, "en": {…}}`.

Reasons and hints are kept in such files, each in a folder and under an ending of its own.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from osrag.quiz.exercise import Exercise
from osrag.types import Language


class TwoSided(BaseModel):
    """A line of such a file: what it says of the exercise `id` in each language."""

    model_config = ConfigDict(extra="forbid")
    id: str
    zh: Any = None
    en: Any = None


Line = TypeVar("Line", bound=TwoSided)


def attached(
    exercises: Sequence[Exercise],
    folder: Path,
    kind: str,
    of: type[Line],
    *,
    field: str,
    twice: str,
    made: Callable[[Line, Any], Any],
    unfit: Callable[[Exercise, Any], str],
) -> tuple[list[Exercise], list[str]]:
    """The exercises with what stands beside them in `field`, and a sentence for everything that is left out.

    `made` turns a line and its part in one language into the value of the field, None for nothing; `unfit` says why a
    value cannot be that of an exercise, `twice` what a second one for an exercise is.
    """
    slips: list[str] = []
    found: dict[tuple[str, Language], Any] = {}
    languages: tuple[Language, ...] = ("zh", "en")
    for where, line in _lines(folder, kind, of, slips):
        for language in languages:
            side, key = getattr(line, language), (line.id, language)
            if side is not None and key in found:
                slips.append(f"{where}: {key[0]} {twice} in {language}")
            elif side is not None:
                found[key] = made(line, side)
    out: list[Exercise] = []
    for exercise in exercises:
        value = found.pop((exercise.id, exercise.language), None)
        if value is not None and (what := unfit(exercise, value)):
            slips.append(f"{field} of {exercise.name}: {what}")
            value = None
        out.append(exercise if value is None else replace(exercise, **{field: value}))
    return out, slips + [f"{field} of {id_}/{language}: no such exercise" for id_, language in found]


def _lines(folder: Path, kind: str, of: type[Line], slips: list[str]) -> Iterator[tuple[str, Line]]:
    """(file:line, what stands there) of `folder/kind/*.kind.jsonl`; what cannot be read is named in `slips`."""
    for path in sorted((folder / kind).glob(f"*.{kind}.jsonl")):
        try:
            texts = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            slips.append(f"{path.name}: cannot be read: {error}")
            continue
        for number, text in enumerate(texts, start=1):
            where = f"{path.name}:{number}"
            try:
                yield where, of.model_validate(json.loads(text))
            except (ValidationError, ValueError, RecursionError) as error:
                slips.append(f"{where}: {_what(error)}")


def _what(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first: Any = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"not JSON: {error}"
