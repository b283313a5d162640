"""Extents: the way from a byte of a file to its disk block. Course book, section 8.4."""

from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fat import one_place
from osrag.lab.fields import Bytes, Matrix, fault, grouped, needed, size_text
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, Tone, text_width
from osrag.lab.words import word
from osrag.types import Language

LARGEST, BLOCK = 1 << 60, 1 << 24  # bytes of a file and of a block at most
EXTENTS = 40


class Extents(Parameters):
    """A file's extents: first block in the file, length, first block on disk; or how few a file needs."""

    ask: Literal["disk_block", "fewest_extents", "extent"] = "disk_block"
    extents: Matrix = given((), max_length=EXTENTS, validate_default=True)
    block_size: Bytes | None = given(None, ge=16, le=BLOCK, unit="bytes", validate_default=True)
    file_block: int | None = given(None, ge=0)
    offset: Bytes | None = given(None, ge=0, unit="bytes", validate_default=True)
    file_size: Bytes | None = given(None, ge=0, le=LARGEST, unit="bytes", validate_default=True)
    extent_blocks: int = given(32_768, ge=1, le=1 << 32)

    @field_validator("extents")
    @classmethod
    def _extents_apart(cls, value: tuple[tuple[int, ...], ...], info: ValidationInfo) -> tuple[tuple[int, ...], ...]:
        needed(value, info, "disk_block", "extent")
        end = 0
        for number, extent in enumerate(value):
            if len(extent) != 3:
                raise fault("extent_of_three", seen=" ".join(map(str, extent)))
            logical, length, physical = extent
            if min(logical, physical) < 0 or length < 1 or max(extent) > 1 << 48:
                raise fault("extent_numbers", number=number)
            if logical < end:
                raise fault("extents_overlap", number=number, end=end)
            end = logical + length
        on_disk = sorted((physical, physical + length) for _, length, physical in value)
        for (_, stop), (begin, _) in pairwise(on_disk):
            if begin < stop:
                raise fault("extents_share", block=begin)
        return value

    @field_validator("block_size")
    @classmethod
    def _size_where_needed(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "fewest_extents")
        return value

    @field_validator("offset")
    @classmethod
    def _inside_the_file(cls, value: int | None, info: ValidationInfo) -> int | None:
        block = info.data.get("file_block")
        one_place(value, block, info, "disk_block", "extent")
        if value is not None and "block_size" in info.data:
            if info.data["block_size"] is None:
                raise fault("block_size_for_offset")
            block = value // info.data["block_size"]
        if block is not None and (extents := info.data.get("extents")):
            last = extents[-1][0] + extents[-1][1] - 1
            if block > last:
                raise fault("beyond_the_file", block=block, last=last)
            if not any(first <= block < first + length for first, length, _ in extents):
                raise fault("block_in_hole", block=block)
        return value

    @field_validator("file_size")
    @classmethod
    def _file_where_needed(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "fewest_extents")
        return value

    def asked_block(self) -> int:
        """The block of the file that is asked about."""
        return self.file_block or 0 if self.offset is None else self.offset // (self.block_size or 1)


def _solve_extents(given: Extents) -> Solution:
    if given.ask == "fewest_extents":
        blocks = -(-(given.file_size or 0) // (given.block_size or 1))
        count = -(-blocks // given.extent_blocks)
        told: dict[str, Any] = {
            "size": size_text(given.file_size or 0),
            "block": size_text(given.block_size or 1),
            "blocks": grouped(blocks),
        }
        told |= {"most": grouped(given.extent_blocks), "count": grouped(count)}
        steps = (Step("extents_blocks", told), Step("extents_fewest", told))
        return Solution(steps, {"fewest_extents": Result(count), "data_blocks": Result(blocks)})
    block, found = given.asked_block(), list[Step]()
    if given.offset is not None:
        told = {"offset": grouped(given.offset), "size": given.block_size, "block": block}
        found.append(Step("fat_block_of_byte", {**told, "within": given.offset % (given.block_size or 1)}))
    results: dict[str, Result] = {}
    for number, (logical, length, physical) in enumerate(given.extents):
        last = logical + length - 1
        inside = logical <= block <= last
        told = {"number": number, "first": logical, "last": last, "block": block}
        row = (number, logical, last, physical, physical + length - 1, inside)
        found.append(Step("extent_inside" if inside else "extent_outside", told, row, "extent_search"))
        if inside:
            at = physical + block - logical
            found.append(Step("extent_found", {**told, "physical": physical, "within": block - logical, "at": at}))
            results = {"disk_block": Result(at), "extent": Result(number)}
            break
    columns = ("extent_number", "logical_first", "logical_last", "physical_first", "physical_last", "holds_block")
    return Solution(tuple(found), results, columns, partial(_extents_figure, given, tuple(found)))


def _extents_figure(given: Extents, steps: tuple[Step, ...], language: Language) -> Figure:
    """The file above, the disk below, a line from each extent's place to its other; the asked one in green."""
    ordered = sorted(range(len(given.extents)), key=lambda number: given.extents[number][2])
    spans = [(f"{a}–{a + n - 1}", f"{p}–{p + n - 1}") for a, n, p in given.extents]
    wide = max(max(text_width(text) for text in pair) for pair in spans) + 16
    shown = {int(str(step.row[0])): number for number, step in enumerate(steps, 1) if step.row}
    hit = next((int(str(step.row[0])) for step in steps if step.row and step.row[-1]), None)
    heads = [word("figures", key, language) for key in ("blocks_of_file", "blocks_on_disk")]
    marks: list[Mark] = [Label(8, 20, heads[0]), Label(8, 30 + 2 * ROW + 74, heads[1])]
    for number in range(len(given.extents)):
        x, below = 8 + number * (wide + 14), 8 + ordered.index(number) * (wide + 14)
        step = shown.get(number, 0)
        tones: list[tuple[Tone, int]] = [("a", 0)]
        if step:
            tones.append(("good" if number == hit else "muted", step))
        for tone, when in tones:
            marks.append(Box(x, 30, wide, ROW, spans[number][0], tone, when))
            marks.append(Box(below, 30 + ROW + 56, wide, ROW, spans[number][1], tone, when))
            line = ((x + wide / 2, 30 + ROW), (below + wide / 2, 30 + ROW + 56))
            marks.append(Path(line, arrow=True, tone="good" if tone == "good" else "plain", step=when))
    width = max(8 + len(given.extents) * (wide + 14), 16 + max(map(text_width, heads)))
    told = "; ".join(f"{a} → {b}" for a, b in spans)
    description = word("figures", "extents", language, extents=told, block=given.asked_block())
    title = word("kinds", "extents", language)
    return Figure(width, 30 + 2 * ROW + 84, tuple(marks), title, description, len(steps))


def _generate_extents(random: Random, level: Level) -> Extents:
    if level == "hard" and random.random() < 0.3:
        size = random.choice((300, 600, 1000, 1500, 3000)) << 20
        return Extents(ask="fewest_extents", file_size=size, block_size=4096)
    count = {"easy": 3, "medium": 4, "hard": 5}[level]
    places = random.sample(range(2, 40), count)
    extents, logical = list[tuple[int, int, int]](), 0
    for place in places:
        length = random.randint(2, 9)
        extents.append((logical, length, place * 10))
        logical += length
    number = random.randint(1, count - 1)
    block = extents[number][0] + random.randrange(1, extents[number][1])
    if level == "easy":
        return Extents(extents=tuple(extents), file_block=block)
    return Extents(extents=tuple(extents), block_size=4096, offset=block * 4096 + random.randrange(1, 4096))


def _wrong_extent(given: Extents, ask: str, value: Value) -> Value | None:
    return value if given.ask == ask and value != _solve_extents(given).results[ask].value else None


def _extent_within(given: Extents, way: Literal["first", "logical", "one"]) -> Value | None:
    if given.ask != "disk_block":
        return None
    block = given.asked_block()
    logical, _, physical = next(e for e in given.extents if e[0] <= block < e[0] + e[1])
    value = {"first": physical, "logical": physical + block, "one": physical + block - logical - 1}[way]
    return _wrong_extent(given, "disk_block", value)


EXTENT_MISTAKES: tuple[Mistake[Extents], ...] = (
    Mistake("first_of_extent", lambda p: _extent_within(p, "first")),
    Mistake("logical_not_taken_off", lambda p: _extent_within(p, "logical")),
    Mistake("counted_from_one", lambda p: _extent_within(p, "one")),
    Mistake(
        "from_the_first_extent",
        lambda p: _wrong_extent(p, "disk_block", p.extents[0][2] + p.asked_block()) if p.extents else None,
    ),
    Mistake(
        "rounded_down",
        lambda p: _wrong_extent(p, "fewest_extents", (p.file_size or 0) // (p.block_size or 1) // p.extent_blocks),
    ),
    Mistake(
        "one_extent_a_block",
        lambda p: _wrong_extent(p, "fewest_extents", -(-(p.file_size or 0) // (p.block_size or 1))),
    ),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind("extents", "files", Extents, _solve_extents, _generate_extents, EXTENT_MISTAKES, "8.4.4"),
)
