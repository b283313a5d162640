"""`eval all`: every set of the report, one question after the other, going on where the last run stopped."""

import datetime
import hashlib
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from osrag import __version__
from osrag.errors import BadInput, OsragError
from osrag.evaluate.figures import Row, groups_of
from osrag.evaluate.quiz import sampled
from osrag.evaluate.report import Report, Set, as_markdown, parts_of, read_report
from osrag.evaluate.tasks import Given, Task, tasks
from osrag.settings import ROOT

TOLD_S = 60.0  # between two writings of a report while a long set runs
Tell = Callable[[str, int, int], None]  # the set, how many questions are done, of how many


@dataclass(frozen=True)
class Board:
    """One run. `journals` is where the rows are kept until the run is whole."""

    given: Given
    out: Path  # of the Markdown; the JSON lies beside it
    journals: Path
    quick: bool = False
    fresh: bool = False
    tell: Tell = lambda what, done, total: None

    def run(self, chosen: Collection[str] = ()) -> Report:
        """Measure the chosen parts, or all; the figures of the others are kept. Writes the report after each set."""
        known = tasks()
        if unknown := set(chosen) - {one.part for one in known}:
            parts = ", ".join(dict.fromkeys(one.part for one in known))
            raise BadInput(f"no part {', '.join(sorted(unknown))}", hint=f"the parts are {parts}")
        self.out.parent.mkdir(parents=True, exist_ok=True)
        held = {one.name: one for one in read_report(self.json).sets} if self.json.exists() else {}
        for task in known:
            held.setdefault(task.name, Set(part=task.part, name=task.name, role=task.role, state="open"))
        report = self._write(held)
        for task in known:
            if not chosen or task.part in chosen:
                for found in self._measured(task):
                    held[task.name] = found
                    report = self._write(held)
        return report

    @property
    def json(self) -> Path:
        """Where the figures lie."""
        return self.out.with_suffix(".json")

    def _write(self, held: dict[str, Set]) -> Report:
        order = list(dict.fromkeys(task.part for task in tasks()))
        names = sorted((task for task in tasks()), key=lambda task: order.index(task.part))
        report = Report(sets=tuple(held[task.name] for task in names))
        for path, text in ((self.json, report.model_dump_json(indent=1) + "\n"), (self.out, as_markdown(report))):
            half = path.with_name(f"{path.name}.half")
            half.write_text(text, encoding="utf-8")
            half.replace(path)
        return report

    def _measured(self, task: Task) -> Iterator[Set]:
        """The set as it grows, at last whole; or said to be absent."""
        found = Set(part=task.part, name=task.name, role=task.role, state="absent")
        try:
            if task.needs_chat and self.given.parts.chat is None:
                raise BadInput("needs a chat model, and this profile has none")
            every = list(task.items(self.given))
            asked = sampled(every, task.quick) if self.quick else every
            found = found.model_copy(update={"of": len(every), "date": today(), "version": self.version})
            found = found.model_copy(update={"machine": machine(), "models": self.models})
            last = time.monotonic()
            rows: list[Row] = []
            seconds = 0.0
            for row, took in self._rows(task, asked):
                rows.append(row)
                seconds += took
                self.tell(task.name, len(rows), len(asked))
                if time.monotonic() - last > TOLD_S:
                    last = time.monotonic()
                    yield self._figured(found, rows, len(asked), seconds)
        except OsragError as error:
            yield found.model_copy(update={"state": "absent", "why": f"{error.sentence()}"})
            return
        yield self._figured(found, rows, len(asked), seconds)

    def _figured(self, found: Set, rows: Sequence[Row], asked: int, seconds: float) -> Set:
        state = "partial" if len(rows) < asked else "sampled" if asked < found.of else "whole"
        return found.model_copy(
            update={
                "state": state,
                "questions": len(rows),
                "seconds": round(seconds, 1),
                "groups": parts_of(found.name, found.role, groups_of(rows)),
            }
        )

    def _rows(self, task: Task, asked: Sequence[Any]) -> Iterator[tuple[Row, float]]:
        """Each row and the seconds that it took: first those of the journal, then new ones, which are added to it."""
        path = self.journals / f"{task.name}{'.quick' if self.quick else ''}.jsonl"
        head = {"version": self.version, "index": self.index, "models": self.models, "questions": _hash(repr(asked))}
        done = [] if self.fresh or task.role == "machine" else _read_journal(path, head)
        yield from done
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if done else "w", encoding="utf-8") as journal:
            if not done:
                journal.write(json.dumps(head) + "\n")
            rest = asked[len(done) :]
            start = time.perf_counter()
            for row in task.rows(self.given, rest) if rest else ():
                seconds = round(time.perf_counter() - start, 3)
                line = {"groups": row.groups, "scores": row.scores, "note": row.note, "alone": row.alone}
                journal.write(json.dumps({**line, "seconds": seconds}, ensure_ascii=False, default=str) + "\n")
                journal.flush()
                yield row, seconds
                start = time.perf_counter()

    @cached_property
    def version(self) -> str:
        """Of osrag, with the commit where there is one."""
        commit = _git("describe", "--always", "--dirty", "--exclude=*")
        return f"{__version__}{f' ({commit})' if commit else ''}"

    @cached_property
    def index(self) -> str:
        """What the searched index was made of."""
        folder = self.given.parts.index_dir
        return _hash("".join(path.read_text("utf-8") for path in sorted(folder.rglob("manifest.json"))))

    @cached_property
    def models(self) -> str:
        """The models that run."""
        return ", ".join(name for name in self.given.parts.running().values() if name)


def _read_journal(path: Path, head: dict[str, str]) -> list[tuple[Row, float]]:
    """The rows of a journal of the same run; none where it is of another. A last line that was cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if not lines or not lines[0].endswith("\n") or json.loads(lines[0]) != head:
        return []
    whole = [line for line in lines if line.endswith("\n")]
    if len(whole) < len(lines):
        path.write_text("".join(whole), encoding="utf-8")
    return [_row_of(json.loads(line)) for line in whole[1:]]


def _row_of(line: dict[str, Any]) -> tuple[Row, float]:
    scores = {name: (float(reached), float(of)) for name, (reached, of) in line["scores"].items()}
    return Row(tuple(line["groups"]), scores, line["note"], line["alone"]), line["seconds"]


def machine() -> str:
    """Processor, cores, memory, and how busy it is now."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    name = platform.processor() or platform.machine()
    memory = ""
    if Path("/proc/cpuinfo").exists():
        known = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines()
                 if line.startswith("model name")]  # fmt: skip
        name = next(iter(known), name)
        total = int(Path("/proc/meminfo").read_text("utf-8").split()[1])
        memory = f", {total >> 20} GB"
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{name}, {cores} cores{memory}{load}"


def today() -> str:
    """The day, by universal time."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _git(*words: str) -> str:
    """What git says of the folder of the program; nothing where there is no git or no repository."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
