"""The lines of a column as parts: paragraphs, list items, listings, words of drawings, captions."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from osrag.book.document import BlockKind
from osrag.book.pdf.columns import Column
from osrag.book.pdf.lines import Line, most
from osrag.book.pdf.page import is_wide, starts_with_bullet

CAPTION = re.compile(
    r"(figure|fig\.|table|listing|algorithm|program|图|表|程序|算法|清单)\s*[A-Z]?\d+([.\-–]\d+)*", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"(\(?\d{1,2}[.)、）](?!\d)|\d{1,2}[.-]\d{1,2}\s|\([a-z]\)|[a-z]\)|[ivx]{1,4}\.\s|[①-⑳]|（[一二三四五六七八九十\d]+）|[一二三四五六七八九十]+、)\s*\S"
)
NESTED = 0.7  # type sizes that a list in a list begins further right
_TERMINAL = re.compile(r"[.!?。！？…:：;；][\"'”’)）\]」』]*$")
_CODE_END = re.compile(r"[;{}]\s*(//.*|/\*.*)?$|^\s*(#\s*(include|define|if|endif)|//|/\*)|^\s*[{}]")


@dataclass(frozen=True, slots=True)
class Part:
    """A block of one page: its lines, or its text where no line prints it (a table, a heading of the outline)."""

    kind: BlockKind
    page: int
    top: float  # baseline of its first line, in points from the top of the page
    lines: tuple[Line, ...] = ()
    right: float = 0.0  # right margin of its column
    text: str = ""
    level: int = 0  # of a heading; of an item: how many lists its own lies in

    @property
    def full(self) -> bool:
        """Its last line reaches the margin: the paragraph may go on."""
        return self.lines[-1].x1 > self.right - 1.5 * self.lines[-1].size


@dataclass(frozen=True, slots=True)
class Style:
    """What running text looks like in this document. Lengths are in points."""

    size: float
    leading: float  # from baseline to baseline
    faces: frozenset[str]  # the fonts of a good part of the text


def style_of(lines: Sequence[Line]) -> Style:
    """The size, face and leading that most characters of a document have."""
    faces: Counter[str] = Counter()
    for line in lines:
        faces[line.font] += len(line.text)
    size = most(((line.size, len(line.text)) for line in lines), 10.0)
    steps = Counter(
        round(line.base - before.base, 1)
        for before, line in itertools.pairwise(lines)
        if line.size == before.size == size and before.page == line.page
    )
    leading = max((step for step in steps if 0.9 * size < step < 2.5 * size), key=steps.__getitem__, default=1.3 * size)
    return Style(size, leading, frozenset(font for font, count in faces.items() if count >= 0.01 * faces.total()))


def parts_of(column: Column, style: Style, headings: frozenset[int]) -> Iterator[Part]:
    """The parts of a column in order; `headings` holds the `id` of every line that belongs to a heading."""
    group: list[Line] = []
    kind = BlockKind.PARAGRAPH
    lines = column.lines
    for at, line in enumerate(lines):
        now = BlockKind.HEADING if id(line) in headings else _kind(lines, at, column, style)
        if group and (now != kind or _breaks(group, line, column, style, kind)):
            yield _part(kind, group, column)
            group = []
        if not group:
            kind = now
        group.append(line)
    if group:
        yield _part(kind, group, column)


def _part(kind: BlockKind, lines: Sequence[Line], column: Column) -> Part:
    if kind is BlockKind.PARAGRAPH:
        text = lines[0].text
        if CAPTION.match(text) and len(lines) <= 8 and _stands_apart(lines, text):
            kind = BlockKind.CAPTION
        elif _starts_item(lines[0]):
            kind = BlockKind.ITEM
    return Part(kind, lines[0].page, lines[0].base, tuple(lines), column.right)


def nested(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, each item with its level: one that begins further right than the item just before lies in its list."""
    lists: list[float] = []  # left edge of each list around the place
    before: Part | None = None
    for part in parts:
        if part.kind is BlockKind.ITEM:
            edge, slack = part.lines[0].x0, NESTED * part.lines[0].size
            while lists and lists[-1] > edge + slack:
                lists.pop()
            if not lists or edge > lists[-1] + slack:
                inside = before is not None and before.kind is BlockKind.ITEM and _column(before) == _column(part)
                lists = [*(lists if inside else ()), edge]
            part = replace(part, level=len(lists) - 1)
        elif part.kind is BlockKind.HEADING:
            lists = []
        before = part
        yield part


def _column(part: Part) -> int:
    return part.lines[0].column


def _stands_apart(lines: Sequence[Line], text: str) -> bool:
    """`Figure 2.3: …` is a caption, `Figure 2.3 shows …` begins a sentence. A Chinese caption has no full stop."""
    match = CAPTION.match(text)
    rest = text[match.end() :].lstrip() if match else text
    if match and is_wide(text[0]):
        return "。" not in "".join(line.text for line in lines)
    return not rest or rest[0] in ":.—–-(" or lines[0].bold


def _starts_item(line: Line) -> bool:
    return line.bullet or starts_with_bullet(line.text) or bool(_NUMBERED.match(line.text))


def _kind(lines: Sequence[Line], at: int, column: Column, style: Style) -> BlockKind:
    """What a line is that belongs to no heading."""
    if _is_code(lines, at):
        return BlockKind.CODE
    return BlockKind.FIGURE if _is_drawing(lines, at, column, style) else BlockKind.PARAGRAPH


def _is_code(lines: Sequence[Line], at: int) -> bool:
    """Whether the line is part of a listing, in a typewriter face or not."""
    near = lines[max(0, at - 2) : at + 3]
    ends = bool(_CODE_END.search(lines[at].text)) and sum(bool(_CODE_END.search(other.text)) for other in near) >= 3
    return lines[at].mono or ends


def _is_drawing(lines: Sequence[Line], at: int, column: Column, style: Style) -> bool:
    """Whether the line is words of a drawing: small, in another face or scattered, and not running text."""
    line = lines[at]
    if CAPTION.match(line.text) or line.size > 1.05 * style.size:
        return False
    width = max(1.0, column.right - column.left)
    if len(line.cells) > 1 and (line.size < 0.95 * style.size or _gappy(line)):
        return not line.text.rstrip().endswith(("。", ".")) or _gappy(line)
    small = line.size < 0.95 * style.size or line.font not in style.faces
    short = line.x1 - line.x0 < 0.6 * width
    running = any(
        abs(line.base - other.base) < 1.8 * line.size
        and abs(other.size - line.size) < 0.12 * style.size
        and (other.x1 - other.x0 > 0.6 * width or (other.base < line.base and _starts_item(other)))
        for other in lines[max(0, at - 1) : at + 2]
        if other is not line
    )
    return small and short and not running and not _TERMINAL.search(line.text)


def _gappy(line: Line) -> bool:
    """Whether the line is several words far apart."""
    return len(line.cells) > 2 or (
        len(line.cells) == 2 and line.cells[1].x0 - line.cells[0].x1 > 3 * line.size and not _starts_item(line)
    )


def _breaks(group: Sequence[Line], line: Line, column: Column, style: Style, kind: BlockKind) -> bool:
    """Whether `line` begins a new part after the lines of `group`, which are of its own kind."""
    before = group[-1]
    step = line.base - before.base
    if line.page != before.page:
        return True
    if kind is BlockKind.CODE:
        return step > 3.2 * style.leading or step < 0
    if kind is BlockKind.FIGURE:
        return step > 4 * style.leading
    if kind is BlockKind.HEADING:
        return abs(line.size - before.size) > 0.5 or step > 2.2 * line.size
    if step > 1.42 * max(_leading(group, style), 1.05 * line.size) or step < 0:
        return True
    # A paragraph keeps its size. Typewriter words are smaller, so one run of the usual size is enough.
    if all(abs(run.size - other.size) > 0.12 * style.size for run in line.runs for other in before.runs):
        return True
    return _new_paragraph(group, line, column)


def _leading(group: Sequence[Line], style: Style) -> float:
    steps = [b.base - a.base for a, b in itertools.pairwise(group)]
    return min(steps) if steps else style.leading * group[0].size / style.size


def _new_paragraph(group: Sequence[Line], line: Line, column: Column) -> bool:
    before, first = group[-1], group[0]
    if CAPTION.match(first.text) and _stands_apart([*group, line], first.text):
        return False  # its lines may be centred: only a gap ends it
    em = line.size
    width = max(1.0, column.right - column.left)
    short = before.x1 < column.right - max(2 * em, 0.08 * width)
    if line.bullet or starts_with_bullet(line.text):
        return True
    if (caption := CAPTION.match(line.text)) and (
        line.text[caption.end() :].lstrip()[:1] in (":", "：")
        or abs(line.size - before.size) > 0.4
        or line.x0 > column.left + 2 * em
    ):
        return True
    hang = group[1].x0 if len(group) > 1 else None
    if _NUMBERED.match(line.text) and (short or (_starts_item(first) and abs(line.x0 - first.x0) < 1.5 * em)):
        return True
    if _starts_item(first):
        text_x0 = hang if hang is not None else first.x0
        if line.x0 < text_x0 - 0.7 * em and (short or line.x0 < first.x0 - 0.7 * em):
            return True
    elif hang is not None and line.x0 > hang + 0.7 * em:
        return True  # a first line indented
    elif hang is None and line.x0 > first.x0 + 0.7 * em and (short or _TERMINAL.search(before.text)):
        return True  # else the first line hangs out
    return short and (bool(_TERMINAL.search(before.text)) or before.x1 < column.right - 0.3 * width)
