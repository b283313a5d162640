"""The functions of an answer in the order of their calls, from the call graph and not from the model (K5)."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from osrag.answer.events import CallPath, PathStep
from osrag.types import ChunkKind, CodeChunk, Passage

DEPTH = 3  # calls between two functions of an answer that still count as a way from one to the other
FAN_OUT = 200  # functions looked at on the ways from one; the direct calls of a function are always looked at

Callees = Callable[[CodeChunk], Sequence[CodeChunk]]
Ways = Mapping[str, Mapping[str, tuple[str, ...]]]  # caller's id -> id of what it leads to -> names between them


def reading_path(passages: Sequence[Passage], callees: Callees) -> CallPath:
    """The functions among `passages` (best first) that calls join, each below one of its callers.

    `callees` gives the chunks that a chunk calls, in the order of the calls. Every edge between two of the functions
    is in `edges`, also where the list shows the second one below another caller.
    """
    numbers = {passage.chunk.id: passage.number for passage in passages}
    members = {chunk.id: chunk for passage in passages if isinstance(chunk := passage.chunk, CodeChunk)}
    members = {id_: chunk for id_, chunk in members.items() if chunk.kind is ChunkKind.FUNCTION}
    ways = {id_: _ways(chunk, members, callees) for id_, chunk in members.items()}
    parents = _parents(ways)
    steps: list[PathStep] = []

    def place(id_: str, depth: int, caller: str, via: tuple[str, ...]) -> None:
        one = members[id_]
        steps.append(PathStep(numbers[id_], one.name, one.source, one.where.first, depth, caller, via))
        direct_first = sorted(ways[id_].items(), key=lambda way: len(way[1]) > 0)
        for target, between in direct_first:
            if parents.get(target) == id_:
                place(target, depth + 1, one.name, between)

    for id_ in members:
        if id_ not in parents and ways[id_]:
            place(id_, 0, "", ())
    return CallPath(tuple(steps), _edges(members, ways))


def _ways(start: CodeChunk, members: Mapping[str, CodeChunk], callees: Callees) -> dict[str, tuple[str, ...]]:
    """Member -> names on the shortest way to it from `start`, other members not crossed; in the order of the calls."""
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


def _parents(ways: Ways) -> dict[str, str]:
    """Member -> the caller below which it is shown: the nearest, of equals the best hit; no circles.

    The worst hits choose first, so that a circle of calls is entered at its best hit.
    """
    parents: dict[str, str] = {}
    for target in reversed(list(ways)):
        callers = sorted((id_ for id_ in ways if target in ways[id_]), key=lambda id_: len(ways[id_][target]))
        parent = next((id_ for id_ in callers if target not in _line(id_, parents)), None)
        if parent is not None:
            parents[target] = parent
    return parents


def _line(id_: str, parents: Mapping[str, str]) -> list[str]:
    """A member and the callers above it."""
    line = [id_]
    while line[-1] in parents:
        line.append(parents[line[-1]])
    return line


def _edges(members: Mapping[str, CodeChunk], ways: Ways) -> tuple[tuple[str, str], ...]:
    """(caller, callee) by name, for a diagram; those on the ways through other functions included."""
    edges: dict[tuple[str, str], None] = {}
    for start, found in ways.items():
        for target, via in found.items():
            edges.update(dict.fromkeys(pairwise([members[start].name, *via, members[target].name])))
    return tuple(edges)
