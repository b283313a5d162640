"""A pasted text as lines of the kernel and the functions in them.

Quote marks, colours, time stamps and the caller in front of a line go; digits that OCR took for letters come back.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

LINE_CHARS = 600  # of a line; the kernel prints no longer ones, and the time to search one grows with its square
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_QUOTE = re.compile(r"^(?:\s*>+)+\s?")
_DAY = r"(?:[A-Z][a-z]{2}\s+)?[A-Z][a-z]{2}\s+\d+\s\d\d:\d\d:\d\d"
_STAMP = re.compile(rf"\[\s*(?:\d+\.\d{{3,6}}|{_DAY} \d{{4}})\s*\](?:\s*\[\s*(?P<caller>[TC]\d+)\s*\])?[ \t]?")
_SYSLOG = re.compile(
    rf"^(?:<\d+>)?(?:{_DAY}(?:\.\d+)?|\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*)\s+(?:\S+\s+)?(?:kernel:\s?)?"
)
_LEVEL = re.compile(r"^(?:<\d+>|kern\s*:\s*\w+\s*:\s?)")
JOINED = 4  # stamps in one line from which it is a log whose ends of lines were lost; two consoles make two
_OCR = re.compile(r"[+/](?:[0O]x[0-9a-fOlI]*[OlI]|Ox)[0-9a-fOlI]*|\[\s*\d*[OlI]\d*\.\d{3,6}\]")
_NUMBER = re.compile(r"(?<![A-Za-z_])(?=[0-9a-fA-FOlIx]*\d)[0-9OlI][0-9a-fA-FOlIx]*(?![A-Za-z_])")
_DIGITS = str.maketrans("OlI", "011")
_FRAME = re.compile(  # or on 32-bit ARM: [<...>] (callee) from [<...>] (caller+0x1/0x2)
    r"(?:\[<(?P<address>(?!0{8})[0-9a-f]{8,16})>\]\s+)?(?P<guess>\?\s+)?(?<![\w.])(?P<name>[A-Za-z_][\w.$]*)\+(?P<offset>0x[0-9a-f]+/0x[0-9a-f]+)"
    r"(?:\s+\[(?P<module>\w+)[^\]]*\])?(?:\s+(?P<file>[\w./+-]+\.[chS]):(?P<line>\d+))?(?P<doubt> \(unreliable\))?"
    r"|\[<[0-9a-f]+>\] \((?P<callee>[A-Za-z_][\w.]*)\) from"
)
_NO_FRAMES = re.compile(r"^\s*(?:Code:|(?:hard|soft)irqs last|Register \w+ information)")
_SYSCALL = re.compile(r"(?:__(?:x64|ia32|x32|arm64|arm|riscv|s390x?|se|do)_(?=sys_|compat_sys_)|SyS_|SYSC_)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line as the kernel printed it."""

    text: str
    caller: str = ""  # "T123" (a task) or "C0" (a processor in an interrupt), where the kernel notes it


@dataclass(frozen=True, slots=True)
class Frame:
    """A function that a log names."""

    name: str  # as in the source: without the compiler's suffixes, `sys_read` for `__x64_sys_read`
    symbol: str = ""  # as in the log
    offset: str = ""  # "0x28/0x40"
    address: str = ""  # "ffffffff81494f40", in logs of kernels before 4.11
    module: str = ""
    file: str = ""  # of a symbolised log
    line: int = 0
    reliable: bool = True  # False if the kernel doubts it: `? name+0x28/0x40`

    @property
    def label(self) -> str:
        """`symbol+0x28/0x40`, or the bare name."""
        return f"{self.symbol}+{self.offset}" if self.offset else self.name


def read_lines(text: str) -> tuple[list[Line], bool]:
    """The lines, and whether letters had to be turned back into digits, as in a screenshot read by OCR."""
    raw = [_COLOUR.sub("", line[:LINE_CHARS]) for line in text.splitlines()]
    mended = any(_OCR.search(line) for line in raw)
    if mended:
        raw = [_NUMBER.sub(lambda found: found[0].translate(_DIGITS), line) for line in raw]
    return [clean(line) for line in raw], mended


def apart(text: str) -> str:
    """The text with an end of line before each stamp where a paste lost them."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if len(line) > LINE_CHARS and len(stamps := [found.start() for found in _STAMP.finditer(line)]) >= JOINED:
            lines[at] = "\n".join(line[start:end] for start, end in pairwise([0, *stamps, len(line)]) if start < end)
    return "\n".join(lines)


def clean(line: str) -> Line:
    """The line as the kernel printed it. Where two consoles are mixed in a line, what follows the last stamp."""
    line = _QUOTE.sub("", line.rstrip())
    stamps = list(_STAMP.finditer(line))
    if stamps:
        return Line(line[stamps[-1].end() :], stamps[-1]["caller"] or "")
    return Line(_LEVEL.sub("", _SYSLOG.sub("", line)))


def frames_in(lines: Sequence[str]) -> list[Frame]:
    """The functions with an offset in cleaned lines, in order."""
    return [frame for line in lines if not _NO_FRAMES.match(line) for frame in _frames(line)]


def _frames(line: str) -> Iterator[Frame]:
    for match in _FRAME.finditer(line):
        symbol = match["name"] or match["callee"]
        yield Frame(
            name=source_name(symbol),
            symbol=symbol,
            offset=match["offset"] or "",
            address=match["address"] or "",
            module=match["module"] or "",
            file=match["file"] or "",
            line=int(match["line"] or 0),
            reliable=not (match["guess"] or match["doubt"]),
        )


def source_name(symbol: str) -> str:
    """The name in the source: no suffix of the compiler or of allocation profiling, one name for a system call."""
    name = symbol.split(".")[0].removesuffix("_noprof")
    entry = _SYSCALL.match(name)
    if not entry:
        return name
    return ("sys_" if entry[0].startswith("Sy") or entry[0].startswith("SYS") else "") + name[entry.end() :]
