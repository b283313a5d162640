"""K7: recognise a pasted error log and read it: the error line, who is to blame, the names in it.

Everything here is a rule over the text of the log, without model or index. bench/ablation/logs.py measures the rules.
"""

import functools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from osrag.kernel.describe import DATA
from osrag.kernel.logs.facts import Environment, environment
from osrag.text import language_of
from osrag.types import HAN, Language

MOST_CHARS = 200_000  # of a text; a longer one is not read
LINE_CHARS = 600  # of a line; the kernel prints no longer ones, and the time to search one grows with its square
BLAMED = 8  # suspects that are kept
SUSPECTS = 3  # suspects that a reply names
TRACE_KINDS = {"soft_lockup", "rcu_stall"}  # reports of one processor among several
_STAMP = re.compile(r"\[\s*\d+\.\d{3,6}\](?:\s*\[\s*[TC]\d+\])?[ \t]?")
_QUOTE = re.compile(r"^(?:\s*>+)+\s?")
_SYSLOG = re.compile(r"^(?:<\d+>)?[A-Z][a-z]{2}\s+\d+\s\d\d:\d\d:\d\d(?:\.\d+)?\s+(?:\S+\s+)?(?:kernel:\s?)?")
_LEVEL = re.compile(r"^<\d+>")
_FRAME = re.compile(
    r"(?P<guess>\?\s+)?(?P<name>[A-Za-z_][\w.$]*)\+(?P<offset>0x[0-9a-f]+/0x[0-9a-f]+)"
    r"(?:\s+\[(?P<module>\w+)\])?(?:\s+(?P<file>[\w./+-]+\.[chS]):(?P<line>\d+))?"
)
_CONFIG = re.compile(r"\bCONFIG_[A-Z0-9_]+\b")
_FILE = re.compile(r"\b((?:[\w+-]+/)*[\w+-]+\.[chS]):(\d+)\b")
_IN_FUNCTION = re.compile(r"[Ii]n function [`'‘](\w+)['’]")
_CPU = re.compile(r"CPU#(\d+) stuck|^\s*rcu:\s+(\d+)-|^\s*(\d+)-[.!]")
_SECTION = re.compile(r"CPU: (\d+) PID:|NMI backtrace for cpu (\d+)")
_LOG_LIKE = re.compile(
    r"\[\s*\d+\.\d{3,6}\]|\+0x[0-9a-f]+/0x"
    r"|^\s*(?:R[A-Z0-9]{2}|RIP|RSP|CR2|Code|CPU|Modules|Hardware|Call Trace|Tainted)\b.*:"
    r"|^\s*(?:make(?:\[\d+\])?|cc1|ld|collect2|insmod|CC|LD|AS|MODPOST)\b|^\s*\d*\s*\|"
    r"|error:|warning:|note:|^\s*</?(?:TASK|IRQ|NMI)>|^In file included"
)
_ASKED = re.compile(rf"[{HAN}]|\?\s*$|^(?:please|why|what|how|help|i |my |can |could |is |the |this |when )", re.I)


@dataclass(frozen=True, slots=True)
class Frame:
    """A function that a log names."""

    name: str  # without the compiler's suffixes
    offset: str = ""  # "0x28/0x40"
    module: str = ""
    file: str = ""  # of a symbolised log
    line: int = 0
    reliable: bool = True  # False if the kernel put a `?` before it

    @property
    def label(self) -> str:
        """`name+0x28/0x40`, or the bare name."""
        return f"{self.name}+{self.offset}" if self.offset else self.name


class _Kind(BaseModel, extra="forbid"):
    """A row of data/log_kinds.toml: how an error is recognised, what it means and what to do about it."""

    name: str
    pattern: re.Pattern[str]
    zh: str
    en: str
    fix_zh: list[str]
    fix_en: list[str]
    weak: bool = False  # it only says that something went wrong; any other kind in the log is better


@dataclass(frozen=True, slots=True)
class ErrorLog:
    """What a log says."""

    kind: str
    line: str  # the error line, verbatim
    asked: str  # what the student wrote around the log
    blamed: tuple[Frame, ...]  # suspects, best first
    symbols: tuple[str, ...]  # all names of functions, in the order of the log
    files: tuple[tuple[str, int], ...]  # (path, line) that the log names
    configs: tuple[str, ...]  # CONFIG_ options
    environment: Environment
    lines: tuple[str, ...]  # without time stamps

    @property
    def suspects(self) -> tuple[Frame, ...]:
        """The functions most likely to blame; never one that only reports, locks or allocates."""
        return tuple(frame for frame in self.blamed if not _skipped().fullmatch(frame.name))[:SUSPECTS]

    def meaning(self, language: Language) -> str:
        """What an error of this kind means."""
        kind = _kinds()[self.kind]
        return kind.zh if language == "zh" else kind.en

    def fixes(self, language: Language) -> list[str]:
        """What to do about an error of this kind."""
        kind = _kinds()[self.kind]
        return kind.fix_zh if language == "zh" else kind.fix_en


@functools.cache
def _kinds() -> dict[str, _Kind]:
    """By name, in the order in which a line is tried."""
    table = tomllib.loads((DATA / "log_kinds.toml").read_text(encoding="utf-8"))
    return {row["name"]: _Kind.model_validate(row) for row in table["kind"]}


@functools.cache
def _skipped() -> re.Pattern[str]:
    """Names of functions that are never to blame."""
    rows = (DATA / "log_skip.txt").read_text(encoding="utf-8").splitlines()
    return re.compile("|".join(f"(?:{row})" for row in rows if row and not row.startswith("#")))


def read_log(text: str) -> ErrorLog | None:
    """The log in `text`; None when there is none, as in a question that only mentions an oops."""
    if len(text) > MOST_CHARS:
        return None
    raw = [line[:LINE_CHARS] for line in text.splitlines()]
    lines = [clean(line) for line in raw]
    found = _error_line(lines)
    frames = frames_in(lines)
    if found is None or (found[1].name == "trace" and not frames):
        return None
    place, kind, match = found
    whole = "\n".join(lines)
    return ErrorLog(
        kind=kind.name,
        line=lines[place].strip(),
        asked=_asked(raw, lines),
        blamed=tuple(_blamed(lines, place, kind.name, match)[:BLAMED]),
        symbols=tuple(dict.fromkeys(frame.name for frame in frames)),
        files=tuple(dict.fromkeys((path, int(line)) for path, line in _FILE.findall(whole))),
        configs=tuple(dict.fromkeys(_CONFIG.findall(whole))),
        environment=environment(lines),
        lines=tuple(lines),
    )


def language_asked(text: str, default: Language) -> Language:
    """The language of the words around a log; `default` for a bare log. The language of the text if it is no log."""
    log = read_log(text)
    words = text if log is None else log.asked
    return language_of(words) if words.strip() else default


def clean(line: str) -> str:
    """The line as the kernel printed it. Where two consoles are mixed in a line, what follows the last stamp."""
    line = _QUOTE.sub("", line.rstrip("\r\n"))
    stamps = list(_STAMP.finditer(line))
    if stamps:
        return line[stamps[-1].end() :].rstrip()
    return _LEVEL.sub("", _SYSLOG.sub("", line)).rstrip()


def frames_in(lines: Sequence[str]) -> list[Frame]:
    """The functions with an offset in cleaned lines, in order."""
    return [
        Frame(
            name=match["name"].split(".")[0],
            offset=match["offset"],
            module=match["module"] or "",
            file=match["file"] or "",
            line=int(match["line"] or 0),
            reliable=match["guess"] is None,
        )
        for line in lines
        if not line.lstrip().startswith("Code:")
        for match in _FRAME.finditer(line)
    ]


def _error_line(lines: Sequence[str]) -> tuple[int, _Kind, re.Match[str]] | None:
    """The first line that says what went wrong; of a weak kind when there is no other."""
    found = [(place, kind, match) for place, line in enumerate(lines) for kind, match in _matches(line)]
    return next((one for one in found if not one[1].weak), found[0] if found else None)


def _matches(line: str) -> Iterator[tuple[_Kind, re.Match[str]]]:
    return ((kind, match) for kind in _kinds().values() if (match := kind.pattern.search(line)))


def _asked(raw: Sequence[str], lines: Sequence[str]) -> str:
    """The words of the student: lines that do not look like a log and look like words."""
    kept = [
        line.strip()
        for whole, line in zip(raw, lines, strict=True)
        if not _LOG_LIKE.search(whole) and not any(_matches(line)) and _ASKED.search(line.strip())
    ]
    return " ".join(kept)


def _blamed(lines: Sequence[str], place: int, kind: str, match: re.Match[str]) -> list[Frame]:
    """Suspects, best first: the names of the error line, then the stack from the top, frames with a `?` last.

    Each name comes once, with its offset if the log has one; functions that are never to blame come last.
    """
    groups = match.groupdict()
    named = [Frame(name.split(".")[0]) for key in ("fn", "fn2") if (name := groups.get(key))]
    if kind == "compiler":
        named = [Frame(name) for line in lines[: place + 1] for name in _IN_FUNCTION.findall(line)][-1:]
    stack = sorted(_stack(lines, place, kind), key=lambda frame: not frame.reliable)
    best: dict[str, Frame] = {}
    for frame in (*named, *stack):
        known = best.get(frame.name)
        if known is None or (not known.offset and frame.offset):
            best[frame.name] = frame
    return sorted(best.values(), key=lambda frame: bool(_skipped().fullmatch(frame.name)))


def _stack(lines: Sequence[str], place: int, kind: str) -> list[Frame]:
    """Frames from the error line on. The processor of the report comes first, without its interrupts."""
    if kind not in TRACE_KINDS:
        return frames_in(lines[place:]) or frames_in(lines)
    named = next((next(filter(None, m.groups())) for line in lines if (m := _CPU.search(line))), "")
    current, in_irq = "", False
    own: list[str] = []
    rest: list[str] = []
    for line in lines[place:]:
        section = _SECTION.search(line)
        if section:
            current, in_irq = next(filter(None, section.groups())), False
        if line.strip() in ("<IRQ>", "</IRQ>"):
            in_irq = line.strip() == "<IRQ>"
        (own if current == named and not in_irq else rest).append(line)
    return frames_in([*own, *rest])
