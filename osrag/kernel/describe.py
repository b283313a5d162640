"""What a piece of kernel source is for, in words of both languages (C5).

Made from notes, kernel-doc, comments, the words of a name, the summary of the file and the
glossary, and from structure where nobody wrote anything; nothing here asks a model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from osrag.kernel.c_source import Piece
from osrag.kernel.describe_lore import FileSummary, Lore, Pair, name_words
from osrag.text import clip
from osrag.types import ChunkKind

COMMENT_CHARS = 420  # of a comment: what it says first is what the function does
CALLEES = 8
_DOC_HEAD = re.compile(r"^(?:(?:struct|enum|union)\s+)?(\w+)\s*(?:\([^()]*\))?\s*[-–:]+\s*(.*)", re.S)
_DOC_PARAM = re.compile(r"^\s*@[\w.]+\s*:")
_SECTION = re.compile(r"^\s*(?:Returns?|Context|Note|Locking|Description|Example)\s*:\s*", re.I)
_PART = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+")
_USELESS = re.compile(
    r"\s*(?:\[ERROR.*"
    r"|(?:this\s+(?:file|code|chunk)\s+)?(?:only\s+)?(?:includes?|imports?|contains?)\s+(?:only\s+)?"
    r"(?:(?:the|several|some|necessary|various|standard|kernel)\s+)*header(?:\s+file)?s?\b[^.]*\.?"
    r"|[该此这]?段?(?:文件|代码|片段)?[仅只]?包含了?(?:若干|一些|必要的)?头文件[^。]*。?)\s*",
    re.I | re.S,
)
_BOILERPLATE = re.compile(
    r"SPDX\S*(?:\s+GPL\S*)?|Copyright[^.]*?(?:\.|$)|\([cC]\)[^.]*?(?:\.|$)|Licensed under[^.]*\.|This program is free.*"
)


@dataclass(frozen=True, slots=True)
class Description:
    """A description in its two languages."""

    en: str
    zh: str

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.en, self.zh) if part)


def is_useful(description: str) -> bool:
    """False for a description that is empty, an error, or says only that headers are included."""
    return bool(description.strip()) and not _USELESS.fullmatch(description)


def name_parts(name: str) -> list[str]:
    """`free_pages_bulk` as its parts, in lower case."""
    return [part.lower() for part in _PART.findall(name)]


def name_in_words(name: str) -> tuple[str, str]:
    """A name as (English, Chinese) words: what its abbreviations stand for."""
    words = name_words()
    parts = name_parts(name)
    english = [words[part][0] if part in words else part for part in parts]
    chinese = [words[part][1].split("|")[0] for part in parts if part in words]
    return " ".join(english), "".join(dict.fromkeys(chinese))


def first_words(comment: str, name: str) -> str:
    """What a comment says about `name`, without parameters and decoration, on one line."""
    lines: list[str] = []
    inside_parameter = False
    for line in comment.splitlines():
        if lines and (_DOC_PARAM.match(line) or not line.strip()) and lines[-1][-1:].isalnum():
            lines[-1] += "."  # a title or paragraph without a full stop does not run into the next
        if _DOC_PARAM.match(line):
            inside_parameter = True
        elif not (inside_parameter and line.startswith((" ", "\t")) and line.strip()):
            inside_parameter = False
            lines.append(_SECTION.sub("", line).strip(" \t*-=_#"))
    text = " ".join(line for line in lines if line)
    head = _DOC_HEAD.match(text)
    if head and head.group(1).strip("_") == name.strip("_"):  # the comment of __f is often that of f
        text = head.group(2)
    return clip(text.strip(), COMMENT_CHARS)


def describe(
    piece: Piece, file: str, lore: Lore, *, callers: Sequence[str] = (), written: Pair | None = None
) -> Description:
    """The description of a piece that has a name; `written` is what a model wrote about it."""
    english, chinese = name_in_words(piece.name)
    said = first_words(piece.comment, piece.name)
    note = lore.notes.get(piece.name) or written or ("", "")
    told = lore.mentions.get((file, piece.name), ("", ""))
    terms = lore.terms.get(piece.name, ("", ""))
    en = [f"{piece.name}: {english}.", note[0], said, told[0], f"({terms[0]})" if terms[0] else ""]
    zh = [f"{chinese}。" if chinese else "", note[1], told[1], terms[1]]
    if not said and not note[0]:
        en.append(_structure(piece, callers))
    return Description(" ".join(filter(None, en)), " ".join(filter(None, zh)))


def _structure(piece: Piece, callers: Sequence[str]) -> str:
    """What can be read off the code, for what nobody commented."""
    if piece.kind is ChunkKind.STRUCT:
        fields = re.findall(r"(\w+)(?:\[[^\]]*\])?\s*(?::\s*\d+)?;", piece.text)
        return f"Structure with fields {', '.join(fields[:12])}."
    if piece.kind in (ChunkKind.ENUM, ChunkKind.MACRO):
        return f"{piece.kind.value.capitalize()} {' '.join(piece.aliases[:12])}".strip() + "."
    if piece.kind is ChunkKind.TABLE:
        return f"Table of {', '.join(piece.calls[:CALLEES])}." if piece.calls else "Table."
    calls = f"Calls {', '.join(piece.calls[:CALLEES])}." if piece.calls else ""
    called = f"Called by {', '.join(callers[:3])}." if callers else ""
    return f"{calls} {called}".strip()


def summarise_file(file: str, source: str, pieces: Sequence[Piece], callers: Mapping[str, int]) -> FileSummary:
    """A summary for a file that nobody wrote about: its head comment and its central functions.

    `callers` counts the callers of each function.
    """
    functions = [piece for piece in pieces if piece.kind is ChunkKind.FUNCTION]
    functions.sort(key=lambda piece: -(callers.get(piece.name, 0) + 3 * piece.exported + len(piece.calls) / 4))
    names = list(dict.fromkeys(piece.name for piece in functions))[:6]
    structs = [piece.name for piece in pieces if piece.kind is ChunkKind.STRUCT][:3]
    stem = PurePosixPath(file).stem.replace("-", "_")
    english = [f"{file}: {name_in_words(stem)[0]}.", _head_comment(source)]
    if names:
        english.append(f"Main functions: {', '.join(names)}.")
    if structs:
        english.append(f"Structures: {', '.join(structs)}.")
    chinese = "、".join(filter(None, (name_in_words(name)[1] for name in (stem, *names[:4]))))
    return FileSummary(file, " ".join(filter(None, english)), f"{chinese}。" if chinese else "", written=False)


def _head_comment(source: str) -> str:
    """The first comment of a file that says something beyond its licence."""
    for comment in re.findall(r"/\*(.*?)\*/", source[:8000], re.S)[:3]:
        plain = first_words(re.sub(r"^[ \t]*\*+[ \t]?", "", comment, flags=re.M), "")
        plain = re.sub(r"^\S+/\S+\.[ch]\b\s*[-:]?", "", _BOILERPLATE.sub(" ", plain).strip())
        if len(plain) > 30:
            return " ".join(plain.split())
    return ""
