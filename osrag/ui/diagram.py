"""The calls of an answer as a small SVG: one function a row, callers above what they call."""

from collections.abc import Iterator
from html import escape

from osrag.answer.events import CallPath
from osrag.types import Language
from osrag.wording import say

ROW, STEP, HEIGHT = 34, 22, 24  # pixels: between rows, for each level, of a box
CHAR = 7.3  # width of a letter of the 12 px fixed font
MOST = 14  # rows


def diagram(path: CallPath, language: Language) -> str:
    """Boxes and arrows; a box with a number leads to the card of that function. Empty without calls."""
    if not path.edges:
        return ""
    layout = _Layout(path)
    edges = [edge for edge in path.edges if edge[0] in layout.place and edge[1] in layout.place]
    width, height = layout.right + 16, ROW * len(layout.place) + 4
    told = "; ".join(f"{caller} → {callee}" for caller, callee in edges)
    label = escape(say("kernel_diagram_alt", language, edges=told), quote=True)
    arrows = "".join(_arrow(layout, caller, callee) for caller, callee in edges)
    boxes = "".join(_box(layout, name) for name in layout.place)
    head = (
        '<defs><marker id="cd-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" class="cd-tip"/></marker></defs>'
    )
    return (
        f'<figure class="cd-figure"><figcaption>{escape(say("kernel_diagram", language))}</figcaption>'
        f'<div class="cd-scroll"><svg role="img" aria-label="{label}" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}">{head}{arrows}{boxes}</svg></div></figure>'
    )


def _rows(path: CallPath) -> Iterator[tuple[str, int]]:
    """Names with their level, depth first from those that nothing here calls; each once."""
    callees: dict[str, list[str]] = {}
    for caller, callee in path.edges:
        callees.setdefault(caller, []).append(callee)
    called = {callee for _, callee in path.edges}
    roots = [step.name for step in path.steps if step.name not in called]
    seen: set[str] = set()

    def walk(name: str, level: int) -> Iterator[tuple[str, int]]:
        if name in seen:
            return
        seen.add(name)
        yield name, level
        for callee in callees.get(name, []):
            yield from walk(callee, level + 1)

    for name in [*roots, *callees]:
        yield from walk(name, 0)


class _Layout:
    """Where each function stands."""

    def __init__(self, path: CallPath) -> None:
        rows = list(_rows(path))[:MOST]
        self.place = {name: at for at, (name, _) in enumerate(rows)}
        self.numbers = {step.name: step.number for step in path.steps}
        self._level = dict(rows)
        self.right = max(self.corner(name)[0] + self.width(name) for name in self.place)

    def corner(self, name: str) -> tuple[int, int]:
        """Upper left of the box."""
        return 4 + STEP * self._level[name], ROW * self.place[name] + 2

    def width(self, name: str) -> float:
        number = f"[{self.numbers[name]}] " if name in self.numbers else ""
        return CHAR * len(number + name) + 16


def _arrow(layout: _Layout, caller: str, callee: str) -> str:
    """From the lower left of the caller down and into the callee; a call of a row above goes round on the right."""
    x, y = layout.corner(caller)
    to_x, to_y = layout.corner(callee)
    middle = HEIGHT // 2
    if to_y > y:
        way = f"M{x + 9} {y + HEIGHT}V{to_y + middle}H{to_x}"
        return f'<path class="cd-arrow" d="{way}" marker-end="url(#cd-tip)"/>'
    right, to_right = x + layout.width(caller), to_x + layout.width(callee)
    way = f"M{right:.0f} {y + middle}H{layout.right + 8:.0f}V{to_y + middle}H{to_right:.0f}"
    return f'<path class="cd-arrow is-back" d="{way}" marker-end="url(#cd-tip)"/>'


def _box(layout: _Layout, name: str) -> str:
    x, y = layout.corner(name)
    number = layout.numbers.get(name)
    label = f'<tspan class="cd-no">[{number}]</tspan> {escape(name)}' if number else escape(name)
    box = (
        f'<g class="cd-node{"" if number else " is-between"}">'
        f'<rect x="{x}" y="{y}" width="{layout.width(name):.0f}" height="{HEIGHT}" rx="6"/>'
        f'<text x="{x + 8}" y="{y + 16}">{label}</text></g>'
    )
    return f'<a href="#ev-{number}">{box}</a>' if number else box
