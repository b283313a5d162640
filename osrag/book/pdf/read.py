"""A PDF as a document: pages, columns, tables, headings and paragraphs put together."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from osrag.book.document import BlockKind, Document
from osrag.book.pdf.blocks import Style, style_of
from osrag.book.pdf.columns import Column, columns, page_gutters
from osrag.book.pdf.file import PdfFile, Progress, read_pdf_file
from osrag.book.pdf.flow import blocks_of
from osrag.book.pdf.furniture import body_size, strip_furniture
from osrag.book.pdf.headings import find_headings
from osrag.book.pdf.lines import Line
from osrag.book.pdf.page import Page
from osrag.book.pdf.parts import Part, page_parts
from osrag.book.pdf.tables import Grid, find_tables
from osrag.book.pdf.text import count_words, join_lines
from osrag.book.ranges import ranges
from osrag.errors import BadDocument
from osrag.text import language_of
from osrag.types import Language

_UNTITLED = re.compile(r"untitled|microsoft (word|powerpoint)|\.(docx?|tex|dvi|pptx?|md|html?)$|^\W*$", re.IGNORECASE)


def read_pdf(
    path: Path, *, language: Language | None = None, workers: int = 1, progress: Progress | None = None
) -> Document:
    """Raises BadDocument for what is no readable PDF, and when no page has text (a scan)."""
    file = read_pdf_file(path, workers=workers, progress=progress)
    warnings = page_warnings(file.pages)
    if not any(page.runs for page in file.pages):
        places = ranges([page.number for page in file.pages])
        raise BadDocument(
            f"{path.name}: no text on any of its {len(file.pages)} pages ({places}); is it a scan?",
            hint="run text recognition (OCR) over it and add the result",
        )
    return layout(file, warnings, language)


def page_warnings(pages: Sequence[Page]) -> tuple[str, ...]:
    """One sentence a kind of page that gave no text."""
    scans = [page.number for page in pages if not page.runs and page.drawn and not page.problem]
    empty = [page.number for page in pages if not page.runs and not page.drawn and not page.problem]
    broken = [page.number for page in pages if page.problem]
    out = []
    if scans:
        out.append(f"{_count(scans)} without text, perhaps scanned: {ranges(scans)}")
    if empty:
        out.append(f"{_count(empty)} empty: {ranges(empty)}")
    if broken:
        out.append(f"{_count(broken)} damaged and left out: {ranges(broken)}")
    return tuple(out)


def _count(places: Sequence[int]) -> str:
    return "1 page" if len(places) == 1 else f"{len(places)} pages"


def layout(file: PdfFile, warnings: tuple[str, ...] = (), language: Language | None = None) -> Document:
    """The document that the pages of `file` show."""
    body = body_size(file.pages)
    pages, labels = strip_furniture(file.pages, file.labels, body)
    grids = [find_tables(page) for page in pages]
    texts = [_without(page, tables) for page, tables in zip(pages, grids, strict=True)]
    cols = [
        [_with_bullets(column, page) for column in columns(page, edge)]
        for page, edge in zip(texts, page_gutters(texts), strict=True)
    ]
    lines = [[line for column in cols_ for line in column.lines] for cols_ in cols]
    every = [line for page_lines in lines for line in page_lines]
    style = style_of(every)
    headings = find_headings(file.outline, lines, style)
    words = count_words(line.text for line in every)
    parts: list[Part] = []
    for page, page_cols, tables, page_lines in zip(pages, cols, grids, lines, strict=True):
        parts += page_parts(page, page_cols, tables, page_lines, headings, style)
    blocks = tuple(blocks_of(parts, words))
    sample = " ".join(block.text for block in blocks if block.kind is not BlockKind.CODE)
    return Document(
        name=file.name,
        kind="pdf",
        title=_title(file, lines, style),
        language=language or language_of(sample),
        blocks=blocks,
        labels=tuple(labels),
        warnings=warnings,
    )


def _without(page: Page, tables: Sequence[Grid]) -> Page:
    if not tables:
        return page
    return replace(page, runs=tuple(run for run in page.runs if not any(grid.holds(run) for grid in tables)))


def _with_bullets(column: Column, page: Page) -> Column:
    """Lines before which a dot or square is drawn know that they begin an item."""
    if not page.marks:
        return column
    return replace(column, lines=tuple(_bulleted(line, page) for line in column.lines))


def _bulleted(line: Line, page: Page) -> Line:
    middle = line.base - 0.35 * line.size
    near = any(
        line.x0 - 2.6 * line.size < x < line.x0 - 0.2 * line.size and abs(y - middle) < 0.4 * line.size
        for x, y in page.marks
    )
    return replace(line, bullet=True) if near else line


def _title(file: PdfFile, lines: Sequence[Sequence[Line]], style: Style) -> str:
    """Of the metadata, else the largest type of the first page, else the file's name."""
    if len(file.title) > 2 and not _UNTITLED.search(file.title):
        return file.title
    first = lines[0] if lines else []
    biggest = max((line.size for line in first), default=0.0)
    large = [line.text for line in first if line.size >= 0.95 * biggest]
    title = join_lines(large)
    enough = len(re.findall(r"[^\W\d_]", title)) >= 3
    if enough and biggest >= 1.35 * style.size and len(title) <= 120:
        return title
    return Path(file.name).stem
