"""What each rule of the log reader is worth: the function to blame named first, and among the first three.

The sets: the sample logs of this repository, public reports, and the development part of syzkaller's reports. The last
two are skipped where they are not at hand.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bench.ablation import OUTSIDE, ROOT, Area, Rule, Score
from osrag.evaluate.logs import LogReport, read_folder, same_function
from osrag.evaluate.measures import read_rows
from osrag.kernel.describe import DATA
from osrag.kernel.logs import blame
from osrag.kernel.logs.read import read_log

NEVER = re.compile(r"(?!)")


def _logs(folder: Path) -> list[tuple[str, str]]:
    """(log, function to blame) of a folder."""
    return [(row.text, row.function) for row in read_folder(folder)]


def _reports(path: Path) -> Iterator[tuple[str, str]]:
    rows = read_rows(path, LogReport, needs="id, function and text") if path.is_file() else []
    yield from ((row.text, row.function) for row in rows if not row.held_out)


SETS = {
    "samples": _logs(ROOT / "examples" / "logs"),
    "public": _logs(OUTSIDE / "oops"),
    "syzkaller": list(_reports(OUTSIDE / "oops" / "syzkaller_dev.jsonl")),
}


def measure() -> Mapping[str, Score]:
    """Function to blame first, and among three; logs that are read at all."""
    out: dict[str, Score] = {}
    for name, logs in SETS.items():
        if logs:
            found = [read_log(text) for text, _ in logs]
            names = [[frame.name for frame in log.suspects] if log else [] for log in found]
            right = [[same_function(n, want) for n in row] for row, (_, want) in zip(names, logs, strict=True)]
            out[f"{name} first"] = (sum(row[:1] == [True] for row in right), len(logs))
            out[f"{name} of three"] = (sum(map(any, right)), len(logs))
            out[f"{name} read"] = (sum(log is not None for log in found), len(logs))
    return out


def _rows(name: str) -> Iterator[Rule]:
    """Each row of one list of functions, and the whole list."""
    rows = tomllib.loads((DATA / "log_kinds.toml").read_text(encoding="utf-8"))["functions"][name]
    for row in rows if len(rows) > 1 else []:
        rest = re.compile("|".join(f"(?:{one})" for one in rows if one != row))
        yield _rule(f"{name}: `{row[:40]}`", names=partial(_same, blame.names().model_copy(update={name: rest})))
    yield _rule(f"{name}: the whole list", names=partial(_same, blame.names().model_copy(update={name: NEVER})))


def _same(value: Any) -> Any:
    return value


def _columns() -> Iterator[Rule]:
    """One column of the table of kinds, for all kinds."""
    for column, none in {"path": [], "skip": NEVER, "choose": "top"}.items():
        table = {name: kind.model_copy(update={column: none}) for name, kind in blame.kinds().items()}
        off = partial(_same, table)
        yield Rule(
            f"kinds: {column}", tuple((f"osrag.kernel.logs.{module}.kinds", off) for module in ("blame", "read"))
        )


def _rule(name: str, **off: Any) -> Rule:
    return Rule(name, tuple((f"osrag.kernel.logs.blame.{key}", value) for key, value in off.items()))


AREA = Area(
    "logs",
    (
        *_columns(),
        *(rule for name in ("never", "outer", "waits", "tick", "interrupt") for rule in _rows(name)),
        _rule("the function a compiler names", _IN_FUNCTION=NEVER),
        Rule("lines: quoted ones", (("osrag.kernel.logs.lines._QUOTE", NEVER),)),
        Rule("lines: of syslog", (("osrag.kernel.logs.lines._SYSLOG", NEVER),)),
        Rule("report: other callers left out", (("osrag.kernel.logs.read._same_caller", lambda own, other: True),)),
    ),
    measure,
)
