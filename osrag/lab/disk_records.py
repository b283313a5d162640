"""Records of one track that are read and handled one after the other, and how interleaving them saves turns.

While the processor handles a record, the track turns on; if the next record has passed by then, it costs nearly a
whole turn. Interleaving leaves room between one record and the next (Tanenbaum, Modern Operating Systems, 4th ed.,
section 5.4.2). The head is at the beginning of record 1 at first.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, cos, pi, sin
from random import Random
from typing import Any, Literal

from osrag.lab.fields import Milliseconds
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given
from osrag.lab.schedule import exact, plain
from osrag.lab.svg import Dot, Figure, Mark, Path, text_width
from osrag.lab.words import word
from osrag.types import Language


class Records(Parameters):
    """A track full of records. `interleave` is how many places after a record the next one lies."""

    records: int = given(ge=2, le=200)
    turn: Milliseconds = given(gt=0, le=1e6, unit="ms")
    handling: Milliseconds = given(ge=0, le=1e6, unit="ms")
    interleave: int = given(1, ge=1, le=200)
    ask: Literal["records_time", "best_interleave", "best_time", "track_layout"] = given("records_time")


def layout(count: int, interleave: int) -> list[int]:
    """The place of each record; where it is taken, the next free one."""
    places: list[int] = []
    place = 0
    for _ in range(count):
        while place % count in places:
            place += 1
        places.append(place % count)
        place += interleave
    return places


@dataclass(frozen=True, slots=True)
class Reading:
    """When a record is waited for, read and handled."""

    waits: Fraction
    start: Fraction
    end: Fraction
    handled: Fraction


def read(count: int, turn: Fraction, handling: Fraction, places: list[int]) -> list[Reading]:
    """The records in order, each from the moment at which it comes under the head next."""
    slot, now = turn / count, Fraction(0)
    found: list[Reading] = []
    for place in places:
        waits = (place * slot - now) % turn
        start = now + waits
        found.append(Reading(waits, start, start + slot, start + slot + handling))
        now = found[-1].handled
    return found


def best_interleave(count: int, turn: Fraction, handling: Fraction) -> int:
    """The fewest places after which a record has been handled: that of its own reading and those of the handling.

    Where it shares a factor g with the count, the layout goes one place further g - 1 times, which none can avoid.
    """
    return 1 + ceil(handling * count / turn)


def results(parameters: Records) -> dict[str, Result]:
    """With the interleave given, and with the best one."""
    count, turn, handling = parameters.records, exact(parameters.turn), exact(parameters.handling)
    places = layout(count, parameters.interleave)
    best = best_interleave(count, turn, handling)
    order = tuple(1 + places.index(place) for place in range(count))
    return {
        "records_time": Result(plain(read(count, turn, handling, places)[-1].handled), "ms"),
        "best_interleave": Result(best),
        "best_time": Result(plain(read(count, turn, handling, layout(count, best))[-1].handled), "ms"),
        "track_layout": Result(order),
    }


def solve(parameters: Records) -> Solution:
    """A row for each record, then the best interleave."""
    count, turn, handling = parameters.records, exact(parameters.turn), exact(parameters.handling)
    places, slot = layout(count, parameters.interleave), turn / count
    found = results(parameters)
    values: dict[str, Any] = {"turn": plain(turn), "count": count, "slot": plain(slot), "handling": plain(handling)}
    values |= {"best": found["best_interleave"].value, "time": found["best_time"].value}
    values["layout"] = found["track_layout"].value
    steps = [Step("record_slot", values), Step("record_layout", values, rule="record_layout")]
    for number, each in enumerate(read(count, turn, handling, places), 1):
        row = (number, plain(each.waits), plain(each.start), plain(each.end), plain(each.handled))
        told = dict(zip(("record", "waits", "start", "end", "handled"), row, strict=True))
        steps.append(Step("record_waits" if each.waits else "record_ready", told, row, "record_read"))
    steps.append(Step("record_best", values, rule="record_best"))

    def figure(language: Language) -> Figure:
        widest = max(text_width(str(count)) + 12, 26)
        radius = max(count * widest / (2 * pi) * 1.1, 60)
        middle = radius + widest
        marks: list[Mark] = []
        for number, place in enumerate(places, 1):
            angle = 2 * pi * place / count - pi / 2
            x, y = middle + radius * cos(angle), middle + radius * sin(angle)
            marks.append(Dot(x, y, widest / 2, str(number), "accent" if number == 1 else "a", number + 2))
        top = middle - radius
        marks.append(Path(((middle, top + widest * 1.6), (middle, top + widest * 0.6)), arrow=True, tone="b"))
        title = word("kinds", "disk_records", language)
        order = (
            ", ".join(map(str, found["track_layout"].value)) if isinstance(found["track_layout"].value, tuple) else ""
        )
        description = word("steps", "record_chart", language, layout=order)
        return Figure(2 * middle, 2 * middle, tuple(marks), title, description, len(steps))

    columns = ("record_number", "record_waits", "record_start", "record_end", "record_handled")
    return Solution(tuple(steps), found, columns, figure)


def generate(random: Random, level: Level) -> Records:
    """Consecutive records first; then interleaved ones; then the best way is asked for."""
    count, slot = random.choice((8, 10)), random.choice((1, 2, 3))
    handling = slot * random.choice((1, 2, 3)) - (slot / 2 if level == "hard" else 0)
    values: dict[str, Any] = {"records": count, "turn": float(count * slot), "handling": float(handling)}
    values["interleave"] = 1 if level != "medium" else random.choice((2, 3))
    return Records(**values, ask="best_time" if level == "hard" else "records_time")


def _wrong(name: str, ask: str, value: Any) -> Mistake[Any]:
    def wrong(parameters: Records) -> Value | None:
        if parameters.ask != ask:
            return None
        return plain(value(parameters.records, exact(parameters.turn), exact(parameters.handling)))

    return Mistake(name, wrong)


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        name="disk_records",
        topic="disk",
        parameters=Records,
        solve=solve,
        generate=generate,
        mistakes=(
            _wrong("record_no_waiting", "records_time", lambda n, turn, handling: turn + n * handling),
            _wrong("record_whole_turns", "records_time", lambda n, turn, handling: n * (turn + turn / n)),
            _wrong("record_turn_and_handling", "records_time", lambda n, turn, handling: n * (turn + handling)),
            _wrong("record_one_turn", "best_time", lambda n, turn, handling: turn),
            _wrong(
                "record_consecutive",
                "best_time",
                lambda n, turn, handling: read(n, turn, handling, layout(n, 1))[-1].handled,
            ),
            _wrong("record_no_gaps", "best_time", lambda n, turn, handling: turn + n * handling),
        ),
        section="10.1",
    ),
)
