"""The buddy system: blocks of powers of two that are split in halves and merged again.

Section 6.3 of the course book (Knuth, volume 1, 2.5). The smallest free block that is large enough is taken, at the
lowest address, and split down to the rounded size; the lower half is used. The buddy of a block is at the address of
the block exclusive-or its size.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.addresses import power_of_two
from osrag.lab.fields import Bytes, fault
from osrag.lab.fitting import DRAWN, OPERATIONS, RELEASE, Operations, in_order
from osrag.lab.kind import Cell, Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given
from osrag.lab.svg import ROW, TONES, Box, Figure, Label, Mark, Tone, text_width
from osrag.types import Language

Merging = Literal["buddies", "never", "once", "neighbours"]  # the last three are students' mistakes


class Halving(Parameters):
    """Memory, the smallest block, and what is asked for and released, in order."""

    memory_size: Bytes = given(1024, ge=1, le=1 << 40)
    smallest: Bytes = given(1, ge=1, le=1 << 40, validate_default=True)
    operations: Operations = given(min_length=1, max_length=OPERATIONS)
    ask: Literal["buddy_free", "buddy_held", "buddy_waste", "failed_requests", "largest_free"] = "buddy_free"

    @field_validator("memory_size", "smallest")
    @classmethod
    def _powers(cls, size: int, info: ValidationInfo) -> int:
        if info.field_name == "smallest" and size > info.data.get("memory_size", size):
            raise fault("buddy_smallest", seen=size, total=info.data["memory_size"])
        return power_of_two(size)

    @field_validator("operations")
    @classmethod
    def _in_order(cls, rows: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return in_order(rows)


Block = tuple[int, int]  # start and size


@dataclass(frozen=True, slots=True)
class Done:
    """An operation and the memory after it."""

    name: str
    size: int | None  # None: a release
    goal: int  # the rounded size
    block: Block | None  # given out, or after merging
    path: tuple[int, ...]  # sizes that were split, or merged into
    free: tuple[Block, ...]
    held: tuple[tuple[str, Block], ...]


@dataclass(slots=True)
class Buddies:
    """The free blocks and who holds the others."""

    free: set[Block]
    held: dict[str, Block] = field(default_factory=dict)

    def take(self, name: str, goal: int) -> tuple[Block | None, tuple[int, ...]]:
        """Split the smallest block that is large enough, at the lowest address."""
        fitting = [block for block in self.free if block[1] >= goal]
        if not fitting:
            return None, ()
        start, size = min(fitting, key=lambda block: (block[1], block[0]))
        self.free.remove((start, size))
        split = list[int]()
        while size > goal:
            split.append(size)
            size //= 2
            self.free.add((start + size, size))
        self.held[name] = (start, size)
        return (start, size), tuple(split)

    def release(self, name: str, merging: Merging = "buddies") -> tuple[Block, tuple[int, ...]]:
        """Give a block back and merge it with its buddy as long as that is free and whole."""
        start, size = self.held.pop(name)
        merged = list[int]()
        while (other := self._partner(start, size, merging)) is not None and not (merging == "once" and merged):
            self.free.remove((other, size))
            start, size = min(start, other), size * 2
            merged.append(size)
        self.free.add((start, size))
        return (start, size), tuple(merged)

    def _partner(self, start: int, size: int, merging: Merging) -> int | None:
        others = {"never": (), "neighbours": (start - size, start + size)}.get(merging, (start ^ size,))
        return next((other for other in others if (other, size) in self.free), None)


def run_buddy(given: Halving, merging: Merging = "buddies") -> list[Done]:
    """Run the operations. A release of a request that failed does nothing."""
    memory, run = Buddies({(0, given.memory_size)}), list[Done]()
    for name, text in given.operations:
        size = None if text == RELEASE else int(text)
        goal = 0 if size is None else max(given.smallest, 1 << (size - 1).bit_length())
        block: Block | None = None
        path: tuple[int, ...] = ()
        if size is not None:
            block, path = memory.take(name, goal)
        elif name in memory.held:
            block, path = memory.release(name, merging)
        run.append(Done(name, size, goal, block, path, tuple(sorted(memory.free)), tuple(memory.held.items())))
    return run


def solve_buddy(given: Halving) -> Solution:
    """A row for each operation: the block, and the free blocks afterwards as start+size."""
    run, steps = run_buddy(given), list[Step]()
    before = dict[str, Block]()
    for done in run:
        free = tuple(f"{start}+{size}" for start, size in done.free)
        values: dict[str, Any] = {"name": done.name, "size": done.size, "goal": done.goal, "path": done.path}
        start, length = done.block or (None, None)
        values |= {"start": start, "length": length, "free": free}
        if done.size is not None:
            key = "buddy_fails" if done.block is None else "buddy_split" if done.path else "buddy_fits"
        elif done.block is None:
            key = "buddy_nothing"
        else:
            own = before[done.name]
            values |= {"own": own[0], "buddy": own[0] ^ own[1], "own_size": own[1]}
            key = "buddy_merged" if done.path else "buddy_whole" if own[1] == given.memory_size else "buddy_alone"
        before = dict(done.held)
        row: tuple[Cell, ...] = (done.name, done.size, start, length, free)
        steps.append(Step(key, values, row, "buddy_take" if done.size is not None else "buddy_merge"))
    last = run[-1]
    results = {
        "buddy_free": Result(last.free),
        "buddy_held": Result(tuple((name, *block) for name, block in last.held)),
        "buddy_waste": Result(sum(done.goal - done.size for done in run if done.size is not None and done.block)),
        "failed_requests": Result(tuple(done.name for done in run if done.size is not None and done.block is None)),
        "largest_free": Result(max((size for _, size in last.free), default=0)),
    }
    columns = ("fit_name", "fit_size", "buddy_start", "buddy_size", "buddy_free")
    return Solution(tuple(steps), results, columns, partial(buddy_tree, given, run))


SAID: dict[str, dict[Language, str]] = {
    "title": {"zh": "伙伴系统，共 {total}", "en": "Buddy system of {total}"},
    "tree": {"zh": "分裂成的块", "en": "blocks by splitting"},
    "free": {"zh": "释放 {name}", "en": "free {name}"},
    "fails": {"zh": "{name} {size} ✗", "en": "{name} {size} ✗"},
    "asks": {"zh": "{name} {size}", "en": "{name} {size}"},
}
WIDTH = 480.0  # pixels of all the memory


def buddy_tree(given: Halving, run: list[Done], language: Language) -> Figure:
    """Above, every block that a split made, halves below their whole; below, the memory after each operation."""
    drawn = run[:DRAWN]
    names = list(dict.fromkeys(done.name for done in run))
    tone_of: dict[str, Tone] = {name: TONES[place % len(TONES)] for place, name in enumerate(names)}
    heads = []
    for done in drawn:
        key = "free" if done.size is None else "fails" if done.block is None else "asks"
        heads.append(SAID[key][language].format(name=done.name, size=done.size))
    left = max(*map(text_width, heads), text_width(SAID["tree"][language])) + 18
    born: dict[Block, int] = {(0, given.memory_size): 0}
    for step, done in enumerate(drawn, start=1):
        for block in (*done.free, *(block for _, block in done.held)):
            start, size = block
            while (start, size) not in born:
                born[start, size] = born[start ^ size, size] = step
                start, size = start & ~size, size * 2
    least = min(size for _, size in born)
    scale = max(WIDTH / given.memory_size, min(26 / least, 1600 / given.memory_size))
    marks: list[Mark] = [Label(left - 8, 29, SAID["tree"][language], "end", "muted")]
    depth = 0
    for (start, size), step in sorted(born.items()):
        level = (given.memory_size // size).bit_length() - 1
        depth = max(depth, level)
        wide, label = size * scale, str(size)
        shown = label if text_width(label) <= wide else ""
        marks.append(Box(left + start * scale, 10 + level * ROW, wide, ROW, shown, "plain", step))
    top = 10 + (depth + 1) * ROW + 14
    told = []
    for step, (head, done) in enumerate(zip(heads, drawn, strict=True), start=1):
        y = top + (step - 1) * (ROW + 8)
        failed = done.size is not None and done.block is None
        marks.append(Label(left - 8, y + 19, head, "end", "bad" if failed else "muted", step))
        for (start, size), name in [(block, "") for block in done.free] + [(block, name) for name, block in done.held]:
            label = name or str(size)
            shown = label if text_width(label) <= size * scale else ""
            tone: Tone = tone_of[name] if name else "muted"
            marks.append(Box(left + start * scale, y, size * scale, ROW, shown, tone, step))
        told.append(f"{head}: {', '.join(f'({start}, {size})' for start, size in done.free) or '–'}")
    height = top + len(drawn) * (ROW + 8) + 6
    title = SAID["title"][language].format(total=given.memory_size)
    return Figure(left + given.memory_size * scale + 10, height, tuple(marks), title, "; ".join(told), len(run))


# ---------------------------------------------------------------- exercises and mistakes


def generate_buddy(random: Random, level: Level) -> Halving:
    """Easy: requests alone; medium: a release that cannot merge or merges once; hard: a cascade of merges."""
    total = random.choice((256, 512, 1024))
    while True:
        count = 3 if level == "easy" else 4
        sizes = [random.randint(total // 32, total // 4) for _ in range(count)]
        operations = [(chr(ord("A") + number), str(size)) for number, size in enumerate(sizes)]
        releases = {"easy": 1, "medium": 2, "hard": 3}[level]
        operations += [(name, RELEASE) for name, _ in random.sample(operations, releases)]
        made = Halving(memory_size=total, operations=tuple(operations))
        run = run_buddy(made)
        merges = [len(done.path) for done in run if done.size is None]
        wanted = max(merges) >= {"easy": 1, "medium": 1, "hard": 2}[level] and (level == "easy" or min(merges) == 0)
        if wanted and all(done.block for done in run) and len({done.goal for done in run if done.size}) > 1:
            return made


def _merged(merging: Merging) -> Callable[[Any], Value | None]:
    return lambda given: run_buddy(given, merging)[-1].free if given.ask == "buddy_free" else None


def _upper_half(given: Halving) -> Value | None:
    """Gives out the upper half of a block that is split."""
    if given.ask != "buddy_free":
        return None
    mirrored = [(given.memory_size - start - size, size) for start, size in run_buddy(given)[-1].free]
    return tuple(sorted(mirrored))


BUDDY: Kind[Any] = Kind(
    "buddy",
    "allocation",
    Halving,
    solve_buddy,
    generate_buddy,
    (
        Mistake("never_merged", _merged("never")),
        Mistake("merged_once", _merged("once")),
        Mistake("neighbours_merged", _merged("neighbours")),
        Mistake("upper_half", _upper_half),
    ),
    "6.3.1",
)
KINDS = (BUDDY,)
