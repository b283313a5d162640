"""Where sections begin: from the outline of the PDF, else from type size and numbering."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from osrag.book.pdf.blocks import CAPTION, Style
from osrag.book.pdf.file import OutlineEntry
from osrag.book.pdf.lines import Line, join_lines

MAX_LINES = 4  # that one heading may fill
MAX_LENGTH = 90  # characters; a longer line in large type is text of a title page or a slide
_NUMBER = re.compile(
    r"^(?:(?:(?:chapter|appendix|part)\s+)?(?:[\dA-Z]|[IVXLC]+|\d+)(?:\.\d+)*[.:)]?\s+|"
    r"第\s*[\d一二三四五六七八九十百]+\s*[章节部]\s*)",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s*){4,}|…{2,}|(?:·\s*){4,}")
_ENDS_IN_NUMBER = re.compile(r"\S.*\s([ivxlc]+|\d{1,4})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a section."""

    page: int
    top: float  # baseline of its first line; the height in the outline where no line was found
    level: int  # 1 is the outermost
    title: str
    lines: tuple[Line, ...] = ()


def find_headings(outline: Sequence[OutlineEntry], pages: Sequence[Sequence[Line]], style: Style) -> list[Heading]:
    """Headings in reading order. `pages` are the lines of each page in reading order.

    An outline that names few places (less than one in eight pages, as in slides) is completed by the headings found
    by their type.
    """
    named = list(_from_outline(outline, pages))
    taken = {id(line) for heading in named for line in heading.lines}
    if len(named) * 8 >= len(pages) and named:
        more = list(_set_like(named, pages, taken, style))
    else:
        deepest = max((heading.level for heading in named), default=0)
        more = [
            replace(heading, level=heading.level if not named else deepest + 1)
            for heading in _by_type(pages, style)
            if not any(id(line) in taken for line in heading.lines)
        ]
    return sorted([*named, *more], key=lambda heading: (heading.page, heading.top)) if named else more


def _set_like(
    named: Sequence[Heading], pages: Sequence[Sequence[Line]], taken: set[int], style: Style
) -> Iterator[Heading]:
    """Headings that the outline leaves out ("Exercises"): they are set in the same type as others of a level."""
    faces: dict[tuple[float, str], Counter[int]] = {}
    for heading in named:
        for line in heading.lines[:1]:
            faces.setdefault((line.size, line.font), Counter())[heading.level] += 1
    levels = {face: seen.most_common(1)[0][0] for face, seen in faces.items() if seen.total() > 2}
    for lines in pages:
        for group in _groups(lines, style):
            level = levels.get((group[0].size, group[0].font))
            if level is not None and group[0].size > 1.08 * style.size and not any(id(line) in taken for line in group):
                title = spaced_number(join_lines([line.text for line in group]))
                yield Heading(group[0].page, group[0].base, level, title, group)


# ---------------------------------------------------------------- from the outline


def _from_outline(outline: Sequence[OutlineEntry], pages: Sequence[Sequence[Line]]) -> Iterator[Heading]:
    taken: set[int] = set()
    for entry in outline:
        if not 1 <= entry.page <= len(pages):
            continue
        if lines := _printed(entry, pages, taken):
            taken.update(id(line) for line in lines)
            title = join_lines([line.text for line in lines])
            yield Heading(lines[0].page, lines[0].base, entry.level, _title(title, entry.title), lines)
        else:
            yield Heading(entry.page, entry.top or 0.0, entry.level, entry.title)


def _title(printed: str, named: str) -> str:
    """The outline's title where both say the same, else the printed one, which has the number."""
    return named if _key(printed) == _key(named) else spaced_number(printed)


def spaced_number(title: str) -> str:
    """`2.1进程` as `2.1 进程`."""
    return re.sub(r"^(\d+(?:\.\d+)*)(?=[\u3400-\u9fff])", r"\1 ", title)


def _printed(entry: OutlineEntry, pages: Sequence[Sequence[Line]], taken: set[int]) -> tuple[Line, ...]:
    """The lines that print the title of `entry`, nearest to where it points."""
    wanted = _key(entry.title)
    bare = _key(_NUMBER.sub("", entry.title, count=1)) or wanted
    for lines in pages[entry.page - 1 : entry.page + 1]:
        matches = [_match(lines, at, {wanted, bare}) for at, line in enumerate(lines) if _key(line.text)]
        free = [match for match in matches if match and not any(id(line) in taken for line in match)]
        if free:
            # "Chapter 1" on a line of its own belongs to the title.
            return min(
                free, key=lambda lines: (-len(lines), abs(lines[0].base - 0.75 * lines[0].size - (entry.top or 0)))
            )
    return ()


def _match(lines: Sequence[Line], at: int, wanted: set[str]) -> tuple[Line, ...]:
    """The lines from `at` on that say what is wanted, with or without a number."""
    text = ""
    longest = max(map(len, wanted)) + 20
    for count in range(1, MAX_LINES + 1):
        if at + count > len(lines):
            break
        line = lines[at + count - 1]
        text = f"{text} {line.text}".strip()
        key = _key(text)
        if len(key) > longest:
            break
        if key in wanted or _key(_NUMBER.sub("", text, count=1)) in wanted:
            return tuple(lines[at : at + count])
    return ()


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


# ---------------------------------------------------------------- by type


def _by_type(pages: Sequence[Sequence[Line]], style: Style) -> Iterator[Heading]:
    groups = [group for lines in pages for group in _groups(lines, style)]
    sizes = {_rank_size(group[0]) for group in groups}
    ranks = {size: rank for rank, size in enumerate(sorted(sizes, reverse=True), start=1)}
    for group in groups:
        title = spaced_number(join_lines([line.text for line in group]))
        if len(re.findall(r"\w", title)) >= 2:
            yield Heading(group[0].page, group[0].base, min(ranks[_rank_size(group[0])], 5), title, group)


def _rank_size(line: Line) -> float:
    """The type size to half a point; larger headings stand above smaller ones."""
    return round(line.size * 2) / 2


def _groups(lines: Sequence[Line], style: Style) -> Iterator[tuple[Line, ...]]:
    """Lines that are set as a heading; a heading that runs over several lines is one group."""
    group: list[Line] = []
    for line in lines:
        fits = _looks_like_one(line, style)
        joins = (
            fits
            and 0 < len(group) < MAX_LINES
            and 0 < line.base - group[-1].base <= 2.2 * line.size
            and abs(line.size - group[-1].size) <= 0.5
        )
        if group and not joins:
            yield tuple(group)
            group = []
        if fits:
            group.append(line)
    if group:
        yield tuple(group)


def _looks_like_one(line: Line, style: Style) -> bool:
    text = line.text.strip()
    if not text or len(text) > MAX_LENGTH or line.mono or CAPTION.match(text) or line.bullet:
        return False
    if text.endswith(("。", ",", "，", ";", "；", ".")) or len(line.cells) > 2:
        return False
    if not re.search(r"[^\W\d_]{2}|[\u3400-\u9fff]", text):
        return False
    return line.size >= 1.12 * style.size


# ---------------------------------------------------------------- contents pages


def is_contents(lines: Sequence[Line]) -> bool:
    """Whether the page is a table of contents: nearly every line ends in a page number, and the numbers rise."""
    ends = [match for line in lines if (match := _ENDS_IN_NUMBER.search(line.text.replace(".", " ").strip()))]
    if len(ends) < max(4, 0.55 * len(lines)):
        return False
    numbers = [int(match.group(1)) for match in ends if match.group(1).isdigit()]
    rising = sum(a <= b for a, b in pairwise(numbers))
    leaders = sum(bool(_LEADERS.search(line.text)) for line in lines)
    named = any(_key(line.text) in {"contents", "tableofcontents", "目录", "目錄"} for line in lines[:3])
    return rising >= 0.85 * max(1, len(numbers) - 1) and (named or leaders >= 0.3 * len(lines))
