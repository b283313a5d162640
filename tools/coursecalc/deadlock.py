"""Deadlock: the banker's algorithm, detection, and cycles in a wait-for graph.

Matrices are lists of rows, one row a process, one column a resource type; process `i` is `"P{i}"`.
"""

from collections.abc import Iterable, Sequence
from typing import TypedDict

Vector = Sequence[int]
Matrix = Sequence[Vector]


class Verdict(TypedDict):
    """What the banker says to a request."""

    granted: bool
    reason: str  # "safe", "unsafe", "exceeds need", "must wait"
    sequence: list[str]  # a safe sequence when granted, else empty
    available: list[int]  # after the request when granted, else as it was


def need(allocation: Matrix, maximum: Matrix) -> list[list[int]]:
    """What each process may still ask for.

    >>> need([[0, 1, 0]], [[7, 5, 3]])
    [[7, 4, 3]]
    """
    return [
        [most - held for held, most in zip(row, top, strict=True)] for row, top in zip(allocation, maximum, strict=True)
    ]


def safe_sequence(available: Vector, allocation: Matrix, maximum: Matrix) -> list[str]:
    """A safe sequence, taking the lowest-numbered process that can finish each time; empty if unsafe."""
    wants = need(allocation, maximum)
    order = _finish_order(available, allocation, wants)
    return [f"P{i}" for i in order] if len(order) == len(wants) else []


def is_safe(available: Vector, allocation: Matrix, maximum: Matrix) -> bool:
    """Whether some order lets every process finish."""
    return bool(safe_sequence(available, allocation, maximum))


def is_safe_order(order: Sequence[str], available: Vector, allocation: Matrix, maximum: Matrix) -> bool:
    """Whether this very order lets every process finish."""
    wants, work = need(allocation, maximum), list(available)
    for name in order:
        i = int(name[1:])
        if not _fits(wants[i], work):
            return False
        work = [a + b for a, b in zip(work, allocation[i], strict=True)]
    return sorted(order) == [f"P{i}" for i in range(len(wants))]


def banker_request(available: Vector, allocation: Matrix, maximum: Matrix, process: int, request: Vector) -> Verdict:
    """Decide one request by the banker's algorithm; the inputs are left alone."""
    refused = Verdict(granted=False, reason="", sequence=[], available=list(available))
    if not _fits(request, need(allocation, maximum)[process]):
        return {**refused, "reason": "exceeds need"}
    if not _fits(request, available):
        return {**refused, "reason": "must wait"}
    left = [a - r for a, r in zip(available, request, strict=True)]
    held = [list(row) for row in allocation]
    held[process] = [a + r for a, r in zip(held[process], request, strict=True)]
    order = safe_sequence(left, held, maximum)
    if not order:
        return {**refused, "reason": "unsafe"}
    return Verdict(granted=True, reason="safe", sequence=order, available=left)


def deadlocked(available: Vector, allocation: Matrix, request: Matrix) -> list[str]:
    """The processes that cannot finish, by reduction of the present requests.

    >>> deadlocked([0], [[1], [1]], [[1], [0]])
    []
    """
    done = _finish_order(available, allocation, request)
    return [f"P{i}" for i in range(len(request)) if i not in done and any(allocation[i])]


def wait_for_cycle(edges: Iterable[tuple[str, str]]) -> list[str]:
    """The nodes of one cycle in order, starting with its least name; empty when there is none.

    >>> wait_for_cycle([("T1", "T2"), ("T2", "T3"), ("T3", "T1")])
    ['T1', 'T2', 'T3']
    """
    after: dict[str, list[str]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)

    def walk(path: list[str]) -> list[str]:
        for step in sorted(after.get(path[-1], [])):
            if step == path[0]:
                return path
            if step not in path and (found := walk([*path, step])):
                return found
        return []

    for node in sorted(after):
        if cycle := walk([node]):
            return cycle
    return []


def deadlock_free_minimum(processes: int, each: int) -> int:
    """Fewest units of one type that can never deadlock `processes` wanting `each` units: n(m-1)+1.

    >>> deadlock_free_minimum(3, 2)
    4
    """
    return processes * (each - 1) + 1


def _fits(small: Vector, big: Vector) -> bool:
    return all(a <= b for a, b in zip(small, big, strict=True))


def _finish_order(available: Vector, allocation: Matrix, wants: Matrix) -> list[int]:
    work, order = list(available), list[int]()
    while True:
        ready = [i for i in range(len(wants)) if i not in order and _fits(wants[i], work)]
        if not ready:
            return order
        order.append(ready[0])
        work = [a + b for a, b in zip(work, allocation[ready[0]], strict=True)]
