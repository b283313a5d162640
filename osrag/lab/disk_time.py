"""How long an access to a magnetic disk takes, and where a logical block lies.

The three parts of an access are those of the course book, section 10.1: the seek, half a turn on average until the
sector comes under the head, and the transfer. Addresses by cylinder, head and sector count through the sectors of a
track, then the heads of a cylinder, then the cylinders (Silberschatz et al., Operating System Concepts, 10th ed.,
section 11.1.3); sectors count from 1, as on real disks.
"""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from osrag.lab.fields import Bytes, Milliseconds, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.schedule import exact, plain
from osrag.lab.svg import Box, Figure, Label, Mark, Tone, text_width
from osrag.lab.words import word
from osrag.types import Language

MEGABYTE = {"decimal_megabyte": 10**6, "binary_megabyte": 1 << 20}

TimeAsk = Literal[
    "access_time",
    "rotational_delay",
    "transfer_time",
    "total_time",
    "accesses_per_second",
    "effective_rate",
    "revolution",
]
NEEDS = {"revolution": (), "rotational_delay": (), "transfer_time": ("bytes_each", "rate")}  # all others need all


class DiskAccess(Parameters):
    """A disk, and what is read from it."""

    ask: TimeAsk = given("access_time")
    rpm: float = given(gt=0, le=1e6)
    seek: Milliseconds | None = given(None, ge=0, le=1e6, unit="ms", validate_default=True)
    bytes_each: Bytes | None = given(None, gt=0, le=1 << 50, unit="bytes", validate_default=True)
    reads: int = given(1, ge=1, le=1_000_000_000)
    placed: Literal["scattered", "consecutive"] = given("scattered")
    megabyte: Literal["decimal_megabyte", "binary_megabyte"] = rule("decimal_megabyte")

    @field_validator("seek", "bytes_each", "rate", check_fields=False)
    @classmethod
    def _what_the_question_needs(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is None and info.field_name in NEEDS.get(info.data.get("ask", ""), ("seek", "bytes_each", "rate")):
            raise PydanticCustomError("missing", "needed for this question")
        return value


class RateTime(DiskAccess):
    """The same with a transfer rate."""

    rate: float | None = given(None, gt=0, le=1e9, unit="disk_mb_per_s", validate_default=True)


class TrackTime(DiskAccess):
    """The same with the sectors of a track, all of which one turn transfers."""

    track_sectors: int = given(ge=1, le=1_000_000)
    sector_size: Bytes = given(512, gt=0, le=1 << 30, unit="bytes")


def times(parameters: DiskAccess) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """A turn, the seek, half a turn and the transfer in milliseconds; what is not given counts as 0."""
    turn, size = 60_000 / exact(parameters.rpm), parameters.bytes_each or 0
    transfer = Fraction(0)
    if isinstance(parameters, TrackTime):
        transfer = Fraction(size, parameters.track_sectors * parameters.sector_size) * turn
    elif isinstance(parameters, RateTime) and parameters.rate:
        transfer = 1000 * size / (exact(parameters.rate) * MEGABYTE[parameters.megabyte])
    return turn, exact(parameters.seek or 0), turn / 2, transfer


def results(parameters: DiskAccess) -> dict[str, Result]:
    """Every figure for which enough is given."""
    turn, seek, delay, transfer = times(parameters)
    found = {"revolution": Result(plain(turn), "ms"), "rotational_delay": Result(plain(delay), "ms")}
    if not transfer:
        return found
    found["transfer_time"] = Result(plain(transfer), "ms")
    if parameters.seek is None or parameters.bytes_each is None:
        return found
    access, count = seek + delay + transfer, parameters.reads
    total = count * access if parameters.placed == "scattered" else seek + delay + count * transfer
    rate = 1000 * count * parameters.bytes_each / total / MEGABYTE[parameters.megabyte]
    return {
        "access_time": Result(plain(access), "ms"),
        **found,
        "total_time": Result(plain(total), "ms"),
        "accesses_per_second": Result(plain(1000 / access)),
        "effective_rate": Result(plain(rate), "disk_mb_per_s"),
    }


def solve_time(parameters: DiskAccess) -> Solution:
    """The parts one by one, their sum, and what is asked for."""
    turn, seek, delay, transfer = times(parameters)
    found = results(parameters)
    values: dict[str, Any] = {"rpm": parameters.rpm, "turn": plain(turn), "seek": plain(seek), "delay": plain(delay)}
    values |= {"size": parameters.bytes_each, "transfer": f"{float(transfer):.4g}", "count": parameters.reads}
    if isinstance(parameters, RateTime):
        values["rate"] = parameters.rate
    if isinstance(parameters, TrackTime):
        values["bytes"] = parameters.track_sectors * parameters.sector_size
    values["access"] = f"{float(seek + delay + transfer):.6g}"
    steps = [Step("disk_turn", values), Step("disk_delay", values, rule="disk_delay")]
    if transfer:
        steps.append(Step("disk_transfer_track" if isinstance(parameters, TrackTime) else "disk_transfer_rate", values))
    if "access_time" in found:
        row = (plain(seek), plain(delay), plain(transfer), plain(seek + delay + transfer))
        steps.append(Step("disk_access", values, row, "disk_access"))
    asked = found[parameters.ask]
    key = f"disk_{parameters.ask}_{parameters.placed}" if parameters.ask == "total_time" else f"disk_{parameters.ask}"
    if parameters.ask in ("total_time", "accesses_per_second", "effective_rate"):
        total = found["total_time"].value
        steps.append(Step(key, {**values, "value": asked.value, "total": total}))

    def figure(language: Language) -> Figure:
        parts: list[tuple[str, Fraction, Tone]] = [("disk_part_seek", seek, "a"), ("disk_part_delay", delay, "b")]
        parts.append(("disk_part_transfer", transfer, "c"))
        whole = sum((part for _, part, _ in parts), Fraction(0))
        marks, x, told = list[Mark](), 14.0, list[str]()
        for name, part, tone in parts:
            title, label = word("steps", name, language), f"{float(part):.4g} ms"
            width = max(text_width(title) + 14, text_width(label) + 14, float(part / whole) * 420)
            marks.append(Label(x + width / 2, 22, title, "middle"))
            marks.append(Box(x, 32, width, 42, label, tone))
            told.append(f"{title} {label}")
            x += width
        marks.append(Label(14, 96, f"{float(whole):.5g} ms"))
        kind = "disk_track_time" if isinstance(parameters, TrackTime) else "disk_time"
        title = word("kinds", kind, language)
        return Figure(x + 14, 110, tuple(marks), title, f"{title}: {', '.join(told)}", len(steps))

    return Solution(
        tuple(steps), found, ("disk_seek_ms", "disk_delay_ms", "disk_transfer_ms", "disk_access_ms"), figure
    )


def _generate_access(random: Random, level: Level) -> dict[str, Any]:
    """One access, or at the hard level many, scattered or consecutive."""
    values: dict[str, Any] = {"rpm": random.choice((6000, 7500, 10_000, 12_000, 15_000)), "seek": random.randint(4, 12)}
    if level == "hard":
        values |= {"ask": "total_time", "reads": random.choice((50, 100, 200))}
        values["placed"] = random.choice(("scattered", "consecutive"))
    return values


def generate_rate(random: Random, level: Level) -> RateTime:
    """Sizes that a rate in whole megabytes divides well; blocks of 4 KiB at the medium level."""
    size = 4096 if level == "medium" else random.choice((20_000, 50_000, 100_000))
    values = {"bytes_each": size, "rate": random.choice((50.0, 100.0, 200.0))}
    return RateTime.model_validate({**_generate_access(random, level), **values})


def generate_track(random: Random, level: Level) -> TrackTime:
    """A sector, or above the easy level several."""
    sector, sectors = random.choice((512, 4096)), random.choice((100, 200, 250, 500))
    size = sector if level == "easy" else sector * random.choice((5, 10, 20))
    values = {"track_sectors": sectors, "sector_size": sector, "bytes_each": size}
    return TrackTime.model_validate({**_generate_access(random, level), **values})


# Addresses


class DiskAddress(Parameters):
    """A disk by its heads and sectors, and an address on it."""

    ask: Literal["lba", "cylinder_head_sector"] = given("lba")
    heads: int = given(ge=1, le=1_000_000)
    track_sectors: int = given(ge=1, le=1_000_000)
    first_sector: Literal["sectors_from_1", "sectors_from_0"] = rule("sectors_from_1")
    cylinder: int | None = given(None, ge=0, le=1_000_000_000, validate_default=True)
    head: int | None = given(None, ge=0, validate_default=True)
    sector: int | None = given(None, ge=0, validate_default=True)
    lba_block: int | None = given(None, ge=0, le=1 << 60, validate_default=True)

    @field_validator("cylinder", "head", "sector", "lba_block")
    @classmethod
    def _what_the_question_needs(cls, value: int | None, info: ValidationInfo) -> int | None:
        asks_for_block = info.data.get("ask") == "lba"
        if value is None and (info.field_name != "lba_block") == asks_for_block:
            raise PydanticCustomError("missing", "needed for this question")
        return value

    @field_validator("head")
    @classmethod
    def _there_is_such_a_head(cls, head: int | None, info: ValidationInfo) -> int | None:
        if head is not None and head >= info.data.get("heads", head + 1):
            raise fault("disk_head", seen=head, last=info.data["heads"] - 1)
        return head

    @field_validator("sector")
    @classmethod
    def _there_is_such_a_sector(cls, sector: int | None, info: ValidationInfo) -> int | None:
        first = 1 if info.data.get("first_sector") == "sectors_from_1" else 0
        count = info.data.get("track_sectors")
        if sector is not None and count and not first <= sector < first + count:
            raise fault("disk_sector", seen=sector, first=first, last=first + count - 1)
        return sector


def solve_address(parameters: DiskAddress) -> Solution:
    """(cylinder × heads + head) × sectors + sector, or the two divisions that undo it."""
    heads, sectors = parameters.heads, parameters.track_sectors
    first = 1 if parameters.first_sector == "sectors_from_1" else 0
    values: dict[str, Any] = {"heads": heads, "sectors": sectors, "first": first}
    if parameters.ask == "lba":
        cylinder, head, sector = parameters.cylinder or 0, parameters.head or 0, parameters.sector or 0
        track = cylinder * heads + head
        block = track * sectors + sector - first
    else:
        block = parameters.lba_block or 0
        track, sector = block // sectors, block % sectors + first
        cylinder, head = track // heads, track % heads
    values |= {"cylinder": cylinder, "head": head, "sector": sector, "track": track, "block": block}
    row = (cylinder, head, sector, block)
    keys = ("disk_to_track", "disk_to_block") if parameters.ask == "lba" else ("disk_from_block", "disk_from_track")
    steps = (
        Step(keys[0], values),
        Step(f"{keys[1]}_{first}" if parameters.ask == "lba" else keys[1], values, row, "disk_lba"),
    )
    found = {"lba": Result(block), "cylinder_head_sector": Result((cylinder, head, sector))}
    return Solution(steps, found, ("disk_cylinder", "disk_head", "disk_sector", "disk_block"))


def generate_address(random: Random, level: Level) -> DiskAddress:
    """At the hard level the way back."""
    heads, sectors = random.choice((2, 4, 8, 10)), random.choice((10, 20, 32, 50, 63))
    if level == "hard":
        block = random.randint(1, 40) * heads * sectors + random.randint(0, heads * sectors - 1)
        return DiskAddress(ask="cylinder_head_sector", heads=heads, track_sectors=sectors, lba_block=block)
    cylinder = random.randint(1, 9 if level == "easy" else 200)
    place: dict[str, Any] = {
        "cylinder": cylinder,
        "head": random.randint(1, heads - 1),
        "sector": random.randint(2, sectors),
    }
    return DiskAddress(heads=heads, track_sectors=sectors, **place)


# Mistakes and kinds


def _wrong_time(name: str, time: Callable[[DiskAccess], Fraction]) -> Mistake[Any]:
    """A wrong time of one access."""

    def value(parameters: DiskAccess) -> Value | None:
        if parameters.ask == "access_time":
            return plain(time(parameters))
        if parameters.ask == "total_time" and parameters.placed == "scattered":
            return plain(parameters.reads * time(parameters))
        return None

    return Mistake(name, value)


def _other_placing(parameters: DiskAccess) -> Value | None:
    if parameters.ask != "total_time" or parameters.reads == 1:
        return None
    other: Any = "scattered" if parameters.placed == "consecutive" else "consecutive"
    return results(parameters.model_copy(update={"placed": other}))["total_time"].value


def _full_turn(parameters: DiskAccess) -> Fraction:
    turn, seek, _, transfer = times(parameters)
    return seek + turn + transfer


def _without_delay(parameters: DiskAccess) -> Fraction:
    _, seek, _, transfer = times(parameters)
    return seek + transfer


def _without_transfer(parameters: DiskAccess) -> Fraction:
    _, seek, delay, _ = times(parameters)
    return seek + delay


def _without_seek(parameters: DiskAccess) -> Fraction:
    _, _, delay, transfer = times(parameters)
    return delay + transfer


def _wrong_block(name: str, block: Callable[[int, int, int, int, int], int]) -> Mistake[Any]:
    """A wrong block number, of cylinder, head, sector, heads and sectors."""

    def value(parameters: DiskAddress) -> Value | None:
        where = (parameters.cylinder, parameters.head, parameters.sector)
        if parameters.ask != "lba" or None in where:
            return None
        cylinder, head, sector = (each or 0 for each in where)
        return block(cylinder, head, sector, parameters.heads, parameters.track_sectors)

    return Mistake(name, value)


def _from_zero(parameters: DiskAddress) -> Value | None:
    if parameters.ask != "cylinder_head_sector":
        return None
    track, sector = divmod(parameters.lba_block or 0, parameters.track_sectors)
    other = sector if parameters.first_sector == "sectors_from_1" else sector + 1
    return (*divmod(track, parameters.heads), other)


TIME_MISTAKES: tuple[Mistake[Any], ...] = (
    _wrong_time("disk_full_turn", _full_turn),
    _wrong_time("disk_without_delay", _without_delay),
    _wrong_time("disk_without_transfer", _without_transfer),
    _wrong_time("disk_without_seek", _without_seek),
    Mistake("disk_other_placing", _other_placing),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind(
        name="disk_time",
        topic="disk",
        parameters=RateTime,
        solve=solve_time,
        generate=generate_rate,
        mistakes=TIME_MISTAKES,
        section="10.1",
    ),
    Kind(
        name="disk_track_time",
        topic="disk",
        parameters=TrackTime,
        solve=solve_time,
        generate=generate_track,
        mistakes=TIME_MISTAKES,
        section="10.1",
    ),
    Kind(
        name="disk_address",
        topic="disk",
        parameters=DiskAddress,
        solve=solve_address,
        generate=generate_address,
        mistakes=(
            _wrong_block("disk_sector_from_zero", lambda c, h, s, heads, sectors: (c * heads + h) * sectors + s),
            _wrong_block("disk_heads_forgotten", lambda c, h, s, heads, sectors: (c + h) * sectors + s - 1),
            _wrong_block("disk_swapped", lambda c, h, s, heads, sectors: (h * heads + c) * sectors + s - 1),
            Mistake("disk_sector_from_zero", _from_zero),
        ),
        section="10.1",
    ),
)
