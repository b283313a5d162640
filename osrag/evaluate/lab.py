"""How well exercises in words are read: the kind, all parameters, and no wrong result that hides what was missing."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from osrag.errors import BadInput
from osrag.evaluate.figures import Row, share_of_one
from osrag.lab.catalog import kind_named
from osrag.lab.fields import as_text
from osrag.lab.kind import Parameters
from osrag.lab.reading import Reading
from osrag.lab.reading.plain import plain
from osrag.lab.solve import Solved, is_rule, solve

_NAMED = {"jobs", "tasks", "process"}
Reader = Callable[[str], Reading | None]


class Question(BaseModel):
    """A line of the file. `type` is None for a text that is no exercise; `missing` names the fields it leaves out."""

    model_config = ConfigDict(extra="forbid")

    text: str
    type: str | None
    parameters: dict[str, str] = {}
    missing: tuple[str, ...] = ()
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


def rows(questions: Iterable[Question], reader: Reader) -> Iterator[Row]:
    """A row for each question, in the group `development` or `held_out`."""
    for question in questions:
        judgement, seen = judged(question, reader)
        note = {"text": question.text, "type": question.type, "held_out": question.held_out, **seen}
        right = judgement.parameters and not judgement.wrong_results
        scores = {name: share_of_one(value) for name, value in judgement._asdict().items()}
        yield Row(("held_out" if question.held_out else "development",), scores, {} if right else note)


def computed(questions: Iterable[Question]) -> Iterator[Row]:
    """A row for each question whose parameters are given whole: whether what is computed of them is its answer."""
    for question in questions:
        if question.type is None or question.missing:
            yield Row(("left_out",), {}, alone=True)
            continue
        solved = solve(kind_named(question.type), question.parameters)
        value = solved.answer and solved.answer.value
        right = _same(question.answer, value)
        note = {} if right else {"text": question.text, "type": question.type, "computed": value}
        yield Row((), {"right": share_of_one(right)}, note)


class Judged(NamedTuple):
    """How a question was read."""

    type: bool  # the kind is right
    parameters: bool  # all parameters of the reading that is shown first are right
    parameters_among: bool  # those of one of the readings that are shown are: a text may ask for several figures
    wrong_results: bool  # the first reading is computed, and its result is not that of the question


def judged(question: Question, reader: Reader) -> tuple[Judged, dict[str, Any]]:
    """The judgement, and what was read."""
    reading = reader(question.text)
    if reading is None or question.type is None:
        right = reading is None and question.type is None
        wrong = reading is not None and reading.solved().answer is not None
        return Judged(right, right, right, wrong), {"read": None if reading is None else reading.kind.name}
    solved = reading.solved()
    wrong = solved.answer is not None and (bool(question.missing) or not _same(question.answer, solved.answer.value))
    seen = {"read": reading.kind.name, "parameters": reading.values, "missing": list(solved.missing)}
    seen["faults"] = [fault.sentence("en") for fault in solved.faults]
    first, *others = (one.kind.name == question.type and _same_parameters(question, one.solved())
                      for one in (reading, *reading.also))  # fmt: skip
    return Judged(reading.kind.name == question.type, first, first or any(others), wrong and not first), seen


def _same_parameters(question: Question, solved: Solved) -> bool:
    """Whether all that is stated was read and nothing else; where a field is missing, that it is asked for."""
    expected = solve(solved.kind, question.parameters)
    if question.missing:
        return set(question.missing) <= set(solved.missing) and _fields(solved) == _fields(expected)
    if solved.parameters is None or expected.parameters is None:
        return False
    if {"concurrent", "program", "writes"} & question.parameters.keys():  # written in many ways; the answer tells
        return _same(question.answer, solved.answer and solved.answer.value)
    if "holes" in question.parameters:  # of which sizes are told in bytes, K or M, and requests with or without a name
        return bool(solved.answer) and _same(
            _without_unit(question.answer), _without_unit(solved.answer.value if solved.answer else None)
        )
    return _as_written(_stated(solved)) == _as_written(_stated(expected))


def _stated(solved: Solved) -> Parameters:
    """The parameters, with conventions at their defaults where these give the same results."""
    assert solved.parameters is not None and solved.solution is not None
    defaults = {name: info.default for name, info in solved.kind.parameters.model_fields.items() if is_rule(info)}
    plainer = solved.parameters.model_copy(update=defaults)
    same = solved.kind.solve(plainer).results == solved.solution.results
    return plainer if same else solved.parameters


def _without_unit(value: Any) -> Any:
    """A result with bytes that are whole KiB or MiB as the number of these."""
    if isinstance(value, list | tuple):
        return [_without_unit(each) for each in value]
    return _without_unit(value // 1024) if isinstance(value, int) and value and value % 1024 == 0 else value


def _as_written(parameters: Parameters) -> dict[str, str]:
    """The parameters as texts, without white space and with one way to write a number (2AH is 0x2A) and a name.

    Rows that are told by numbers have many names: 作业1, J1 and P1 are one.
    """
    texts = {name: plain(as_text(value)) for name, value in parameters.model_dump().items()}
    for name in _NAMED & texts.keys():
        texts[name] = re.sub(r"(?:^|(?<=; ))(?:[A-Za-z]+|作业|进程|任务) ?(?=\d+(?: |$))", "", texts[name])
    return {name: "".join(text.split()) for name, text in texts.items()}


def _fields(solved: Solved) -> dict[str, str]:
    """The fields as texts without white space and commas, those at their defaults left out."""
    infos = solved.kind.parameters.model_fields
    texts = {name: re.sub(r"[\s,;]+", " ", as_text(_value(infos[name], value))) for name, value in solved.given.items()}
    return {name: text for name, text in texts.items() if text != as_text(infos[name].default)}


def as_read(kind: str, field: str, value: str) -> str:
    """A value of a field in one writing: 4K and 4096 are one."""
    return as_text(_value(kind_named(kind).parameters.model_fields[field], value))


def _value(field: FieldInfo, text: Any) -> Any:
    """A value as its field reads it by itself; the text where it does not."""
    try:
        return TypeAdapter(Annotated[field.annotation, *field.metadata]).validate_python(text)
    except (ValidationError, TypeError):
        return text


def _same(expected: Any, value: Any) -> bool:
    if isinstance(expected, int | float) and isinstance(value, int | float):
        return math.isclose(expected, value, rel_tol=1e-6, abs_tol=1e-9)
    return bool(json.loads(json.dumps(value)) == expected)
