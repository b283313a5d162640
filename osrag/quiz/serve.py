"""Judging and explaining for callers outside: a question object in, plain data out."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from osrag.answer.view import passage_json
from osrag.quiz.case import read_case
from osrag.quiz.explain import explain
from osrag.quiz.judgement import as_json

if TYPE_CHECKING:
    from osrag.quiz.judge import Judge


def judged(judge: "Judge", question: Any, student_answer: Any = None) -> Iterator[dict[str, Any]]:
    """Every step of a judgement; the last has `stage` "done". Raises BadInput for a question that cannot be judged."""
    item, answer = read_case(question, answer=student_answer)
    for step in judge.judge(item, answer):
        yield {"stage": step.stage, **as_json(step.judgement, step.passages)}


def explained(judge: "Judge", question: Any, student_answer: Any = None) -> dict[str, Any]:
    """The whole explanation with the passages it cites."""
    item, answer = read_case(question, answer="" if student_answer is None else student_answer)
    found = deque(explain(judge, item, answer), maxlen=1).pop()  # the last one is whole
    passages = [passage_json(passage) for passage in found.passages]
    return {"questionId": item.id, "explanation": found.text, "fallback": found.fallback, "passages": passages}
