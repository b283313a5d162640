"""How well error logs are read: the function to blame named first, and among the three that a reply names."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel

from osrag.evaluate.figures import Row, share_of_one
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


def rows(reports: Iterable[LogReport], indexed: Callable[[str], bool]) -> Iterator[Row]:
    """A row for each report, in groups by whether its function is in the index; `indexed` tells that by a name."""
    for report in reports:
        log = read_log(report.text)
        names = [frame.name for frame in log.suspects] if log else []
        right = [same_function(name, report.function) for name in names]
        inside = any(indexed(name) for name in (report.function, f"sys_{report.function}"))
        first = right[:1] == [True]
        scores = {"first": first, "of_three": any(right), "unread": log is None}
        told = {"id": report.id, "function": report.function, "kind": log and log.kind.name, "named": names}
        groups = ("in_the_index" if inside else "elsewhere",)
        yield Row(groups, {name: share_of_one(one) for name, one in scores.items()}, {} if first else told)


def read_folder(folder: Path) -> list[LogReport]:
    """The logs of a folder of `.txt` and `.json` twins that name a function to blame."""
    told = [(path, json.loads(path.with_suffix(".json").read_text("utf-8"))) for path in sorted(folder.glob("*.txt"))]
    return [
        LogReport(id=path.stem, function=one["function"], text=path.read_text("utf-8", errors="replace"))
        for path, one in told
        if one.get("function")
    ]
