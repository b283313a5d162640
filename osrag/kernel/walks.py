"""Walk-throughs of kernel mechanisms: written beforehand, step by step, and held against the index.

A file (TOML) holds walks. `docs/kernel.md` shows the form. A step names its function and quotes the lines that its
statement speaks of; both are looked up, so that the line numbers are those of the indexed kernel, and a walk whose
function was renamed, moved or changed is found out by name.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, StringConstraints, ValidationError, field_validator, model_validator

from osrag.kernel.code import all_lines, without_comments
from osrag.kernel.store import KernelStore
from osrag.types import CodeChunk, Language

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
EdgeKind = Literal[
    "start", "call", "inline", "pointer", "wakeup", "timer", "work", "thread", "softirq", "interrupt", "rcu", "trap",
    "signal",
]  # fmt: skip


class Both(BaseModel, extra="forbid", frozen=True):
    """A text in both languages."""

    zh: Text
    en: Text

    def of(self, language: Language) -> str:
        """The text in one of them."""
        return self.zh if language == "zh" else self.en


class Questions(BaseModel, extra="forbid", frozen=True):
    """What a student asks, in words of his own; the walk is the answer to each."""

    zh: tuple[Text, ...] = Field(min_length=3)
    en: tuple[Text, ...] = Field(min_length=3)


class Edge(BaseModel, extra="forbid", frozen=True):
    """How a step is reached: by a call of the graph, from outside, or in a way that the call graph does not know."""

    kind: EdgeKind
    origin: str = Field("", alias="from")  # the function that leads here
    by: Both | None = None  # what enters from outside, for `start`; names of code alone are a string
    at: str = ""  # the line of `origin` that leads here, where it is no call
    through: str = ""  # the table of pointers, or the helper of a header
    entry: str = ""  # the line of `through` that names the function

    @field_validator("by", mode="before")
    @classmethod
    def _names(cls, by: object) -> object:
        """Names of code alone are the same in both languages."""
        return {"zh": by, "en": by} if isinstance(by, str) else by

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """Refuse an edge that leaves out what its kind needs."""
        needs = {"start": ("by",), "call": ("origin",), "pointer": ("origin", "at", "through", "entry")}
        wanted = needs.get(self.kind, ("origin", "at"))
        lacks = [name for name in wanted if not getattr(self, name)]
        if lacks:
            raise ValueError(f"an edge of kind {self.kind} says {', '.join(lacks).replace('origin', 'from')}")
        return self


class Step(BaseModel, extra="forbid", frozen=True):
    """One function, and what it does in this mechanism."""

    function: Text
    file: Text
    lines: tuple[Text, ...] = Field(min_length=1, max_length=5)  # that the statement speaks of; blanks do not count
    say: Both
    when: Both | None = None  # the condition under which the step is reached
    edge: Edge


class Walk(BaseModel, extra="forbid", frozen=True):
    """One mechanism, from what sets it off to its effect."""

    id: Text
    section: Text  # of the course book: "7.7.1" teaches the idea
    title: Both
    questions: Questions
    step: tuple[Step, ...] = Field(min_length=4, max_length=10)


@dataclass(frozen=True, slots=True)
class WalkFile:
    """The walks of a file, and a sentence about each that cannot be read."""

    walks: tuple[Walk, ...]
    slips: tuple[str, ...]


def read_walks(path: Path) -> WalkFile:
    """What can be read of a file; the rest is named with its place."""
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("walk", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return WalkFile((), (f"{path.name}: {error}",))
    walks, slips = [], []
    for number, row in enumerate(rows if isinstance(rows, list) else [], start=1):
        try:
            walks.append(Walk.model_validate(row))
        except ValidationError as error:
            first = error.errors()[0]
            name = row.get("id", number) if isinstance(row, dict) else number
            slips.append(f"{path.name}: {name}: {'.'.join(map(str, first['loc']))}: {first['msg'].lower()}")
    return WalkFile(tuple(walks), tuple(slips))


@dataclass(frozen=True, slots=True)
class BoundStep:
    """A step with its function in the index."""

    step: Step
    chunk: CodeChunk
    lines: tuple[int, ...]  # numbers in the file of the lines that the step quotes

    @property
    def name(self) -> str:
        """Of the function."""
        return self.step.function


@dataclass(frozen=True)
class BoundWalk:
    """A walk of which every name, line and edge was found in the index."""

    walk: Walk
    steps: tuple[BoundStep, ...]

    @cached_property
    def functions(self) -> dict[str, CodeChunk]:
        """The functions of the steps by name, in the order of the steps."""
        return {step.name: step.chunk for step in self.steps}


def bind(walk: Walk, store: KernelStore) -> tuple[BoundWalk | None, tuple[str, ...]]:
    """The walk with its functions and lines; None, and what does not hold, where the index has another kernel."""
    faults: list[str] = []
    steps: list[BoundStep] = []
    for number, step in enumerate(walk.step, start=1):
        chunk = _function(step, store)
        wrong = [_elsewhere(step, store)] if chunk is None else list(_faults(step, chunk, store))
        faults += (f"{walk.id}: step {number}, {step.function}: {what}" for what in wrong)
        if chunk is not None and not wrong:
            steps.append(BoundStep(step, chunk, places(chunk, step.lines)))
    return (None if faults else BoundWalk(walk, tuple(steps))), tuple(faults)


def _function(step: Step, store: KernelStore) -> CodeChunk | None:
    """The function of a step; of several variants in its file the one that has the lines."""
    rows = [row for row in store.functions_named(step.function) if store.file_name(row) == step.file]
    chunks = [store.chunk(row) for row in rows]
    return next((chunk for chunk in chunks if _has(chunk, step.lines)), chunks[0] if chunks else None)


def _elsewhere(step: Step, store: KernelStore) -> str:
    """Where the function of a step is instead."""
    files = sorted({store.file_name(row) for row in store.functions_named(step.function)})
    near = ", ".join(files or store.nearest_names(step.function)) or "nothing like it"
    return f"not in {step.file}; the index has {near}"


def _faults(step: Step, chunk: CodeChunk, store: KernelStore) -> Iterator[str]:
    """Sentences about what of a step the index does not bear out."""
    yield from (f"has no line {line!r}" for line in step.lines if not _has(chunk, [line]))
    edge = step.edge
    if edge.kind == "start":
        return
    origins = [store.chunk(row) for row in store.functions_named(edge.origin)]
    if not origins:
        yield f"is reached from {edge.origin!r}, which the index does not have"
    elif edge.kind == "call":
        if not any(step.function in origin.calls for origin in origins):
            yield f"{edge.origin} does not call it"
    elif not any(_has(origin, [edge.at]) for origin in origins):
        yield f"{edge.origin} has no line {edge.at!r}"
    if edge.entry and not any(_has(store.chunk(row), [edge.entry]) for row in store.named(edge.through)):
        yield f"{edge.through!r} has no line {edge.entry!r}"


def flat(text: str) -> str:
    """Code without blanks."""
    return "".join(text.split())


def _has(chunk: CodeChunk, lines: Sequence[str]) -> bool:
    """Whether a chunk has all these lines, wherever they are broken."""
    code = flat(chunk.text)
    return all(flat(line) in code for line in lines)


def places(chunk: CodeChunk, lines: Sequence[str]) -> tuple[int, ...]:
    """Numbers in the file of those `lines` that the chunk has; a line that occurs several times is sought onwards.

    Code counts before comments: a function's own comment may name the call.
    """
    found: dict[int, None] = {}
    last = 0
    for line in lines:
        spans = _spans(without_comments(chunk), flat(line)) or _spans(chunk, flat(line))
        if not spans:  # another variant of the function
            continue
        first = next((span for span in spans if span[0] > last), spans[0])
        found.update(dict.fromkeys(range(first[0], first[1] + 1)))
        last = first[1]
    return tuple(sorted(found))


def _spans(chunk: CodeChunk, wanted: str) -> list[tuple[int, int]]:
    """First and last line of every occurrence; those that are a whole line come first."""
    text, owners = "", []
    whole = []
    for line in all_lines(chunk):
        bare = flat(line.text)
        text += bare
        owners += [line.number] * len(bare)
        whole += [(line.number, line.number)] * (bare == wanted)
    parts = []
    at = text.find(wanted)
    while at >= 0:
        parts.append((owners[at], owners[at + len(wanted) - 1]))
        at = text.find(wanted, at + 1)
    return whole or parts
