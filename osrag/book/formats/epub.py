"""EPUB: the chapters in the order of the book, each a page of HTML."""

import posixpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from osrag.book.document import Block, BlockKind, Document
from osrag.book.formats.html import blocks_of_html, document_of, parsed
from osrag.book.formats.package import look_over, opened, part, xml
from osrag.errors import BadDocument
from osrag.types import Language
from osrag.wording import Said

_FONTS = ("idpf.org/2008/embedding", "ns.adobe.com/pdf/enc#RC")  # algorithms that hide fonts, not text


def read_epub(path: Path, *, language: Language | None = None) -> Document:
    """Read an EPUB. Raises BadDocument where it is damaged or protected."""
    warnings = look_over(path).warnings
    with opened(path) as archive:
        names = set(archive.namelist())

        def root_of(inside: str) -> Any:
            if inside not in names:
                lacks = Said("doc_part_missing", name=path.name, part=inside)
                raise BadDocument(lacks, hint=Said("doc_do_again"), fault="damaged")
            return xml(part(archive, inside, path.name), path.name)

        if "META-INF/encryption.xml" in names:
            ways = [one.get("Algorithm", "") for one in root_of("META-INF/encryption.xml").iter("{*}EncryptionMethod")]
            if any(not any(font in way for font in _FONTS) for way in ways):
                raise BadDocument(
                    Said("doc_protected", name=path.name), hint=Said("doc_do_unprotected"), fault="password"
                )
        package = next((one.get("full-path", "") for one in root_of("META-INF/container.xml").iter("{*}rootfile")), "")
        book = root_of(package)
        items = {one.get("id"): one for one in book.iter("{*}item")}
        folder = posixpath.dirname(package)
        blocks: list[Block] = []
        for reference in book.iter("{*}itemref"):
            item = items.get(reference.get("idref"))
            if item is None or "html" not in item.get("media-type", "") or "nav" in item.get("properties", ""):
                continue
            inside = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
            if inside in names:
                page = parsed(part(archive, inside, path.name).decode("utf-8", "replace"))
                own = list(blocks_of_html(page, first=len(blocks) + 1))
                blocks += _headed(own, page)
        title = next((one.text or "" for one in book.iter("{http://purl.org/dc/elements/1.1/}title")), "")
    return document_of(path.name, "epub", tuple(blocks), " ".join(title.split()), language, warnings)


def _headed(blocks: list[Block], page: Any) -> list[Block]:
    """The blocks of a chapter; one without a heading begins with the title of its page."""
    title = next((" ".join(one.text_content().split()) for one in page.iter("title")), "")
    if not blocks or not title or any(block.kind is BlockKind.HEADING for block in blocks):
        return blocks
    return [Block(BlockKind.HEADING, title, blocks[0].first, blocks[0].first, level=1), *blocks]
