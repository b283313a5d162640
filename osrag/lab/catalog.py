"""All kinds of exercises, by name."""

from typing import Any

from osrag.errors import BadInput
from osrag.lab import (
    addresses,
    allocation,
    availability,
    bitmap,
    buddy,
    buffers,
    cpu,
    deadlock,
    disk,
    disk_records,
    disk_size,
    disk_time,
    extents,
    fat,
    fitting,
    forks,
    inode,
    load,
    overlap,
    pagetables,
    paging,
    paths,
    raid,
    realtime,
    semaphores,
    waitgraph,
)
from osrag.lab.kind import Kind

TOPICS: tuple[tuple[Kind[Any], ...], ...] = (
    cpu.KINDS,
    load.KINDS,
    overlap.KINDS,
    realtime.KINDS,
    disk.KINDS,
    disk_time.KINDS,
    disk_records.KINDS,
    disk_size.KINDS,
    buffers.KINDS,
    deadlock.KINDS,
    waitgraph.KINDS,
    paging.KINDS,
    inode.KINDS,
    fat.KINDS,
    extents.KINDS,
    allocation.KINDS,
    bitmap.KINDS,
    paths.KINDS,
    raid.KINDS,
    addresses.KINDS,
    forks.KINDS,
    pagetables.KINDS,
    semaphores.KINDS,
    availability.KINDS,
    fitting.KINDS,
    buddy.KINDS,
)
KINDS: dict[str, Kind[Any]] = {kind.name: kind for topic in TOPICS for kind in topic}


def kind_named(name: str) -> Kind[Any]:
    """Raises BadInput with the names that there are."""
    if name not in KINDS:
        raise BadInput(f"the lab has no exercise {name[:80]!r}", hint=f"it has {', '.join(KINDS)}")
    return KINDS[name]
