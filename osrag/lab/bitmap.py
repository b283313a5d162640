"""A free-space bitmap: its size, and the way from a block to its bit and back. Course book, section 8.5."""

from functools import partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import Bytes, fault, grouped, needed, size_text
from osrag.lab.inode import near
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, text_width
from osrag.lab.words import word
from osrag.types import Language

LARGEST, BLOCK = 1 << 60, 1 << 24  # bytes of a volume and of a block at most


class Bitmap(Parameters):
    """Size of a free-space bitmap, and the way from a block to its bit and back."""

    ask: Literal["bitmap_size", "bitmap_blocks", "word_and_bit", "block_of_bit"] = "bitmap_size"
    volume: Bytes | None = given(None, gt=0, le=LARGEST, unit="bytes", validate_default=True)
    block_size: Bytes | None = given(None, ge=16, le=BLOCK, unit="bytes", validate_default=True)
    word_bits: int = given(32, ge=1, le=4096, unit="bits")
    counting: Literal["from_0", "from_1"] = rule("from_0")
    block: int | None = given(None, ge=0, le=1 << 60, validate_default=True)
    word: int | None = given(None, ge=0, le=1 << 60, validate_default=True)
    bit: int | None = given(None, ge=0, validate_default=True)

    @field_validator("volume", "block_size")
    @classmethod
    def _disk_where_needed(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "bitmap_size", "bitmap_blocks")
        if info.field_name == "block_size" and value is not None and (info.data.get("volume") or value) < value:
            raise fault("volume_below_block")
        return value

    @field_validator("block", "word")
    @classmethod
    def _counted_right(cls, value: int | None, info: ValidationInfo) -> int | None:
        needed(value, info, "word_and_bit" if info.field_name == "block" else "block_of_bit")
        if value == 0 and info.data.get("counting") == "from_1":
            raise fault("counts_from_one")
        return value

    @field_validator("bit")
    @classmethod
    def _bit_in_word(cls, value: int | None, info: ValidationInfo) -> int | None:
        cls._counted_right(value, info)
        first = int(info.data.get("counting") == "from_1")
        if value is not None and (bits := info.data.get("word_bits")) and not first <= value < bits + first:
            raise fault("no_such_bit", first=first, last=bits + first - 1)
        return value


def _solve_bitmap(given: Bitmap) -> Solution:
    bits, first = given.word_bits, int(given.counting == "from_1")
    if given.ask in ("bitmap_size", "bitmap_blocks"):
        volume, block = given.volume or 1, given.block_size or 1
        blocks = volume // block
        size = -(-blocks // 8)
        told: dict[str, Any] = {
            "volume": size_text(volume),
            "block": size_text(block),
            "blocks": grouped(blocks),
            "bytes": grouped(size),
        }
        told |= {"size": near(size), "count": grouped(-(-size // block))}
        steps = [Step("bitmap_blocks_of_disk", told), Step("bitmap_bytes", told), Step("bitmap_in_blocks", told)]
        results = {"bitmap_size": Result(size, "bytes"), "bitmap_blocks": Result(-(-size // block))}
        return Solution(tuple(steps), results)
    if given.ask == "word_and_bit":
        number = given.block or 0
        at, bit = divmod(number - first, bits)
        at, bit = at + first, bit + first
        key = "bitmap_find_1" if first else "bitmap_find"
        result = {"word_and_bit": Result((at, bit))}
    else:
        at, bit = given.word or 0, given.bit or 0
        number = (at - first) * bits + bit
        key = "bitmap_back_1" if first else "bitmap_back"
        result = {"block_of_bit": Result(number)}
    told = {"block": number, "bits": bits, "word": at, "bit": bit, "less": number - first}
    steps = [Step(key, told, (number, at, bit), f"bitmap_{given.counting}")]
    columns = ("disk_block_number", "word_number", "bit_number")
    return Solution(tuple(steps), result, columns, partial(_bitmap_figure, bits, first, number, at, bit))


def _bitmap_figure(bits: int, first: int, number: int, at: int, bit: int, language: Language) -> Figure:
    """The bit in its word, with the words before and after; at most eight bits around it."""
    begin = max(first, min(bit - 4, bits + first - 8))
    shown = range(begin, min(begin + 8, bits + first))
    words = [each for each in (at - 1, at, at + 1) if each >= first]
    head, wide = word("figures", "word_of_bitmap", language), 36.0
    left = max(text_width(f"{head} {each}") for each in words) + 18
    marks: list[Mark] = [
        Label(8 + left + (place + 0.5) * wide, 20, str(each), "middle", "muted") for place, each in enumerate(shown)
    ]
    for line, each in enumerate(words):
        y = 28 + line * ROW
        marks.append(Label(8, y + 19, f"{head} {each}"))
        marks += [Box(8 + left + place * wide, y, wide, ROW) for place in range(len(shown))]
        if each == at:
            x = 8 + left + shown.index(bit) * wide
            marks.append(Box(x, y, wide, ROW, str(number) if number < 10_000 else "●", "good", 1))
    description = word("figures", "bitmap", language, block=number, word=at, bit=bit)
    width = 8 + left + len(shown) * wide + 8
    return Figure(width, 36 + len(words) * ROW, tuple(marks), word("kinds", "bitmap", language), description, 1)


def _generate_bitmap(random: Random, level: Level) -> Bitmap:
    if level == "easy":
        return Bitmap(volume=random.choice((1, 2, 4, 16, 64, 500)) << 30, block_size=random.choice((1, 2, 4)) << 10)
    bits = random.choice((16, 32))
    number = random.randrange(2 * bits + 1, 40 * bits)
    if level == "medium":
        return Bitmap(ask="word_and_bit", word_bits=bits, block=number)
    if random.random() < 0.5:
        return Bitmap(ask="word_and_bit", word_bits=bits, block=number, counting="from_1")
    word_, bit = random.randrange(3, 30), random.randrange(2, bits)
    return Bitmap(ask="block_of_bit", word_bits=bits, word=word_, bit=bit, counting="from_1")


def _wrong_bitmap(given: Bitmap, ask: str, value: Value) -> Value | None:
    return value if given.ask == ask and value != _solve_bitmap(given).results[ask].value else None


def _other_counting(given: Bitmap) -> Value | None:
    if given.ask == "word_and_bit" and given.block:
        at, bit = divmod(given.block - (given.counting == "from_0"), given.word_bits)
        first = int(given.counting == "from_0")
        return _wrong_bitmap(given, given.ask, (at + first, bit + first))
    if given.ask == "block_of_bit":
        less = int(given.counting == "from_0")
        return _wrong_bitmap(given, given.ask, ((given.word or 0) - less) * given.word_bits + (given.bit or 0))
    return None


def _swapped(given: Bitmap) -> Value | None:
    if given.ask != "word_and_bit":
        return None
    value = _solve_bitmap(given).results["word_and_bit"].value
    return _wrong_bitmap(given, "word_and_bit", tuple(reversed(value))) if isinstance(value, tuple) else None


def _blocks_of(given: Bitmap) -> int:
    return (given.volume or 0) // (given.block_size or 1)


BITMAP_MISTAKES: tuple[Mistake[Bitmap], ...] = (
    Mistake("bits_not_divided", lambda p: _wrong_bitmap(p, "bitmap_size", _blocks_of(p))),
    Mistake("four_bytes_a_block", lambda p: _wrong_bitmap(p, "bitmap_size", 4 * _blocks_of(p))),
    Mistake("bit_a_byte", lambda p: _wrong_bitmap(p, "bitmap_size", (p.volume or 0) // 8)),
    Mistake("other_counting", _other_counting),
    Mistake("word_and_bit_swapped", _swapped),
    Mistake(
        "word_not_less_one",
        lambda p: _wrong_bitmap(p, "block_of_bit", (p.word or 0) * p.word_bits + (p.bit or 0) - 1),
    ),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind("bitmap", "files", Bitmap, _solve_bitmap, _generate_bitmap, BITMAP_MISTAKES, "8.5"),
)
