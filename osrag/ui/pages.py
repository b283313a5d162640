"""What the evidence panel asks the server for: pictures of the pages of a passage, its words marked."""

import base64
import functools
import io
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from osrag.app.parts import Parts
from osrag.book.locate import findable, spans
from osrag.errors import BadDocument
from osrag.types import Chunk, Language, PageRef
from osrag.wording import say

log = logging.getLogger(__name__)
DPI = 120  # sharp at the width of the panel, still readable when zoomed
MARK = (242, 193, 78, 90)  # amber, as a text marker
MOST_PAGES = 2  # of one passage
# PDFium is not thread-safe: two threads in it at once may crash the whole app. The lock is held around the cache, so
# that a class which opens the same page draws it once. It also keeps the streams going: while six pages are drawn at
# once, a thread that wakes every 10 ms is late by 12 ms (95th percentile), and by 208 ms without the lock
# (bench/page_pictures.py).
PDFIUM = Lock()
Word = dict[str, Any]  # of pdfplumber: its "text", and where it stands


def page_server(parts: Parts) -> Callable[[dict[str, str]], dict[str, Any]]:
    """The function that the script of the panel calls as `server.page_of`; a browser sends one argument only."""

    def page_of(asked: dict[str, str]) -> dict[str, Any]:
        """`{"pages": [{"src", "alt"}], "message"}`; the message says why when there is no picture."""
        language: Language = "en" if asked.get("lang") == "en" else "zh"
        collection = parts.textbook.collection
        row = collection.row_of(str(asked.get("chunk", "")))
        chunk = collection.chunk(row) if row is not None else None
        if chunk is None or not isinstance(chunk.where, PageRef):
            return {"pages": [], "message": say("no_page", language)}
        path = _document_of(parts, chunk.source)
        if path is None:
            return {"pages": [], "message": say("no_file", language, name=chunk.source, folder=parts.textbook_folder)}
        try:
            pictures = page_pictures(chunk, path)
        except BadDocument as error:
            log.warning("%s", error.sentence())
            return {"pages": [], "message": str(error)}
        title = chunk.title or chunk.source
        said = ((src, say("file_page", language, page=page)) for page, src in pictures.items())
        return {"pages": [{"src": src, "alt": f"{title}, {which}"} for src, which in said], "message": ""}

    return page_of


def _document_of(parts: Parts, name: str) -> Path | None:
    """The file of a document: where it was when it was read, else beside the index."""
    folder = parts.textbook_folder
    for entry in parts.textbook.collection.manifest.documents:
        if entry.name == name:
            return entry.file(folder) or find_document(name, [folder, folder / "documents"])
    return None


def find_document(name: str, folders: Sequence[Path]) -> Path | None:
    """The file of a document, in the first folder that has it. A name never leads out of them."""
    if Path(name).name != name:
        return None
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def page_pictures(chunk: Chunk, path: Path) -> dict[int, str]:
    """The first pages of `chunk`, its words marked: place in the file -> picture as a data URL.

    A page that nobody opened before takes half a second. Raises BadDocument for one that cannot be drawn.
    """
    where = chunk.where
    changed_ns, pages = path.stat().st_mtime_ns, range(where.first, where.last + 1)[:MOST_PAGES]
    with PDFIUM:
        return {page: _picture(str(path), changed_ns, page, chunk.text) for page in pages}


@functools.lru_cache(maxsize=64)  # pictures of 100 to 200 kilobytes
def _picture(path: str, _changed_ns: int, number: int, passage: str) -> str:
    """Page `number` of a file; `_changed_ns` is there for the cache, which must forget a file that was replaced."""
    import pdfplumber

    try:
        with pdfplumber.open(path, pages=[number]) as pdf:
            page = pdf.pages[0]
            words = page.extract_words(use_text_flow=True, keep_blank_chars=False)
            image = page.to_image(resolution=DPI, antialias=True)
            image.draw_rects(marked_words(words, passage), fill=MARK, stroke=None, stroke_width=0)
            buffer = io.BytesIO()
            image.annotated.convert("RGB").save(buffer, "WEBP", quality=82)
    except (OSError, ValueError, IndexError) as error:
        raise BadDocument(f"page {number} of {Path(path).name} cannot be drawn: {error}") from error
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def marked_words(words: Sequence[Word], passage: str) -> list[Word]:
    """The words of a page that the passage holds, found by its sentences, whole or in pieces."""
    parts = [findable(word["text"]) for word in words]
    owners = [index for index, part in enumerate(parts) for _ in part]  # for each character of the page, its word
    hits = {owners[at] for start, end in spans("".join(parts), passage) for at in range(start, end)}
    return [words[index] for index in sorted(hits)]
