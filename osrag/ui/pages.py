"""What the evidence panel asks the server for: pictures of the pages of a passage, its words marked."""

import base64
import functools
import io
import logging
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from threading import Lock
from typing import Any

from osrag.app.parts import Parts
from osrag.book.desk import Desk
from osrag.book.document import SeenLine
from osrag.book.formats.slides import frames_of
from osrag.book.guarded import guarded
from osrag.book.locate import findable, spans
from osrag.book.ocr import DPI as SEEN_DPI
from osrag.book.read import kind_named
from osrag.book.seen import seen_on
from osrag.book.shown import SUFFIXES, as_pdf, office
from osrag.errors import BadDocument
from osrag.types import Chunk, Language, PageRef
from osrag.wording import Said, in_language, say

log = logging.getLogger(__name__)
DPI = 120  # sharp at the width of the panel, still readable when zoomed
MARK = (242, 193, 78, 90)  # amber, as a text marker
MOST_PAGES = 2  # of one passage
MOST_PIXELS = 100_000_000  # of a page drawn at DPI: four times a poster of format A0; beyond, a sentence says so
DRAWN_S, DRAWN_BYTES = 30.0, 2 << 30  # for the pages of a visitor's own file: seconds, and address space
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
        if (desk := parts.desks.with_key(str(asked.get("chunk", "")).partition("/")[0])) is not None:
            return brought(desk, str(asked["chunk"]), language)
        collection = parts.textbook.collection
        row = collection.row_of(str(asked.get("chunk", "")))
        chunk = collection.chunk(row) if row is not None else None
        if chunk is None or not has_page(chunk):
            return {"pages": [], "message": say("no_page", language)}
        path = _document_of(parts, chunk.source)
        if path is None:
            return {"pages": [], "message": say("no_file", language, name=chunk.source, folder=parts.textbook_folder)}
        return shown(chunk, path, parts.textbook_folder, parts.settings.cache_dir, language)

    return page_of


def has_page(chunk: Chunk) -> bool:
    """Whether there is a page to look at: of a PDF, a picture, slides; of a Word file where LibreOffice is here."""
    return isinstance(chunk.where, PageRef) or (Path(chunk.source).suffix.lower() in SUFFIXES and office() is not None)


def brought(desk: Desk, chunk_id: str, language: Language) -> dict[str, Any]:
    """What `page_of` answers for a passage of a visitor's own file, which is drawn in a process with limits."""
    chunk = desk.find(chunk_id)
    if chunk is None or not has_page(chunk):
        return {"pages": [], "message": say("no_page", language)}
    path = desk.file_of(chunk)
    try:
        if path.suffix.lower() in SUFFIXES:
            as_pdf(path, desk.folder)  # by a process of its own, whose limits are wider
        limits: dict[str, Any] = {"silent_s": DRAWN_S, "memory_bytes": DRAWN_BYTES}
        own = replace(chunk, source=path.name)
        return guarded(_brought, path, progress=lambda *_: None, chunk=own, language=language, **limits)
    except BadDocument as error:
        log.warning("a page of a visitor's own file is not drawn: %s", error.fault)  # not its name
        return {"pages": [], "message": in_language(error.message, language)}


def _brought(path: Path, *, progress: object, chunk: Chunk, language: Language) -> dict[str, Any]:
    return shown(chunk, path, path.parent, path.parent, language)


def shown(chunk: Chunk, path: Path, folder: Path, cache_dir: Path, language: Language) -> dict[str, Any]:
    """What `page_of` answers for a chunk of the file `path`, whose index lies in `folder`."""
    try:
        pictures = page_pictures(chunk, path, folder, cache_dir)
    except BadDocument as error:
        log.warning("%s", error.sentence())
        return {"pages": [], "message": in_language(error.message, language)}
    key = "slide_label" if kind_named(path.suffix.lower()) == "slides" else "file_page"
    title = chunk.title or chunk.source
    said = ((src, say(key, language, page=page, label=page)) for page, src in pictures.items())
    return {"pages": [{"src": src, "alt": f"{title}, {which}"} for src, which in said], "message": ""}


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


def page_pictures(
    chunk: Chunk, path: Path, folder: Path | None = None, cache_dir: Path | None = None
) -> dict[int, str]:
    """The first pages of `chunk`, its words marked: place in the file -> picture as a data URL.

    A page that nobody opened before takes half a second, the first of a file of Office some seconds. `folder` is that
    of the index. Raises BadDocument for one that cannot be drawn.
    """
    where, pdf = chunk.where, path
    if path.suffix.lower() in SUFFIXES:
        made = as_pdf(path, cache_dir) if cache_dir else None
        if made is None:
            return laid_out(chunk, path)
        pdf = made
    if isinstance(where, PageRef):
        pages = list(range(where.first, where.last + 1)[:MOST_PAGES])
    else:
        pages = _pages_with(pdf, chunk.text)
    seen = {page: seen_on(folder, chunk.source, page) if chunk.recognised and folder else () for page in pages}
    changed_ns = path.stat().st_mtime_ns
    with PDFIUM:
        return {page: _picture(str(pdf), changed_ns, page, chunk.text, seen[page]) for page in pages}


def _pages_with(pdf: Path, passage: str) -> list[int]:
    """The page of a PDF, made of a file without pages, that holds most of a passage. Raises BadDocument for none."""
    import pypdfium2

    with PDFIUM, pypdfium2.PdfDocument(pdf) as document:
        texts = [findable(page.get_textpage().get_text_range()) for page in document]
    held = [sum(end - start for start, end in spans(text, passage)) for text in texts]
    if not any(held):
        raise BadDocument(Said("doc_not_on_pages"))
    return [1 + max(range(len(held)), key=held.__getitem__)]


@functools.lru_cache(maxsize=64)  # pictures of 100 to 200 kilobytes
def _picture(path: str, _changed_ns: int, number: int, passage: str, seen: tuple[SeenLine, ...] = ()) -> str:
    """Page `number` of a file; `_changed_ns` is there for the cache, which must forget a file that was replaced."""
    import pdfplumber
    from PIL import Image, ImageDraw, ImageOps

    lines: list[Word] = [
        {"text": line.text, "x0": line.x0, "top": line.y0, "x1": line.x1, "bottom": line.y1} for line in seen
    ]
    try:
        if kind_named(Path(path).suffix.lower()) == "picture":
            with Image.open(path) as file:
                file.seek(number - 1)
                drawn = ImageOps.exif_transpose(file).convert("RGB")
            drawn = drawn.resize((max(1, drawn.width * DPI // SEEN_DPI), max(1, drawn.height * DPI // SEEN_DPI)))
            pen = ImageDraw.Draw(drawn, "RGBA")
            for word in marked_words(lines, passage):
                pen.rectangle([word[side] * DPI / 72 for side in ("x0", "top", "x1", "bottom")], MARK)
        else:
            with pdfplumber.open(path, pages=[number]) as pdf:
                page = pdf.pages[0]
                if page.width * page.height * (DPI / 72) ** 2 > MOST_PIXELS:
                    size = f"{page.width:.3g} × {page.height:.3g}"
                    raise BadDocument(Said("doc_page_large", page=number, name=Path(path).name, size=size))
                words = lines or page.extract_words(use_text_flow=True, keep_blank_chars=False)
                image = page.to_image(resolution=DPI, antialias=True)
                image.draw_rects(marked_words(words, passage), fill=MARK, stroke=None, stroke_width=0)
                drawn = image.annotated.convert("RGB")
        buffer = io.BytesIO()
        drawn.save(buffer, "WEBP", quality=82)
    except (OSError, ValueError, IndexError) as error:
        raise BadDocument(Said("doc_not_drawn", page=number, name=Path(path).name, why=str(error))) from error
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def laid_out(chunk: Chunk, path: Path) -> dict[int, str]:
    """A slide as its words, each frame where it stands: what can be shown without LibreOffice."""
    if not isinstance(chunk.where, PageRef):
        raise BadDocument(Said("doc_no_office"))
    frames, ratio = frames_of(path, chunk.where.first)
    wide, high = 960, round(960 * ratio)
    found = [f'<rect width="{wide}" height="{high}" fill="#fff"/>']
    text = findable(chunk.text)
    for x, y, w, words in frames:
        size, room, at = 20, max(6, int(wide * w / 11)), y * high
        for line in words.split("\n"):
            fill = "#f2c14e" if line and findable(line) in text else "#fff"
            for piece in textwrap.wrap(line, room if line.isascii() else max(4, room // 2)):
                at += 1.3 * size
                length = sum(11 if char.isascii() else 20 for char in piece)
                box = f'x="{x * wide:.0f}" y="{at - size:.0f}" width="{length}" height="{1.25 * size:.0f}"'
                found.append(f'<rect {box} fill="{fill}" fill-opacity="0.5"/>')
                place = f'x="{x * wide:.0f}" y="{at:.0f}" font-size="{size}"'
                found.append(f'<text {place} font-family="sans-serif">{escape(piece)}</text>')
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}">{"".join(found)}</svg>'
    return {chunk.where.first: "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()}


def marked_words(words: Sequence[Word], passage: str) -> list[Word]:
    """The words of a page that the passage holds, found by its sentences, whole or in pieces."""
    parts = [findable(word["text"]) for word in words]
    owners = [index for index, part in enumerate(parts) for _ in part]  # for each character of the page, its word
    hits = {owners[at] for start, end in spans("".join(parts), passage) for at in range(start, end)}
    return [words[index] for index in sorted(hits)]
