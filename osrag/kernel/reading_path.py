"""The functions of an answer in the order of their calls, from the call graph and not from the model (K5).

Calls that stand only where something failed are left out, and so are ways through functions that only log, count or
check. Where no call joins two functions, a pointer may; it is told apart.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

from osrag.answer.events import CallPath, PathStep
from osrag.kernel.code import all_lines
from osrag.kernel.graph import HELPER, Graph
from osrag.kernel.store import KernelStore
from osrag.types import ChunkKind, CodeChunk, Passage

DEPTH = 3  # calls between two functions of a walk-through that still count as a way from one to the other
NEAR = 2  # between two functions of another answer: every call more is a guess at what joins them
FAN_OUT = 200  # functions looked at on the ways from one; the direct calls of a function are always looked at
CALL = "call"
COMMON = 25  # callers from which on a function is a helper
LEAVES = 3  # of one function: what its lines call beside the functions of the reply


@dataclass(frozen=True, slots=True)
class Way:
    """How one function of an answer leads to another."""

    via: tuple[str, ...]  # names between the two
    kind: str = CALL


Ways = Mapping[int, Mapping[int, Way]]  # caller -> function that it leads to -> how


def reading_path(passages: Sequence[Passage], graph: Graph) -> CallPath:
    """The functions among `passages` (best first) that are joined, each below one that leads to it.

    Every edge between two of the functions is in `edges`, also if the list shows the second one below another caller.
    """
    store = graph.store
    members = _members(passages, store)
    ways = {row: _all_ways(row, members, graph, NEAR) for row in members}
    parents = _parents(ways)
    steps: list[PathStep] = []

    def place(row: int, depth: int, caller: str, way: Way) -> None:
        """Put a function on the path, then what it calls below it."""
        name, first = store.names[row], members[row].chunk.where.first
        number, file = members[row].number, store.file_name(row)
        steps.append(PathStep(number, name, file, first, depth, caller, way.via, way.kind))
        direct_first = sorted(ways[row].items(), key=lambda way: len(way[1].via) > 0)
        for target, onward in direct_first:
            if parents.get(target) == row:
                place(target, depth + 1, name, onward)

    for row in members:
        if row not in parents and ways[row]:
            place(row, 0, "", Way(()))
    edges: dict[tuple[str, str], str] = {}
    for start, found in ways.items():
        for target, way in found.items():
            for pair in pairwise((store.names[start], *way.via, store.names[target])):
                edges.setdefault(pair, way.kind)
    indirect = tuple((*pair, kind) for pair, kind in edges.items() if kind != CALL)
    return CallPath(tuple(steps), tuple(edges), indirect)


def _members(passages: Sequence[Passage], store: KernelStore) -> dict[int, Passage]:
    """The functions among passages, by their row in the store."""
    members: dict[int, Passage] = {}
    for passage in passages:
        chunk = passage.chunk
        if isinstance(chunk, CodeChunk) and chunk.kind is ChunkKind.FUNCTION:
            for row in store.definitions([chunk.name], chunk.source):
                members.setdefault(row, passage)
    return members


def with_others(path: CallPath, passages: Sequence[Passage], graph: Graph) -> CallPath:
    """A path with the functions among `passages` that one call or pointer joins with it, and every edge among them.

    One that the path leads to stands below what leads there; one that leads to the path stands behind it.
    """
    store = graph.store
    members = _members(passages, store)
    found = {(row, target): way for row in members for target, way in _all_ways(row, members, graph, 1).items()}
    kinds = {(store.names[row], store.names[target]): way.kind for (row, target), way in found.items()}
    steps = list(path.steps)
    for row, passage in members.items():
        name, on_path = store.names[row], [step.name for step in steps]
        above = next((step for step in steps if (step.name, name) in kinds), None)
        if name in on_path or not (above or any((name, other) in kinds for other in on_path)):
            continue
        kind = kinds[above.name, name] if above else CALL
        depth, caller = (above.depth + 1, above.name) if above else (0, "")
        at = steps.index(above) + 1 if above else len(steps)
        first = passage.chunk.where.first
        steps.insert(at, PathStep(passage.number, name, passage.chunk.source, first, depth, caller, (), kind))
    shown = {step.name for step in steps}
    new = {pair: kind for pair, kind in kinds.items() if pair not in path.edges and shown.issuperset(pair)}
    indirect = tuple((*pair, kind) for pair, kind in new.items() if kind != CALL)
    return CallPath(tuple(steps), (*path.edges, *new), (*path.indirect, *indirect))


def with_calls(
    path: CallPath,
    marked: Iterable[tuple[int, Sequence[int]]],
    passages: Sequence[Passage],
    graph: Graph,
    likely: AbstractSet[str],
) -> CallPath:
    """A path with what the lines that are shown of its functions call: `likely` functions that the reply does not show.

    `marked` are the numbers of these lines by the number of the passage. What many functions call, what logs or
    counts, and what is called where something failed leads no further.
    """
    store = graph.store
    shown = {number: {*lines} for number, lines in marked}
    known = {name for edge in path.edges for name in edge} | {step.name for step in path.steps}
    new: dict[tuple[str, str], None] = {}
    for row, passage in _members(passages, store).items():
        name, lines = store.names[row], shown.get(passage.number, set())
        code = " ".join(line.text for line in all_lines(store.chunk(row)) if line.number in lines)
        callees = graph.callees(row)
        cold = graph.failing(row, callees)
        called = [
            store.names[one]
            for one in callees
            if one not in cold and re.search(rf"\b{re.escape(store.names[one])}\s*\(", code)
        ]
        leads = [
            one
            for one in called
            if one in likely - known and not HELPER.match(one) and store.times_called(one) <= COMMON
        ]
        new |= dict.fromkeys((name, one) for one in sorted(leads, key=store.times_called)[:LEAVES])
    return replace(path, edges=(*path.edges, *new))


def between(start: int, target: int, store: KernelStore) -> tuple[str, ...] | None:
    """Names on the shortest way of calls from one function to another; None where there is none."""
    return _ways(start, {target}, store.callees, store, DEPTH).get(target)


def _all_ways(start: int, members: Collection[int], graph: Graph, depth: int) -> dict[int, Way]:
    """Member -> the way to it from `start`: by calls, else by a pointer."""

    def onward(row: int) -> list[int]:
        """What a function calls when nothing failed."""
        called = graph.callees(row)
        cold = graph.failing(row, called)
        return [
            one for one in called if one not in cold and (one in members or not HELPER.match(graph.store.names[one]))
        ]

    found = {target: Way(via) for target, via in _ways(start, members, onward, graph.store, depth).items()}
    for target, (kind, through) in graph.told(start).items():
        if target in members:  # a helper of a header is called; it is not indexed
            found.setdefault(target, Way((through,)) if kind == "inline" else Way((), kind))
    for target in graph.pointed_to(start):
        if target in members:
            found.setdefault(target, Way((), graph.kind(start, target)))
    return found


def _ways(
    start: int, members: Collection[int], onward: Callable[[int], Sequence[int]], store: KernelStore, depth: int
) -> dict[int, tuple[str, ...]]:
    """Member -> names on the shortest way to it from `start`, in the order of the calls; no way crosses a member."""
    found: dict[int, tuple[str, ...]] = {}
    seen = {start}
    queue: deque[tuple[int, tuple[str, ...]]] = deque([(start, ())])
    while queue and len(seen) < FAN_OUT:
        row, via = queue.popleft()
        for callee in onward(row):
            if callee in seen:
                continue
            seen.add(callee)
            if callee in members:
                found[callee] = via
            elif len(via) + 1 < depth:
                queue.append((callee, (*via, store.names[callee])))
    return found


def _parents(ways: Ways) -> dict[int, int]:
    """Member -> the caller below which it is shown: the nearest, of equals the best hit; no circles.

    The worst hits choose first, so that a circle of calls is entered at its best hit.
    """
    parents: dict[int, int] = {}
    for target in reversed(list(ways)):
        callers = sorted(
            (row for row in ways if target in ways[row]),
            key=lambda row: (ways[row][target].kind != CALL, len(ways[row][target].via)),
        )
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
