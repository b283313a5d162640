"""Address translation: the course book's examples, and the same by strings of bits."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.addresses import KINDS, RELOCATION, SEGMENTS, TRANSLATE, Segmenting, Translating, walk
from osrag.lab.kind import Kind
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

SEGMENT_TABLE = "0 4096 2000 rx; 1 20480 1500 rw; 2 8192 4096 rw"


# ---------------------------------------------------------------- worked examples


def test_the_course_books_single_level() -> None:
    assert result(TRANSLATE, "physical", address="0x2ABC", entries="2 9") == "0x9ABC"
    assert result(TRANSLATE, "physical", address="5000", page_size="1K", entries="4→7") == 8072
    assert result(TRANSLATE, "physical", address="7000", page_size="2 KiB", entries="3:12") == 25432


def test_the_course_books_exercise_with_an_invalid_page() -> None:
    table = "0→3, 1→7, 2→invalid, 3→1"
    answers = [
        result(TRANSLATE, "physical", address=a, page_size=2048, entries=table) for a in (1000, 3000, 5000, 7000)
    ]
    assert answers == [7144, 15288, "page_fault_trap", 2904]


def test_the_course_books_two_levels() -> None:
    values = {"address": "0x00805A3C", "level_bits": "10,10", "entries": "2 5 0x1F"}
    assert result(TRANSLATE, "physical", **values) == "0x1FA3C"
    assert result(TRANSLATE, "indices", **values) == (2, 5)
    assert result(TRANSLATE, "memory_accesses", **values) == 3
    rows = [step.row for step in solution(TRANSLATE, **values).steps]
    assert rows == [
        ("d", "11–0", "0xA3C", None, None),
        ("p1", "31–22", 2, None, None),
        ("p2", "21–12", 5, None, None),
        ("p1", None, 2, True, None),
        ("p2", None, 5, True, "0x1F"),
        ("PA", None, "0x1FA3C", None, None),
    ]


def test_the_course_books_four_levels() -> None:
    values = {"address": "0x00007F3A1C2D5E68", "level_bits": "9,9,9,9", "address_bits": 48}
    assert result(TRANSLATE, "indices", **values, ask="indices") == (254, 232, 225, 213)
    assert result(TRANSLATE, "offset", **values, ask="offset") == "0xE68"


def test_the_bank() -> None:
    values = {"address": "0x00C03123", "level_bits": "10,10", "ask": "indices"}
    assert result(TRANSLATE, "indices", **values) == (3, 3)
    assert result(TRANSLATE, "offset", **values) == "0x123"
    assert result(RELOCATION, "physicals", base="0x20000", limit="0x3000", addresses="0x2FFF, 0x3000") == (
        "0x22FFF",
        "trap",
    )


def test_the_course_books_base_and_limit() -> None:
    values = {"base": "0x40000", "limit": "0x8000", "addresses": "0x1234, 0x9000"}
    assert result(RELOCATION, "physicals", **values) == ("0x41234", "trap")
    values = {"base": "0x30000", "limit": "0x5000", "addresses": "0x0FFF 0x4FFF 0x5000"}
    assert result(RELOCATION, "physicals", **values) == ("0x30FFF", "0x34FFF", "trap")
    assert result(RELOCATION, "trap_count", **values, limit_means="last_offset") == 0


def test_the_course_books_segments() -> None:
    values = {"segments": SEGMENT_TABLE, "addresses": "(0, 1200), (1, 1500), (2, 4095), (0, 100, w)"}
    assert result(SEGMENTS, "physicals", **values) == (5296, "trap", 12287, "trap")
    assert result(SEGMENTS, "trap_count", **values) == 2
    assert result(SEGMENTS, "physicals", segments=SEGMENT_TABLE, addresses="1 1500", limit_means="last_offset") == (
        21980,
    )


def test_silberschatz_segments() -> None:
    table = "0 1400 1000; 1 6300 400; 2 4300 400; 3 3200 1100; 4 4700 1000"
    assert result(SEGMENTS, "physicals", segments=table, addresses="2 53; 3 852; 0 1222") == (4353, 4052, "trap")


def test_a_segment_without_a_base_is_not_in_memory() -> None:
    solved = solution(SEGMENTS, segments="0 6000 100 r; 1 - 200 rw; 2 4000 300 rw", addresses="1 10; 2 400; 2 10")
    assert solved.results["physicals"].value == ("trap", "trap", 4010)
    assert solved.figure is not None and solved.figure("en").height > 0


def test_a_segment_may_be_paged() -> None:
    # offset 5000 of segment 1 is page 1, offset 904 with pages of 4 KiB
    values: dict[str, Any] = {"segments": "0 - 3000; 1 - 9000", "page_size": "4K", "entries": "0 0 5; 1 1 9; 1 2 -"}
    answers = result(SEGMENTS, "physicals", **values, addresses="1 5000; 0 100; 1 8500; 0 3000; 2 0")
    assert answers == (9 * 4096 + 904, 5 * 4096 + 100, "page_fault_trap", "trap", "trap")


# ---------------------------------------------------------------- conventions and notation


def test_the_tlb_is_looked_up_first() -> None:
    values = {"address": "0x2ABC", "entries": "2 9", "tlb": "2 9; 3 4"}
    assert (result(TRANSLATE, "tlb_hit", **values), result(TRANSLATE, "memory_accesses", **values)) == (True, 1)
    values["tlb"] = "3 4"
    assert (result(TRANSLATE, "tlb_hit", **values), result(TRANSLATE, "memory_accesses", **values)) == (False, 2)
    assert result(TRANSLATE, "physical", address="0x2ABC", tlb="2 9") == "0x9ABC"


def test_a_table_that_is_not_there_faults_at_its_level() -> None:
    values = {"address": "0x00805A3C", "level_bits": "10,10", "entries": "2 -; 3 5 7"}
    assert result(TRANSLATE, "page_fault", **values) is True
    assert result(TRANSLATE, "memory_accesses", **values) == 1
    values["entries"] = "2 4 7"
    assert result(TRANSLATE, "memory_accesses", **values) == 2


def test_addresses_may_be_written_in_other_ways() -> None:
    assert Translating(address="17CAH", entries="1 2").address == "0x17CA"  # type: ignore[arg-type]
    assert result(TRANSLATE, "physical", address="17CAH", entries="1 2", page_size=4096) == "0x27CA"
    assert result(TRANSLATE, "physical", address="0x2ABC", entries="2 9", notation="decimal") == 0x9ABC
    assert result(TRANSLATE, "physical", address=8196, entries="2 9", notation="hexadecimal") == "0x9004"


# ---------------------------------------------------------------- oracle


@settings(max_examples=50, deadline=None)
@given(
    address=st.integers(0, 2**32 - 1),
    levels=st.sampled_from([(20,), (10, 10), (8, 6, 6), (5, 5, 5, 5)]),
    frame=st.integers(0, 2**20 - 1),
)
def test_translation_is_that_of_bit_strings(address: int, levels: tuple[int, ...], frame: int) -> None:
    bits = f"{address:032b}"
    indices, at = [], 0
    for width in levels:
        indices.append(int(bits[at : at + width], 2))
        at += width
    entries = (tuple(map(str, (*indices, frame))),)
    parameters = Translating(address=str(address), level_bits=levels, entries=entries)
    assert walk(parameters).indices == tuple(indices)
    physical = TRANSLATE.solve(parameters).results["physical"].value
    assert physical == int(f"{frame:020b}" + bits[20:], 2)


@settings(max_examples=50, deadline=None)
@given(bases=st.lists(st.integers(1, 50), min_size=1, max_size=5), offset=st.integers(0, 130))
def test_a_segment_gives_addresses_within_it(bases: list[int], offset: int) -> None:
    rows = tuple((str(number), str(base * 100), "100") for number, base in enumerate(bases))
    addresses = tuple((str(number), str(offset)) for number in range(len(bases)))
    found = SEGMENTS.solve(Segmenting(segments=rows, addresses=addresses)).results["physicals"].value
    assert isinstance(found, tuple)
    legal = {base * 100: range(base * 100, base * 100 + 100) for base in bases}
    for base, physical in zip(bases, found, strict=True):
        assert physical in legal[base * 100] if offset < 100 else physical == "trap"


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("kind", "values", "field", "says"),
    [
        (TRANSLATE, {"address": "here", "entries": "0 1"}, "address", "“here” is not an address"),
        (TRANSLATE, {"address": "5", "page_size": 1000, "entries": "0 1"}, "page_size", "power of two; it is 1000"),
        (TRANSLATE, {"address": "5", "level_bits": "0,10", "entries": "0 1 1"}, "level_bits", "a bit at least"),
        (TRANSLATE, {"address": "5", "level_bits": "40,20", "entries": "0 1 1"}, "level_bits", "may be 64"),
        (TRANSLATE, {"address": "5", "level_bits": "10,10", "address_bits": 30}, "address_bits", "add up to 32 bits"),
        (TRANSLATE, {"address": "5", "address_bits": 12}, "address_bits", "more than the 12 bits"),
        (TRANSLATE, {"address": "0x10000", "address_bits": 16, "entries": "0 1"}, "ask", "outside the space of 16"),
        (TRANSLATE, {"address": "5"}, "ask", "page table entries are needed"),
        (TRANSLATE, {"address": "5", "tlb": "1 1"}, "ask", "page table entries are needed"),
        (TRANSLATE, {"address": "5", "entries": "0 1 2"}, "entries", "An entry has 2 numbers"),
        (TRANSLATE, {"address": "5", "entries": "9 1 2", "level_bits": "3,3"}, "entries", "more than 3 bits"),
        (TRANSLATE, {"address": "5", "entries": "0 frame"}, "entries", "“frame” is not an address"),
        (SEGMENTS, {"segments": "0 1", "addresses": "0 1"}, "segments", "has number, base, limit"),
        (SEGMENTS, {"segments": "0 1 2 all", "addresses": "0 1"}, "segments", "made of r, w and x"),
        (SEGMENTS, {"segments": "1 1 2; 1 5 2", "addresses": "1 1"}, "segments", "Segment 1 is there twice"),
        (SEGMENTS, {"segments": "0 1 2; 0 5 2", "addresses": "1 1"}, "segments", "Segment 0 is there twice"),
        (SEGMENTS, {"segments": "0 1 2", "addresses": "0 1 q"}, "addresses", "segment, offset"),
        (SEGMENTS, {"segments": "0 1 2", "addresses": "0"}, "addresses", "segment, offset"),
        (SEGMENTS, {"segments": "0 1 2", "addresses": "0 1", "entries": "0 1"}, "entries", "segment, page and frame"),
        (SEGMENTS, {"segments": "0 1 2", "addresses": "0 1", "page_size": 3}, "page_size", "power of two"),
        (RELOCATION, {"base": "-5", "limit": "3", "addresses": "1"}, "base", "“-5” is not an address"),
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
    grades_itself(kind)


def test_every_sentence_is_said() -> None:
    said = set[str]()
    for kind, values in (
        (TRANSLATE, {"address": "0x2ABC", "entries": "2 9", "tlb": "2 9"}),
        (TRANSLATE, {"address": "5000", "entries": "1 9", "tlb": "2 9"}),
        (TRANSLATE, {"address": "5000", "entries": "1 -"}),
        (TRANSLATE, {"address": "0x00805A3C", "level_bits": "10,10", "entries": "2 5 9"}),
        (TRANSLATE, {"address": "0x00805A3C", "level_bits": "10,10", "entries": "2 5 -"}),
        (RELOCATION, {"base": "5", "limit": "3", "addresses": "1 3"}),
        (SEGMENTS, {"segments": SEGMENT_TABLE, "addresses": "0 1; 0 9999; 9 9; 0 1 w"}),
        (SEGMENTS, {"segments": "1 - 200", "addresses": "1 10"}),
        (SEGMENTS, {"segments": "0 - 9000", "addresses": "0 1; 0 5000", "page_size": "4K", "entries": "0 1 2"}),
    ):
        said |= {step.key for step in solution(kind, **values).steps}
    all_said(("translate_", "relocation_", "segment_"), said)
