"""Where the lab computes what somebody asks: the exercises of the bank."""

import ast
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from osrag.lab.catalog import KINDS
from osrag.lab.reading import read
from osrag.lab.solve import Solved, link, solve
from osrag.quiz.exercise import Exercise

MOST = 3  # of one exercise


def exercises_of(exercise: Exercise) -> tuple[Solved, ...]:
    """What the lab computes of a quiz exercise, each once: by its `check`, or as its question reads."""
    if exercise.check:
        found = [solve(KINDS[kind], values) for kind, values in _calls(exercise.check) if kind in KINDS]
    else:
        reading = read(exercise.question)
        found = [] if reading is None else [each.solved() for each in (reading, *reading.also)]
    solved = {(each.kind.name, _apart_from_ask(each)): each for each in reversed(found) if each.answer is not None}
    return tuple(reversed(solved.values()))[:MOST]


def address(solved: Solved) -> str:
    """The link of a computed exercise: `?lab=lru&frames=3&refs=7,0,1,2`."""
    return "" if solved.parameters is None else f"?{urlencode(link(solved.kind, solved.parameters), safe=',')}"


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
