"""The multilevel index of a UNIX inode: largest file, way to a byte, and index blocks of a file.

Course book, section 8.4; the scheme is that of Ritchie and Thompson (CACM 17(7), 1974). Blocks and entries count
from 0.
"""

from functools import partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import Bytes, absent, fault, grouped, needed, size_text
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, text_width
from osrag.lab.words import word
from osrag.types import Language

LEVELS = ("direct", "single", "double", "triple")
LARGEST_BLOCK, LARGEST_FILE = 1 << 24, 1 << 80  # bytes
POINTERS = 1000  # of one level in an inode


class Inode(Parameters):
    """An inode's pointers, and the byte, block or file that is asked about."""

    ask: Literal["largest_file", "level", "disk_reads", "index_blocks", "entries", "data_blocks"] = "largest_file"
    block_size: Bytes = given(ge=16, le=LARGEST_BLOCK, unit="bytes")
    pointer_size: Bytes = given(4, ge=1, le=16, unit="bytes")
    direct: int = given(12, ge=0, le=POINTERS)
    single: int = given(1, ge=0, le=POINTERS)
    double: int = given(1, ge=0, le=POINTERS)
    triple: int = given(1, ge=0, le=POINTERS)
    file_block: int | None = given(None, ge=0)
    offset: Bytes | None = given(None, ge=0, unit="bytes", validate_default=True)
    file_size: Bytes | None = given(None, ge=0, le=LARGEST_FILE, unit="bytes", validate_default=True)
    inode_is: Literal["in_memory", "on_disk"] = rule("in_memory")

    @field_validator("pointer_size")
    @classmethod
    def _two_pointers_in_a_block(cls, value: int, info: ValidationInfo) -> int:
        if (block := info.data.get("block_size")) and block < 2 * value:
            raise fault("block_holds_too_few", block=block, pointer=value)
        return value

    @field_validator("triple")
    @classmethod
    def _some_pointer(cls, value: int, info: ValidationInfo) -> int:
        if not value and not any(info.data.get(name, 1) for name in LEVELS[:3]):
            raise fault("no_pointer")
        return value

    @field_validator("file_block")
    @classmethod
    def _block_in_reach(cls, value: int | None, info: ValidationInfo) -> int | None:
        most = _most(info)
        if value is not None and most is not None and value >= most:
            raise fault("beyond_the_file", block=value, last=most - 1)
        return value

    @field_validator("offset")
    @classmethod
    def _byte_in_reach(cls, value: int | None, info: ValidationInfo) -> int | None:
        block = info.data.get("file_block")
        if value is not None and block is not None:
            raise fault("byte_or_block")
        if block is None and "file_block" in info.data:
            needed(value, info, "level", "disk_reads", "entries")
        if value is not None and info.data.get("file_block", 0) is None and "block_size" in info.data:
            cls._block_in_reach(value // info.data["block_size"], info)
        return value

    @field_validator("file_size")
    @classmethod
    def _file_in_reach(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is None and info.data.get("ask") in ("index_blocks", "data_blocks"):
            raise absent("file_size")
        most = _most(info)
        if value and most is not None and (blocks := -(-value // info.data["block_size"])) > most:
            raise fault("file_too_large", blocks=blocks, most=most)
        return value

    def per_block(self) -> int:
        """Block numbers in an index block."""
        return self.block_size // self.pointer_size

    def regions(self) -> list[int]:
        """Data blocks that the pointers of each level reach."""
        return _regions(self.model_dump())

    def asked_block(self) -> int | None:
        """The block of the file that is asked about."""
        return self.file_block if self.offset is None else self.offset // self.block_size


def _regions(values: dict[str, Any]) -> list[int]:
    per = values["block_size"] // values["pointer_size"]
    return [values[level] * per**depth for depth, level in enumerate(LEVELS)]


def _most(info: ValidationInfo) -> int | None:
    """Blocks of the largest file; None where a field that it depends on is wrong."""
    complete = {"block_size", "pointer_size", *LEVELS} <= info.data.keys()
    return sum(_regions(info.data)) if complete else None


def locate(given: Inode, block: int) -> tuple[int, int, tuple[int, ...]]:
    """Level (0 direct), index within the level's region, and the pointer of the inode and entries on the way."""
    per, index = given.per_block(), block
    for depth, count in enumerate(given.regions()):
        if index < count:
            entries, rest = list[int](), index
            for power in range(depth, -1, -1):
                entries.append(rest // per**power)
                rest %= per**power
            return depth, index, tuple(entries)
        index -= count
    raise ValueError(f"block {block} is beyond the largest file")


def index_blocks(given: Inode, blocks: int) -> list[tuple[int, int]]:
    """Data blocks reached through each level, and the index blocks that this takes."""
    per, found, left = given.per_block(), list[tuple[int, int]](), blocks
    for depth, most in enumerate(given.regions()):
        here = min(left, most)
        found.append((here, sum(-(-here // per**power) for power in range(1, depth + 1))))
        left -= here
    return found


def _solve(given: Inode) -> Solution:
    per, regions = given.per_block(), given.regions()
    values = {"block": size_text(given.block_size), "pointer": given.pointer_size, "per": grouped(per)}
    steps = [Step("inode_per_block", values)]
    results: dict[str, Result] = {}
    columns: tuple[str, ...] = ("index_level", "pointer_count", "blocks_reached", "first_block", "capacity")
    counts = [getattr(given, level) for level in LEVELS]
    blocks = sum(regions)
    if given.ask in ("index_blocks", "data_blocks") and given.file_size is not None:
        columns = ("index_level", "blocks_of_file", "index_blocks_needed")
    else:
        first = 0
        for depth, level in enumerate(LEVELS):
            if counts[depth]:
                reached = {"count": counts[depth], "power": f"{per}{'⁰¹²³'[depth]}", "blocks": grouped(regions[depth])}
                reached |= {"level": level, "capacity": size_text(regions[depth] * given.block_size)}
                row = (level, counts[depth], regions[depth], first, regions[depth] * given.block_size)
                steps.append(Step(f"inode_{level}", reached, row, "inode_level"))
            first += regions[depth]
        total = blocks * given.block_size
        told = {"blocks": grouped(blocks), "block": grouped(given.block_size), "bytes": grouped(total)}
        steps.append(Step("inode_largest", {**told, "near": near(total)}))
    results["largest_file"] = Result(blocks * given.block_size, "bytes")
    asked = given.asked_block()
    path: tuple[int, tuple[int, ...]] | None = None
    if asked is not None:
        steps += _way(given, asked, results)
        depth, _, entries = locate(given, asked)
        path = (depth, entries)
    if given.file_size is not None:
        steps += _size_steps(given, given.file_size, results, columns)
    return Solution(tuple(steps), results, columns, partial(_figure, given, path, tuple(steps)))


def near(size: int) -> str:
    """Bytes in a unit that gives a small number, to two decimals."""
    for shift, unit in ((50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.2f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{size} B"


def _way(given: Inode, asked: int, results: dict[str, Result]) -> list[Step]:
    """The way to the block that is asked about."""
    steps = []
    depth, index, entries = locate(given, asked)
    if given.offset is not None:
        within = given.offset - asked * given.block_size
        told = {"offset": grouped(given.offset), "size": given.block_size, "block": grouped(asked), "within": within}
        steps.append(Step("inode_block_of_byte", told))
    before = given.regions()[:depth]
    formula = " − ".join([grouped(asked), *(grouped(count) for count in before if count)])
    level, told_entries = LEVELS[depth], tuple(grouped(entry) for entry in entries)
    if depth == 0:
        steps.append(Step("inode_way_direct", {"block": asked, "entry": entries[0]}))
    else:
        several = getattr(given, level) > 1
        way = told_entries if several else told_entries[1:]
        values = {"formula": formula, "index": grouped(index), "level": level, "way": " → ".join(way)}
        steps.append(Step("inode_way_several" if several else "inode_way", values))
    on_disk = given.inode_is == "on_disk"
    reads = depth + 1 + on_disk
    told = {"depth": depth, "reads": reads}
    steps.append(Step("inode_reads_inode" if on_disk else "inode_reads", told))
    kept = entries if depth == 0 or getattr(given, level) > 1 else entries[1:]
    results |= {"level": Result(level), "disk_reads": Result(reads, "count"), "entries": Result(kept)}
    return steps


def _size_steps(given: Inode, size: int, results: dict[str, Result], columns: tuple[str, ...]) -> list[Step]:
    """The index blocks of a file of this size."""
    blocks = -(-size // given.block_size)
    steps = [Step("inode_data_blocks", {"size": grouped(size), "block": given.block_size, "blocks": grouped(blocks)})]
    per, found = given.per_block(), index_blocks(given, blocks)
    for depth, (reached, index) in enumerate(found):
        row = (LEVELS[depth], reached, index) if len(columns) == 3 else ()
        parts = [grouped(-(-reached // per**power)) for power in range(1, depth + 1)]
        told = {"level": LEVELS[depth], "blocks": grouped(reached), "parts": " + ".join(parts), "index": grouped(index)}
        if reached:
            key = ("inode_index_direct", "inode_index_single", "inode_index", "inode_index")[depth]
            steps.append(Step(key, told, row, "inode_index"))
    total = sum(index for _, index in found)
    steps.append(Step("inode_index_total", {"total": grouped(total), "blocks": grouped(blocks)}))
    results |= {"index_blocks": Result(total), "data_blocks": Result(blocks)}
    return steps


def _figure(
    given: Inode, path: tuple[int, tuple[int, ...]] | None, steps: tuple[Step, ...], language: Language
) -> Figure:
    """The inode on the left, its index blocks level by level, data on the right; the way to a block in green."""
    names = [word("choices", level, language) for level in LEVELS]
    counts = [getattr(given, level) for level in LEVELS]
    left = max(text_width(f"{count} × {name}") for count, name in zip(counts, names, strict=True)) + 16
    wide, gap, high = 66.0, 26.0, 2 * ROW + 10
    data = word("figures", "data_block", language)
    marks: list[Mark] = [Label(8, 20, "inode")]
    shown = [number for number, step in enumerate(steps, 1) if step.key.startswith("inode_way")]
    y = 30.0
    for depth, level in enumerate(LEVELS):
        if not counts[depth]:
            continue
        step = next((number for number, each in enumerate(steps, 1) if each.key == f"inode_{level}"), 1)
        on_way = path is not None and path[0] == depth
        marks.append(Box(8, y, left, ROW, f"{counts[depth]} × {names[depth]}"))
        if on_way:
            marks.append(Box(8, y, left, ROW, f"{counts[depth]} × {names[depth]}", "good", shown[0]))
        at, entries = 8 + left, path[1] if on_way and path else ()
        for place in range(depth + 1):
            x = at + gap
            marks.append(Path(((at, y + ROW / 2), (x, y + ROW / 2)), arrow=True, step=step))
            label = data if place == depth else word("figures", "index_block", language)
            tone = "a" if place == depth else "b"
            marks.append(Box(x, y, wide, ROW, label, "a" if tone == "a" else "b", step))
            if on_way:
                marks.append(Path(((at, y + ROW / 2), (x, y + ROW / 2)), arrow=True, tone="good", step=shown[0]))
                marks.append(Box(x, y, wide, ROW, label, "good", shown[0]))
                if place < depth:
                    marks.append(
                        Label(x + wide / 2, y + ROW + 16, f"[{entries[place + 1]}]", "middle", "good", shown[0])
                    )
            at = x + wide
        if on_way and (depth == 0 or counts[depth] > 1):
            marks.append(Label(8 + left / 2, y + ROW + 16, f"[{entries[0]}]", "middle", "good", shown[0]))
        y += high if on_way else ROW + 12
    deepest = max(depth for depth in range(4) if counts[depth])
    width = 8 + left + (deepest + 1) * (gap + wide) + 8
    way = "–" if path is None else f"{names[path[0]]} {list(path[1])}"
    pointers = ", ".join(f"{count} × {name}" for count, name in zip(counts, names, strict=True) if count)
    description = word("figures", "inode", language, pointers=pointers, per=given.per_block(), way=way)
    return Figure(width, y + 4, tuple(marks), word("kinds", "inode", language), description, len(steps))


def _generate(random: Random, level: Level) -> Inode:
    block = random.choice((2048, 4096) if level == "hard" else (512, 1024, 2048, 4096))
    direct = random.choice((8, 10, 12))
    shape = {"block_size": block, "pointer_size": 4, "direct": direct, "triple": 0}
    per = block // 4
    if level == "easy":
        return Inode.model_validate({**shape, "single": random.choice((1, 1, 2)), "double": random.choice((0, 1))})
    if level == "medium":
        ask, region = random.choice(("disk_reads", "level", "entries")), random.choice((1, 1, 2))
        before = direct + (per if region == 2 else 0)
        wanted = before + random.randrange(1, per if region == 1 else min(per * 8, per * per))
        offset = wanted * block + random.randrange(block)
        return Inode.model_validate({**shape, "ask": ask, "offset": offset})
    blocks = direct + per + random.randrange(per // 2, 5 * per)
    size = blocks * block - random.choice((0, block // 2))
    return Inode.model_validate({**shape, "ask": "index_blocks", "file_size": size})


def _wrong(given: Inode, ask: str, value: Value | None) -> Value | None:
    if given.ask != ask or value is None:
        return None
    return value if value != _solve(given).results[ask].value else None


def _without_direct(given: Inode) -> Value | None:
    """The level found after the direct pointers were not counted."""
    asked = given.asked_block()
    if asked is None:
        return None
    shifted = min(asked + given.direct, sum(given.regions()) - 1)
    depth, _, entries = locate(given, shifted)
    kept = entries if depth == 0 or getattr(given, LEVELS[depth]) > 1 else entries[1:]
    found: dict[str, Value] = {"level": LEVELS[depth], "entries": kept, "disk_reads": depth + 1}
    return found.get(given.ask)


def _reads(given: Inode, more: int) -> Value | None:
    if given.ask != "disk_reads":
        return None
    return int(str(_solve(given).results["disk_reads"].value)) + more


def _only_deepest(given: Inode) -> Value | None:
    """Only the blocks of the deepest level."""
    deepest = next((count for count in reversed(given.regions()) if count), 0)
    return _wrong(given, "largest_file", deepest * given.block_size)


def _index_flat(given: Inode) -> Value | None:
    """All data blocks through one level of index."""
    if given.file_size is None:
        return None
    blocks = -(-given.file_size // given.block_size)
    return _wrong(given, "index_blocks", -(-blocks // given.per_block()))


def _lowest_only(given: Inode) -> Value | None:
    """Only the index blocks that point at data."""
    if given.file_size is None:
        return None
    found = index_blocks(given, -(-given.file_size // given.block_size))
    flat = sum(-(-reached // given.per_block()) for depth, (reached, _) in enumerate(found) if depth)
    return _wrong(given, "index_blocks", flat)


def _direct_too(given: Inode) -> Value | None:
    """The direct pointers counted as reaching nothing: all blocks lie under the indirect ones."""
    if given.file_size is None or given.ask != "index_blocks":
        return None
    blocks = -(-given.file_size // given.block_size) + given.direct
    if blocks > sum(given.regions()):
        return None
    return _wrong(given, "index_blocks", sum(index for _, index in index_blocks(given, blocks)))


MISTAKES: tuple[Mistake[Inode], ...] = (
    Mistake("block_of_bytes", lambda p: _wrong(p, "largest_file", sum(p.regions()))),
    Mistake("only_deepest", _only_deepest),
    Mistake(
        "bytes_for_pointers",
        lambda p: _wrong(
            p,
            "largest_file",
            sum(getattr(p, level) * p.block_size**depth for depth, level in enumerate(LEVELS)) * p.block_size,
        ),
    ),
    Mistake("direct_not_counted", lambda p: _wrong(p, p.ask, _without_direct(p))),
    Mistake("data_block_forgotten", lambda p: _wrong(p, "disk_reads", _reads(p, -1))),
    Mistake("inode_read_as_well", lambda p: _wrong(p, "disk_reads", _reads(p, 1 if p.inode_is == "in_memory" else -1))),
    Mistake("index_of_index_forgotten", _lowest_only),
    Mistake("one_level_of_index", _index_flat),
    Mistake("direct_not_used", _direct_too),
)

KINDS: tuple[Kind[Any], ...] = (Kind("inode", "files", Inode, _solve, _generate, MISTAKES, "8.4.3"),)
