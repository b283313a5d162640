"""What a piece of kernel source is for, in words of both languages (C5).

Made from notes, kernel-doc, comments, the words of a name, the summary of the file and the
glossary, and from structure where nobody wrote anything; nothing here asks a model.
"""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePosixPath

from osrag.errors import BadInput
from osrag.glossary import Glossary, load_glossary
from osrag.kernel.c_source import Piece
from osrag.text import clip, sentences, tokens
from osrag.types import HAN, ChunkKind, CodeChunk, Origin

DATA = Path(__file__).parent.parent / "data"
TERMS_PER_NAME = 4
_MENTION = re.compile(r"\b([A-Za-z_]\w+)\s*\(\)")
_BRACKETS = re.compile(r"（[^（）]*）|\s*(?<!\w)\((?:[^()]|\(\))*\)")
# Clauses; a comma of an English list, and that of a Chinese one, only before the next function.
_PARTS = re.compile(r"[;；：，]\s*|:\s+|(?:,\s+(?:and\s+)?|、)(?=[A-Za-z_]\w*\(\))")
# A name with a verb and an object, and no word for something that stands before it.
_DOES = re.compile(
    r"(\w+)\(\) (?!.* (?:it|its|them|one|both)\b)([a-z]+s(?: \S+){2,}|"
    rf"(?!以及|和|与|或|等)[^其它们]*[{HAN}][^其它们]{{3,}})$"
)

Pair = tuple[str, str]  # English, Chinese


@dataclass(frozen=True, slots=True)
class FileSummary:
    """Two to four sentences about a source file."""

    file: str
    en: str
    zh: str
    origin: Origin = Origin.SUMMARY


@dataclass(frozen=True, slots=True)
class Lore:
    """Summaries, notes and glossary, by the names they speak of."""

    files: Mapping[str, FileSummary] = field(default_factory=dict)
    notes: Mapping[str, Pair] = field(default_factory=dict)  # function -> what it does
    mentions: Mapping[tuple[str, str], Pair] = field(default_factory=dict)  # (file, function)
    terms: Mapping[str, Pair] = field(default_factory=dict)  # identifier -> terms of the glossary


@functools.cache
def name_words() -> dict[str, Pair]:
    """Part of a name -> (English, Chinese): `rq` is a run queue, 运行队列."""
    return {word: (en, zh) for word, en, zh in read_tsv(DATA / "name_words.tsv")}


def read_tsv(path: Path) -> list[tuple[str, str, str]]:
    """The rows below the header, three cells each. Raises BadInput."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
        cells = line.split("\t")
        if len(cells) != 3:
            raise BadInput(f"{path.name} line {number}: expected three cells, got {len(cells)}")
        rows.append((cells[0], cells[1], cells[2]))
    return rows


def load_lore() -> Lore:
    """All that is shipped with osrag."""
    paths = sorted((DATA / "file_summaries").glob("*.jsonl"))
    rows = (json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    files = {row["file"]: FileSummary(**row) for row in rows}
    notes = {name: (en, zh) for name, en, zh in read_tsv(DATA / "kernel_notes.tsv")}
    return gather_lore(files, notes, load_glossary())


def gather_lore(files: Mapping[str, FileSummary], notes: Mapping[str, Pair], glossary: Glossary) -> Lore:
    """Index summaries, notes and glossary by the functions they name."""
    said: dict[tuple[str, str], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for summary in files.values():
        for side, text in enumerate((summary.en, summary.zh)):
            for sentence in sentences(text):
                for name in dict.fromkeys(_MENTION.findall(sentence)):
                    said[summary.file, name][side].append(_clause(sentence, name))
    terms: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for term in glossary.terms:
        for ident in term.idents:
            terms[ident][0].append(term.en[0])
            terms[ident][1].append("、".join(term.zh[:2]))
    most = TERMS_PER_NAME
    return Lore(
        files,
        notes,
        {key: (" ".join(en), "".join(zh)) for key, (en, zh) in said.items()},
        {name: ("; ".join(en[:most]), "；".join(zh[:most])) for name, (en, zh) in terms.items()},
    )


def _clause(sentence: str, name: str) -> str:
    """The part of a long sentence that is about `name`."""
    return sentence if len(sentence) < 160 else said_of(sentence, name)


def said_of(summary: str, name: str) -> str:
    """What a summary of a file says that one of its functions does.

    Empty where it only lists the function, or says something of several: "a(), b() merge and split".
    """
    for sentence in sentences(summary):
        parts = [part.strip(" .。") for part in _PARTS.split(_BRACKETS.sub("", sentence))]
        for before, part in pairwise(["", *parts]):
            does = _DOES.match(part)
            alone = len(_MENTION.findall(part)) == 1 and not _MENTION.fullmatch(before)
            if does and does.group(1) == name and alone:
                said = does.group(2)
                return f"{said[0].upper()}{said[1:]}{'.' if said.isascii() else '。'}"
    return ""


COMMENT_CHARS = 420  # of a comment: what it says first is what the function does
CALLEES = 8
_DOC_HEAD = re.compile(r"^(?:(?:struct|enum|union)\s+)?(\w+)\s*(?:\([^()]*\))?\s*[-–:]+\s*(.*)", re.S)
_DOC_PARAM = re.compile(r"^\s*@[\w.]+\s*:")
_SECTION = re.compile(r"^\s*(?:Returns?|Context|Note|Locking|Description|Example)\s*:\s*", re.I)
_PART = re.compile(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+")
_USELESS = re.compile(
    r"\s*(?:|\[ERROR.*"
    r"|(?:this\s+(?:file|code|chunk)\s+)?(?:only\s+)?(?:includes?|imports?|contains?)\s+(?:only\s+)?"
    r"(?:(?:the|several|some|necessary|various|standard|kernel)\s+)*header(?:\s+file)?s?\b[^.]*\.?"
    r"|[该此这]?段?(?:文件|代码|片段)?[仅只]?包含了?(?:若干|一些|必要的)?头文件[^。]*。?)\s*",
    re.I | re.S,
)
_BOILERPLATE = re.compile(
    r"SPDX\S*(?:\s+GPL\S*)?|Copyright[^.]*?(?:\.|$)|\([cC]\)[^.]*?(?:\.|$)|Licensed under[^.]*\.|This program is free.*"
)


def useful(description: str) -> str:
    """The description, or "" where it is an error or says only that headers are included."""
    return "" if _USELESS.fullmatch(description) else description.strip()


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
    note = _useful_pair(lore.notes.get(piece.name) or written)
    said = useful(first_words(piece.comment, piece.name))
    told = _useful_pair(lore.mentions.get((chunk.source, piece.name)))
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


def _useful_pair(pair: Pair | None) -> Pair:
    """Both descriptions of a pair as far as they are useful."""
    return (useful(pair[0]), useful(pair[1])) if pair else ("", "")


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
    return FileSummary(file, " ".join(filter(None, english)), f"{chinese}。" if chinese else "", origin=Origin.CODE)


def _head_comment(source: str) -> str:
    """The first comment of a file that says something beyond its licence."""
    for comment in re.findall(r"/\*(.*?)\*/", source[:8000], re.S)[:3]:
        plain = first_words(re.sub(r"^[ \t]*\*+[ \t]?", "", comment, flags=re.M), "")
        plain = re.sub(r"^\S+/\S+\.[ch]\b\s*[-:]?", "", _BOILERPLATE.sub(" ", plain).strip())
        if len(plain) > 30:
            return " ".join(plain.split())
    return ""


EXACT, WORDS, CHINESE, BODY = "=", "d:", "z:", "b:"
BODY_WORDS = 400  # distinct identifiers of a piece; only a few interpreters have more
_HAN = re.compile(f"[{HAN}]")
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


def chunk_tokens(piece: Piece, search_text: Pair) -> list[str]:
    """Tokens of all fields of a piece; `search_text` is English and Chinese."""
    out = [EXACT + name.lower() for name in (piece.name, *piece.aliases)]
    out += [WORDS + token for token in tokens(search_text[0])]
    out += chinese_tokens(search_text[1])
    code = _NO_CODE.sub(" ", piece.text)
    words = list(dict.fromkeys(_WORD.findall(code)))[:BODY_WORDS]
    body = dict.fromkeys(token for word in words for token in (word.lower(), *tokens(word)))
    return out + [BODY + token for token in body]


def file_tokens(file: str, en: str, zh: str) -> list[str]:
    """Tokens of a file: its summary and the words of its path."""
    path = re.sub(r"[/_.\-]", " ", file)
    return [*(WORDS + token for token in tokens(f"{en} {path}")), *chinese_tokens(zh)]


def chinese_tokens(text: str) -> list[str]:
    return [CHINESE + token for token in tokens(text) if _HAN.search(token)]
