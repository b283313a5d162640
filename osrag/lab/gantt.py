"""A Gantt chart: who has the processor when, and who is ready each time it is handed on.

Widths are in proportion to time, except that no slice is too narrow for its name and for the time below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from osrag.lab.svg import TONES, Box, Figure, Label, Mark, Path, Tone, text_width

MARGIN, NOTE_HEIGHT, BAR_HEIGHT, ENTRY_HEIGHT = 20.0, 24.0, 40.0, 24.0  # pixels
BODY = 620.0  # pixels: width of the bars where no slice needs more


@dataclass(frozen=True, slots=True)
class Bar:
    """One slice of processor time."""

    start: float
    end: float
    label: str  # "" for time in which nobody runs
    step: int  # of the solution: the number of the step that tells of it, from 1
    queue: tuple[str, ...] = ()  # ready when the slice ends, head first


@dataclass(frozen=True, slots=True)
class Chart:
    """What a Gantt chart shows. `first` is the queue at the beginning."""

    bars: Sequence[Bar]
    names: Sequence[str]  # of all processes, in the order that gives them their colours
    title: str
    description: str
    steps: int  # of the solution
    queue_label: str = ""  # above the queues; "" for a chart without them
    first: tuple[str, ...] = ()
    missed: Mapping[str, float] = field(default_factory=dict)  # a note -> the time at which it is marked in red


def gantt(chart: Chart) -> Figure:
    """Bars with the times at their ends and, below each end, the queue of that moment."""
    if not chart.bars:
        return Figure(2 * MARGIN, 2 * MARGIN, (), chart.title, chart.description, chart.steps)
    widths = _widths(chart)
    marks: list[Mark] = []
    x, top = MARGIN, 12 + NOTE_HEIGHT * bool(chart.missed)
    ticks_y = top + BAR_HEIGHT + 18
    queue_y = ticks_y + 34
    marks.append(Label(x, ticks_y, _time(chart.bars[0].start), "middle"))
    if chart.queue_label:
        marks.append(Label(MARGIN - 14, queue_y - 10, chart.queue_label, tone="muted"))
        marks += _queue(x, queue_y, chart.first, chart.names, 0)
    for bar, width in zip(chart.bars, widths, strict=True):
        tone = _tone(bar.label, chart.names) if bar.label else "muted"
        marks.append(Box(x, top, width, BAR_HEIGHT, bar.label, tone, bar.step))
        x += width
        marks.append(Label(x, ticks_y, _time(bar.end), "middle", step=bar.step))
        if chart.queue_label:
            marks += _queue(x, queue_y, bar.queue, chart.names, bar.step)
    last = chart.bars[-1].step
    for note, when in chart.missed.items():
        at = MARGIN + _position(when, chart.bars, widths)
        marks.append(Path(((at, top - 8), (at, top + BAR_HEIGHT + 4)), tone="bad", step=last))
        marks.append(Label(at, top - 14, note, "end" if at > text_width(note) else "start", "bad", last))
    deepest = max(len(chart.first), *(len(bar.queue) for bar in chart.bars))
    height = (queue_y + deepest * ENTRY_HEIGHT if chart.queue_label else ticks_y) + 14
    width = max(
        x + MARGIN, text_width(chart.queue_label) + MARGIN, *(text_width(note) + 40 for note in chart.missed), 0
    )
    return Figure(width, height, tuple(marks), chart.title, chart.description, chart.steps)


def _widths(chart: Chart) -> list[float]:
    """Pixels of each bar: its share of the body, and at least room for its texts and for a queue at its end."""
    entry = max(text_width(name) for name in chart.names) + 16
    total = chart.bars[-1].end - chart.bars[0].start
    least = [max(entry, text_width(_time(bar.end)) + 12) for bar in chart.bars]
    body = min(BODY, max(sum(least) * 1.2, 320.0))
    return [max(need, (bar.end - bar.start) / total * body) for bar, need in zip(chart.bars, least, strict=True)]


def _queue(x: float, y: float, queue: Sequence[str], names: Sequence[str], step: int) -> list[Mark]:
    width = max(text_width(name) for name in names) + 10
    return [
        Box(x - width / 2, y + row * ENTRY_HEIGHT, width, ENTRY_HEIGHT - 3, name, _tone(name, names), step)
        for row, name in enumerate(queue)
    ]


def _position(when: float, bars: Sequence[Bar], widths: Sequence[float]) -> float:
    """Pixels from the beginning of the first bar to a time."""
    x = 0.0
    for bar, width in zip(bars, widths, strict=True):
        if when <= bar.end:
            return x + max(when - bar.start, 0) / (bar.end - bar.start) * width
        x += width
    return x


def _tone(name: str, names: Sequence[str]) -> Tone:
    return TONES[names.index(name) % len(TONES)] if name in names else "muted"


def _time(value: float) -> str:
    return f"{value:.10g}"
