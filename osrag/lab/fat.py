"""A file allocation table: the chain of a file, and the size of the table. Course book, section 8.4."""

import re
from functools import partial
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.fields import Bytes, fault, grouped, needed, size_text
from osrag.lab.inode import near
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, text_width
from osrag.lab.words import word
from osrag.types import Language

LARGEST, BLOCK = 1 << 60, 1 << 24  # bytes of a volume and of a block at most
ENTRIES = 200
END = "end"


def one_place(value: int | None, other: int | None, info: ValidationInfo, *asks: str) -> None:
    """Exactly one of byte and block where one of `asks` is asked for."""
    if value is not None and other is not None:
        raise fault("byte_or_block")
    if other is None:
        needed(value, info, *asks)


_LINK = re.compile(r"(?:FAT)?\s*\[?\s*(\d+)\s*\]?\s*(?:->|→|[=:：])\s*(\d+|-1|end|eof|eoc|结束|文件尾)", re.IGNORECASE)


def _links(value: Any) -> Any:
    """`6:8`, `FAT[6] = 8` or `6->8`, one for each entry; end, EOF, -1 and 结束 end a file."""
    if not isinstance(value, str):
        return value
    found = re.findall(r"(\d+)\s*\]?\s*(?:->|→|[=:：])\s*(\d+|-1|end|eof|eoc|结束|文件尾)", value, re.IGNORECASE)
    left = re.sub(
        r"(?:FAT)?\s*\[?\s*\d+\s*\]?\s*(?:->|→|[=:：])\s*(?:\d+|-1|end|eof|eoc|结束|文件尾)", "", value, flags=re.I
    )
    if rest := left.strip(" \n\t,，、;；."):
        raise fault("not_a_link", seen=rest[:30])
    return tuple(f"{at}={to if to.isdecimal() else END}" for at, to in found)


class Fat(Parameters):
    """A chain in a file allocation table, or the table's size."""

    ask: Literal["disk_block", "chain", "fat_size", "largest_disk", "entry_length"] = "disk_block"
    links: Annotated[tuple[str, ...], BeforeValidator(_links)] = given((), max_length=ENTRIES, validate_default=True)
    first: int | None = given(None, ge=0, validate_default=True)
    block_size: Bytes | None = given(None, ge=16, le=BLOCK, unit="bytes", validate_default=True)
    file_block: int | None = given(None, ge=0)
    offset: Bytes | None = given(None, ge=0, unit="bytes", validate_default=True)
    volume: Bytes | None = given(None, gt=0, le=LARGEST, unit="bytes", validate_default=True)
    entry_bits: int | None = given(None, ge=1, le=64, unit="bits", validate_default=True)
    entry_rounding: Literal["to_the_bit", "to_half_bytes", "to_bytes"] = rule("to_the_bit")

    @field_validator("links")
    @classmethod
    def _links_once(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for link in value:
            if not re.fullmatch(rf"\d+=(\d+|{END})", link):
                raise fault("not_a_link", seen=link[:30])
        ats = [link.split("=")[0] for link in value]
        for at in ats:
            if ats.count(at) > 1:
                raise fault("link_twice", block=at)
        needed(value, info, "disk_block", "chain")
        return value

    @field_validator("first")
    @classmethod
    def _chain_ends(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "disk_block", "chain")
        if value is not None and (links := info.data.get("links")):
            following = dict(link.split("=") for link in links)
            at, seen = str(value), list[str]()
            while at != END:
                if at in seen:
                    raise fault("chain_loops", block=at)
                if at not in following:
                    raise fault("chain_breaks", block=at)
                seen.append(at)
                at = following[at]
        return value

    @field_validator("block_size")
    @classmethod
    def _size_where_needed(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "fat_size", "largest_disk", "entry_length")
        return value

    @field_validator("offset")
    @classmethod
    def _inside_the_file(cls, value: int | None, info: ValidationInfo) -> int | None:
        block = info.data.get("file_block")
        one_place(value, block, info, "disk_block")
        if value is not None and "block_size" in info.data:
            if info.data["block_size"] is None:
                raise fault("block_size_for_offset")
            block = value // info.data["block_size"]
        if block is not None and info.data.get("links") and info.data.get("first") is not None:
            length = len(chain_of(info.data["links"], info.data["first"]))
            if block >= length:
                raise fault("beyond_the_file", block=block, last=length - 1)
        return value

    @field_validator("volume")
    @classmethod
    def _volume_where_needed(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "fat_size", "entry_length")
        if value is not None and value < (info.data.get("block_size") or 0):
            raise fault("volume_below_block")
        return value

    @field_validator("entry_bits")
    @classmethod
    def _bits_enough(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "largest_disk")
        volume, block = info.data.get("volume"), info.data.get("block_size")
        if (
            value is not None
            and info.data.get("ask") == "fat_size"
            and volume
            and block
            and 1 << value < volume // block
        ):
            raise fault("too_few_bits", bits=value, blocks=volume // block)
        return value


def chain_of(links: tuple[str, ...], start: int) -> list[int]:
    """The disk blocks of a file in order."""
    following = dict(link.split("=") for link in links)
    chain, at = list[int](), str(start)
    while at != END:
        chain.append(int(at))
        at = following[at]
    return chain


def bits_for(count: int) -> int:
    """The fewest bits that tell `count` things apart."""
    return max(1, (count - 1).bit_length())


def entry_length(given: Fat, blocks: int) -> int:
    """Bits of an entry: as given, or the fewest, rounded as the rule says."""
    if given.entry_bits is not None and given.ask == "fat_size":
        return given.entry_bits
    unit = {"to_the_bit": 1, "to_half_bytes": 4, "to_bytes": 8}[given.entry_rounding]
    return -(-bits_for(blocks) // unit) * unit


def _solve_fat(given: Fat) -> Solution:
    steps: list[Step] = []
    results: dict[str, Result] = {}
    columns: tuple[str, ...] = ()
    chain: list[int] = []
    asked: int | None = None
    if given.ask in ("disk_block", "chain") and given.first is not None:
        columns = ("file_block_number", "disk_block_number", "next_block")
        chain = chain_of(given.links, given.first)
        asked = given.file_block
        if given.offset is not None and given.block_size:
            asked = given.offset // given.block_size
            told = {"offset": grouped(given.offset), "size": given.block_size, "block": asked}
            steps.append(Step("fat_block_of_byte", {**told, "within": given.offset % given.block_size}))
        for place, (block, after) in enumerate(zip(chain, [*chain[1:], None], strict=True)):
            key = "fat_start" if place == 0 else "fat_next"
            last = after is None
            told = {"block": block, "place": place, "before": chain[place - 1], "next": after}
            steps.append(Step(f"{key}_last" if last else key, told, (place, block, after), "fat_chain"))
        results["chain"] = Result(tuple(chain))
        if asked is not None:
            results["disk_block"] = Result(chain[asked])
            steps.append(Step("fat_found", {"place": asked, "block": chain[asked]}))
    if given.ask in ("fat_size", "entry_length") and given.volume and given.block_size:
        blocks = given.volume // given.block_size
        bits = entry_length(given, blocks)
        told = {"volume": size_text(given.volume), "block": size_text(given.block_size), "blocks": grouped(blocks)}
        steps.append(Step("fat_entries", told))
        if given.entry_bits is None or given.ask == "entry_length":
            steps.append(Step("fat_bits", {"blocks": grouped(blocks), "fewest": bits_for(blocks), "bits": bits}))
        size = -(-blocks * bits // 8)
        told = {"blocks": grouped(blocks), "bits": bits, "bytes": grouped(size), "size": near(size)}
        steps.append(Step("fat_size", told))
        results |= {"fat_size": Result(size, "bytes"), "entry_length": Result(bits, "bits")}
    if given.ask == "largest_disk" and given.entry_bits and given.block_size:
        total = given.block_size << given.entry_bits
        most = grouped(1 << given.entry_bits)
        told = {"bits": given.entry_bits, "blocks": most, "block": size_text(given.block_size)}
        steps.append(Step("fat_largest", {**told, "bytes": grouped(total), "size": near(total)}))
        results["largest_disk"] = Result(total, "bytes")
    figure = partial(_chain_figure, chain, asked, tuple(steps)) if chain else None
    return Solution(tuple(steps), results, columns, figure)


def _chain_figure(chain: list[int], asked: int | None, steps: tuple[Step, ...], language: Language) -> Figure:
    """The file's blocks as a chain that turns at the edge; below each its number in the file."""
    wide = max(48.0, max(text_width(str(block)) for block in chain) + 16)
    gap, across = 26.0, 5
    first = next(number for number, step in enumerate(steps, 1) if step.row)
    marks: list[Mark] = [Label(8, 20, word("figures", "chain_of_blocks", language))]
    for place, block in enumerate(chain):
        line, column = divmod(place, across)
        x, y = 8 + column * (wide + gap), 32 + line * (2 * ROW + 10)
        step = first + place
        marks.append(Box(x, y, wide, ROW, str(block), "a", step))
        marks.append(Label(x + wide / 2, y + ROW + 17, f"{place}", "middle", "muted", step))
        if place and column:
            marks.append(Path(((x - gap, y + ROW / 2), (x, y + ROW / 2)), arrow=True, step=step))
        elif place:
            back = 8 + (across - 1) * (wide + gap) + wide
            high = y - (ROW + 10) / 2 + 12
            route = (
                (back, y - ROW - 24),
                (back + 10, y - ROW - 24),
                (back + 10, high),
                (2, high),
                (2, y + 14),
                (8, y + 14),
            )
            marks.append(Path(route, arrow=True, step=step))
        if place == asked:
            marks.append(Box(x, y, wide, ROW, str(block), "good", len(steps)))
    lines = -(-len(chain) // across)
    width = 8 + min(len(chain), across) * (wide + gap) + 8
    found = "–" if asked is None else f"{asked}: {chain[asked]}"
    description = word("figures", "fat_chain", language, chain=" → ".join(map(str, chain)), found=found)
    title = word("kinds", "fat", language)
    width = max(width, 16 + text_width(word("figures", "chain_of_blocks", language)))
    return Figure(width, 32 + lines * (2 * ROW + 10) + 4, tuple(marks), title, description, len(steps))


def _generate_fat(random: Random, level: Level) -> Fat:
    if level == "hard":
        volume, block = random.choice((1, 2, 4, 8, 32)) << 30, random.choice((4, 8, 16, 32)) << 10
        if random.random() < 0.5:
            return Fat(ask="fat_size", volume=volume, block_size=block, entry_bits=32)
        return Fat(ask="fat_size", volume=volume >> 4, block_size=block // 4, entry_rounding="to_half_bytes")
    count = random.randint(4, 5) if level == "easy" else random.randint(5, 7)
    chain = random.sample(range(2, 30), count)
    links = tuple(
        sorted((f"{a}={b}" for a, b in zip(chain, [*chain[1:], END], strict=True)), key=lambda s: int(s.split("=")[0]))
    )
    asked = random.randint(2, count - 2)
    if level == "easy":
        return Fat(links=links, first=chain[0], file_block=asked)
    block = random.choice((512, 1024, 2048))
    return Fat(links=links, first=chain[0], block_size=block, offset=asked * block + random.randrange(1, block))


def _wrong_fat(given: Fat, ask: str, value: Value | None) -> Value | None:
    if given.ask != ask or value is None:
        return None
    return value if value != _solve_fat(given).results[ask].value else None


def _fat_shifted(given: Fat, by: int) -> Value | None:
    if given.ask != "disk_block" or given.first is None:
        return None
    chain = chain_of(given.links, given.first)
    asked = given.file_block if given.offset is None else given.offset // (given.block_size or 1)
    place = (asked or 0) + by
    return _wrong_fat(given, "disk_block", chain[place]) if 0 <= place < len(chain) else None


def _fat_contiguous(given: Fat) -> Value | None:
    asked = given.file_block if given.offset is None else given.offset // (given.block_size or 1)
    return _wrong_fat(given, "disk_block", (given.first or 0) + (asked or 0))


def _fat_entries(given: Fat, bits: int) -> Value | None:
    if given.ask != "fat_size" or not given.volume or not given.block_size:
        return None
    return _wrong_fat(given, "fat_size", given.volume // given.block_size * bits // 8)


FAT_MISTAKES: tuple[Mistake[Fat], ...] = (
    Mistake("counted_from_one", lambda p: _fat_shifted(p, -1)),
    Mistake("one_link_too_far", lambda p: _fat_shifted(p, 1)),
    Mistake("as_if_contiguous", _fat_contiguous),
    Mistake("one_byte_an_entry", lambda p: _fat_entries(p, 8)),
    Mistake("bits_for_bytes", lambda p: _fat_entries(p, 8 * entry_length(p, (p.volume or 1) // (p.block_size or 1)))),
    Mistake("two_byte_entries", lambda p: _fat_entries(p, 16)),
)

KINDS: tuple[Kind[Any], ...] = (Kind("fat", "files", Fat, _solve_fat, _generate_fat, FAT_MISTAKES, "8.4.2"),)
