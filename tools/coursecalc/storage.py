"""Disks, RAID, files and reliability."""

import math
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from operator import xor
from typing import TypedDict


class HeadWalk(TypedDict):
    """How the arm of a disk moves."""

    order: list[int]  # requests in the order they are served
    path: list[int]  # every cylinder where the arm turns or stops, from the start on
    distance: int


def disk_fcfs(start: int, queue: Sequence[int]) -> HeadWalk:
    """In the order of arrival.

    >>> disk_fcfs(53, [98, 183, 37, 122, 14, 124, 65, 67])["distance"]
    640
    """
    return _walk(start, queue, list(queue))


def sstf(start: int, queue: Sequence[int]) -> HeadWalk:
    """Shortest seek time first.

    >>> sstf(53, [98, 183, 37, 122, 14, 124, 65, 67])["distance"]
    236
    """
    todo, at, order = list(queue), start, list[int]()
    while todo:
        at = min(todo, key=lambda cylinder: abs(cylinder - at))
        todo.remove(at)
        order.append(at)
    return _walk(start, order, order)


def scan(start: int, queue: Sequence[int], *, last: int = 199, up: bool = True) -> HeadWalk:
    """The lift that goes to the end of the disk before it turns; it stops when nothing is left.

    >>> scan(53, [98, 183, 37, 122, 14, 124, 65, 67], up=False)["distance"]
    236
    """
    ahead, behind = _sides(start, queue, up)
    end = [last if up else 0] if behind else []
    return _walk(start, ahead + behind, ahead + end + behind)


def look(start: int, queue: Sequence[int], *, up: bool = True) -> HeadWalk:
    """The lift that turns at the last request.

    >>> look(53, [98, 183, 37, 122, 14, 124, 65, 67])["distance"]
    299
    """
    ahead, behind = _sides(start, queue, up)
    return _walk(start, ahead + behind, ahead + behind)


def cscan(start: int, queue: Sequence[int], *, last: int = 199, up: bool = True) -> HeadWalk:
    """To the end, back to the other end without serving (that way counts), and on in the same sense.

    >>> cscan(53, [98, 183, 37, 122, 14, 124, 65, 67])["distance"]
    382
    """
    ahead, behind = _sides(start, queue, up)
    ends = ([last, 0] if up else [0, last]) if behind else []
    return _walk(start, ahead + behind[::-1], ahead + ends + behind[::-1])


def clook(start: int, queue: Sequence[int], *, up: bool = True) -> HeadWalk:
    """C-SCAN between the outermost requests; the way back counts.

    >>> clook(53, [98, 183, 37, 122, 14, 124, 65, 67])["distance"]
    322
    """
    ahead, behind = _sides(start, queue, up)
    return _walk(start, ahead + behind[::-1], ahead + behind[::-1])


def rotation_ms(rpm: float) -> float:
    """Time of a full turn in milliseconds.

    >>> rotation_ms(7200) / 2 == 60_000 / 7200 / 2
    True
    """
    return 60_000 / rpm


def disk_access_ms(seek_ms: float, rpm: float, size_bytes: float, rate_bytes_per_s: float) -> float:
    """Seek, half a turn, transfer."""
    return seek_ms + rotation_ms(rpm) / 2 + size_bytes / rate_bytes_per_s * 1000


def lba(cylinder: int, head: int, sector: int, *, heads: int, sectors: int) -> int:
    """Logical block of a cylinder, head and sector (sectors count from 1)."""
    return (cylinder * heads + head) * sectors + sector - 1


def raid_capacity(level: int, disks: int, size: float) -> float:
    """Usable capacity of equal disks; level 1 is one mirror of all disks, 10 mirrors pairs.

    >>> [raid_capacity(level, 4, 2) for level in (0, 1, 5, 6, 10)]
    [8, 2, 6, 4, 4.0]
    """
    least = {0: 1, 1: 2, 4: 3, 5: 3, 6: 4, 10: 4}[level]
    if disks < least or (level == 10 and disks % 2):
        raise ValueError(f"RAID {level} cannot be built of {disks} disks")
    match level:
        case 0:
            return disks * size
        case 1:
            return size
        case 10:
            return disks / 2 * size
        case 6:
            return (disks - 2) * size
        case _:
            return (disks - 1) * size


def raid_survives(level: int, disks: int) -> int:
    """Disk failures that are survived whichever disks fail."""
    return {0: 0, 1: disks - 1, 4: 1, 5: 1, 6: 2, 10: 1}[level]


def raid_small_write(level: int) -> int:
    """Disk operations of one small write: RAID 4 and 5 read data and parity, then write both.

    >>> [raid_small_write(level) for level in (0, 1, 5, 6)]
    [1, 2, 4, 6]
    """
    return {0: 1, 1: 2, 4: 4, 5: 4, 6: 6, 10: 2}[level]


def parity(*blocks: int) -> int:
    """XOR of blocks; with the parity in place of a lost block it gives that block back.

    >>> parity(0b1010, 0b0110, parity(0b1010, 0b0110, 0b0001)) == 0b0001
    True
    """
    return reduce(xor, blocks, 0)


def file_max_bytes(
    block: int, pointer: int, *, direct: int = 12, single: int = 1, double: int = 1, triple: int = 1
) -> int:
    """Largest file that an inode's pointers can address.

    >>> file_max_bytes(1024, 4, direct=10, triple=0) == (10 + 256 + 256**2) * 1024
    True
    """
    per = block // pointer
    return (direct + single * per + double * per**2 + triple * per**3) * block


def inode_path(offset: int, block: int, pointer: int, *, direct: int = 12) -> tuple[str, tuple[int, ...]]:
    """Which pointers lead to the byte at `offset` of a file: the kind, and the index in each block.

    >>> inode_path(12 * 1024, 1024, 4)
    ('single', (0,))
    """
    per, index = block // pointer, offset // block
    if index < direct:
        return "direct", (index,)
    index -= direct
    if index < per:
        return "single", (index,)
    index -= per
    if index < per**2:
        return "double", divmod(index, per)
    index -= per**2
    if index < per**3:
        return "triple", (index // per**2, index // per % per, index % per)
    raise ValueError(f"offset {offset} is beyond the largest file")


def indirect_blocks(size: int, block: int, pointer: int, *, direct: int = 12) -> int:
    """Index blocks that a file of `size` bytes needs besides its data (up to double indirect)."""
    per, left = block // pointer, max(0, math.ceil(size / block) - direct)
    if left == 0:
        return 0
    left -= per
    if left <= 0:
        return 1
    if left > per**2:
        raise ValueError("the file needs a triple indirect block")
    return 2 + math.ceil(left / per)


def fat_bytes(volume: int, cluster: int, entry_bits: int) -> int:
    """Size of a file allocation table with one entry a cluster."""
    return math.ceil(volume // cluster * entry_bits / 8)


def bitmap_bytes(volume: int, block: int) -> int:
    """Size of a free-space bitmap with one bit a block."""
    return math.ceil(volume // block / 8)


def mode_string(mode: int) -> str:
    """Nine permission bits as `ls -l` writes them.

    >>> mode_string(0o754)
    'rwxr-xr--'
    """
    return "".join(letter if mode >> (8 - i) & 1 else "-" for i, letter in enumerate("rwxrwxrwx"))


def with_umask(mode: int, umask: int) -> int:
    """Permissions that a new file gets.

    >>> oct(with_umask(0o666, 0o022))
    '0o644'
    """
    return mode & ~umask


def availability(mttf: float, mttr: float) -> float:
    """Fraction of time in service: MTTF / (MTTF + MTTR)."""
    return mttf / (mttf + mttr)


def in_series(*parts: float) -> float:
    """Availability when all parts are needed."""
    return math.prod(parts)


def in_parallel(*parts: float) -> float:
    """Availability when one part is enough and failures are independent."""
    return 1 - math.prod(1 - part for part in parts)


def mttf_array(mttf: float, disks: int) -> float:
    """Mean time to the first failure among `disks`.

    >>> mttf_array(100_000, 100)
    1000.0
    """
    return mttf / disks


def mttdl_mirror(mttf: float, mttr: float) -> float:
    """Mean time to data loss of a mirrored pair: MTTF^2 / (2 MTTR).

    >>> mttdl_mirror(100_000, 10)
    500000000.0
    """
    return mttf**2 / (2 * mttr)


def mttdl_raid5(mttf: float, mttr: float, disks: int) -> float:
    """Mean time to data loss of RAID 5: MTTF^2 / (n (n-1) MTTR)."""
    return mttf**2 / (disks * (disks - 1) * mttr)


def downtime_minutes_a_year(available: float) -> float:
    """Minutes out of service in 365 days."""
    return (1 - available) * 365 * 24 * 60


def _sides(start: int, queue: Sequence[int], up: bool) -> tuple[list[int], list[int]]:
    """Requests ahead and behind, each in the order a turning arm meets them."""
    high = sorted(cylinder for cylinder in queue if cylinder >= start)
    low = sorted((cylinder for cylinder in queue if cylinder < start), reverse=True)
    if up:
        return high, low
    here = [cylinder for cylinder in high if cylinder == start]
    return here + low, high[len(here) :]


def _walk(start: int, order: Sequence[int], stops: Sequence[int]) -> HeadWalk:
    path = [start, *stops]
    distance = sum(abs(a - b) for a, b in pairwise(path))
    return HeadWalk(order=list(order), path=path, distance=distance)
