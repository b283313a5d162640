"""Sizes of page tables and access times: the course book's and the bank's numbers, and the formulas once more."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.kind import Kind
from osrag.lab.pagetables import (
    ACCESS,
    INVERTED,
    KINDS,
    PAGE_TABLE,
    REACH,
    Accessing,
    Reaching,
    Sizing,
    access_times,
    tables_in_use,
)
from osrag.lab.solve import solve
from tests.lab.checks import check_told, faults
from tests.lab.memory_checks import (
    all_said,
    draws,
    fails,
    grades_itself,
    has_its_words,
    makes_exercises,
    result,
    solution,
)

MIB = 1 << 20


# ---------------------------------------------------------------- worked examples


def test_single_level_tables() -> None:
    assert result(PAGE_TABLE, "table_bytes", address_bits=32) == 4 * MIB
    assert result(PAGE_TABLE, "table_bytes", address_bits=48, entry_bytes=8) == 512 << 30
    assert result(PAGE_TABLE, "table_entries") == 1 << 20


def test_levels() -> None:
    assert result(PAGE_TABLE, "levels", address_bits=48, entry_bytes=8) == 4
    assert result(PAGE_TABLE, "index_bits", address_bits=48, entry_bytes=8) == (9, 9, 9, 9)
    assert result(PAGE_TABLE, "levels", address_bits=48, page_size="16K", entry_bytes=8) == 4
    assert result(PAGE_TABLE, "index_bits", address_bits=48, page_size="16K", entry_bytes=8) == (1, 11, 11, 11)
    assert result(PAGE_TABLE, "levels", address_bits=39, entry_bytes=8) == 3


def test_a_sparse_process() -> None:
    assert result(PAGE_TABLE, "multilevel_bytes", used_low="5M", used_high="1M") == 16 * 1024
    assert tables_in_use(Sizing(used_low=9 * MIB, used_high=2 * MIB)) == (1, 4)
    assert tables_in_use(Sizing(address_bits=39, entry_bytes=8, used_low=MIB, used_high=MIB)) == (1, 2, 2)


def test_internal_fragmentation() -> None:
    values = {"process_size": 50_000}
    assert (result(PAGE_TABLE, "process_pages", **values), result(PAGE_TABLE, "internal_fragmentation", **values)) == (
        13,
        3248,
    )
    assert result(PAGE_TABLE, "internal_fragmentation", process_size=78_848) == 3072
    assert result(PAGE_TABLE, "internal_fragmentation", process_size=72_766, page_size=2048) == 962


def test_inverted_tables_and_reach() -> None:
    assert result(INVERTED, "table_bytes", physical_memory="16G", entry_bytes=16) == 64 * MIB
    assert result(REACH, "reach_bytes", tlb_entries=1536) == 6 * MIB
    assert result(REACH, "reach_bytes", tlb_entries=1536, page_size="2 MiB") == 3 << 30
    assert result(REACH, "tag_bits", tlb_entries=128, tlb_ways=4, address_bits=32) == 15  # GATE 2006
    assert result(REACH, "tag_bits", tlb_entries=64, address_bits=32) == 20  # fully associative
    assert solve(REACH, {"ask": "tag_bits", "tlb_entries": 64}).missing == ("address_bits",)
    check_told(REACH, Reaching(ask="tag_bits", tlb_entries=64, address_bits=40, tlb_ways=4))
    assert "power of two" in faults(REACH, tlb_entries=12, tlb_ways=4)["tlb_ways"]


@pytest.mark.parametrize(
    ("ratio", "tlb", "memory", "levels", "expected"),
    [
        ("98%", 1, 100, 1, 103),
        ("98%", 1, 100, 4, 109),
        ("0.9", 1, 100, 4, 141),
        ("96 %", 1, 60, 3, 68.2),
        ("95%", 2, 80, 2, 90),
        ("80%", 0, 10, 1, 12),
    ],
)
def test_the_tlb_in_the_course_book(ratio: str, tlb: float, memory: float, levels: int, expected: float) -> None:
    values = {"memory_time": memory, "tlb_ratio": ratio, "tlb_time": tlb, "table_levels": levels}
    assert result(ACCESS, "effective_time", **values) == pytest.approx(expected)


def test_page_faults_in_the_course_book() -> None:
    values: dict[str, Any] = {"memory_time": "100 ns", "fault_rate": "1/1000", "service_time": "5 ms"}
    assert result(ACCESS, "effective_time", **values) == pytest.approx(5099.9)
    assert result(ACCESS, "slowdown", **values) == pytest.approx(50.999)
    values["target_time"] = "110 ns"
    assert result(ACCESS, "highest_fault_rate", **values) == pytest.approx(10 / 4_999_900)
    values = {"memory_time": 100, "fault_rate": "1/20000", "service_time": "4 ms"}
    assert result(ACCESS, "effective_time", **values) == pytest.approx(299.995)


def test_the_hit_ratio_that_is_needed() -> None:
    # exercise of chapter 6: 82 h + 242 (1 - h) <= 86 gives h >= 0.975
    values = {"memory_time": 80, "tlb_ratio": "95%", "tlb_time": 2, "table_levels": 2, "target_time": 86}
    assert result(ACCESS, "needed_hit_ratio", **values) == pytest.approx(97.5)
    asked = {name: value for name, value in values.items() if name != "tlb_ratio"} | {"ask": "needed_hit_ratio"}
    assert result(ACCESS, "needed_hit_ratio", **asked) == pytest.approx(97.5)


def test_dirty_pages_take_longer() -> None:
    # Silberschatz et al., exercise: 70 % of the replaced pages are modified, 8 ms or 20 ms
    values = {"memory_time": 100, "fault_rate": "0.001", "service_time": "8 ms", "dirty_share": "70%"}
    found = result(ACCESS, "effective_time", **values, dirty_service_time="20 ms")
    assert found == pytest.approx(0.999 * 100 + 0.001 * 16.4e6)


def test_the_rules() -> None:
    values: dict[str, Any] = {"memory_time": 100, "tlb_ratio": 0.9, "tlb_time": 10}
    assert result(ACCESS, "effective_time", **values) == pytest.approx(0.9 * 110 + 0.1 * 210)
    assert result(ACCESS, "effective_time", **values, tlb_on_miss="hidden") == pytest.approx(0.9 * 110 + 0.1 * 200)
    values |= {"fault_rate": 0.01, "service_time": 1e6}
    assert result(ACCESS, "effective_time", **values) == pytest.approx(0.99 * 120 + 1e4)
    assert result(ACCESS, "effective_time", **values, fault_path="access_added") == pytest.approx(120 + 1e4)
    again = result(ACCESS, "effective_time", **values, fault_path="walked_again")
    assert again == pytest.approx(0.99 * 120 + 0.01 * (10 + 100 + 1e6 + 110))
    rare = result(ACCESS, "effective_time", **values, faults_among="tlb_misses")
    assert rare == pytest.approx(0.9 * 110 + 0.1 * (0.99 * 210 + 0.01 * 1e6))
    more = result(ACCESS, "effective_time", **values, faults_among="tlb_misses", fault_path="access_added")
    assert more == pytest.approx(0.9 * 110 + 0.1 * (210 + 0.01 * 1e6))


def test_the_408_paper_of_2009() -> None:
    # TLB 10 ns, memory 100 ns, fault 10^8 ns: a fault takes 10 + 100 + 10^8 + 10 + 100
    times = access_times(
        Accessing(
            memory_time=100, tlb_ratio=0.5, tlb_time=10, fault_rate=0.1, service_time=1e8, fault_path="walked_again"
        )
    )
    assert (times.hit, times.miss, times.fault) == (110, 210, 100_000_220)


def test_a_processor_cache_serves_the_data() -> None:
    values = {"memory_time": 100, "tlb_ratio": 0.9, "tlb_time": 10, "cache_ratio": "90%", "cache_time": 5}
    assert result(ACCESS, "effective_time", **values) == pytest.approx(0.9 * 25 + 0.1 * 125)


# ---------------------------------------------------------------- oracles


@settings(max_examples=40, deadline=None)
@given(
    ratio=st.floats(0, 1),
    tlb=st.integers(0, 20),
    memory=st.integers(1, 200),
    levels=st.integers(0, 5),
    p=st.floats(0, 1),
)
def test_the_mean_is_the_formula(ratio: float, tlb: int, memory: int, levels: int, p: float) -> None:
    parameters = Accessing(
        memory_time=memory, tlb_ratio=ratio, tlb_time=tlb, table_levels=levels, fault_rate=p, service_time=1e6
    )
    usual = ratio * (tlb + memory) + (1 - ratio) * (tlb + levels * memory + memory)
    assert access_times(parameters).mean == pytest.approx((1 - p) * usual + p * 1e6)
    assert sum(access_times(parameters).shares) == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(low=st.integers(0, 1 << 16), high=st.integers(0, 1 << 16), entry=st.sampled_from([4, 8]))
def test_tables_in_use_are_those_that_pages_fall_into(low: int, high: int, entry: int) -> None:
    space = Sizing(address_bits=16, page_size=64, entry_bytes=entry, used_low=low, used_high=high)
    pages = {at // 64 for at in (*range(0, low, 64), *range((1 << 16) - high, 1 << 16, 64))}
    if low:
        pages.add((low - 1) // 64)
    if high:
        pages.add(((1 << 16) - 1) // 64)
    counts, shift = [], 0
    for bits in reversed(space.level_bits):
        shift += bits
        counts.append(max(len({page >> shift for page in pages}), 1 if shift == space.page_bits else 0))
    assert tables_in_use(space) == tuple(reversed(counts))


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("kind", "values", "field", "says"),
    [
        (PAGE_TABLE, {"page_size": 3000}, "page_size", "power of two"),
        (PAGE_TABLE, {"address_bits": 12}, "page_size", "smaller than the space of 12 bits"),
        (PAGE_TABLE, {"address_bits": 65}, "address_bits", "at most 64"),
        (PAGE_TABLE, {"page_size": 16, "entry_bytes": 16}, "entry_bytes", "must hold two entries"),
        (PAGE_TABLE, {"process_size": "8G"}, "process_size", "8 GiB is more than the space of 32 bits"),
        (INVERTED, {"physical_memory": 5000}, "page_size", "not a whole number of pages"),
        (REACH, {"tlb_entries": 0}, "tlb_entries", "at least 1"),
        (ACCESS, {"memory_time": 0}, "memory_time", "greater than 0"),
        (ACCESS, {"memory_time": 100, "tlb_ratio": "often"}, "tlb_ratio", "“often” is not a share"),
        (ACCESS, {"memory_time": 100, "tlb_ratio": 1.5}, "tlb_ratio", "at most 1"),
        (ACCESS, {"memory_time": 100, "fault_rate": "1/0"}, "fault_rate", "is not a share"),
        (ACCESS, {"memory_time": 100, "fault_rate": 0.1}, "ask", "time to service one"),
        (ACCESS, {"memory_time": 100, "ask": "hit_time"}, "ask", "the TLB hit ratio is needed"),
        (ACCESS, {"memory_time": 100, "tlb_ratio": 0.9, "ask": "needed_hit_ratio"}, "ask", "to be kept is needed"),
        (ACCESS, {"memory_time": 100, "dirty_share": 0.5}, "ask", "write back"),
        (ACCESS, {"memory_time": 100, "target_time": 110, "ask": "highest_fault_rate"}, "ask", "time to service one"),
    ],
)
def test_a_fault_names_its_field_and_its_rule(kind: Kind[Any], values: dict[str, Any], field: str, says: str) -> None:
    fails(kind, values, field, says)


# ---------------------------------------------------------------- exercises, words, figures


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_exercises_words_and_figures(kind: Kind[Any]) -> None:
    has_its_words(kind)
    makes_exercises(kind)
    draws(kind)
    if kind is not REACH:
        grades_itself(kind)


def test_every_sentence_is_said() -> None:
    said = set[str]()
    faulty = {"memory_time": 100, "tlb_ratio": 0.9, "fault_rate": 0.1, "service_time": 1000, "target_time": 200}
    for kind, values in (
        (PAGE_TABLE, {"process_size": 5000, "used_low": 5000}),
        (INVERTED, {"physical_memory": "1M"}),
        (REACH, {"tlb_entries": 4}),
        (ACCESS, {"memory_time": 100, "cache_ratio": 0.5}),
        (ACCESS, {**faulty, "tlb_on_miss": "hidden", "fault_path": "access_added"}),
        (ACCESS, {**faulty, "fault_path": "walked_again"}),
        (ACCESS, faulty),
    ):
        said |= {step.key for step in solution(kind, **values).steps}
    all_said(("sizes_", "inverted_", "reach", "eat_"), said)
