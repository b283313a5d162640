"""Memory: page replacement, address translation, access times, and allocation."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

# (page -> time it was loaded, page -> time of its last use, now) -> page to throw out
Victim = Callable[[dict[int, int], dict[int, int], int], int]


class Replacement(TypedDict):
    """A run of a page replacement algorithm over a reference string."""

    faults: int
    hits: int
    rows: list[tuple[int | None, ...]]  # frames after each reference; a page keeps its frame
    fault_flags: list[bool]
    evicted: list[int | None]  # page thrown out at each reference


class Fit(TypedDict):
    """Where each request went."""

    placed: list[int | None]  # index of the hole, None when nothing was large enough
    holes: list[int]  # what is left of each hole


class Buddy(TypedDict):
    """A buddy allocator after its operations."""

    blocks: dict[str, tuple[int, int]]  # name: (start, size) still held
    free: list[tuple[int, int]]  # (start, size), by address
    steps: list[list[tuple[int, int]]]  # the free list after each operation
    failed: list[str]


def fifo(refs: Sequence[int], frames: int) -> Replacement:
    """First in, first out.

    >>> [fifo([1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5], n)["faults"] for n in (3, 4)]
    [9, 10]
    """
    return _replace(refs, frames, lambda loaded, used, t: min(loaded, key=loaded.__getitem__))


def lru(refs: Sequence[int], frames: int) -> Replacement:
    """Least recently used.

    >>> lru([7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1], 3)["faults"]
    12
    """
    return _replace(refs, frames, lambda loaded, used, t: min(used, key=used.__getitem__))


def opt(refs: Sequence[int], frames: int) -> Replacement:
    """Belady's optimum; among pages never used again the one loaded first goes.

    >>> opt([7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1], 3)["faults"]
    9
    """

    def victim(loaded: dict[int, int], used: dict[int, int], t: int) -> int:
        rest = list(refs[t + 1 :])
        return max(loaded, key=lambda p: (rest.index(p) if p in rest else len(refs), -loaded[p]))

    return _replace(refs, frames, victim)


def clock(refs: Sequence[int], frames: int) -> Replacement:
    """Second chance on a ring. A page arrives with its bit set; the hand then stands behind it."""
    ring: list[int | None] = [None] * frames
    bits, hand = [0] * frames, 0
    rows: list[tuple[int | None, ...]] = []
    flags: list[bool] = []
    evicted: list[int | None] = []
    for page in refs:
        out: int | None = None
        hit = page in ring
        if hit:
            bits[ring.index(page)] = 1
        else:
            while bits[hand]:
                bits[hand] = 0
                hand = (hand + 1) % frames
            out, ring[hand], bits[hand] = ring[hand], page, 1
            hand = (hand + 1) % frames
        rows.append(tuple(ring))
        flags.append(not hit)
        evicted.append(out)
    return _result(rows, flags, evicted)


def working_set(refs: Sequence[int], time: int, window: int) -> set[int]:
    """Pages touched in the last `window` references up to index `time` (from 0), inclusive."""
    return set(refs[max(0, time - window + 1) : time + 1])


def split_address(address: int, page_size: int) -> tuple[int, int]:
    """(page number, offset).

    >>> split_address(8196, 4096)
    (2, 4)
    """
    return divmod(address, page_size)


def translate(address: int, page_size: int, table: Mapping[int, int]) -> int:
    """Physical address by a single-level page table; `KeyError` is the page fault."""
    page, offset = split_address(address, page_size)
    return table[page] * page_size + offset


def split_levels(address: int, offset_bits: int, level_bits: Sequence[int]) -> tuple[int, ...]:
    """Indices from the outermost level inwards, then the offset.

    >>> [hex(part) for part in split_levels(0x00403004, 12, (10, 10))]
    ['0x1', '0x3', '0x4']
    """
    parts = [address & ((1 << offset_bits) - 1)]
    address >>= offset_bits
    for bits in reversed(level_bits):
        parts.append(address & ((1 << bits) - 1))
        address >>= bits
    return tuple(reversed(parts))


def translate_two_level(
    address: int, outer: Mapping[int, Mapping[int, int]], *, offset_bits: int = 12, inner_bits: int = 10
) -> int:
    """Physical address by a two-level table; `KeyError` is the page fault."""
    first = address >> (offset_bits + inner_bits)
    _, second, offset = split_levels(address, offset_bits, (64, inner_bits))
    return (outer[first][second] << offset_bits) | offset


def translate_segment(segment: int, offset: int, table: Mapping[int, tuple[int, int]]) -> int:
    """Physical address by a segment table of (base, limit); `ValueError` is the trap."""
    base, limit = table[segment]
    if not 0 <= offset < limit:
        raise ValueError(f"offset {offset} is outside the segment's limit {limit}")
    return base + offset


def page_count(size: int, page_size: int) -> int:
    """Pages that hold `size` bytes."""
    return math.ceil(size / page_size)


def internal_fragment(size: int, page_size: int) -> int:
    """Bytes unused in the last page.

    >>> internal_fragment(72766, 2048)
    962
    """
    return -size % page_size


def page_table_bytes(address_bits: int, page_size: int, entry_bytes: int) -> int:
    """Size of a full single-level page table.

    >>> page_table_bytes(32, 4096, 4) == 4 * 2**20
    True
    """
    return (1 << address_bits) // page_size * entry_bytes


def levels_needed(address_bits: int, page_size: int, entry_bytes: int) -> int:
    """Levels when every table fits one page.

    >>> levels_needed(48, 4096, 8)
    4
    """
    offset_bits = page_size.bit_length() - 1
    per_level = (page_size // entry_bytes).bit_length() - 1
    return math.ceil((address_bits - offset_bits) / per_level)


def eat_tlb(hit: float, tlb: float, memory: float, levels: int = 1) -> float:
    """Effective access time; a miss walks `levels` tables in memory, the TLB time is always paid.

    >>> round(eat_tlb(0.8, 0, 10), 6)
    12.0
    """
    return hit * (tlb + memory) + (1 - hit) * (tlb + (levels + 1) * memory)


def eat_fault(rate: float, memory: float, service: float) -> float:
    """Effective access time with page faults, all times in one unit.

    >>> round(eat_fault(0.001, 200, 8_000_000), 1)
    8199.8
    """
    return (1 - rate) * memory + rate * service


def tlb_reach(entries: int, page_size: int) -> int:
    """Bytes that a full TLB covers."""
    return entries * page_size


def nested_walk(guest_levels: int, host_levels: int) -> int:
    """Most memory references of a two-dimensional page walk: (g+1)(h+1)-1.

    >>> nested_walk(4, 4)
    24
    """
    return (guest_levels + 1) * (host_levels + 1) - 1


def first_fit(holes: Sequence[int], requests: Sequence[int]) -> Fit:
    """The first hole that is large enough."""
    return _fit(holes, requests, "first")


def best_fit(holes: Sequence[int], requests: Sequence[int]) -> Fit:
    """The smallest hole that is large enough."""
    return _fit(holes, requests, "best")


def worst_fit(holes: Sequence[int], requests: Sequence[int]) -> Fit:
    """The largest hole."""
    return _fit(holes, requests, "worst")


def next_fit(holes: Sequence[int], requests: Sequence[int]) -> Fit:
    """First fit that goes on from the hole used last."""
    return _fit(holes, requests, "next")


def buddy_of(start: int, size: int) -> int:
    """Start of the block that this one may merge with.

    >>> buddy_of(256, 128), buddy_of(384, 128)
    (384, 256)
    """
    return start ^ size


def buddy(total: int, operations: Sequence[tuple[str, int]], minimum: int = 1) -> Buddy:
    """Run `(name, size)` allocations and `(name, 0)` releases over one block of `total` units.

    The smallest block that is large enough is split, at the lowest address; the lower half is used.

    >>> buddy(1024, [("A", 70), ("B", 35), ("C", 80)])["blocks"]
    {'A': (0, 128), 'B': (128, 64), 'C': (256, 128)}
    """
    free, held = {(0, total)}, dict[str, tuple[int, int]]()
    steps: list[list[tuple[int, int]]] = []
    failed: list[str] = []
    for name, size in operations:
        if size == 0:
            start, length = held.pop(name)
            while (buddy_of(start, length), length) in free:
                free.remove((buddy_of(start, length), length))
                start, length = min(start, buddy_of(start, length)), length * 2
            free.add((start, length))
        else:
            goal = max(minimum, 1 << (size - 1).bit_length())
            fitting = [block for block in free if block[1] >= goal]
            if fitting:
                start, length = min(fitting, key=lambda block: (block[1], block[0]))
                free.remove((start, length))
                while length > goal:
                    length //= 2
                    free.add((start + length, length))
                held[name] = (start, length)
            else:
                failed.append(name)
        steps.append(sorted(free))
    return Buddy(blocks=held, free=sorted(free), steps=steps, failed=failed)


def _fit(holes: Sequence[int], requests: Sequence[int], how: str) -> Fit:
    left = list(holes)
    placed: list[int | None] = []
    at = 0
    for size in requests:
        fitting = [i for i in range(len(left)) if left[i] >= size]
        if not fitting:
            placed.append(None)
            continue
        match how:
            case "best":
                at = min(fitting, key=lambda i: (left[i], i))
            case "worst":
                at = min(fitting, key=lambda i: (-left[i], i))
            case "next":
                at = next((i for i in fitting if i >= at), fitting[0])
            case _:
                at = fitting[0]
        left[at] -= size
        placed.append(at)
    return Fit(placed=placed, holes=left)


def _replace(refs: Sequence[int], frames: int, victim: Victim) -> Replacement:
    slots: list[int | None] = [None] * frames
    loaded, used = dict[int, int](), dict[int, int]()  # page: time
    rows: list[tuple[int | None, ...]] = []
    flags: list[bool] = []
    evicted: list[int | None] = []
    for t, page in enumerate(refs):
        out: int | None = None
        hit = page in loaded
        if not hit:
            if len(loaded) == frames:
                out = victim(loaded, used, t)
                del loaded[out], used[out]
            slots[slots.index(out)] = page
            loaded[page] = t
        used[page] = t
        rows.append(tuple(slots))
        flags.append(not hit)
        evicted.append(out)
    return _result(rows, flags, evicted)


def _result(rows: list[tuple[int | None, ...]], flags: list[bool], evicted: list[int | None]) -> Replacement:
    return Replacement(faults=sum(flags), hits=len(flags) - sum(flags), rows=rows, fault_flags=flags, evicted=evicted)
