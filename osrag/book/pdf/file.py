"""Opening a PDF: its pages, outline and page labels, and clear words when it cannot be read."""

import functools
import logging
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from osrag.book.document import check_pages
from osrag.book.pdf.page import Page, read_page
from osrag.errors import BadDocument
from osrag.wording import Said

# Below this number of pages a second process costs more than it saves: it has to import pdfplumber again.
PAGES_FOR_TWO = 60
MOST_BOOKMARKS = 20_000  # a long reference has a thousand
PAGES_A_TASK = 16, 64  # at least, since each task opens the file again; at most, since it tells its progress at its end
Progress = Callable[[int, int], None]  # pages read, pages in all


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark of the PDF."""

    level: int  # 1 is the outermost
    title: str
    page: int  # place in the file; 0 when it points nowhere
    top: float | None  # points from the top of the page


@dataclass(frozen=True, slots=True)
class PdfFile:
    """All that the layout stages need; no object of pdfplumber is left in it."""

    name: str
    title: str  # from the metadata; "" where there is none
    pages: tuple[Page, ...]
    labels: tuple[str, ...]  # /PageLabels, one for each page; "" where the file names none
    outline: tuple[OutlineEntry, ...]


def read_pdf_file(
    path: Path,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    most_pages: int | None = None,
    first_pages: int | None = None,
) -> PdfFile:
    """Open the file and read its pages, all or the first ones.

    Raises BadDocument when it is not a PDF that can be read to its end.
    """
    check_pdf(path)
    with open_pdf(path) as pdf:
        count = len(pdf.pages)
        if not count:
            raise BadDocument(Said("doc_pdf_no_pages", name=path.name), hint=Said("doc_do_again"), fault="damaged")
        check_pages(path.name, count, most_pages)
        count = min(count, first_pages or count)
        title = str(pdf.metadata.get("Title") or "").strip()
        labels = tuple(str(page.page_obj.label or "") for page in pdf.pages[:count])
        outline = tuple(mark for mark in _outline(path, pdf.pages) if mark.page <= count)
        if workers < 2 or count < PAGES_FOR_TWO:
            return PdfFile(path.name, title, tuple(_read_pages(pdf, range(count), progress)), labels, outline)
    return PdfFile(path.name, title, tuple(_read_parallel(path, count, workers, progress)), labels, outline)


def check_pdf(path: Path) -> None:
    """Look at both ends of the file before a parser does, because a parser's messages help nobody.

    Raises BadDocument, which says what the file is instead.
    """
    name = path.name
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(1024)
            file.seek(max(0, size - 4096))
            tail = file.read()
    except OSError as error:
        raise BadDocument(Said("doc_not_opened", name=name, why=error.strerror), hint=Said("doc_do_path")) from error
    if not size:
        raise BadDocument(Said("doc_empty", name=name), hint=Said("doc_do_again"), fault="empty")
    if head.startswith(b"PK\x03\x04"):
        raise BadDocument(Said("doc_pdf_zip", name=name), hint=Said("doc_do_export"), fault="kind")
    if b"%PDF-" not in head:
        web = re.search(rb"<(!doctype html|html)", head, re.I)
        raise BadDocument(
            Said("doc_pdf_web" if web else "doc_pdf_none", name=name), hint=Said("doc_do_kinds"), fault="kind"
        )
    if b"%%EOF" not in tail:
        raise BadDocument(Said("doc_pdf_cut", name=name, bytes=f"{size:,}"), hint=Said("doc_do_again"), fault="damaged")


@contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """The file as pdfplumber opens it. Its errors become BadDocument."""
    import pdfplumber
    from pdfminer.pdfdocument import PDFPasswordIncorrect

    logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it warns once for each font, which helps nobody
    try:
        pdf = pdfplumber.open(path)
        pdf.pages  # noqa: B018  the page tree is read here
    except _damage() as error:
        if any(isinstance(cause, PDFPasswordIncorrect) for cause in (error, error.__cause__, *error.args)):
            raise BadDocument(
                Said("doc_password", name=path.name), hint=Said("doc_do_password"), fault="password"
            ) from error
        damaged = Said("doc_pdf_damaged", name=path.name, why=type(error).__name__)
        raise BadDocument(damaged, hint=Said("doc_do_print"), fault="damaged") from error
    with pdf:
        yield pdf


@functools.cache
def _damage() -> tuple[type[Exception], ...]:
    """What pdfminer and pdfplumber raise on a damaged file: their own classes, and the errors of a confused parser.

    A page that unpacks to gigabytes is damaged too; `osrag.book.guarded` bounds the memory.
    """
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.psexceptions import PSException
    from pdfplumber.utils.exceptions import PdfminerException

    slips = (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        AssertionError,
        ArithmeticError,
        RecursionError,
        MemoryError,
    )
    return (PDFException, PSException, PdfminerException, NotImplementedError, zlib.error, struct.error, *slips)


def _read_pages(pdf: Any, places: Sequence[int], progress: Progress | None = None) -> Iterator[Page]:
    """The pages at the 0-based `places`. A page that cannot be read is kept, with its problem."""
    for done, place in enumerate(places, start=1):
        page = pdf.pages[place]
        try:
            yield read_page(page, place + 1)
        except _damage() as error:  # one broken page must not cost the whole book; it is reported
            yield Page(place + 1, float(page.width), float(page.height), (), problem=type(error).__name__)
        page.close()
        if progress:
            progress(done, len(places))


def _read_task(path: Path, first: int, last: int) -> list[Page]:
    with open_pdf(path) as pdf:
        return list(_read_pages(pdf, range(first, last)))


def _read_parallel(path: Path, count: int, workers: int, progress: Progress | None) -> list[Page]:
    """Pages in order, read by several processes. They are spawned: a forked process that had threads may hang."""
    least, most = PAGES_A_TASK
    share = min(most, max(least, -(-count // (2 * workers))))
    spans = [(first, min(count, first + share)) for first in range(0, count, share)]
    pages: list[Page] = []
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            tasks = [pool.submit(_read_task, path, first, last) for first, last in spans]
            for task in tasks:
                pages += task.result()
                if progress:
                    progress(len(pages), count)
    except BrokenProcessPool:  # a worker was killed, perhaps for its memory: this process reads the rest
        with open_pdf(path) as pdf:
            pages += _read_pages(pdf, range(len(pages), count), progress)
    return pages


def _outline(path: Path, pages: Sequence[Any]) -> tuple[OutlineEntry, ...]:
    """The bookmarks in order, as PDFium follows them; none where it cannot read the file.

    Headings that are missing here may still be found by their type. `pages` are those of pdfplumber.
    """
    import pypdfium2
    from pypdfium2 import raw

    place_of_top = {raw.PDFDEST_VIEW_XYZ: 1, raw.PDFDEST_VIEW_FITH: 0, raw.PDFDEST_VIEW_FITBH: 0}
    entries: dict[tuple[str, int, float | None], OutlineEntry] = {}  # bookmarks may point back at those before
    with suppress(pypdfium2.PdfiumError), pypdfium2.PdfDocument(path) as pdf:
        for mark in pdf.get_toc():
            title = " ".join(mark.get_title().replace("\0", "").split())
            target = mark.get_dest()
            page = target.get_index() if target else None
            view, values = target.get_view() if target else (0, [])
            at = place_of_top.get(view, len(values))
            top = float(pages[page].bbox[3]) - values[at] if page is not None and at < len(values) else None
            place = 0 if page is None else page + 1
            if title:
                entries.setdefault((title, place, top), OutlineEntry(mark.level + 1, title, place, top))
            if len(entries) >= MOST_BOOKMARKS:
                break
    return tuple(entries.values())
