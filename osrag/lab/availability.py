"""Availability of one component, and of several in series or parallel. Course book, section 10.5."""

import math
import re
from functools import partial
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.fields import fault, needed
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given
from osrag.lab.svg import ROW, Box, Figure, Mark, Path, text_width
from osrag.lab.words import word
from osrag.types import Language

PARTS = 12
MINUTES = 365 * 24 * 60  # of a year


def _percents(value: Any) -> Any:
    """`99.9% 99 %` as numbers; `0.999, 0.99` without a sign are shares of one."""
    if not isinstance(value, str):
        return value
    parts = tuple(part for part in re.split(r"[\s,，、;；%]+", value) if part)
    if "%" in value or not all(re.fullmatch(r"1(\.0*)?|0?\.\d+", part) for part in parts):
        return parts
    return tuple(round(100 * float(part), 10) for part in parts)


class Availability(Parameters):
    """Mean times of one component, or the availability of several in percent."""

    ask: Literal["availability", "downtime", "together"] = "availability"
    mttf: float | None = given(None, gt=0, le=1e12, unit="hours", validate_default=True)
    mttr: float | None = given(None, ge=0, le=1e12, unit="hours", validate_default=True)
    parts: Annotated[tuple[float, ...], BeforeValidator(_percents)] = given((), max_length=PARTS, validate_default=True)
    connected: Literal["in_series", "in_parallel"] = given("in_series")

    @field_validator("mttf", "mttr")
    @classmethod
    def _times_where_needed(cls, value: float | None, info: ValidationInfo) -> float | None:
        needed(value, info, "availability", "downtime")
        return value

    @field_validator("parts")
    @classmethod
    def _parts_where_needed(cls, value: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        needed(value, info, "together")
        if any(not 0 <= part <= 100 for part in value):
            raise fault("not_a_percent")
        return value


def _told(percent: float) -> str:
    return f"{percent:.7g}"


def _solve(given: Availability) -> Solution:
    told: dict[str, Any]
    if given.ask == "together":
        shares = [part / 100 for part in given.parts]
        series = given.connected == "in_series"
        total = 100 * (math.prod(shares) if series else 1 - math.prod(1 - share for share in shares))
        factors = [f"{share:.7g}" if series else f"(1 − {share:.7g})" for share in shares]
        told = {"product": " × ".join(factors), "total": _told(total)}
        row = (tuple(map(_told, given.parts)), round(total, 6))
        step = Step(f"availability_{given.connected}", told, row, "parts_rule")
        figure = partial(_figure, given, _told(total))
        return Solution((step,), {"together": Result(total, "percent")}, ("parts_given", "whole"), figure)
    mttf, mttr = given.mttf or 1.0, given.mttr or 0.0
    share = mttf / (mttf + mttr)
    down = (1 - share) * MINUTES
    told = {"mttf": mttf, "mttr": mttr, "sum": mttf + mttr, "share": _told(100 * share)}
    told |= {"minutes": round(down, 2), "hours": round(down / 60, 2)}
    steps = (Step("availability_share", told), Step("availability_downtime", told))
    results = {"availability": Result(100 * share, "percent"), "downtime": Result(down, "minutes_a_year")}
    return Solution(steps, results)


def _figure(given: Availability, total: str, language: Language) -> Figure:
    """Components one after another, or one above the other between two ends."""
    labels = [f"{_told(part)} %" for part in given.parts]
    wide, marks, gap = max(map(text_width, labels)) + 18, list[Mark](), 24.0
    if given.connected == "in_series":
        for place, label in enumerate(labels):
            x = 8 + place * (wide + gap) + gap
            marks.append(Path(((x - gap, 8 + ROW / 2), (x, 8 + ROW / 2)), arrow=True))
            marks.append(Box(x, 8, wide, ROW, label, "a"))
        end, high = 8 + len(labels) * (wide + gap), 8.0 + ROW
    else:
        high = 8 + len(labels) * (ROW + 8)
        middle, right = high / 2 + 4, 8 + gap + wide + gap
        for place, label in enumerate(labels):
            y = 8 + place * (ROW + 8)
            marks.append(Path(((8, middle), (16, middle), (16, y + ROW / 2), (8 + gap, y + ROW / 2))))
            after, turn = (8 + gap + wide, y + ROW / 2), right - 8
            marks.append(Path((after, (turn, after[1]), (turn, middle), (right, middle))))
            marks.append(Box(8 + gap, y, wide, ROW, label, "a"))
        end = right
    out = high / 2 + 4
    marks.append(Path(((end, out), (end + gap, out)), arrow=True))
    last = f"{total} %"
    marks.append(Box(end + gap, high / 2 - ROW / 2 + 4, text_width(last) + 18, ROW, last, "good", 1))
    described = word("figures", "availability", language, parts=", ".join(labels), total=total)
    width = end + gap + text_width(last) + 26
    return Figure(width, max(high, ROW + 8) + 12, tuple(marks), word("kinds", "availability", language), described, 1)


def _generate(random: Random, level: Level) -> Availability:
    if level == "hard":
        parts = tuple(random.choice((90.0, 95.0, 98.0, 99.0, 99.5, 99.9)) for _ in range(random.choice((2, 3))))
        way: Literal["in_series", "in_parallel"] = random.choice(("in_series", "in_parallel"))
        return Availability(ask="together", parts=parts, connected=way)
    both, mttr = random.choice((1000, 2000, 4000, 5000)), random.choice((2, 4, 5, 10))
    return Availability(ask="availability" if level == "easy" else "downtime", mttf=both - mttr, mttr=mttr)


def _wrong(given: Availability, value: float) -> Value | None:
    right = float(str(_solve(given).results[given.ask].value))
    return None if math.isclose(value, right) or value < 0 else value


def _ratio(given: Availability) -> Value | None:
    if given.mttf is None or given.mttr is None:
        return None
    share = given.mttr / given.mttf
    return _wrong(given, 100 * (1 - share) if given.ask == "availability" else share * MINUTES)


def _swapped(given: Availability) -> Value | None:
    if given.mttf is None or given.mttr is None:
        return None
    share = given.mttr / (given.mttf + given.mttr)
    return _wrong(given, 100 * share if given.ask == "availability" else (1 - share) * MINUTES)


def _otherwise_connected(given: Availability) -> Value | None:
    if given.ask != "together":
        return None
    other = "in_parallel" if given.connected == "in_series" else "in_series"
    return _wrong(given, float(str(_solve(given.model_copy(update={"connected": other})).results["together"].value)))


MISTAKES: tuple[Mistake[Availability], ...] = (
    Mistake("repair_over_failure", _ratio),
    Mistake("failure_and_repair_swapped", _swapped),
    Mistake("otherwise_connected", _otherwise_connected),
    Mistake("mean_of_parts", lambda p: _wrong(p, sum(p.parts) / len(p.parts)) if p.ask == "together" else None),
    Mistake("worst_part", lambda p: _wrong(p, min(p.parts)) if p.ask == "together" else None),
)

KINDS: tuple[Kind[Any], ...] = (Kind("availability", "raid", Availability, _solve, _generate, MISTAKES, "10.5"),)
