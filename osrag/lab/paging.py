"""Page replacement as exercises: FIFO, LRU, OPT, the clock and the enhanced clock (section 7.3 of the course book)."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from osrag.lab.belady import BELADY_KIND, local_string
from osrag.lab.frame_table import frame_table
from osrag.lab.kind import Kind, Level, Mistake, Solution, Step, Value
from osrag.lab.replacement import (
    METHODS,
    Access,
    Clocking,
    EnhancedClocking,
    Optimal,
    Replacing,
    accesses,
    as_clock,
    if_asked,
    reading,
    results_of,
)
from osrag.lab.working_set import WORKING_SET


def solve_replacement(given: Replacing, method: str) -> Solution:
    """The frame table of a method, row by row."""
    run = list(accesses(given, method))
    clocked = method in ("clock", "enhanced_clock")
    steps = reading(given)
    if given.loaded:
        steps.append(Step("paging_loaded", {"pages": given.loaded}))
    before = len(steps)
    columns = ("reference", "frames", *(("bits" if method == "clock" else "bit_pairs", "hand") if clocked else ()))
    for number, access in enumerate(run, start=1):
        state = (access.bits, access.hand) if clocked else ()
        row = (access.page, access.frames, *state, not access.hit, access.out)
        steps.append(_step(given, method, number, access, row))
    results = results_of(given, run)
    if method != "enhanced_clock":
        del results["write_backs"]
    values = {name: results[name].value for name in ("faults", "hits", "replacements")}
    steps.append(Step("paging_total", {**values, "references": len(run)}, rule="paging_count"))
    figure = partial(frame_table, given, method, run, before)
    return Solution(tuple(steps), results, (*columns, "fault", "evicted"), figure)


def _step(given: Replacing, method: str, number: int, access: Access, row: tuple[Any, ...]) -> Step:
    values: dict[str, Any] = {"number": number, "page": access.page, "frame": access.frame, "out": access.out}
    values["order"] = access.order
    if access.hit:
        return Step(f"paging_hit_{method}{'_write' * access.written}", values, row, "paging_hit")
    if access.out is None:
        uncounted = given.first_loads == "not_a_fault"
        return Step("paging_fill_free" if uncounted else "paging_fill", values, row, "paging_fill")
    key = f"paging_out_{method}"
    if method == "clock":
        key += "_cleared" if access.order else ""
    elif method == "enhanced_clock":
        key += f"_{access.order[0]}"
        values["dirty"] = access.written_back
    return Step(key, values, row, f"paging_{method}")


# ---------------------------------------------------------------- exercises and mistakes


SIZES: dict[Level, tuple[int, int, int]] = {"easy": (10, 5, 3), "medium": (14, 6, 3), "hard": (18, 7, 4)}


def _interesting(given: Replacing, method: str, level: Level) -> bool:
    """A hit after the first eviction, two evictions, and for harder levels another count than FIFO's."""
    run = list(accesses(given, method))
    evictions = [place for place, access in enumerate(run) if access.out is not None]
    if len(evictions) < 2 or not any(access.hit for access in run[evictions[0] :]):
        return False
    counts = {each: sum(not access.hit for access in accesses(as_clock(Clocking, given), each)) for each in METHODS}
    mine = sum(not access.hit for access in run)
    other = counts["lru" if method == "fifo" else "fifo"]
    return level == "easy" or mine != other


def generate_replacement(random: Random, level: Level, method: str) -> Replacing:
    """A string on which the method shows what it is."""
    length, pages, frames = SIZES[level]
    while True:
        refs = local_string(random, length, pages)
        plain: Replacing
        if method == "opt":
            plain = Optimal(refs=refs, frames=frames)
        elif method == "clock":
            plain = Clocking(refs=refs, frames=frames)
        elif method == "enhanced_clock":
            written = random.sample(range(length), length // 3)
            marked = tuple(f"{page}w" if at in written else str(page) for at, page in enumerate(refs))
            plain = EnhancedClocking(refs=marked, frames=frames)
        else:
            plain = Replacing(refs=refs, frames=frames)
        if _interesting(plain, method, level):
            return plain


def _counted(given: Replacing, method: str) -> int:
    value = results_of(given, list(accesses(given, method)))["faults"].value
    assert isinstance(value, int)
    return value


def _by(method: str) -> Callable[[Any], Value | None]:
    """The faults of another method on the same exercise."""
    return if_asked(lambda given: _counted(as_clock(Clocking, given), method))


def _first_loads_otherwise(method: str) -> Callable[[Any], Value | None]:
    other = {"a_fault": "not_a_fault", "not_a_fault": "a_fault"}
    return if_asked(lambda given: _counted(given.model_copy(update={"first_loads": other[given.first_loads]}), method))


def _hits_instead(method: str) -> Callable[[Any], Value | None]:
    return if_asked(lambda given: sum(access.hit for access in accesses(given, method)))


def _newest_leaves(given: Replacing) -> int:
    """Last in, first out."""
    slots, faults = list(given.loaded), 0
    for page in given.pages:
        if page not in slots:
            if len(slots) == given.frames:
                slots.pop()
                faults += 1
            else:
                faults += given.first_loads == "a_fault"
            slots.append(page)
    return faults


def _bit_clear_on_arrival(given: Clocking) -> int:
    return _counted(given.model_copy(update={"arrival_bit": "clear"}), "clock")


def _modified_first(given: EnhancedClocking) -> int:
    """Takes (1, 0) before (0, 1): looks only at the modified bit."""
    slots, dirt, bits, hand, faults = list(given.loaded), dict[int, bool](), dict[int, bool](), 0, 0
    for page, written in given.events:
        if page not in slots:
            faults += 1
            if len(slots) < given.frames:
                slots.append(page)
            else:
                ring = [(hand + step) % given.frames for step in range(given.frames)]
                frame = min(ring, key=lambda at: (dirt[slots[at]], bits[slots[at]]))  # the first of the best
                slots[frame], hand = page, (frame + 1) % given.frames
            dirt[page] = False
        bits[page] = True
        dirt[page] = dirt[page] or written
    return faults


SECTIONS = {"fifo": "7.3.2", "opt": "7.3.3", "lru": "7.3.4", "clock": "7.3.5", "enhanced_clock": "7.3.5"}


def _kind(name: str, parameters: type[Any], mistakes: tuple[Mistake[Any], ...]) -> Kind[Any]:
    return Kind(
        name,
        "paging",
        parameters,
        partial(solve_replacement, method=name),
        partial(generate_replacement, method=name),
        (Mistake("first_loads", _first_loads_otherwise(name)), *mistakes, Mistake("hits_counted", _hits_instead(name))),
        SECTIONS[name],
    )


FIFO = _kind(
    "fifo",
    Replacing,
    (Mistake("hit_renews", _by("lru")), Mistake("newest_leaves", if_asked(_newest_leaves))),
)
LRU = _kind(
    "lru",
    Replacing,
    (Mistake("hit_does_not_renew", _by("fifo")), Mistake("looked_ahead", _by("opt"))),
)

OPT = _kind(
    "opt",
    Optimal,
    (Mistake("looked_back", _by("lru")), Mistake("opt_as_fifo", _by("fifo"))),
)

CLOCK = _kind(
    "clock",
    Clocking,
    (
        Mistake("bits_ignored", _by("fifo")),
        Mistake("arrives_clear", if_asked(_bit_clear_on_arrival)),
        Mistake("clock_as_lru", _by("lru")),
    ),
)

ENHANCED = _kind(
    "enhanced_clock",
    EnhancedClocking,
    (
        Mistake("modified_ignored", _by("clock")),
        Mistake("modified_first", if_asked(_modified_first)),
        Mistake("bits_ignored", _by("fifo")),
    ),
)
KINDS = (FIFO, LRU, OPT, CLOCK, ENHANCED, BELADY_KIND, WORKING_SET)
