"""Page replacement and working sets: the course book's tables, slow oracles, and what must hold for every string."""

import functools
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.belady import Comparing, fault_counts
from osrag.lab.exercise import exercise, grade_trace
from osrag.lab.kind import Kind, Level, Step
from osrag.lab.paging import BELADY_KIND, CLOCK, ENHANCED, FIFO, KINDS, LRU, OPT, WORKING_SET
from osrag.lab.replacement import METHODS, Clocking, EnhancedClocking, Optimal, Replacing, accesses
from osrag.lab.solve import as_json, as_markdown, sentence, solve
from osrag.lab.svg import svg
from osrag.lab.words import table
from osrag.lab.working_set import working_sets
from osrag.types import Language

LANGUAGES: tuple[Language, ...] = ("zh", "en")
LEVELS: tuple[Level, ...] = get_args(Level)
BOOK = "1, 6, 3, 4, 6, 5, 0, 1, 6, 0, 1, 4, 0, 5"  # section 7.3
CLASSIC = "7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1"  # Silberschatz et al., 10.4
ANOMALY = "1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5"
strings = st.lists(st.integers(0, 6), min_size=1, max_size=24).map(tuple)
frame_counts = st.integers(1, 5)


def result(kind: Kind[Any], name: str, **values: object) -> Any:
    solved = solve(kind, values)
    assert solved.solution is not None, solved
    return solved.solution.results[name].value


def errors(kind: Kind[Any], language: Language = "en", **values: object) -> dict[str, str]:
    return as_json(solve(kind, values), language)["errors"]  # type: ignore[no-any-return]


# ---------------------------------------------------------------- worked examples


@pytest.mark.parametrize(("kind", "faults"), [(FIFO, 11), (OPT, 8), (LRU, 10), (CLOCK, 10)])
def test_the_course_books_string_with_three_frames(kind: Kind[Any], faults: int) -> None:
    assert result(kind, "faults", refs=BOOK, frames=3) == faults


def test_the_course_books_frame_tables() -> None:
    rows = [step.row for step in _solved(LRU, refs=BOOK, frames=3).steps if step.row]
    assert rows[3] == (4, (4, 6, 3), True, 1)
    assert rows[-1] == (5, (0, 5, 4), True, 1)
    rows = [step.row for step in _solved(OPT, refs=BOOK, frames=3).steps if step.row]
    assert rows[11] == (4, (4, 6, 0), True, 1)  # neither 1 nor 6 is used again; the one loaded first leaves


def test_the_course_books_clock() -> None:
    rows = [step.row for step in _solved(CLOCK, refs=BOOK, frames=3).steps if step.row]
    assert rows[2] == (3, (1, 6, 3), ("1", "1", "1"), 0, True, None)
    assert rows[3] == (4, (4, 6, 3), ("1", "0", "0"), 1, True, 1)
    assert rows[5] == (5, (4, 6, 5), ("1", "0", "1"), 0, True, 3)


@pytest.mark.parametrize(("kind", "faults"), [(FIFO, 15), (LRU, 12), (OPT, 9)])
def test_the_classic_string(kind: Kind[Any], faults: int) -> None:
    assert result(kind, "faults", refs=CLASSIC, frames=3) == faults


def test_lru_with_more_frames_in_the_course_book() -> None:
    assert [result(LRU, "faults", refs=BOOK, frames=n) for n in (3, 4, 5, 6)] == [10, 9, 7, 6]


def test_the_bank() -> None:
    refs = "1,2,3,1,2,4,1,2,5,1"
    assert (result(FIFO, "faults", refs=refs, frames=3), result(LRU, "faults", refs=refs, frames=3)) == (7, 5)
    refs = "2,3,2,1,5,2,4,5,3,2"
    assert [result(kind, "faults", refs=refs, frames=3) for kind in (FIFO, LRU, OPT)] == [7, 7, 6]
    assert result(LRU, "evicted_pages", refs=refs, frames=3) == (3, 1, 2, 4)
    refs = "4,1,2,4,3,1,5,2,1,4"
    assert (result(FIFO, "faults", refs=refs, frames=3), result(LRU, "faults", refs=refs, frames=3)) == (7, 8)
    assert result(LRU, "faults", refs=",".join(str(n) for n in range(64)) * 1 + "," + BOOK, frames=32) >= 64


def test_every_figure_that_can_be_asked_for() -> None:
    results = _solved(LRU, refs=BOOK, frames=3).results
    assert {name: each.value for name, each in results.items()} == {
        "faults": 10,
        "hits": 4,
        "fault_rate": pytest.approx(1000 / 14),
        "hit_ratio": pytest.approx(400 / 14),
        "replacements": 7,
        "evicted_pages": (1, 3, 4, 6, 5, 6, 1),
        "final_frames": (0, 5, 4),
    }


def test_beladys_anomaly() -> None:
    assert result(BELADY_KIND, "fault_counts", refs=ANOMALY) == (9, 10)
    assert result(BELADY_KIND, "anomaly", refs=ANOMALY) is True
    assert result(BELADY_KIND, "anomaly", refs=ANOMALY, method="lru") is False
    rows = [step.row for step in _solved(BELADY_KIND, refs=ANOMALY).steps if step.row]
    assert rows == [(3, 9, 10, 7, 9), (4, 10, 8, 6, 10)]
    assert result(BELADY_KIND, "fewest_faults_frames", refs=ANOMALY, least_frames=1, most_frames=7) == 5


def test_the_course_books_working_sets() -> None:
    refs = "2, 1, 5, 7, 7, 7, 5, 1, 3, 4, 4, 4, 3, 4, 3, 4"
    assert result(WORKING_SET, "set_pages", refs=refs, window=8, at=8) == (1, 2, 5, 7)
    assert result(WORKING_SET, "set_pages", refs=refs, window=8) == (3, 4)
    assert result(WORKING_SET, "set_pages", refs=refs, window=4, at=8) == (1, 5, 7)
    assert result(WORKING_SET, "set_pages", refs=refs, window=4, at=7, first_number="first_is_0") == (1, 5, 7)
    assert result(WORKING_SET, "set_size", refs="1,2,3,2,3,3,4,4", window=3) == 2
    sizes = result(WORKING_SET, "set_sizes", refs="1,2,3,2,3,3,4,4,4,5,4,5", window=4)
    assert sizes == (1, 2, 3, 3, 2, 2, 3, 2, 2, 2, 2, 2)


# ---------------------------------------------------------------- conventions


def test_first_loads_need_not_count() -> None:
    assert result(FIFO, "faults", refs=CLASSIC, frames=3, first_loads="not_a_fault") == 12


def test_addresses_become_pages() -> None:
    addresses = "0100, 0432, 0101, 0612, 0102, 0103, 0104, 0101, 0611, 0102"
    solved = _solved(FIFO, refs=addresses, page_size=100, frames=1, repeats="merged")
    assert [step.row[0] for step in solved.steps if step.row] == [1, 4, 1, 6, 1, 6, 1]
    assert result(FIFO, "faults", refs=addresses, page_size=100, frames=3) == 3
    assert result(FIFO, "hits", refs=addresses, page_size=100, frames=3, repeats="merged") == 4


def test_pages_may_be_loaded_at_the_start() -> None:
    # 0 was loaded first: FIFO evicts it although it has just been used; LRU evicts 1
    assert result(FIFO, "evicted_pages", refs="0, 3", frames=3, loaded="0,1,2") == (0,)
    assert result(LRU, "evicted_pages", refs="0, 3", frames=3, loaded="0,1,2") == (1,)
    assert result(OPT, "evicted_pages", refs="3, 0, 2", frames=3, loaded="0,1,2") == (1,)
    assert result(LRU, "faults", refs="0, 3", frames=3, loaded="0,1,2") == 1


def test_opt_ties() -> None:
    values: dict[str, Any] = {"refs": "5, 3, 5, 3, 5, 9", "frames": 2}
    assert result(OPT, "evicted_pages", **values) == (5,)
    assert result(OPT, "evicted_pages", **values, opt_ties="used_longest_ago") == (3,)
    assert result(OPT, "evicted_pages", **values, opt_ties="smallest_page") == (3,)


def test_a_clock_that_is_half_way() -> None:
    # frames hold 4 (bit 1), 7 (0), 2 (1); the hand is at 2: 2 is spared, then 4, and 7 leaves
    values: dict[str, Any] = {"refs": "9", "frames": 3, "loaded": "4,7,2", "bits": "1,0,1", "hand": 2}
    assert result(CLOCK, "evicted_pages", **values) == (7,)
    assert result(CLOCK, "evicted_pages", refs="1,2,1,3", frames=2, arrival_bit="clear") == (2,)


def test_the_enhanced_clock_prefers_a_clean_page() -> None:
    # all used; 1 and 3 are modified, so 2 is found as the first (0, 0) of the third pass
    values: dict[str, Any] = {"refs": "1w 2 3w 4", "frames": 3}
    assert result(ENHANCED, "evicted_pages", **values) == (2,)
    assert result(ENHANCED, "write_backs", **values) == 0
    assert result(ENHANCED, "evicted_pages", refs="1 2 3 4", writes="1,3", frames=3) == (2,)
    # (0,1) goes before (1,0)
    values = {"refs": "9", "frames": 2, "loaded": "5,6", "bits": "1,0", "dirty": "0,1"}
    assert result(ENHANCED, "evicted_pages", **values) == (6,)
    assert result(ENHANCED, "write_backs", **values) == 1


@pytest.mark.parametrize("repeats", ["each", "merged"])
def test_merged_references_write_if_one_of_them_does(repeats: str) -> None:
    assert EnhancedClocking(refs="1 1w 2", frames=1, repeats=repeats).events[-2:] == ((1, True), (2, False))  # type: ignore[arg-type]


# ---------------------------------------------------------------- oracles and properties


def fewest_faults(pages: tuple[int, ...], frames: int) -> int:
    """The fewest faults of any way to choose victims, by trying all."""

    @functools.cache
    def best(at: int, memory: frozenset[int]) -> int:
        if at == len(pages):
            return 0
        page = pages[at]
        if page in memory:
            return best(at + 1, memory)
        if len(memory) < frames:
            return 1 + best(at + 1, memory | {page})
        return 1 + min(best(at + 1, memory - {out} | {page}) for out in memory)

    return best(0, frozenset())


def lru_faults(pages: tuple[int, ...], frames: int) -> int:
    """By stack distance: a reference hits when fewer than `frames` other pages came since the last one."""
    faults = 0
    for now, page in enumerate(pages):
        since = pages[:now][::-1]
        distance = len(set(since[: since.index(page)])) if page in since else frames
        faults += distance >= frames
    return faults


def fifo_faults(pages: tuple[int, ...], frames: int) -> int:
    """A page is in memory while fewer than `frames` faults have followed its load."""
    loads = list[int]()
    for page in pages:
        if page not in loads[-frames:]:
            loads.append(page)
    return len(loads)


def second_chance_faults(pages: tuple[int, ...], frames: int) -> int:
    """Second chance as a queue: a page with its bit set goes to the end. The clock is the same on a ring."""
    queue, faults = list[list[int]](), 0
    for page in pages:
        for each in queue:
            if each[0] == page:
                each[1] = 1
                break
        else:
            faults += 1
            if len(queue) == frames:
                while queue[0][1]:
                    queue.append([queue.pop(0)[0], 0])
                queue.pop(0)
            queue.append([page, 1])
    return faults


ORACLES = {"fifo": fifo_faults, "lru": lru_faults, "opt": fewest_faults, "clock": second_chance_faults}


def faults_of(method: str, pages: tuple[int, ...], frames: int) -> int:
    return sum(not access.hit for access in accesses(Replacing(refs=pages, frames=frames), method))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=30, deadline=None)
@given(pages=strings, frames=frame_counts)
def test_faults_are_those_of_a_second_formulation(method: str, pages: tuple[int, ...], frames: int) -> None:
    assert faults_of(method, pages, frames) == ORACLES[method](pages, frames)


@settings(max_examples=30, deadline=None)
@given(pages=strings, frames=frame_counts)
def test_nothing_beats_opt_and_every_page_faults_once(pages: tuple[int, ...], frames: int) -> None:
    counts = {method: faults_of(method, pages, frames) for method in METHODS}
    assert len(set(pages)) <= counts["opt"] <= min(counts.values())
    assert max(counts.values()) <= len(pages)


@pytest.mark.parametrize("method", ["lru", "opt"])
@settings(max_examples=25, deadline=None)
@given(pages=strings)
def test_stack_algorithms_have_no_anomaly(method: Any, pages: tuple[int, ...]) -> None:
    counts = fault_counts(Comparing(refs=pages, least_frames=1, most_frames=7), method)
    assert all(few >= many for few, many in pairwise(counts))


@settings(max_examples=25, deadline=None)
@given(refs=st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=20), frames=frame_counts)
def test_the_enhanced_clock_evicts_of_the_lowest_class(refs: list[tuple[int, bool]], frames: int) -> None:
    """The victim, by the state before: the first from the hand of the lowest class, as Silberschatz et al. say."""
    given = EnhancedClocking(refs=tuple(f"{page}{'w' * written}" for page, written in refs), frames=frames)
    before = None
    for access in accesses(given, "enhanced_clock"):
        if access.out is not None:
            assert before is not None
            ring = [(before.hand + step) % frames for step in range(frames)]
            assert access.frame == min(ring, key=lambda frame: before.bits[frame])  # type: ignore[union-attr]
        before = access


@settings(max_examples=30, deadline=None)
@given(pages=strings, window=st.integers(1, 8))
def test_working_sets_are_the_last_pages(pages: tuple[int, ...], window: int) -> None:
    sets = working_sets(pages, window)
    assert sets == [tuple(sorted(set(pages[max(0, at - window + 1) : at + 1]))) for at in range(len(pages))]


@settings(max_examples=30, deadline=None)
@given(pages=strings, frames=frame_counts)
def test_figures_add_up(pages: tuple[int, ...], frames: int) -> None:
    for kind, parameters in ((FIFO, Replacing), (OPT, Optimal), (CLOCK, Clocking)):
        results = {n: r.value for n, r in kind.solve(parameters(refs=pages, frames=frames)).results.items()}
        assert results["faults"] + results["hits"] == len(pages)
        assert results["fault_rate"] + results["hit_ratio"] == pytest.approx(100)
        assert results["replacements"] == len(results["evicted_pages"]) == max(0, results["faults"] - frames)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("kind", "values", "field", "says"),
    [
        (FIFO, {"refs": "1,x", "frames": 3}, "refs", "“x” is not a whole number"),
        (FIFO, {"refs": "1,-2", "frames": 3}, "refs", "cannot be negative; one is -2"),
        (FIFO, {"refs": "1", "frames": 0}, "frames", "at least 1"),
        (FIFO, {"refs": "1," * 10_001, "frames": 3}, "refs", "At most 10000"),
        (FIFO, {"refs": "1", "frames": 2, "loaded": "1,2,3"}, "loaded", "3 loaded pages but only 2 frames"),
        (FIFO, {"refs": "1", "frames": 3, "loaded": "1,1"}, "loaded", "Page 1 is there twice"),
        (FIFO, {"refs": "1", "frames": 3, "loaded": "1,-1"}, "loaded", "cannot be negative"),
        (CLOCK, {"refs": "1", "frames": 3, "loaded": "1,2", "bits": "1"}, "bits", "there are 2 pages and 1 bits"),
        (CLOCK, {"refs": "1", "frames": 3, "loaded": "1,2", "bits": "1,2"}, "bits", "A bit is 0 or 1; one is 2"),
        (CLOCK, {"refs": "1", "frames": 3, "hand": 3}, "hand", "numbered 0 to 2; it is 3"),
        (ENHANCED, {"refs": "1 x 2", "frames": 3}, "refs", "“x” is not a reference"),
        (ENHANCED, {"refs": "1 -2w", "frames": 3}, "refs", "cannot be negative"),
        (ENHANCED, {"refs": "1 2", "frames": 3, "writes": "3"}, "writes", "numbered 1 to 2; one is 3"),
        (ENHANCED, {"refs": "1", "frames": 3, "loaded": "2", "dirty": "1,1"}, "dirty", "there are 1 pages and 2 bits"),
        (BELADY_KIND, {"refs": "1", "least_frames": 1, "most_frames": 9}, "most_frames", "At most 8 numbers"),
        (BELADY_KIND, {"refs": "1", "least_frames": 5}, "most_frames", "greater than the fewest frames, 5; it is 4"),
        (BELADY_KIND, {"refs": "1", "least_frames": 4, "most_frames": 4}, "most_frames", "greater than the fewest"),
        (WORKING_SET, {"refs": "1,2", "window": 2, "at": 3}, "at", "numbered 1 to 2; it is 3"),
        (WORKING_SET, {"refs": "1,2", "window": 0}, "window", "at least 1"),
    ],
)
def test_a_fault_names_its_field_and_its_rule(kind: Kind[Any], values: dict[str, Any], field: str, says: str) -> None:
    assert says in errors(kind, **values)[field]
    assert errors(kind, "zh", **values)[field]


def test_no_frames_is_all_that_is_wrong() -> None:
    assert list(errors(CLOCK, refs="1,2", frames=0, loaded="1", hand=0)) == ["frames"]


# ---------------------------------------------------------------- exercises, words, figures


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("level", LEVELS)
def test_seeds_make_exercises_with_distractors(kind: Kind[Any], level: Level) -> None:
    options = []
    for seed in range(51):
        made = exercise(kind, seed, level)
        options.append(len(made.options))
    made = exercise(kind, 7, level)
    assert made == exercise(kind, 7, level)
    for language in LANGUAGES:
        assert made.question(language)
        assert all(sentence(step, language) for step in kind.solve(made.parameters).steps)
    assert sum(options) / len(options) > 2.5  # the right one and two mistakes, mostly


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_words_are_there(kind: Kind[Any]) -> None:
    words = table()
    made = kind.generate(Random(1), "medium")
    solution = kind.solve(made)
    fields = kind.parameters.model_fields
    assert kind.name in words["kinds"] and kind.name in words["questions"]
    assert set(fields) <= set(words["fields"])
    assert set(solution.columns) <= set(words["columns"])
    assert set(get_args(fields["ask"].annotation)) == set(solution.results) <= set(words["results"])
    assert fields["ask"].default == get_args(fields["ask"].annotation)[0]
    assert {m.name for m in kind.mistakes} <= set(words["mistakes"])
    assert {step.rule for step in solution.steps if step.rule} <= set(words["rules"])
    assert {r.unit for r in solution.results.values() if r.unit} <= set(words["units"])
    for name, info in fields.items():
        assert (
            name == "ask"
            or set(map(str, get_args(info.annotation))) & {"str"}
            or _choices(info) <= set(words["choices"])
        )


def _choices(info: Any) -> set[str]:
    return {arg for arg in get_args(info.annotation) if isinstance(arg, str)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_figure_is_well_formed_and_told(kind: Kind[Any], language: Language) -> None:
    for level in LEVELS:
        solution = kind.solve(kind.generate(Random(3), level))
        assert solution.figure is not None
        figure = solution.figure(language)
        root = ElementTree.fromstring(svg(figure))
        assert [child.tag.rpartition("}")[2] for child in root[:2]] == ["title", "desc"]
        assert root[0].text and root[1].text
        assert figure.steps == len(solution.steps)
        assert max(mark.step for mark in figure.marks) == figure.steps - 1
        assert as_markdown(solution, language).startswith("|")


def test_the_answer_is_a_trace_without_fault() -> None:
    made = exercise(CLOCK, 1, "hard")
    rows = [[_typed(cell) for cell in step.row] for step in CLOCK.solve(made.parameters).steps if step.row]
    assert grade_trace(CLOCK, made.parameters, rows).score == 1
    rows[5][3] = "9"
    grade = grade_trace(CLOCK, made.parameters, rows)
    assert (grade.right, grade.column) == (5, "hand")


def test_the_limits_are_quick() -> None:
    random = Random(0)
    refs = tuple(random.randrange(200) for _ in range(10_000))
    assert len(OPT.solve(Optimal(refs=refs, frames=64)).steps) == 10_001


def _typed(cell: object) -> str:
    return " ".join(map(str, cell)) if isinstance(cell, tuple) else "-" if cell is None else str(cell)


def _solved(kind: Kind[Any], **values: object) -> Any:
    solution = solve(kind, values).solution
    assert solution is not None
    return solution


def test_steps_are_told_in_both_languages() -> None:
    """Every sentence of the topic is said somewhere, and none is said that is not there."""
    said = set[str]()
    for kind, values in (
        (FIFO, {"refs": ANOMALY, "frames": 3, "loaded": "9", "first_loads": "not_a_fault"}),
        (LRU, {"refs": BOOK, "frames": 3}),
        (LRU, {"refs": "1000, 2000, 2001", "page_size": 1000, "frames": 1, "repeats": "merged"}),
        (OPT, {"refs": BOOK, "frames": 3}),
        (CLOCK, {"refs": BOOK, "frames": 3}),
        (CLOCK, {"refs": "5", "frames": 1, "loaded": "4", "bits": "0"}),
        (ENHANCED, {"refs": "1w 2 3w 4 3 3w", "frames": 3}),
        (ENHANCED, {"refs": "1w 2w 3", "frames": 2}),
        (ENHANCED, {"refs": "4", "frames": 1, "loaded": "9", "bits": "0", "dirty": "1"}),
        (ENHANCED, {"refs": "4", "frames": 1, "loaded": "9", "bits": "0", "dirty": "0"}),
        (BELADY_KIND, {"refs": ANOMALY}),
        *((BELADY_KIND, {"refs": "1,2,3,1", "method": method}) for method in METHODS),
        (WORKING_SET, {"refs": "1,1,2,2,2,3,3,4", "window": 3}),
    ):
        steps: tuple[Step, ...] = _solved(kind, **values).steps
        for step in steps:
            said.add(step.key)
            assert all(sentence(step, language) for language in LANGUAGES)
    mine = {key for key in table()["steps"] if key.startswith(("paging_", "belady_", "working_set_"))}
    assert mine == said
