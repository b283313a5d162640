"""What each rule of the log reader is worth: the function to blame named first, and among the first three.

The sets: the sample logs of this repository, public reports, and two thirds of syzkaller's development reports (every
third line stays unread, for later). The last two are skipped where they are not at hand.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.ablation import Area, Rule, Score
from osrag.kernel.describe import DATA
from osrag.kernel.logs.read import read_log

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = ROOT.parent / "shared" / "eval" / "oops"
NEVER = re.compile(r"(?!)")


def _logs(folder: Path) -> Iterator[tuple[str, str]]:
    """(log, function to blame) of a folder of `.txt` and `.json` twins."""
    for path in sorted(folder.glob("*.txt")):
        told = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        if told.get("function"):
            yield path.read_text(encoding="utf-8", errors="replace"), told["function"]


def _reports(path: Path) -> Iterator[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, start=1):
        if number % 3:
            row = json.loads(line)
            if row["function"]:
                yield row["text"], row["function"]


SETS = {
    "samples": list(_logs(ROOT / "examples" / "logs")),
    "public": list(_logs(OUTSIDE)),
    "syzkaller": list(_reports(OUTSIDE / "syzkaller_dev.jsonl")),
}


def measure() -> Mapping[str, Score]:
    """Function to blame first, and among three; logs that are read at all."""
    out: dict[str, Score] = {}
    for name, logs in SETS.items():
        if logs:
            found = [read_log(text) for text, _ in logs]
            names = [[frame.name for frame in log.suspects] if log else [] for log in found]
            out[f"{name} first"] = (
                sum(row[:1] == [want] for row, (_, want) in zip(names, logs, strict=True)),
                len(logs),
            )
            out[f"{name} of three"] = (sum(want in row for row, (_, want) in zip(names, logs, strict=True)), len(logs))
            out[f"{name} read"] = (sum(log is not None for log in found), len(logs))
    return out


def _skip_rules() -> Iterator[Rule]:
    """Each line of the list of functions that are never to blame."""
    lines = (DATA / "log_skip.txt").read_text(encoding="utf-8").splitlines()
    rows = [row for row in lines if row and not row.startswith("#")]
    for row in rows:
        rest = re.compile("|".join(f"(?:{one})" for one in rows if one != row))
        yield _rule(f"never to blame: `{row[:40]}`", _skipped=lambda rest=rest: rest)
    yield _rule("never to blame: the whole list", _skipped=lambda: NEVER)


def _rule(name: str, **off: Any) -> Rule:
    return Rule(name, tuple((f"osrag.kernel.logs.read.{key}", value) for key, value in off.items()))


AREA = Area(
    "logs",
    (
        _rule("stack: own processor first, outside its interrupts", TRACE_KINDS=frozenset()),
        _rule("blamed: the function a compiler names", _IN_FUNCTION=NEVER),
        _rule("lines: quoted ones", _QUOTE=NEVER),
        _rule("lines: of syslog", _SYSLOG=NEVER),
        *_skip_rules(),
    ),
    measure,
)
