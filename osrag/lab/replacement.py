"""Page replacement algorithms: references, frames, and what becomes of each reference.

FIFO, OPT, LRU and the clock follow section 7.3 of the course book (Silberschatz et al., 10.4); the enhanced clock
follows the passes of Stallings, section 8.2: look for (0, 0) and change nothing; then look for (0, 1) and clear the
accessed bits that are passed; then both again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.fields import Bytes, Numbers, fault
from osrag.lab.kind import Parameters, Result, Step, Value, given, rule

REFERENCES = 10_000  # in one exercise
FRAMES = 64
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
        return clock_accesses(given if isinstance(given, Clocking) else as_clock(Clocking, given))
    return stack_accesses(given, method)  # type: ignore[arg-type]


def as_clock(to: type[Clocking], given: Replacing) -> Clocking:
    """The same exercise for the clock."""
    return to(refs=given.pages, frames=given.frames, loaded=given.loaded, first_loads=given.first_loads)


# ---------------------------------------------------------------- results


def results_of(given: Replacing, run: Sequence[Access]) -> dict[str, Result]:
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


def reading(given: Referring) -> list[Step]:
    """How the references became the string, where that is more than reading it."""
    steps = []
    if given.page_size:
        steps.append(Step("paging_pages", {"size": given.page_size, "pages": given.pages[:DRAWN]}))
    if len(given.pages) < len(given.refs):
        steps.append(Step("paging_merged", {"left": len(given.pages), "all": len(given.refs)}))
    return steps


def if_asked(compute: Callable[[Any], Value | None]) -> Callable[[Any], Value | None]:
    """A mistake for the result that a kind asks for by default."""

    def value(given: Any) -> Value | None:
        return compute(given) if given.ask == type(given).model_fields["ask"].default else None

    return value
