"""How well exercises in words are read: the kind, all parameters, and no wrong result that hides what was missing."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from osrag.errors import BadInput
from osrag.lab.catalog import kind_named
from osrag.lab.reading import read
from osrag.lab.solve import solve


class Question(BaseModel):
    """A line of the file. `type` is None for a text that is no exercise."""

    model_config = ConfigDict(extra="forbid")

    text: str
    type: str | None
    parameters: dict[str, str] = {}
    answer: Any = None
    held_out: bool = False


def read_questions(path: Path) -> list[Question]:
    """Raises BadInput that names the line."""
    questions = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            questions.append(Question.model_validate_json(line))
        except ValidationError as error:
            raise BadInput(f"{path}:{number}: {error.errors()[0]['msg']}") from error
    return questions


def evaluate(questions: Iterable[Question]) -> tuple[dict[str, dict[str, float]], list[dict[str, Any]]]:
    """Shares for `development` and `held_out`, and a row for each question that was not read rightly."""
    rows: dict[str, list[tuple[bool, bool, bool]]] = {"development": [], "held_out": []}
    misses: list[dict[str, Any]] = []
    for question in questions:
        right, seen = judged(question)
        rows["held_out" if question.held_out else "development"].append(right)
        if not all(right[:2]) or right[2]:
            misses.append({"text": question.text, "type": question.type, "held_out": question.held_out, **seen})
    figures = {}
    for part, judgements in rows.items():
        if count := len(judgements):
            types, parameters, wrong = (round(sum(column) / count, 3) for column in zip(*judgements, strict=True))
            figures[part] = {"questions": count, "type": types, "parameters": parameters, "wrong_results": wrong}
    return figures, misses


def judged(question: Question) -> tuple[tuple[bool, bool, bool], dict[str, Any]]:
    """Whether the kind is right, all parameters are, and a result is given that is wrong; and what was read."""
    reading = read(question.text)
    if reading is None or question.type is None:
        right = reading is None and question.type is None
        return (right, right, not right and reading is not None and reading.solved().answer is not None), {
            "read": None if reading is None else reading.kind.name
        }
    solved = reading.solved()
    same_kind = reading.kind.name == question.type
    expected = solve(kind_named(question.type), question.parameters).parameters
    same = same_kind and solved.parameters is not None and solved.parameters == expected
    wrong = solved.answer is not None and not _same(question.answer, solved.answer.value)
    seen = {"read": reading.kind.name, "parameters": reading.values, "missing": list(solved.missing)}
    return (same_kind, same, wrong), seen | {"faults": [fault.sentence("en") for fault in solved.faults]}


def _same(expected: Any, value: Any) -> bool:
    if isinstance(expected, int | float) and isinstance(value, int | float):
        return math.isclose(expected, value, rel_tol=1e-6, abs_tol=1e-9)
    return bool(json.loads(json.dumps(value)) == expected)
