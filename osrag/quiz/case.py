"""A question object from outside (an API call, standard input) with the student's answer in it."""

from collections.abc import Mapping
from typing import Any

from osrag.errors import BadInput
from osrag.quiz.rows import read_row
from osrag.quiz.types import QuizItem

_ANSWER = (
    "student_answer", "studentAnswer", "student", "response", "reply", "user_answer", "userAnswer", "submitted",
    "学生答案", "作答",
)  # fmt: skip


def read_case(value: Any, *, answer: Any = None) -> tuple[QuizItem, str]:
    """The question and the student's answer. The question may stand under `question` as an object of its own.

    Raises BadInput that names the field.
    """
    if not isinstance(value, Mapping):
        raise BadInput(f"a question is an object with fields, got {type(value).__name__}")
    row = dict(value)
    given = next((row.pop(name) for name in _ANSWER if name in row), answer)
    inner = row.get("question") or row.get("item")
    if isinstance(inner, Mapping):
        row = dict(inner)
        given = next((row.pop(name) for name in _ANSWER if name in row), given)
    items = read_row(row)
    wanted = str(row.get("language") or "")
    item = next((one for one in items if one.language == wanted), items[0])
    if given is None:
        raise BadInput("student_answer: is missing", hint='give the student\'s answer as "student_answer"')
    return item, _text(given)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "; ".join(_text(part) for part in value)
    return str(value)
