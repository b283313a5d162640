"""The arm of a magnetic disk: in which order it serves its requests and how far it moves, and the time of an access.

Six algorithms with the conventions of the course book, section 10.2, and of Silberschatz et al., Operating System
Concepts, 10th ed., section 11.2: SCAN and C-SCAN go on to the edge of the disk while requests wait on the other side,
the arm stops after the last request, and the way back of C-SCAN and C-LOOK counts. SSTF keeps its direction where two
requests are equally near (exercise 10-2). The access time is that of section 10.1: seek, half a turn, transfer.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from osrag.lab.fields import Milliseconds, Numbers, fault, needed
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import Anchor, Dot, Figure, Label, Mark, Path, text_width
from osrag.lab.words import word
from osrag.types import Language

MOST_REQUESTS = 1000
MOST_CYLINDERS = 1_000_000

Ask = Literal["total_movement", "service_order", "average_movement", "seek_time", "served_before"]
Direction = Literal["up", "down"]


class Requests(Parameters):
    """Requests that wait when the arm starts."""

    requests: Numbers = given(min_length=1, max_length=MOST_REQUESTS)
    start: int = given(ge=0)
    cylinders: int = given(200, ge=2, le=MOST_CYLINDERS, validate_default=True)
    ask: Ask = given("total_movement")
    per_cylinder: Milliseconds = given(0.0, ge=0, le=1e6, unit="ms", validate_default=True)
    served: int | None = given(None, ge=0, validate_default=True)  # the request that is asked about

    @field_validator("cylinders")
    @classmethod
    def _all_on_the_disk(cls, cylinders: int, info: ValidationInfo) -> int:
        for cylinder in (*info.data.get("requests", ()), info.data.get("start", 0)):
            if not 0 <= cylinder < cylinders:
                raise fault("disk_outside", cylinder=cylinder, last=cylinders - 1)
        return cylinders

    @field_validator("per_cylinder")
    @classmethod
    def _needed_for_a_time(cls, per_cylinder: float, info: ValidationInfo) -> float:
        if info.data.get("ask") == "seek_time" and not per_cylinder:
            raise PydanticCustomError("missing", "the time from one cylinder to the next")
        return per_cylinder

    @field_validator("served")
    @classmethod
    def _is_a_request(cls, served: int | None, info: ValidationInfo) -> int | None:
        needed(served, info, "served_before")
        if served is not None and served not in info.data.get("requests", (served,)):
            raise fault("disk_no_request", seen=served)
        return served


class Directed(Requests):
    """The same where it matters which way the arm moves: given, or known from where it was before."""

    direction: Direction = given("up")
    previous: int | None = given(None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _direction_follows_from_the_previous_request(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        try:
            before, start = int(values["previous"]), int(values["start"])
        except (KeyError, TypeError, ValueError):
            return values  # not given, or a fault of that field
        return values if before == start else {"direction": "up" if before < start else "down", **values}

    @field_validator("previous")
    @classmethod
    def _previous_agrees(cls, previous: int | None, info: ValidationInfo) -> int | None:
        start, cylinders = info.data.get("start"), info.data.get("cylinders")
        if previous is None or start is None or cylinders is None:
            return previous
        if previous >= cylinders:
            raise fault("disk_outside", cylinder=previous, last=cylinders - 1)
        if previous != start and (previous < start) != (info.data.get("direction") == "up"):
            raise fault("disk_direction", previous=previous, start=start)
        return previous


class Nearest(Directed):
    """Shortest seek time first."""

    equally_near: Literal["same_direction", "lower_cylinder", "higher_cylinder", "earlier_request"] = rule(
        "same_direction"
    )


class Sweeping(Directed):
    """SCAN: how far a sweep goes."""

    sweep_end: Literal["to_the_edge", "to_the_last_request"] = rule("to_the_edge")


class Circling(Directed):
    """C-LOOK: whether the way back counts."""

    way_back: Literal["way_back_counts", "way_back_free"] = rule("way_back_counts")


class CircularSweeping(Sweeping, Circling):
    """C-SCAN: both."""


@dataclass(frozen=True, slots=True)
class Move:
    """One move of the arm."""

    to: int
    key: str  # of words.steps
    served: bool = True  # False for an edge, or the way back
    counts: bool = True
    aside: Mapping[str, Any] | None = None  # more values of the sentence


def _in_order(requests: Sequence[int]) -> list[Move]:
    return [Move(cylinder, "disk_fcfs") for cylinder in requests]


def _nearest(requests: Sequence[int], start: int, direction: Direction, ties: str) -> list[Move]:
    """Always the nearest request. Sorted, it stands beside the gap that the arm has already served."""
    low = sorted(cylinder for cylinder in requests if cylinder < start)
    high = sorted((cylinder for cylinder in requests if cylinder >= start), reverse=True)
    first = {cylinder: place for place, cylinder in reversed(list(enumerate(requests)))}
    at, up = start, direction == "up"
    moves: list[Move] = []
    while low or high:
        below, above = (at - low[-1] if low else None), (high[-1] - at if high else None)
        tie = below is not None and below == above
        if below is None or above is None:
            rise = below is None
        elif not tie:
            rise = above < below
        else:
            chosen = {"same_direction": up, "lower_cylinder": False, "higher_cylinder": True}
            rise = chosen.get(ties, first[high[-1]] < first[low[-1]])
        other, to = (low[-1] if low else None, high.pop()) if rise else (high[-1] if high else None, low.pop())
        key = "disk_sstf_tie" if tie else "disk_sstf" if other is not None else "disk_sstf_last"
        near = {} if other is None else {"other": other, "further": abs(other - at)}
        moves.append(Move(to, key, aside=near))
        up = to > at if to != at else up
        at = to
    return moves


def _swept(
    requests: Sequence[int], start: int, direction: Direction, last: int, *, edge: bool, circular: bool, counts: bool
) -> list[Move]:
    """All requests ahead, then the others: on the way back, or from the other end again."""
    up = direction == "up"
    ordered = sorted(requests, reverse=not up)
    split = bisect_left(ordered, start) if up else bisect_left([-cylinder for cylinder in ordered], -start)
    behind, ahead = ordered[:split], ordered[split:]
    onwards, back = ("disk_up", "disk_down") if up else ("disk_down", "disk_up")
    moves = [Move(cylinder, onwards) for cylinder in ahead]
    if not behind:
        return moves
    near, far = (last, 0) if up else (0, last)
    if edge and (ahead[-1] if ahead else start) != near:
        moves.append(Move(near, "disk_edge", served=False))
    if not circular:
        keys = [f"{back}_turned", *[back] * (len(behind) - 1)]
        return moves + [Move(cylinder, key) for cylinder, key in zip(reversed(behind), keys, strict=True)]
    jump = "disk_jump" if counts else "disk_jump_free"
    if not edge or behind[0] == far:
        return [*moves, Move(behind[0], jump, counts=counts), *(Move(cylinder, onwards) for cylinder in behind[1:])]
    moves.append(Move(far, jump, served=False, counts=counts))
    return moves + [Move(cylinder, onwards) for cylinder in behind]


WALKS: Mapping[str, Callable[[Any], list[Move]]] = {
    "disk_fcfs": lambda p: _in_order(p.requests),
    "sstf": lambda p: _nearest(p.requests, p.start, p.direction, p.equally_near),
    "scan": lambda p: sweep(p, edge=p.sweep_end == "to_the_edge"),
    "cscan": lambda p: sweep(
        p, edge=p.sweep_end == "to_the_edge", circular=True, counts=p.way_back == "way_back_counts"
    ),
    "look": lambda p: sweep(p),
    "clook": lambda p: sweep(p, circular=True, counts=p.way_back == "way_back_counts"),
}


def sweep(
    parameters: Directed, *, edge: bool = False, circular: bool = False, counts: bool = True, turned: bool = False
) -> list[Move]:
    """The moves of SCAN and its relatives; `turned` sets out the wrong way."""
    direction = parameters.direction
    if turned:
        direction = "down" if direction == "up" else "up"
    last = parameters.cylinders - 1
    return _swept(parameters.requests, parameters.start, direction, last, edge=edge, circular=circular, counts=counts)


def results(parameters: Requests, moves: Sequence[Move]) -> dict[str, Result]:
    """How far the arm moves, and what follows."""
    total, at = 0, parameters.start
    for move in moves:
        total += abs(move.to - at) * move.counts
        at = move.to
    found = {
        "total_movement": Result(total, "cylinders"),
        "service_order": Result(tuple(move.to for move in moves if move.served)),
        "average_movement": Result(total / len(parameters.requests), "cylinders"),
    }
    if parameters.served is not None:
        found["served_before"] = Result([move.to for move in moves if move.served].index(parameters.served))
    if parameters.per_cylinder:
        found["seek_time"] = Result(total * parameters.per_cylinder, "ms")
    return found


COLUMNS = ("disk_to", "disk_distance", "disk_total")


def solution_of(parameters: Requests, name: str, moves: Sequence[Move]) -> Solution:
    """A step for each move, and one that adds up."""
    steps: list[Step] = []
    total, at = 0, parameters.start
    for move in moves:
        distance = abs(move.to - at)
        total += distance * move.counts
        values = {"at": at, "to": move.to, "distance": distance, **(move.aside or {})}
        row = (move.to, distance * move.counts, total)
        steps.append(Step(move.key, values, row, RULES.get(move.key, f"disk_rule_{name}")))
        at = move.to
    found = results(parameters, moves)
    figures: dict[str, Any] = {"total": total, "count": len(parameters.requests), "value": found[parameters.ask].value}
    figures |= {"per": parameters.per_cylinder, "served": parameters.served}
    steps.append(Step(f"disk_ask_{parameters.ask}", figures))
    return Solution(tuple(steps), found, COLUMNS, lambda language: arm(parameters, name, moves, total, language))


RULES = {"disk_edge": "disk_rule_edge", "disk_jump": "disk_rule_jump", "disk_jump_free": "disk_rule_jump_free"}


# The drawing: cylinders from left to right, time downwards, as in the course book

ROW, WIDTH, AXIS = 32.0, 560.0, 34.0  # pixels


def arm(parameters: Requests, name: str, moves: Sequence[Move], total: int, language: Language) -> Figure:
    """The way of the arm over time. A dashed line is the way back, on which nothing is served."""
    last = parameters.cylinders - 1
    margin = text_width(str(last)) + 14  # the widest number fits beside a stop at an edge
    stops = [parameters.start, *(move.to for move in moves)]
    points = [(margin + stop / last * WIDTH, AXIS + 34 + row * ROW) for row, stop in enumerate(stops)]
    marks: list[Mark] = [Path(((margin, AXIS), (margin + WIDTH, AXIS)), tone="muted")]
    for cylinder in (0, last):
        x = margin + cylinder / last * WIDTH
        marks += [Path(((x, AXIS - 5), (x, AXIS + 5)), tone="muted"), Label(x, AXIS - 10, str(cylinder), "middle")]
    for cylinder in sorted(set(parameters.requests)):
        marks.append(Dot(margin + cylinder / last * WIDTH, AXIS, 3, tone="b"))
    for row, (move, line) in enumerate(zip(moves, pairwise(points), strict=True), 1):
        dashed = move.key.startswith("disk_jump")
        marks.append(Path(line, dashed=dashed, tone="muted" if dashed else "a", step=row))
    for row, (point, stop) in enumerate(zip(points, stops, strict=True)):
        served = row == 0 or moves[row - 1].served
        marks.append(Dot(*point, 4, tone="accent" if row == 0 else "b" if served else "muted", step=row))
        before = points[row - 1][0] - point[0] if row else 0.0
        after = points[row + 1][0] - point[0] if row + 1 < len(points) else 0.0
        x, y, anchor = _beside(point, before, after)
        marks.append(Label(x, y, str(stop), anchor, "plain" if served else "muted", step=row))
    title = word("kinds", name, language)
    way = " → ".join(map(str, stops))
    description = word("steps", "disk_chart", language, kind=title, way=way, total=total)
    height = points[-1][1] + 24
    return Figure(WIDTH + 2 * margin, height, tuple(marks), title, description, len(moves) + 1)


def _beside(point: tuple[float, float], before: float, after: float) -> tuple[float, float, Anchor]:
    """Where the number of a stop stands so that neither line runs through it; they go `before` and `after` from it."""
    x, y = point
    if before <= 0 and after <= 0:
        return x + 9, y + 5, "start"
    if before >= 0 and after >= 0:
        return x - 9, y + 5, "end"
    return (x + 5, y - 8, "start") if before < 0 else (x - 5, y - 8, "end")


# Mistakes


def _instead(name: str, walk: Callable[[Any], list[Move]]) -> Mistake[Any]:
    """The figure that is asked for, from a wrong walk."""

    def value(parameters: Requests) -> Value | None:
        return results(parameters, walk(parameters))[parameters.ask].value

    return Mistake(name, value)


def _from_the_first(kind: str) -> Mistake[Any]:
    def value(parameters: Requests) -> Value | None:
        if parameters.ask != "total_movement":
            return None
        moves = WALKS[kind](parameters)
        total = results(parameters, moves)["total_movement"].value
        return total - abs(moves[0].to - parameters.start) if isinstance(total, int) else None

    return Mistake("disk_first_move_forgotten", value)


def _nearest_to_the_start(parameters: Nearest) -> list[Move]:
    """Sorted once by the distance from the start."""
    near = sorted(parameters.requests, key=lambda cylinder: abs(cylinder - parameters.start))
    return [Move(cylinder, "disk_sstf") for cylinder in near]


def _look(parameters: Any) -> list[Move]:
    return sweep(parameters)


def _scan(parameters: Any) -> list[Move]:
    return sweep(parameters, edge=True)


def _cscan(parameters: Any) -> list[Move]:
    return sweep(parameters, edge=True, circular=True)


def _clook(parameters: Any) -> list[Move]:
    return sweep(parameters, circular=True)


MISTAKES: Mapping[str, tuple[Mistake[Any], ...]] = {
    "disk_fcfs": (
        _from_the_first("disk_fcfs"),
        _instead("disk_sorted", lambda p: _in_order(sorted(p.requests))),
        _instead("disk_nearest_instead", lambda p: _nearest(p.requests, p.start, "up", "same_direction")),
    ),
    "sstf": (
        _instead("disk_nearest_to_start", _nearest_to_the_start),
        _instead("disk_fcfs_instead", lambda p: _in_order(p.requests)),
        _instead("disk_look_instead", _look),
        _from_the_first("sstf"),
    ),
    "scan": (
        _instead("disk_look_instead", _look),
        _instead("disk_cscan_instead", _cscan),
        _instead("disk_wrong_way", lambda p: sweep(p, edge=True, turned=True)),
        _from_the_first("scan"),
    ),
    "cscan": (
        _instead("disk_way_back_forgotten", lambda p: sweep(p, edge=True, circular=True, counts=False)),
        _instead("disk_scan_instead", _scan),
        _instead("disk_clook_instead", _clook),
        _instead("disk_wrong_way", lambda p: sweep(p, edge=True, circular=True, turned=True)),
    ),
    "look": (
        _instead("disk_scan_edge", _scan),
        _instead("disk_wrong_way", lambda p: sweep(p, turned=True)),
        _instead("disk_clook_instead", _clook),
        _from_the_first("look"),
    ),
    "clook": (
        _instead("disk_way_back_forgotten", lambda p: sweep(p, circular=True, counts=False)),
        _instead("disk_look_instead", _look),
        _instead("disk_cscan_edge", _cscan),
        _instead("disk_wrong_way", lambda p: sweep(p, circular=True, turned=True)),
    ),
}


# Exercises

COUNTS: Mapping[Level, int] = {"easy": 5, "medium": 7, "hard": 9}
TRIES = 100


def _generator(name: str, kind: type[Requests]) -> Callable[[Random, Level], Any]:
    def generate(random: Random, level: Level) -> Requests:
        """Requests on both sides of the arm; at the hard level two are equally near at some time of SSTF."""
        found: Requests | None = None
        for _ in range(TRIES):
            step = 5 if level == "easy" else 1
            chosen = random.sample(range(5, 195, step), COUNTS[level] + 1)
            values: dict[str, Any] = {"start": chosen[0], "requests": tuple(chosen[1:])}
            if issubclass(kind, Directed):
                values["direction"] = "up" if level == "easy" else random.choice(("up", "down"))
            if level == "medium" and random.random() < 0.3:
                values |= {"ask": "seek_time", "per_cylinder": random.choice((0.5, 2.0, 3.0))}
            found = kind.model_validate(values)
            sides = sum(cylinder > chosen[0] for cylinder in chosen[1:])
            moves = WALKS[name](found)
            tie = any(move.key == "disk_sstf_tie" for move in moves)
            turns = len({move.to > chosen[0] for move in moves}) == 2
            if 2 <= sides <= COUNTS[level] - 2 and turns and (tie or name != "sstf" or level != "hard"):
                break
        assert found is not None
        return found

    return generate


def _solver(name: str) -> Callable[[Any], Solution]:
    return lambda parameters: solution_of(parameters, name, WALKS[name](parameters))


def _kind(name: str, parameters: type[Requests]) -> Kind[Any]:
    return Kind(
        name=name,
        topic="disk",
        parameters=parameters,
        solve=_solver(name),
        generate=_generator(name, parameters),
        mistakes=MISTAKES[name],
        section="10.2",
    )


KINDS: tuple[Kind[Any], ...] = (
    _kind("disk_fcfs", Requests),
    _kind("sstf", Nearest),
    _kind("scan", Sweeping),
    _kind("cscan", CircularSweeping),
    _kind("look", Directed),
    _kind("clook", Circling),
)
