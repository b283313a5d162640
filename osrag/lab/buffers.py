"""How long blocks take from a device through buffers of the kernel to a process. Course book, section 9.6.

A block is read into a buffer, moved to the user's area, and processed there. The device fills a buffer once its last
block was moved out; a move begins once the block is there and the process has done with the block before.
"""

from fractions import Fraction
from functools import partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import needed
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given
from osrag.lab.schedule import exact, plain
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Tone, text_width
from osrag.lab.words import word
from osrag.types import Language

MOST_BLOCKS = 10_000
TOLD, DRAWN = 12, 6  # blocks that have a step of their own, and that are drawn
SLOTS = {"single_buffer": 1, "double_buffer": 2}


class Buffered(Parameters):
    """Blocks that are read, moved and processed one after another."""

    buffers: Literal["no_buffer", "single_buffer", "double_buffer"] = given("single_buffer")
    ask: Literal["buffered_time", "block_time"] = "buffered_time"
    input_time: float = given(gt=0, le=1e9, unit="time")
    move_time: float = given(0.0, ge=0, le=1e9, unit="time")
    process_time: float = given(ge=0, le=1e9, unit="time")
    block_count: int | None = given(None, ge=1, le=MOST_BLOCKS, validate_default=True)

    @field_validator("block_count")
    @classmethod
    def _counted_for_a_total(cls, count: int | None, info: ValidationInfo) -> int | None:
        needed(count, info, "buffered_time")
        return count


Times = tuple[Fraction, Fraction, Fraction]  # of reading, moving and processing


def lengths(given: Buffered) -> Times:
    """How long each takes for a block."""
    return exact(given.input_time), exact(given.move_time), exact(given.process_time)


def ends(given: Buffered, count: int) -> list[Times]:
    """When each of `count` blocks was read, moved and processed."""
    reading, moving, processing = lengths(given)
    found: list[Times] = []
    for block in range(count):
        last_read, _, last_done = found[-1] if found else (Fraction(0),) * 3
        if given.buffers == "no_buffer":  # the device writes into the user's area
            read = last_done + reading
            found.append((read, read, read + processing))
            continue
        slots = SLOTS[given.buffers]
        free = found[block - slots][1] if block >= slots else last_read
        read = max(last_read, free) + reading
        moved = max(read, last_done) + moving
        found.append((read, moved, moved + processing))
    return found


def each(given: Buffered) -> Fraction:
    """The time of a block when all is under way."""
    read, move, process = lengths(given)
    return {
        "no_buffer": read + process,
        "single_buffer": max(read, process) + move,
        "double_buffer": max(read, move + process),
    }[given.buffers]


def solve(given: Buffered) -> Solution:
    """A step for each of the first blocks and the last, then the time of a block and the total."""
    count = given.block_count or 3
    times, shown = ends(given, count), min(count, TOLD)
    steps = list[Step]()
    for block in sorted({*range(shown), count - 1}):
        read, moved, done = times[block]
        values = {"block": block + 1, "read": plain(read), "moved": plain(moved), "done": plain(done)}
        row = (block + 1, *map(plain, (read, moved, done)))
        key = "buffer_block_direct" if given.buffers == "no_buffer" else "buffer_block"
        steps.append(Step(key, values, row, given.buffers))
    told: dict[str, Any] = {"read": given.input_time, "move": given.move_time, "process": given.process_time}
    told |= {"each": plain(each(given)), "count": count, "total": plain(times[-1][2])}
    steps.append(Step(f"buffer_each_{given.buffers}", told))
    results = {"block_time": Result(plain(each(given)))}
    if given.block_count:
        steps.append(Step("buffer_total", told))
        results["buffered_time"] = Result(plain(times[-1][2]))
    columns = ("block_number", "read_at", "moved_at", "processed_at")
    return Solution(tuple(steps), results, columns, partial(figure, given, times[:DRAWN], len(steps)))


def figure(given: Buffered, times: list[Times], steps: int, language: Language) -> Figure:
    """A row each for the device, the moves and the process, time from left to right."""
    names = [word("figures", key, language) for key in ("buffer_device", "buffer_moves", "buffer_process")]
    left = max(map(text_width, names)) + 22
    scale = 560 / float(times[-1][2])
    marks: list[Mark] = [Label(8, 30 + row * (ROW + 10), name) for row, name in enumerate(names)]
    for number, (read, moved, done) in enumerate(times, 1):
        spans = zip((read, moved, done), lengths(given), strict=True)
        tones: tuple[Tone, ...] = ("a", "c", "b")
        for row, ((end, length), tone) in enumerate(zip(spans, tones, strict=True)):
            if length and not (row == 1 and given.buffers == "no_buffer"):
                x, wide = left + float(end - length) * scale, float(length) * scale
                text = str(number) if wide > text_width(str(number)) + 4 else ""
                marks.append(Box(x, 10 + row * (ROW + 10), wide, ROW, text, tone, number))
        marks.append(
            Label(left + float(done) * scale, 10 + 3 * (ROW + 10) + 8, f"{plain(done):g}", "middle", step=number)
        )
    told = ", ".join(f"{plain(done):g}" for _, _, done in times)
    described = word("figures", "buffers", language, count=len(times), times=told)
    width = left + 560 + 30
    return Figure(width, 3 * (ROW + 10) + 34, tuple(marks), word("kinds", "buffers", language), described, steps)


def generate(random: Random, level: Level) -> Buffered:
    """Times of a block in tens and fives, so that all sums are round."""
    how: Literal["single_buffer", "double_buffer"] = "single_buffer" if level == "easy" else "double_buffer"
    if level == "hard":
        how = random.choice(("single_buffer", "double_buffer"))
    read, process = random.sample(range(40, 160, 10), 2)
    move = random.choice((5, 10, 20, 50)) if level == "hard" else random.choice((5, 10))
    ask: Literal["buffered_time", "block_time"] = "block_time" if level == "easy" else "buffered_time"
    return Buffered(
        buffers=how,
        ask=ask,
        input_time=read,
        move_time=move,
        process_time=process,
        block_count=random.choice((5, 10, 20)),
    )


def _wrong(given: Buffered, value: Fraction) -> Value | None:
    return plain(value) if plain(value) != solve(given).results[given.ask].value else None


def _instead(given: Buffered, **other: Any) -> Value | None:
    value = solve(given.model_copy(update=other)).results[given.ask].value
    return value if value != solve(given).results[given.ask].value else None


def _other_buffers(given: Buffered) -> Value | None:
    return _instead(given, buffers="single_buffer" if given.buffers == "double_buffer" else "double_buffer")


def _one_after_another(given: Buffered) -> Value | None:
    whole = sum(lengths(given), Fraction(0))
    return _wrong(given, whole * (given.block_count or 1) if given.ask == "buffered_time" else whole)


def _first_and_last_forgotten(given: Buffered) -> Value | None:
    return _wrong(given, (given.block_count or 1) * each(given)) if given.ask == "buffered_time" else None


MISTAKES: tuple[Mistake[Buffered], ...] = (
    Mistake("other_buffers", _other_buffers),
    Mistake("one_after_another", _one_after_another),
    Mistake("move_forgotten", lambda p: _instead(p, move_time=0.0)),
    Mistake("first_and_last_forgotten", _first_and_last_forgotten),
)

KINDS: tuple[Kind[Any], ...] = (Kind("buffers", "disk", Buffered, solve, generate, MISTAKES, "9.6"),)
