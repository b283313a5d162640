"""How far up the ladder of hints a student may go: for all, for a chapter, for an exercise; and the class of now."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from osrag.errors import BadSettings
from osrag.quiz.exercise import Exercise
from osrag.study.ladder import RUNGS, Rung

Mode = Literal["off", "hints", "full"]
MODES: tuple[Mode, ...] = get_args(Mode)
Top = Rung | Literal["off"]


class LimitsFile(BaseModel):
    """The file that `OSRAG_HINTS_FILE` names:

    highest = "solution"                # of all: ask, page, point, twin, solution, or off
    chapters = { "5" = "twin" }
    exercises = { "ch05-001" = "page" }
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    highest: Top = "solution"
    chapters: Mapping[str, Top] = {}
    exercises: Mapping[str, Top] = {}


def read_limits(path: Path | None) -> LimitsFile:
    """What the instructor has set; without a file everything is open. Raises BadSettings with file and field."""
    if path is None:
        return LimitsFile()
    try:
        return LimitsFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(f"OSRAG_HINTS_FILE: cannot read {str(path)!r}: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadSettings(f"OSRAG_HINTS_FILE: {path.name}: {where}: {first['msg']}, got {first['input']!r}") from error


@dataclass(slots=True)
class Limits:
    """The file, and the mode that an instructor has switched this class to. Safe from several threads."""

    file: LimitsFile = field(default_factory=LimitsFile)
    _mode: Mode = "full"
    _lock: Lock = field(default_factory=Lock)

    @property
    def mode(self) -> Mode:
        """`off`: no help; `hints`: all but the solution; `full`: what the file allows."""
        with self._lock:
            return self._mode

    def switch(self, mode: Mode) -> None:
        """Set the mode for all visitors, until it is set again or the app starts anew."""
        with self._lock:
            self._mode = mode

    def top(self, exercise: Exercise) -> Rung | None:
        """The highest rung for an exercise; None where there is no help."""
        file, mode = self.file, self.mode
        of_chapter = file.chapters.get(exercise.chapter, file.highest)
        top = file.exercises.get(exercise.id, of_chapter) if exercise.id else file.highest
        if top == "off" or mode == "off":
            return None
        return RUNGS[min(RUNGS.index(top), RUNGS.index("twin" if mode == "hints" else "solution"))]

    @property
    def open(self) -> bool:
        """Whether nothing is kept back from anyone."""
        return self.file == LimitsFile() and self.mode == "full"

    def locked(self, exercise: Exercise) -> bool:
        """Whether the answer is kept back."""
        return self.top(exercise) != "solution"
