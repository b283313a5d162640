"""One PDF page as runs of text and rules: what pdfplumber sees, small enough to hand between processes."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from osrag.book.glyphs import BULLETS, accented, readable

# Gaps in shares of the type size. A narrower one is kerning (TeX shrinks a word space to 0.22); a higher limit joins
# words.
WORD_GAP = 0.17
# Chinese text has no word spaces, but typesetters put up to half an em around Latin words.
HAN_GAP = 0.7
# A wider gap starts a new run: another column, a table cell, a tab.
RUN_GAP = 0.95
MONO_RUN_GAP = 1.25

_MONO = re.compile(
    r"mono|courier|consol|menlo|typewriter|cmtt|cmsltt|lmtt|sftt|txtt|inconsolata|sourcecode|firacode|"
    r"andale|lettergothic|fixedsys|nimbusmonl|couri",
    re.IGNORECASE,
)
_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|cmb\d|cmssbx|sfbx|-bd\b", re.IGNORECASE)
_WIDE = re.compile("[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60]")


@functools.cache
def is_mono(font: str) -> bool:
    return bool(_MONO.search(font))


@functools.cache
def is_bold(font: str) -> bool:
    return bool(_BOLD.search(font))


def is_wide(char: str) -> bool:
    """Whether `char` is a Han character or its punctuation, which stand without word spaces."""
    return bool(_WIDE.match(char))


@dataclass(frozen=True, slots=True)
class Run:
    """Characters set one after another in one font. Coordinates are points from the top left corner."""

    text: str
    x0: float
    x1: float
    base: float  # baseline
    size: float
    font: str

    @property
    def mono(self) -> bool:
        return is_mono(self.font)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in points from the top left corner. A straight line is one without width or height."""

    x0: float
    y0: float
    x1: float
    y1: float

    def overlaps(self, other: "Box") -> bool:
        """Whether the two have a place in common."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1


@dataclass(frozen=True, slots=True)
class Frame:
    """The borders of a table's columns and rows, in points: one more of each than there are columns and rows."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """One page, free of pdfplumber."""

    number: int  # place in the file, 1-based
    width: float
    height: float
    runs: tuple[Run, ...]  # in the order of the file
    frames: tuple[Frame, ...] = ()  # of tables that are ruled both ways
    marks: tuple[tuple[float, float], ...] = ()  # centres of dots and squares drawn as shapes: bullets
    turned: str = ""  # text that does not stand upright
    drawn: bool = False  # has pictures or shapes
    covered: float = 0.0  # share of its area under its largest picture
    problem: str = ""  # why the page could not be read


def read_page(page: Any, number: int) -> Page:
    """Read a pdfplumber page; `number` is its place in the file, from 1."""
    objects = page.objects
    chars = objects.get("char", ())
    width, height = float(page.width), float(page.height)
    # What stands wholly outside the page (a frame that ran over, a hidden layer) is left out.
    upright = [
        char for char in chars if char["upright"] and char["x0"] < 1.5 * width and 0 < char["bottom"] < height + 9
    ]
    straight = [*objects.get("line", ()), *objects.get("rect", ())]
    shapes = [*straight, *objects.get("curve", ())]
    borders, marks = _shapes(shapes)
    return Page(
        number=number,
        width=width,
        height=height,
        runs=tuple(runs_of(upright, borders, underscores_of(shapes))),
        frames=tuple(frames_of(page, straight)),
        marks=tuple(marks),
        turned="".join(readable(char["text"]) for char in chars if not char["upright"]).strip(),
        drawn=bool(objects.get("image") or objects.get("curve") or objects.get("rect")),
        covered=max((_area(image) for image in objects.get("image", ())), default=0.0) / max(1.0, width * height),
    )


def _area(image: Any) -> float:
    """In square points."""
    return abs(float(image["x1"] - image["x0"]) * float(image["bottom"] - image["top"]))


class _Pen:
    """Collects the characters of one run."""

    def __init__(self, font: str, size: float, base: float) -> None:
        self.font, self.size, self.base = font, size, base
        self.parts: list[str] = []
        self.x0 = self.x1 = 0.0
        self.last_x0 = 0.0  # of the last character, to tell a double strike

    def fits(self, font: str, size: float, base: float, x0: float) -> bool:
        if font != self.font or abs(size - self.size) > 0.1 or abs(base - self.base) > 0.08 * size:
            return False
        widest = MONO_RUN_GAP if is_mono(font) else RUN_GAP
        return -0.6 * size < x0 - self.x1 < widest * size

    def crosses(self, borders: Sequence[Box], x0: float) -> bool:
        """Whether the border of a table cell stands in the hole before `x0`."""
        if x0 - self.x1 < 0.4 * self.size:
            return False
        y = self.base - 0.3 * self.size
        return any(self.x1 - 1 < rule.x0 < x0 + 1 and rule.y0 <= y <= rule.y1 for rule in borders)

    def underscored(self, underscores: Sequence[Box], x0: float) -> bool:
        """Whether a drawn underscore fills the hole before `x0`."""
        near = 0.1 * self.size
        return any(
            abs(rule.x0 - self.x1) < near
            and abs(rule.x1 - x0) < near
            and -near < rule.y0 - self.base < 0.25 * self.size
            for rule in underscores
        )

    def add(self, text: str, x0: float, x1: float, *, underscored: bool = False) -> None:
        """Append characters that span `x0` to `x1` (points), with the blanks that the gap before them stands for."""
        if not self.parts:
            self.x0, self.x1 = x0, x1
        elif underscored:
            self.parts.append("_")
        elif text != " " and self.parts[-1] != " ":
            gap = x0 - self.x1
            wide = is_wide(text[0]) or is_wide(self.parts[-1][-1])
            if is_mono(self.font) and not wide:
                advance = max((x1 - x0) / len(text), 0.3 * self.size)
                self.parts.append(" " * round(gap / advance))
            elif gap > (HAN_GAP if wide else WORD_GAP) * self.size:
                self.parts.append(" ")
        self.parts.append(text)
        self.last_x0 = x0
        if text != " " or is_mono(self.font):
            self.x1 = max(self.x1, x1)

    def run(self) -> Run | None:
        """The characters as one run; None if there are only blanks."""
        text = "".join(self.parts)
        text = text.rstrip() if is_mono(self.font) else " ".join(text.split())
        if not text.strip():
            return None
        return Run(text, self.x0, self.x1, self.base, self.size, self.font)


def underscores_of(shapes: Iterable[Any]) -> list[Box]:
    """Short level lines. TeX draws the underscore of `sem_init` where the font of the running text has none."""
    return [
        Box(shape["x0"], shape["top"], shape["x1"], shape["top"])
        for shape in shapes
        if shape["bottom"] - shape["top"] < 1 and 1.5 <= shape["x1"] - shape["x0"] <= 8
    ]


def runs_of(chars: Iterable[Any], borders: Sequence[Box] = (), underscores: Sequence[Box] = ()) -> list[Run]:
    """Runs in the order of the file, cut at upright rules. Characters printed twice at one place count once."""
    pens: list[_Pen] = []
    for char in chars:
        font = char["fontname"].rpartition("+")[2]
        text = readable(char["text"], font)
        if not text:
            continue
        x0, x1, size = char["x0"], char["x1"], char["size"]
        base = char["bottom"] - (char["matrix"][5] - char["y0"])
        pen = pens[-1] if pens else None
        if pen is not None and pen.fits(font, size, base, x0) and not pen.crosses(borders, x0):
            if pen.parts and text == pen.parts[-1] and abs(x0 - pen.last_x0) < 0.1 * size and text != " ":
                continue  # bold by a double strike
            both = accented(pen.parts[-1], text) if pen.parts and x0 < pen.x1 - 0.1 * size else ""
            if both:
                pen.parts[-1] = both
                pen.x1 = max(pen.x1, x1)
                continue
        else:
            pen = _Pen(font, size, base)
            pens.append(pen)
        if text == " " and not pen.parts:
            continue  # a run begins with what can be seen
        pen.add(text, x0, x1, underscored=bool(underscores) and pen.underscored(underscores, x0))
    runs = [run for pen in pens if (run := pen.run())]
    # Bold by printing a line twice: the second is dropped.
    return list({(run.text, round(run.x0), round(run.base)): run for run in reversed(runs)}.values())[::-1]


def frames_of(page: Any, shapes: Sequence[Any]) -> Iterator[Frame]:
    """The tables that pdfplumber finds in the lines and boxes of the page; not in curves, which are arrows."""
    here = [shape for shape in shapes if shape["top"] >= 0 and shape["bottom"] <= page.height]  # no box around pages
    if len(here) < 2:
        return
    settings = {f"{way}_strategy": "explicit" for way in ("vertical", "horizontal")}
    for table in page.find_tables({**settings, "explicit_vertical_lines": here, "explicit_horizontal_lines": here}):
        _, _, right, foot = table.bbox
        xs = [column.bbox[0] for column in table.columns]
        ys = [row.bbox[1] for row in table.rows]
        if len(xs) > 1:
            yield Frame((*xs, right), (*ys, foot))


def _shapes(objects: Sequence[Any]) -> tuple[list[Box], list[tuple[float, float]]]:
    """Upright lines, also those drawn as thin boxes or as the sides of boxes, and the centres of dots."""
    borders: list[Box] = []
    marks: list[tuple[float, float]] = []
    for shape in objects:
        x0, x1, y0, y1 = shape["x0"], shape["x1"], shape["top"], shape["bottom"]
        width, height = x1 - x0, y1 - y0
        if height < 2 and width >= 4:
            continue
        if width < 2 and height >= 4:
            borders.append(Box((x0 + x1) / 2, y0, (x0 + x1) / 2, y1))
        elif 1.5 <= width <= 7 and 1.5 <= height <= 7 and 0.7 < width / height < 1.4:
            marks.append(((x0 + x1) / 2, (y0 + y1) / 2))
        elif shape["object_type"] == "rect":
            borders += [Box(x0, y0, x0, y1), Box(x1, y0, x1, y1)]
    return borders, marks


def starts_with_bullet(text: str) -> bool:
    return text[:1] in BULLETS and len(text) > 1
