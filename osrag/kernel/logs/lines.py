"""A log line without its decoration, and the stack frames in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
