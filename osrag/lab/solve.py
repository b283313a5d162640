"""From the text of a form, a link or a command line to a computed exercise, as a value and as JSON."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from osrag.lab.fields import as_text, size_text
from osrag.lab.kind import Kind, Parameters, Result, Solution, Step, Value
from osrag.lab.words import table, word
from osrag.types import Language


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one field, as a key and values of `words.errors`."""

    field: str  # "" for a fault of several fields together
    key: str
    values: tuple[tuple[str, Any], ...] = ()

    def sentence(self, language: Language) -> str:
        """One sentence that names the field and the rule."""
        said = word("errors", self.key, language, **dict(self.values))
        if self.field in ("", "ask"):  # what is asked for is read last, so it carries what is wrong with several fields
            return said
        return f"{label(self.field, language)}{'：' if language == 'zh' else ': '}{said}"


@dataclass(frozen=True, slots=True)
class Solved:
    """An exercise as it was read, and its solution once nothing is missing or wrong."""

    kind: Kind[Any]
    given: Mapping[str, Any]  # as it came in, so that a form keeps what is right
    parameters: Parameters | None = None
    missing: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    solution: Solution | None = None

    @property
    def answer(self) -> Result | None:
        """The result that the exercise asks for."""
        if self.solution is None or self.parameters is None:
            return None
        return self.solution.results[getattr(self.parameters, "ask", next(iter(self.solution.results)))]


def solve(kind: Kind[Any], values: Mapping[str, Any]) -> Solved:
    """Read `values` as parameters of `kind` and compute; faults and missing fields are named, never assumed."""
    filled = {name: value for name, value in values.items() if value not in ("", None)}
    try:
        parameters = kind.parameters.model_validate(filled)
    except ValidationError as error:
        missing = tuple(_missing(each) for each in error.errors() if each["type"] == "missing")
        faults = tuple(_fault(each) for each in error.errors() if each["type"] != "missing")
        return Solved(kind, filled, missing=missing, faults=faults)
    return Solved(kind, filled, parameters, solution=kind.solve(parameters))


def is_whole(kind: Kind[Any], values: Mapping[str, Any]) -> bool:
    """Whether `values` can be computed, without computing them."""
    try:
        kind.parameters.model_validate({name: value for name, value in values.items() if value not in ("", None)})
    except ValidationError:
        return False
    return True


def label(field: str, language: Language) -> str:
    """A field's name for a reader."""
    return table()["fields"].get(field, {}).get(language, field)


def is_rule(field: FieldInfo) -> bool:
    """Whether the field is a convention."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("rule"))


def unit_of(field: FieldInfo) -> str:
    """The key of the field's unit, or ""."""
    extra = field.json_schema_extra
    return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


def shown(value: Value | None, unit: str = "", language: Language = "en") -> str:
    """A value for a reader: two decimals at most, with its unit; a key of `words.choices` becomes its words.

    Bytes are told in the largest binary unit that divides them.
    """
    if unit == "bytes" and isinstance(value, int) and value and value % 1024 == 0:
        return size_text(value)
    if isinstance(value, bool):
        text = word("units", "yes" if value else "no", language)
    elif isinstance(value, float):
        text = f"{value:.4g}" if abs(value) < 1 else f"{value:.2f}".rstrip("0").rstrip(".")
        if "." not in text and 1 <= abs(value) < 1e6:
            text = f"{value:.7g}"  # 99.9995 is not 100
    elif isinstance(value, tuple):
        parts = [(shown(part, "", language), isinstance(part, tuple)) for part in value]
        text = ", ".join(f"({part})" if nested else part for part, nested in parts) or "–"
    elif isinstance(value, str):
        text = table().get("choices", {}).get(value, {}).get(language, value)
    else:
        text = "–" if value is None else str(value)
    return f"{text} {word('units', unit, language)}".strip() if unit else text


def sentence(step: Step, language: Language) -> str:
    """What a step says; its values are shown as a reader writes them."""
    values = {name: shown(value, "", language) for name, value in step.values.items()}
    return word("steps", step.key, language, **values)


def as_json(solved: Solved, language: Language) -> dict[str, Any]:
    """`{type, parameters, rules, missing, steps, answer}`, and `errors` where fields are wrong.

    `answer` is None while something is missing or wrong; else `{value, unit, text}`.
    """
    fields = solved.kind.parameters.model_fields
    values = solved.given if solved.parameters is None else solved.parameters.model_dump()
    steps, answer = [], None
    if solved.solution is not None:
        columns = [word("columns", key, language) for key in solved.solution.columns]
        for step in solved.solution.steps:
            row = dict(zip(columns, step.row, strict=False))
            steps.append({"text": sentence(step, language), **({"row": row} if row else {})})
    if (result := solved.answer) is not None:
        text = shown(result.value, result.unit, language)
        answer = {"value": result.value, "unit": result.unit, "text": text}
    return {
        "type": solved.kind.name,
        "parameters": {name: values[name] for name in fields if name in values and not is_rule(fields[name])},
        "rules": {name: values.get(name, info.default) for name, info in fields.items() if is_rule(info)},
        "missing": list(solved.missing),
        "errors": {fault.field: fault.sentence(language) for fault in solved.faults},
        "steps": steps,
        "answer": answer,
    }


def result_name(key: str, values: Mapping[str, Any], language: Language) -> str:
    """What a result is called; of one process with the process, where it is known."""
    of = f"{key}_of"
    named = of if values.get("process") and of in table()["results"] else key
    text = table()["results"].get(named, {}).get(language, named)
    text = text.format_map(defaultdict(lambda: "…", {name: as_text(value) for name, value in values.items()}))
    text = re.sub("^(?:the|an?) ", "", text)
    return text[:1].upper() + text[1:]


def read_as(solved: Solved, language: Language, *, rules: bool) -> list[tuple[str, str]]:
    """(label, value) of the parameters, or of the conventions, for a reader to check; without what plays no part."""
    fields = solved.kind.parameters.model_fields
    values = solved.given if solved.parameters is None else solved.parameters.model_dump()
    rows = []
    for name, value in values.items():
        info = fields.get(name)
        unused = info is not None and not info.is_required() and not value and value == info.default
        if value in (None, "", ()) or unused or (info is not None and is_rule(info)) != rules:
            continue
        if name == "ask":
            text = result_name(str(value), values, language)
        else:
            text = shown(value, "", language) if isinstance(value, str) else as_text(value)
            unit = unit_of(info) if info is not None else ""
            text = shown(value, unit, language) if unit and isinstance(value, int | float) else text
        rows.append((label(name, language), text))
    return rows


def answer_line(solved: Solved, language: Language) -> str:
    """What was asked and its value, "Page faults: 9"; empty while nothing is computed."""
    if (result := solved.answer) is None or solved.parameters is None or solved.solution is None:
        return ""
    asked = getattr(solved.parameters, "ask", next(iter(solved.solution.results)))
    name = result_name(asked, solved.parameters.model_dump(), language)
    return f"{name}{'：' if language == 'zh' else ': '}{shown(result.value, result.unit, language)}"


def as_markdown(solution: Solution, language: Language) -> str:
    """The trace as a Markdown table, without the steps that have no row."""
    if not solution.columns:
        return "\n".join(f"{number}. {sentence(step, language)}" for number, step in enumerate(solution.steps, 1))
    rows = [[word("columns", key, language) for key in solution.columns], ["---"] * len(solution.columns)]
    rows += [[shown(cell, "", language) for cell in step.row] for step in solution.steps if step.row]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def link(kind: Kind[Any], parameters: Parameters) -> dict[str, str]:
    """The query of a link that opens this exercise: `lab`, and every parameter that is not at its default."""
    fields = kind.parameters.model_fields
    values = {name: getattr(parameters, name) for name in fields}
    return {"lab": kind.name, **{n: as_text(v) for n, v in values.items() if v != fields[n].default}}


def _missing(error: Any) -> str:
    """The field that is needed: the one that `absent` names, or the one without a value."""
    return str(error.get("ctx", {}).get("name", error["loc"][0]))


def _fault(error: Any) -> Fault:
    """A pydantic error as a fault; an error without a sentence of its own is told in pydantic's words."""
    where = str(error["loc"][0]) if error["loc"] else ""
    context = {name: as_text(v) if isinstance(v, float) else v for name, v in error.get("ctx", {}).items()}
    key = str(context.pop("key", error["type"]))
    values = {**context, "seen": as_text(error["input"])[:40] if not isinstance(error["input"], dict) else ""} | context
    if key not in table()["errors"]:
        return Fault(where, "other", (("message", error["msg"]),))
    return Fault(where, key, tuple(values.items()))
