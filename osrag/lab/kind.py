"""What every kind of lab exercise is made of: parameters, a solution of steps and results, and a figure.

A solver is a pure function from parameters to a `Solution`. It holds keys and values; sentences come from
`osrag.lab.words` when somebody reads them, so one solution serves both languages, the page, JSON and the grader.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from osrag.lab.svg import Figure
from osrag.types import Language

Level = Literal["easy", "medium", "hard"]
Cell = int | float | str | bool | None | tuple[int | str, ...]  # None: an empty cell; a tuple: a set or a list
Value = int | float | str | bool | tuple[Any, ...]


class Parameters(BaseModel):
    """Base of the parameters of a kind. A field's `unit` is a key of `words.units`; `rule` marks a convention.

    Raises pydantic's ValidationError; `osrag.lab.solve` turns it into a sentence for each field.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


def given(default: Any = ..., *, unit: str = "", **limits: Any) -> Any:
    """A parameter that the exercise gives; `limits` are pydantic's (gt, ge, le, max_length, …)."""
    return Field(default, json_schema_extra={"unit": unit, "rule": False}, **limits)


def rule(default: Any, **limits: Any) -> Any:
    """A convention on which textbooks differ. The default is that of the course book."""
    return Field(default, json_schema_extra={"unit": "", "rule": True}, **limits)


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the trace, and why it is so."""

    key: str  # of words.steps: the sentence
    values: Mapping[str, Any] = field(default_factory=dict)  # of that sentence
    row: tuple[Cell, ...] = ()  # what a student fills in, one cell for each column; () for a step that only tells
    rule: str = ""  # of words.rules: the rule that the row follows, named where a student breaks it


@dataclass(frozen=True, slots=True)
class Result:
    """One figure that an exercise may ask for."""

    value: Value
    unit: str = ""  # a key of words.units


@dataclass(frozen=True, slots=True)
class Solution:
    """A computed exercise."""

    steps: tuple[Step, ...]
    results: Mapping[str, Result]  # by a key of words.results; the parameter `ask` names the one that is asked for
    columns: tuple[str, ...] = ()  # keys of words.columns, for the rows of the steps
    figure: Callable[[Language], Figure] | None = None  # drawn when somebody looks


ParametersT = TypeVar("ParametersT", bound=Parameters)


@dataclass(frozen=True, slots=True)
class Mistake(Generic[ParametersT]):
    """A wrong way that students go, and the value it leads to: a distractor with a name."""

    name: str  # of words.mistakes
    value: Callable[[ParametersT], Value | None]  # None where the mistake does not apply


@dataclass(frozen=True, slots=True)
class Kind(Generic[ParametersT]):
    """One kind of exercise. `words.kinds[name]` is its title, `words.questions[name]` its text as an exercise."""

    name: str  # in links, JSON and on the command line: "lru"
    topic: str  # groups the kinds of one module: "paging"
    parameters: type[ParametersT]
    solve: Callable[[ParametersT], Solution]
    generate: Callable[[Random, Level], ParametersT]  # pleasant numbers; the same seed gives the same exercise
    mistakes: tuple[Mistake[ParametersT], ...] = ()
    section: str = ""  # of the course book that teaches the method: "4.3"
    follow: Callable[[ParametersT, Sequence[str]], Solution] | None = None
    """Solve where the rules leave a choice, such as the next of a safe sequence, as the student chose.

    The texts are those of the first column of a trace, or the members of an answer; one that breaks a rule is passed
    over. None where the rules leave nothing open.
    """
