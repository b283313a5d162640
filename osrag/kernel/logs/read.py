"""K7: recognise a pasted error log and read its first report: the error line, who is to blame, the names in it.

Everything here is a rule over the text of the log, without model or index. `python -m osrag eval logs` measures the
whole, bench/ablation/logs.py each rule.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from osrag.kernel.logs.blame import Holder, Kind, blamed, holder, kinds, names, without_others
from osrag.kernel.logs.facts import Environment, environment
from osrag.kernel.logs.lines import Frame, Line, apart, frames_in, read_lines
from osrag.text import language_of
from osrag.types import HAN, Language

MOST_CHARS = 4_000_000  # of a text; a longer one is not read
BLAMED = 8  # suspects that are kept
SUSPECTS = 3  # suspects that a reply names
_ADDRESS = re.compile(
    r"^\s*(?:\[<[0-9a-f]{8,16}>\]|\? 0x[0-9a-f]{8,16}|0x[0-9a-f]{8,16})\s*$", re.M
)  # a frame without its name
_CONFIG = re.compile(r"\bCONFIG_[A-Z0-9_]+\b")
_FILE = re.compile(r"(?:^\s*|(?: at|UBSAN: .* in) )((?:[\w+-]+/)*[\w+-]+\.[chS]):(\d+)\b")
_LOG_LIKE = re.compile(
    r"\[\s*\d+\.\d{3,6}\]|\+0x[0-9a-f]+/0x"
    r"|^\s*(?:R[A-Z0-9]{2}|RIP|RSP|CR2|Code|CPU|Modules|Hardware|Call Trace|Tainted)\b.*:"
    r"|^\s*(?:make(?:\[\d+\])?|cc1|ld|collect2|insmod|CC|LD|AS|MODPOST)\b|^\s*\d*\s*\|"
    r"|error:|warning:|note:|^\s*</?(?:TASK|IRQ|NMI)>|^In file included"
)
_ASKED = re.compile(rf"[{HAN}]|\?\s*$|^(?:please|why|what|how|help|i |my |can |could |is |the |this |when )", re.I)
# A question how the kernel comes to an error line, which it quotes: 'when does it print "blocked for more than …"?'
_HOW = re.compile(r"\b(?:how|when|where)\b|怎样|如何|什么时候|何时|哪里", re.I)
# Or what an error line means. One from a log has numbers: of a task, a processor, an address.
_MEANS = re.compile(r"^\D*(?:\bmeans?\b|什么意思|什么是|含义)\D*$", re.I)


@dataclass(frozen=True, slots=True)
class ErrorLog:
    """What the first report of a log says."""

    kind: Kind
    line: str  # the error line, verbatim
    asked: str  # what the student wrote around the log
    blamed: tuple[Frame, ...]  # suspects, best first
    holder: Holder | None  # of what a hung task waits for
    frames: tuple[Frame, ...]  # all functions of the report, in its order
    files: tuple[tuple[str, int], ...]  # (path, line) that the error line or the start of a line names
    configs: tuple[str, ...]  # CONFIG_ options
    environment: Environment
    lines: tuple[str, ...]  # of the report, without time stamps
    later: str  # the error line of the next report, or nothing
    gaps: tuple[str, ...]  # what is missing or doubtful, as keys of the wording

    @property
    def suspects(self) -> tuple[Frame, ...]:
        """The functions most likely to blame; of a hung task, who waits and then who holds."""
        held = (self.holder.frame,) if self.holder and self.holder.frame else ()
        frames = (*self.blamed[:1], *held, *self.blamed[1:])
        return tuple({frame.name: frame for frame in reversed(frames)}[name] for name in _once(frames))[:SUSPECTS]

    @property
    def telling(self) -> tuple[Frame, ...]:
        """All functions of the report but those that report, dispatch or wait for others."""
        aside = (names().never, names().outer, names().waits, names().tick, names().interrupt)
        return tuple(frame for frame in self.frames if not any(one.fullmatch(frame.name) for one in aside))

    @property
    def inside(self) -> Frame | None:
        """What the first suspect called: of a hung task, the function that it waits in."""
        above = self._above()
        return above[-1] if above else None

    @property
    def second(self) -> Frame | None:
        """The other side: of a hung task who holds, of a stall where the interrupt found it."""
        if self.kind.choose == "wait":
            return self.holder.frame if self.holder else None
        above = {frame.name for frame in self._above()}
        return next((frame for frame in self.suspects[1:] if frame.name in above), None)

    def _above(self) -> list[Frame]:
        """The reliable frames above the first suspect, from the top of the report."""
        sure = (frame for frame in self.frames if frame.reliable)
        return list(itertools.takewhile(lambda frame: frame.name != self.blamed[0].name, sure)) if self.blamed else []


def _once(frames: Sequence[Frame]) -> list[str]:
    return list(dict.fromkeys(frame.name for frame in frames))


def read_log(text: str) -> ErrorLog | None:
    """The log in `text`; None when there is none, as in a question that only mentions an oops."""
    if len(text) > MOST_CHARS:
        return None
    text = apart(text)
    lines, mended = read_lines(text)
    whole = [line.text for line in lines]
    found = _error_line("\n".join(whole))
    if found is None or (found[0].weak and not found[0].toolchain and not frames_in(whole)):
        return None
    kind, match = found
    place = match.string.count("\n", 0, match.start())
    before = match.string[: match.start()].rpartition("\n")[2]
    if (_HOW.search(before) or _MEANS.search(whole[place])) and not frames_in(whole):
        return None
    report, later = _report(lines, place, kind)
    if kind.choose == "wait":
        report = without_others(report)
    if kind.toolchain:  # it names the function in the lines above
        report = whole[: place + 1]
    elif not frames_in(report) and kind.choose == "top":  # the log was cut, or a panic came after the stack
        report = [*report, *whole[:place]]
    machine = environment(report, whole)
    foreign = {name.split("(")[0] for name in machine.modules if re.search(r"\(\w*O", name)}
    if not machine.modules and "O" in (machine.taint or ""):  # some module is from outside; the log does not list them
        foreign = {frame.module for frame in frames_in(report) if frame.module}
    return ErrorLog(
        kind=kind,
        line=whole[place].strip(),
        asked=_asked(text, whole),
        blamed=tuple(blamed(kind, match, report, foreign)[:BLAMED]),
        holder=holder(whole[place:]) if kind.choose == "wait" else None,
        frames=tuple(frames_in(report)),
        files=tuple((path, int(number)) for line in report for path, number in _FILE.findall(line)),
        configs=tuple(dict.fromkeys(_CONFIG.findall("\n".join(report)))),
        environment=machine,
        lines=tuple(report),
        later=later,
        gaps=tuple(_gaps(kind, report, later=later, mended=mended)),
    )


def language_asked(text: str, default: Language) -> Language:
    """The language of the words around a log; `default` for a bare log. The language of the text if it is no log."""
    log = read_log(text)
    words = text if log is None else log.asked
    return language_of(words) if words.strip() else default


def _error_line(text: str) -> tuple[Kind, re.Match[str]] | None:
    """The first place that says what went wrong; of a weak kind when there is no other."""
    found = [(kind, match) for kind in kinds().values() if (match := kind.pattern.search(text))]
    return min(found, key=lambda one: (one[0].weak, text.count("\n", 0, one[1].start())), default=None)


def _report(lines: Sequence[Line], place: int, kind: Kind) -> tuple[list[str], str]:
    """The lines of the report that begins at `place`, and the error line of the next one.

    What another task or another processor printed in between is left out where the kernel notes who prints. A second
    report begins at the next error line after a stack.
    """
    own = lines[place].caller
    kept = [line.text for line in lines[place:] if _same_caller(own, line.caller)]
    text = "\n".join(kept)
    stack = next((n for n, line in enumerate(kept) if n and frames_in([line])), len(kept))
    start = len("\n".join(kept[: stack + 1]))
    others = [
        one.pattern
        for one in kinds().values()
        if not one.weak and not one.inside and not (one is kind and kind.repeats)
    ]
    starts = [match.start() for pattern in others if (match := pattern.search(text, start))]
    if not starts:
        return kept, ""
    end = text.count("\n", 0, min(starts))
    return kept[:end], kept[end].strip()


def _gaps(kind: Kind, report: Sequence[str], *, later: str, mended: bool) -> Iterator[str]:
    """What the reader should know to be missing: it would have told more."""
    frames = frames_in(report)
    text = "\n".join(report)
    if kind.name == "trace":
        yield "log_gap_head"
    if not kind.toolchain and kind.name != "segfault":
        if not frames:
            yield "log_gap_symbols" if _ADDRESS.search(text) else "log_gap_stack"
        elif not any(frame.reliable for frame in frames):
            yield "log_gap_doubt"
        elif not later and (last := frames_in(report[-2:])) and not names().outer.fullmatch(last[-1].name):
            yield "log_gap_cut"
    if mended:
        yield "log_gap_picture"
    if later:
        yield "log_gap_later"


def _same_caller(own: str, caller: str) -> bool:
    return not own or not caller or own == caller or (own[0] == caller[0] == "C")


def _asked(text: str, lines: Sequence[str]) -> str:
    """The words of the student: lines that do not look like a log and look like words."""
    kept = [
        line.strip()
        for raw, line in zip(text.splitlines(), lines, strict=True)
        if _ASKED.search(line.strip()) and not _LOG_LIKE.search(raw) and not _error_line(line)
    ]
    return " ".join(kept)
