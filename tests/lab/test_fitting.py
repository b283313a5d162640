"""Placement and the buddy system: the course book's tables, and the same worked on single cells of memory."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.buddy import BUDDY, Halving, run_buddy
from osrag.lab.fitting import FIT, METHODS, RELEASE, Fitting, Method, place
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

BOOK = {"holes": "560, 160, 200, 420, 280", "operations": "240, 100, 420, 430"}
F = "request_fails"
BUDDY_BOOK = "A = 100, B = 200, C = 60, D = 250, free B, free A, free C, free D"


# ---------------------------------------------------------------- worked examples


@pytest.mark.parametrize(
    ("method", "blocks"),
    [
        ("first_fit", (560, 320, 420, F)),
        ("next_fit", (560, 320, 420, F)),
        ("best_fit", (280, 160, 420, 560)),
        ("worst_fit", (560, 420, F, F)),
    ],
)
def test_the_course_books_four_strategies(method: str, blocks: tuple[int | str, ...]) -> None:
    assert result(FIT, "fit_blocks", **BOOK, method=method) == blocks


def test_what_is_left_in_the_course_book() -> None:
    assert result(FIT, "free_after", **BOOK) == (220, 160, 200, 280)
    assert result(FIT, "total_free", **BOOK) == 860
    assert result(FIT, "failed_requests", **BOOK, method="worst_fit") == ("R3", "R4")
    last = solution(FIT, **BOOK).steps[-1]
    assert (last.key, last.row) == ("fit_fails_total", ("R4", 430, None, None, (220, 160, 200, 280)))


def test_first_fit_may_beat_best_fit() -> None:
    values = {"holes": "340,320,200", "operations": "180,140,190,200"}
    assert result(FIT, "failed_requests", **values) == ()
    assert result(FIT, "failed_requests", **values, method="best_fit") == ("R4",)


def test_the_bank_and_silberschatz() -> None:
    values = {"holes": "300,120,250,180", "operations": "110,170,240"}
    assert result(FIT, "fit_blocks", **values, method="best_fit") == (120, 180, 250)
    values = {"holes": "100,500,200,300,600", "operations": "212,417,112,426"}
    assert result(FIT, "fit_blocks", **values) == (500, 600, 288, F)
    assert result(FIT, "fit_blocks", **values, method="best_fit") == (300, 500, 200, 600)
    assert result(FIT, "fit_blocks", **values, method="worst_fit") == (600, 500, 388, F)
    assert result(FIT, "fit_blocks", holes="100,500,200", operations="400,90,60", method="next_fit") == (500, 100, 200)


def test_fixed_partitions_waste_their_rest() -> None:
    values = {"holes": "100,500,200", "operations": "90,150,200", "partitions": "fixed_parts"}
    assert result(FIT, "fit_blocks", **values) == (100, 500, 200)
    assert result(FIT, "internal_waste", **values) == 10 + 350
    assert result(FIT, "internal_waste", **values, method="best_fit") == 10 + 50 + 300


def test_released_pieces_merge_with_their_neighbours() -> None:
    values: dict[str, Any] = {"holes": "100", "operations": "A 30, B 20, C 10, free A, free C, free B, D 100"}
    frees = [step.row[-1] for step in solution(FIT, **values).steps]
    assert frees == [(70,), (50,), (40,), (30, 40), (30, 50), (100,), ()]


def test_the_course_books_buddies() -> None:
    rows = [step.row for step in solution(BUDDY, memory_size=1024, operations=BUDDY_BOOK).steps]
    assert rows == [
        ("A", 100, 0, 128, ("128+128", "256+256", "512+512")),
        ("B", 200, 256, 256, ("128+128", "512+512")),
        ("C", 60, 128, 64, ("192+64", "512+512")),
        ("D", 250, 512, 256, ("192+64", "768+256")),
        ("B", None, 256, 256, ("192+64", "256+256", "768+256")),
        ("A", None, 0, 128, ("0+128", "192+64", "256+256", "768+256")),
        ("C", None, 0, 512, ("0+512", "768+256")),
        ("D", None, 0, 1024, ("0+1024",)),
    ]
    assert result(BUDDY, "buddy_waste", memory_size=1024, operations=BUDDY_BOOK) == 94


def test_the_banks_buddies() -> None:
    values = {"memory_size": 256, "operations": "A 30, B 60, C 20, free A, free C, free B"}
    free = [done.free for done in run_buddy(Halving(memory_size=256, operations=values["operations"]))]  # type: ignore[arg-type]
    assert free == [
        ((32, 32), (64, 64), (128, 128)),
        ((32, 32), (128, 128)),
        ((128, 128),),
        ((0, 32), (128, 128)),
        ((0, 64), (128, 128)),
        ((0, 256),),
    ]


def test_stallings_buddies_and_what_does_not_fit() -> None:
    values: dict[str, Any] = {"memory_size": "1M", "operations": "A 100K, B 240K, C 64K, D 256K"}
    held = result(BUDDY, "buddy_held", **values)
    assert [(name, start >> 10, size >> 10) for name, start, size in held] == [
        ("A", 0, 128),
        ("B", 256, 256),
        ("C", 128, 64),
        ("D", 512, 256),
    ]
    assert result(BUDDY, "failed_requests", memory_size=64, operations="A 65") == ("A",)
    assert result(BUDDY, "buddy_held", memory_size=64, smallest=16, operations="A 3") == (("A", 0, 16),)


def test_operations_may_be_written_in_other_ways() -> None:
    wanted = (("A", "100"), ("A", RELEASE), ("R3", "50"))
    for text in ("A=100; free A; 50", "A 100，释放 A，50", "A:100, A -, 50"):
        assert Fitting(holes=(200,), operations=text).operations == wanted  # type: ignore[arg-type]
    assert Fitting(holes=(9,), operations=[1, 2]).operations == (("R1", "1"), ("R2", "2"))  # type: ignore[arg-type]


# ---------------------------------------------------------------- oracle: memory cell by cell

scripts = st.lists(st.tuples(st.sampled_from("ABCD"), st.integers(1, 12)), min_size=1, max_size=10)


def script(rows: list[tuple[str, int]]) -> tuple[tuple[str, str], ...]:
    """Requests, where a name that is held is released instead."""
    held, operations = set[str](), []
    for name, size in rows:
        operations.append((name, RELEASE if name in held else str(size)))
        held ^= {name}
    return tuple(operations)


def runs(cells: list[str]) -> list[tuple[int, int]]:
    """Free pieces (start, size) of memory as cells; `|` is a wall."""
    found, start = list[tuple[int, int]](), None
    for at, cell in enumerate([*cells, "|"]):
        if cell == "" and start is None:
            start = at
        elif cell != "" and start is not None:
            found.append((start, at - start))
            start = None
    return found


def cell_by_cell(holes: list[int], operations: tuple[tuple[str, str], ...], method: Method) -> list[int | None]:
    cells = [cell for hole in holes for cell in [*[""] * hole, "|"]]
    last, got = 0, list[int | None]()
    for name, text in operations:
        if text == RELEASE:
            cells = ["" if cell == name else cell for cell in cells]
            continue
        size = int(text)
        fitting = [piece for piece in runs(cells) if piece[1] >= size]
        ranks = {
            "first_fit": lambda piece: piece[0],
            "best_fit": lambda piece: (piece[1], piece[0]),
            "worst_fit": lambda piece: (-piece[1], piece[0]),
            "next_fit": lambda piece: (piece[0] < last, piece[0]),  # noqa: B023
        }
        if not fitting:
            got.append(None)
            continue
        start, length = min(fitting, key=ranks[method])
        cells[start : start + size] = [name] * size
        last = start + size
        got.append(length)
    return got


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30, deadline=None)
@given(holes=st.lists(st.integers(1, 20), min_size=1, max_size=4), rows=scripts)
def test_placement_is_that_of_single_cells(method: Method, holes: list[int], rows: list[tuple[str, int]]) -> None:
    made = Fitting(method=method, holes=tuple(holes), operations=script(rows))
    run = place(made, method)
    assert [each.block for each in run if each.size is not None] == cell_by_cell(holes, made.operations, method)
    for each in run:
        held = sum(piece[2] for _, piece in each.held)
        assert sum(piece[2] for piece in each.free) + held == sum(holes)


@settings(max_examples=40, deadline=None)
@given(rows=scripts)
def test_buddies_cover_the_memory_and_never_stay_apart(rows: list[tuple[str, int]]) -> None:
    for done in run_buddy(Halving(memory_size=32, operations=script(rows))):
        blocks = sorted([*done.free, *(block for _, block in done.held)])
        assert sum(size for _, size in blocks) == 32
        assert all(start % size == 0 for start, size in blocks)
        ends = [start + size for start, size in blocks]
        assert [0, *ends[:-1]] == [start for start, _ in blocks]
        assert not any((start ^ size, size) in done.free for start, size in done.free if size < 32)
        if done.size is not None:
            assert done.block is None or done.size <= done.block[1] < 2 * done.size


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("kind", "values", "field", "says"),
    [
        (FIT, {"holes": "100, 0", "operations": "1"}, "holes", "greater than 0; one is 0"),
        (FIT, {"holes": "100", "operations": "much"}, "operations", "“much” is neither a request"),
        (FIT, {"holes": "9" * 16, "operations": "1"}, "holes", "15 digits at most"),
        (FIT, {"holes": "100", "operations": "9" * 16}, "operations", "neither a request"),
        (FIT, {"holes": "100", "operations": 5}, "operations", "valid tuple"),
        (BUDDY, {"memory_size": "9" * 400, "operations": "1"}, "memory_size", "is not a size"),
        (FIT, {"holes": "100", "operations": "0"}, "operations", "neither a request"),
        (FIT, {"holes": "100", "operations": "free A"}, "operations", "A is released but was not asked for"),
        (FIT, {"holes": "100", "operations": "A 1, A 2"}, "operations", "A asks again before"),
        (FIT, {"holes": "100", "operations": "1", "method": "any"}, "method", "is not one of"),
        (BUDDY, {"memory_size": 1000, "operations": "1"}, "memory_size", "power of two; it is 1000"),
        (BUDDY, {"memory_size": 64, "smallest": 128, "operations": "1"}, "smallest", "larger than the memory of 64"),
        (BUDDY, {"memory_size": 64, "operations": "free B"}, "operations", "B is released"),
    ],
)
def test_a_fault_names_its_field_and_its_rule(kind: Kind[Any], values: dict[str, Any], field: str, says: str) -> None:
    fails(kind, values, field, says)


# ---------------------------------------------------------------- exercises, words, figures


@pytest.mark.parametrize("kind", [FIT, BUDDY], ids=lambda kind: kind.name)
def test_exercises_words_and_figures(kind: Kind[Any]) -> None:
    has_its_words(kind)
    makes_exercises(kind)
    draws(kind)
    grades_itself(kind)


def test_every_sentence_is_said() -> None:
    said = set[str]()
    for method in METHODS:
        said |= {step.key for step in solution(FIT, **BOOK, method=method).steps}
    for kind, values in (
        (FIT, {"holes": "9", "operations": "A 5, B 6, free A, free B, C 99"}),
        (FIT, {"holes": "9", "operations": "A 5", "partitions": "fixed_parts"}),
        (BUDDY, {"memory_size": 1024, "operations": BUDDY_BOOK}),
        (BUDDY, {"memory_size": 64, "operations": "A 64, B 1, free B, free A"}),
        (BUDDY, {"memory_size": 64, "operations": "A 32, B 32"}),
    ):
        said |= {step.key for step in solution(kind, **values).steps}
    all_said(("fit_", "buddy_"), said)
