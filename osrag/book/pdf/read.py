"""A PDF as a document: what its pages show, put together in reading order.

`read_pdf` opens the file and reads its pages (file.py, page.py). `layout` then takes the pages through these stages:
running heads go (furniture.py), ruled tables are taken out (tables.py), the rest is read as lines in columns (lines.py,
columns.py), headings are found (headings.py), and the lines between them become paragraphs, lists and listings
(blocks.py). At the end a paragraph that goes on behind a drawing or on the next page becomes one block.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from osrag.book.document import FLOATS, Block, BlockKind, Document, ranges
from osrag.book.ocr import with_seen
from osrag.book.pdf.blocks import Part, Style, nested, parts_of, style_of
from osrag.book.pdf.columns import Column, columns, page_gutters
from osrag.book.pdf.file import PdfFile, Progress, read_pdf_file
from osrag.book.pdf.furniture import strip_furniture
from osrag.book.pdf.headings import Heading, find_headings, is_contents
from osrag.book.pdf.lines import Line, Words, count_words, join_lines, join_two
from osrag.book.pdf.page import Page
from osrag.book.pdf.scans import with_scans
from osrag.book.pdf.tables import Grid, find_tables
from osrag.errors import BadDocument
from osrag.text import language_of
from osrag.types import Language
from osrag.wording import Said

_UNTITLED = re.compile(r"untitled|microsoft (word|powerpoint)|\.(docx?|tex|dvi|pptx?|md|html?)$|^\W*$", re.IGNORECASE)


def read_pdf(
    path: Path,
    *,
    language: Language | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    most_pages: int | None = None,
    first_pages: int | None = None,
) -> Document:
    """Read a PDF, or its first pages. `language` overrides the one found in its text; `workers` are processes.

    Raises BadDocument when the file is not a readable PDF, has more than `most_pages`, or when no page
    has text, not even text that can be recognised.
    """
    file, seen, remarks = with_scans(
        read_pdf_file(path, workers=workers, progress=progress, most_pages=most_pages, first_pages=first_pages),
        path,
        progress,
    )
    warnings = (*remarks, *page_warnings(file.pages))
    if all(page.problem for page in file.pages):
        problems = ", ".join(dict.fromkeys(page.problem for page in file.pages))
        none = Said("doc_pdf_unread", name=path.name, count=len(file.pages), why=problems)
        raise BadDocument(none, hint=Said("doc_do_print"), fault="damaged")
    if not any(page.runs for page in file.pages):
        bare = Said("doc_pdf_bare", name=path.name, count=len(file.pages))
        raise BadDocument(bare, hint=Said("doc_do_scan"), fault="empty")
    return with_seen(layout(file, warnings, language), seen)


def page_warnings(pages: Sequence[Page]) -> tuple[str, ...]:
    """One sentence for each kind of page without text: scanned, empty, damaged."""
    bare = [page for page in pages if not page.runs and not page.problem]
    kinds = {
        "remark_unread": [page.number for page in bare if page.drawn],
        "remark_empty": [page.number for page in bare if not page.drawn],
        "remark_damaged": [page.number for page in pages if page.problem],
    }
    return tuple(Said(kind, pages=ranges(numbers)) for kind, numbers in kinds.items() if numbers)


def layout(file: PdfFile, warnings: tuple[str, ...] = (), language: Language | None = None) -> Document:
    """The document that the pages of `file` show; pure, so that it can be measured without reading the file again."""
    pages, labels = strip_furniture(file.pages, file.labels)
    grids = [find_tables(page) for page in pages]
    texts = [
        replace(page, runs=tuple(run for run in page.runs if not any(grid.holds(run) for grid in tables)))
        for page, tables in zip(pages, grids, strict=True)
    ]
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
    for page, page_cols, tables in zip(pages, cols, grids, strict=True):
        parts += page_parts(page, page_cols, tables, headings, style)
    blocks = tuple(blocks_of([*nested(parts)], words))
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


def _with_bullets(column: Column, page: Page) -> Column:
    """The column, with `bullet` set on each line before which a dot or a square is drawn."""

    def drawn(line: Line) -> bool:
        middle = line.base - 0.35 * line.size
        return any(
            line.x0 - 2.6 * line.size < x < line.x0 - 0.2 * line.size and abs(y - middle) < 0.4 * line.size
            for x, y in page.marks
        )

    return replace(column, lines=tuple(replace(line, bullet=True) if drawn(line) else line for line in column.lines))


def _title(file: PdfFile, lines: Sequence[Sequence[Line]], style: Style) -> str:
    """The title from the metadata, else the largest type of the first page, else the file's name."""
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


# ---------------------------------------------------------------- parts of a page


def page_parts(
    page: Page,
    cols: Sequence[Column],
    tables: Sequence[Grid],
    headings: Sequence[Heading],
    style: Style,
) -> list[Part]:
    """The paragraphs, tables and headings of a page in reading order."""
    here = [heading for heading in headings if heading.page == page.number]
    by_line = {id(line): heading for heading in here for line in heading.lines}
    parts: list[Part] = []
    done: set[int] = set()
    waiting = list(tables)
    for column in cols:
        low = max(line.base for line in column.lines)
        found = list(_column_parts(column, style, by_line, done))
        for grid in tuple(waiting):
            top, middle = grid.box.y0, (grid.box.x0 + grid.box.x1) / 2
            if column is cols[-1] or (top < low and column.left - 20 <= middle <= column.right + 20):
                waiting.remove(grid)
                found.insert(sum(part.top < top for part in found), _table(page, grid))
        parts += found
    parts += [_table(page, grid) for grid in waiting]  # of a page without other text
    if page.turned:
        parts.append(Part(BlockKind.FIGURE, page.number, page.height, text=page.turned))
    for heading in here:
        if not heading.lines:
            at = sum(part.top < heading.top for part in parts) if len(cols) == 1 else 0
            parts.insert(at, Part(BlockKind.HEADING, page.number, heading.top, text=heading.title, level=heading.level))
    lines = [line for column in cols for line in column.lines]
    if is_contents(lines):
        first = lines[0].text if len(lines[0].text) < 20 and not lines[0].text[-1:].isdigit() else "Contents"
        parts = [part for part in parts if part.kind is not BlockKind.HEADING]
        parts.insert(0, Part(BlockKind.HEADING, page.number, 0.0, text=first, level=1))
    return parts


def _table(page: Page, grid: Grid) -> Part:
    return Part(BlockKind.TABLE, page.number, grid.box.y0, text=grid.text)


def _column_parts(column: Column, style: Style, headings: dict[int, Heading], done: set[int]) -> Iterator[Part]:
    """The parts of a column. `done` holds the headings of the page that were given already: one may span columns."""
    for part in parts_of(column, style, frozenset(headings)):
        if part.kind is not BlockKind.HEADING:
            yield part
            continue
        for line in part.lines:
            heading = headings[id(line)]
            if id(heading) not in done:
                done.add(id(heading))
                yield Part(BlockKind.HEADING, part.page, line.base, text=heading.title, level=heading.level)


# ---------------------------------------------------------------- parts to blocks


def blocks_of(parts: Sequence[Part], words: Words) -> Iterator[Block]:
    """Blocks in reading order. A paragraph that goes on behind a drawing or on the next page becomes one block."""
    taken: set[int] = set()
    for at, part in enumerate(parts):
        if part.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
            yield _single(part)
        elif at not in taken:
            chain = [at]
            while (follow := _continuation(parts, chain[-1], taken)) is not None:
                taken.add(follow)
                chain.append(follow)
            yield _joined([parts[place] for place in chain], words)


def _single(part: Part) -> Block:
    """A heading, table, listing or drawing as a block."""
    lines = part.lines
    if not lines:
        return Block(part.kind, part.text, part.page, part.page, part.level)
    if part.kind is BlockKind.CODE:
        text = code_text(lines)
    elif part.kind is BlockKind.FIGURE:
        text = "\n".join(" | ".join(cell.text for cell in line.cells) for line in lines)
    else:
        text = join_lines([line.text for line in lines])
    return Block(part.kind, text, part.page, part.page)


def _continuation(parts: Sequence[Part], at: int, taken: set[int]) -> int | None:
    """The place of the part that continues the paragraph `at`, behind floats, on the same or a later page."""
    part = parts[at]
    text = part.lines[-1].text
    if not part.full:
        return None
    if re.search(r"[.!?。！？][\"'”’)）]*$", text):
        return None
    for other in range(at + 1, min(at + 40, len(parts))):
        follow = parts[other]
        if other in taken or follow.kind in FLOATS:
            continue
        if follow.kind is not BlockKind.PARAGRAPH or not follow.lines or follow.page > part.page + 6:
            return None
        first, last = follow.lines[0], part.lines[-1]
        new_place = follow.page != part.page or first.column != last.column or other > at + 1
        like = any(abs(run.size - other.size) < 0.3 for run in first.runs for other in last.runs)
        if not new_place or not like:
            return None
        return other if _goes_on(text, first.text) else None
    return None


def _goes_on(before: str, after: str) -> bool:
    """Whether a sentence that breaks off with `before` may go on with `after`."""
    if re.match(r"[\u3400-\u9fff]", after):
        return bool(re.search(r"[\u3400-\u9fff,，、；]$", before)) or before[-1:].isalnum()
    return after[:1].islower() or before.endswith(("-", ",", "，")) or before[-1:].isalnum()


def _joined(chain: Sequence[Part], words: Words) -> Block:
    """The parts of one paragraph as a block, which knows where its text goes over to another page."""
    text, page = "", chain[0].page
    turns: list[tuple[int, int]] = []
    for part in chain:
        for line in part.lines:
            text = join_two(text, line.text, words)
            if part.page != page:
                page = part.page
                turns.append((len(text) - len(line.text.strip()), page))
    if chain[0].lines[0].bullet:
        text = f"• {text}"
        turns = [(offset + 2, page) for offset, page in turns]
    return Block(chain[0].kind, text, chain[0].page, page, chain[0].level, tuple(turns))


def code_text(lines: Sequence[Line]) -> str:
    """The text of a listing with its indentation and blank lines."""
    left = min(line.x0 for line in lines)
    runs = [run for line in lines for run in line.runs if run.mono] or [run for line in lines for run in line.runs]
    advance = max(1.0, sorted((run.x1 - run.x0) / max(1, len(run.text)) for run in runs)[len(runs) // 2])
    steps = sorted(b.base - a.base for a, b in pairwise(lines) if b.base > a.base)
    usual = steps[len(steps) // 3] if steps else 0.0
    out = [lines[0].code(left, advance)]
    for before, line in pairwise(lines):
        gap = [""] if usual and line.base - before.base > 1.6 * usual else []
        out += [*gap, line.code(left, advance)]
    return "\n".join(out)
