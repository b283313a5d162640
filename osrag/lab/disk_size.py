"""The capacity of a disk from its geometry, and the bits that number a sector. Course book, section 10.1."""

from random import Random
from typing import Any, Literal

from osrag.lab.fields import Bytes, size_text
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given


class Geometry(Parameters):
    """Surfaces, tracks and sectors."""

    ask: Literal["disk_bytes", "sector_bits", "cylinder_bytes", "sector_count"] = "disk_bytes"
    heads: int = given(ge=1, le=1_000_000)
    surface_tracks: int = given(ge=1, le=10_000_000)
    track_sectors: int = given(ge=1, le=1_000_000)
    sector_size: Bytes = given(512, gt=0, le=1 << 30, unit="bytes")


def solve(given: Geometry) -> Solution:
    """Sectors of a cylinder and of the disk, bytes, and bits."""
    cylinder = given.heads * given.track_sectors
    count = cylinder * given.surface_tracks
    size, bits = count * given.sector_size, (count - 1).bit_length()
    values = {"heads": given.heads, "tracks": given.surface_tracks, "sectors": given.track_sectors, "count": count}
    values |= {"cylinder": cylinder, "sector": given.sector_size, "bits": bits}
    told = {"size": size_text(size), "cylinder_size": size_text(cylinder * given.sector_size)}
    steps = (
        Step("size_cylinder", values | told, ("sectors_of_a_cylinder", cylinder), "size_product"),
        Step("size_sectors", values, ("sectors_of_the_disk", count), "size_product"),
        Step("size_bytes", values | told, ("quantity_bytes", size), "size_product"),
        Step("size_bits", values, ("quantity_bits", bits), "size_bits"),
    )
    results = {
        "disk_bytes": Result(size, "bytes"),
        "sector_bits": Result(bits, "bits"),
        "cylinder_bytes": Result(cylinder * given.sector_size, "bytes"),
        "sector_count": Result(count),
    }
    return Solution(steps, results, ("quantity", "amount"))


def generate(random: Random, level: Level) -> Geometry:
    """Powers of two, so that all products are known at sight."""
    ask: Literal["disk_bytes", "sector_bits"] = "disk_bytes" if level == "easy" else "sector_bits"
    if level == "hard":
        ask = random.choice(("disk_bytes", "sector_bits"))
    heads, tracks = random.choice((4, 8, 16)), random.choice((128, 256, 1024, 4096))
    sectors = random.choice((64, 128, 256) if level != "hard" else (100, 200, 400))
    return Geometry(ask=ask, heads=heads, surface_tracks=tracks, track_sectors=sectors)


def _wrong(given: Geometry, **other: Any) -> Value | None:
    value = solve(given.model_copy(update=other)).results[given.ask].value
    return value if value != solve(given).results[given.ask].value else None


def _bits_of_bytes(given: Geometry) -> Value | None:
    if given.ask != "sector_bits":
        return None
    return (int(str(solve(given).results["disk_bytes"].value)) - 1).bit_length()


MISTAKES: tuple[Mistake[Geometry], ...] = (
    Mistake("surfaces_forgotten", lambda p: _wrong(p, heads=1)),
    Mistake("both_sides_twice", lambda p: _wrong(p, heads=2 * p.heads)),
    Mistake("bits_of_bytes", _bits_of_bytes),
)

KINDS: tuple[Kind[Any], ...] = (Kind("disk_size", "disk", Geometry, solve, generate, MISTAKES, "10.1"),)
