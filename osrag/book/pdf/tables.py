"""Ruled tables: which runs belong to which cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from osrag.book.pdf.lines import gather, join_lines
from osrag.book.pdf.page import Box, Page, Run

LONGEST_CELL = 600  # characters; what has a longer one is a page with a frame


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its frame, and the text of its cells, row by row."""

    box: Box
    rows: tuple[tuple[str, ...], ...]

    def holds(self, run: Run) -> bool:
        """Whether the run stands inside the frame."""
        box, middle = self.box, run.base - 0.3 * run.size
        return box.y0 - 1 < middle < box.y1 + 1 and box.x0 - 4 < (run.x0 + run.x1) / 2 < box.x1 + 4

    @property
    def text(self) -> str:
        """A row a line, with bars between the cells."""
        return "\n".join(" | ".join(row) for row in self.rows)


def find_tables(page: Page) -> list[Grid]:
    """The tables of a page from top to bottom, without the boxes of drawings and framed pages."""
    grids: list[Grid] = []
    for frame in page.frames:
        box = Box(frame.xs[0], frame.ys[0], frame.xs[-1], frame.ys[-1])
        rows = _rows(page, frame.xs, frame.ys)
        sound = len(rows) > 1 and _full(rows) and max(len(cell) for row in rows for cell in row) <= LONGEST_CELL
        if sound and not any(box.overlaps(other.box) for other in grids):
            grids.append(Grid(box, tuple(rows)))
    return sorted(grids, key=lambda grid: grid.box.y0)


def _full(rows: Sequence[tuple[str, ...]]) -> bool:
    """Every column has text in a good part of the rows, and most rows in more than one column."""
    columns = [sum(bool(cell) for cell in column) for column in zip(*rows, strict=True)]
    wide = sum(sum(bool(cell) for cell in row) > 1 for row in rows)
    return min(columns) >= 0.3 * len(rows) and wide >= 0.5 * len(rows)


def _rows(page: Page, xs: Sequence[float], ys: Sequence[float]) -> list[tuple[str, ...]]:
    """The text of the cells between the borders `xs` of the columns and `ys` of the rows, without empty rows."""
    rows: list[tuple[str, ...]] = []
    inside = [run for run in page.runs if xs[0] - 4 < run.x0 < xs[-1] + 4]
    for top, bottom in pairwise(ys):
        cells: list[list[Run]] = [[] for _ in xs[1:]]
        for run in inside:
            if top < run.base - 0.3 * run.size <= bottom:
                cells[_column_of(run, xs)].append(run)
        rows.append(tuple(join_lines([line.text for line in gather(cell, page.number)]) for cell in cells))
    return [row for row in rows if any(row)]


def _column_of(run: Run, xs: Sequence[float]) -> int:
    """The column of the run; what stands in two columns counts for its first."""
    middle = min((run.x0 + run.x1) / 2, run.x0 + 3 * run.size)
    return max(0, min(len(xs) - 2, sum(x <= middle for x in xs) - 1))
