"""Belady's anomaly: faults of several algorithms with several numbers of frames (CACM 12, 1969)."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import fault
from osrag.lab.kind import Kind, Level, Mistake, Result, Solution, Step, Value, given
from osrag.lab.replacement import (
    METHODS,
    Method,
    Referring,
    Replacing,
    accesses,
    if_asked,
    reading,
)
from osrag.lab.svg import Box, Figure, Label, Mark, Tone
from osrag.types import Language

COUNTS = 8  # numbers of frames that are compared at most
COMPARED = 16  # frames at most in that comparison


class Comparing(Referring):
    """One reference string with several numbers of frames."""

    least_frames: int = given(3, ge=1, le=COMPARED)
    most_frames: int = given(4, ge=2, le=COMPARED, validate_default=True)
    method: Method = given("fifo")
    ask: Literal["fault_counts", "anomaly", "fewest_faults_frames"] = "fault_counts"

    @field_validator("most_frames")
    @classmethod
    def _more(cls, most: int, info: ValidationInfo) -> int:
        if most <= info.data.get("least_frames", 1):
            raise fault("paging_range", least=info.data["least_frames"], most=most)
        if most - info.data.get("least_frames", most) >= COUNTS:
            raise fault("paging_range_wide", counts=COUNTS)
        return most


def fault_counts(given: Comparing, method: Method) -> tuple[int, ...]:
    """Faults of a method with each number of frames, first loads counted."""
    return tuple(
        sum(not access.hit for access in accesses(_replacing(given, frames), method))
        for frames in range(given.least_frames, given.most_frames + 1)
    )


def _replacing(given: Comparing, frames: int) -> Replacing:
    return Replacing(refs=given.pages, frames=frames)


def solve_belady(given: Comparing) -> Solution:
    """Faults of every method with each number of frames; the anomaly is a number that grows with the frames."""
    counts = {method: fault_counts(given, method) for method in METHODS}
    asked = counts[given.method]
    steps, grown = reading(given), list[int]()
    for place, frames in enumerate(range(given.least_frames, given.most_frames + 1)):
        row = (frames, *(counts[method][place] for method in METHODS))
        values: dict[str, Any] = {"frames": frames, "faults": asked[place], "method": given.method}
        key = "belady_first"
        if place:
            values["before"] = asked[place - 1]
            key = "belady_more" if asked[place] > asked[place - 1] else "belady_fewer"
            grown += [frames] if key == "belady_more" else []
        steps.append(Step(key, values, row, "belady"))
    told = {"frames": tuple(grown), "method": given.method}
    steps.append(Step("belady_yes" if grown else f"belady_no_{given.method}", told))
    results = {
        "fault_counts": Result(asked),
        "anomaly": Result(bool(grown)),
        "fewest_faults_frames": Result(given.least_frames + asked.index(min(asked))),
    }
    columns = ("frame_count", "faults_fifo", "faults_lru", "faults_opt", "faults_clock")
    before = len(steps) - len(asked) - 1
    return Solution(tuple(steps), results, columns, partial(belady_chart, given, counts, before))


BELADY: dict[str, dict[Language, str]] = {
    "title": {"zh": "缺页次数随页框数的变化", "en": "Faults by the number of frames"},
    "frames": {"zh": "页框数", "en": "frames"},
    "row": {"zh": "{frames} 个页框：{faults}", "en": "{frames} frames: {faults}"},
    "part": {"zh": "{method} {count} 次", "en": "{method} {count}"},
}
TONE_OF: dict[Method, Tone] = {"fifo": "b", "lru": "c", "opt": "a", "clock": "d"}


def belady_chart(given: Comparing, counts: dict[Method, tuple[int, ...]], before: int, language: Language) -> Figure:
    """A bar for each method and number of frames; a bar that is longer than with fewer frames is marked."""
    most = max(max(each) for each in counts.values())
    left, full, high = 70.0, 250.0, 20.0
    marks: list[Mark] = [Label(left - 10, 20, BELADY["frames"][language], "end", "muted")]
    told = []
    for place, frames in enumerate(range(given.least_frames, given.most_frames + 1)):
        y = 30 + place * (len(METHODS) * high + 12)
        step = before + place + 1
        marks.append(Label(left - 10, y + len(METHODS) * high / 2 + 5, str(frames), "end", "plain", step))
        for row, method in enumerate(METHODS):
            count, top = counts[method][place], y + row * high
            more = place > 0 and count > counts[method][place - 1]
            wide = max(full * count / most, 2)
            marks.append(Box(left, top, wide, high - 3, tone="bad" if more else TONE_OF[method], step=step))
            text = f"{method.upper() if method != 'clock' else 'Clock'} {count}" + (" ↑" if more else "")
            marks.append(Label(left + wide + 6, top + high - 6, text, tone="bad" if more else "plain", step=step))
        part = BELADY["part"][language]
        faults = ", ".join(part.format(method=m.upper(), count=counts[m][place]) for m in METHODS)
        told.append(BELADY["row"][language].format(frames=frames, faults=faults))
    rows = given.most_frames - given.least_frames + 1
    height = 30 + rows * (len(METHODS) * high + 12)
    title = BELADY["title"][language]
    return Figure(left + full + 90, height, tuple(marks), title, "; ".join(told), before + rows + 1)


# ---------------------------------------------------------------- exercises and mistakes


def local_string(random: Random, length: int, pages: int) -> tuple[int, ...]:
    """A reference string with some locality: a page is drawn from the last few as often as from all."""
    refs = [random.randrange(pages)]
    while len(refs) < length:
        page = random.choice(refs[-4:]) if random.random() < 0.45 else random.randrange(pages)
        if page != refs[-1]:
            refs.append(page)
    return tuple(refs)


ANOMALY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)  # Belady's string, also in the course book


def generate_belady(random: Random, level: Level) -> Comparing:
    """Easy: Belady's string with other names; medium: any string, FIFO or LRU; hard: an anomaly among three counts."""
    names = random.sample(range(10), 5)
    if level == "easy":
        return Comparing(refs=tuple(names[page - 1] for page in ANOMALY))
    while True:
        if level == "medium":
            given = Comparing(refs=local_string(random, 12, 5), method=random.choice(("fifo", "lru")))
        else:
            refs = [names[page - 1] for page in ANOMALY]
            for _ in range(2):
                refs.insert(random.randrange(len(refs) + 1), random.choice(names))
            given = Comparing(refs=tuple(refs), most_frames=5)
        few, many, *_ = fault_counts(given, given.method)
        twice = any(page == before for page, before in pairwise(given.refs))
        if few != many and len(set(given.refs)) == 5 and not twice and (level == "medium" or many > few):
            return given


def _range_of(change: Callable[[Comparing], Comparing]) -> Callable[[Any], Value | None]:
    return if_asked(lambda given: fault_counts(change(given), change(given).method))


def _without_first_loads(given: Comparing) -> tuple[int, ...]:
    frames = range(given.least_frames, given.most_frames + 1)
    distinct = len(set(given.pages))
    counts = fault_counts(given, given.method)
    return tuple(count - min(distinct, number) for count, number in zip(counts, frames, strict=True))


BELADY_KIND = Kind(
    "belady",
    "paging",
    Comparing,
    solve_belady,
    generate_belady,
    (
        Mistake("first_loads", if_asked(_without_first_loads)),
        Mistake(
            "other_method",
            _range_of(lambda g: g.model_copy(update={"method": "lru" if g.method == "fifo" else "fifo"})),
        ),
        Mistake("other_method_opt", _range_of(lambda g: g.model_copy(update={"method": "opt"}))),
        Mistake("more_frames_help", if_asked(lambda g: tuple(sorted(fault_counts(g, g.method), reverse=True)))),
    ),
    "7.3.2",
)
