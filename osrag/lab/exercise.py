"""Exercises made from a seed, and the grade of a student's trace up to its first wrong step."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, get_args

from osrag.lab.fields import as_text, size
from osrag.lab.kind import Cell, Kind, Level, Parameters, Result, Step, Value
from osrag.lab.solve import shown, unit_of
from osrag.lab.words import table, word
from osrag.types import Language

OPTIONS = 4  # of a choice exercise, the right one among them
EMPTY = {"", "-", "–", "—", "/", "none", "空", "无", "null"}
YES = {"yes", "y", "true", "1", "是", "√", "✓", "对", "fault", "缺页"}
NO = {"no", "n", "false", "0", "否", "×", "✗", "x", "错", "hit", "命中", *EMPTY}


@dataclass(frozen=True, slots=True)
class Option:
    """A choice with the mistake that leads to it; the right one has none."""

    value: Value
    mistake: str = ""  # a key of words.mistakes


@dataclass(frozen=True, slots=True)
class Exercise:
    """An exercise with its answer. Equal seeds give equal exercises."""

    kind: Kind[Any]
    parameters: Parameters
    answer: Result
    options: tuple[Option, ...]  # in the order to show; only the right one where no mistake leads to another value

    def question(self, language: Language) -> str:
        """The exercise in words; `{asked}` in it is the name of the result that it asks for; choices are told in words.

        A kind whose results need different facts has a text for each: the first of `questions.KIND_ASK_FIELD` (of a
        field that is given), `KIND_ASK`, `KIND_FIELD` and `KIND` that exists. Of one process it asks by its name,
        with `results.ASK_of`.
        """
        name = self.kind.name
        given = self.parameters.model_dump()
        fields = type(self.parameters).model_fields
        values = {n: told(v, unit_of(fields[n]), language) for n, v in given.items()}
        if "ask" in values:
            of = f"{given['ask']}_of"
            asked = of if given.get("process") and of in table()["results"] else given["ask"]
            values["asked"] = word("results", asked, language, **values)
            empty = (None, "", ())
            there = [n for n, v in given.items() if v not in empty and not (isinstance(v, float) and not v)]
            special = f"{name}_{given['ask']}"
            keys = [*(f"{special}_{field}" for field in there), special, *(f"{name}_{field}" for field in there)]
            name = next((key for key in keys if key in table()["questions"]), name)
        return word("questions", name, language, **values)


def told(value: Any, unit: str, language: Language) -> str:
    """A parameter in the text of an exercise: 4 KiB, 8 ms, 0.00002, 7, 0, 1, 2."""
    match value:
        case str():
            return shown(value, "", language)
        case int() if unit == "bytes":
            return shown(value, unit, language)
        case int() | float() if unit == "ns":
            return f"{value / 1e6:.12g} ms" if value >= 1e6 else f"{value:.12g} ns"
        case float() if 0 < abs(value) < 1e-3:
            return f"{value:.12f}".rstrip("0")
        case tuple() if not any(isinstance(part, tuple) for part in value):
            return ", ".join(map(as_text, value))
    return as_text(value)


def exercise(kind: Kind[Any], seed: int, level: Level) -> Exercise:
    """The exercise of this seed. A twin is the same kind and level with another seed."""
    random = Random(f"{kind.name} {level} {seed}")
    parameters = kind.generate(random, level)
    results = kind.solve(parameters).results
    answer = results[getattr(parameters, "ask", next(iter(results)))]
    options = {shown(answer.value): Option(answer.value)}
    for mistake in kind.mistakes:
        value = mistake.value(parameters)
        if value is not None and len(options) < OPTIONS:
            options.setdefault(shown(value), Option(value, mistake.name))
    shuffled = list(options.values())
    random.shuffle(shuffled)
    return Exercise(kind, parameters, answer, tuple(shuffled))


@dataclass(frozen=True, slots=True)
class TraceGrade:
    """How far a trace is right. `right` of `total` rows stand before the first wrong one."""

    right: int
    total: int
    column: str = ""  # of the first wrong cell: a key of words.columns; "" where all is right
    seen: str = ""
    expected: Cell = None
    step: Step | None = None  # the row that was missed: its sentence and its rule say why

    @property
    def score(self) -> float:
        """The share of rows before the first wrong one, 0 to 1."""
        return self.right / self.total if self.total else 1.0


def grade_trace(kind: Kind[Any], parameters: Parameters, rows: Sequence[Sequence[str]]) -> TraceGrade:
    """Compare a student's rows with the computed trace, cell by cell, and stop at the first that differs.

    A row may have fewer cells than the table; what is left out at its end counts as empty. Where the rules leave a
    choice, any choice that they allow is right.
    """
    solution = kind.follow(parameters, [row[0] for row in rows if row]) if kind.follow else kind.solve(parameters)
    steps = [step for step in solution.steps if step.row]
    for number, step in enumerate(steps):
        row = rows[number] if number < len(rows) else ()
        for column, expected, seen in zip(solution.columns, step.row, [*row, *[""] * len(step.row)], strict=False):
            if not same(expected, seen):
                return TraceGrade(number, len(steps), column, seen, expected, step)
    return TraceGrade(len(steps), len(steps))


def answers(kind: Kind[Any], parameters: Parameters, text: str) -> bool:
    """Whether a typed answer is right, with its unit or without; any safe sequence is right where one is asked for."""
    results = kind.solve(parameters).results
    ask = getattr(parameters, "ask", next(iter(results)))
    if kind.follow and isinstance(results[ask].value, tuple):
        results = kind.follow(parameters, _parts(text)).results
    return says(results[ask], text)


def says(result: Result, text: str) -> bool:
    """Whether a typed text is this result; its unit may stand behind it."""
    for language in get_args(Language):
        unit = word("units", result.unit, language) if result.unit else ""
        text = text.strip().removesuffix(unit).strip()
        if text.lower() == shown(result.value, "", language).lower():
            return True
    return same(result.value, text)


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[\s,，、;；→]+", text.strip("{}[]()（）<>〈〉")) if part not in EMPTY]


def rows_of(text: str) -> tuple[tuple[str, ...], ...]:
    """A trace as a student types or pastes it: one row a line; cells apart by `|`, a tab, `;` or a comma."""
    lines = [line.strip().strip("|") for line in text.splitlines()]
    kept = [line for line in lines if line.strip() and not re.fullmatch(r"[\s|:\-]+", line)]
    return tuple(tuple(cell.strip() for cell in re.split(r"[|\t;；,，]", line)) for line in kept)


def same(expected: Value | Cell, seen: str) -> bool:
    """Whether a typed cell says what the computed one says."""
    text = seen.strip().lower()
    match expected:
        case None:
            return text in EMPTY
        case bool():
            return text in (YES if expected else NO)
        case int() | float():
            try:
                return math.isclose(float(text), expected, abs_tol=0.005)
            except ValueError:
                return size(text) == expected
        case tuple():
            return _parts(text) == [str(part).lower() for part in expected]
        case str() if expected.startswith("0x"):
            digits = text.removeprefix("0x").removesuffix("h").replace(" ", "")
            return digits.isalnum() and digits.lstrip("0") == expected[2:].lower().lstrip("0")
        case str():
            return text in {expected.lower(), *map(str.lower, table().get("choices", {}).get(expected, {}).values())}
