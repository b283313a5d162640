"""Disk reads to resolve a path and read the file. Course book, section 8.2."""

from functools import partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, text_width
from osrag.lab.words import word
from osrag.types import Language


class PathLookup(Parameters):
    """Disk reads to open a path and read data, with cold caches."""

    path: str = given("/home/amy/notes.txt", max_length=400)
    directory_blocks: int = given(1, ge=1, le=1000)
    data_blocks: int = given(1, ge=0, le=1_000_000)
    cached: str = given("", max_length=400)
    root_inode: Literal["on_disk", "in_memory"] = rule("on_disk")
    ask: Literal["path_reads"] = "path_reads"

    @field_validator("path")
    @classmethod
    def _absolute(cls, value: str) -> str:
        if not value.startswith("/") or not value.strip("/"):
            raise fault("not_absolute", seen=value[:40])
        if len(parts(value)) > 30:
            raise fault("path_too_deep", most=30)
        return value

    @field_validator("cached")
    @classmethod
    def _cached_is_on_the_way(cls, value: str, info: ValidationInfo) -> str:
        path = info.data.get("path")
        if value and path and parts(path)[: len(parts(value))] != parts(value):
            raise fault("cached_elsewhere", seen=value[:40], path=path)
        if value and path and len(parts(value)) >= len(parts(path)):
            raise fault("cached_is_all")
        return value


def parts(path: str) -> list[str]:
    """The names in a path."""
    return [part for part in path.split("/") if part]


def _solve_path(given: PathLookup) -> Solution:
    names = ["/", *parts(given.path)]
    known = len(parts(given.cached)) + 1 if given.cached else 0
    steps, reads = list[Step](), 0
    if known:
        steps.append(Step("path_cached", {"cached": given.cached}))
    for depth, name in enumerate(names):
        if depth < known:
            continue
        last = depth == len(names) - 1
        if depth == 0 and given.root_inode == "in_memory":
            steps.append(Step("path_root_known"))
        else:
            reads += 1
            told = {"name": name, "reads": reads, "before": names[depth - 1]}
            steps.append(
                Step("path_inode_root" if depth == 0 else "path_inode", told, (reads, name, "read_inode"), "path_turns")
            )
        blocks = given.data_blocks if last else given.directory_blocks
        if blocks:
            key = ("path_data" if last else "path_content") + ("s" if blocks > 1 else "")
            following = "" if last else names[depth + 1]
            reads += blocks
            told = {"name": name, "blocks": blocks, "reads": reads, "next": following}
            steps.append(Step(key, told, (reads, name, "read_data" if last else "read_content"), "path_turns"))
    steps.append(Step("path_sum", {"reads": reads}))
    results = {"path_reads": Result(reads, "count")}
    return Solution(
        tuple(steps),
        results,
        ("read_number", "name_in_path", "what_is_read"),
        partial(_path_figure, tuple(steps), given),
    )


def _path_figure(steps: tuple[Step, ...], given: PathLookup, language: Language) -> Figure:
    """A line for each name of the path: its inode, then its content, numbered in the order of reading."""
    read = [(number, step) for number, step in enumerate(steps, 1) if step.row]
    names = list(dict.fromkeys(str(step.row[1]) for _, step in read))
    left, wide = max(map(text_width, names)) + 20, 0.0
    labels = {}
    for _, step in read:
        what = word("choices", str(step.row[2]), language)
        labels[step.row] = f"{step.row[0]}. {what}"
        wide = max(wide, text_width(labels[step.row]) + 18)
    marks: list[Mark] = [Label(8, 27 + line * (ROW + 16), name) for line, name in enumerate(names)]
    before: tuple[float, float] | None = None
    for number, step in read:
        line, column = names.index(str(step.row[1])), int(step.row[2] != "read_inode")
        x, y = 8 + left + column * (wide + 34), 8 + line * (ROW + 16)
        if before is not None:
            bx, by = before
            if by == y:
                marks.append(Path(((bx + wide, y + ROW / 2), (x, y + ROW / 2)), arrow=True, step=number))
            else:
                half = by + ROW + 8
                turn = ((bx + wide / 2, by + ROW), (bx + wide / 2, half), (x + wide / 2, half), (x + wide / 2, y))
                marks.append(Path(turn, arrow=True, step=number))
        marks.append(Box(x, y, wide, ROW, labels[step.row], "b" if column else "a", number))
        before = (x, y)
    total = int(str(read[-1][1].row[0])) if read else 0
    description = word("figures", "path", language, path=given.path, reads=total)
    size = (8 + left + 2 * wide + 34 + 8, 8 + len(names) * (ROW + 16))
    return Figure(*size, tuple(marks), word("kinds", "path_lookup", language), description, len(steps))


def _generate_path(random: Random, level: Level) -> PathLookup:
    places = ["home", "usr", "var", "etc", "data"]
    people = ["amy", "lib", "log", "share", "work", "src"]
    files = ["notes.txt", "readme", "a.out", "report.pdf", "main.c"]
    depth = {"easy": 1, "medium": random.choice((2, 3)), "hard": 3}[level]
    middle = random.sample(people, depth - 1) if depth > 1 else []
    names = [random.choice(places), *middle, random.choice(files)]
    path = "/" + "/".join(names)
    if level == "easy":
        return PathLookup(path=path)
    if level == "medium":
        return PathLookup(
            path=path, data_blocks=random.choice((1, 2, 4)), root_inode=random.choice(("on_disk", "in_memory"))
        )
    if random.random() < 0.5:
        return PathLookup(
            path=path, cached="/" + "/".join(names[: random.choice((1, 2))]), data_blocks=random.choice((1, 3))
        )
    return PathLookup(path=path, directory_blocks=random.choice((2, 3)), data_blocks=2)


def _wrong_path(given: PathLookup, **other: Any) -> Value | None:
    right = _solve_path(given).results["path_reads"].value
    value = _solve_path(given.model_copy(update=other)).results["path_reads"].value
    return value if value != right else None


def _reads_less(given: PathLookup, keep: tuple[str, ...]) -> Value | None:
    """Only the reads of these sorts, each once for its blocks."""
    weights = {"read_inode": 1, "read_content": given.directory_blocks, "read_data": given.data_blocks}
    rows = [str(step.row[2]) for step in _solve_path(given).steps if step.row]
    value, right = sum(weights[row] for row in rows if row in keep), sum(weights[row] for row in rows)
    return value if value != right and value else None


PATH_MISTAKES: tuple[Mistake[PathLookup], ...] = (
    Mistake("inodes_forgotten", lambda p: _reads_less(p, ("read_content", "read_data"))),
    Mistake("contents_forgotten", lambda p: _reads_less(p, ("read_inode", "read_data"))),
    Mistake("data_forgotten", lambda p: _reads_less(p, ("read_inode", "read_content"))),
    Mistake(
        "root_taken_for_known",
        lambda p: _wrong_path(p, root_inode="in_memory") if p.root_inode == "on_disk" and not p.cached else None,
    ),
    Mistake("cache_ignored", lambda p: _wrong_path(p, cached="") if p.cached else None),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind("path_lookup", "files", PathLookup, _solve_path, _generate_path, PATH_MISTAKES, "8.2"),
)
