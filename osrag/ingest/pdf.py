"""A PDF as a document: pages, columns, tables, headings and paragraphs put together."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from osrag.errors import BadDocument
from osrag.ingest.document import FLOATS, Block, BlockKind, Document
from osrag.ingest.pdf_blocks import Piece, Style, pieces_of, style_of
from osrag.ingest.pdf_columns import Column, columns, page_gutters
from osrag.ingest.pdf_file import PdfFile, Progress, read_pdf_file
from osrag.ingest.pdf_furniture import body_size, strip_furniture
from osrag.ingest.pdf_headings import Heading, find_headings, is_contents
from osrag.ingest.pdf_lines import Line
from osrag.ingest.pdf_page import Box, Page
from osrag.ingest.pdf_tables import Grid, find_tables
from osrag.ingest.pdf_text import Words, count_words, join_lines, join_two
from osrag.ingest.ranges import ranges
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
    parts: list[_Part] = []
    for page, page_cols, tables, page_lines in zip(pages, cols, grids, lines, strict=True):
        parts += _page_parts(page, page_cols, tables, page_lines, headings, style)
    blocks = tuple(_blocks(parts, words))
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


# ---------------------------------------------------------------- one page


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a page, a table, or a heading that no line prints."""

    kind: BlockKind
    page: int
    top: float
    piece: Piece | None = None
    text: str = ""
    level: int = 0


def _page_parts(
    page: Page,
    cols: Sequence[Column],
    tables: Sequence[Grid],
    lines: Sequence[Line],
    headings: Sequence[Heading],
    style: Style,
) -> list[_Part]:
    """Parts of a page in reading order."""
    here = [heading for heading in headings if heading.page == page.number]
    by_line = {id(line): heading for heading in here for line in heading.lines}
    drawings = [box for box in page.drawings if not any(_covers(grid, box) for grid in tables)]
    parts: list[_Part] = []
    done: set[int] = set()
    waiting = list(tables)
    for column in cols:
        low = max(line.base for line in column.lines)
        inside = [g for g in waiting if column.left - 20 <= (g.x0 + g.x1) / 2 <= column.right + 20 or g.y0 > low]
        found = list(_column_parts(column, style, by_line, drawings, done))
        for grid in inside:
            if grid.y0 < low or column is cols[-1]:
                waiting.remove(grid)
                at = sum(part.top < grid.y0 for part in found)
                found.insert(at, _Part(BlockKind.TABLE, page.number, grid.y0, text=grid.text))
        parts += found
    parts += [_Part(BlockKind.TABLE, page.number, grid.y0, text=grid.text) for grid in waiting]
    if page.turned:
        parts.append(_Part(BlockKind.FIGURE, page.number, page.height, text=page.turned))
    for heading in here:
        if not heading.lines:
            at = sum(part.top < heading.top for part in parts) if len(cols) == 1 else 0
            parts.insert(
                at, _Part(BlockKind.HEADING, page.number, heading.top, text=heading.title, level=heading.level)
            )
    if is_contents(lines):
        first = lines[0].text if len(lines[0].text) < 20 and not lines[0].text[-1:].isdigit() else "Contents"
        parts = [part for part in parts if part.kind is not BlockKind.HEADING]
        parts.insert(0, _Part(BlockKind.HEADING, page.number, 0.0, text=first, level=1))
    return parts


def _covers(grid: Grid, box: Box) -> bool:
    return grid.x0 < box.x1 and box.x0 < grid.x1 and grid.y0 < box.y1 and box.y0 < grid.y1


def _column_parts(
    column: Column, style: Style, headings: dict[int, Heading], drawings: Sequence[Box], done: set[int]
) -> Iterator[_Part]:
    """Parts of a column. `done` are the headings of the page that were given already: one may span columns."""
    for piece in pieces_of(column, style, frozenset(headings), drawings):
        if piece.kind is not BlockKind.HEADING:
            yield _Part(piece.kind, piece.page, piece.top, piece)
            continue
        for line in piece.lines:
            heading = headings[id(line)]
            if id(heading) not in done:
                done.add(id(heading))
                yield _Part(BlockKind.HEADING, piece.page, line.base, text=heading.title, level=heading.level)


# ---------------------------------------------------------------- the whole document


def _blocks(parts: Sequence[_Part], words: Words) -> Iterator[Block]:
    """Blocks in reading order; a paragraph that goes on behind a drawing or over the page is one."""
    at = 0
    taken: set[int] = set()
    for at, part in enumerate(parts):
        if at in taken:
            continue
        if part.piece is None or part.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
            yield _single(part)
            continue
        chain = [part]
        look = at
        while (follow := _continuation(parts, look, taken)) is not None:
            taken.add(follow)
            chain.append(parts[follow])
            look = follow
        yield _joined(chain, words)


def _single(part: _Part) -> Block:
    if part.piece is None:
        return Block(part.kind, part.text, part.page, part.page, part.level)
    lines = part.piece.lines
    if part.kind is BlockKind.CODE:
        text = code_text(lines)
    elif part.kind is BlockKind.FIGURE:
        text = "\n".join(" | ".join(cell.text for cell in line.cells) for line in lines)
    else:
        text = join_lines([line.text for line in lines])
    return Block(part.kind, text, part.page, part.page)


def _continuation(parts: Sequence[_Part], at: int, taken: set[int]) -> int | None:
    """The part that goes on with the paragraph `at`, behind floats, on the same or the next page."""
    part = parts[at]
    if part.piece is None:
        return None
    text = part.piece.lines[-1].text
    if not part.piece.full and not (part.piece.nearly and text[-1:] in "/,，、-"):
        return None
    if re.search(r"[.!?。！？][\"'”’)）]*$", text):
        return None
    for other in range(at + 1, min(at + 40, len(parts))):
        follow = parts[other]
        if other in taken or follow.kind in FLOATS or _floating_code(parts, other, part.page):
            continue
        if follow.kind is not BlockKind.PARAGRAPH or follow.piece is None or follow.page > part.page + 6:
            return None
        first, last = follow.piece.lines[0], part.piece.lines[-1]
        if len(follow.piece.lines) == 1 and not follow.piece.full and not first.text[:1].islower() and _label(first):
            continue  # words of a drawing in the type of the text
        new_place = follow.page != part.page or first.column != last.column or other > at + 1
        like = any(abs(run.size - other.size) < 0.3 for run in first.runs for other in last.runs)
        if not new_place or not like:
            return None
        return other if _goes_on(text, first.text) else None
    return None


def _floating_code(parts: Sequence[_Part], at: int, page: int) -> bool:
    """A listing in a figure: with a caption, or alone between two pages of text."""
    if parts[at].kind is not BlockKind.CODE:
        return False
    after = parts[at + 1] if at + 1 < len(parts) else None
    captioned = after is not None and after.kind is BlockKind.CAPTION and after.page == parts[at].page
    return captioned or parts[at].page != page


def _label(line: Line) -> bool:
    return len(line.text) < 40 and not re.search(r"[.!?。！？,，;；:：]", line.text)


def _goes_on(before: str, after: str) -> bool:
    if before[-1:] in ":：":
        return after[:1].islower()
    if re.match(r"[\u3400-\u9fff]", after):
        return bool(re.search(r"[\u3400-\u9fff,，、；]$", before)) or before[-1:].isalnum()
    return after[:1].islower() or before.endswith(("-", ",", "，")) or before[-1:].isalnum()


def _joined(chain: Sequence[_Part], words: Words) -> Block:
    text = ""
    turns: list[tuple[int, int]] = []
    for part in chain:
        assert part.piece is not None
        if text and part.page != (turns[-1][1] if turns else chain[0].page):
            first = part.piece.lines[0].text
            text = join_two(text, first, words)
            turns.append((len(text) - len(first.strip()), part.page))
            rest = part.piece.lines[1:]
        else:
            rest = part.piece.lines
        for line in rest:
            text = join_two(text, line.text, words)
    bulleted = chain[0].piece is not None and chain[0].piece.lines[0].bullet
    if bulleted:
        text = f"• {text}"
        turns = [(offset + 2, page) for offset, page in turns]
    return Block(chain[0].kind, text, chain[0].page, chain[-1].page, turns=tuple(turns))


def code_text(lines: Sequence[Line]) -> str:
    """A listing with its indentation and blank lines."""
    left = min(line.x0 for line in lines)
    runs = [run for line in lines for run in line.runs if run.mono] or [run for line in lines for run in line.runs]
    widths = sorted((run.x1 - run.x0) / max(1, len(run.text)) for run in runs)
    advance = max(1.0, widths[len(widths) // 2])
    steps = sorted(b.base - a.base for a, b in pairwise(lines) if b.base > a.base)
    usual = steps[len(steps) // 3] if steps else 0.0
    out = [lines[0].code(left, advance)]
    for before, line in pairwise(lines):
        if usual and line.base - before.base > 1.6 * usual:
            out.append("")
        out.append(line.code(left, advance))
    return "\n".join(out)


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
