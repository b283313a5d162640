"""Figures as values, and as SVG that reads in light and dark, on a phone, and without seeing it.

A figure is a list of marks, each with the step at which it appears, so that the page can play it. Colours are tones
that `data/lab/figure.css` gives for both modes; the SVG carries that style, so that a downloaded file stands alone.
"""

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, assert_never

Tone = Literal["plain", "muted", "good", "bad", "accent", "a", "b", "c", "d", "e", "f"]  # a-f tell things apart
Anchor = Literal["start", "middle", "end"]
TONES: tuple[Tone, ...] = ("a", "b", "c", "d", "e", "f")
FONT = 14  # pixels
ROW = 28  # pixels: height of a table's row
CHAR, WIDE = 7.6, 14.0  # pixels: width of a Latin letter and of a Chinese character at that size


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, with a label in its middle."""

    x: float
    y: float
    width: float
    height: float
    label: str = ""
    tone: Tone = "plain"
    step: int = 0  # appears with this step; 0 is there from the beginning
    until: int | None = None  # gone from this step on


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text; `y` is its base line."""

    x: float
    y: float
    text: str
    anchor: Anchor = "start"
    tone: Tone = "plain"
    step: int = 0
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points, with an arrow head at its end if wanted."""

    points: tuple[tuple[float, float], ...]
    arrow: bool = False
    dashed: bool = False
    tone: Tone = "plain"
    step: int = 0
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """A circle, with a label in its middle."""

    x: float
    y: float
    radius: float
    label: str = ""
    tone: Tone = "plain"
    step: int = 0
    until: int | None = None


Mark = Box | Label | Path | Dot


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing of `width` × `height` pixels at full size."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str  # what it shows, in a few words
    description: str  # the same in words, for somebody who cannot see it
    steps: int = 0  # the last step at which something appears


def text_width(text: str) -> float:
    """Pixels that a text takes, near enough to size a box."""
    return sum(WIDE if ord(char) > 0x2E7F else CHAR for char in text)


def row(
    x: float, y: float, widths: Sequence[float], labels: Sequence[str], *, tone: Tone = "plain", step: int = 0
) -> list[Mark]:
    """Boxes side by side, as one row of a table that is `ROW` pixels high."""
    left = [x + sum(widths[:place]) for place in range(len(labels))]
    return [Box(at, y, wide, ROW, label, tone, step) for at, wide, label in zip(left, widths, labels, strict=False)]


STYLE = (pathlib.Path(__file__).parent.parent / "data" / "lab" / "figure.css").read_text(encoding="utf-8")
HEAD = (
    '<defs><marker id="lab-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker></defs>'
)


def svg(figure: Figure) -> str:
    """The figure as one `<svg>` element that stands alone. Every text is escaped."""
    body = "".join(_mark(mark) for mark in figure.marks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lab" role="img" width="{figure.width:g}" '
        f'height="{figure.height:g}" viewBox="0 0 {figure.width:g} {figure.height:g}" data-steps="{figure.steps}">'
        f"<title>{escape(figure.title)}</title><desc>{escape(figure.description)}</desc>"
        f"<style>{STYLE}</style>{HEAD}{body}</svg>"
    )


def _mark(mark: Mark) -> str:
    match mark:
        case Box(x, y, width, height, label, tone):
            shape = f'<rect class="box t-{tone}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>'
            inner = shape + _text(x + width / 2, y + height / 2 + FONT * 0.35, label, "middle", "plain")
        case Label(x, y, text, anchor, tone):
            inner = _text(x, y, text, anchor, tone)
        case Path(points, arrow, dashed, tone):
            style = ' marker-end="url(#lab-tip)"' * arrow + ' stroke-dasharray="5 4"' * dashed
            inner = f'<polyline class="path t-{tone}" points="{_points(points)}"{style}/>'
        case Dot(x, y, radius, label, tone):
            shape = f'<circle class="dot t-{tone}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'
            inner = shape + _text(x, y + FONT * 0.35, label, "middle", "plain")
        case _:
            assert_never(mark)
    if not mark.step and mark.until is None:
        return inner
    until = "" if mark.until is None else f' data-until="{mark.until}"'
    return f'<g data-step="{mark.step}"{until}>{inner}</g>'


def _text(x: float, y: float, text: str, anchor: Anchor, tone: Tone) -> str:
    if not text:
        return ""
    return f'<text class="t-{tone}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
