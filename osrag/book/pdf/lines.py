"""Runs of type to lines, and lines to running text: baselines, raised signs, word spaces, hyphens at line ends."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TypeVar

from osrag.book.glyphs import BULLETS, lowered, raised
from osrag.book.pdf.page import HAN_GAP, WORD_GAP, Run, is_bold, is_wide

_ENUMERATOR = re.compile(r"\(?\d{1,2}[.)]")
_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
_TAIL = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010\u00ad]$")
NO_SPACE_AFTER = "—–/（「『《“‘("

Words = Counter[str]  # how often a word stands unbroken in the document, lower case
_NO_WORDS: Words = Counter()
T = TypeVar("T")

SMALL = 0.86  # a run below this share of the size of its line may be raised or lowered
CELL_GAP = 1.8  # in type sizes: a gap this wide separates cells of a table or labels of a drawing


@dataclass(frozen=True)
class Line:
    """Runs on one baseline, left to right."""

    runs: tuple[Run, ...]
    page: int
    column: int = 0
    bullet: bool = False  # a bullet drawn as a shape stands before it

    @cached_property
    def size(self) -> float:
        """The size of most of its characters, in points."""
        return most(((round(run.size, 1), len(run.text)) for run in self.runs), 0.0)

    @cached_property
    def base(self) -> float:
        return most(((round(run.base, 1), len(run.text)) for run in self.runs if run.size >= SMALL * self.size), 0.0)

    @property
    def x0(self) -> float:
        return self.runs[0].x0

    @cached_property
    def x1(self) -> float:
        return max(run.x1 for run in self.runs)

    @cached_property
    def font(self) -> str:
        return most(((run.font, len(run.text)) for run in self.runs), "")

    @cached_property
    def mono(self) -> bool:
        """Whether all but a sign or two are in a typewriter face."""
        total = sum(len(run.text) for run in self.runs)
        return sum(len(run.text) for run in self.runs if run.mono) >= 0.9 * total

    @cached_property
    def bold(self) -> bool:
        total = sum(len(run.text) for run in self.runs)
        return sum(len(run.text) for run in self.runs if is_bold(run.font)) >= 0.9 * total

    @cached_property
    def text(self) -> str:
        return _text(self)

    def code(self, left: float, advance: float) -> str:
        """The line with its columns kept. `left` is the place of column 0, `advance` the width of a character."""
        out, end = "", self.x0
        for run in self.runs:
            column = max(0, round((run.x0 - left) / advance))
            apart = out and run.x0 > end + 0.3 * advance
            out += " " * max(column - len(out), 1 if apart else 0) + run.text
            end = run.x1
        return out.rstrip()

    @cached_property
    def cells(self) -> tuple["Line", ...]:
        """The line cut at wide gaps."""
        groups = [[self.runs[0]]]
        for before, run in zip(self.runs, self.runs[1:], strict=False):
            if run.x0 - max(r.x1 for r in groups[-1]) > CELL_GAP * max(before.size, run.size):
                groups.append([run])
            else:
                groups[-1].append(run)
        if len(groups) == 1:
            return (self,)
        return tuple(Line(tuple(group), self.page, self.column) for group in groups)


def most(pairs: Iterable[tuple[T, int]], default: T) -> T:
    """The value whose weights have the largest sum; the first of equals, `default` where there is none."""
    weights: Counter[T] = Counter()
    for value, weight in pairs:
        weights[value] += weight
    return max(weights, key=weights.__getitem__, default=default)


def _text(line: Line) -> str:
    out = ""
    end = line.x0
    for run in line.runs:
        text = _shifted(run, line)
        if text and out:
            blank = " " if (out in BULLETS or _ENUMERATOR.fullmatch(out)) and run.x0 > end + 0.15 * line.size else ""
            out += blank or _gap(out, text, run.x0 - end, min(run.size, line.size))
        out += text
        end = max(end, run.x1)
    if "\u0338" in out:  # TeX sets the stroke of an unequal sign first
        out = re.sub("\u0338 ?(\\S)", lambda match: unicodedata.normalize("NFC", match.group(1) + "\u0338"), out)
    return out


def _shifted(run: Run, line: Line) -> str:
    """Raised and lowered signs as such: 2³², T₁."""
    text = run.text
    if run.size >= SMALL * line.size or len(text) > 6:
        return text
    shift = line.base - run.base
    if shift > 0.15 * line.size:
        return raised(text)
    return lowered(text) if shift < -0.08 * line.size else text


def _gap(before: str, after: str, gap: float, size: float) -> str:
    if before[-1] == " " or after[0] == " ":
        return ""
    wide = is_wide(before[-1]) or is_wide(after[0])
    return " " if gap > (HAN_GAP if wide else WORD_GAP) * size else ""


def gather(runs: Sequence[Run], page: int, column: int = 0) -> list[Line]:
    """Runs put together as lines, from top to bottom. Small signs above or below a line join it."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: (-round(run.size), run.base)):
        row = _row_of(run, rows)
        if row is not None:
            row.append(run)
        else:
            rows.append([run])
    rows.sort(key=lambda row: row[0].base)
    return [Line(tuple(sorted(row, key=lambda run: run.x0)), page, column) for row in rows]


def _row_of(run: Run, rows: list[list[Run]]) -> list[Run] | None:
    """The row whose baseline the run shares, or beside whose text it is raised or lowered."""
    for row in rows:
        first = row[0]
        offset = run.base - first.base
        if abs(offset) <= 0.22 * min(run.size, first.size):
            return row
        if run.size < SMALL * first.size and -0.62 * first.size < offset < 0.4 * first.size and len(run.text) <= 12:
            beside = any(
                -0.5 * first.size < run.x0 - other.x1 < 0.35 * first.size
                or -0.5 * first.size < other.x0 - run.x1 < 0.35 * first.size
                for other in row
                if other.size > run.size
            )
            if beside:
                return row
    return None


# ---------------------------------------------------------------- lines to running text


def count_words(lines: Iterable[str]) -> Words:
    """How often each word stands unbroken in a document. These counts decide about every hyphen at a line end."""
    words: Words = Counter()
    broken = False  # the line before ended in a hyphen: this one begins with half a word
    for line in lines:
        found = _WORD.findall(line.rstrip("-\u2010\u00ad"))
        found = found[1:] if broken else found
        broken = line.endswith(("-", "\u2010", "\u00ad"))
        words.update(word.lower() for word in (found[:-1] if broken else found))
    return words


def join_lines(lines: Sequence[str], words: Words = _NO_WORDS) -> str:
    """Lines as one text: blanks between Latin lines, none between Chinese ones, hyphens repaired."""
    return reduce(lambda text, line: join_two(text, line, words), lines, "")


def join_two(before: str, after: str, words: Words) -> str:
    """`before` continued by `after`. It never shortens `before` by more than a hyphen."""
    before, after = before.rstrip(), after.lstrip()
    if not before or not after:
        return before + after
    tail = _TAIL.search(before)
    if tail:
        return _without_hyphen(before, tail.group(1), after, words)
    if before[-1] in "-\u2010" and before[-2:-1].isalnum():
        return before + after  # "x86-" "64"
    if is_wide(before[-1]) or is_wide(after[0]):
        # A line end in Chinese text is no blank; beside a Latin word neither side asks for one.
        return before + after
    if before[-1] in NO_SPACE_AFTER and (before[-1] != "–" or before[-2:-1].isdigit()):
        return before + after
    if before[-1] in "./-_?&=#%~" and "://" in before.rsplit(maxsplit=1)[-1]:
        return before + after  # a web address broken at a line end
    return f"{before} {after}"


def _without_hyphen(before: str, tail: str, after: str, words: Words) -> str:
    head = _WORD.match(after)
    if before[-1] == "\u00ad":
        return before[:-1] + after
    if head is None or not head.group()[0].islower():
        return before + after  # "Unix-" "Like", "pre-" "2000"
    first = tail.split("-")[-1]
    joined, kept = (first + head.group()).lower(), f"{tail}-{head.group()}".lower()
    seen_joined, seen_kept = words[joined], words[kept] + words[f"{first}-{head.group()}".lower()]
    if seen_joined or seen_kept:
        return before + after if seen_kept > seen_joined else before[:-1] + after
    if re.fullmatch(f"{first[-1].lower()}(ing|ed|er|en|able)", head.group()):
        return before[:-1] + after  # "stop-" "ping"
    # Never seen whole: a compound when both halves are words of the book ("time-" "sharing").
    both = words[first.lower()] >= 2 and words[head.group().lower()] >= 2 and min(len(first), len(head.group())) > 2
    return before + after if both else before[:-1] + after
