"""The calls of an answer as a small SVG: one function a row, callers above what they call."""

from collections.abc import Iterator, Mapping
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
    rows = list(_rows(path))[:MOST]
    place = {name: at for at, (name, _) in enumerate(rows)}
    depth = dict(rows)
    numbers = {step.name: step.number for step in path.steps}
    edges = [edge for edge in path.edges if edge[0] in place and edge[1] in place]
    width = max(_left(depth[name]) + _width(name, numbers) for name, _ in rows) + 8
    height = ROW * len(rows) + 4
    told = "; ".join(f"{caller} → {callee}" for caller, callee in edges)
    label = escape(say("kernel_diagram_alt", language, edges=told), quote=True)
    arrows = "".join(_arrow(place, depth, caller, callee) for caller, callee in edges)
    boxes = "".join(_box(at, level, name, numbers) for at, (name, level) in enumerate(rows))
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


def _left(level: int) -> int:
    return 4 + STEP * level


def _width(name: str, numbers: Mapping[str, int]) -> float:
    return CHAR * (len(name) + (4 if name in numbers else 0)) + 16


def _arrow(place: Mapping[str, int], depth: Mapping[str, int], caller: str, callee: str) -> str:
    """From the lower left of the caller down and into the callee; round a call back up."""
    x, y = _left(depth[caller]) + 9, ROW * place[caller] + 2
    to_x, to_y = _left(depth[callee]), ROW * place[callee] + 2 + HEIGHT // 2
    start = y + HEIGHT if to_y > y else y
    return f'<path class="cd-arrow" d="M{x} {start}V{to_y}H{to_x}" marker-end="url(#cd-tip)"/>'


def _box(at: int, level: int, name: str, numbers: Mapping[str, int]) -> str:
    x, y = _left(level), ROW * at + 2
    number = numbers.get(name)
    kind = "cd-node" if number else "cd-node is-between"
    label = f'<tspan class="cd-no">[{number}]</tspan> {escape(name)}' if number else escape(name)
    box = (
        f'<rect x="{x}" y="{y}" width="{_width(name, numbers):.0f}" height="{HEIGHT}" rx="6"/>'
        f'<text x="{x + 8}" y="{y + 16}">{label}</text>'
    )
    inner = f'<g class="{kind}">{box}</g>'
    return f'<a href="#ev-{number}">{inner}</a>' if number else inner
