"""Placing requests in free blocks: first, next, best and worst fit, with dynamic or fixed partitions.

Section 6.2 of the course book (Silberschatz et al., 9.2; Knuth, volume 1, 2.5). A request takes the lower end of its
block and the rest stays free; a released piece joins the free pieces beside it. Ties go to the lowest address.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.fields import Numbers, fault
from osrag.lab.kind import Cell, Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, TONES, Box, Figure, Label, Mark, text_width
from osrag.types import Language

OPERATIONS = 200
HOLES = 100
DRAWN = 24  # operations that a figure shows
DIGITS = 15  # of a size
RELEASE = "-"
FAILS = "request_fails"

Method = Literal["first_fit", "next_fit", "best_fit", "worst_fit"]
METHODS: tuple[Method, ...] = ("first_fit", "next_fit", "best_fit", "worst_fit")

_FREED = re.compile(r"(?:free|release|释放|回收|归还)\s*(\S+)|(\S+)\s+(?:-|0|free|释放)|-\s*(\D\S*)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_ASKED = re.compile(r"(?:(\S+?)\s*[=:：\s]\s*)?(\d+)\s*([kmg]?)(?:i?b)?", re.IGNORECASE)


def _operations(value: Any) -> Any:
    """`A 100, B 240, free A` as (name, size) and (name, `-`); a size alone is named R1, R2, …"""
    if isinstance(value, str):
        parts = [part.strip() for part in re.split(r"[;；,，、\n]", value)]
        return tuple(_operation(part, number) for number, part in enumerate([p for p in parts if p], start=1))
    if not isinstance(value, list | tuple):
        return value
    rows = []
    for number, each in enumerate(value, start=1):
        text = " ".join(map(str, each)) if isinstance(each, list | tuple) else str(each)
        rows.append(_operation(text, number))
    return tuple(rows)


def _operation(text: str, number: int) -> tuple[str, str]:
    if freed := _FREED.fullmatch(text):
        return (freed[1] or freed[2] or freed[3], RELEASE)
    asked = _ASKED.fullmatch(text)
    if asked is None or len(asked[2]) > DIGITS or not int(asked[2]):
        raise fault("fitting_operation", seen=text[:30])
    return (asked[1] or f"R{number}", str(int(asked[2]) * _UNITS[asked[3].lower()]))


Operations = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_operations)]


def in_order(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Raises a fault where something is released that is not held, or asked for twice."""
    held = set[str]()
    for name, size in rows:
        if size == RELEASE and name not in held:
            raise fault("fitting_not_held", name=name)
        if size != RELEASE and name in held:
            raise fault("fitting_held", name=name)
        held ^= {name}
    return rows


class Fitting(Parameters):
    """Free blocks by address, and what is asked for and released, in order."""

    method: Method = given("first_fit")
    holes: Numbers = given(min_length=1, max_length=HOLES)
    operations: Operations = given(min_length=1, max_length=OPERATIONS)
    partitions: Literal["dynamic_parts", "fixed_parts"] = rule("dynamic_parts")
    ask: Literal["fit_blocks", "free_after", "failed_requests", "total_free", "largest_free", "internal_waste"] = (
        "fit_blocks"
    )

    @field_validator("holes")
    @classmethod
    def _positive(cls, holes: tuple[int, ...]) -> tuple[int, ...]:
        if min(holes) < 1:
            raise fault("fitting_hole", seen=min(holes))
        if len(str(max(holes))) > DIGITS:
            raise fault("fitting_large", digits=DIGITS)
        return holes

    @field_validator("operations")
    @classmethod
    def _in_order(cls, rows: tuple[tuple[str, str], ...], info: ValidationInfo) -> tuple[tuple[str, str], ...]:
        return in_order(rows)


@dataclass(slots=True)
class Memory:
    """Free and held pieces, each as (hole, start in the hole, size)."""

    free: list[tuple[int, int, int]]
    held: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    last: tuple[int, int] = (0, 0)  # where next fit goes on: hole and offset behind the last piece given out

    def choose(self, size: int, method: Method) -> tuple[int, int, int] | None:
        """The free piece that a request gets."""
        fitting = [piece for piece in sorted(self.free) if piece[2] >= size]
        if not fitting:
            return None
        match method:
            case "best_fit":
                return min(fitting, key=lambda piece: piece[2])
            case "worst_fit":
                return max(fitting, key=lambda piece: piece[2])  # the first of equals
            case "next_fit":
                return next((piece for piece in fitting if piece[:2] >= self.last), fitting[0])
            case _:
                return fitting[0]

    def take(self, name: str, piece: tuple[int, int, int], size: int) -> None:
        """Give the lower end of a piece to a request."""
        hole, start, length = piece
        self.free.remove(piece)
        if length > size:
            self.free.append((hole, start + size, length - size))
        self.held[name] = (hole, start, size)
        self.last = (hole, start + size)

    def release(self, name: str) -> int:
        """Give a piece back and merge it with the free ones beside it; the size of the result."""
        hole, start, size = self.held.pop(name)
        for other in sorted(self.free):
            if other[0] == hole and (other[1] + other[2] == start or start + size == other[1]):
                self.free.remove(other)
                start, size = min(start, other[1]), size + other[2]
        self.free.append((hole, start, size))
        return size

    def sizes(self) -> tuple[int, ...]:
        """Sizes of the free pieces by address."""
        return tuple(piece[2] for piece in sorted(self.free))


@dataclass(frozen=True, slots=True)
class Placed:
    """An operation and the memory after it."""

    name: str
    size: int | None  # None: a release
    block: int | None  # size of the free piece that was taken; of the merged piece after a release
    free: tuple[tuple[int, int, int], ...]
    held: tuple[tuple[str, tuple[int, int, int]], ...]
    at: int = 0  # number of the hole, from 1


def place(given: Fitting, method: Method) -> list[Placed]:
    """Run the operations. A release of a request that failed does nothing."""
    memory = Memory([(number, 0, size) for number, size in enumerate(given.holes)])
    fixed, run = given.partitions == "fixed_parts", list[Placed]()
    for name, text in given.operations:
        block, hole, size = None, 0, None if text == RELEASE else int(text)
        if size is None:
            block = memory.release(name) if name in memory.held else None
        elif (piece := memory.choose(size, method)) is not None:
            memory.take(name, piece, piece[2] if fixed else size)
            block, hole = piece[2], piece[0] + 1
        run.append(Placed(name, size, block, tuple(sorted(memory.free)), tuple(memory.held.items()), hole))
    return run


def _blocks(run: list[Placed]) -> tuple[int | str, ...]:
    """For each request, the size of the free piece that it got."""
    return tuple(FAILS if each.block is None else each.block for each in run if each.size is not None)


def solve_fit(given: Fitting) -> Solution:
    """A row for each operation: the piece taken, what is left of it, and the free pieces afterwards."""
    run, fixed = place(given, given.method), given.partitions == "fixed_parts"
    steps, waste = list[Step](), 0
    for each in run:
        free = tuple(piece[2] for piece in each.free)
        left: int | None = None
        if each.size is None:
            key = "fit_released" if each.block is not None else "fit_nothing_released"
        elif each.block is None:
            key = "fit_fails_total" if sum(free) >= each.size else "fit_fails"
        else:
            left = each.block - each.size
            waste += left if fixed else 0
            key = "fit_fixed" if fixed else f"fit_{given.method}"
        values = {"name": each.name, "size": each.size, "block": each.block, "left": left, "free": free}
        row: tuple[Cell, ...] = (each.name, each.size, each.block, left, free)
        steps.append(Step(key, {**values, "total": sum(free)}, row, _rule_of(each, given.method, fixed)))
    free = tuple(piece[2] for piece in run[-1].free)
    failed = tuple(each.name for each in run if each.size is not None and each.block is None)
    results = {
        "fit_blocks": Result(_blocks(run)),
        "free_after": Result(free),
        "failed_requests": Result(failed),
        "total_free": Result(sum(free)),
        "largest_free": Result(max(free, default=0)),
        "internal_waste": Result(waste),
    }
    columns = ("fit_name", "fit_size", "fit_block", "fit_left", "fit_free")
    return Solution(tuple(steps), results, columns, partial(memory_bars, given, run))


def _rule_of(each: Placed, method: Method, fixed: bool) -> str:
    if each.size is None:
        return "fit_released"
    return "fit_fixed" if fixed and each.block is not None else method


SAID: dict[str, dict[Language, str]] = {
    "first_fit": {"zh": "首次适应", "en": "First fit"},
    "next_fit": {"zh": "循环首次适应", "en": "Next fit"},
    "best_fit": {"zh": "最佳适应", "en": "Best fit"},
    "worst_fit": {"zh": "最坏适应", "en": "Worst fit"},
    "start": {"zh": "开始", "en": "start"},
    "free": {"zh": "释放 {name}", "en": "free {name}"},
    "fails": {"zh": "{name} {size} ✗", "en": "{name} {size} ✗"},
    "asks": {"zh": "{name} {size}", "en": "{name} {size}"},
}
WIDTH = 440.0  # pixels of all the memory


def memory_bars(given: Fitting, run: list[Placed], language: Language) -> Figure:
    """A bar of the memory after each operation: free pieces with their size, held ones with their name."""
    scale = max(WIDTH, min(24 * sum(given.holes) / min(given.holes), 1600)) / sum(given.holes)
    names = list(dict.fromkeys(each.name for each in run))
    heads = [SAID["start"][language]]
    for each in run[:DRAWN]:
        key = "free" if each.size is None else "fails" if each.block is None else "asks"
        heads.append(SAID[key][language].format(name=each.name, size=each.size))
    left = max(map(text_width, heads)) + 18
    starts = [left + sum(given.holes[:hole]) * scale + 8 * hole for hole in range(len(given.holes))]
    marks: list[Mark] = []
    first = tuple((hole, 0, size) for hole, size in enumerate(given.holes))
    states = [(first, ()), *((each.free, each.held) for each in run[:DRAWN])]
    for step, (head, (free, held)) in enumerate(zip(heads, states, strict=True)):
        y = 10 + step * (ROW + 8)
        fails = step > 0 and run[step - 1].size is not None and run[step - 1].block is None
        marks.append(Label(left - 8, y + 19, head, "end", "bad" if fails else "muted", step))
        pieces = [(piece, "") for piece in free] + [(piece, name) for name, piece in held]
        for (hole, start, size), name in pieces:
            wide = size * scale
            label = name or str(size)
            shown = label if text_width(label) + 4 <= wide else ""
            tone = TONES[names.index(name) % len(TONES)] if name else "muted"
            marks.append(Box(starts[hole] + start * scale, y, wide, ROW, shown, tone, step))
    told = "; ".join(
        f"{head}: {', '.join(str(piece[2]) for piece in free) or '–'}"
        for head, (free, _) in zip(heads, states, strict=True)
    )
    width = starts[-1] + given.holes[-1] * scale + 10
    title = SAID[given.method][language]
    return Figure(width, 14 + len(heads) * (ROW + 8), tuple(marks), title, told, len(run))


# ---------------------------------------------------------------- exercises and mistakes


def generate_fit(random: Random, level: Level) -> Fitting:
    """Easy: three requests; medium: a method that differs from first fit; hard: with a release."""
    count, asks = {"easy": (4, 3), "medium": (5, 4), "hard": (4, 4)}[level]
    while True:
        holes = tuple(random.randint(8, 60) * 10 for _ in range(count))
        sizes = [random.randint(6, max(holes) // 10) * 10 for _ in range(asks)]
        operations = [(chr(ord("A") + number), str(size)) for number, size in enumerate(sizes)]
        if level == "hard":
            operations.insert(3, (operations[random.randrange(2)][0], RELEASE))
        method = random.choice(METHODS[:1] if level == "easy" else METHODS[1:])
        made = Fitting(method=method, holes=holes, operations=tuple(operations))
        ways = {each: _blocks(place(made, each)) for each in METHODS}
        others = sum(blocks != ways[method] for blocks in ways.values())
        if others >= 2 and FAILS not in ways[method][:3] and len(set(holes)) == count:
            return made


def _otherwise(change: Callable[[Fitting], tuple[Fitting, Method] | None]) -> Callable[[Any], Value | None]:
    def value(given: Fitting) -> Value | None:
        changed = change(given)
        return None if given.ask != "fit_blocks" or changed is None else _blocks(place(*changed))

    return value


def _by(method: Method) -> Callable[[Any], Value | None]:
    return _otherwise(lambda given: None if given.method == method else (given, method))


FIT: Kind[Any] = Kind(
    "fit",
    "allocation",
    Fitting,
    solve_fit,
    generate_fit,
    (
        Mistake("fit_rest_lost", _otherwise(lambda g: (g.model_copy(update={"partitions": "fixed_parts"}), g.method))),
        Mistake("fit_as_first", _by("first_fit")),
        Mistake("fit_as_best", _by("best_fit")),
        Mistake("fit_as_worst", _by("worst_fit")),
        Mistake("fit_as_next", _by("next_fit")),
    ),
    "6.2.2",
)
KINDS = (FIT,)
