"""The report of `eval all`: what was measured, of how many questions, when, by which version, on which machine.

The JSON is the report; the Markdown, the table of the README and the page are made of it.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from osrag.errors import BadInput
from osrag.evaluate.figures import ALL, TIME, Group
from osrag.settings import ROOT
from osrag.types import Language
from osrag.wording import say

SHIPPED = ROOT / "docs" / "measured.json"
FLOORS = Path(__file__).parent.parent / "data" / "floors.toml"
State = Literal["whole", "sampled", "partial", "absent", "open"]
Role = Literal["held_out", "development", "outside", "machine"]


class Floor(BaseModel, extra="forbid", frozen=True):
    """A value that is required; `least` of what should be high, `most` of what should be low."""

    least: float | None = None
    most: float | None = None

    def held_by(self, value: float) -> bool:
        """Whether a value reaches it."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        return f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}"


class Value(BaseModel, extra="forbid", frozen=True):
    """A figure with its 95 % interval, and the floor where one is set."""

    measure: str
    value: float
    low: float
    high: float
    n: int  # questions
    floor: Floor | None = None

    @property
    def missed(self) -> bool:
        """Whether it is below what is required."""
        return self.floor is not None and not self.floor.held_by(self.value)


class Part(BaseModel, extra="forbid", frozen=True):
    """The figures of some of the questions of a set: of all, of a language, of a way of answering."""

    group: str
    n: int
    values: tuple[Value, ...]


class Set(BaseModel, extra="forbid", frozen=True):
    """One set of questions, measured or not."""

    part: str  # of the report: "pages"
    name: str  # "pages_held_out"
    role: Role
    state: State
    why: str = ""  # it is not whole
    questions: int = 0  # measured
    of: int = 0
    seconds: float = 0.0
    date: str = ""
    version: str = ""
    machine: str = ""
    models: str = ""
    groups: tuple[Part, ...] = ()

    def value(self, measure: str, group: str = ALL) -> Value | None:
        """A figure of a group, None where it was not measured."""
        found = (value for part in self.groups if part.group == group for value in part.values)
        return next((value for value in found if value.measure == measure), None)


class Report(BaseModel, extra="forbid", frozen=True):
    """All sets, in the order of the parts."""

    sets: tuple[Set, ...] = ()

    def set(self, name: str) -> Set | None:
        """A set by its name."""
        return next((one for one in self.sets if one.name == name), None)

    def parts(self) -> list[str]:
        """The parts, in their order."""
        return list(dict.fromkeys(one.part for one in self.sets))


def read_report(path: Path) -> Report:
    """Raises BadInput for a file that is none."""
    try:
        return Report.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise BadInput(f"{path}: not a report of `eval all`", hint="run `python -m osrag eval all`") from error


@cache
def floors() -> dict[str, dict[str, Floor]]:
    """By set: "measure" or "group measure" -> what is required."""
    table = tomllib.loads(FLOORS.read_text(encoding="utf-8"))
    return {name: {key: Floor.model_validate(one) for key, one in rows.items()} for name, rows in table.items()}


def parts_of(name: str, role: Role, groups: Iterable[Group]) -> tuple[Part, ...]:
    """The groups of a set with its floors. Times are told of a quiet machine, and there nothing else."""
    required = floors().get(name, {})
    return tuple(
        Part(
            group=group.name,
            n=group.questions,
            values=tuple(
                Value(
                    measure=one.measure,
                    value=one.value,
                    low=one.low,
                    high=one.high,
                    n=one.questions,
                    floor=required.get(one.measure if group.name == ALL else f"{group.name} {one.measure}"),
                )
                for one in group.figures
                if (TIME in one.measure or "memory" in one.measure) == (role == "machine")
            ),
        )
        for group in groups
    )


# -- in words


def measure_name(measure: str, language: Language) -> str:
    """A measure as a reader knows it: "precision @ 5"."""
    name, _, cut = measure.partition("@")
    return say(f"measure_{name}", language) + (f" @{cut}" if cut else "")


def number(value: float) -> str:
    """Three figures at most: `.953`, `1.00`, `12.3`."""
    return f"{value:.3f}".lstrip("0") if abs(value) < 0.9995 and value >= 0.001 else f"{value:.3g}"


def interval(value: Value) -> str:
    """The 95 % interval; nothing for one value alone."""
    return f"{number(value.low)}–{number(value.high)}" if value.n > 1 else ""


def facts(one: Set, language: Language) -> str:
    """When and where a set was measured."""
    return say("measured_facts", language, date=one.date, version=one.version, machine=one.machine,
               seconds=f"{one.seconds:.0f}", models=one.models)  # fmt: skip


def state(one: Set, language: Language) -> str:
    """How many questions, and whether the set is whole."""
    counts = say(f"measured_{one.state}", language, questions=one.questions, of=one.of)
    return f"{counts} {one.why}".strip()


def as_markdown(report: Report, language: Language = "en") -> str:
    """The whole report: a section a part, a table a set."""
    lines = [f"# {say('measured_title', language)}", "", say("measured_about", language), ""]
    for part in report.parts():
        lines += [f"## {say(f'measured_part_{part}', language)}", "", say(f"measured_why_{part}", language), ""]
        for one in report.sets:
            if one.part == part:
                lines += _set_lines(one, language)
    return "\n".join(lines).rstrip() + "\n"


def _set_lines(one: Set, language: Language) -> Iterator[str]:
    role = say(f"measured_role_{one.role}", language)
    yield f"### {say(f'measured_set_{one.name}', language)} ({role})"
    yield ""
    yield state(one, language)
    yield ""
    if not one.groups:
        return
    yield facts(one, language)
    yield ""
    yield "| " + " | ".join(heads(language)) + " |"
    yield "|---" * len(heads(language)) + "|"
    for part in one.groups:
        for value in part.values:
            floor = f"{value.floor}{' ✗' if value.missed else ''}" if value.floor else ""
            cells = (part.group, measure_name(value.measure, language), number(value.value), interval(value))
            yield "| " + " | ".join((*cells, str(value.n), floor)) + " |"
    yield ""


def heads(language: Language) -> tuple[str, ...]:
    """The heads of the columns of a table of figures."""
    keys = ("measured_group", "measured_measure", "measured_value", "measured_interval", "measured_n", "measured_floor")
    return tuple(say(key, language) for key in keys)


# Set, group and measure of the figures that the README shows, in its order.
HEADLINES: Sequence[tuple[str, str, str]] = (
    ("pages_held_out", ALL, "hit@1"),
    ("pages_held_out", ALL, "hit@5"),
    ("functions_held_out", ALL, "function@1"),
    ("functions_held_out", ALL, "function@10"),
    ("sets_held_out", ALL, "functions"),
    ("answers_held_out", ALL, "points_said"),
    ("answers_held_out", ALL, "citation_precision"),
    ("refusal_off_topic", "absent", "refused"),
    ("prepared_held_out", ALL, "precision"),
    ("routing_course", ALL, "right"),
    ("logs_samples", ALL, "first"),
    ("grading_held_out", ALL, "mae"),
    ("choice_bank", ALL, "with_evidence"),
    ("lab_reading_held_out", "held_out", "parameters"),
    ("lab_computing", ALL, "right"),
)


def readme_table(report: Report) -> str:
    """The figures that the README shows, as Markdown."""
    lines = ["| | measured | 95 % | questions | required |", "|---|---|---|---|---|"]
    for name, group, measure in HEADLINES:
        one = report.set(name)
        value = one.value(measure, group) if one else None
        role = f" ({say(f'measured_role_{one.role}', 'en')})" if one else ""
        what = f"{say(f'measured_set_{name}', 'en')}{role}: {measure_name(measure, 'en')}"
        cells = ("not measured", "", "", "") if value is None else _cells(value)
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cells(value: Value) -> tuple[str, str, str, str]:
    floor = f"{value.floor}{', missed' if value.missed else ''}" if value.floor else ""
    return number(value.value), interval(value), str(value.n), floor
