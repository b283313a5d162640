"""The tab that shows what was measured: the report that comes with the release, as it is, misses included."""

import logging
from collections.abc import Iterable, Iterator
from html import escape

from osrag.errors import BadInput
from osrag.evaluate.figures import ALL
from osrag.evaluate.report import (
    HEADLINES,
    SHIPPED,
    Report,
    Set,
    Value,
    facts,
    heads,
    interval,
    measure_name,
    number,
    read_report,
    state,
)
from osrag.types import Language
from osrag.wording import say

log = logging.getLogger(__name__)
GROUPS = (
    ALL,
    "absent",
    "zh",
    "en",
    "held_out",
    "prepared",
    "composed",
    "walk",
    "in_the_index",
    "elsewhere",
)  # that are shown
Line = tuple[str, Value]


def measured_html(language: Language) -> str:
    """The shipped report; a sentence where there is none."""
    try:
        report = read_report(SHIPPED)
    except BadInput as error:
        log.warning("%s", error.sentence())
        return f'<div class="ms"><p>{escape(say("measured_none", language))}</p></div>'
    return report_html(report, language)


def report_html(report: Report, language: Language) -> str:
    """The figures that say most, then each part, to be opened."""
    parts = "".join(_part(report, part, language) for part in report.parts())
    about = escape(say("measured_about", language)).replace("`", "")
    return f'<div class="ms"><p>{about}</p>{_headlines(report, language)}{parts}</div>'


def _headlines(report: Report, language: Language) -> str:
    lines = []
    for name, group, measure in HEADLINES:
        one = report.set(name)
        value = one.value(measure, group) if one else None
        if one and value:
            role = say(f"measured_role_{one.role}", language)
            what = say(f"measured_set_{name}", language)
            lines.append((f"{what} ({role}): {measure_name(measure, language)}", value))
    return _table(lines, language) if lines else ""


def _part(report: Report, part: str, language: Language) -> str:
    sets = [one for one in report.sets if one.part == part]
    missed = any(value.missed for one in sets for group in one.groups for value in group.values)
    mark = f' <span class="ms-missed">{escape(say("measured_missed", language))}</span>' if missed else ""
    title, why = (escape(say(f"measured_{what}_{part}", language)) for what in ("part", "why"))
    inside = "".join(_set(one, language) for one in sets)
    return f"<details><summary>{title}{mark}</summary><p>{why}</p>{inside}</details>"


def _set(one: Set, language: Language) -> str:
    role = say(f"measured_role_{one.role}", language)
    title = escape(f"{say(f'measured_set_{one.name}', language)} ({role})")
    about = [state(one, language), facts(one, language) if one.groups else ""]
    told = " ".join(escape(line) for line in about if line)
    return f"<h4>{title}</h4><p>{told}</p>{_table(_lines(one, language), language) if one.groups else ''}"


def _lines(one: Set, language: Language) -> Iterator[Line]:
    for group in one.groups:
        if group.group in GROUPS:
            of = "" if group.group in (ALL, "absent") else f"{group.group}: "
            yield from ((f"{of}{measure_name(value.measure, language)}", value) for value in group.values)


def _table(lines: Iterable[Line], language: Language) -> str:
    head = "".join(f"<th>{escape(word)}</th>" for word in heads(language)[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_line, lines))}</tbody></table>"


def _line(line: Line) -> str:
    what, value = line
    floor = f"{value.floor}{' ✗' if value.missed else ''}" if value.floor else ""
    cells = (number(value.value), interval(value), str(value.n), floor)
    row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f"<tr{' class=ms-missed' if value.missed else ''}><td>{escape(what)}</td>{row}</tr>"
