"""Text files of entries: an FAQ, whose entries are questions, and an API reference, whose entries are functions.

One entry becomes one chunk, whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from osrag.book.document import Block, BlockKind
from osrag.book.markdown import Source, blocks_of

_HEADING = re.compile(r"^#{1,6}\s")
_QUESTION = re.compile(
    r"^\s*(?:\*\*|[-*]\s+)?(?:Q(?:uestion)?|问题?)\s*\d*\s*[:：.、]\s*(.+?)(?:\*\*)?\s*$", re.IGNORECASE
)
_ANSWER = re.compile(r"^\s*(?:\*\*)?(?:A(?:nswer)?|答案?)\s*\d*\s*[:：.、]\s*(?:\*\*)?\s*(.*)$", re.IGNORECASE)
_ASKS = re.compile(r"[?？]\s*[\"'”’)）*]*$")
_FENCED = re.compile(r"```[\w+-]*\n(.*?)\n?```", re.DOTALL)
_SIGNATURE = re.compile(r"\w[\w\s*]*\(.*\)\s*;?\s*$", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\(\d?\w*\))?(?:\s*[,/、]\s*[A-Za-z_]\w*(?:\(\d?\w*\))?)*")
_PART = re.compile(r"^\*\*([^*\n]+)\*\*[ \t]*$", re.M)  # the heading of a part of an API entry
_KEYS = {
    "参数": "parameters",
    "返回值": "returns",
    "错误": "errors",
    "示例": "example",
    "说明": "notes",
    "return value": "returns",
    "examples": "example",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A part of a text file under one heading, or one question."""

    title: str
    text: str  # Markdown below the heading
    path: tuple[str, ...]  # headings above it
    first: int  # line of the heading
    last: int
    level: int = 0


def headed_parts(text: str) -> list[Entry]:
    """Every heading with the text up to the next one. Text before the first heading has an empty title."""
    lines = text.split("\n")
    headings = [block for block in blocks_of(text) if block.kind is BlockKind.HEADING]
    begin, end = (Block(BlockKind.HEADING, "", line, line) for line in (0, len(lines) + 1))
    parts: list[Entry] = []
    path: list[Block] = []  # the heading and those above it
    for heading, after in pairwise([begin, *headings, end]):
        path = [*(above for above in path if 0 < above.level < heading.level), heading]
        body = lines[heading.last : after.first - 1]
        if heading.text or "".join(body).strip():
            above = tuple(one.text for one in path[:-1])
            first, last = max(1, heading.first), _end(after.first - 1, body)
            parts.append(Entry(heading.text, "\n".join(body).strip("\n"), above, first, last, heading.level))
    return parts


def _end(last: int, body: Sequence[str]) -> int:
    """`last` without the blank lines at the end of `body`."""
    blank = len(list(takewhile(lambda line: not line.strip(), reversed(body))))
    return max(1, last - blank)


def _plain(title: str) -> str:
    return re.sub(r"[`*]|\s*\{#[\w-]+\}$", "", title).strip()


def faq_entries(source: Source, *, named: bool = False) -> Iterator[Entry]:
    """Questions in order. With `named` the user says that the file is an FAQ, so headings need no question mark."""
    pairs = list(_pairs(source.text))
    if pairs:
        yield from pairs
        return
    parts = [part for part in headed_parts(source.text) if part.title]
    asks = [part for part in parts if _ASKS.search(part.title)]
    wanted = asks if asks or not named else [part for part in parts if part.text.strip()]
    for part in wanted:
        # Headings below a question belong to its answer.
        below = [
            other
            for other in parts
            if other.first > part.last and other.path[: len(part.path) + 1] == (*part.path, part.title)
        ]
        inner = [other for other in below if other not in wanted]
        text = "\n\n".join([part.text, *(f"{other.title}\n\n{other.text}".strip() for other in inner)]).strip()
        if text:
            last = max([part.last, *(other.last for other in inner)])
            path = tuple(title for title in part.path if title not in {other.title for other in wanted})
            yield Entry(part.title, text, path, part.first, last, part.level)


def _pairs(text: str) -> Iterator[Entry]:
    """`Q: …` / `A: …`, in English or Chinese."""
    question, first = "", 0
    answer: list[str] | None = None
    for number, line in enumerate([*text.split("\n"), None], start=1):
        asked = _QUESTION.match(line) if line is not None else None
        if line is None or asked or _HEADING.match(line):
            if question and answer is not None and "".join(answer).strip():
                yield Entry(question, "\n".join(answer).strip(), (), first, _end(number - 1, answer))
            question, answer = (_plain(asked.group(1)), None) if asked else ("", None)
            first = number
        elif question:
            opened = _ANSWER.match(line)
            if opened and answer is None:
                answer = [opened.group(1)]
            elif answer is not None:
                answer.append(line)


def api_entries(source: Source) -> Iterator[Entry]:
    """Headings that name a function and have a signature below them; the parts of an entry belong to it."""
    parts = headed_parts(source.text)
    at = 0
    while at < len(parts):
        part = parts[at]
        at += 1
        if not is_entry(part):
            continue
        text, last = [part.text], part.last
        while at < len(parts) and parts[at].level > part.level and not is_entry(parts[at]):
            text.append(f"**{parts[at].title}**\n\n{parts[at].text}")
            last = parts[at].last
            at += 1
        yield Entry(part.title, "\n\n".join(text).strip(), part.path, part.first, last, part.level)


def is_entry(part: Entry) -> bool:
    """Whether the heading names a function and a signature stands below it."""
    fenced = _FENCED.search(part.text)
    return bool(
        part.title
        and _NAME.fullmatch(part.title)
        and fenced
        and not part.text[: fenced.start()].count("\n\n\n")
        and _SIGNATURE.search(fenced.group(1).strip())
    )


@dataclass(frozen=True, slots=True)
class ApiFields:
    """What an entry of an API reference says, part by part (C2); a part that is not there is empty."""

    signature: str
    description: str
    parameters: tuple[tuple[str, ...], ...]  # name, type, description
    returns: str
    errors: tuple[str, ...]  # EINVAL, ENOMEM, …, as far as the text on what is returned names them
    example: str
    notes: str


def api_fields(text: str) -> ApiFields:
    """The parts of the text of an entry, as its chunk holds it."""
    head, *rest = _PART.split(text)
    parts = dict(
        zip((_KEYS.get(name.strip().lower(), name.strip().lower()) for name in rest[::2]), rest[1::2], strict=True)
    )
    fenced, example = _FENCED.search(head), _FENCED.search(parts.get("example", ""))
    rows = [line.strip().strip("|").split("|") for line in parts.get("parameters", "").splitlines() if "|" in line]
    returns = parts.get("returns", "").strip()
    told = f"{returns} {parts.get('errors', '')}"
    return ApiFields(
        signature=fenced.group(1).strip() if fenced else "",
        description=_FENCED.sub("", head).strip(),
        parameters=tuple(tuple(cell.strip() for cell in row) for row in rows[2:]),
        returns=returns,
        errors=tuple(dict.fromkeys(re.findall(r"\bE[A-Z]{2,}[A-Z0-9]*\b", told))),
        example=example.group(1).strip() if example else "",
        notes=parts.get("notes", "").strip(),
    )
