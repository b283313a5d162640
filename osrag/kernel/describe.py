"""What a piece of kernel source is for, in words of both languages (C5).

Made from notes, kernel-doc, comments, the words of a name, the summary of the file and the
glossary, and from structure where nobody wrote anything; nothing here asks a model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from osrag.kernel.c_source import Piece
from osrag.kernel.describe_lore import FileSummary, Lore, Pair, name_words
from osrag.text import clip
from osrag.types import ChunkKind, CodeChunk, Origin

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


def describe(chunk: CodeChunk, piece: Piece, lore: Lore, written: Pair | None = None) -> CodeChunk:
    """`chunk` of the named `piece` with its description; `written` is what a model wrote about it."""
    note = lore.notes.get(piece.name) or written or ("", "")
    said = first_words(piece.comment, piece.name)
    told = lore.mentions.get((chunk.source, piece.name), ("", ""))
    if note[0]:
        origin = Origin.NOTE if piece.name in lore.notes else Origin.MODEL
    else:
        origin = Origin.COMMENT if said else Origin.SUMMARY if told[0] else Origin.CODE
    return replace(
        chunk,
        en=" ".join(filter(None, (note[0], said, told[0]))) or structure(chunk, piece.aliases),
        zh=" ".join(filter(None, (note[1], told[1]))),
        terms=lore.terms.get(piece.name, ("", "")),
        origin=origin,
    )


def search_text(chunk: CodeChunk) -> Pair:
    """What a chunk is found by, in English and in Chinese: the words of its name, its description, its terms."""
    if not chunk.name:
        return chunk.en, chunk.zh
    english, chinese = name_in_words(chunk.name)
    terms_en, terms_zh = chunk.terms
    en = [f"{chunk.name}: {english}.", chunk.en, f"({terms_en})" if terms_en else ""]
    if chunk.origin is Origin.CODE:
        en.append(en.pop(1))  # what was read off the code comes last
    elif chunk.origin is Origin.SUMMARY:
        en.append(structure(chunk))  # a clause about a function is short: what it calls tells more
    zh = [f"{chinese}。" if chinese else "", chunk.zh, terms_zh]
    return " ".join(filter(None, en)), " ".join(filter(None, zh))


def described(chunk: CodeChunk) -> str:
    """Both search texts of a chunk, for those who look for words in either language."""
    return "\n".join(filter(None, search_text(chunk)))


def structure(chunk: CodeChunk, aliases: Sequence[str] = ()) -> str:
    """What can be read off the code, in English; `aliases` are the enumerators or arguments of an enum or macro."""
    if chunk.kind is ChunkKind.STRUCT:
        fields = re.findall(r"(\w+)(?:\[[^\]]*\])?\s*(?::\s*\d+)?;", chunk.text)
        return f"Structure with fields {', '.join(fields[:12])}."
    if chunk.kind in (ChunkKind.ENUM, ChunkKind.MACRO):
        return f"{chunk.kind.value.capitalize()} {' '.join(aliases[:12])}".strip() + "."
    if chunk.kind is ChunkKind.TABLE:
        return f"Table of {', '.join(chunk.calls[:CALLEES])}." if chunk.calls else "Table."
    calls = f"Calls {', '.join(chunk.calls[:CALLEES])}." if chunk.calls else ""
    called = f"Called by {', '.join(chunk.called_by[:3])}." if chunk.called_by else ""
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
