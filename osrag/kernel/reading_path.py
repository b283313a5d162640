"""The functions of an answer in call order, from the call graph and not from the model (K5)."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from osrag.types import CodeChunk

MOST_STEPS = 12
DEPTH = 3  # calls between two functions of an answer that are still shown as a way
FAN_OUT = 200  # functions looked at on the way from one

Callees = Callable[[CodeChunk], Sequence[CodeChunk]]


@dataclass(frozen=True, slots=True)
class Step:
    """One function of the path."""

    chunk: CodeChunk
    depth: int  # indentation: one more than that of its first caller
    called_by: str  # the earlier function of the path that leads here; "" at a start
    via: tuple[str, ...]  # functions between them that are not part of the answer


@dataclass(frozen=True, slots=True)
class ReadingPath:
    steps: tuple[Step, ...]
    edges: tuple[tuple[str, str], ...]  # (caller, callee) by name, for a diagram; ways through others included


def reading_path(chunks: Sequence[CodeChunk], callees: Callees) -> ReadingPath:
    """Order `chunks` so that a caller is read before what it calls.

    `callees` gives the chunks that a chunk calls, in the order of the calls. Functions that
    nothing connects stay in their order. A circle of calls is entered at its best-ranked function.
    """
    members = {chunk.id: chunk for chunk in chunks[:MOST_STEPS] if chunk.name}
    ways = {id_: _ways(chunk, members, callees) for id_, chunk in members.items()}
    return ReadingPath(tuple(_walk(members, ways)), _edges(members, ways))


def _ways(start: CodeChunk, members: Mapping[str, CodeChunk], callees: Callees) -> dict[str, tuple[str, ...]]:
    """Member -> functions on the shortest way to it from `start`, other members not crossed; in call order."""
    found: dict[str, tuple[str, ...]] = {}
    seen = {start.id}
    queue: deque[tuple[CodeChunk, tuple[str, ...]]] = deque([(start, ())])
    while queue and len(seen) < FAN_OUT:
        chunk, via = queue.popleft()
        for callee in callees(chunk):
            if callee.id in seen:
                continue
            seen.add(callee.id)
            if callee.id in members:
                found[callee.id] = via
            elif len(via) + 1 < DEPTH:
                queue.append((callee, (*via, callee.name)))
    return found


def _walk(members: Mapping[str, CodeChunk], ways: Mapping[str, Mapping[str, tuple[str, ...]]]) -> list[Step]:
    """Depth first from the functions that no other member reaches."""
    reached = {target for start in ways for target in ways[start]}
    starts = [id_ for id_ in members if id_ not in reached and ways[id_]]
    circles = [id_ for id_ in members if id_ in reached and ways[id_]]
    alone = [id_ for id_ in members if id_ not in reached and not ways[id_]]
    steps: list[Step] = []
    placed: set[str] = set()

    def place(id_: str, depth: int, caller: str, via: tuple[str, ...]) -> None:
        if id_ in placed:
            return
        placed.add(id_)
        steps.append(Step(members[id_], depth, caller, via))
        for target, between in _near_first(ways[id_]):
            if not _better_parent(target, id_, ways, placed):
                place(target, depth + 1, members[id_].name, between)

    for id_ in [*starts, *circles, *alone, *members]:
        place(id_, 0, "", ())
    return steps


def _near_first(ways: Mapping[str, tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    """Direct calls in call order, then the longer ways."""
    return sorted(ways.items(), key=lambda item: len(item[1]) > 0)


def _better_parent(
    target: str, parent: str, ways: Mapping[str, Mapping[str, tuple[str, ...]]], placed: set[str]
) -> bool:
    """Whether a function still to come calls `target` directly while `parent` only leads to it."""
    if not ways[parent][target]:
        return False
    return any(
        id_ not in placed and target in found and not found[target] and id_ in ways[parent]
        for id_, found in ways.items()
    )


def _edges(
    members: Mapping[str, CodeChunk], ways: Mapping[str, Mapping[str, tuple[str, ...]]]
) -> tuple[tuple[str, str], ...]:
    edges: dict[tuple[str, str], None] = {}
    for start, found in ways.items():
        for target, via in found.items():
            names = [members[start].name, *via, members[target].name]
            edges.update(dict.fromkeys(pairwise(names)))
    return tuple(edges)
