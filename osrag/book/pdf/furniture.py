"""Running heads, running feet and page numbers: what a page repeats from its neighbours, and its printed label."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from osrag.book.pdf.lines import Line, gather, most
from osrag.book.pdf.page import Page

ZONE = 0.17  # heads and feet stand in this share of the height, above and below
ROWS = 2  # that are looked at from each end
_ROMAN = re.compile(r"[ivxlcdm]{1,7}", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,4}")
# "3", "- 3 -", "3 / 33", "Page 3 of 33", "第 3 页"
_ONLY_NUMBER = re.compile(
    r"[-–—·\s]*(?:page|p\.|第)?\s*(\d{1,4}|[ivxlc]{1,6})\s*(?:页)?\s*(?:(?:/|of|共)\s*\d{1,4}\s*页?)?[-–—·\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Row:
    place: int  # of the page, 0-based
    top: bool
    rank: int  # 0 is the outermost
    line: Line
    clear: float  # distance to the next row towards the middle, in type sizes

    @property
    def level(self) -> tuple[bool, int]:
        return self.top, round(self.line.base / 3)

    @property
    def ends(self) -> set[str]:
        """The first and the last word."""
        words = self.line.text.split()
        return {*words[:1], *words[-1:]}


def strip_furniture(pages: Sequence[Page], labels: Sequence[str]) -> tuple[list[Page], list[str]]:
    """The pages without heads, feet and numbers, and the label of each page.

    `labels` are those of the file; where it has none, the printed numbers are taken.
    """
    body = most(((round(run.size, 1), len(run.text)) for page in pages for run in page.runs), 10.0)
    rows = [row for place, page in enumerate(pages) for row in _rows(place, page)]
    numbers = _numbers(rows, len(pages))
    flagged = [row for row in rows if _only_number(row, len(pages))]
    quiet = [row for row in rows if row.line.size <= 1.15 * body]  # a head is not larger than the text
    flagged += _repeated(quiet, len(pages))
    levels = _levels(flagged, len(pages))
    flagged += [row for row in rows if row.rank == 0 and row.clear > 1.6 and row.level in levels]
    drop: dict[int, set[int]] = defaultdict(set)
    for row in flagged:
        drop[row.place].update(id(run) for run in row.line.runs)
    kept = [
        replace(page, runs=tuple(run for run in page.runs if id(run) not in drop[place]))
        for place, page in enumerate(pages)
    ]
    return kept, [label or printed for label, printed in zip(labels, _printed(rows, numbers, len(pages)), strict=True)]


def _rows(place: int, page: Page) -> Iterator[_Row]:
    edge = ZONE * page.height
    head = gather([run for run in page.runs if run.base < edge + 40], page.number)
    foot = gather([run for run in page.runs if run.base > page.height - edge - 40], page.number)[::-1]
    for top, lines in ((True, head), (False, foot)):
        for rank, line in enumerate(lines[:ROWS]):
            after = lines[rank + 1] if rank + 1 < len(lines) else None
            clear = abs(after.base - line.base) / line.size if after else 9.0
            if line.base < edge if top else line.base > page.height - edge:
                yield _Row(place, top, rank, line, clear)


def _numbers(rows: Sequence[_Row], count: int) -> set[int]:
    """Offsets between the printed number and the place that many of the `count` pages share."""
    offsets: Counter[int] = Counter()
    for row in rows:
        offsets.update({int(word) - row.place for word in row.ends if _NUMBER.fullmatch(word)})
    return {offset for offset, seen in offsets.items() if seen >= max(3, 0.15 * count)}


def _only_number(row: _Row, count: int) -> bool:
    """Whether the row is nothing but a page number. This helps in documents too short to compare pages."""
    if row.rank or not _ONLY_NUMBER.fullmatch(row.line.text) or row.clear < 1.6:
        return False
    number = re.search(r"\d+", row.line.text)
    return number is None or int(number.group()) <= row.place + 1 + max(50, count)


def _repeated(rows: Sequence[_Row], count: int) -> list[_Row]:
    """Rows whose words, apart from digits, stand at the same height on several pages near each other."""
    groups: dict[tuple[tuple[bool, int], str], list[_Row]] = defaultdict(list)
    for row in rows:
        words = re.sub(r"\d+|\b[ivxlcdm]+\b", "#", re.sub(r"\s+", "", row.line.text.lower()))
        if words and (row.rank == 0 or row.clear > 1.3):
            groups[row.level, words].append(row)
    need = max(3, round(0.02 * count))
    return [row for group in groups.values() if _dense({row.place for row in group}, need) for row in group]


def _dense(places: set[int], need: int) -> bool:
    """Heads stand on every page or on every second one; a word that recurs by chance does not."""
    beside = sum(1 for place in places if places & {place - 2, place - 1, place + 1, place + 2})
    return len(places) >= need and beside >= 0.7 * len(places)


def _levels(flagged: Sequence[_Row], count: int) -> set[tuple[bool, int]]:
    """Heights at which a head or foot stands on a good part of the `count` pages, and those beside them."""
    seen = Counter(level for _, level in {(row.place, row.level) for row in flagged})
    usual = [level for level, pages in seen.items() if pages >= max(3, 0.2 * count)]
    return {(top, height + step) for top, height in usual for step in (-1, 0, 1)}


def _printed(rows: Sequence[_Row], numbers: set[int], count: int) -> list[str]:
    """The number printed on each page. Without one, the number its neighbours imply, else the place in the file."""
    seen: dict[int, str] = {}
    for row in rows:
        for word in row.ends:
            if _NUMBER.fullmatch(word) and int(word) - row.place in numbers:
                seen[row.place] = word
            elif _ROMAN.fullmatch(word) and _only_number(row, count):
                seen.setdefault(row.place, word)
    offsets = {place: int(word) - place for place, word in sorted(seen.items()) if word.isdigit()}
    out = []
    for place in range(count):
        before = [offset for other, offset in offsets.items() if other < place][-1:]
        after = [offset for other, offset in offsets.items() if other > place][:1]
        implied = str(place + before[0]) if before and before == after else ""  # where a chapter opens without a number
        out.append(seen.get(place) or implied or str(place + 1))
    return out
