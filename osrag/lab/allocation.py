"""What reading, inserting or removing a block costs by each way of allocating space to a file.

Course book, section 8.4. The costs of inserting and removing are those of the exercise in Silberschatz, Galvin and
Gagne, Operating System Concepts, on a file of 100 blocks (chapter on file-system implementation).
"""

from functools import partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, text_width
from osrag.lab.words import word
from osrag.types import Language

METHODS = ("contiguous", "linked", "fat", "indexed")
FILE_BLOCKS = 1_000_000


class FileAccess(Parameters):
    """Disk accesses of one operation by each method of allocation; the file's directory entry is in memory."""

    ask: Literal["linked", "contiguous", "fat", "indexed"] = "linked"
    operation: Literal["read_block", "insert_block", "remove_block"] = given("read_block")
    file_blocks: int = given(100, ge=1, le=FILE_BLOCKS)
    file_block: int = given(ge=0)
    index_is: Literal["in_memory", "on_disk"] = rule("in_memory")
    last_block_known: Literal["known", "not_known"] = rule("known")

    @field_validator("file_block")
    @classmethod
    def _inside(cls, value: int, info: ValidationInfo) -> int:
        blocks = info.data.get("file_blocks")
        most = (blocks or 0) - (info.data.get("operation") != "insert_block")
        if blocks is not None and value > most:
            raise fault("beyond_the_file", block=value, last=most)
        return value


def accesses(given: FileAccess) -> dict[str, tuple[str, int, int]]:
    """For each method: the key of its sentence, reads and writes."""
    n, k = given.file_blocks, given.file_block
    index = given.index_is == "on_disk"
    if given.operation == "read_block":
        return {
            "contiguous": ("contiguous_read", 1, 0),
            "linked": ("linked_read", k + 1, 0),
            "fat": ("fat_read", 1, 0),
            "indexed": ("indexed_read", 1 + index, 0),
        }
    end_known = given.last_block_known == "known"
    if given.operation == "insert_block":
        if k == 0:
            linked = ("linked_insert_first", 0, 1)
        elif k == n:
            linked = ("linked_append", 1 if end_known else n, 2)
        else:
            linked = ("linked_insert", k, 2)
        behind = n - k
        return {
            "contiguous": ("contiguous_insert", behind, behind + 1),
            "linked": linked,
            "fat": ("fat_insert", 0, 1),
            "indexed": ("indexed_insert", int(index), 1 + index),
        }
    behind = n - k - 1
    if k == 0:
        linked = ("linked_remove_first", 1, 0)
    elif k == n - 1:
        linked = ("linked_remove_last", k, 1) if end_known else ("linked_remove", k + 1, 1)
    else:
        linked = ("linked_remove", k + 1, 1)
    return {
        "contiguous": ("contiguous_remove", behind, behind),
        "linked": linked,
        "fat": ("fat_remove", 0, 0),
        "indexed": ("indexed_remove", int(index), int(index)),
    }


def _solve_access(given: FileAccess) -> Solution:
    n, k = given.file_blocks, given.file_block
    values = {
        "n": n,
        "k": k,
        "before": k - 1,
        "behind": n - k,
        "rest": n - k - 1,
        "on_disk": given.index_is == "on_disk",
    }
    steps, results = list[Step](), dict[str, Result]()
    for method, (key, reads, writes) in accesses(given).items():
        told = {**values, "reads": reads, "writes": writes, "sum": reads + writes}
        steps.append(Step(key, told, (method, reads, writes, reads + writes), "access_counts"))
        results[method] = Result(reads + writes, "count")
    columns = ("method", "reads", "writes", "accesses")
    return Solution(tuple(steps), results, columns, partial(_access_figure, given, tuple(steps)))


def _access_figure(given: FileAccess, steps: tuple[Step, ...], language: Language) -> Figure:
    """A bar for each method, as long as its accesses."""
    names = [word("choices", str(step.row[0]), language) for step in steps]
    totals = [int(str(step.row[3])) for step in steps]
    left, most, room = max(map(text_width, names)) + 20, max(*totals, 1), 220.0
    marks: list[Mark] = []
    for place, (name, step) in enumerate(zip(names, steps, strict=True)):
        y = 10 + place * (ROW + 8)
        reads, writes = int(str(step.row[1])), int(str(step.row[2]))
        marks.append(Label(8, y + 19, name))
        x = 8 + left
        for count, tone in ((reads, "a"), (writes, "b")):
            if count:
                length = max(2.0, room * count / most)
                marks.append(Box(x, y, length, ROW, "", "a" if tone == "a" else "b", place + 1))
                x += length
        marks.append(Label(x + 6, y + 19, f"{reads} + {writes} = {reads + writes}", step=place + 1))
    y = 10 + len(names) * (ROW + 8)
    for tone, key in (("a", "reads"), ("b", "writes")):
        at = 8.0 if tone == "a" else 30 + text_width(word("columns", "reads", language)) + 30
        marks.append(Box(at, y + 4, 14, 14, "", "a" if tone == "a" else "b"))
        marks.append(Label(at + 20, y + 16, word("columns", key, language)))
    told = "; ".join(f"{name} {total}" for name, total in zip(names, totals, strict=True))
    described = word("figures", "file_access", language, told=told)
    width = 8 + left + room + text_width(f"{most} + {most} = {most}") + 14
    return Figure(width, y + 28, tuple(marks), word("kinds", "file_access", language), described, len(steps))


def _generate_access(random: Random, level: Level) -> FileAccess:
    n = random.choice((20, 50, 80, 100))
    k = random.randrange(3, n - 3)
    if level == "easy":
        return FileAccess(file_blocks=n, file_block=k)
    operation: Literal["insert_block", "remove_block"] = "insert_block" if level == "medium" else "remove_block"
    ask: Literal["linked", "contiguous"] = random.choice(("linked", "contiguous"))
    return FileAccess(ask=ask, operation=operation, file_blocks=n, file_block=k)


def _wrong_access(given: FileAccess, value: int) -> Value | None:
    right = {method: reads + writes for method, (_, reads, writes) in accesses(given).items()}
    return value if value != right[given.ask] and value >= 0 else None


ACCESS_MISTAKES: tuple[Mistake[FileAccess], ...] = (
    Mistake("linked_as_direct", lambda p: _wrong_access(p, 1) if p.ask == "linked" else None),
    Mistake("asked_block_forgotten", lambda p: _wrong_access(p, p.file_block) if p.ask == "linked" else None),
    Mistake("reads_only", lambda p: _wrong_access(p, accesses(p)[p.ask][1])),
    Mistake("wrong_side", lambda p: _wrong_access(p, 2 * p.file_block + 1) if p.ask == "contiguous" else None),
    Mistake("whole_file", lambda p: _wrong_access(p, 2 * p.file_blocks)),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind("file_access", "files", FileAccess, _solve_access, _generate_access, ACCESS_MISTAKES, "8.4"),
)
