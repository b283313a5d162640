"""Programming exercises as folders: `programs/ID/exercise.json` with starter, solutions, known mistakes and tests.

`exercise.json` is a row of a bank in both languages, with `structure` (what a parser can see of a point) and `cases`
(which points each case of the tests speaks for) beside it.
"""

from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from osrag.errors import BadInput
from osrag.nesting import read_json
from osrag.quiz.exercise import Exercise
from osrag.quiz.programs.program import Mistake, Program, first_error
from osrag.quiz.rows import read_row
from osrag.types import Language

FOLDER = "programs"  # of a bank
MAX_BYTES = 200_000  # of one file


class _Wrong(BaseModel):
    model_config = ConfigDict(extra="forbid")
    fails: tuple[int, ...] = Field(min_length=1)
    why: str
    why_zh: str = ""
    tested: bool = True


def read_programs(folder: Path) -> tuple[list[Exercise], list[str]]:
    """The exercises of a folder of folders, and a line for each that is left out; nothing where there is none."""
    exercises: list[Exercise] = []
    slips: list[str] = []
    for one in sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ():
        try:
            exercises += read_program(one)
        except BadInput as error:
            slips.append(f"{folder.name}/{one.name}: {error.sentence()}")
    return exercises, slips


def read_program(folder: Path) -> tuple[Exercise, ...]:
    """The exercise of a folder, once for each language. Raises BadInput that names the file."""
    row = read_json(_text(folder / "exercise.json"))
    if not isinstance(row, dict):
        raise BadInput("exercise.json: an object with fields is expected")
    solutions = [_text(folder / "reference.c")]
    if (folder / "other.c").is_file():
        solutions.append(_text(folder / "other.c"))
    tests = _text(folder / "test.c")
    exercises = []
    for one in read_row({**row, "type": "programming", "reference": solutions[0]}):
        program = replace(
            one.program or Program(),
            starter=_text(folder / "starter.c"),
            solutions=tuple(solutions),
            mistakes=_mistakes(folder, one.language),
            tests=tests,
            threads="pthread_create" in tests,
        )
        if (highest := program.highest_point) > len(one.rubric):
            raise BadInput(f"point {highest} of a rubric of {len(one.rubric)} points")
        exercises.append(replace(one, program=program, reference=solutions[0].strip()))
    return tuple(exercises)


def _mistakes(folder: Path, language: Language) -> tuple[Mistake, ...]:
    path = folder / "wrong.json"
    if not path.is_file():
        return ()
    told = read_json(_text(path))
    if not isinstance(told, dict):
        raise BadInput("wrong.json: an object is expected")
    try:
        wrong = {name: _Wrong.model_validate(value) for name, value in told.items()}
    except ValidationError as error:
        raise BadInput(f"wrong.json: {first_error(error)}") from error
    return tuple(
        Mistake(_text(folder / Path(name).name), one.fails, one.why_zh if language == "zh" else one.why)
        for name, one in wrong.items()
    )


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path.name}: {path.stat().st_size:,} bytes, at most {MAX_BYTES:,}")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path.name}: cannot be read: {error}") from error
