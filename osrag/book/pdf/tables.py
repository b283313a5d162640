"""Tables that are ruled: which runs belong to which cell."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from osrag.book.pdf.lines import Line, gather, join_lines
from osrag.book.pdf.page import Page, Rule, Run

SNAP = 2.5  # points by which rules of one line may miss each other


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its frame and the text of its cells, row by row."""

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
    """Ruled tables from top to bottom. Boxes of a drawing are none: a table has rows and columns full of text."""
    if len(page.rules) < 3:
        return []
    level = _merge([rule for rule in page.rules if rule.level and rule.x1 - rule.x0 > 8])
    upright = _merge([rule for rule in page.rules if not rule.level and rule.y1 - rule.y0 > 4])
    grids: list[Grid] = []
    for group in _groups(level, upright):
        grid = _grid(page, group)
        if grid and not any(_overlap(grid, other) for other in grids):
            grids.append(grid)
    return sorted(grids, key=lambda grid: grid.y0)


def _merge(rules: Sequence[Rule]) -> list[Rule]:
    """Pieces of one line joined: typesetters draw a rule cell by cell."""
    out: list[Rule] = []
    if not rules:
        return out
    level = rules[0].level

    def position(rule: Rule) -> float:
        return rule.y0 if level else rule.x0

    def start(rule: Rule) -> float:
        return rule.x0 if level else rule.y0

    def end(rule: Rule) -> float:
        return rule.x1 if level else rule.y1

    lines: list[list[Rule]] = []
    for rule in sorted(rules, key=position):
        if lines and position(rule) - position(lines[-1][0]) <= SNAP:
            lines[-1].append(rule)
        else:
            lines.append([rule])
    for line in lines:
        at = sum(position(rule) for rule in line) / len(line)
        low = high = None
        for rule in sorted(line, key=start):
            if high is not None and start(rule) <= high + SNAP + 1:
                high = max(high, end(rule))
                continue
            if low is not None and high is not None:
                out.append(Rule(low, at, high, at) if level else Rule(at, low, at, high))
            low, high = start(rule), end(rule)
        if low is not None and high is not None:
            out.append(Rule(low, at, high, at) if level else Rule(at, low, at, high))
    return out


@dataclass(frozen=True, slots=True)
class _Group:
    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]


def _groups(level: Sequence[Rule], upright: Sequence[Rule]) -> list[_Group]:
    """Rules that touch each other."""
    rules = [*level, *upright]
    parent = list(range(len(rules)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for a, one in enumerate(rules):
        for b in range(a):
            other = rules[b]
            if _touch(one, other):
                parent[root(a)] = root(b)
    groups: dict[int | tuple[int, int], list[Rule]] = {}
    for at, rule in enumerate(rules):
        groups.setdefault(root(at), []).append(rule)
    # A table may have level rules only: those of one width belong together.
    for key in [key for key, group in groups.items() if len(group) == 1 and group[0].level]:
        rule = groups.pop(key)[0]
        groups.setdefault((round(rule.x0 / SNAP), round(rule.x1 / SNAP)), []).append(rule)
    return [
        _Group(tuple(rule for rule in group if rule.level), tuple(rule for rule in group if not rule.level))
        for group in groups.values()
        if sum(rule.level for rule in group) >= 2
    ]


def _touch(one: Rule, other: Rule) -> bool:
    return (
        one.x0 - SNAP <= other.x1
        and other.x0 - SNAP <= one.x1
        and one.y0 - SNAP <= other.y1
        and other.y0 - SNAP <= one.y1
    )


def _grid(page: Page, group: _Group) -> Grid | None:
    x0, x1 = min(rule.x0 for rule in group.level), max(rule.x1 for rule in group.level)
    ys = _strong([(rule.y0, rule.x1 - rule.x0) for rule in group.level], x1 - x0)
    if len(ys) < 2:
        return None
    y0, y1 = ys[0], ys[-1]
    inside = [run for run in page.runs if y0 - 1 < run.base - 0.3 * run.size < y1 + 1 and x0 - 4 < run.x0 < x1 + 4]
    if not inside:
        return None
    if group.upright:
        xs = _strong([(rule.x0, min(rule.y1, y1) - max(rule.y0, y0)) for rule in group.upright], y1 - y0)
        xs = [x for x in xs if x0 + SNAP < x < x1 - SNAP]
        if not _ruled_through(group.upright, xs, ys):
            return None
        xs = [x0, *xs, x1]
    else:
        xs = _columns_by_holes(inside, x0, x1)
        if len(ys) < 3 and len(xs) < 4:
            return None  # two level lines around two columns: a box, an algorithm
        ys = _open_ends(page, xs, ys)
        y0, y1 = ys[0], ys[-1]
        inside = [run for run in page.runs if y0 < run.base - 0.3 * run.size < y1 and x0 - 4 < run.x0 < x1 + 4]
    if len(xs) < 3:
        return None
    rows = _rows(inside, xs, ys, page.number)
    if len(rows) < 2 or not _full(rows):
        return None
    if max(len(cell) for row in rows for cell in row) > 600:
        return None  # a framed page, not a table
    return Grid(x0, y0, x1, y1, tuple(rows))


def _ruled_through(upright: Sequence[Rule], xs: Sequence[float], ys: Sequence[float]) -> bool:
    """Whether the inner borders of columns go through nearly all rows, as boxes of a drawing do not."""
    cells = [(x, (top + bottom) / 2) for x in xs for top, bottom in itertools.pairwise(ys)]
    drawn = sum(any(abs(rule.x0 - x) <= SNAP and rule.y0 <= y <= rule.y1 for rule in upright) for x, y in cells)
    return drawn >= 0.8 * len(cells)


def _full(rows: Sequence[tuple[str, ...]]) -> bool:
    """Every column has text in a good part of the rows, and most rows in more than one column."""
    columns = [sum(bool(cell) for cell in column) for column in zip(*rows, strict=True)]
    wide = sum(sum(bool(cell) for cell in row) > 1 for row in rows)
    return min(columns) >= 0.3 * len(rows) and wide >= 0.5 * len(rows)


def _strong(lines: Sequence[tuple[float, float]], whole: float) -> list[float]:
    """Positions at which the rules cover at least half of `whole`."""
    cover: list[list[float]] = []
    for at, length in sorted(lines):
        if cover and at - cover[-1][0] <= SNAP:
            cover[-1][1] += length
        else:
            cover.append([at, length])
    return [at for at, length in cover if length >= 0.5 * whole]


def _columns_by_holes(runs: Sequence[Run], x0: float, x1: float) -> list[float]:
    """Column borders of a table with level rules only: where no line has text."""
    edges = sorted((run.x0, run.x1) for run in runs)
    xs, reach = [x0], edges[0][1]
    for left, right in edges[1:]:
        if left - reach > 6:
            xs.append((left + reach) / 2)
        reach = max(reach, right)
    return [*xs, x1]


def _open_ends(page: Page, xs: Sequence[float], ys: Sequence[float]) -> list[float]:
    """Borders of rows with those of a head above the first rule and a last row below the last one."""
    lines = [
        line
        for line in gather([run for run in page.runs if xs[0] - 4 < run.x0 < xs[-1] + 4], page.number)
        if all(_fits(run, xs) for run in line.runs)
    ]
    out = list(ys)
    above = [line for line in lines if 0 < ys[0] - line.base < 2.2 * line.size]
    if above and len(above[0].cells) > 1:
        out.insert(0, above[0].top - 1)
    below: list[Line] = []
    for line in lines:
        last = below[-1].base if below else ys[-1]
        if last < line.base < last + 2.2 * line.size and len(below) < 3:
            below.append(line)
    filled = {_column_of(run, xs) for line in below for run in line.runs}
    if len(filled) > 1:
        out.append(below[-1].bottom + 1)
    return out


def _fits(run: Run, xs: Sequence[float]) -> bool:
    """Whether the run stays inside one column."""
    at = sum(x <= run.x0 + 1 for x in xs) - 1
    return 0 <= at < len(xs) - 1 and run.x1 < xs[at + 1] + 1


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
