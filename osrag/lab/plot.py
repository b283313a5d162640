"""A line chart: some series of points, each with a name at its end, on axes with a few ticks."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, log10

from osrag.lab.svg import Box, Dot, Figure, Label, Mark, Path, Tone, text_width

LEFT, TOP, WIDTH, HEIGHT, BELOW = 52.0, 34.0, 400.0, 220.0, 52.0  # pixels
MOST_DOTS, MOST_TICKS = 24, 8


@dataclass(frozen=True, slots=True)
class Series:
    """Points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]
    tone: Tone = "a"
    dashed: bool = False
    steps: Sequence[int] = ()  # the step at which each point appears; () for all from the beginning


def plot(series: Sequence[Series], x_name: str, y_name: str, title: str, description: str, steps: int) -> Figure:
    """The series; a legend above, ticks at the points of the longest one."""
    everything = [point for each in series for point in each.points]
    low, high = min(x for x, _ in everything), max(x for x, _ in everything)
    top = _round_up(max(max(y for _, y in everything), 1e-9))

    def place(point: tuple[float, float]) -> tuple[float, float]:
        share = (point[0] - low) / (high - low) if high > low else 0.5
        return LEFT + 12 + share * (WIDTH - 24), TOP + HEIGHT - point[1] / top * (HEIGHT - 12)

    corner = (LEFT, TOP + HEIGHT)
    marks: list[Mark] = [Path(((LEFT, TOP), corner, (LEFT + WIDTH, TOP + HEIGHT)), tone="muted")]
    marks += [Label(LEFT - 8, place((low, y))[1] + 5, f"{y:.3g}", "end") for y in (0, top / 2, top)]
    ticks = sorted({x for x, _ in max((each.points for each in series), key=len)})
    few = ticks[:: -(-len(ticks) // MOST_TICKS)]
    marks += [Label(place((x, 0))[0], TOP + HEIGHT + 18, f"{x:g}", "middle") for x in few]
    marks.append(Label(LEFT + WIDTH / 2, TOP + HEIGHT + 40, x_name, "middle", "muted"))
    legend = LEFT
    for each in [Series(y_name, (), "muted")] if len(series) == 1 else series:
        marks += [Box(legend, 8, 12, 12, tone=each.tone), Label(legend + 18, 19, each.name)]
        legend += text_width(each.name) + 42
    for each in series:
        places = [place(point) for point in each.points]
        numbers = each.steps or [0] * len(places)
        for number, (start, end) in enumerate(pairwise(places), 1):
            marks.append(Path((start, end), dashed=each.dashed, tone=each.tone, step=numbers[number]))
        if len(places) <= MOST_DOTS:
            marks += [Dot(*spot, 3.5, tone=each.tone, step=step) for spot, step in zip(places, numbers, strict=True)]
    width = max(LEFT + WIDTH + 20, legend)
    return Figure(width, TOP + HEIGHT + BELOW, tuple(marks), title, description, steps)


def _round_up(number: float) -> float:
    """The end of an axis: the next number whose half is short as well."""
    power = 10.0 ** floor(log10(number))
    return next(power * step for step in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if number <= power * step * 1.000001)
