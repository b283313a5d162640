"""Sizes of page tables, and how long a memory access takes on average.

Sections 6.5-6.7 and 7.1 of the course book. With a hit ratio h, a TLB lookup t, a memory access m and k levels the
access time is h(t + m) + (1 - h)(t + km + m); with a page-fault rate p and a service time s it is (1 - p)m + ps.
A multilevel table has as many levels as are needed for every table to fit into one page.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.addresses import power_of_two
from osrag.lab.fields import Bytes, Nanoseconds, fault, needed, size_text
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Tone, text_width
from osrag.types import Language

_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?(?:e-?\d+)?)\s*(?:/\s*(\d+(?:\.\d+)?)|([%％]))?\s*", re.IGNORECASE)


def _share(value: Any) -> Any:
    """`0.98`, `98%` or `1/1000` as a number from 0 to 1."""
    if not isinstance(value, str):
        return value
    match = _SHARE.fullmatch(value)
    if match is None or (match[2] and not float(match[2])):
        raise fault("pagetables_share", seen=value[:20])
    return float(match[1]) / (float(match[2]) if match[2] else 100 if match[3] else 1)


Share = Annotated[float, BeforeValidator(_share)]


# ---------------------------------------------------------------- sizes


class Sizing(Parameters):
    """An address space cut into pages, and a process in it."""

    address_bits: int = given(32, ge=1, le=64)
    page_size: Bytes = given(4096, ge=1, le=1 << 40, unit="bytes", validate_default=True)
    entry_bytes: int = given(4, ge=1, le=64, unit="bytes", validate_default=True)
    process_size: Bytes = given(0, ge=0, unit="bytes")
    used_low: Bytes = given(0, ge=0, unit="bytes")  # used at the bottom of the address space
    used_high: Bytes = given(0, ge=0, unit="bytes")  # and at its top
    ask: Literal[
        "table_bytes", "table_entries", "outer_entries", "offset_bits", "levels", "index_bits", "multilevel_bytes",
        "process_pages", "internal_fragmentation",
    ] = "table_bytes"  # fmt: skip

    @field_validator("page_size")
    @classmethod
    def _power(cls, size: int, info: ValidationInfo) -> int:
        bits = info.data.get("address_bits", 64)
        if power_of_two(size) >= 1 << bits:
            raise fault("pagetables_page", seen=size_text(size), bits=bits)
        return size

    @field_validator("entry_bytes")
    @classmethod
    def _two_in_a_page(cls, entry: int, info: ValidationInfo) -> int:
        size = info.data.get("page_size", 1 << 40)
        if 2 * entry > size:
            raise fault("pagetables_entry", seen=entry, size=size)
        return entry

    @field_validator("process_size", "used_low", "used_high")
    @classmethod
    def _in_the_space(cls, size: int, info: ValidationInfo) -> int:
        bits = info.data.get("address_bits", 64)
        if size > 1 << bits:
            raise fault("pagetables_space", seen=size_text(size), bits=bits)
        return size

    @property
    def page_bits(self) -> int:
        return self.address_bits - (self.page_size.bit_length() - 1)

    @property
    def level_bits(self) -> tuple[int, ...]:
        """Index bits, outermost first; inner tables fill a page, the outermost takes what is left."""
        a_page = (self.page_size // self.entry_bytes).bit_length() - 1
        full, rest = divmod(self.page_bits, a_page)
        return ((rest,) if rest else ()) + (a_page,) * full


def tables_in_use(given: Sizing) -> tuple[int, ...]:
    """Tables of each level, outermost first, that the used parts at the bottom and the top need."""
    covered, counts = given.page_size, list[int]()
    for bits in reversed(given.level_bits):
        covered <<= bits
        every = max((1 << given.address_bits) // covered, 1)
        counts.append(min(-(-given.used_low // covered) + -(-given.used_high // covered), every))
    counts[-1] = 1
    return tuple(reversed(counts))


def solve_sizes(given: Sizing) -> Solution:
    """Offset, entries, single-level size, levels, and what a process takes."""
    offset, entries = given.address_bits - given.page_bits, 1 << given.page_bits
    total = entries * given.entry_bytes
    values: dict[str, Any] = {"bits": given.address_bits, "offset": offset, "page_bits": given.page_bits}
    values |= {"size": size_text(given.page_size), "entries": entries, "entry": given.entry_bytes}
    values |= {"total": size_text(total), "fit": given.page_size // given.entry_bytes, "levels": len(given.level_bits)}
    values |= {"index_bits": given.level_bits}
    steps = [
        Step("sizes_offset", values, ("quantity_offset", offset), "sizes_offset"),
        Step("sizes_entries", values, ("quantity_entries", entries), "sizes_entries"),
        Step("sizes_total", values, ("quantity_bytes", total), "sizes_entries"),
        Step("sizes_levels", values, ("quantity_levels", len(given.level_bits)), "sizes_levels"),
    ]
    counts = tables_in_use(given)
    used = sum(counts) * given.page_size
    if given.used_low or given.used_high:
        told = {"counts": counts, "tables": sum(counts), "total": size_text(used)}
        told |= {"low": size_text(given.used_low), "high": size_text(given.used_high)}
        steps.append(Step("sizes_used", told, ("quantity_multilevel", used), "sizes_levels"))
    pages, left = -(-given.process_size // given.page_size), -given.process_size % given.page_size
    if given.process_size:
        told = {"process": given.process_size, "pages": pages, "left": left, "size": given.page_size}
        steps.append(Step("sizes_process", told, ("quantity_pages", pages), "sizes_process"))
        steps.append(Step("sizes_left", told, ("quantity_left", left), "sizes_process"))
    results = {
        "table_bytes": Result(total, "bytes"),
        "table_entries": Result(entries),
        "outer_entries": Result(1 << given.level_bits[0]),
        "offset_bits": Result(offset, "bits"),
        "levels": Result(len(given.level_bits)),
        "index_bits": Result(given.level_bits),
        "multilevel_bytes": Result(used, "bytes"),
        "process_pages": Result(pages, "pages"),
        "internal_fragmentation": Result(left, "bytes"),
    }
    return Solution(tuple(steps), results, ("quantity", "amount"), partial(bits_figure, given, len(steps)))


SAID: dict[str, dict[Language, str]] = {
    "title": {"zh": "{bits} 位逻辑地址的划分", "en": "A logical address of {bits} bits"},
    "one": {"zh": "一级", "en": "one level"},
    "many": {"zh": "多级", "en": "several levels"},
    "offset": {"zh": "偏移 {bits} 位", "en": "offset, {bits} bits"},
    "page": {"zh": "页号 {bits} 位", "en": "page number, {bits} bits"},
    "index": {"zh": "{bits} 位", "en": "{bits} bits"},
    "eat": {"zh": "一次访问的平均时间", "en": "Average time of an access"},
    "tlb_hit": {"zh": "TLB 命中", "en": "TLB hit"},
    "tlb_miss": {"zh": "TLB 未命中", "en": "TLB miss"},
    "access": {"zh": "不缺页", "en": "no fault"},
    "fault": {"zh": "缺页", "en": "page fault"},
    "mean": {"zh": "平均", "en": "average"},
}


def bits_figure(given: Sizing, steps: int, language: Language) -> Figure:
    """The address as one level cuts it and as several levels do."""

    def text(key: str, bits: object) -> str:
        return SAID[key][language].format(bits=bits)

    offset, per_bit = given.address_bits - given.page_bits, 460 / given.address_bits
    tones: tuple[Tone, ...] = ("b", "c", "d", "e", "f")
    least = text_width(text("offset", 99)) + 10
    wide = max(offset * per_bit, least)
    across = max(given.page_bits * per_bit, text_width(text("page", 99)) + 10, 62.0 * len(given.level_bits))
    marks: list[Mark] = [Label(10, 20, SAID["one"][language], tone="muted")]
    marks.append(Box(10, 28, across, ROW, text("page", given.page_bits), "b", 2))
    marks.append(Box(10 + across, 28, wide, ROW, text("offset", offset), "a", 1))
    marks.append(Label(10, 84, SAID["many"][language], tone="muted"))
    each = across / len(given.level_bits)
    for place, bits in enumerate(given.level_bits):
        marks.append(Box(10 + place * each, 92, each, ROW, text("index", bits), tones[place % len(tones)], 4))
    marks.append(Box(10 + across, 92, wide, ROW, text("offset", offset), "a", 4))
    told = (
        f"{text('page', given.page_bits)} + {text('offset', offset)}; {', '.join(map(str, given.level_bits))}, {offset}"
    )
    return Figure(20 + across + wide, 132, tuple(marks), text("title", given.address_bits), told, steps)


class Inverting(Parameters):
    """One entry for each frame of the memory."""

    physical_memory: Bytes = given(ge=1, unit="bytes")
    page_size: Bytes = given(4096, ge=1, le=1 << 40, unit="bytes", validate_default=True)
    entry_bytes: int = given(16, ge=1, le=1024, unit="bytes")
    ask: Literal["table_bytes", "table_entries"] = "table_bytes"

    @field_validator("page_size")
    @classmethod
    def _divides(cls, size: int, info: ValidationInfo) -> int:
        if info.data.get("physical_memory", size) % power_of_two(size):
            raise fault("pagetables_divides", seen=size_text(size), memory=size_text(info.data["physical_memory"]))
        return size


def solve_inverted(given: Inverting) -> Solution:
    """Frames, then bytes."""
    frames = given.physical_memory // given.page_size
    total = frames * given.entry_bytes
    values = {"memory": size_text(given.physical_memory), "size": size_text(given.page_size), "frames": frames}
    values |= {"entry": given.entry_bytes, "total": size_text(total)}
    steps = (
        Step("inverted_frames", values, ("quantity_entries", frames), "inverted"),
        Step("inverted_total", values, ("quantity_bytes", total), "inverted"),
    )
    results = {"table_bytes": Result(total, "bytes"), "table_entries": Result(frames)}
    return Solution(steps, results, ("quantity", "amount"))


class Reaching(Parameters):
    """A TLB and the size of the pages in it."""

    ask: Literal["reach_bytes", "tag_bits"] = "reach_bytes"
    tlb_entries: int = given(ge=1, le=1 << 20)
    page_size: Bytes = given(4096, ge=1, le=1 << 40, unit="bytes", validate_default=True)
    address_bits: int | None = given(None, ge=1, le=64, validate_default=True)  # of a virtual address
    tlb_ways: int | None = given(None, ge=1, validate_default=True)  # entries of a set; fully associative without it

    @field_validator("page_size")
    @classmethod
    def _power(cls, size: int) -> int:
        return power_of_two(size)

    @field_validator("address_bits")
    @classmethod
    def _cut_for_a_tag(cls, bits: int | None, info: ValidationInfo) -> int | None:
        needed(bits, info, "tag_bits")
        size = info.data.get("page_size", 1)
        if bits is not None and size >= 1 << bits:
            raise fault("pagetables_page", seen=size_text(size), bits=bits)
        return bits

    @field_validator("tlb_ways")
    @classmethod
    def _sets_are_whole(cls, ways: int | None, info: ValidationInfo) -> int | None:
        entries = info.data.get("tlb_entries", ways or 1)
        if ways is not None and (entries % ways or entries // ways & (entries // ways - 1)):
            raise fault("pagetables_sets", entries=entries, ways=ways)
        return ways


def solve_reach(given: Reaching) -> Solution:
    """Entries times page size; and what of the page number an entry keeps as its tag."""
    reach = given.tlb_entries * given.page_size
    values: dict[str, Any] = {"entries": given.tlb_entries, "size": size_text(given.page_size)}
    steps = [Step("reach", values | {"reach": size_text(reach)}, ("quantity_bytes", reach), "reach")]
    results = {"reach_bytes": Result(reach, "bytes")}
    if given.address_bits is not None:
        page_bits = given.address_bits - (given.page_size.bit_length() - 1)
        sets = given.tlb_entries // (given.tlb_ways or given.tlb_entries)
        tag = max(0, page_bits - (sets.bit_length() - 1))
        values |= {"page_bits": page_bits, "bits": given.address_bits, "sets": sets, "tag": tag}
        values["index"] = sets.bit_length() - 1
        steps = [Step("tag_sets", values), Step("tag_bits", values, ("quantity_bits", tag), "tag_bits")]
        results["tag_bits"] = Result(tag, "bits")
    return Solution(tuple(steps), results, ("quantity", "amount"))


# ---------------------------------------------------------------- effective access time


class Accessing(Parameters):
    """The times of the parts of a memory access, and how often each is needed."""

    memory_time: Nanoseconds = given(gt=0, le=1e12, unit="ns")
    tlb_ratio: Share | None = given(None, ge=0, le=1)  # no TLB where nothing is given
    tlb_time: Nanoseconds = given(0.0, ge=0, le=1e12, unit="ns")
    table_levels: int | None = given(None, ge=0, le=5)  # 1 with a TLB, else 0: translation takes no time
    fault_rate: Share = given(0.0, ge=0, le=1)
    service_time: Nanoseconds = given(0.0, ge=0, le=1e15, unit="ns")
    dirty_share: Share = given(0.0, ge=0, le=1)  # of the faults, those that write a page back first
    dirty_service_time: Nanoseconds = given(0.0, ge=0, le=1e15, unit="ns")  # of those faults
    cache_ratio: Share | None = given(None, ge=0, le=1)  # of the data in the processor cache; none where not given
    cache_time: Nanoseconds = given(0.0, ge=0, le=1e12, unit="ns")
    target_time: Nanoseconds = given(0.0, ge=0, le=1e15, unit="ns")  # an access time that is to be kept
    tlb_on_miss: Literal["paid", "hidden"] = rule("paid")
    fault_path: Literal["service_only", "access_added", "walked_again"] = rule("service_only")
    faults_among: Literal["all_accesses", "tlb_misses"] = rule("all_accesses")
    ask: Literal["effective_time", "hit_time", "miss_time", "slowdown", "needed_hit_ratio", "highest_fault_rate"] = (
        given("effective_time", validate_default=True)
    )

    @field_validator("ask")
    @classmethod
    def _can_be_found(cls, ask: str, info: ValidationInfo) -> str:
        data = info.data
        if ask in ("needed_hit_ratio", "highest_fault_rate") and not data.get("target_time", 1):
            raise fault("pagetables_target")
        if data.get("tlb_ratio", 1) is None and (
            ask in ("hit_time", "miss_time") or data.get("faults_among") == "tlb_misses"
        ):
            raise fault("pagetables_no_tlb")
        if data.get("fault_rate") and not data.get("service_time", 1):
            raise fault("pagetables_service")
        if data.get("dirty_share") and not data.get("dirty_service_time", 1):
            raise fault("pagetables_dirty")
        if ask == "highest_fault_rate" and not data.get("service_time", 1):
            raise fault("pagetables_service")
        return ask


@dataclass(frozen=True, slots=True)
class Times:
    """Times of the three ways that an access can go, and their shares."""

    hit: float
    miss: float
    fault: float
    shares: tuple[float, float, float]

    @property
    def mean(self) -> float:
        return sum(share * time for share, time in zip(self.shares, (self.hit, self.miss, self.fault), strict=True))


def access_times(given: Accessing) -> Times:
    """Every way, by the formulas of the course book and the rules that were chosen."""
    data = given.memory_time
    if given.cache_ratio is not None:
        data = given.cache_time + (1 - given.cache_ratio) * given.memory_time
    tlb = given.tlb_time if given.tlb_ratio is not None else 0.0
    levels = (1 if given.tlb_ratio is not None else 0) if given.table_levels is None else given.table_levels
    walk = levels * given.memory_time
    on_miss = tlb if given.tlb_on_miss == "paid" else 0.0
    hit, miss = tlb + data, on_miss + walk + data
    ratio = given.tlb_ratio if given.tlb_ratio is not None else 0.0
    service = (1 - given.dirty_share) * given.service_time + given.dirty_share * given.dirty_service_time
    rate = given.fault_rate
    match given.fault_path:
        case "service_only":
            fault_time = service
        case "access_added":
            usual = miss if given.faults_among == "tlb_misses" else ratio * hit + (1 - ratio) * miss
            fault_time = service + usual
        case _:  # 408 of 2009: look up, walk, service; then the access again, now with a TLB hit
            fault_time = on_miss + walk + service + (hit if given.tlb_ratio is not None else miss)
    if given.faults_among == "tlb_misses":
        shares = (ratio, (1 - ratio) * (1 - rate), (1 - ratio) * rate)
    else:
        shares = ((1 - rate) * ratio, (1 - rate) * (1 - ratio), rate)
    return Times(hit, miss, fault_time, shares)


def _with(given: Accessing, **changes: float) -> float:
    return access_times(given.model_copy(update=changes)).mean


def _solved_for(given: Accessing, name: str) -> float:
    """The value from 0 to 1 at which the mean is `target`; the mean is linear in it, so two points tell."""
    at_0, at_1 = _with(given, **{name: 0.0}), _with(given, **{name: 1.0})
    if at_0 == at_1:
        return 0.0 if name == "tlb_ratio" else 1.0
    return min(max((given.target_time - at_0) / (at_1 - at_0), 0.0), 1.0)


def solve_access(given: Accessing) -> Solution:
    """A row for each way: its share, its time, and what it adds to the mean.

    Where the hit ratio is asked for and none is given, they are those at the ratio that is needed.
    """
    if given.ask == "needed_hit_ratio" and given.tlb_ratio is None:
        given = given.model_copy(update={"tlb_ratio": _solved_for(given, "tlb_ratio")})
    times = access_times(given)
    steps = list[Step]()
    tlb = given.tlb_ratio is not None
    values: dict[str, Any] = {"tlb": given.tlb_time, "memory": given.memory_time}
    values["levels"] = (1 if tlb else 0) if given.table_levels is None else given.table_levels
    ways = [("access", times.miss, times.shares[0] + times.shares[1])]
    if tlb:
        ways = [("tlb_hit", times.hit, times.shares[0]), ("tlb_miss", times.miss, times.shares[1])]
    if given.fault_rate:
        ways.append(("fault", times.fault, times.shares[2]))
    if given.cache_ratio is not None:
        data = given.cache_time + (1 - given.cache_ratio) * given.memory_time
        told = {"cache": given.cache_time, "memory": given.memory_time, "data": data}
        steps.append(Step("eat_cache", {**told, "missing": 1 - given.cache_ratio}))
    for name, time, share in ways:
        key = f"eat_{name}" + (f"_{given.fault_path}" if name == "fault" else "")
        if name == "tlb_miss" and given.tlb_on_miss == "hidden":
            key = "eat_tlb_miss_hidden"
        row = (round(100 * share, 9), round(time, 9), round(share * time, 9))
        steps.append(Step(key, {**values, "time": time, "service": given.service_time}, row, "eat_way"))
    sum_text = " + ".join(f"{share:.6g} × {time:.10g}" for _, time, share in ways)
    steps.append(
        Step("eat_mean", {"sum": sum_text, "mean": times.mean}, (100.0, None, round(times.mean, 9)), "eat_mean")
    )
    results = {
        "effective_time": Result(round(times.mean, 9), "ns"),
        "slowdown": Result(round(times.mean / given.memory_time, 9)),
    }
    if tlb:
        results |= {"hit_time": Result(round(times.hit, 9), "ns"), "miss_time": Result(round(times.miss, 9), "ns")}
    if given.target_time:
        told = {"target": given.target_time}
        if tlb:
            ratio = 100 * _solved_for(given, "tlb_ratio")
            results["needed_hit_ratio"] = Result(round(ratio, 9), "percent")
            steps.append(Step("eat_needed", {**told, "ratio": ratio}))
        if given.service_time:
            rate = _solved_for(given, "fault_rate")
            results["highest_fault_rate"] = Result(rate)
            steps.append(Step("eat_highest", {**told, "rate": f"{rate:.4g}"}))
    columns = ("share_percent", "time_ns", "share_of_time")
    return Solution(tuple(steps), results, columns, partial(times_figure, ways, times.mean, len(steps)))


def times_figure(ways: list[tuple[str, float, float]], mean: float, steps: int, language: Language) -> Figure:
    """A bar for each way an access can go, and one for the mean; a bar too long for the page is cut off."""
    marks: list[Mark] = []
    tones: dict[str, Tone] = {"tlb_hit": "good", "access": "good", "tlb_miss": "b", "fault": "bad"}
    most = sorted([mean, *(time for _, time, _ in ways)])[-2]
    left = max(text_width(SAID[name][language]) for name, _, _ in [*ways, ("mean", 0, 0)]) + 18
    told = []
    for place, (name, time, share) in enumerate([*ways, ("mean", mean, 1.0)]):
        y = 10 + place * (ROW + 10)
        wide = max(min(150 * time / (most or 1), 170), 2)
        step = min(place + 1, steps)
        marks.append(Label(left - 8, y + 19, SAID[name][language], "end", "muted"))
        marks.append(Box(left, y, wide, ROW, tone=tones.get(name, "accent"), step=step))
        text = f"{time:.10g} ns" + ("" if name == "mean" else f" × {100 * share:.6g} %")
        marks.append(Label(left + wide + 8, y + 19, ("… " if wide == 170 else "") + text, step=step))
        told.append(f"{SAID[name][language]}: {text}")
    width = left + 190 + max(text_width(mark.text) for mark in marks if isinstance(mark, Label))
    return Figure(width, 20 + (len(ways) + 1) * (ROW + 10), tuple(marks), SAID["eat"][language], "; ".join(told), steps)


# ---------------------------------------------------------------- exercises and mistakes


def generate_sizes(random: Random, level: Level) -> Sizing:
    """Easy: a single-level table; medium: levels that are needed; hard: what a sparse process takes."""
    if level == "easy":
        bits, size, entry = random.choice((24, 28, 30, 32, 36)), random.choice((1024, 2048, 4096, 8192)), 4
        return Sizing(address_bits=bits, page_size=size, entry_bytes=random.choice((entry, 8)))
    if level == "medium":
        bits, size = random.choice((39, 42, 43, 46, 48, 50)), random.choice((4096, 8192, 16384))
        return Sizing(address_bits=bits, page_size=size, entry_bytes=8, ask="levels")
    low, high = random.randint(5, 30), random.randint(1, 9)
    return Sizing(used_low=low << 20, used_high=high << 20, ask="multilevel_bytes")


def generate_inverted(random: Random, level: Level) -> Inverting:
    """Memory and pages that divide well."""
    memory = random.choice((1, 2, 4, 8, 16, 32)) << (20 if level == "easy" else 30)
    size = random.choice((1024, 2048, 4096)) if level == "easy" else random.choice((4096, 8192, 16384))
    return Inverting(physical_memory=memory, page_size=size, entry_bytes=random.choice((4, 8, 16)))


def generate_reach(random: Random, level: Level) -> Reaching:
    """A TLB of some dozens to some thousands of entries."""
    entries = random.choice((16, 32, 48, 64, 96, 128) if level == "easy" else (512, 768, 1024, 1536, 2048))
    size = random.choice((4096, 8192, 16384) if level != "hard" else (2 << 20, 4 << 20, 16 << 20))
    return Reaching(tlb_entries=entries, page_size=size)


def generate_access(random: Random, level: Level) -> Accessing:
    """Easy: TLB and one level; medium: several levels; hard: page faults as well."""
    memory, tlb = random.choice((50, 60, 80, 100, 120, 200)), random.choice((1, 2, 5, 10, 20))
    ratio = random.choice((0.8, 0.9, 0.95, 0.96, 0.98))
    levels = 1 if level == "easy" else random.randint(2, 4)
    if level == "hard":
        rate, service = random.choice((0.0001, 0.00005, 0.00002)), random.choice((2e6, 4e6, 5e6, 8e6))
        return Accessing(memory_time=memory, tlb_ratio=ratio, tlb_time=tlb, table_levels=levels, fault_rate=rate,
                         service_time=service)  # fmt: skip
    return Accessing(memory_time=memory, tlb_ratio=ratio, tlb_time=tlb, table_levels=levels)


def _if_asked(name: str, compute: Callable[[Any], Value | None]) -> Callable[[Any], Value | None]:
    return lambda given: compute(given) if given.ask == name else None


def _mean(change: Callable[[Accessing], dict[str, Any] | None]) -> Callable[[Any], Value | None]:
    """The mean after a mistaken change of the exercise."""

    def value(given: Accessing) -> Value | None:
        changes = change(given)
        return None if given.ask != "effective_time" or changes is None else round(_with(given, **changes), 9)

    return value


def _data_access_forgotten(given: Accessing) -> Value | None:
    """A miss walks the tables, but the access to the data itself is left out."""
    if given.tlb_ratio is None:
        return None
    times = access_times(given)
    return round(times.mean - times.shares[1] * given.memory_time, 9)


SIZE_MISTAKES: tuple[Mistake[Any], ...] = (
    Mistake("entry_size_forgotten", _if_asked("table_bytes", lambda g: 1 << g.page_bits)),
    Mistake("space_times_entry", _if_asked("table_bytes", lambda g: (1 << g.address_bits) * g.entry_bytes)),
    Mistake("bits_for_pages", _if_asked("table_bytes", lambda g: g.page_bits * g.entry_bytes)),
    Mistake("levels_rounded_down", _if_asked("levels", lambda g: len(g.level_bits) - 1)),
    Mistake("levels_with_offset", _if_asked(
        "levels", lambda g: -(-g.address_bits // ((g.page_size // g.entry_bytes).bit_length() - 1)))),
    Mistake("levels_one_more", _if_asked("levels", lambda g: len(g.level_bits) + 1)),
    Mistake("directory_forgotten", _if_asked(
        "multilevel_bytes", lambda g: sum(tables_in_use(g)[1:]) * g.page_size)),
    Mistake("whole_table", _if_asked("multilevel_bytes", lambda g: (1 << g.page_bits) * g.entry_bytes)),
    Mistake("parts_added_first", _if_asked("multilevel_bytes", lambda g: sum(tables_in_use(
        g.model_copy(update={"used_low": g.used_low + g.used_high, "used_high": 0}))) * g.page_size)),
)  # fmt: skip

PAGE_TABLE: Kind[Any] = Kind(
    "page_table", "pagetables", Sizing, solve_sizes, generate_sizes, SIZE_MISTAKES, "6.7.2",
)  # fmt: skip
INVERTED: Kind[Any] = Kind(
    "inverted_table",
    "pagetables",
    Inverting,
    solve_inverted,
    generate_inverted,
    (
        Mistake("entry_size_forgotten", _if_asked("table_bytes", lambda g: g.physical_memory // g.page_size)),
        Mistake("space_times_entry", _if_asked("table_bytes", lambda g: g.physical_memory * g.entry_bytes)),
        Mistake("space_of_32_bits", _if_asked("table_bytes", lambda g: (1 << 32) // g.page_size * g.entry_bytes)),
    ),
    "6.7.3",
)
REACH: Kind[Any] = Kind(
    "tlb_reach",
    "pagetables",
    Reaching,
    solve_reach,
    generate_reach,
    (
        Mistake("reach_of_entries", _if_asked("reach_bytes", lambda g: g.tlb_entries)),
        Mistake("reach_of_one_page", _if_asked("reach_bytes", lambda g: g.page_size)),
        Mistake("reach_in_bits", _if_asked("reach_bytes", lambda g: g.tlb_entries * (g.page_size.bit_length() - 1))),
    ),
    "6.6.3",
)
ACCESS: Kind[Any] = Kind(
    "access_time",
    "pagetables",
    Accessing,
    solve_access,
    generate_access,
    (
        Mistake("data_access_forgotten", _if_asked("effective_time", _data_access_forgotten)),
        Mistake(
            "tlb_time_only_on_hit", _mean(lambda g: {"tlb_on_miss": "hidden"} if g.tlb_on_miss == "paid" else None)
        ),
        Mistake("ratio_reversed", _mean(lambda g: None if g.tlb_ratio is None else {"tlb_ratio": 1 - g.tlb_ratio})),
        Mistake("one_level_only", _mean(lambda g: {"table_levels": 1} if (g.table_levels or 0) > 1 else None)),
        Mistake("faults_ignored", _mean(lambda g: {"fault_rate": 0.0} if g.fault_rate else None)),
    ),
    "6.6.2",
)
KINDS = (PAGE_TABLE, INVERTED, REACH, ACCESS)
