"""What belongs to a programming exercise beside its words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from osrag.errors import BadInput

NeedKind = Literal["calls", "paired", "loop_around", "checks", "order", "says"]


@dataclass(frozen=True, slots=True)
class Need:
    """What a parser of C can see of a point of the rubric.

    `calls`: `first` is called. `paired`: every path that calls `first` calls `second` before it returns.
    `loop_around`: `first` is called within a loop. `checks`: what `first` returns is looked at. `order`: a call of
    `first` comes before one of `second`. `says`: the words beside the code say it, as in a short answer. Nothing is
    held against code that has the word `unless`, which does it in another way.
    """

    point: int  # of the rubric, from 1
    kind: NeedKind
    first: str = ""
    second: str = ""
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong solution that is known, and what is wrong with it."""

    code: str
    fails: tuple[int, ...]  # points of the rubric, from 1
    why: str  # in the language of the exercise; "" where nobody said


@dataclass(frozen=True, slots=True)
class Program:
    """The C side of an exercise; the same in both languages."""

    starter: str = ""
    solutions: tuple[str, ...] = ()  # right ones, the reference first
    mistakes: tuple[Mistake, ...] = ()
    needs: tuple[Need, ...] = ()
    tests: str = ""  # a C file with `main`, which prints `ok NAME` or `FAIL NAME: …` for each of its cases
    # Each case of the tests with the points that it speaks for, from 1. A solution that fails the case has missed at
    # least one of them.
    cases: tuple[tuple[str, tuple[int, ...]], ...] = ()
    threads: bool = False  # whether ThreadSanitizer is worth a run

    @property
    def highest_point(self) -> int:
        """The highest number of a point that is named."""
        named = [need.point for need in self.needs]
        named += [point for _, points in self.cases for point in points]
        return max([*named, *(point for mistake in self.mistakes for point in mistake.fails)], default=0)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Point(_Strict):
    point: int = Field(ge=1)
    unless: str = ""


class _Calls(_Point):
    needs: Literal["calls"]
    name: str


class _Around(_Point):
    needs: Literal["loop_around", "checks"]
    call: str


class _Paired(_Point):
    needs: Literal["paired"]
    open: str
    close: str


class _Order(_Point):
    needs: Literal["order"]
    before: str
    after: str


class _Says(_Point):
    needs: Literal["says"]


class Structure(_Strict):
    """The field `structure` of a row."""

    structure: tuple[Annotated[_Calls | _Around | _Paired | _Order | _Says, Field(discriminator="needs")], ...] = ()
    cases: Mapping[str, tuple[int, ...]] = {}

    @property
    def needs(self) -> tuple[Need, ...]:
        """As the marking reads them."""
        out = []
        for one in self.structure:
            calls = [str(value) for name, value in one if name not in ("point", "needs", "unless")]
            first, second, *_ = (*calls, "", "")
            out.append(Need(one.point, one.needs, first, second, one.unless))
        return tuple(out)


def read_program_fields(row: Mapping[str, Any]) -> Program | None:
    """What the fields `structure` and `cases` of a row say; None without them. Raises BadInput that names the field."""
    given = {name: row[name] for name in Structure.model_fields if row.get(name)}
    if not given:
        return None
    try:
        read = Structure.model_validate(given)
    except ValidationError as error:
        raise BadInput(first_error(error)) from error
    return Program(needs=read.needs, cases=tuple(read.cases.items()))


def first_error(error: ValidationError) -> str:
    """The first thing that is wrong, with its field."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
