"""What the lab computes of an exercise of the bank, and the drawings of it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from osrag.lab.catalog import KINDS
from osrag.lab.reading import Reading, read
from osrag.lab.solve import Solved, solve
from osrag.lab.svg import svg
from osrag.quiz.exercise import Exercise

MOST = 3  # exercises of one question that are shown
PICTURES = "osrag-"  # names of drawings begin so
PAPER = '<svg style="background:#fffdf8" '  # behind a drawing that stands on somebody else's page, dark or light


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing of a solution as a file that stands alone."""

    name: str  # "osrag-ch03-021-1.svg"
    title: str  # what it shows, in a few words
    data: bytes


def readings(reading: Reading) -> tuple[Solved, ...]:
    """All that a text asks for, computed; empty where something is missing or wrong in any of it."""
    solved = tuple(each.solved() for each in (reading, *reading.also))
    return solved if all(each.answer is not None for each in solved) else ()


def exercises_of(exercise: Exercise) -> tuple[Solved, ...]:
    """What the lab computes of a quiz exercise, each once: by its `check`, or as its question reads."""
    if exercise.check:
        found = [solve(KINDS[kind], values) for kind, values in _calls(exercise.check) if kind in KINDS]
    else:
        reading = read(exercise.question)
        found = [] if reading is None else list(readings(reading))
    solved = {(each.kind.name, _apart_from_ask(each)): each for each in reversed(found) if each.answer is not None}
    return tuple(reversed(solved.values()))[:MOST]


def pictures_of(exercise: Exercise) -> tuple[Picture, ...]:
    """The drawings of what the lab computes of an exercise. They show the solution: keep them behind the answer."""
    solutions = (each.solution for each in exercises_of(exercise))
    figures = [one.figure(exercise.language) for one in solutions if one is not None and one.figure is not None]
    return tuple(
        Picture(
            f"{PICTURES}{exercise.id or 'own'}-{number}.svg",
            figure.title,
            svg(figure).replace("<svg ", PAPER, 1).encode(),
        )
        for number, figure in enumerate(figures, start=1)
    )


def _apart_from_ask(solved: Solved) -> str:
    """The parameters, which tell two exercises apart, whatever of them is asked for."""
    return "" if solved.parameters is None else str(solved.parameters.model_dump(exclude={"ask", "process"}))


def _calls(check: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The calls `lab(kind, ask, name=value, …)` in an expression; an argument that is no constant is left out."""
    try:
        nodes = list(ast.walk(ast.parse(check, mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # of somebody's own bank
        return
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lab":
            kind, ask = [one.value if isinstance(one, ast.Constant) else "" for one in (*node.args[:2], None, None)][:2]
            values = {
                one.arg: one.value.value for one in node.keywords if one.arg and isinstance(one.value, ast.Constant)
            }
            yield str(kind), values | ({"ask": ask} if ask else {})
