"""From a logical address to a physical one: pages with one to four levels and a TLB, and segments.

Sections 6.1, 6.4, 6.5 and 6.7 of the course book (Silberschatz et al., 9.2-9.4): the low bits of an address are the
offset, the rest is cut into one index a level, outermost first; an offset must be less than its segment's limit.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.fields import Bytes, Numbers, fault
from osrag.lab.kind import Cell, Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, Tone, text_width
from osrag.types import Language

BITS = 64  # of an address
LEVELS = 4
ENTRIES = 200
ADDRESSES = 100  # in one exercise
INVALID = "-"

_HEX = re.compile(r"0x([0-9a-f]+)|([0-9][0-9a-f]*)h", re.IGNORECASE)
_INVALID = {"-", "–", "—", "x", "invalid", "none", "无效", "无", "∅"}
_ARROWS = re.compile(r"→|->|=>|:|：|=")


def _number(text: str) -> int:
    """A number, hexadecimal as 0x1F or 1FH."""
    if match := _HEX.fullmatch(text.strip()):
        return int(match[1] or match[2], 16)
    if text.strip().isdecimal():
        return int(text)
    raise fault("addresses_not_an_address", seen=text[:20])


def _address(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return value
    text = str(value).strip()
    number = _number(text)
    return f"0x{number:X}" if _HEX.fullmatch(text) else str(number)


def _rows(value: Any) -> Any:
    """Rows of numbers as texts; `0→3, 1→7` is read like `0 3; 1 7`, and `-` stands for an invalid entry."""
    if not isinstance(value, str):
        if not isinstance(value, list | tuple) or not all(isinstance(row, list | tuple) for row in value):
            return value
        return tuple(tuple(_part(str(part)) for part in row) for row in value)
    arrows = _ARROWS.search(value) is not None or re.search(r"\)\s*[,，、]?\s*\(", value) is not None
    spaced = _ARROWS.sub(" ", re.sub(r"\)\s*[,，、]\s*\(", ");(", value)).strip()
    inside = re.search(r"\(", spaced) is not None
    rows = re.split(r"[;；\n]" if inside or not arrows else r"[;；\n,，、]", spaced)
    return tuple(
        tuple(_part(part) for part in re.split(r"[\s,，、()（）]+", row) if part) for row in rows if row.strip()
    )


def _part(text: str) -> str:
    return INVALID if text.lower() in _INVALID else text


def _addresses(value: Any) -> Any:
    parts = re.split(r"[\s,，、;；]+", value.strip(" ()[]{}")) if isinstance(value, str) else value
    parts = parts if isinstance(parts, list | tuple) else (parts,)
    return tuple(_address(part) for part in parts if part != "")


Address = Annotated[str, BeforeValidator(_address)]
Addresses = Annotated[tuple[str, ...], BeforeValidator(_addresses)]
Entries = Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_rows)]


def power_of_two(number: int) -> int:
    """A size of pages; raises a fault for what is no power of two."""
    if number < 1 or number & (number - 1):
        raise fault("addresses_power", seen=number)
    return number


# ---------------------------------------------------------------- paging


AskTranslate = Literal[
    "physical", "page_number", "offset", "indices", "frame_number", "page_fault", "tlb_hit", "memory_accesses"
]  # fmt: skip


class Translating(Parameters):
    """An address, how it is cut, and the page tables as far as they are known."""

    address: Address = given()
    page_size: Bytes = given(4096, ge=1, le=1 << 40, unit="bytes")
    level_bits: Numbers = given((), max_length=LEVELS)  # outermost first; one level where nothing is given
    address_bits: int | None = given(None, ge=1, le=BITS)
    entries: Entries = given((), max_length=ENTRIES)  # the index of each level, then the frame; `-`: invalid
    tlb: Entries = given((), max_length=ENTRIES)  # page and frame
    notation: Literal["as_address", "decimal", "hexadecimal"] = rule("as_address")
    ask: AskTranslate = given("physical", validate_default=True)

    @field_validator("page_size")
    @classmethod
    def _power(cls, size: int) -> int:
        return power_of_two(size)

    @field_validator("level_bits")
    @classmethod
    def _some_bits(cls, bits: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        offset = offset_bits(info.data.get("page_size", 1))
        if any(each < 1 for each in bits) or sum(bits) + offset > BITS:
            raise fault("addresses_level_bits", bits=bits, offset=offset, most=BITS)
        return bits

    @field_validator("address_bits")
    @classmethod
    def _add_up(cls, bits: int | None, info: ValidationInfo) -> int | None:
        offset = offset_bits(info.data.get("page_size", 1))
        levels = info.data.get("level_bits", ())
        if bits is not None and levels and sum(levels) + offset != bits:
            raise fault("addresses_sum", seen=bits, parts=(*levels, offset), total=sum(levels) + offset)
        if bits is not None and bits <= offset:
            raise fault("addresses_offset", seen=bits, offset=offset)
        return bits

    @field_validator("entries", "tlb")
    @classmethod
    def _fits_the_levels(cls, rows: tuple[tuple[str, ...], ...], info: ValidationInfo) -> tuple[tuple[str, ...], ...]:
        levels = info.data.get("level_bits", ()) if info.field_name == "entries" else ()
        wanted = max(len(levels), 1) + 1
        for row in rows:
            if len(row) > wanted or len(row) < 2 or (len(row) < wanted and row[-1] != INVALID) or INVALID in row[:-1]:
                raise fault("addresses_row", seen=" ".join(row), wanted=wanted)
            for place, part in enumerate(row):
                index = _number(part) if part != INVALID else 0
                if place < len(levels) and part != INVALID and index >> levels[place]:
                    raise fault("addresses_index", seen=part, bits=levels[place])
        return rows

    @field_validator("ask")
    @classmethod
    def _can_be_found(cls, ask: str, info: ValidationInfo) -> str:
        data = info.data
        if {"address", "page_size", "address_bits", "level_bits"} <= data.keys():
            split = sum(data["level_bits"]) + offset_bits(data["page_size"]) if data["level_bits"] else 0
            bits = data["address_bits"] or split
            if bits and _number(data["address"]) >> bits:
                raise fault("addresses_outside", seen=data["address"], bits=bits)
        if ask not in ("page_number", "offset", "indices") and not data.get("entries", True):
            page = _number(data.get("address", "0")) // data.get("page_size", 1)
            if page not in [_number(row[0]) for row in data.get("tlb", ())]:
                raise fault("addresses_no_table")
        return ask

    @property
    def number(self) -> int:
        return _number(self.address)

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of each index, outermost first."""
        rest = max((self.address_bits or self.number.bit_length()) - offset_bits(self.page_size), 1)
        return self.level_bits or (rest,)

    @property
    def hexadecimal(self) -> bool:
        return self.notation == "hexadecimal" or (self.notation == "as_address" and self.address.startswith("0x"))

    def told(self, number: int) -> int | str:
        """A number in the notation of the exercise."""
        return f"0x{number:X}" if self.hexadecimal else number


def offset_bits(page_size: int) -> int:
    """Bits of the offset within a page."""
    return page_size.bit_length() - 1


@dataclass(frozen=True, slots=True)
class Walk:
    """What the hardware finds on its way from an address to a frame."""

    indices: tuple[int, ...]
    offset: int
    page: int
    frame: int | None  # None: a page fault
    in_tlb: int | None  # the frame that the TLB gives
    looked_up: int  # levels whose entry was read


def walk(given: Translating) -> Walk:
    """Cut the address, look into the TLB, and follow the tables until an entry is invalid."""
    page, offset = divmod(given.number, given.page_size)
    indices, rest = [], page
    for bits in reversed(given.widths):
        indices.append(rest & ((1 << bits) - 1))
        rest >>= bits
    indices.reverse()
    in_tlb = next((_number(row[1]) for row in given.tlb if _number(row[0]) == page and row[1] != INVALID), None)
    if in_tlb is not None:
        return Walk(tuple(indices), offset, page, in_tlb, in_tlb, 0)
    rows = [(tuple(_number(part) for part in row[:-1]), row[-1]) for row in given.entries]
    for level in range(1, len(indices) + 1):
        path = tuple(indices[:level])
        fitting = [frame for index, frame in rows if index[:level] == path and (len(index) >= level)]
        last = [frame for index, frame in rows if index == path]
        if not fitting or INVALID in last:
            return Walk(tuple(indices), offset, page, None, None, level)
    frame = next(frame for index, frame in rows if index == tuple(indices))
    return Walk(tuple(indices), offset, page, _number(frame), None, len(indices))


def solve_translate(given: Translating) -> Solution:
    """The address cut into its parts, the walk through the tables, and the physical address."""
    found = walk(given)
    told, offset_wide = given.told, offset_bits(given.page_size)
    steps: list[Step] = []
    high = offset_wide + sum(given.widths)
    parts = _parts(given)
    values = {"address": given.address, "size": given.page_size, "bits": offset_wide}
    values |= {"page": told(found.page), "offset": told(found.offset)}
    steps.append(Step("translate_offset", values, ("d", f"{offset_wide - 1}–0", told(found.offset), None, None)))
    if not given.level_bits:
        values |= {"number": given.number}
        steps.append(Step("translate_page", values, ("p", None, told(found.page), None, None), "translate_split"))
    else:
        for name, bits, index in zip(parts, given.widths, found.indices, strict=False):
            span = f"{high - 1}–{high - bits}"
            shown_index = told(index) if len(found.indices) == 1 else index
            cut = {"name": name, "bits": bits, "span": span, "index": shown_index}
            steps.append(Step("translate_index", cut, (name, span, shown_index, None, None), "translate_split"))
            high -= bits
    steps[0] = Step(steps[0].key, steps[0].values, steps[0].row, "translate_split")
    before = len(steps)
    if given.tlb:
        hit = found.in_tlb is not None
        tlb_frame = told(found.in_tlb or 0)
        row: tuple[Cell, ...] = ("TLB", None, told(found.page), hit, tlb_frame if hit else None)
        shown = {"page": told(found.page), "frame": tlb_frame}
        steps.append(Step("translate_tlb_hit" if hit else "translate_tlb_miss", shown, row, "translate_tlb"))
    if given.entries and found.in_tlb is None:
        steps += _lookups(given, found)
    results: dict[str, Result] = {
        "physical": Result("page_fault_trap"),
        "page_number": Result(told(found.page)),
        "offset": Result(told(found.offset)),
        "indices": Result(found.indices),
        "frame_number": Result("page_fault_trap"),
        "page_fault": Result(found.frame is None),
        "tlb_hit": Result(found.in_tlb is not None),
        "memory_accesses": Result(found.looked_up + (found.frame is not None), "count"),
    }
    if found.frame is not None:
        physical = found.frame * given.page_size + found.offset
        values = {"frame": told(found.frame), "size": given.page_size, "offset": told(found.offset)}
        key = "translate_physical_hex" if given.hexadecimal else "translate_physical"
        row = ("PA", None, told(physical), None, None)
        steps.append(Step(key, {**values, "physical": told(physical)}, row, "translate_join"))
        results |= {"physical": Result(told(physical)), "frame_number": Result(told(found.frame))}
    columns = ("address_part", "address_span", "address_value", "entry_valid", "entry_frame")
    return Solution(tuple(steps), results, columns, partial(walk_figure, given, found, before, len(steps)))


def _parts(given: Translating) -> tuple[str, ...]:
    """Names of the indices: p, or p1, p2, …"""
    if len(given.level_bits) < 2:
        return ("p",)
    return tuple(f"p{level}" for level in range(1, len(given.level_bits) + 1))


def _lookups(given: Translating, found: Walk) -> Iterator[Step]:
    for level in range(1, found.looked_up + 1):
        plain = found.indices[level - 1]
        last = level == len(found.indices)
        valid = found.frame is not None or level < found.looked_up
        frame = given.told(found.frame) if last and found.frame is not None else None
        index = given.told(plain) if len(found.indices) == 1 else plain
        row = (_parts(given)[level - 1], None, index, valid, frame)
        values = {"level": level, "index": index, "frame": frame}
        key = ("translate_frame" if last else "translate_next") if valid else "translate_invalid"
        yield Step(f"{key}_of_one" if len(found.indices) == 1 else key, values, row, "translate_walk")


# ---------------------------------------------------------------- drawing of the walk

COLUMN = 118.0  # pixels a level
SAID: dict[str, dict[Language, str]] = {
    "title": {"zh": "逻辑地址 {address} 的转换", "en": "Translation of the logical address {address}"},
    "logical": {"zh": "逻辑地址", "en": "logical address"},
    "physical": {"zh": "物理地址", "en": "physical address"},
    "table": {"zh": "第 {level} 级页表", "en": "level {level} table"},
    "only": {"zh": "页表", "en": "page table"},
    "next": {"zh": "→ 下一级", "en": "→ next"},
    "invalid": {"zh": "无效", "en": "invalid"},
    "fault": {"zh": "缺页", "en": "page fault"},
    "hit": {"zh": "TLB 命中：页 {page} → 页框 {frame}", "en": "TLB hit: page {page} → frame {frame}"},
    "miss": {"zh": "TLB 未命中：页 {page}", "en": "TLB miss: page {page}"},
    "told": {"zh": "下标 {indices}，偏移 {offset}；{end}。", "en": "Indices {indices}, offset {offset}; {end}."},
    "end": {"zh": "页框 {frame}，物理地址 {physical}", "en": "frame {frame}, physical address {physical}"},
    "bits": {"zh": "位", "en": "bits"},
}


def walk_figure(given: Translating, found: Walk, before: int, steps: int, language: Language) -> Figure:
    """The address with its bits above; a table for each level; the physical address below."""

    def phrase(key: str, **values: object) -> str:
        return SAID[key][language].format(**values)

    told, levels = given.told, len(found.indices)
    names = _parts(given)
    marks: list[Mark] = [Label(10, 22, phrase("logical"), tone="muted")]
    high, top = offset_bits(given.page_size) + sum(given.widths), 56.0
    tones: tuple[Tone, ...] = ("b", "c", "d", "e")
    for place, (name, bits, index) in enumerate(zip(names, given.widths, found.indices, strict=True)):
        x, step = 10 + place * COLUMN, before if not given.level_bits else place + 2
        label = f"{name} = {told(index) if levels == 1 else index}"
        if given.level_bits or given.address_bits:  # else nobody knows where the address begins
            marks.append(Label(x + COLUMN / 2, top - 8, f"{high - 1}–{high - bits}", "middle", "muted"))
        marks.append(Box(x, top, COLUMN, ROW, label, tones[place], step))
        high -= bits
    x = 10 + levels * COLUMN
    offset_wide = max(COLUMN, text_width(f"d = {told(found.offset)}") + 16)
    marks.append(Label(x + offset_wide / 2, top - 8, f"{max(high - 1, 0)}–0", "middle", "muted"))
    marks.append(Box(x, top, offset_wide, ROW, f"d = {told(found.offset)}", "a", 1))
    y, step = top + ROW + 14, before + 1
    if given.tlb:
        hit = found.in_tlb is not None
        text = phrase("hit" if hit else "miss", page=told(found.page), frame=told(found.in_tlb or 0))
        marks.append(Box(10, y, max(levels * COLUMN, text_width(text) + 16), ROW, text, "good" if hit else "bad", step))
        y, step = y + ROW + 14, step + 1
    bottom = y
    if given.entries:
        for place, index in enumerate(found.indices):
            bottom = max(bottom, _draw_table(marks, given, found, place, index, y, step, phrase, top))
    end = bottom + 34
    frame_x = 10 + (levels - 1) * COLUMN
    frame_wide = max(x - frame_x, text_width(f"f = {told(found.frame or 0)}") + 16)
    if found.frame is None:
        marks.append(Box(frame_x, end, frame_wide, ROW, phrase("fault"), "bad", steps))
        ending = phrase("fault")
    else:
        physical = told(found.frame * given.page_size + found.offset)
        ending = phrase("end", frame=told(found.frame), physical=physical)
        marks.append(Box(frame_x, end, frame_wide, ROW, f"f = {told(found.frame)}", "accent", steps))
        at = frame_x + frame_wide
        marks.append(Box(at, end, offset_wide, ROW, f"d = {told(found.offset)}", "a", steps))
        middle = x + offset_wide / 2 + 12
        marks.append(Path(((middle, top + ROW), (middle, end - 2)), arrow=True, tone="a", step=steps))
        last_line = f"{phrase('physical')} = {physical}"
        marks.append(Label(at + offset_wide, end + ROW + 20, last_line, "end", step=steps))
    told_all = phrase("told", indices=", ".join(map(str, found.indices)), offset=told(found.offset), end=ending)
    width = max(x + offset_wide, frame_x + frame_wide + offset_wide) + 14
    title = phrase("title", address=given.address)
    return Figure(width, end + ROW + 32, tuple(marks), title, told_all, steps)


def _draw_table(
    marks: list[Mark],
    given: Translating,
    found: Walk,
    place: int,
    index: int,
    y: float,
    step: int,
    phrase: Callable[..., str],
    top: float,
) -> float:
    """A table as three rows, the middle one being the entry; gives the y of its bottom."""
    x, levels = 10 + place * COLUMN + 4, len(found.indices)
    wide, read = COLUMN - 14, place < found.looked_up
    at = step + place if read else 0
    heading = phrase("only") if levels == 1 else phrase("table", level=place + 1)
    rest: Tone = "muted" if not read else "plain"
    marks.append(Label(x + wide / 2, y + 14, heading, "middle", "muted"))
    marks.append(Box(x, y + 22, wide, ROW - 6, "⋮", rest))
    middle = y + 22 + ROW - 6
    label, tone = "", rest
    if read:
        last, valid = place == levels - 1, found.frame is not None or place < found.looked_up - 1
        what = phrase("invalid") if not valid else f"f = {given.told(found.frame or 0)}" if last else phrase("next")
        label, tone = f"{given.told(index) if levels == 1 else index}: {what}", "good" if valid else "bad"
    marks.append(Box(x, middle, wide, ROW, label, tone, at))
    below = middle + ROW
    marks.append(Box(x, below, wide, ROW - 6, "⋮", rest))
    if read:
        if given.tlb == ():
            marks.append(Path(((x + wide / 2, top + ROW), (x + wide / 2, y + 1)), arrow=True, tone="muted", step=at))
        if place + 1 < found.looked_up:
            away = x + wide
            path = ((away, middle + ROW / 2), (away + 5, middle + ROW / 2), (away + 5, y + 32), (away + 12, y + 32))
            marks.append(Path(path, arrow=True, tone="good", step=at))
        elif found.frame is not None:
            down = below + ROW - 6
            marks.append(Path(((x + wide / 2, down), (x + wide / 2, down + 32)), arrow=True, tone="good", step=at))
    return below + ROW - 6


def _for_paging(compute: Callable[[Translating, Walk], int | None]) -> Callable[[Translating], Value | None]:
    """A wrong physical address, in the notation of the exercise; none where there is no physical address."""

    def value(given: Translating) -> Value | None:
        found = walk(given)
        wrong = compute(given, found) if given.ask == "physical" and found.frame is not None else None
        return None if wrong is None else given.told(wrong)

    return value


def _indices_swapped(given: Translating, found: Walk) -> int | None:
    """Reads the tables from the innermost index outwards."""
    if len(found.indices) < 2:
        return None
    swapped = tuple(reversed(found.indices))
    frame = next((row[-1] for row in given.entries if tuple(map(_number, row[:-1])) == swapped), INVALID)
    return None if frame == INVALID else _number(frame) * given.page_size + found.offset


def generate_translate(random: Random, level: Level) -> Translating:
    """Easy: decimal, one level; medium: hexadecimal, one level and a TLB; hard: two levels."""
    if level == "easy":
        size = random.choice((1024, 2048))
        frames = random.sample(range(2, 16), 4)
        page, offset = random.randrange(1, 4), random.randrange(20, size - 1)
        entries = tuple((str(number), str(frame)) for number, frame in enumerate(frames))
        return Translating(address=str(page * size + offset), page_size=size, entries=entries)
    offset = random.randrange(0x100, 0xFFF)
    if level == "medium":
        pages, frames = random.sample(range(1, 15), 5), random.sample(range(1, 30), 5)
        entries = tuple((f"0x{p:X}", f"0x{f:X}") for p, f in zip(pages, frames, strict=True))
        tlb = (entries[0], entries[3])
        address = f"0x{pages[random.choice((0, 1, 2, 3))] * 4096 + offset:X}"
        return Translating(address=address, page_size=4096, entries=entries, tlb=tlb)
    first, second = random.sample(range(1, 12), 2)
    frames = random.sample(range(0x10, 0x200), 3)
    known = ((first, second, frames[0]), (second, first, frames[1]), (first, first, frames[2]))
    rows = tuple((str(a), str(b), f"0x{f:X}") for a, b, f in random.sample(known, 3))
    address = f"0x{(first << 22) + (second << 12) + offset:08X}"
    return Translating(address=address, page_size=4096, level_bits=(10, 10), entries=rows)


# ---------------------------------------------------------------- base and limit, segments


class Relocating(Parameters):
    """A base and a limit register, and addresses that go through them."""

    base: Address = given()
    limit: Address = given()
    addresses: Addresses = given(min_length=1, max_length=ADDRESSES)
    notation: Literal["as_address", "decimal", "hexadecimal"] = rule("as_address")
    limit_means: Literal["length", "last_offset"] = rule("length")
    ask: Literal["physicals", "trap_count"] = "physicals"

    @property
    def hexadecimal(self) -> bool:
        seen = any(text.startswith("0x") for text in (self.base, *self.addresses))
        return self.notation == "hexadecimal" or (self.notation == "as_address" and seen)

    def told(self, number: int) -> int | str:
        return f"0x{number:X}" if self.hexadecimal else number


TRAP = "trap"


def solve_relocation(given: Relocating) -> Solution:
    """Compare with the limit, then add the base."""
    steps, physicals = [], list[int | str]()
    base, limit = _number(given.base), _number(given.limit)
    for text in given.addresses:
        address = _number(text)
        legal = address < limit or (address == limit and given.limit_means == "last_offset")
        physicals.append(given.told(base + address) if legal else TRAP)
        row = (given.told(address), given.told(limit), legal, physicals[-1])
        values = {"address": row[0], "limit": row[1], "base": given.told(base), "physical": physicals[-1]}
        key = "relocation_legal" if legal else "relocation_trap"
        steps.append(Step(key, values, row, "segment_limit" if not legal else "segment_add"))
    results = {
        "physicals": Result(tuple(physicals)),
        "trap_count": Result(physicals.count(TRAP), "count"),
    }
    columns = ("logical_address", "segment_limit", "legal", "physical_address")
    places = [("", base, base + limit + (given.limit_means == "last_offset"))]
    figure = partial(memory_figure, given, places, tuple(steps), columns, "relocation")
    return Solution(tuple(steps), results, columns, figure)


class Segmenting(Parameters):
    """A segment table, and addresses of (segment, offset)."""

    segments: Entries = given(min_length=1, max_length=ENTRIES)  # number, base, limit, and what is allowed: rwx
    addresses: Entries = given(min_length=1, max_length=ADDRESSES)  # segment, offset, and r, w or x
    page_size: Bytes = given(0, ge=0, le=1 << 40, unit="bytes")  # of segments that are paged; 0 where they are not
    entries: Entries = given((), max_length=ENTRIES)  # segment, page, frame of segments that are paged
    limit_means: Literal["length", "last_offset"] = rule("length")
    ask: Literal["physicals", "trap_count"] = "physicals"

    @field_validator("segments")
    @classmethod
    def _segment_rows(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        for row in rows:
            if len(row) not in (3, 4):
                raise fault("segments_row", seen=" ".join(row))
            for part in row[:3]:
                _number(part if part != INVALID else "0")
            if len(row) == 4 and not set(row[3].lower()) <= set("rwx"):
                raise fault("segments_rights", seen=row[3])
        numbers = [_number(row[0]) for row in rows]
        if len(set(numbers)) < len(numbers):
            raise fault("segments_twice", segment=next(n for n in numbers if numbers.count(n) > 1))
        return rows

    @field_validator("addresses")
    @classmethod
    def _address_rows(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        for row in rows:
            if len(row) not in (2, 3) or INVALID in row or (len(row) == 3 and row[2].lower() not in ("r", "w", "x")):
                raise fault("segments_address", seen=" ".join(row))
            _number(row[0]), _number(row[1])
        return rows

    @field_validator("page_size")
    @classmethod
    def _power(cls, size: int) -> int:
        return power_of_two(size) if size else 0

    @field_validator("entries")
    @classmethod
    def _page_rows(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        for row in rows:
            if len(row) != 3 or INVALID in row[:2]:
                raise fault("segments_page", seen=" ".join(row))
            for part in row:
                _number(part if part != INVALID else "0")
        return rows

    @property
    def hexadecimal(self) -> bool:
        return any(_HEX.fullmatch(part) for row in (*self.segments, *self.addresses) for part in row[:3])

    def told(self, number: int) -> int | str:
        return f"0x{number:X}" if self.hexadecimal else number


def solve_segments(given: Segmenting) -> Solution:
    """Check the segment, the right and the limit; then add the base, or go through the segment's page table."""
    table = {_number(row[0]): row for row in given.segments}
    steps, physicals = [], list[int | str]()
    for address in given.addresses:
        step, physical = _through_a_segment(given, table, address)
        steps.append(step)
        physicals.append(physical)
    results = {
        "physicals": Result(tuple(physicals)),
        "trap_count": Result(sum(physical == TRAP for physical in physicals), "count"),
    }
    paged = ("segment_page", "segment_frame") if given.page_size else ()
    columns = ("segment", "segment_offset", "segment_limit", "legal", *paged, "physical_address")
    more = given.limit_means == "last_offset"
    places = []
    if not given.page_size:
        present = [(row[0], _number(row[1]), _number(row[2])) for row in given.segments if INVALID not in row[1:3]]
        places = [(number, base, base + length + more) for number, base, length in present]
    figure = partial(memory_figure, given, places, tuple(steps), columns, "segments")
    return Solution(tuple(steps), results, columns, figure)


def _through_a_segment(
    given: Segmenting, table: dict[int, tuple[str, ...]], address: tuple[str, ...]
) -> tuple[Step, int | str]:
    told, segment, offset = given.told, _number(address[0]), _number(address[1])
    empty: tuple[Cell, ...] = (None, None) if given.page_size else ()
    values: dict[str, Any] = {"segment": segment, "offset": told(offset), "access": address[2] if address[2:] else ""}
    if segment not in table:
        row = (segment, told(offset), None, False, *empty, TRAP)
        return Step("segment_missing", values, row, "segment_number"), TRAP
    base, limit = (_number(part.replace(INVALID, "0")) for part in table[segment][1:3])
    if table[segment][1] == INVALID and not given.page_size:
        return Step("segment_absent", values, (segment, told(offset), told(limit), False, TRAP), "segment_number"), TRAP
    values |= {"base": told(base), "limit": told(limit)}
    if address[2:] and table[segment][3:] and address[2].lower() not in table[segment][3].lower():
        row = (segment, told(offset), told(limit), False, *empty, TRAP)
        return Step("segment_right", {**values, "rights": table[segment][3]}, row, "segment_right"), TRAP
    if offset > limit or (offset == limit and given.limit_means == "length"):
        row = (segment, told(offset), told(limit), False, *empty, TRAP)
        return Step("segment_over", values, row, "segment_limit"), TRAP
    if not given.page_size:
        physical = told(base + offset)
        row = (segment, told(offset), told(limit), True, physical)
        return Step("segment_legal", {**values, "physical": physical}, row, "segment_add"), physical
    page, rest = divmod(offset, given.page_size)
    values |= {"page": page, "rest": told(rest), "size": given.page_size}
    wanted = (segment, page)
    frames = (row[2] for row in given.entries if (_number(row[0]), _number(row[1])) == wanted)
    frame = next(frames, INVALID)
    if frame == INVALID:
        row = (segment, told(offset), told(limit), True, page, None, "page_fault_trap")
        return Step("segment_page_fault", values, row, "segment_paged"), "page_fault_trap"
    physical = told(_number(frame) * given.page_size + rest)
    values |= {"frame": _number(frame), "physical": physical}
    row = (segment, told(offset), told(limit), True, page, _number(frame), physical)
    return Step("segment_paged", values, row, "segment_paged"), physical


MEMORY: dict[str, dict[Language, str]] = {
    "segments": {"zh": "按段表转换地址", "en": "Translation by a segment table"},
    "relocation": {"zh": "基址与界限寄存器", "en": "Base and limit registers"},
    "part": {"zh": "段 {number}：{first}–{last}", "en": "segment {number}: {first}–{last}"},
    "own": {"zh": "进程：{first}–{last}", "en": "process: {first}–{last}"},
    "memory": {"zh": "内存（合法的物理地址）", "en": "memory (legal physical addresses)"},
    "trap": {"zh": "陷入", "en": "trap"},
    "page_fault_trap": {"zh": "缺页", "en": "page fault"},
    "arrow": {"zh": "逻辑地址 → 物理地址", "en": "logical → physical address"},
}


def memory_figure(
    given: Relocating | Segmenting,
    places: list[tuple[str, int, int]],
    steps: tuple[Step, ...],
    columns: tuple[str, ...],
    name: str,
    language: Language,
) -> Figure:
    """Each address with an arrow to its physical address or to a trap; below, the memory in order of address."""
    marks: list[Mark] = [Label(10, 22, MEMORY["arrow"][language], tone="muted")]
    told, y = [], 34.0
    for number, step in enumerate(steps, start=1):
        physical, legal = step.row[-1], step.row[columns.index("legal")] is True
        left = f"({step.row[0]}, {step.row[1]})" if name == "segments" else str(step.row[0])
        right = MEMORY[str(physical)][language] if physical in (TRAP, "page_fault_trap") else str(physical)
        fine = legal and physical != "page_fault_trap"
        marks.append(Box(10, y, 130, ROW, left, "plain"))
        marks.append(
            Path(((140, y + ROW / 2), (206, y + ROW / 2)), arrow=True, tone="good" if fine else "bad", step=number)
        )
        marks.append(Box(208, y, 130, ROW, right, "good" if fine else "bad", number))
        told.append(f"{left} → {right}")
        y += ROW + 8
    if places:
        marks.append(Label(10, y + 20, MEMORY["memory"][language], tone="muted"))
        y += 30
    tones: tuple[Tone, ...] = ("a", "b", "c", "d", "e", "f")
    for place, (segment, first, last) in enumerate(sorted(places, key=lambda each: each[1])):
        said = MEMORY["part" if segment else "own"][language]
        text = said.format(number=segment, first=given.told(first), last=given.told(max(last - 1, first)))
        marks.append(Box(10, y, 328, ROW, text, tones[place % len(tones)]))
        told.append(text)
        y += ROW + 2
    return Figure(350, y + 8, tuple(marks), MEMORY[name][language], "; ".join(told), len(steps))


# ---------------------------------------------------------------- exercises


def generate_relocation(random: Random, level: Level) -> Relocating:
    """Three or four addresses, one just inside and one just outside."""
    unit = 1000 if level == "easy" else 0x1000
    base, limit = random.randint(3, 90) * unit, random.randint(2, 9) * unit
    inside = [random.randrange(1, limit) for _ in range(1 if level == "easy" else 2)]
    edge = [limit - 1, limit] if level != "easy" else [limit + random.choice((0, 200))]
    numbers = random.sample([*inside, *edge], len(inside) + len(edge))
    texts = [str(number) if level == "easy" else f"0x{number:X}" for number in (base, limit, *numbers)]
    return Relocating(base=texts[0], limit=texts[1], addresses=tuple(texts[2:]))


def generate_segments(random: Random, level: Level) -> Segmenting:
    """Easy: one address outside; medium: one at the limit itself; hard: rights as well."""
    count = {"easy": 3, "medium": 4, "hard": 4}[level]
    limits = [random.randint(4, 40) * 50 for _ in range(count)]
    starts, at = list[int](), random.randint(2, 20) * 100
    for limit in limits:
        starts.append(at)
        at += limit + random.randint(1, 30) * 100
    order = random.sample(range(count), count)
    rights = random.sample(["rx", "rw", "rw", "r"], 4)
    rows: list[tuple[str, ...]] = []
    for number, place in enumerate(order):
        right = (rights[number],) if level == "hard" else ()
        rows.append((str(number), str(starts[place]), str(limits[place]), *right))
    over = random.randrange(count)
    addresses: list[tuple[str, ...]] = []
    for number, place in enumerate(order):
        offset = limits[place] + (random.randint(1, 200) if level == "easy" else 0)
        offset = offset if number == over else random.randrange(1, limits[place])
        access = (random.choice("rw"),) if level == "hard" else ()
        addresses.append((str(number), str(offset), *access))
    return Segmenting(segments=tuple(rows), addresses=tuple(addresses))


def _physicals(
    compute: Callable[[int, int, int, bool], int | None],
) -> Callable[[Relocating | Segmenting], Value | None]:
    """Wrong physical addresses from (base, limit, offset, permitted); None is a trap."""

    def value(given: Relocating | Segmenting) -> Value | None:
        if given.ask != "physicals":
            return None
        wrong = list[int | str]()
        if isinstance(given, Relocating):
            parts = [(_number(given.base), _number(given.limit), _number(text), True) for text in given.addresses]
        elif given.page_size:
            return None
        else:
            table = {_number(row[0]): row for row in given.segments}
            parts = []
            for address in given.addresses:
                row = table.get(_number(address[0]), ("0", "0", "0"))
                allowed = not address[2:] or not row[3:] or address[2].lower() in row[3].lower()
                parts.append(
                    (
                        _number(row[1].replace(INVALID, "0")),
                        _number(row[2].replace(INVALID, "0")),
                        _number(address[1]),
                        allowed,
                    )
                )
        for part in parts:
            found = compute(*part)
            wrong.append(TRAP if found is None else given.told(found))
        return tuple(wrong)

    return value


SEGMENT_MISTAKES: tuple[Mistake[Any], ...] = (
    Mistake("limit_included", _physicals(lambda b, n, at, may: b + at if at <= n and may else None)),
    Mistake("limit_ignored", _physicals(lambda b, n, at, may: b + at if may else None)),
    Mistake("limit_after_adding", _physicals(lambda b, n, at, may: b + at if b + at < n and may else None)),
    Mistake("base_forgotten", _physicals(lambda b, n, at, may: at if at < n and may else None)),
    Mistake("rights_ignored", _physicals(lambda b, n, at, may: b + at if at < n else None)),
)

TRANSLATE: Kind[Any] = Kind(
    "translate",
    "addresses",
    Translating,
    solve_translate,
    generate_translate,
    (
        Mistake("frame_not_shifted", _for_paging(lambda given, found: (found.frame or 0) + found.offset)),
        Mistake("page_as_frame", _for_paging(lambda given, found: given.number)),
        Mistake("offset_forgotten", _for_paging(lambda given, found: (found.frame or 0) * given.page_size)),
        Mistake("indices_swapped", _for_paging(_indices_swapped)),
        Mistake("whole_address_added", _for_paging(lambda g, found: (found.frame or 0) * g.page_size + g.number)),
    ),
    "6.5.1",
)
RELOCATION: Kind[Any] = Kind(
    "relocation",
    "addresses",
    Relocating,
    solve_relocation,
    generate_relocation,
    SEGMENT_MISTAKES[:4],
    "6.1.3",
)
SEGMENTS: Kind[Any] = Kind(
    "segments",
    "addresses",
    Segmenting,
    solve_segments,
    generate_segments,
    SEGMENT_MISTAKES,
    "6.4",
)
KINDS = (TRANSLATE, RELOCATION, SEGMENTS)
