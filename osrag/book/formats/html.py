"""HTML as blocks: a page of the web, a chapter of an EPUB, and what `mammoth` makes of a Word file.

A file of this kind has no pages and no lines that a reader sees, so the place of a block is its number.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from osrag.book.document import Block, BlockKind, Document
from osrag.book.markdown import read_text
from osrag.errors import BadDocument
from osrag.text import language_of
from osrag.types import HAN, Language
from osrag.wording import Said

_SKIPPED = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "nav",
        "footer",
        "head",
        "svg",
        "form",
        "button",
        "iframe",
        "object",
        "video",
        "audio",
        "select",
    ]
)
_INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "br",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "math",
        "q",
        "rp",
        "rt",
        "ruby",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
_HAN_BREAK = re.compile(rf"(?<=[{HAN}，。；：、！？）】])\s*\n\s*(?=[{HAN}（【])")
_DECLARED = re.compile(r"\A\s*<\?xml[^>]*\?>")


def read_html(path: Path, *, language: Language | None = None) -> Document:
    """Read a page that was saved from the web. Raises BadDocument when it is empty or not text."""
    root = parsed(read_text(path))
    blocks = tuple(blocks_of_html(root))
    titles = [" ".join(one.text_content().split()) for one in root.iter("title")]
    document = document_of(path.name, "html", blocks, (titles or [""])[0], language)
    told = [one.get("href", "") for one in root.iter("link") if one.get("rel") == "canonical"]
    return replace(document, url=(told or [""])[0])


def document_of(
    name: str,
    kind: Any,
    blocks: tuple[Block, ...],
    title: str,
    language: Language | None,
    warnings: tuple[str, ...] = (),
) -> Document:
    """The document of these blocks. Raises BadDocument where they hold no text."""
    if not any(block.text.strip() for block in blocks):
        raise BadDocument(Said("doc_no_text", name=name), hint=Said("doc_do_pictures"), fault="empty")
    prose = " ".join(block.text for block in blocks if block.kind is not BlockKind.CODE)
    tops = [block.text for block in blocks if block.kind is BlockKind.HEADING and block.level == 1]
    printed = title or (tops[0] if len(tops) == 1 else "")
    title = printed if len(re.findall(r"[^\W\d_]", printed)) > 1 else Path(name).stem
    return Document(name, kind, title, language or language_of(prose), blocks, warnings=warnings)


def parsed(text: str) -> Any:
    """The root element of HTML text, however broken it is. Nothing that it names is fetched."""
    import lxml.html

    parser = lxml.html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    return lxml.html.document_fromstring(_DECLARED.sub("", text).encode() or b"<p></p>", parser=parser)


def blocks_of_html(root: Any, first: int = 1) -> Iterator[Block]:
    """The blocks of an element in order, numbered from `first`."""
    walk = _Walk(first)
    walk.inside(root)
    walk.flush()
    return iter(walk.blocks)


class _Walk:
    """Goes through an element; words are gathered until a block ends."""

    def __init__(self, first: int) -> None:
        self.blocks: list[Block] = []
        self._next = first
        self._words: list[str] = []
        self._counters: list[int | None] = []  # of the lists around the place; a number for an ordered one
        self._prefix = ""  # of the next paragraph: it opens an item

    def flush(self) -> None:
        """End the paragraph that is being gathered."""
        words = " ".join(_HAN_BREAK.sub("", "".join(self._words)).split())
        self._words.clear()
        if words:
            item = bool(self._prefix)
            level = max(len(self._counters) - 1, 0) if item else 0
            self._add(BlockKind.ITEM if item else BlockKind.PARAGRAPH, self._prefix + words, level)
            self._prefix = ""

    def _add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        self.blocks.append(Block(kind, text, self._next, self._next, level))
        self._next += 1

    def inside(self, node: Any) -> None:
        """The text of `node` and of what it holds."""
        self._words.append(node.text or "")
        for child in node:
            if isinstance(child.tag, str):
                self._element(child, child.tag.rpartition("}")[2].lower())
            self._words.append(child.tail or "")

    def _element(self, node: Any, tag: str) -> None:
        if tag in _SKIPPED or node.get("hidden") is not None or node.get("aria-hidden") == "true":
            return
        if tag == "math" or (tag == "img" and "math" in str(node.get("class", ""))):
            self._words.append(f" {formula(node)} ")
        elif tag == "br":
            self._words.append("\n")
        elif tag in _INLINE:
            self.inside(node)
        else:
            self.flush()
            self._block(node, tag)

    def _block(self, node: Any, tag: str) -> None:
        if re.fullmatch("h[1-6]", tag):
            if words := " ".join(node.text_content().split()):
                self._add(BlockKind.HEADING, words, int(tag[1]))
        elif tag == "pre":
            for line_break in node.iter("br"):
                line_break.tail = "\n" + (line_break.tail or "")
            if (code := node.text_content().strip("\n")).strip():
                self._add(BlockKind.CODE, code.rstrip())
        elif tag == "table" and (rows := _rows(node)):
            self._add(BlockKind.TABLE, "\n".join(rows))
        else:
            if tag in ("ul", "ol"):
                self._counters.append(0 if tag == "ol" else None)
            elif tag == "li" and self._counters:
                number = self._counters[-1]
                self._counters[-1] = None if number is None else number + 1
                self._prefix = "• " if number is None else f"{number + 1}. "
            self.inside(node)
            self.flush()
            if tag in ("ul", "ol"):
                self._counters.pop()
            elif tag == "li":
                self._prefix = ""


def _rows(table: Any) -> list[str]:
    """The rows of a table with its cells between bars; none of one that only frames other blocks."""
    if table.find(".//table") is not None or table.find(".//pre") is not None:
        return []
    rows = [
        [" ".join(cell.text_content().split()) for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")
    ]
    if max(map(len, rows), default=0) < 2:
        return []
    return [" | ".join(row) for row in rows if any(row)]


def formula(node: Any) -> str:
    """A formula as text: its TeX where the page has it, else its letters."""
    for one in node.iter():
        if str(one.get("encoding", "")).endswith("x-tex") and one.text:
            return " ".join(one.text.split())
    return " ".join((node.get("alttext") or node.get("alt") or node.text_content()).split())
