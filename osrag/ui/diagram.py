"""The calls of an answer as a small SVG: one function a row, callers above what they call."""

from html import escape
from itertools import islice

from osrag.answer.events import CallPath
from osrag.types import Language
from osrag.wording import say

ROW, STEP, HEIGHT = 34, 22, 24  # pixels: between rows, for each level, of a box
CHAR = 7.3  # width of a letter of the 12 px fixed font
MOST = 14  # rows
TIP = (
    '<defs><marker id="cd-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" class="cd-tip"/></marker></defs>'
)


def diagram(path: CallPath, language: Language) -> str:
    """Boxes and arrows; a box with a number leads to the card of that function. Empty without calls.

    An arrow leaves a caller at its lower left; a call of a row above goes round on the right.
    """
    if not path.edges:
        return ""
    numbers = {step.name: f"[{step.number}]" for step in path.steps}
    boxes: list[str] = []
    place: dict[str, tuple[int, int, float]] = {}  # of each function: left, top and right of its box, in pixels
    for row, (name, level) in enumerate(islice(_levels(path).items(), MOST)):
        number, x, y = numbers.get(name, ""), 4 + STEP * level, ROW * row + 2
        width = CHAR * len(f"{number} {name}".strip()) + 16
        place[name] = x, y, x + width
        label = f'<tspan class="cd-no">{number}</tspan> {escape(name)}' if number else escape(name)
        box = (
            f'<g class="cd-node{"" if number else " is-between"}"><rect x="{x}" y="{y}" width="{width:.0f}" '
            f'height="{HEIGHT}" rx="6"/><text x="{x + 8}" y="{y + 16}">{label}</text></g>'
        )
        boxes.append(f'<a href="#ev-{number[1:-1]}">{box}</a>' if number else box)
    end = max(right for _, _, right in place.values()) + 8
    arrows: list[str] = []
    edges = [edge for edge in path.edges if place.keys() >= {*edge}]
    for caller, callee in edges:
        (x, y, right), (to_x, to_y, to_right) = place[caller], place[callee]
        middle, kind = to_y + HEIGHT // 2, "cd-arrow"
        way = f"M{x + 9} {y + HEIGHT}V{middle}H{to_x}"
        if to_y <= y:
            kind = "cd-arrow is-back"
            way = f"M{right:.0f} {y + HEIGHT // 2}H{end:.0f}V{middle}H{to_right:.0f}"
        arrows.append(f'<path class="{kind}" d="{way}" marker-end="url(#cd-tip)"/>')
    told = "; ".join(f"{caller} → {callee}" for caller, callee in edges)
    label = escape(say("kernel_diagram_alt", language, edges=told), quote=True)
    across, height = f"{end + 8:.0f}", ROW * len(place) + 4
    return (
        f'<figure class="cd-figure"><figcaption>{escape(say("kernel_diagram", language))}</figcaption>'
        f'<div class="cd-scroll"><svg role="img" aria-label="{label}" width="{across}" height="{height}" '
        f'viewBox="0 0 {across} {height}">{TIP}{"".join([*arrows, *boxes])}</svg></div></figure>'
    )


def _levels(path: CallPath) -> dict[str, int]:
    """Names with their level, depth first from those that nothing here calls."""
    called = {callee for _, callee in path.edges}
    roots = [step.name for step in path.steps if step.name not in called]
    levels: dict[str, int] = {}
    waiting = [(name, 0) for name in reversed([*roots, *dict(path.edges)])]
    while waiting:
        name, level = waiting.pop()
        if name not in levels:
            levels[name] = level
            waiting += [(callee, level + 1) for caller, callee in reversed(path.edges) if caller == name]
    return levels
