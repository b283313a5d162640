"""Page replacement and working sets.

FIFO, OPT, LRU and the clock follow section 7.3 of the course book (Silberschatz et al., 10.4); the enhanced clock
follows the passes of Stallings, section 8.2: look for (0, 0) and change nothing; then look for (0, 1) and clear the
accessed bits that are passed; then both again. The anomaly is Belady's (CACM 12, 1969), working sets are Denning's
(CACM 11, 1968).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.fields import Bytes, Numbers, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, Tone, text_width
from osrag.types import Language

REFERENCES = 10_000  # in one exercise
FRAMES = 64
WINDOW = 200  # references
COUNTS = 8  # numbers of frames that are compared at most
COMPARED = 16  # frames at most in that comparison
DRAWN = 60  # references that a figure shows; more are in the table
NEVER = REFERENCES + 1  # the next use of a page that is not used again

Method = Literal["fifo", "lru", "opt", "clock"]
METHODS: tuple[Method, ...] = ("fifo", "lru", "opt", "clock")


# ---------------------------------------------------------------- parameters


def _written(value: Any) -> Any:
    """`7 0w 1` as texts; a page that is written has a w behind it."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").replace("，", " ").replace("、", " ").lower().split())
    return tuple(str(part).lower() for part in value) if isinstance(value, list | tuple) else value


Written = Annotated[tuple[str, ...], BeforeValidator(_written)]


class Referring(Parameters):
    """A sequence of references, and how it is read."""

    refs: Numbers = given(min_length=1, max_length=REFERENCES)
    page_size: Bytes = given(0, ge=0, unit="bytes")  # of the addresses in `refs`; 0 where they are pages
    repeats: Literal["each", "merged"] = rule("each")

    @field_validator("refs")
    @classmethod
    def _not_negative(cls, refs: tuple[int, ...]) -> tuple[int, ...]:
        if min(refs) < 0:
            raise fault("paging_negative", seen=min(refs))
        return refs

    @property
    def pages(self) -> tuple[int, ...]:
        """The reference string: a page for each reference that counts."""
        return string_of(self.refs, self.page_size, self.repeats)


def string_of(refs: Sequence[int], page_size: int, repeats: str) -> tuple[int, ...]:
    """The pages of references; of addresses where there is a page size."""
    pages = [ref // page_size for ref in refs] if page_size else list(refs)
    if repeats == "each":
        return tuple(pages)
    return tuple(page for page, before in zip(pages, [None, *pages], strict=False) if page != before)


AskReplacement = Literal[
    "faults", "hits", "fault_rate", "hit_ratio", "replacements", "evicted_pages", "final_frames"
]  # fmt: skip


class Replacing(Referring):
    """Pages that come to a fixed number of frames."""

    frames: int = given(ge=1, le=FRAMES)
    loaded: Numbers = given((), max_length=FRAMES)  # before the first reference, the oldest first; in frames 0, 1, …
    first_loads: Literal["a_fault", "not_a_fault"] = rule("a_fault")
    ask: AskReplacement = "faults"

    @field_validator("loaded")
    @classmethod
    def _fits(cls, loaded: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        frames = info.data.get("frames", FRAMES)
        if len(loaded) > frames:
            raise fault("paging_loaded_many", pages=len(loaded), frames=frames)
        if len(set(loaded)) < len(loaded):
            raise fault("paging_loaded_twice", page=next(p for p in loaded if loaded.count(p) > 1))
        if loaded and min(loaded) < 0:
            raise fault("paging_negative", seen=min(loaded))
        return loaded


class Optimal(Replacing):
    """OPT, with the tie among pages that are not used again."""

    opt_ties: Literal["loaded_first", "used_longest_ago", "smallest_page"] = rule("loaded_first")


class Clocking(Replacing):
    """The clock, with the state of its bits and its hand."""

    bits: Numbers = given((), max_length=FRAMES)  # accessed bits of the loaded pages; all 1 where nothing is given
    hand: int | None = given(None, ge=0)  # a frame; behind the last loaded page where nothing is given
    arrival_bit: Literal["set", "clear"] = rule("set")

    @field_validator("bits")
    @classmethod
    def _a_bit_for_each(cls, bits: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        if bits and len(bits) != len(info.data.get("loaded", bits)):
            raise fault("paging_bits", pages=len(info.data["loaded"]), bits=len(bits))
        if not set(bits) <= {0, 1}:
            raise fault("paging_bit", seen=next(bit for bit in bits if bit not in (0, 1)))
        return bits

    @field_validator("hand")
    @classmethod
    def _points_at_a_frame(cls, hand: int | None, info: ValidationInfo) -> int | None:
        if hand is not None and hand >= info.data.get("frames", hand + 1):
            raise fault("paging_hand", seen=hand, last=info.data["frames"] - 1)
        return hand


AskEnhanced = Literal[
    "faults", "hits", "fault_rate", "hit_ratio", "replacements", "evicted_pages", "final_frames", "write_backs"
]  # fmt: skip


class EnhancedClocking(Clocking):
    """The clock that prefers pages that need not be written back."""

    refs: Written = given(min_length=1, max_length=REFERENCES)  # type: ignore[assignment]  # `3w` writes page 3
    writes: Numbers = given((), max_length=REFERENCES)  # references that write, counted from 1; besides those with a w
    dirty: Numbers = given((), max_length=FRAMES)  # modified bits of the loaded pages; all 0 where nothing is given
    ask: AskEnhanced = "faults"  # type: ignore[assignment]

    @field_validator("refs")
    @classmethod
    def _not_negative(cls, refs: tuple[str, ...]) -> tuple[str, ...]:  # type: ignore[override]
        for ref in refs:
            digits = ref.rstrip("wr")
            try:
                page = int(digits) if digits.isdecimal() else int(digits, 0)
            except ValueError:
                raise fault("paging_reference", seen=ref[:20]) from None
            if page < 0:
                raise fault("paging_negative", seen=page)
        return refs

    @field_validator("writes")
    @classmethod
    def _writes_there(cls, writes: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        last = len(info.data.get("refs", writes))
        for write in writes:
            if not 1 <= write <= last:
                raise fault("paging_write", seen=write, last=last)
        return writes

    @field_validator("dirty")
    @classmethod
    def _dirt_for_each(cls, dirty: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        return cls._a_bit_for_each(dirty, info)

    @property
    def events(self) -> tuple[tuple[int, bool], ...]:
        """A page and whether it is written, for each reference that counts; merged references add up."""
        events: list[tuple[int, bool]] = []
        writes = set(self.writes)
        for place, ref in enumerate(self.refs, start=1):
            digits = ref.rstrip("wr")
            number = int(digits) if digits.isdecimal() else int(digits, 0)
            page = number // self.page_size if self.page_size else number
            written = ref.endswith("w") or place in writes
            if self.repeats == "merged" and events and events[-1][0] == page:
                events[-1] = (page, events[-1][1] or written)
            else:
                events.append((page, written))
        return tuple(events)

    @property
    def pages(self) -> tuple[int, ...]:
        return tuple(page for page, _ in self.events)


# ---------------------------------------------------------------- algorithms


@dataclass(frozen=True, slots=True)
class Access:
    """One reference, and what became of it."""

    page: int
    frame: int
    hit: bool
    out: int | None = None  # the page that left
    frames: tuple[int, ...] = ()  # afterwards, in the order of the frames
    order: tuple[str | int, ...] = ()  # why this page left: of the pages that were there, the victim first
    bits: tuple[str, ...] = ()  # afterwards: accessed, or accessed and modified
    hand: int = 0  # afterwards
    written: bool = False
    written_back: bool = False


def stack_accesses(given: Replacing, method: Method) -> Iterator[Access]:
    """Run FIFO, LRU or OPT. A page keeps its frame; empty frames are filled from frame 0 on."""
    pages = given.pages
    slots = list(given.loaded)
    before = len(slots)
    loaded_at = {page: place - before for place, page in enumerate(slots)}
    used_at = dict(loaded_at)
    next_uses = _next_uses(pages)
    next_use = {page: pages.index(page) if page in pages else NEVER for page in slots} if method == "opt" else {}
    ties = {"loaded_first": loaded_at, "used_longest_ago": used_at}.get(getattr(given, "opt_ties", "loaded_first"))
    rank: Callable[[int], Any]
    match method:
        case "fifo":
            rank = loaded_at.__getitem__
        case "lru":
            rank = used_at.__getitem__
        case _:
            rank = lambda page: (-next_use[page], ties[page] if ties is not None else page)  # noqa: E731
    for now, page in enumerate(pages):
        out, hit = None, page in loaded_at
        order: tuple[str | int, ...] = ()
        if not hit:
            if len(slots) == given.frames:
                out = min(slots, key=rank)
                order = _order(sorted(slots, key=rank), next_use if method == "opt" else {})
                frame = slots.index(out)
                slots[frame] = page
                del loaded_at[out], used_at[out]
            else:
                frame = len(slots)
                slots.append(page)
            loaded_at[page] = now
        else:
            frame = slots.index(page)
        used_at[page] = now
        next_use[page] = next_uses[now]
        yield Access(page, frame, hit, out, tuple(slots), order)


def _next_uses(pages: Sequence[int]) -> list[int]:
    """For each reference the place of the next one to the same page."""
    later = dict[int, int]()
    found = [NEVER] * len(pages)
    for place in range(len(pages) - 1, -1, -1):
        found[place] = later.get(pages[place], NEVER)
        later[pages[place]] = place
    return found


def _order(pages: list[int], next_use: dict[int, int]) -> tuple[str | int, ...]:
    """The pages as a sentence lists them: for OPT with the reference (from 1) at which each is used next."""
    if not next_use:
        return tuple(pages)
    return tuple(f"{p} → {'∞' if next_use[p] == NEVER else next_use[p] + 1}" for p in pages)


def clock_accesses(given: Clocking) -> Iterator[Access]:
    """Second chance on a ring. The hand stands behind the frame that was filled last; a hit leaves it alone."""
    slots = list(given.loaded)
    bits = [*(given.bits or [1] * len(slots)), *[0] * (given.frames - len(slots))]
    hand = len(slots) % given.frames if given.hand is None else given.hand
    arrival = int(given.arrival_bit == "set")
    for page in given.pages:
        out, cleared, hit = None, list[str | int](), page in slots
        if hit:
            frame = slots.index(page)
            bits[frame] = 1
        elif len(slots) < given.frames:
            frame = len(slots)
            slots.append(page)
            bits[frame] = arrival
            hand = (frame + 1) % given.frames if hand == frame else hand
        else:
            while bits[hand]:
                bits[hand] = 0
                cleared.append(slots[hand])
                hand = (hand + 1) % given.frames
            frame, out = hand, slots[hand]
            slots[hand], bits[hand] = page, arrival
            hand = (hand + 1) % given.frames
        shown = tuple(str(bit) for bit in bits[: len(slots)])
        yield Access(page, frame, hit, out, tuple(slots), tuple(cleared), shown, hand)


def enhanced_accesses(given: EnhancedClocking) -> Iterator[Access]:
    """The clock over (accessed, modified): (0,0), else (0,1) clearing what is passed, else both passes again."""
    slots = list(given.loaded)
    bits = [*(given.bits or [1] * len(slots)), *[0] * (given.frames - len(slots))]
    dirt = [*(given.dirty or [0] * len(slots)), *[0] * (given.frames - len(slots))]
    hand = len(slots) % given.frames if given.hand is None else given.hand
    arrival = int(given.arrival_bit == "set")
    for page, written in given.events:
        out, passes, back, hit = None, 0, False, page in slots
        if hit:
            frame = slots.index(page)
            bits[frame], dirt[frame] = 1, dirt[frame] | written
        elif len(slots) < given.frames:
            frame = len(slots)
            slots.append(page)
            bits[frame], dirt[frame] = arrival, int(written)
            hand = (frame + 1) % given.frames if hand == frame else hand
        else:
            frame, passes = _enhanced_victim(bits, dirt, hand)
            out, back = slots[frame], bool(dirt[frame])
            slots[frame], bits[frame], dirt[frame] = page, arrival, int(written)
            hand = (frame + 1) % given.frames
        shown = tuple(f"{bit}{modified}" for bit, modified in zip(bits, dirt, strict=True))[: len(slots)]
        yield Access(page, frame, hit, out, tuple(slots), (passes,) if passes else (), shown, hand, written, back)


def _enhanced_victim(bits: list[int], dirt: list[int], hand: int) -> tuple[int, int]:
    """The frame to take and the pass (1 to 4) that finds it; clears the bits that the second pass goes over."""
    ring = [(hand + step) % len(bits) for step in range(len(bits))]
    for number in (1, 3):
        for frame in ring:
            if not bits[frame] and not dirt[frame]:
                return frame, number
        for frame in ring:
            if not bits[frame] and dirt[frame]:
                return frame, number + 1
            bits[frame] = 0
    raise AssertionError("after two passes every accessed bit is 0")


def accesses(given: Replacing, method: str) -> Iterator[Access]:
    """Run a method by its name."""
    if isinstance(given, EnhancedClocking) and method == "enhanced_clock":
        return enhanced_accesses(given)
    if method == "clock":
        return clock_accesses(given if isinstance(given, Clocking) else _as(Clocking, given))
    return stack_accesses(given, method)  # type: ignore[arg-type]


def _as(to: type[Clocking], given: Replacing) -> Clocking:
    """The same exercise for the clock."""
    return to(refs=given.pages, frames=given.frames, loaded=given.loaded, first_loads=given.first_loads)


# ---------------------------------------------------------------- solutions


def _results(given: Replacing, run: Sequence[Access]) -> dict[str, Result]:
    fills = sum(not access.hit and access.out is None for access in run)
    hits = sum(access.hit for access in run)
    faults = len(run) - hits - (fills if given.first_loads == "not_a_fault" else 0)
    gone = tuple(access.out for access in run if access.out is not None)
    return {
        "faults": Result(faults, "count"),
        "hits": Result(hits, "count"),
        "fault_rate": Result(100 * faults / len(run), "percent"),
        "hit_ratio": Result(100 * hits / len(run), "percent"),
        "replacements": Result(len(gone), "count"),
        "evicted_pages": Result(gone),
        "final_frames": Result(run[-1].frames),
        "write_backs": Result(sum(access.written_back for access in run), "count"),
    }


def solve_replacement(given: Replacing, method: str) -> Solution:
    """The frame table of a method, row by row."""
    run = list(accesses(given, method))
    clocked = method in ("clock", "enhanced_clock")
    steps = _reading(given)
    if given.loaded:
        steps.append(Step("paging_loaded", {"pages": given.loaded}))
    before = len(steps)
    columns = ("reference", "frames", *(("bits" if method == "clock" else "bit_pairs", "hand") if clocked else ()))
    for number, access in enumerate(run, start=1):
        state = (access.bits, access.hand) if clocked else ()
        row = (access.page, access.frames, *state, not access.hit, access.out)
        steps.append(_step(given, method, number, access, row))
    results = _results(given, run)
    if method != "enhanced_clock":
        del results["write_backs"]
    values = {name: results[name].value for name in ("faults", "hits", "replacements")}
    steps.append(Step("paging_total", {**values, "references": len(run)}, rule="paging_count"))
    figure = partial(frame_table, given, method, run, before)
    return Solution(tuple(steps), results, (*columns, "fault", "evicted"), figure)


def _reading(given: Referring) -> list[Step]:
    """How the references became the string, where that is more than reading it."""
    steps = []
    if given.page_size:
        steps.append(Step("paging_pages", {"size": given.page_size, "pages": given.pages[:DRAWN]}))
    if len(given.pages) < len(given.refs):
        steps.append(Step("paging_merged", {"left": len(given.pages), "all": len(given.refs)}))
    return steps


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


# ---------------------------------------------------------------- the frame table

CELL, SIDE = 34.0, 84.0  # pixels: width of a reference's column, and of the column of names
WORDS: dict[str, dict[Language, str]] = {
    "title": {"zh": "{method}，{frames} 个页框", "en": "{method}, {frames} frames"},
    "part": {"zh": "（前 {drawn} 次引用）", "en": " (the first {drawn} references)"},
    "frame": {"zh": "页框 {number}", "en": "frame {number}"},
    "reference": {"zh": "引用", "en": "page"},
    "fault": {"zh": "缺页", "en": "fault"},
    "out": {"zh": "换出", "en": "out"},
    "yes": {"zh": "×", "en": "×"},
    "hit": {"zh": "引用 {page}：命中", "en": "{page}: hit"},
    "fill": {"zh": "引用 {page}：缺页，装入页框 {frame}", "en": "{page}: fault, into frame {frame}"},
    "swap": {"zh": "引用 {page}：缺页，换出 {out}", "en": "{page}: fault, {out} leaves"},
    "total": {"zh": "共引用 {references} 次，缺页 {faults} 次。", "en": "{references} references, {faults} faults."},
    "legend_new": {"zh": "装入", "en": "loaded"},
    "legend_hit": {"zh": "命中", "en": "hit"},
    "legend_bits": {"zh": "括号内：访问位；▸ 指针", "en": "in brackets: accessed bit; ▸ hand"},
    "legend_pairs": {"zh": "括号内：访问位、修改位；▸ 指针", "en": "in brackets: accessed, modified; ▸ hand"},
}
NAMES: dict[str, dict[Language, str]] = {
    "fifo": {"zh": "先进先出（FIFO）", "en": "FIFO"},
    "lru": {"zh": "最近最少使用（LRU）", "en": "LRU"},
    "opt": {"zh": "最优置换（OPT）", "en": "OPT"},
    "clock": {"zh": "时钟算法", "en": "Clock"},
    "enhanced_clock": {"zh": "改进型时钟算法", "en": "Enhanced clock"},
}


def frame_table(given: Replacing, method: str, run: Sequence[Access], before: int, language: Language) -> Figure:
    """A column for each reference: the frames after it, a mark for a fault, and the page that left."""

    def say(key: str, **values: object) -> str:
        return WORDS[key][language].format(**values)

    drawn = run[:DRAWN]
    clocked = bool(run[0].bits)
    widest = max(len(_cell(access, slot)) for access in drawn for slot in range(len(access.frames)))
    wide = max(CELL, 7.6 * widest + 14 + 12 * clocked)
    rows, top = given.frames, 10.0
    marks: list[Mark] = [Label(SIDE - 8, top + ROW * 0.68, say("reference"), "end", "muted")]
    for slot in range(rows):
        label = say("frame", number=slot)
        marks.append(Label(SIDE - 8, top + ROW * (slot + 1.68), label, "end", "muted"))
    for at, key in ((rows + 1, "fault"), (rows + 2, "out")):
        marks.append(Label(SIDE - 8, top + ROW * (at + 0.68), say(key), "end", "muted"))
    start = SIDE
    if given.loaded:
        marks += [Box(start, top + ROW * (slot + 1), wide, ROW, str(page)) for slot, page in enumerate(given.loaded)]
        start += wide + 12
    for place, access in enumerate(drawn):
        marks += _column(access, start + place * wide, top, wide, rows, before + place + 1, clocked)
    height = top + ROW * (rows + 3) + 12
    marks += _legend(SIDE, height, method, language)
    title = say("title", method=NAMES[method][language], frames=rows)
    if len(run) > DRAWN:
        title += say("part", drawn=DRAWN)
    results = _results(given, run)
    told = [_told(access, language) for access in drawn]
    told.append(say("total", references=len(run), faults=results["faults"].value))
    width = max(start + wide * len(drawn), _legend_end(SIDE, method, language)) + 10
    joined = ("；" if language == "zh" else "; ").join(told)
    return Figure(width, height + 34, tuple(marks), title, joined, before + len(run) + 1)


def _told(access: Access, language: Language) -> str:
    key = "hit" if access.hit else "fill" if access.out is None else "swap"
    return WORDS[key][language].format(page=access.page, frame=access.frame, out=access.out)


def _cell(access: Access, slot: int) -> str:
    bits = f"({access.bits[slot]})" if access.bits else ""
    return f"{access.frames[slot]}{bits}"


def _column(access: Access, x: float, top: float, wide: float, rows: int, step: int, clocked: bool) -> Iterator[Mark]:
    yield Label(x + wide / 2, top + ROW * 0.68, str(access.page), "middle", "plain", step)
    for slot in range(rows):
        y = top + ROW * (slot + 1)
        if slot >= len(access.frames):
            yield Box(x, y, wide, ROW, tone="muted", step=step)
            continue
        tone: Tone = "plain" if slot != access.frame else "good" if access.hit else "bad"
        label = ("\u2002" if clocked else "") + _cell(access, slot)
        yield Box(x, y, wide, ROW, label, tone, step)
    if clocked:
        y = top + ROW * (access.hand + 1.5)
        yield Path(((x + 2, y), (x + 10, y)), arrow=True, tone="accent", step=step)
    if not access.hit:
        yield Label(x + wide / 2, top + ROW * (rows + 1.68), "×", "middle", "bad", step)
    if access.out is not None:
        yield Label(x + wide / 2, top + ROW * (rows + 2.68), str(access.out), "middle", "muted", step)


def _legend(x: float, y: float, method: str, language: Language) -> Iterator[Mark]:
    for tone, key in _legend_pieces(method):
        text = WORDS[key][language]
        if tone:
            yield Box(x, y, 16, 16, tone=tone)
            x += 22
        yield Label(x, y + 13, text, tone="muted")
        x += text_width(text) + 16


def _legend_pieces(method: str) -> list[tuple[Tone | None, str]]:
    pieces: list[tuple[Tone | None, str]] = [("bad", "legend_new"), ("good", "legend_hit")]
    if method in ("clock", "enhanced_clock"):
        pieces.append((None, "legend_bits" if method == "clock" else "legend_pairs"))
    return pieces


def _legend_end(x: float, method: str, language: Language) -> float:
    return x + sum(text_width(WORDS[key][language]) + 38 for _, key in _legend_pieces(method))


# ---------------------------------------------------------------- Belady's anomaly


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
    steps, grown = _reading(given), list[int]()
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


# ---------------------------------------------------------------- working sets


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
    steps, faults = _reading(given), 0
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


def _string(random: Random, length: int, pages: int) -> tuple[int, ...]:
    """A reference string with some locality: a page is drawn from the last few as often as from all."""
    refs = [random.randrange(pages)]
    while len(refs) < length:
        page = random.choice(refs[-4:]) if random.random() < 0.45 else random.randrange(pages)
        if page != refs[-1]:
            refs.append(page)
    return tuple(refs)


SIZES: dict[Level, tuple[int, int, int]] = {"easy": (10, 5, 3), "medium": (14, 6, 3), "hard": (18, 7, 4)}


def _interesting(given: Replacing, method: str, level: Level) -> bool:
    """A hit after the first eviction, two evictions, and for harder levels another count than FIFO's."""
    run = list(accesses(given, method))
    evictions = [place for place, access in enumerate(run) if access.out is not None]
    if len(evictions) < 2 or not any(access.hit for access in run[evictions[0] :]):
        return False
    counts = {each: sum(not access.hit for access in accesses(_as(Clocking, given), each)) for each in METHODS}
    mine = sum(not access.hit for access in run)
    other = counts["lru" if method == "fifo" else "fifo"]
    return level == "easy" or mine != other


def generate_replacement(random: Random, level: Level, method: str) -> Replacing:
    """A string on which the method shows what it is."""
    length, pages, frames = SIZES[level]
    while True:
        refs = _string(random, length, pages)
        plain: Replacing
        if method == "opt":
            plain = Optimal(refs=refs, frames=frames)
        elif method == "clock":
            plain = Clocking(refs=refs, frames=frames)
        elif method == "enhanced_clock":
            marked = tuple(f"{page}w" if random.random() < 0.35 else str(page) for page in refs)
            plain = EnhancedClocking(refs=marked, frames=frames)
        else:
            plain = Replacing(refs=refs, frames=frames)
        if _interesting(plain, method, level):
            return plain


ANOMALY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)  # Belady's string, also in the course book


def generate_belady(random: Random, level: Level) -> Comparing:
    """Easy: Belady's string with other names; medium: any string, FIFO or LRU; hard: an anomaly among three counts."""
    names = random.sample(range(10), 5)
    if level == "easy":
        return Comparing(refs=tuple(names[page - 1] for page in ANOMALY))
    while True:
        if level == "medium":
            given = Comparing(refs=_string(random, 12, 5), method=random.choice(("fifo", "lru")))
        else:
            refs = [names[page - 1] for page in ANOMALY]
            for _ in range(2):
                refs.insert(random.randrange(len(refs) + 1), random.choice(names))
            given = Comparing(refs=tuple(refs), most_frames=5)
        few, many, *_ = fault_counts(given, given.method)
        twice = any(page == before for page, before in pairwise(given.refs))
        if few != many and len(set(given.refs)) == 5 and not twice and (level == "medium" or many > few):
            return given


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


def _if_asked(compute: Callable[[Any], Value | None]) -> Callable[[Any], Value | None]:
    """A mistake for the result that a kind asks for by default."""

    def value(given: Any) -> Value | None:
        return compute(given) if given.ask == type(given).model_fields["ask"].default else None

    return value


def _counted(given: Replacing, method: str) -> int:
    value = _results(given, list(accesses(given, method)))["faults"].value
    assert isinstance(value, int)
    return value


def _by(method: str) -> Callable[[Any], Value | None]:
    """The faults of another method on the same exercise."""
    return _if_asked(lambda given: _counted(_as(Clocking, given), method))


def _first_loads_otherwise(method: str) -> Callable[[Any], Value | None]:
    other = {"a_fault": "not_a_fault", "not_a_fault": "a_fault"}
    return _if_asked(lambda given: _counted(given.model_copy(update={"first_loads": other[given.first_loads]}), method))


def _hits_instead(method: str) -> Callable[[Any], Value | None]:
    return _if_asked(lambda given: sum(access.hit for access in accesses(given, method)))


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


def _range_of(change: Callable[[Comparing], Comparing]) -> Callable[[Any], Value | None]:
    return _if_asked(lambda given: fault_counts(change(given), change(given).method))


def _without_first_loads(given: Comparing) -> tuple[int, ...]:
    frames = range(given.least_frames, given.most_frames + 1)
    distinct = len(set(given.pages))
    counts = fault_counts(given, given.method)
    return tuple(count - min(distinct, number) for count, number in zip(counts, frames, strict=True))


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


def _kind(
    name: str, parameters: type[Any], mistakes: tuple[Mistake[Any], ...], functions: tuple[str, ...] = ()
) -> Kind[Any]:
    return Kind(
        name,
        "paging",
        parameters,
        partial(solve_replacement, method=name),
        partial(generate_replacement, method=name),
        (Mistake("first_loads", _first_loads_otherwise(name)), *mistakes, Mistake("hits_counted", _hits_instead(name))),
        "7.3",
        functions,
    )


FIFO = _kind(
    "fifo",
    Replacing,
    (Mistake("hit_renews", _by("lru")), Mistake("newest_leaves", _if_asked(_newest_leaves))),
)
LRU = _kind(
    "lru",
    Replacing,
    (Mistake("hit_does_not_renew", _by("fifo")), Mistake("looked_ahead", _by("opt"))),
    ("folio_mark_accessed", "shrink_inactive_list"),
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
        Mistake("arrives_clear", _if_asked(_bit_clear_on_arrival)),
        Mistake("clock_as_lru", _by("lru")),
    ),
    ("folio_check_references", "shrink_folio_list"),
)
ENHANCED = _kind(
    "enhanced_clock",
    EnhancedClocking,
    (
        Mistake("modified_ignored", _by("clock")),
        Mistake("modified_first", _if_asked(_modified_first)),
        Mistake("bits_ignored", _by("fifo")),
    ),
    ("folio_check_references", "pageout"),
)
BELADY_KIND = Kind(
    "belady",
    "paging",
    Comparing,
    solve_belady,
    generate_belady,
    (
        Mistake("first_loads", _if_asked(_without_first_loads)),
        Mistake(
            "other_method",
            _range_of(lambda g: g.model_copy(update={"method": "lru" if g.method == "fifo" else "fifo"})),
        ),
        Mistake("other_method_opt", _range_of(lambda g: g.model_copy(update={"method": "opt"}))),
        Mistake("more_frames_help", _if_asked(lambda g: tuple(sorted(fault_counts(g, g.method), reverse=True)))),
    ),
    "7.3",
)
WORKING_SET = Kind(
    "working_set",
    "paging",
    Watching,
    solve_working_set,
    generate_working_set,
    (
        Mistake("references_counted", _if_asked(_window_of_references)),
        Mistake("window_longer", _if_asked(_window_longer)),
        Mistake("window_before", _if_asked(_window_before)),
        Mistake("window_ahead", _if_asked(_window_ahead)),
    ),
    "7.5",
    ("workingset_refault",),
)
KINDS = (FIFO, LRU, OPT, CLOCK, ENHANCED, BELADY_KIND, WORKING_SET)
