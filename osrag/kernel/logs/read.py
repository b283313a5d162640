"""K7: recognise a pasted error log and read it: the error line, who is to blame, names, environment.

Everything here is rules over the text of the log: no model, no index.
"""

import functools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from osrag.kernel.describe import DATA, read_tsv
from osrag.text import HAN, language_of
from osrag.types import Language
from osrag.wording import say

_STAMP = re.compile(r"\[\s*\d+\.\d{3,6}\](?:\s*\[\s*[TC]\d+\])?[ \t]?")
_QUOTE = re.compile(r"^(?:\s*>+)+\s?")
_SYSLOG = re.compile(r"^(?:<\d+>)?[A-Z][a-z]{2}\s+\d+\s\d\d:\d\d:\d\d(?:\.\d+)?\s+(?:\S+\s+)?(?:kernel:\s?)?")
_LEVEL = re.compile(r"^<\d+>")
_FRAME = re.compile(
    r"(?P<guess>\?\s+)?(?P<name>[A-Za-z_][\w.$]*)\+(?P<offset>0x[0-9a-f]+/0x[0-9a-f]+)"
    r"(?:\s+\[(?P<module>\w+)\])?(?:\s+(?P<file>[\w./+-]+\.[chS]):(?P<line>\d+))?"
)
_INLINE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s+(?P<file>[\w./+-]+\.[chS]):(?P<line>\d+)\s+\[inline\]")
_POINTER = re.compile(r"^\s*(?:RIP|PC|EIP|pc|NIP|epc)\b")


@dataclass(frozen=True, slots=True)
class Frame:
    """A function that a log names."""

    name: str  # without the compiler's suffixes
    offset: str = ""  # "0x28/0x40"
    module: str = ""
    file: str = ""  # where the log was symbolised
    line: int = 0
    reliable: bool = True
    pointer: bool = False  # the instruction pointer stood here

    @property
    def label(self) -> str:
        return f"{self.name}+{self.offset}" if self.offset else self.name


def clean(line: str) -> str:
    """The line as the kernel printed it. Where two consoles are mixed in a line, what follows the last stamp."""
    line = _QUOTE.sub("", line.rstrip("\r\n"))
    stamps = list(_STAMP.finditer(line))
    if stamps:
        return line[stamps[-1].end() :].rstrip()
    return _LEVEL.sub("", _SYSLOG.sub("", line)).rstrip()


def frames_in(line: str) -> Iterator[Frame]:
    """Functions with an offset, and those that were inlined."""
    if line.lstrip().startswith("Code:"):
        return
    found = _INLINE.search(line)
    if found:
        yield Frame(found["name"], file=found["file"], line=int(found["line"]))
        return
    for match in _FRAME.finditer(line):
        yield Frame(
            name=match["name"].split(".")[0],
            offset=match["offset"],
            module=match["module"] or "",
            file=match["file"] or "",
            line=int(match["line"] or 0),
            reliable=match["guess"] is None,
            pointer=bool(_POINTER.match(line)),
        )


_VERSION = (
    re.compile(r"(?:Not tainted|Tainted: [A-Z ]+?)\s+(\d+\.\d+[\w.+-]*)"),
    re.compile(r"^(\d+\.\d+[\w.+-]*) #\d+"),
    re.compile(r"Linux version (\d+\.\d+[\w.+-]*)"),
    re.compile(r"/linux-(\d+\.\d+[\w.]*)/"),
)
_TAINT = re.compile(r"\bTainted: ((?:[A-Z] *)+)")
_MODULES = re.compile(r"^Modules linked in:\s*(.*)")
_TASK = re.compile(r"CPU: (?P<cpu>\d+) PID: (?P<pid>\d+) (?:UID: \d+ )?Comm: (?P<comm>\S+)")
_HARDWARE = re.compile(r"^Hardware name: (.+)")
_ARCHITECTURES = (
    ("x86_64", re.compile(r"\bRIP: |\bRAX: |entry_SYSCALL_64|do_syscall_64|__x64_sys|arch/x86|x64_sys_call")),
    ("i386", re.compile(r"\bEIP: |\bEAX: ")),
    ("arm64", re.compile(r"\bpstate: |\bel0t_64|\bel0_svc|arch/arm64|\bx29: ")),
    ("arm", re.compile(r"\bPC is at |\bpsr: ")),
    ("powerpc", re.compile(r"\bNIP[: ]|\bGPR00")),
    ("riscv", re.compile(r"\bepc : .*ra :|arch/riscv")),
    ("parisc", re.compile(r"\bIAOQ|parisc")),
)


@dataclass(frozen=True, slots=True)
class Environment:
    kernel: str = ""
    architecture: str = ""
    modules: tuple[str, ...] = ()
    taint: str | None = None  # letters; "" for "Not tainted", None when the log does not say
    task: str = ""
    cpu: str = ""
    hardware: str = ""


def environment(lines: Sequence[str]) -> Environment:
    """What cleaned lines tell; fields that they do not tell stay empty."""
    text = "\n".join(lines)
    task = _TASK.search(text)
    taint = _TAINT.search(text)
    clean = "" if "Not tainted" in text else None
    modules = next((match.group(1) for line in lines if (match := _MODULES.match(line.strip()))), "")
    return Environment(
        kernel=next((m.group(1) for pattern in _VERSION for line in lines if (m := pattern.search(line.strip()))), ""),
        architecture=next((name for name, pattern in _ARCHITECTURES if pattern.search(text)), ""),
        modules=tuple(name for name in modules.split("[")[0].split() if re.match(r"\w", name)),
        taint="".join(dict.fromkeys(taint.group(1).replace(" ", ""))) if taint else clean,
        task=f"{task['comm']} (PID {task['pid']})" if task else "",
        cpu=task["cpu"] if task else "",
        hardware=next((match.group(1).strip() for line in lines if (match := _HARDWARE.match(line.strip()))), ""),
    )


@functools.cache
def _flags() -> dict[str, tuple[str, str]]:
    return {flag: (en, zh) for flag, en, zh in read_tsv(DATA / "taint_flags.tsv")}


def taint_words(letters: str, language: Language) -> str:
    """`O（装入过源码树之外的模块）`."""
    side = 1 if language == "zh" else 0
    left, right, comma = ("（", "）", "、") if language == "zh" else (" (", ")", ", ")
    # G only says that no proprietary module is there.
    told = [f"{letter}{left}{_flags()[letter][side]}{right}" for letter in letters if letter in _flags()]
    return comma.join(told)


def environment_rows(found: Environment, language: Language) -> list[str]:
    """One line of Markdown for each thing that the log tells."""
    values = {
        "log_kernel": found.kernel,
        "log_architecture": found.architecture,
        "log_task": found.task,
        "log_cpu": found.cpu,
        "log_modules": ", ".join(found.modules[:12]),
        "log_hardware": found.hardware,
    }
    rows = [f"- {say(key, language)}`{value}`" for key, value in values.items() if value]
    if found.taint is not None:
        words = taint_words(found.taint, language) or say("log_not_tainted", language)
        rows.append(f"- {say('log_taint', language)}{words}")
    return rows


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
