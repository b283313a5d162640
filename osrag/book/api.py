"""API reference in Markdown: one entry (a system call) is one chunk, and can be taken apart again."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from osrag.book.faq import Entry, headed_parts
from osrag.book.markdown import Source

_FENCED = re.compile(r"```[\w+-]*\n(.*?)\n?```", re.DOTALL)
_SIGNATURE = re.compile(r"\w[\w\s*]*\(.*\)\s*;?\s*$", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*(?:\(\d?\w*\))?(?:\s*[,/、]\s*[A-Za-z_]\w*(?:\(\d?\w*\))?)*")
_LABELS = {
    "parameters": r"parameters?|arguments?|参数",
    "returns": r"returns?|return values?|返回值?|返回",
    "examples": r"examples?|示例|例子|用法示例",
    "notes": r"notes?|remarks?|说明|注意事项?|备注|errors?|错误码?|see also|参见",
    "description": r"description|描述|简介",
}
_LABEL = re.compile(
    r"^\s*(?:#{2,6}\s*|\*\*)(?P<label>" + "|".join(_LABELS.values()) + r")\s*[:：]?\s*(?:\*\*)?\s*[:：]?\s*$",
    re.IGNORECASE,
)
_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_ITEM = re.compile(
    r"^\s*[-*]\s+`?(?P<name>[\w.\[\]*]+)`?\s*(?:[(（](?P<type>[^)）]+)[)）])?\s*(?:[:：–—-]+\s*)?(?P<text>.*)$"
)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class ApiEntry:
    """One function or system call."""

    name: str
    signature: str
    description: str
    parameters: tuple[Parameter, ...]
    returns: str
    examples: str
    notes: str


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
    fenced = _FENCED.search(part.text)
    return bool(
        part.title
        and _NAME.fullmatch(part.title)
        and fenced
        and not part.text[: fenced.start()].count("\n\n\n")
        and _SIGNATURE.search(fenced.group(1).strip())
    )


def parse_entry(name: str, text: str) -> ApiEntry:
    """The parts of an entry's Markdown; what is not there is empty."""
    fenced = _FENCED.search(text)
    signature = fenced.group(1).strip() if fenced else ""
    rest = text[: fenced.start()] + text[fenced.end() :] if fenced else text
    parts: dict[str, list[str]] = {"description": []}
    label = "description"
    for line in rest.split("\n"):
        match = _LABEL.match(line)
        if match:
            label = _label(match.group("label"))
            parts.setdefault(label, [])
        else:
            parts[label].append(line)
    joined = {key: "\n".join(lines).strip() for key, lines in parts.items()}
    return ApiEntry(
        name=name,
        signature=signature,
        description=joined["description"],
        parameters=tuple(_parameters(parts.get("parameters", ()))),
        returns=joined.get("returns", ""),
        examples=joined.get("examples", ""),
        notes=joined.get("notes", ""),
    )


def _label(text: str) -> str:
    return next(key for key, pattern in _LABELS.items() if re.fullmatch(pattern, text, re.IGNORECASE))


def _parameters(lines: Sequence[str]) -> Iterator[Parameter]:
    """From a table (its head and ruler are skipped) or a list."""
    rows = 0
    for line in lines:
        row = _ROW.match(line)
        if row:
            rows += 1
            cells = [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", row.group(1))]
            if rows > 2 and len(cells) >= 2 and cells[0].strip("–-— "):
                yield Parameter(cells[0], cells[1] if len(cells) > 2 else "", cells[-1].replace("\\|", "|"))
        elif item := _ITEM.match(line):
            yield Parameter(item.group("name"), item.group("type") or "", item.group("text").strip())
