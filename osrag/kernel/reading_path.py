"""The functions of an answer in the order of their calls, from the call graph and not from the model (K5)."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from osrag.answer.events import CallPath, PathStep
from osrag.kernel.store import KernelStore
from osrag.types import ChunkKind, CodeChunk, Passage

DEPTH = 3  # calls between two functions of an answer that still count as a way from one to the other
FAN_OUT = 200  # functions looked at on the ways from one; the direct calls of a function are always looked at

Ways = Mapping[int, Mapping[int, tuple[str, ...]]]  # caller -> function that it leads to -> names between the two


def reading_path(passages: Sequence[Passage], store: KernelStore) -> CallPath:
    """The functions among `passages` (best first) that calls join, each below one of its callers.

    Every edge between two of the functions is in `edges`, also if the list shows the second one below another caller.
    """
    members: dict[int, Passage] = {}  # by the row in the store
    for passage in passages:
        chunk = passage.chunk
        if isinstance(chunk, CodeChunk) and chunk.kind is ChunkKind.FUNCTION:
            for row in store.definitions([chunk.name], chunk.source):
                members.setdefault(row, passage)
    ways = {row: _ways(row, members, store) for row in members}
    parents = _parents(ways)
    steps: list[PathStep] = []

    def place(row: int, depth: int, caller: str, via: tuple[str, ...]) -> None:
        """Put a function on the path, then what it calls below it."""
        name, first = store.names[row], members[row].chunk.where.first
        steps.append(PathStep(members[row].number, name, store.file_name(row), first, depth, caller, via))
        direct_first = sorted(ways[row].items(), key=lambda way: len(way[1]) > 0)
        for target, between in direct_first:
            if parents.get(target) == row:
                place(target, depth + 1, name, between)

    for row in members:
        if row not in parents and ways[row]:
            place(row, 0, "", ())
    edges = (
        edge
        for start, found in ways.items()
        for target, via in found.items()
        for edge in pairwise((store.names[start], *via, store.names[target]))
    )
    return CallPath(tuple(steps), tuple(dict.fromkeys(edges)))


def between(start: int, target: int, store: KernelStore) -> tuple[str, ...] | None:
    """Names on the shortest way of calls from one function to another; None where there is none."""
    return _ways(start, {target}, store).get(target)


def _ways(start: int, members: Collection[int], store: KernelStore) -> dict[int, tuple[str, ...]]:
    """Member -> names on the shortest way to it from `start`, in the order of the calls; no way crosses a member."""
    found: dict[int, tuple[str, ...]] = {}
    seen = {start}
    queue: deque[tuple[int, tuple[str, ...]]] = deque([(start, ())])
    while queue and len(seen) < FAN_OUT:
        row, via = queue.popleft()
        for callee in store.callees(row):
            if callee in seen:
                continue
            seen.add(callee)
            if callee in members:
                found[callee] = via
            elif len(via) + 1 < DEPTH:
                queue.append((callee, (*via, store.names[callee])))
    return found


def _parents(ways: Ways) -> dict[int, int]:
    """Member -> the caller below which it is shown: the nearest, of equals the best hit; no circles.

    The worst hits choose first, so that a circle of calls is entered at its best hit.
    """
    parents: dict[int, int] = {}
    for target in reversed(list(ways)):
        callers = sorted((row for row in ways if target in ways[row]), key=lambda row: len(ways[row][target]))
        parent = next((row for row in callers if target not in _line(row, parents)), None)
        if parent is not None:
            parents[target] = parent
    return parents


def _line(row: int, parents: Mapping[int, int]) -> list[int]:
    """A member and the callers above it."""
    line = [row]
    while line[-1] in parents:
        line.append(parents[line[-1]])
    return line
