"""K7: recognise a pasted error log and read it: the error line, who is to blame, names, environment.

Everything here is rules over the text of the log: no model, no index.
"""

import functools
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from osrag.kernel.logs.environment import Environment, environment
from osrag.kernel.logs.lines import Frame, clean, frames_in
from osrag.text import HAN, language_of
from osrag.types import Language

DATA = Path(__file__).parents[2] / "data"
BLAMED = 8  # functions that are kept, the most suspicious first
LINE_CHARS = 600  # of a line; no line of the kernel is longer, and searching one takes time by its square
MOST_CHARS = 200_000  # of a text that is read at all
SUSPECTS = 3  # of them, those a reply names
_CONFIG = re.compile(r"\bCONFIG_[A-Z0-9_]+\b")
_FILE = re.compile(r"\b((?:[\w+-]+/)*[\w+-]+\.[chS]):(\d+)\b")
_IN_FUNCTION = re.compile(r"[Ii]n function [`'‘](\w+)['’]|In function ‘(\w+)’")
_HELD_AT = re.compile(r"\bat: ([A-Za-z_][\w.]*)\+0x")
_ALLOCATED = re.compile(r"^(?:Allocated|Freed) in ([A-Za-z_][\w.]*)\+0x")
_CPU = re.compile(r"CPU#(\d+) stuck|^\s*rcu:\s+(\d+)-|^\s*(\d+)-[.!]")
_SECTION = re.compile(r"CPU: (\d+) PID:|NMI backtrace for cpu (\d+)")
_LOG_LIKE = re.compile(
    r"\[\s*\d+\.\d{3,6}\]|\+0x[0-9a-f]+/0x"
    r"|^\s*(?:R[A-Z0-9]{2}|RIP|RSP|CR2|Code|CPU|Modules|Hardware|Call Trace|Tainted)\b.*:"
    r"|^\s*(?:make(?:\[\d+\])?|cc1|ld|collect2|insmod|CC|LD|AS|MODPOST)\b|^\s*\d*\s*\|"
    r"|error:|warning:|note:|^\s*</?(?:TASK|IRQ|NMI)>|^In file included"
)
_ASKED = re.compile(rf"[{HAN}]|\?\s*$|^(?:please|why|what|how|help|i |my |can |could |is |the |this |when )", re.I)
TRACE_KINDS = {"soft_lockup", "rcu_stall"}  # the report of one processor among several


class _Kind(BaseModel, extra="forbid"):
    name: str
    pattern: re.Pattern[str]
    zh: str
    en: str
    fix_zh: list[str]
    fix_en: list[str]
    weak: bool = False


@dataclass(frozen=True, slots=True)
class ErrorLog:
    """What a log says."""

    kind: str
    line: str  # the error line, verbatim
    asked: str  # what the student wrote around the log
    blamed: tuple[Frame, ...]  # suspects, best first
    symbols: tuple[str, ...]  # all names of functions, in the order of the log
    files: tuple[tuple[str, int], ...]  # (path, line) that the log names
    configs: tuple[str, ...]
    environment: Environment
    lines: tuple[str, ...]  # without time stamps

    @property
    def suspects(self) -> tuple[Frame, ...]:
        """The functions most likely to blame; never one that only reports, locks or allocates."""
        return tuple(frame for frame in self.blamed if not _skipped().fullmatch(frame.name))[:SUSPECTS]

    def meaning(self, language: Language) -> str:
        return getattr(_kind(self.kind), language)  # type: ignore[no-any-return]

    def fixes(self, language: Language) -> list[str]:
        return getattr(_kind(self.kind), f"fix_{language}")  # type: ignore[no-any-return]


@functools.cache
def _kinds() -> tuple[_Kind, ...]:
    table = tomllib.loads((DATA / "log_kinds.toml").read_text(encoding="utf-8"))
    return tuple(_Kind.model_validate(row) for row in table["kind"])


def _kind(name: str) -> _Kind:
    return next(kind for kind in _kinds() if kind.name == name)


@functools.cache
def _skipped() -> re.Pattern[str]:
    rows = (DATA / "log_skip.txt").read_text(encoding="utf-8").splitlines()
    return re.compile("|".join(f"(?:{row})" for row in rows if row and not row.startswith("#")))


def read_log(text: str) -> ErrorLog | None:
    """The log in `text`; None when there is none, as in a question that only mentions an oops."""
    if len(text) > MOST_CHARS:
        return None
    raw = [line[:LINE_CHARS] for line in text.splitlines()]
    lines = [clean(line) for line in raw]
    found = _error_line(lines)
    if found is None:
        return None
    place, kind, match = found
    if kind.name == "trace" and not any(frames_in_all(lines)):
        return None
    return ErrorLog(
        kind=kind.name,
        line=lines[place].strip(),
        asked=_asked(raw, lines),
        blamed=tuple(_blamed(lines, place, kind.name, match)[:BLAMED]),
        symbols=tuple(dict.fromkeys(frame.name for frame in frames_in_all(lines))),
        files=tuple(dict.fromkeys((path, int(line)) for path, line in _FILE.findall("\n".join(lines)))),
        configs=tuple(dict.fromkeys(_CONFIG.findall("\n".join(lines)))),
        environment=environment(lines),
        lines=tuple(lines),
    )


def frames_in_all(lines: Sequence[str]) -> list[Frame]:
    return [frame for line in lines for frame in frames_in(line)]


def language_asked(text: str, default: Language) -> Language:
    """The language of the words around a log; `default` for a bare log. Of the text itself where it is no log."""
    log = read_log(text)
    if log is None:
        return language_of(text) if text.strip() else default
    return language_of(log.asked) if log.asked else default


def _error_line(lines: Sequence[str]) -> tuple[int, _Kind, re.Match[str]] | None:
    """The first line that says what went wrong; a line that only says that something did when there is no other."""
    weak: tuple[int, _Kind, re.Match[str]] | None = None
    for place, line in enumerate(lines):
        for kind in _kinds():
            match = kind.pattern.search(line)
            if match is None:
                continue
            if not kind.weak:
                return place, kind, match
            weak = weak or (place, kind, match)
            break
    return weak


def _asked(raw: Sequence[str], lines: Sequence[str]) -> str:
    """The words of the student: lines that neither look like a log nor stand among such lines."""
    kept = []
    for whole, line in zip(raw, lines, strict=True):
        machine = _LOG_LIKE.search(whole) or any(kind.pattern.search(line) for kind in _kinds())
        if not machine and line.strip() and _ASKED.search(line.strip()):
            kept.append(line.strip())
    return " ".join(kept)


def _blamed(lines: Sequence[str], place: int, kind: str, match: re.Match[str]) -> list[Frame]:
    """Suspects, best first: what the error line names, the instruction pointer, then the stack from the top."""
    groups = match.groupdict()
    named = [Frame(name.split(".")[0]) for key in ("fn", "fn2") if (name := groups.get(key))]
    if kind == "compiler":
        inside = [next(filter(None, found)) for line in lines[: place + 1] for found in _IN_FUNCTION.findall(line)]
        named = [Frame(inside[-1])] if inside else []
    held = [Frame(name.split(".")[0]) for line in lines for name in _HELD_AT.findall(line)][:2]
    held = held if "lock" in kind else []
    owners = [Frame(owner.group(1).split(".")[0]) for line in lines if (owner := _ALLOCATED.match(line.strip()))]
    stack = _stack(lines, place, kind)
    pointer = [frame for frame in stack if frame.pointer][:1]
    firm = [frame for frame in stack if frame.reliable and not frame.pointer]
    loose = [frame for frame in stack if not frame.reliable]
    order = [*named, *held, *(owners if kind == "slub" else []), *pointer, *firm, *loose]
    return _unique(order)


def _unique(order: Sequence[Frame]) -> list[Frame]:
    """Each name once, with what the log tells of it; those that never are to blame behind the rest."""
    best: dict[str, Frame] = {}
    for frame in order:
        known = best.get(frame.name)
        if known is None or (not known.offset and frame.offset):
            best[frame.name] = frame
    names = list(best)
    guilty = [name for name in names if not _skipped().fullmatch(name)]
    return [best[name] for name in (*guilty, *(name for name in names if name not in guilty))]


def _stack(lines: Sequence[str], place: int, kind: str) -> list[Frame]:
    """Frames from the error line on; of the processor that the report is about, outside its interrupts."""
    if kind.startswith("lockdep"):  # its own stack first, then how the lock was used before
        own_at = next((at for at, line in enumerate(lines) if line.strip() == "stack backtrace:"), len(lines))
        return [*frames_in_all(lines[own_at:]), *frames_in_all(lines[:own_at])]
    if kind not in TRACE_KINDS:
        return frames_in_all(lines[place:]) or frames_in_all(lines)
    named = next((next(filter(None, m.groups())) for line in lines if (m := _CPU.search(line))), "")
    current, in_irq = "", False
    own: list[Frame] = []
    rest: list[Frame] = []
    for line in lines[place:]:
        section = _SECTION.search(line)
        if section:
            current, in_irq = next(filter(None, section.groups())), False
        if line.strip() == "<IRQ>":
            in_irq = True
        elif line.strip() == "</IRQ>":
            in_irq = False
        (own if current == named and not in_irq else rest).extend(frames_in(line))
    return [*own, *rest]
