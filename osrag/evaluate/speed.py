"""What a student waits for, and what it takes of the machine: evidence, first words, whole answers, verdicts, memory.

Only figures of a quiet machine mean anything; the report tells how busy it was.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from osrag.answer.events import Done, Event, Retrieved, Token
from osrag.answer.source import Question
from osrag.evaluate.figures import Row, Score, took
from osrag.quiz.exercise import Exercise
from osrag.quiz.judge import Judge

START = "What is a deadlock?"  # asked of a program that has just been started


def waits(ask: Callable[[Question], Iterator[Event]], questions: Iterable[Question]) -> Iterator[Row]:
    """A row for each answer, in groups by how it came about."""
    for question in questions:
        start = time.perf_counter()
        marks: dict[str, float] = {}
        how = "failed"
        for event in ask(question):
            match event:
                case Retrieved():
                    marks.setdefault("evidence_", time.perf_counter() - start)
                case Token():
                    marks.setdefault("first_", time.perf_counter() - start)
                case Done():
                    how = event.how
                case _:
                    pass
        marks[""] = time.perf_counter() - start
        scores: dict[str, Score] = {}
        for what, seconds in marks.items():
            scores |= took(seconds, what)
        yield Row((how,), scores, {"question": question.text, "how": how})


def verdicts(judge: Judge, items: Iterable[Exercise]) -> Iterator[Row]:
    """A row for each exercise, in groups by its type: seconds to the first verdict on an answer, and to the end."""
    for item in items:
        start, first = time.perf_counter(), 0.0
        for _ in judge.judge(item, answer_to(item)):
            first = first or time.perf_counter() - start
        yield Row((item.type,), {**took(first, "first_"), **took(time.perf_counter() - start)})


def answer_to(item: Exercise) -> str:
    """A wrong option, the key of a fill-in, or half of a reference."""
    if item.is_choice:
        return next((option.key for option in item.options if option.key not in item.answer), "F")
    return "; ".join(part.split("|")[0] for part in item.answer) or item.reference[: len(item.reference) // 2]


def start_row() -> Row:
    """A new process, from nothing to its first whole answer."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "osrag", "ask", START], check=True, capture_output=True)
    return Row((), took(time.perf_counter() - start, "start_"))


def memory_row() -> Row:
    """Memory of this process and all that it started, as it is now. No score where the system has no /proc."""
    mb = memory_mb()
    return Row((), {} if mb is None else {"memory_gb": (mb / 1024, 1.0)})


def memory_mb(pid: int | None = None) -> int | None:
    """Resident memory of a process, this one if none is named, and of all that it started, in MB.

    None where the system has no /proc.
    """
    if not Path("/proc/self/statm").exists():
        return None
    return sum(map(resident_mb, family(pid or os.getpid())))


def resident_mb(pid: int) -> int:
    """Resident memory of one process, in MB; 0 of one that has just ended."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    return 0


def family(pid: int) -> list[int]:
    """A process and all that it started, as /proc tells."""
    pids = [pid]
    for one in pids:  # grows while it is read
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                pids += map(int, (task / "children").read_text().split())
    return pids
