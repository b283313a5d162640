"""How well answers in C are marked, on the solutions that belong to each exercise.

A right solution should earn every point; a wrong one should lose the points that its author names and keep the others.
Solutions that are recognised tell nothing about an unknown answer, so they are hidden in all figures but the last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from osrag.quiz.exercise import Exercise
from osrag.quiz.programs.code import Code
from osrag.quiz.programs.marking import mark
from osrag.quiz.programs.program import Program
from osrag.quiz.programs.trial import Trial, attempt
from osrag.types import Progress

WAYS = ("structure", "tests", "both", "shipped")


@dataclass(frozen=True, slots=True)
class Marked:
    """One solution, marked in one way."""

    exercise: str
    solution: str  # "reference", "other", "wrong 1"
    way: str
    fails: tuple[int, ...]  # the points that it should lose
    missed: tuple[int, ...]
    open: tuple[int, ...]
    points: int

    @property
    def slips(self) -> list[int]:
        """Points that are decided, and not as they should be."""
        decided = (point for point in range(1, self.points + 1) if point not in self.open)
        return [point for point in decided if (point in self.missed) != (point in self.fails)]


def solutions_of(program: Program) -> list[tuple[str, str, tuple[int, ...]]]:
    """(name, code, points that it should lose) of everything that is known of an exercise."""
    right = [(name, code, ()) for name, code in zip(("reference", "other"), program.solutions, strict=False)]
    return [*right, *((f"wrong {n}", one.code, one.fails) for n, one in enumerate(program.mistakes, start=1))]


def marked(exercises: Sequence[Exercise], *, run: bool, progress: Progress) -> Iterator[Marked]:
    """Every solution in every way; those that need tests only where programs may `run`."""
    for place, exercise in enumerate(exercises, start=1):
        progress("programs", place, len(exercises))
        program = exercise.program or Program()
        blind = replace(program, solutions=(), mistakes=())
        for name, code, fails in solutions_of(program):
            # the tests need to know the interface, which the reference tells
            trial = attempt(program, code) if run else None
            given: dict[str, tuple[Program, Trial | None]] = {"structure": (blind, None), "shipped": (program, trial)}
            if run:
                given |= {"tests": (replace(blind, needs=()), trial), "both": (blind, trial)}
            for way in WAYS:
                if way in given:
                    marks = mark(exercise, given[way][0], Code(code), given[way][1]).points
                    missed = tuple(n for n, one in enumerate(marks, start=1) if one.verdict == "missed")
                    open_ = tuple(n for n, one in enumerate(marks, start=1) if one.verdict == "open")
                    yield Marked(exercise.id, name, way, fails, missed, open_, len(marks))


def figures(rows: Sequence[Marked]) -> dict[str, Any]:
    """Of each way: how many points are decided, how many of these rightly, and how many mistakes are found."""
    out: dict[str, Any] = {}
    for way in dict.fromkeys(row.way for row in rows):
        of_way = [row for row in rows if row.way == way]
        points = sum(row.points for row in of_way)
        decided = points - sum(len(row.open) for row in of_way)
        named = sum(len(row.fails) for row in of_way)
        found = sum(len(set(row.fails) & set(row.missed)) for row in of_way)
        wrong = [row for row in of_way if row.fails]
        out[way] = {
            "points": points,
            "decided": decided,
            "decided_rightly": decided - sum(len(row.slips) for row in of_way),
            "mistakes": named,
            "mistakes_found": found,
            "wrong_solutions": len(wrong),
            "wrong_solutions_that_lose_or_wait": sum(bool(row.missed or row.open) for row in wrong),
            "right_solutions": len(of_way) - len(wrong),
            "right_solutions_that_lose": sum(bool(row.missed) for row in of_way if not row.fails),
        }
    return out
