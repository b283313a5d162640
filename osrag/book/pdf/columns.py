"""Columns of a page and the order in which they are read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from osrag.book.pdf.lines import Line, gather
from osrag.book.pdf.page import Page

MIN_ROWS = 8  # on a page with fewer lines two columns cannot be told from a table


@dataclass(frozen=True, slots=True)
class Column:
    """Lines of one column, or of the page's full width, from top to bottom."""

    lines: tuple[Line, ...]
    left: float  # margins of running text, in points
    right: float


def gutter(page: Page, *, sure: bool) -> float | None:
    """Where the right column begins, in points from the left; None on a page of one column.

    `sure` asks for clear evidence, so that a table without rules is not taken for two columns.
    """
    rows = gather(page.runs, page.number)
    if len(rows) < MIN_ROWS:
        return None
    left, right = min(run.x0 for run in page.runs), max(min(run.x1, page.width) for run in page.runs)
    inner = (left + 0.35 * (right - left), left + 0.65 * (right - left))
    starts = Counter(round(run.x0) for run in page.runs if inner[0] < run.x0 < inner[1])
    best, most = None, 0
    for edge in starts:
        weight = starts[edge] + starts.get(edge - 1, 0) + starts.get(edge + 1, 0)
        if weight > most and _divides(edge, rows, left, right, sure):
            best, most = edge, weight
    if best is None:
        return None
    return min(run.x0 for run in page.runs if abs(run.x0 - best) <= 1.5)


def _divides(edge: float, rows: Sequence[Line], left: float, right: float, sure: bool) -> bool:
    """Whether most rows have text on both sides of the edge, and few cross it. `left` and `right` are the margins."""
    crossing = starting = leftish = 0
    widths_left, widths_right = [], []
    for row in rows:
        crossing += any(run.x0 < edge - 6 and run.x1 > edge + 1 and not run.mono for run in row.runs)
        after = [run for run in row.runs if run.x0 >= edge - 1.5]
        before = [run for run in row.runs if run.x0 < edge - 6 and run.x1 < edge]
        if after and after[0].x0 < edge + 30:
            starting += 1
            widths_right.append(max(run.x1 for run in after) - after[0].x0)
        if before:
            leftish += 1
            widths_left.append(max(run.x1 for run in before) - before[0].x0)
    need, allowed, share = (0.55, 0.06, 0.45) if sure else (0.3, 0.3, 0.3)
    if crossing > allowed * len(rows) or min(starting, leftish) < max(5, need * len(rows)):
        return False
    return median(widths_left) > share * (edge - left) and median(widths_right) > share * (right - edge)


def page_gutters(pages: Sequence[Page]) -> list[float | None]:
    """The gutter of each page. Where much of a document has two columns, less evidence will do."""
    sure = [gutter(page, sure=True) for page in pages]
    if sum(edge is not None for edge in sure) < 0.3 * max(1, sum(bool(page.runs) for page in pages)):
        return sure
    # Left and right pages of a book have different margins.
    usual = [Counter(round(edge) for edge in sure[parity::2] if edge is not None).most_common(1) for parity in (0, 1)]
    out: list[float | None] = []
    for at, page in enumerate(pages):
        edges = [edge for edge, _ in (*usual[at % 2], *usual[1 - at % 2])]
        fitting = [edge for edge in edges if _divides_page(page, edge)]
        out.append(fitting[0] if fitting else gutter(page, sure=False))
    return out


def _divides_page(page: Page, edge: float) -> bool:
    """Whether, in a document of two columns, something begins at the gutter and little runs across it."""
    rows = gather(page.runs, page.number)
    crossing = sum(any(run.x0 < edge - 6 and run.x1 > edge + 1 and not run.mono for run in row.runs) for row in rows)
    starting = any(abs(run.x0 - edge) <= 1.5 for run in page.runs)
    return starting and crossing <= 0.3 * len(rows)


def columns(page: Page, edge: float | None) -> list[Column]:
    """Columns in reading order. What spans both stands between what is above and what is below it."""
    if edge is None:
        return [_column(gather(page.runs, page.number))] if page.runs else []
    spanning = [run for run in page.runs if run.x0 < edge - 20 and run.x1 > edge + 20 and not run.mono]
    out: list[Column] = []
    top = -1.0
    for cut in [*sorted({run.base for run in spanning}), page.height * 2]:
        for right in (False, True):
            part = [
                run
                for run in page.runs
                if (run.x0 >= edge - 2) == right and top < run.base < cut - 1 and run not in spanning
            ]
            if part:
                out.append(_column(gather(part, page.number, len(out))))
        wide = [run for run in page.runs if abs(run.base - cut) <= 1 and run in spanning]
        if wide:
            out.append(_column(gather(wide, page.number, len(out))))
        top = cut
    return out


def _column(lines: Sequence[Line]) -> Column:
    """A column with the margins that most of its lines keep."""
    long = [line for line in lines if len(line.text) > 20] or list(lines)
    text = [line for line in long if not line.mono]  # a listing may stick out
    text = text if len(text) > 2 else long
    lefts = Counter(round(line.x0) for line in text)
    left = min((edge for edge, count in lefts.items() if count >= 0.1 * len(text)), default=min(lefts))
    rights = sorted(line.x1 for line in text)
    return Column(tuple(lines), float(left), rights[min(len(rights) - 1, int(0.9 * len(rights)))])
