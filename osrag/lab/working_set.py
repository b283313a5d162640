"""Working sets: the pages of the last references (section 7.5 of the course book; Denning, CACM 11, 1968)."""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import fault
from osrag.lab.frame_table import SIDE
from osrag.lab.kind import Kind, Level, Mistake, Result, Solution, Step, given, rule
from osrag.lab.replacement import (
    DRAWN,
    Referring,
    if_asked,
    reading,
    string_of,
)
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, Tone, text_width
from osrag.types import Language

WINDOW = 200  # references


class Watching(Referring):
    """A reference string and a window over its last references."""

    window: int = given(ge=1, le=WINDOW)
    first_number: Literal["first_is_1", "first_is_0"] = rule("first_is_1")
    at: int | None = given(None, ge=0)  # after this reference; after the last one where nothing is given
    ask: Literal["set_size", "set_pages", "set_sizes", "average_size", "largest_size", "set_faults"] = "set_size"

    @field_validator("at")
    @classmethod
    def _among_the_references(cls, at: int | None, info: ValidationInfo) -> int | None:
        if at is None or not {"refs", "page_size", "repeats", "first_number"} <= info.data.keys():
            return at
        first = int(info.data["first_number"] == "first_is_1")
        last = len(string_of(info.data["refs"], info.data["page_size"], info.data["repeats"])) - 1 + first
        if not first <= at <= last:
            raise fault("paging_at", seen=at, first=first, last=last)
        return at

    @property
    def place(self) -> int:
        """The reference asked about, counted from 0."""
        return len(self.pages) - 1 if self.at is None else self.at - (self.first_number == "first_is_1")


def working_sets(pages: Sequence[int], window: int) -> list[tuple[int, ...]]:
    """After each reference, the pages of the last `window` references, that one included, in order of number."""
    counts, sets = dict[int, int](), []
    for place, page in enumerate(pages):
        counts[page] = counts.get(page, 0) + 1
        if place >= window:
            gone = pages[place - window]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        sets.append(tuple(sorted(counts)))
    return sets


def solve_working_set(given: Watching) -> Solution:
    """The working set after each reference."""
    sets = working_sets(given.pages, given.window)
    offset = int(given.first_number == "first_is_1")
    steps, faults = reading(given), 0
    before = len(steps)
    for place, (page, pages) in enumerate(zip(given.pages, sets, strict=True)):
        missing = not place or page not in sets[place - 1]
        faults += missing
        gone = tuple(sorted({*(sets[place - 1] if place else ()), page} - {*pages}))
        first = max(place - given.window + 1, 0) + offset
        values = {"number": place + offset, "first": first, "pages": pages, "size": len(pages), "gone": gone}
        key = "working_set_" + (("both" if missing else "gone") if gone else "new" if missing else "same")
        steps.append(Step(key, {**values, "page": page}, (place + offset, page, pages, len(pages)), "working_set"))
    place, sizes = given.place, tuple(len(pages) for pages in sets)
    asked = {"number": place + offset, "pages": sets[place], "size": sizes[place]}
    steps.append(Step("working_set_asked", {**asked, "window": given.window}))
    results = {
        "set_size": Result(sizes[place], "pages"),
        "set_pages": Result(sets[place]),
        "set_sizes": Result(sizes),
        "average_size": Result(sum(sizes) / len(sizes), "pages"),
        "largest_size": Result(max(sizes), "pages"),
        "set_faults": Result(faults, "count"),
    }
    columns = ("reference_number", "reference", "working_set", "set_size")
    return Solution(tuple(steps), results, columns, partial(window_chart, given, sets, before))


WINDOWS: dict[str, dict[Language, str]] = {
    "title": {"zh": "工作集，窗口 Δ = {window}", "en": "Working set, window Δ = {window}"},
    "number": {"zh": "引用序号", "en": "reference"},
    "page": {"zh": "页 {page}", "en": "page {page}"},
    "refs": {"zh": "引用", "en": "page"},
    "size": {"zh": "大小", "en": "size"},
    "told": {"zh": "第 {number} 次引用后：{{{pages}}}", "en": "after reference {number}: {{{pages}}}"},
    "note": {"zh": "粗框：求的窗口", "en": "framed: the window that is asked about"},
}
PAGES_DRAWN = 16


def window_chart(given: Watching, sets: Sequence[tuple[int, ...]], before: int, language: Language) -> Figure:
    """A row for each page, a column for each reference: filled while the page is in the working set."""
    refs = given.pages[:DRAWN]
    pages = sorted(set(refs))[:PAGES_DRAWN]
    offset = int(given.first_number == "first_is_1")
    wide, top = 32.0, 10.0
    heads = ("number", "refs", *(WINDOWS["page"][language].format(page=page) for page in pages), "size")
    marks: list[Mark] = [
        Label(SIDE - 8, top + ROW * (row + 0.68), WINDOWS[head][language] if head in WINDOWS else head, "end", "muted")
        for row, head in enumerate(heads)
    ]
    for place, page in enumerate(refs):
        x, step = SIDE + place * wide, before + place + 1
        marks.append(Label(x + wide / 2, top + ROW * 0.68, str(place + offset), "middle", "muted"))
        marks.append(Label(x + wide / 2, top + ROW * 1.68, str(page), "middle"))
        for row, each in enumerate(pages):
            tone: Tone = "accent" if each == page else "a" if each in sets[place] else "muted"
            label = "●" if each == page else ""
            marks.append(Box(x, top + ROW * (row + 2), wide, ROW, label, tone, step))
        y = top + ROW * (len(pages) + 2.68)
        marks.append(Label(x + wide / 2, y, str(len(sets[place])), "middle", "plain", step))
    if given.place < len(refs):
        first = max(given.place - given.window + 1, 0)
        x, end = SIDE + first * wide, SIDE + (given.place + 1) * wide
        box = ((x, top + ROW), (end, top + ROW), (end, top + 2 * ROW - 2), (x, top + 2 * ROW - 2), (x, top + ROW))
        marks.append(Path(box, tone="bad"))
    height = top + ROW * (len(pages) + 3) + 6
    marks.append(Path(((SIDE, height + 9), (SIDE + 18, height + 9)), tone="bad"))
    marks.append(Label(SIDE + 26, height + 14, WINDOWS["note"][language], tone="muted"))
    told = [
        WINDOWS["told"][language].format(number=place + offset, pages=", ".join(map(str, sets[place])))
        for place in range(len(refs))
    ]
    width = max(SIDE + wide * len(refs), SIDE + 26 + text_width(WINDOWS["note"][language])) + 10
    title = WINDOWS["title"][language].format(window=given.window)
    return Figure(width, height + 26, tuple(marks), title, "; ".join(told), before + len(given.pages) + 1)


# ---------------------------------------------------------------- exercises and mistakes


def generate_working_set(random: Random, level: Level) -> Watching:
    """A string whose locality changes."""
    length, window = {"easy": (10, 4), "medium": (14, 5), "hard": (18, 7)}[level]
    while True:
        old, new = random.sample(range(1, 10), 4), random.sample(range(1, 10), 3)
        half = length // 2
        refs = tuple(random.choice(old) for _ in range(half)) + tuple(random.choice(new) for _ in range(length - half))
        at = random.randint(half, length)
        given = Watching(refs=refs, window=window, at=at)
        sizes = [len(pages) for pages in working_sets(refs, window)]
        if 2 <= sizes[at - 1] < window and len(set(sizes[window:])) > 1:
            return given


def _window_before(given: Watching) -> int:
    """Leaves out the reference at which the set is taken."""
    return len(set(given.pages[max(given.place - given.window, 0) : given.place]))


def _window_longer(given: Watching) -> int:
    """Takes Δ references before the one at which the set is taken, and that one."""
    return len(set(given.pages[max(given.place - given.window, 0) : given.place + 1]))


def _window_ahead(given: Watching) -> int:
    return len(set(given.pages[given.place : given.place + given.window]))


def _window_of_references(given: Watching) -> int:
    """Counts references instead of different pages."""
    return min(given.window, given.place + 1)


WORKING_SET = Kind(
    "working_set",
    "paging",
    Watching,
    solve_working_set,
    generate_working_set,
    (
        Mistake("references_counted", if_asked(_window_of_references)),
        Mistake("window_longer", if_asked(_window_longer)),
        Mistake("window_before", if_asked(_window_before)),
        Mistake("window_ahead", if_asked(_window_ahead)),
    ),
    "7.5.2",
)
