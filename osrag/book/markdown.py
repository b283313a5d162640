"""Markdown as a document: headings, paragraphs, items, listings and tables with their lines."""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from osrag.book.document import Block, BlockKind, Document, DocumentKind
from osrag.book.pdf.lines import join_lines
from osrag.errors import BadDocument
from osrag.text import language_of
from osrag.types import Language
from osrag.wording import Said

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT = re.compile(r"\A---\s*\n(.*?\n)---\s*\n", re.DOTALL)
_FIELD = re.compile(r"^(\w+)\s*:\s*(.*)$")
_TAG = re.compile(r"<[^>]+>")
_ANCHOR = re.compile(r"\s*\{#[\w-]+\}\s*$")


def read_text(path: Path) -> str:
    """The file as text: UTF-16 with its mark, else UTF-8, else GB 18030. Raises BadDocument when it is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadDocument(
            Said("doc_not_opened", name=path.name, why=error.strerror), hint=Said("doc_do_path")
        ) from error
    if not data.strip():
        raise BadDocument(Said("doc_empty", name=path.name), hint=Said("doc_do_again"), fault="empty")
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # by Windows Notepad, as "Unicode"
    if b"\0" in data[:4096] and not marked:
        raise BadDocument(Said("doc_no_text_file", name=path.name), hint=Said("doc_do_kinds"), fault="kind")
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue
    raise BadDocument(Said("doc_encoding", name=path.name), hint=Said("doc_do_utf8"))


@dataclass(frozen=True, slots=True)
class Source:
    """A text file: its front matter, and its body with line numbers kept."""

    name: str
    fields: Mapping[str, str]
    text: str  # front matter blanked out

    def document(
        self, kind: DocumentKind, title: str, prose: str, language: Language | None, *, blocks: Sequence[Block] = ()
    ) -> Document:
        """The document, with what the front matter says. The language is `language`, else the one named there,
        else that of `prose`."""
        named = self.fields.get("language", "")[:2]
        return Document(
            name=self.name,
            kind=kind,
            title=title,
            language=language or ("zh" if named == "zh" else "en" if named == "en" else language_of(prose)),
            blocks=tuple(blocks),
            category=self.fields.get("category", ""),
            subcategory=self.fields.get("subcategory", ""),
            version=self.fields.get("version", ""),
            url=self.fields.get("url", ""),
        )


def split_front(name: str, text: str) -> Source:
    """`title`, `language`, `category`, `subcategory`, `version` and `url` may stand between `---` lines."""
    match = _FRONT.match(text)
    if not match:
        return Source(name, {}, text)
    found = [_FIELD.match(line) for line in match.group(1).splitlines()]
    clean = {field.group(1).lower(): field.group(2).strip().strip("\"'") for field in found if field}
    return Source(name, clean, "\n" * match.group(0).count("\n") + text[match.end() :])


def read_markdown(path: Path, *, language: Language | None = None) -> Document:
    """Read a Markdown file. Raises BadDocument when it is empty or not text."""
    source = split_front(path.name, read_text(path))
    blocks = list(blocks_of(source.text))
    if not any(block.text.strip() for block in blocks):
        raise BadDocument(Said("doc_no_text", name=path.name), hint=Said("doc_do_pictures"), fault="empty")
    title, blocks = title_of(source, blocks)
    prose = " ".join(block.text for block in blocks if block.kind is not BlockKind.CODE)
    return source.document("markdown", title, prose, language, blocks=blocks)


def title_of(source: Source, blocks: Sequence[Block]) -> tuple[str, list[Block]]:
    """The title, and the blocks without the heading that says it (the only one of level 1)."""
    tops = [block for block in blocks if block.kind is BlockKind.HEADING and block.level == 1]
    rest = [block for block in blocks if len(tops) != 1 or block is not tops[0]]
    named = source.fields.get("title", "")
    printed = tops[0].text if len(tops) == 1 else ""
    usable = len(re.findall(r"[^\W\d_]", printed)) > 1
    return named or (printed if usable else Path(source.name).stem), rest


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of Markdown text in order; `first` and `last` are line numbers."""
    from markdown_it import MarkdownIt

    counters: list[int | None] = []  # of the lists around the place; a number for an ordered one
    prefix = ""  # of the next paragraph: it opens an item
    rows: list[list[str]] = []  # of the table
    place = (1, 1)  # lines of the table
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for before, token in pairwise([*tokens[:1], *tokens]):
        lines = _lines(token)
        match token.type:
            case "bullet_list_open":
                counters.append(None)
            case "ordered_list_open":
                counters.append(int(token.attrGet("start") or 1) - 1)
            case "bullet_list_close" | "ordered_list_close":
                counters.pop()
            case "list_item_open":
                number = counters[-1]
                counters[-1] = None if number is None else number + 1
                prefix = "• " if number is None else f"{number + 1}. "
            case "table_open":
                rows, place = [], lines
            case "tr_open":
                rows.append([])
            case "table_close":
                yield Block(BlockKind.TABLE, "\n".join(" | ".join(row) for row in rows), *place)
            case "inline" if before.type in ("th_open", "td_open"):
                rows[-1].append(inline_text(token))
            case "inline" if before.type == "heading_open":
                if heading := _ANCHOR.sub("", inline_text(token)):
                    yield Block(BlockKind.HEADING, heading, *lines, level=int(before.tag[1:]))
            case "inline" if words := inline_text(token):
                kind = BlockKind.ITEM if prefix else BlockKind.PARAGRAPH
                yield Block(kind, prefix + words, *lines, level=len(counters) - 1 if prefix else 0)
                prefix = ""
            case "fence" | "code_block" if token.content.strip():
                yield Block(BlockKind.CODE, token.content.rstrip("\n"), *lines)
            case "html_block" if words := unescape(_TAG.sub("", token.content)).strip():
                yield Block(BlockKind.PARAGRAPH, words, *lines)


def _lines(token: "Token") -> tuple[int, int]:
    """The first and the last line of the token, from 1."""
    if token.map is None:
        return 1, 1
    return token.map[0] + 1, max(token.map[0] + 1, token.map[1])


def inline_text(token: "Token") -> str:
    """The words without markup. Chinese lines are joined without a blank."""
    lines = [""]
    for child in token.children or ():
        line_break = child.type == "html_inline" and child.content.lower().startswith("<br")
        if line_break or child.type in ("softbreak", "hardbreak"):
            lines.append("")
        elif child.type in ("text", "code_inline", "text_special", "image"):  # of a picture, the words for it
            lines[-1] += child.content
    return join_lines([line.strip() for line in lines])
