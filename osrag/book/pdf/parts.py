"""A page in parts: its paragraphs, tables and headings in reading order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from osrag.book.document import BlockKind
from osrag.book.pdf.blocks import Piece, Style, pieces_of
from osrag.book.pdf.columns import Column
from osrag.book.pdf.headings import Heading, is_contents
from osrag.book.pdf.lines import Line
from osrag.book.pdf.page import Box, Page
from osrag.book.pdf.tables import Grid


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a page, a table, or a heading that no line prints."""

    kind: BlockKind
    page: int
    top: float
    piece: Piece | None = None
    text: str = ""
    level: int = 0


def page_parts(
    page: Page,
    cols: Sequence[Column],
    tables: Sequence[Grid],
    lines: Sequence[Line],
    headings: Sequence[Heading],
    style: Style,
) -> list[Part]:
    """Parts of a page in reading order."""
    here = [heading for heading in headings if heading.page == page.number]
    by_line = {id(line): heading for heading in here for line in heading.lines}
    drawings = [box for box in page.drawings if not any(_covers(grid, box) for grid in tables)]
    parts: list[Part] = []
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
                found.insert(at, Part(BlockKind.TABLE, page.number, grid.y0, text=grid.text))
        parts += found
    parts += [Part(BlockKind.TABLE, page.number, grid.y0, text=grid.text) for grid in waiting]
    if page.turned:
        parts.append(Part(BlockKind.FIGURE, page.number, page.height, text=page.turned))
    for heading in here:
        if not heading.lines:
            at = sum(part.top < heading.top for part in parts) if len(cols) == 1 else 0
            parts.insert(at, Part(BlockKind.HEADING, page.number, heading.top, text=heading.title, level=heading.level))
    if is_contents(lines):
        first = lines[0].text if len(lines[0].text) < 20 and not lines[0].text[-1:].isdigit() else "Contents"
        parts = [part for part in parts if part.kind is not BlockKind.HEADING]
        parts.insert(0, Part(BlockKind.HEADING, page.number, 0.0, text=first, level=1))
    return parts


def _covers(grid: Grid, box: Box) -> bool:
    return grid.x0 < box.x1 and box.x0 < grid.x1 and grid.y0 < box.y1 and box.y0 < grid.y1


def _column_parts(
    column: Column, style: Style, headings: dict[int, Heading], drawings: Sequence[Box], done: set[int]
) -> Iterator[Part]:
    """Parts of a column. `done` are the headings of the page that were given already: one may span columns."""
    for piece in pieces_of(column, style, frozenset(headings), drawings):
        if piece.kind is not BlockKind.HEADING:
            yield Part(piece.kind, piece.page, piece.top, piece)
            continue
        for line in piece.lines:
            heading = headings[id(line)]
            if id(heading) not in done:
                done.add(id(heading))
                yield Part(BlockKind.HEADING, piece.page, line.base, text=heading.title, level=heading.level)
