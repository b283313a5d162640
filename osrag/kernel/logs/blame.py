"""Whom a report blames. What is known of each kind of report stands in data/log_kinds.toml; here is the engine.

The kinds, the frames that never are to blame and the places where a culprit stands follow what the fuzzer syzkaller
knows about Linux reports (pkg/report/linux.go, Apache-2.0, github.com/google/syzkaller), in our own patterns.
"""

import functools
import itertools
import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator

from osrag.kernel.describe import DATA
from osrag.kernel.logs.lines import Frame, frames_in, source_name
from osrag.types import Language

_IN_FUNCTION = re.compile(r"[Ii]n function [`'‘](\w+)['’]")
_STALLED = re.compile(
    r"CPU#(\d+) stuck|LOCKUP on cpu (\d+)|stall on CPU (\d+)"
    r"|(?:^\s*|rcu:\s+|\{ )(\d+)-[.!?O]|^\s*(\d+): \(\d+ (?:ticks|GPs)"
)
_SECTION = re.compile(r"^\s*CPU: (\d+) |NMI backtrace for cpu (\d+)|Task dump for CPU (\d+)|on cpu +(\d+)")
_HELD = re.compile(r"^\s*(?:\d+|no|\d+ \w+) locks? held by (?P<task>.+?)/(?P<pid>\d+)(?:/\w+)?[:.]")
_LOCK = re.compile(r"^\s*#\d+:\s+(?:(?P<address>[0-9a-f]{8,16})\s+)?\((?P<lock>.+?)\)\{.*?,\s+at: ")
_OWNER = re.compile(r"blocked on an? (?P<lock>[\w-]+).* owned by task (?P<task>.+?):(?P<pid>\d+)")
_BLOCKS = re.compile(r"\w*(?:mutex_lock|slowlock|rwsem_down|down_(?:read|write))\w*")  # wait for a lock
_LISTS = re.compile(r"Showing all locks held|locks? held by ")
_ELSEWHERE = re.compile(r"NMI backtrace for cpu|Sending NMI|Showing all locks held")  # no longer about who waits
_TASK = re.compile(r"^\s*(?:INFO: task .*:(\d+) blocked|task:.* pid:\s*(\d+) )|^CPU: \d+ (?:UID: \d+ )?PID: (\d+) ")


_Line = Annotated[re.Pattern[str], BeforeValidator(lambda pattern: re.compile(pattern, re.M))]  # searched in a text


class Kind(BaseModel, extra="forbid"):
    """A row of data/log_kinds.toml: how an error is recognised, who is to blame, what it means, what to do."""

    name: str
    pattern: _Line
    zh: str
    en: str
    fix_zh: list[str]
    fix_en: list[str]
    dump_zh: list[str] = []  # what the machine or a crash dump shows beyond the log
    dump_en: list[str] = []
    weak: bool = False  # it only says that something went wrong; any other kind in the log is better
    toolchain: bool = False  # an error of the compiler or linker: the function that it names, or none
    inside: bool = False  # the line may also stand inside the report of another kind
    repeats: bool = False  # one report has several such lines
    path: list[_Line] = []  # lines to go past, in order, before the stack is read
    skip: re.Pattern[str] = re.compile(r"(?!)")  # functions that are not to blame for this kind
    choose: Literal["top", "loop", "wait"] = "top"  # the first frame, what runs too long, or what waits

    def meaning(self, language: Language) -> str:
        """What an error of this kind means."""
        return self.zh if language == "zh" else self.en

    def fixes(self, language: Language) -> list[str]:
        """What to do about it."""
        return self.fix_zh if language == "zh" else self.fix_en

    def dump(self, language: Language) -> list[str]:
        """What the machine or a crash dump shows beyond the log, with `{pid}` and `{cpu}` to be filled in."""
        return self.dump_zh if language == "zh" else self.dump_en


class _Names(BaseModel, extra="forbid"):
    """Functions with a part in every kind of report, as regular expressions over the whole name."""

    never: re.Pattern[str]  # never to blame: they report, lock, allocate, copy or enter the kernel
    outer: re.Pattern[str]  # dispatch work; what they call is what runs too long
    waits: re.Pattern[str]  # wait for whoever called them
    tick: re.Pattern[str]  # the timer interrupt that finds a stall
    interrupt: re.Pattern[str]  # its entry, below which is the code that it interrupted


@dataclass(frozen=True, slots=True)
class Holder:
    """The task that a waiting one waits for."""

    task: str  # "syz-executor (PID 38)"
    lock: str
    frame: Frame | None  # where it is, or took the lock


@functools.cache
def _table() -> tuple[dict[str, Kind], _Names]:
    rows = tomllib.loads((DATA / "log_kinds.toml").read_text(encoding="utf-8"))
    names = {key: "|".join(f"(?:{one})" for one in patterns) for key, patterns in rows["functions"].items()}
    return {row["name"]: Kind.model_validate(row) for row in rows["kind"]}, _Names.model_validate(names)


def kinds() -> dict[str, Kind]:
    """By name, in the order in which they are tried where one line fits several."""
    return _table()[0]


def names() -> _Names:
    """Functions with a part in every kind of report."""
    return _table()[1]


def blamed(kind: Kind, match: re.Match[str], lines: Sequence[str], modules: Collection[str] = ()) -> list[Frame]:
    """Suspects in a report, best first, each once; none of those that never are to blame.

    `match` is the error line, `lines` the report from there on, `modules` those from outside the kernel's source: their
    functions come before any of the kernel's own.
    """
    words = [word for key in ("fn", "fn2") if (word := match.groupdict().get(key))]
    if kind.toolchain:
        return [Frame(name) for name in words or _IN_FUNCTION.findall("\n".join(lines))[-1:]]
    named = [Frame(source_name(word)) for word in words]
    if kind.choose == "loop":
        lines = _own_processor(lines)
    frames = [*named, *_after(kind.path, lines)]
    usable = [frame for frame in frames if not _skipped(kind, frame)]
    stack = [frame for frame in usable if frame.reliable] or usable
    foreign = [frame for frame in stack if frame.module in modules]
    if foreign:
        stack = [*foreign, *stack]
    elif kind.choose == "loop":
        stack = _loop(stack)
    elif kind.choose == "wait":
        stack = [frame for frame in stack if not names().waits.fullmatch(frame.name)] or stack
    best: dict[str, Frame] = {}
    for frame in stack:
        if frame.name not in best or not best[frame.name].offset:
            best[frame.name] = frame
    first, others = list(best.values())[:1], list(best.values())[1:]
    return [*first, *sorted(others, key=lambda frame: bool(names().outer.fullmatch(frame.name)))]


def _skipped(kind: Kind, frame: Frame) -> bool:
    return bool(names().never.fullmatch(frame.name) or kind.skip.fullmatch(frame.name))


def _after(path: Sequence[re.Pattern[str]], lines: Sequence[str]) -> list[Frame]:
    """The frames beyond the lines of `path`, and on those lines; a line that is missing is left out of the path."""
    at, passed = 0, []
    for step in path:
        place = next((n for n in range(at, len(lines)) if step.search(lines[n])), None)
        if place is not None:
            passed += frames_in(lines[place : place + 1])
            at = place + 1
    return [*passed, *frames_in(lines[at:])]


def _own_processor(lines: Sequence[str]) -> list[str]:
    """The part about the processor that the report names; all lines if there is no such part."""
    named = next((next(filter(None, found.groups())) for line in lines if (found := _STALLED.search(line))), "")
    parts: dict[str, list[str]] = {}
    current = ""
    for line in lines:
        section = _SECTION.search(line)
        current = next(filter(None, section.groups())) if section else current
        parts.setdefault(current, []).append(line)
    return next((part for key in (named, "") if frames_in(part := parts.get(key, []))), list(lines))


def _loop(stack: Sequence[Frame]) -> list[Frame]:
    """What runs too long, then where it was seen.

    The top of the stack is chance: what keeps the processor is the function below the one that dispatches work.
    """
    ticks = [n for n, frame in enumerate(stack) if names().tick.fullmatch(frame.name)]
    if ticks:
        entries = [n for n in range(ticks[0], len(stack)) if names().interrupt.fullmatch(stack[n].name)]
        stack = stack[entries[0] :] if entries else stack[ticks[-1] + 1 :]
        stack = [frame for frame in stack if not names().interrupt.fullmatch(frame.name)]
    outer = next((n for n, frame in enumerate(stack) if names().outer.fullmatch(frame.name)), len(stack))
    at = max(outer - 1, 0)
    if outer < len(stack) and stack[outer].name.startswith("smp_call_function"):
        at = outer
    return [*stack[at : at + 1], *stack[:at], *stack[at + 1 :]]


def without_others(lines: Sequence[str]) -> list[str]:
    """The report of a hung task without the stacks of other processors and the list of all locks below it."""
    return list(itertools.takewhile(lambda line: not _ELSEWHERE.search(line), lines))


def holder(lines: Sequence[str]) -> Holder | None:
    """Who holds what the first hung task waits for, if the log tells: by its own words or by its list of locks."""
    stacks = _stacks(lines)
    told = next((found for line in lines if (found := _OWNER.search(line))), None)
    if told:
        return Holder(f"{told['task']} (PID {told['pid']})", told["lock"], _stands(stacks.get(told["pid"], [])))
    taken = list(_locks(lines))
    waiter = next(iter(stacks), "")
    wanted = next((row.lock for row in reversed(taken) if row.pid == waiter), None)
    others = [row for row in taken if row.pid != waiter and row.lock == wanted]
    # A task that waits for a lock is listed with it, too, as its last one. One that took it later took another lock
    # after it, or its stack waits for something else.
    sure = [row for row in others if _last(taken, row.pid) != row or _waits_elsewhere(stacks.get(row.pid, []))]
    if not sure and len(others) != 1:
        return None
    row = (sure or others)[0]
    at = _stands(stacks.get(row.pid, [])) or _last(taken, row.pid).at
    return Holder(f"{row.task} (PID {row.pid})", row.lock[1], at)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A lock in the list of a task."""

    task: str
    pid: str
    lock: tuple[str, str]  # address, name
    at: Frame | None  # where it was taken


def _locks(lines: Sequence[str]) -> Iterator[_Taken]:
    """The lists `2 locks held by NAME/PID:` of lockdep."""
    task = pid = ""
    for line in lines:
        if head := _HELD.match(line):
            task, pid = head["task"], head["pid"]
        elif (lock := _LOCK.match(line)) and pid:
            yield _Taken(task, pid, (lock["address"] or "", lock["lock"]), next(iter(frames_in([line])), None))


def _last(taken: Sequence[_Taken], pid: str) -> _Taken:
    return [row for row in taken if row.pid == pid][-1]


def _stacks(lines: Sequence[str]) -> dict[str, list[Frame]]:
    """PID -> frames of the tasks and processors whose stack is shown, in order."""
    stacks: dict[str, list[Frame]] = {}
    pid = ""
    for line in lines:
        if head := _TASK.search(line):
            pid = next(filter(None, head.groups()))
        elif _LISTS.search(line):
            pid = ""
        if pid:
            stacks.setdefault(pid, []).extend(frame for frame in frames_in([line]) if frame.reliable)
    return stacks


def _waits_elsewhere(stack: Sequence[Frame]) -> bool:
    return bool(stack) and not any(_BLOCKS.fullmatch(frame.name) for frame in stack)


def _stands(stack: Sequence[Frame]) -> Frame | None:
    """Where a task stands: its first function that does more than report, lock or wait."""
    aside = (names().never, names().waits)
    return next((frame for frame in stack if not any(one.fullmatch(frame.name) for one in aside)), None)
