"""Ruled tables: which runs belong to which cell."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from osrag.book.pdf.lines import Line, gather, join_lines
from osrag.book.pdf.page import Page, Rule, Run

SNAP = 2.5  # points by which rules of one line may miss each other


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its frame in points, and the text of its cells, row by row."""

    x0: float
    y0: float
    x1: float
    y1: float
    rows: tuple[tuple[str, ...], ...]

    def holds(self, run: Run) -> bool:
        middle = run.base - 0.3 * run.size
        return self.y0 - 1 < middle < self.y1 + 1 and self.x0 - 4 < (run.x0 + run.x1) / 2 < self.x1 + 4

    @property
    def text(self) -> str:
        return "\n".join(" | ".join(row) for row in self.rows)


def find_tables(page: Page) -> list[Grid]:
    """The tables of a page from top to bottom: those ruled both ways, then those with level rules only."""
    grids: list[Grid] = []
    for frame in page.frames:
        _add(grids, page, frame.xs, frame.ys)
    for ys, x0, x1 in _level_only(page, grids):
        xs = _columns_by_holes(_inside(page, x0, ys[0], x1, ys[-1]), x0, x1)
        if len(ys) > 2 or len(xs) > 3:  # two level lines around two columns are a box, an algorithm
            _add(grids, page, xs, _open_ends(page, xs, ys))
    return sorted(grids, key=lambda grid: grid.y0)


def _add(grids: list[Grid], page: Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    """Take the table with these borders, unless the boxes of a drawing or a framed page have them."""
    rows = _rows(_inside(page, xs[0], ys[0], xs[-1], ys[-1]), xs, ys, page.number)
    if len(xs) > 2 and len(rows) > 1 and _full(rows) and max(len(cell) for row in rows for cell in row) <= 600:
        grid = Grid(xs[0], ys[0], xs[-1], ys[-1], tuple(rows))
        if not any(_overlap(grid, other) for other in grids):
            grids.append(grid)


def _inside(page: Page, x0: float, y0: float, x1: float, y1: float) -> list[Run]:
    return [run for run in page.runs if y0 < run.base - 0.3 * run.size < y1 and x0 - 4 < run.x0 < x1 + 4]


def _level_only(page: Page, grids: Sequence[Grid]) -> Iterator[tuple[list[float], float, float]]:
    """Heights and ends of level rules that have the same ends, as a table without upright rules has."""
    joined: list[Rule] = []  # typesetters draw a rule cell by cell
    for rule in sorted((rule for rule in page.rules if rule.level), key=lambda rule: (round(rule.y0), rule.x0)):
        last = joined[-1] if joined else None
        if last and rule.y0 - last.y0 <= SNAP and rule.x0 <= last.x1 + SNAP + 1 and rule.x1 >= last.x0:
            joined[-1] = Rule(min(last.x0, rule.x0), last.y0, max(last.x1, rule.x1), last.y0)
        elif rule.x1 - rule.x0 > 8 and not any(_near(rule, grid) for grid in grids) and not _boxed(rule, page):
            joined.append(rule)
    groups: dict[tuple[int, int], list[Rule]] = {}
    for rule in joined:
        groups.setdefault((round(rule.x0 / SNAP), round(rule.x1 / SNAP)), []).append(rule)
    for rules in groups.values():
        if len(rules) > 1:
            yield [rule.y0 for rule in rules], rules[0].x0, rules[0].x1


def _boxed(level: Rule, page: Page) -> bool:
    """The rule is the edge of a box: an upright one begins or ends at its left end."""
    return any(
        not rule.level and abs(rule.x0 - level.x0) <= SNAP and rule.y0 - SNAP <= level.y0 <= rule.y1 + SNAP
        for rule in page.rules
    )


def _near(rule: Rule, grid: Grid) -> bool:
    return grid.y0 - SNAP <= rule.y0 <= grid.y1 + SNAP and grid.x0 - SNAP <= rule.x1 and rule.x0 <= grid.x1 + SNAP


def _full(rows: Sequence[tuple[str, ...]]) -> bool:
    """Every column has text in a good part of the rows, and most rows in more than one column."""
    columns = [sum(bool(cell) for cell in column) for column in zip(*rows, strict=True)]
    wide = sum(sum(bool(cell) for cell in row) > 1 for row in rows)
    return min(columns) >= 0.3 * len(rows) and wide >= 0.5 * len(rows)


def _columns_by_holes(runs: Sequence[Run], x0: float, x1: float) -> list[float]:
    """Column borders of a table with level rules only: where no line has text."""
    edges = sorted((run.x0, run.x1) for run in runs) or [(x0, x1)]
    xs, reach = [x0], edges[0][1]
    for left, right in edges[1:]:
        if left - reach > 6:
            xs.append((left + reach) / 2)
        reach = max(reach, right)
    return [*xs, x1]


def _open_ends(page: Page, xs: Sequence[float], ys: Sequence[float]) -> list[float]:
    """Borders of rows with those of a head above the first rule and a last row below the last: browsers rule so."""
    lines = gather(_inside(page, xs[0], ys[0] - 40, xs[-1], ys[-1] + 40), page.number)
    above = [line for line in lines if 0 < ys[0] - line.base < 2.2 * line.size and len(line.cells) > 1]
    below = [line for line in lines if 0 < line.base - ys[-1] < 4.2 * line.size and len(line.cells) > 1]
    return [*[line.top - 1 for line in above[:1]], *ys, *[line.bottom + line.size for line in below[-1:]]]


def _rows(runs: Sequence[Run], xs: Sequence[float], ys: Sequence[float], page: int) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for top, bottom in itertools.pairwise(ys):
        band = [run for run in runs if top < run.base - 0.3 * run.size <= bottom]
        lines = gather(band, page)
        if len(lines) > 1 and _several(lines, xs, ruled_off=len(ys) > 3):
            rows += [_cells(line.runs, xs, page) for line in lines]
        else:
            rows.append(_cells(band, xs, page))
    return [row for row in rows if any(row)]


def _several(lines: Sequence[Line], xs: Sequence[float], *, ruled_off: bool) -> bool:
    """Whether the lines between two level rules are rows, not one row with broken cells.

    They are where every column has text on nearly every line, or where only the head of
    the table is ruled off and the lines begin in the first column.
    """
    filled = [{_column_of(run, xs) for run in line.runs} for line in lines]
    whole = sum(len(columns) == len(xs) - 1 for columns in filled)
    if whole >= 0.7 * len(lines):
        return True
    return not ruled_off and sum(0 in columns for columns in filled) >= 0.6 * len(lines)


def _cells(runs: Sequence[Run], xs: Sequence[float], page: int) -> tuple[str, ...]:
    cells: list[list[Run]] = [[] for _ in xs[1:]]
    for run in runs:
        cells[_column_of(run, xs)].append(run)
    return tuple(join_lines([line.text for line in gather(cell, page)]) for cell in cells)


def _column_of(run: Run, xs: Sequence[float]) -> int:
    middle = min((run.x0 + run.x1) / 2, run.x0 + 3 * run.size)  # a cell over two columns counts for its first
    return max(0, min(len(xs) - 2, sum(x <= middle for x in xs) - 1))


def _overlap(one: Grid, other: Grid) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1
