"""How well error logs are read: the function to blame named first, and among the three that a reply names."""

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel

from osrag.evaluate.measures import Report, share
from osrag.kernel.logs.read import read_log

# Titles of syzkaller leave out the prefix of a system call, and put related waits under one name.
_PREFIX = re.compile(r"^_*(?:compat_)?k?sys_")
_FAMILIES = {"smp_call_function": re.compile(r"smp_call_function"), "synchronize_rcu": re.compile(r"_*synchronize_")}


class LogReport(BaseModel):
    """A line of the file: a report, and the function that its title names."""

    id: str
    function: str
    text: str

    @property
    def held_out(self) -> bool:
        """A third of the reports, by a hash of the name: not to be read while the rules are made."""
        return int(hashlib.sha256(f"logs {self.id}".encode()).hexdigest(), 16) % 3 == 0


def same_function(name: str, title: str) -> bool:
    """Whether a name in the log is the function that a title of syzkaller means."""
    family = _FAMILIES.get(title)
    return bool(family.match(name)) if family else _PREFIX.sub("", name) == _PREFIX.sub("", title)


def evaluate(reports: Iterable[LogReport], indexed: Callable[[str], bool]) -> Report:
    """Shares named first and among three, for functions inside the index and outside; a row for each that is not first.

    `indexed` tells whether the kernel index has a function of that name.
    """
    ranks: dict[str, list[int]] = {}
    misses = []
    for report in reports:
        log = read_log(report.text)
        names = [frame.name for frame in log.suspects] if log else []
        right = [n for n, name in enumerate(names, start=1) if same_function(name, report.function)]
        inside = any(indexed(name) for name in (report.function, f"sys_{report.function}"))
        unread = -1 if log is None else 0
        for group in ("all", "in the index" if inside else "elsewhere"):
            ranks.setdefault(group, []).append(right[0] if right else unread)
        if right[:1] != [1]:
            misses.append({"id": report.id, "function": report.function, "kind": log and log.kind.name, "named": names})
    return {group: _figures(found) for group, found in ranks.items()}, misses


def _figures(ranks: list[int]) -> dict[str, Any]:
    return {
        "n": len(ranks),
        "first": share(rank == 1 for rank in ranks),
        "of three": share(rank > 0 for rank in ranks),
        "unread": sum(rank < 0 for rank in ranks),
    }
