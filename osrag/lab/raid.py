"""RAID: capacity and cost of each level, the place of a block, and parity.

Course book, sections 10.4 and 10.5. The levels are those of Patterson, Gibson and Katz (SIGMOD 1988), with 10 and 6 as
usual; the mean times to data loss are theirs, for independent failures. The four layouts of rotating parity have the
names of Linux (drivers/md/raid5.c); the course book draws the left-asymmetric one.
"""

import math
import re
from collections.abc import Sequence
from functools import partial, reduce
from operator import xor
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.fields import Words, absent, fault, grouped, needed
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Tone, row, text_width
from osrag.lab.words import word
from osrag.types import Language

Rotation = Literal["left_asymmetric", "left_symmetric", "right_asymmetric", "right_symmetric"]
RaidLevel = Literal["0", "1", "4", "5", "6", "10"]
LEAST: dict[str, int] = {"0": 1, "1": 2, "4": 3, "5": 3, "6": 4, "10": 4}  # disks
DISKS = 256
SMALL_WRITE: dict[str, tuple[int, int]] = {  # reads and writes of one small write
    "0": (0, 1),
    "4": (2, 2),
    "5": (2, 2),
    "6": (3, 3),
    "10": (0, 2),
}


def _terabytes(value: Any) -> Any:
    """`4`, `4 TB` or `500 GB`, in decimal units as disks are sold."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(TB|GB|T|G)?\s*", value, re.IGNORECASE)
    if match is None:
        raise fault("not_terabytes", seen=value[:20])
    return float(match[1]) / (1000 if (match[2] or "T")[0] in "Gg" else 1)


def _raid_name(value: Any) -> Any:
    """`5`, `RAID 5` or `raid5`."""
    return re.sub(r"(?i)^\s*raid[\s-]*|\s+$", "", str(value)).replace("1+0", "10")


class Disks(Parameters):
    """An array of equal disks."""

    raid_level: Annotated[RaidLevel, BeforeValidator(_raid_name)] = given("5")
    disks: int = given(ge=1, le=DISKS)

    @field_validator("disks")
    @classmethod
    def _enough(cls, value: int, info: ValidationInfo) -> int:
        level = info.data.get("raid_level")
        if level and value < LEAST[level]:
            raise fault("too_few_disks", level=level, least=LEAST[level], disks=value)
        if level == "10" and value % 2:
            raise fault("odd_mirrors", disks=value)
        return value


class Raid(Disks):
    """What an array holds, survives and costs."""

    ask: Literal["usable_size", "survives", "small_write", "host_requests", "time_to_data_loss"] = "usable_size"
    disk_size: Annotated[float, BeforeValidator(_terabytes)] = given(1.0, gt=0, le=1e6, unit="tb")
    disk_operations: float | None = given(None, gt=0, le=1e9, unit="a_second", validate_default=True)
    read_percent: float | None = given(None, ge=0, le=100, unit="percent", validate_default=True)
    disk_mttf: float | None = given(None, gt=0, le=1e12, unit="hours", validate_default=True)
    disk_mttr: float | None = given(None, gt=0, le=1e9, unit="hours", validate_default=True)

    @field_validator("disk_operations", "read_percent")
    @classmethod
    def _load_where_needed(cls, value: float | None, info: ValidationInfo) -> float | None:
        needed(value, info, "host_requests")
        return value

    @field_validator("disk_mttf", "disk_mttr")
    @classmethod
    def _times_where_needed(cls, value: float | None, info: ValidationInfo) -> float | None:
        if not (info.field_name == "disk_mttr" and info.data.get("raid_level") == "0"):
            needed(value, info, "time_to_data_loss")
        return value


def usable_disks(level: str, disks: int) -> float:
    """Disks' worth of data; level 1 is one mirror of all disks."""
    return {"0": disks, "1": 1, "4": disks - 1, "5": disks - 1, "6": disks - 2, "10": disks / 2}[level]


def survives(level: str, disks: int) -> int:
    """Failed disks that are survived whichever they are."""
    return {"0": 0, "1": disks - 1, "4": 1, "5": 1, "6": 2, "10": 1}[level]


def small_write(level: str, disks: int) -> tuple[int, int]:
    """Reads and writes of disks for one small write."""
    return (0, disks) if level == "1" else SMALL_WRITE[level]


def time_to_data_loss(level: str, disks: int, mttf: float, mttr: float) -> float:
    """Hours; each further disk must fail while the ones before are under repair."""
    if level == "10":
        return mttf**2 / (2 * mttr) / (disks / 2)
    failures = survives(level, disks)
    return mttf ** (failures + 1) / (math.perm(disks, failures + 1) * mttr**failures)


def _short(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def _solve_raid(given: Raid) -> Solution:
    level, disks = given.raid_level, given.disks
    reads, writes = small_write(level, disks)
    data, lost = usable_disks(level, disks), survives(level, disks)
    size = data * given.disk_size
    told: dict[str, Any] = {"disks": disks, "data": _short(data), "size": _short(given.disk_size)}
    told |= {
        "usable": _short(size),
        "lost": lost,
        "reads": reads,
        "writes": writes,
        "sum": reads + writes,
        "pairs": disks // 2,
    }
    results = {
        "usable_size": Result(_short(size), "tb"),
        "survives": Result(lost),
        "small_write": Result(reads + writes),
    }
    steps = [
        Step(f"raid_{level}_size", told),
        Step(f"raid_{level}_survives", told),
        Step(f"raid_{level}_small_write", told, (level, disks, _short(size), lost, reads + writes), "raid_summary"),
    ]
    if given.disk_operations is not None and given.read_percent is not None:
        share = given.read_percent / 100
        average = share + (1 - share) * (reads + writes)
        total = disks * given.disk_operations
        load: dict[str, Any] = {"total": _short(total), "share": share, "rest": round(1 - share, 6), "average": average}
        steps.append(Step("raid_host_requests", {**told, **load, "requests": total / average}))
        results["host_requests"] = Result(total / average, "a_second")
    if given.disk_mttf is not None and (given.disk_mttr is not None or level == "0"):
        mttr = given.disk_mttr or 1.0
        hours = time_to_data_loss(level, disks, given.disk_mttf, mttr)
        values: dict[str, Any] = {"mttf": grouped(round(given.disk_mttf)), "mttr": _short(mttr), "failures": lost + 1}
        values |= {"hours": f"{hours:,.0f}".replace(",", " "), "years": f"{hours / 8760:,.1f}".replace(",", " ")}
        steps.append(Step(f"raid_{level}_loss", {**told, **values}))
        results["time_to_data_loss"] = Result(_short(hours), "hours")
    columns = ("raid_level", "disk_count", "usable", "surely_survives", "small_write_operations")
    shape = _Layout(level, disks)
    return Solution(tuple(steps), results, columns, partial(_grid_figure, shape, 4, None, len(steps), "raid"))


# The place of a block


class RaidLayout(Disks):
    """Where a block of data lies."""

    ask: Literal["disk_of_block", "stripe_of_block", "parity_disk"] = "disk_of_block"
    block_number: int = given(ge=0, le=1_000_000)
    rotation: Rotation = rule("left_asymmetric")

    @field_validator("block_number")
    @classmethod
    def _parity_there(cls, value: int, info: ValidationInfo) -> int:
        if info.data.get("ask") == "parity_disk" and info.data.get("raid_level") in ("0", "1", "10"):
            raise fault("no_parity", level=info.data["raid_level"])
        return value


class _Layout:
    """The blocks of each stripe by disk."""

    def __init__(self, level: str, disks: int, rotation: str = "left_asymmetric") -> None:
        self.level, self.disks, self.rotation = level, disks, rotation
        self.data = int(usable_disks(level, disks))

    def parity(self, stripe: int) -> tuple[int, ...]:
        """The disks of P, and of Q for level 6, in this stripe."""
        if self.level in ("0", "1", "10"):
            return ()
        if self.level == "4":
            return (self.disks - 1,)
        turn = stripe % self.disks
        first = self.disks - 1 - turn if self.rotation.startswith("left") else turn
        return (first, (first + 1) % self.disks) if self.level == "6" else (first,)

    def places(self, block: int) -> tuple[int, ...]:
        """The disks of a block of data: two for a mirror."""
        place = block % self.data
        if self.level == "1":
            return tuple(range(self.disks))
        if self.level == "10":
            return (2 * place, 2 * place + 1)
        parity = self.parity(block // self.data)
        if self.rotation.endswith("asymmetric") or not parity or self.level == "4":
            return ([disk for disk in range(self.disks) if disk not in parity][place],)
        return ((parity[-1] + 1 + place) % self.disks,)

    def stripe(self, number: int) -> tuple[str, ...]:
        """The stripe's blocks by disk: D for data, P and Q for parity."""
        cells = [""] * self.disks
        for name, disk in zip("PQ", self.parity(number), strict=False):
            cells[disk] = f"{name}{number}"
        for block in range(number * self.data, (number + 1) * self.data):
            for disk in self.places(block):
                cells[disk] = f"D{block}"
        return tuple(cells)


def _solve_layout(given: RaidLayout) -> Solution:
    shape = _Layout(given.raid_level, given.disks, given.rotation)
    block, data = given.block_number, shape.data
    stripe, place = divmod(block, data)
    parity, disks = shape.parity(stripe), shape.places(block)
    told: dict[str, Any] = {"block": block, "data": data, "stripe": stripe, "place": place, "disks": disks}
    told |= {"parity": parity, "count": given.disks, "turn": stripe % given.disks}
    steps = [Step("layout_stripe", told)]
    if parity:
        key = "layout_fixed" if given.raid_level == "4" else f"layout_{given.rotation.split('_')[0]}"
        steps.append(Step(key, told))
    first = max(0, stripe - 3)
    for number in range(first, stripe + 1):
        cells = shape.stripe(number)
        steps.append(Step("layout_row", {"stripe": number, "cells": cells}, (number, cells), "layout_turn"))
    if given.raid_level in ("1", "10"):
        steps.append(Step("layout_mirrored", told))
    else:
        way = "plain" if not parity else "asymmetric" if given.raid_level == "4" else given.rotation.split("_")[1]
        steps.append(Step(f"layout_found_{way}", told))
    results = {
        "disk_of_block": Result(disks[0] if len(disks) == 1 else disks),
        "stripe_of_block": Result(stripe),
    }
    if parity:
        results["parity_disk"] = Result(parity[0] if len(parity) == 1 else parity)
    figure = partial(_grid_figure, shape, 4, block, len(steps), "raid_layout")
    return Solution(tuple(steps), results, ("stripe_number", "blocks_by_disk"), figure)


def _grid_figure(shape: _Layout, count: int, block: int | None, steps: int, kind: str, language: Language) -> Figure:
    """A column for each disk and a row for each stripe; parity in another colour, the asked block in green."""
    last = count - 1 if block is None else max(count - 1, block // shape.data)
    first = last - count + 1
    drawn = min(shape.disks, 16)
    rows = [shape.stripe(number)[:drawn] for number in range(first, last + 1)]
    head, disk = word("columns", "stripe_number", language), word("figures", "disk", language)
    left = max(text_width(head), text_width(str(last))) + 14
    wide = max(text_width(f"{disk} {drawn}"), max(text_width(cell) for line in rows for cell in line)) + 12
    heads = [head, *(f"{disk} {number}" for number in range(drawn))]
    marks: list[Mark] = row(8, 8, [left, *([wide] * drawn)], heads, tone="muted")
    for line, cells in enumerate(rows):
        y = 8 + (line + 1) * (ROW + 2)
        marks.append(Box(8, y, left, ROW, str(first + line), "muted"))
        for column, cell in enumerate(cells):
            tone: Tone = "plain" if cell.startswith("D") else "b" if cell.startswith("P") else "d"
            marks.append(Box(8 + left + column * wide, y, wide, ROW, cell, tone))
            if block is not None and cell == f"D{block}":
                marks.append(Box(8 + left + column * wide, y, wide, ROW, cell, "good", steps))
    y = 8 + (count + 1) * (ROW + 2)
    if drawn < shape.disks:
        marks.append(Label(8, y + 16, word("figures", "more_disks", language, count=shape.disks - drawn)))
        y += 24
    told = "; ".join(f"{first + line}: {' '.join(cells)}" for line, cells in enumerate(rows))
    described = word("figures", "raid_grid", language, level=shape.level, rows=told)
    title = f"{word('kinds', kind, language)}: RAID {shape.level}"
    return Figure(16 + left + drawn * wide, y + 8, tuple(marks), title, described, steps)


# Parity


class RaidParity(Parameters):
    """Exclusive or of blocks: the parity, a lost block, or the parity after a write."""

    ask: Literal["parity", "lost_block", "new_parity"] = "parity"
    blocks: Words = given(min_length=2, max_length=16)
    old_block: str = given("", max_length=64, validate_default=True)
    new_block: str = given("", max_length=64, validate_default=True)

    @field_validator("blocks")
    @classmethod
    def _bits(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for block in value:
            if not re.fullmatch(r"[01]{1,64}", block):
                raise fault("not_bits", seen=block[:40])
        if len(set(map(len, value))) > 1:
            raise fault("other_width")
        return value

    @field_validator("old_block", "new_block")
    @classmethod
    def _same_width(cls, value: str, info: ValidationInfo) -> str:
        blocks = info.data.get("blocks")
        if not value and info.data.get("ask") == "new_parity":
            raise absent(str(info.field_name))
        if value and not re.fullmatch(r"[01]{1,64}", value):
            raise fault("not_bits", seen=value[:40])
        if value and blocks and len(value) != len(blocks[0]):
            raise fault("other_width")
        if value and blocks and info.field_name == "old_block" and value not in blocks:
            raise fault("not_among_blocks", seen=value)
        return value


def parity(blocks: Sequence[str]) -> str:
    """Bitwise exclusive or of blocks of bits."""
    return f"{reduce(xor, (int(block, 2) for block in blocks)):0{len(blocks[0])}b}"


def _solve_parity(given: RaidParity) -> Solution:
    steps, so_far = list[Step](), given.blocks[0]
    together = parity(given.blocks)
    for block in given.blocks[1:]:
        after = parity((so_far, block))
        told = {"before": so_far, "block": block, "after": after}
        steps.append(Step("parity_xor", told, (so_far, block, after), "parity_rule"))
        so_far = after
    results = {"parity": Result(together), "lost_block": Result(together)}
    if given.ask == "lost_block":
        steps.append(Step("parity_lost", {"block": together}))
    elif given.ask == "parity":
        steps.append(Step("parity_found", {"parity": together}))
    else:
        change = parity((given.old_block, given.new_block))
        new = parity((together, change))
        told = {"old": given.old_block, "new": given.new_block, "change": change, "parity": together, "after": new}
        steps.append(Step("parity_found", {"parity": together}))
        steps.append(Step("parity_change", told, (given.old_block, given.new_block, change), "parity_rule"))
        steps.append(Step("parity_new", told, (together, change, new), "parity_rule"))
        results["new_parity"] = Result(new)
    columns = ("xor_one", "xor_other", "xor_together")
    return Solution(tuple(steps), results, columns, partial(_parity_figure, tuple(steps), given))


def _parity_figure(steps: tuple[Step, ...], given: RaidParity, language: Language) -> Figure:
    """Blocks of bits below each other, and each exclusive or under a line."""
    wide = max(90.0, text_width(given.blocks[0]) + 24)
    marks: list[Mark] = []
    x = 8.0
    for number, step in enumerate(steps, 1):
        if step.row:
            one, other, after = map(str, step.row)
            last = number == max(place for place, each in enumerate(steps, 1) if each.row)
            marks += [Box(x, 8, wide, ROW, one, "a", number), Box(x, 8 + ROW + 4, wide, ROW, other, "b", number)]
            marks.append(Label(x + 4, 8 + 2 * ROW + 22, "⊕ =", step=number))
            marks.append(Box(x, 8 + 2 * ROW + 28, wide, ROW, after, "good" if last else "plain", number))
            x += wide + 16
    described = word("figures", "parity", language, blocks=", ".join(given.blocks), parity=parity(given.blocks))
    return Figure(x, 8 + 3 * ROW + 40, tuple(marks), word("kinds", "raid_parity", language), described, len(steps))


# Exercises


def _generate_raid(random: Random, level: Level) -> Raid:
    array: RaidLevel = random.choice(("10", "5", "6"))
    disks = random.choice((4, 6, 8, 10))
    if level == "easy":
        return Raid(raid_level=array, disks=disks, disk_size=random.choice((1, 2, 4, 6, 8)))
    if level == "medium":
        load = {"disk_operations": random.choice((100, 120, 150, 200)), "read_percent": random.choice((50, 60, 70, 80))}
        return Raid(ask="host_requests", raid_level=array, disks=disks, **load)
    mirror: RaidLevel = random.choice(("10", "5"))
    hours = {"disk_mttf": random.choice((300_000, 600_000)), "disk_mttr": random.choice((10, 20, 25))}  # divide well
    return Raid(ask="time_to_data_loss", raid_level=mirror, disks=random.choice((4, 6)), **hours)


def _generate_layout(random: Random, level: Level) -> RaidLayout:
    if level == "easy":
        array: RaidLevel = random.choice(("0", "4", "10"))
        return RaidLayout(raid_level=array, disks=random.choice((4, 6)), block_number=random.randint(7, 30))
    ask: Literal["disk_of_block", "parity_disk"] = "disk_of_block" if random.random() < 0.7 else "parity_disk"
    if level == "medium":
        return RaidLayout(ask=ask, disks=random.randint(4, 6), block_number=random.randint(7, 30))
    rotation: Literal["left_symmetric", "right_asymmetric"] = random.choice(("left_symmetric", "right_asymmetric"))
    block = random.randint(9, 40)
    return RaidLayout(ask=ask, raid_level="5", disks=random.randint(4, 6), block_number=block, rotation=rotation)


def _generate_parity(random: Random, level: Level) -> RaidParity:
    width, count = (4, 3) if level == "easy" else (8, 3 if level == "medium" else 4)
    blocks = tuple(f"{number:0{width}b}" for number in random.sample(range(1, 1 << width), count))
    if level == "easy":
        return RaidParity(blocks=blocks)
    if level == "medium":
        return RaidParity(ask="lost_block", blocks=blocks)
    new = f"{random.randrange(1 << width):0{width}b}"
    return RaidParity(ask="new_parity", blocks=blocks, old_block=random.choice(blocks), new_block=new)


# Wrong ways


def _wrong(given: Raid, ask: str, value: float) -> Value | None:
    right = _solve_raid(given).results.get(ask)
    if given.ask != ask or right is None or math.isclose(value, float(str(right.value))) or value <= 0:
        return None
    return _short(value)


def _requests(given: Raid, operations: int) -> Value | None:
    share, each = (given.read_percent or 0) / 100, given.disk_operations or 0
    return _wrong(given, "host_requests", given.disks * each / (share + (1 - share) * operations))


def _loss(given: Raid, way: Literal["array", "no_pairs", "single"]) -> Value | None:
    if given.disk_mttf is None or given.disk_mttr is None:
        return None
    value = {
        "array": given.disk_mttf / given.disks,
        "no_pairs": given.disk_mttf**2 / (2 * given.disk_mttr),
        "single": given.disk_mttf**2 / (given.disks * given.disk_mttr),
    }[way]
    return _wrong(given, "time_to_data_loss", value)


RAID_MISTAKES: tuple[Mistake[Raid], ...] = (
    Mistake("all_is_data", lambda p: _wrong(p, "usable_size", p.disks * p.disk_size)),
    Mistake("one_disk_of_parity", lambda p: _wrong(p, "usable_size", (p.disks - 1) * p.disk_size)),
    Mistake("half_is_copies", lambda p: _wrong(p, "usable_size", p.disks / 2 * p.disk_size)),
    Mistake("two_disks_of_parity", lambda p: _wrong(p, "usable_size", (p.disks - 2) * p.disk_size)),
    Mistake("writes_cost_one", lambda p: _requests(p, 1)),
    Mistake("writes_cost_two", lambda p: _requests(p, 2)),
    Mistake("writes_cost_four", lambda p: _requests(p, 4)),
    Mistake("first_failure_loses", lambda p: _loss(p, "array")),
    Mistake("as_one_pair", lambda p: _loss(p, "no_pairs")),
    Mistake("one_pair_of_all", lambda p: _loss(p, "single")),
)


def _wrong_layout(given: RaidLayout, ask: str, value: Value | None) -> Value | None:
    right = _solve_layout(given).results.get(ask)
    return None if given.ask != ask or right is None or value is None or value == right.value else value


OTHER_WAY = {
    "left_asymmetric": "right_asymmetric",
    "left_symmetric": "right_symmetric",
    "right_asymmetric": "left_asymmetric",
    "right_symmetric": "left_symmetric",
}


def _turned(given: RaidLayout, rotation: str) -> Value | None:
    if given.raid_level not in ("5", "6"):
        return None
    results = _solve_layout(given.model_copy(update={"rotation": rotation})).results
    return _wrong_layout(given, given.ask, results[given.ask].value)


def _as_level_4(given: RaidLayout) -> Value | None:
    if given.raid_level not in ("5", "6"):
        return None
    results = _solve_layout(given.model_copy(update={"raid_level": "4"})).results
    return _wrong_layout(given, given.ask, results[given.ask].value)


def _one_disk_less(given: RaidLayout) -> Value | None:
    """The block counted from 1."""
    if given.block_number == 0 or given.ask != "disk_of_block":
        return None
    earlier = given.model_copy(update={"block_number": given.block_number - 1})
    return _wrong_layout(given, "disk_of_block", _solve_layout(earlier).results["disk_of_block"].value)


LAYOUT_MISTAKES: tuple[Mistake[RaidLayout], ...] = (
    Mistake("parity_not_skipped", lambda p: _wrong_layout(p, "disk_of_block", p.block_number % p.disks)),
    Mistake("turned_the_other_way", lambda p: _turned(p, OTHER_WAY[p.rotation])),
    Mistake("as_level_4", _as_level_4),
    Mistake("block_from_one", _one_disk_less),
)


def _wrong_bits(given: RaidParity, value: str) -> Value | None:
    return value if value != _solve_parity(given).results[given.ask].value else None


def _bitwise(given: RaidParity, way: Literal["or", "and"]) -> Value | None:
    numbers = [int(block, 2) for block in given.blocks]
    joined = reduce(lambda a, b: a | b if way == "or" else a & b, numbers)
    return _wrong_bits(given, f"{joined:0{len(given.blocks[0])}b}")


def _without_old(given: RaidParity) -> Value | None:
    if given.ask != "new_parity":
        return None
    return _wrong_bits(given, parity((*given.blocks, given.new_block)))


def _inverted(given: RaidParity) -> Value | None:
    right = str(_solve_parity(given).results[given.ask].value)
    return right.translate(str.maketrans("01", "10"))


PARITY_MISTAKES: tuple[Mistake[RaidParity], ...] = (
    Mistake("or_for_xor", lambda p: _bitwise(p, "or")),
    Mistake("and_for_xor", lambda p: _bitwise(p, "and")),
    Mistake("old_data_kept", _without_old),
    Mistake("odd_parity", _inverted),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind("raid", "raid", Raid, _solve_raid, _generate_raid, RAID_MISTAKES, "10.4"),
    Kind("raid_layout", "raid", RaidLayout, _solve_layout, _generate_layout, LAYOUT_MISTAKES, "10.4"),
    Kind("raid_parity", "raid", RaidParity, _solve_parity, _generate_parity, PARITY_MISTAKES, "10.4"),
)
