"""The frame of the lab, on a kind small enough to check by eye: double a number, row by row."""

import re
from random import Random
from typing import Any, Literal

import pytest

from osrag.lab import words
from osrag.lab.catalog import KINDS
from osrag.lab.exercise import exercise, grade_trace, rows_of, same
from osrag.lab.fields import Bytes, Matrix, Nanoseconds, Numbers
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, given, rule
from osrag.lab.solve import as_json, as_markdown, link, shown, solve


class Doubling(Parameters):
    numbers: Numbers = given(min_length=1, max_length=10)
    memory: Bytes = given(4096, gt=0, unit="bytes")
    latency: Nanoseconds = given(100.0, unit="ns")
    table: Matrix = given(())
    rounding: Literal["down", "up"] = rule("down")
    ask: Literal["total", "largest"] = "total"


def _solve(given: Doubling) -> Solution:
    steps = tuple(Step("double", {"seen": n}, (n, 2 * n), "twice") for n in given.numbers)
    doubled = [2 * n for n in given.numbers]
    return Solution(steps, {"total": Result(sum(doubled), "count"), "largest": Result(max(doubled))}, ("from", "to"))


def _generate(random: Random, level: Level) -> Doubling:
    return Doubling(numbers=tuple(random.randint(1, 9) for _ in range({"easy": 2, "medium": 4, "hard": 6}[level])))


DOUBLING = Kind(
    "doubling",
    "test",
    Doubling,
    _solve,
    _generate,
    (Mistake("not_doubled", lambda p: sum(p.numbers)), Mistake("same_as_right", lambda p: 2 * sum(p.numbers))),
)


@pytest.fixture(autouse=True)
def test_words(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {
        "fields": {"numbers": {"zh": "数列", "en": "numbers"}},
        "steps": {"double": {"zh": "{seen} 加倍。", "en": "Double {seen}."}},
        "columns": {"from": {"zh": "原数", "en": "from"}, "to": {"zh": "结果", "en": "to"}},
        "results": {"total": {"zh": "总和", "en": "the sum"}},
        "questions": {"doubling": {"zh": "把 {numbers} 加倍，求{asked}。", "en": "Double {numbers}; find {asked}."}},
    }
    real = words.table()
    both = {section: real.get(section, {}) | extra.get(section, {}) for section in real.keys() | extra.keys()}
    for module in ("osrag.lab.words", "osrag.lab.solve"):
        monkeypatch.setattr(f"{module}.table", lambda: both)


def test_the_text_of_a_form_is_read_and_computed() -> None:
    solved = solve(DOUBLING, {"numbers": "1, 2，3", "memory": "4 KiB", "latency": "0.2 us", "table": "1 0; 2 1"})
    assert solved.parameters == Doubling(numbers=(1, 2, 3), memory=4096, latency=200.0, table=((1, 0), (2, 1)))
    reply = as_json(solved, "en")
    assert reply["answer"] == {"value": 12, "unit": "count", "text": "12"}
    assert reply["rules"] == {"rounding": "down"}
    assert reply["steps"][0] == {"text": "Double 1.", "row": {"from": 1, "to": 2}}


def test_numbers_may_be_hexadecimal_or_begin_with_a_zero() -> None:
    assert Doubling(numbers="0x10, 0432 7").numbers == (16, 432, 7)  # type: ignore[arg-type]


def test_what_is_missing_is_named_and_nothing_is_answered() -> None:
    reply = as_json(solve(DOUBLING, {"memory": "1M"}), "zh")
    assert (reply["missing"], reply["answer"], reply["parameters"]) == (["numbers"], None, {"memory": "1M"})


@pytest.mark.parametrize(
    ("values", "field", "says"),
    [
        ({"numbers": "1,two"}, "numbers", "“two” is not a whole number"),
        ({"numbers": ",".join("1" * 11)}, "numbers", "At most 10 are allowed; there are 11"),
        ({"numbers": "1", "memory": "0"}, "memory", "must be greater than 0"),
        ({"numbers": "1", "memory": "much"}, "memory", "“much” is not a size"),
        ({"numbers": "1", "latency": "soon"}, "latency", "“soon” is not a time"),
        ({"numbers": "1", "table": "1 2; 3"}, "table", "rows have different lengths"),
        ({"numbers": "1", "rounding": "sideways"}, "rounding", "not one of 'down' or 'up'"),
        ({"numbers": "1", "speed": "3"}, "speed", "no such parameter"),
    ],
)
def test_a_fault_names_its_field_and_its_rule(values: dict[str, str], field: str, says: str) -> None:
    reply = as_json(solve(DOUBLING, values), "en")
    assert says in reply["errors"][field]
    assert reply["answer"] is None
    assert reply["parameters"].items() <= values.items()  # the form keeps what was typed


def test_a_link_reads_back_to_the_same_exercise() -> None:
    parameters = Doubling(numbers=(7, 0), table=((1, 2), (3, 4)), rounding="up")
    query = link(DOUBLING, parameters)
    assert query == {"lab": "doubling", "numbers": "7,0", "table": "1 2; 3 4", "rounding": "up"}
    assert solve(DOUBLING, {k: v for k, v in query.items() if k != "lab"}).parameters == parameters


def test_the_trace_is_a_markdown_table() -> None:
    solved = solve(DOUBLING, {"numbers": "1,2"})
    assert solved.solution is not None
    assert as_markdown(solved.solution, "en").splitlines() == [
        "| from | to |",
        "| --- | --- |",
        "| 1 | 2 |",
        "| 2 | 4 |",
    ]


def test_a_seed_makes_an_exercise_with_a_named_distractor() -> None:
    first, again, twin = (exercise(DOUBLING, seed, "medium") for seed in (1, 1, 2))
    assert first == again
    assert first.parameters != twin.parameters
    assert {option.mistake for option in first.options} == {"", "not_doubled"}  # a mistake that is right by luck goes
    assert first.question("en").startswith("Double ")
    assert first.question("en").endswith("; find the sum.")


def test_a_trace_is_graded_up_to_its_first_wrong_cell() -> None:
    parameters = Doubling(numbers=(1, 2, 3))
    right = grade_trace(DOUBLING, parameters, rows_of("| 1 | 2 |\n|---|---|\n| 2 | 4 |\n| 3 | 6 |"))
    assert (right.right, right.score, right.step) == (3, 1.0, None)
    wrong = grade_trace(DOUBLING, parameters, rows_of("1, 2\n2, 5\n3, 6"))
    assert (wrong.right, wrong.total, wrong.column, wrong.seen, wrong.expected) == (1, 3, "to", "5", 4)
    assert wrong.step is not None
    assert wrong.step.rule == "twice"
    short = grade_trace(DOUBLING, parameters, rows_of("1, 2"))
    assert (short.right, short.seen, short.expected) == (1, "", 2)


@pytest.mark.parametrize(
    ("expected", "seen", "alike"),
    [
        (None, "–", True), (None, "3", False), (True, "√", True), (False, "", True), (True, "no", False),
        (2.5, "2.50", True), (3, "3.0", True), (3, "three", False), ((1, 2), "{1, 2}", True), ((1, 2), "2 1", False),
        ((), "", True), ("P1", "p1", True),
    ],
)  # fmt: skip
def test_cells_are_compared_by_what_they_say(expected: object, seen: str, alike: bool) -> None:
    assert same(expected, seen) is alike  # type: ignore[arg-type]


def test_a_question_tells_numbers_as_an_exam_does() -> None:
    words = [
        exercise(KINDS[kind], seed, "hard").question("en")
        for kind in ("page_table", "inverted_table", "access_time", "inode", "lru")
        for seed in range(20)
    ]
    assert not [each for each in words if re.search(r"\d{7,}|e-\d|\d,\d", each)]
    assert any("8 ms" in each for each in words) and any(" MiB" in each for each in words)


def test_chinese_and_latin_characters_stand_apart() -> None:
    assert "求 TLB 覆盖范围" in exercise(KINDS["tlb_reach"], 1, "easy").question("zh")


@pytest.mark.parametrize(
    ("seen", "right"), [("8192", True), ("8K", True), ("8 KiB", True), ("8 MB", False), ("", False)]
)
def test_a_size_may_be_typed_with_its_unit(seen: str, right: bool) -> None:
    assert same(8192, seen) is right


def test_bytes_are_told_in_the_unit_that_divides_them() -> None:
    told = [shown(value, "bytes") for value in (8 << 30, 1057 << 10, 1000, 0)]
    assert told == ["8 GiB", "1057 KiB", "1000 bytes", "0 bytes"]


def test_an_exercise_with_modified_bits_writes() -> None:
    for level in ("easy", "medium", "hard"):
        assert all("w," in exercise(KINDS["enhanced_clock"], seed, level).question("en") for seed in range(10))


@pytest.mark.parametrize("seen", ["0x1FCA", "1FCAH", "1fca", "0x01FCA"])
def test_an_address_may_be_typed_in_any_hexadecimal_form(seen: str) -> None:
    assert same("0x1FCA", seen) and not same("0x1FCB", seen)


def test_a_twin_is_seldom_the_same_exercise() -> None:
    for kind in KINDS.values():
        for level in ("easy", "medium", "hard"):
            made: set[str] = set()
            for seed in range(40):
                made.add(kind.generate(Random(seed), level).model_dump_json())
                if len(made) == 6:
                    break
            assert len(made) == 6, (kind.name, level, len(made))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_whatever_stands_in_a_form_gets_a_sentence_of_the_lab(kind: Kind[Any]) -> None:
    good = link(kind, exercise(kind, 1, "easy").parameters)
    del good["lab"]
    for name in kind.parameters.model_fields:
        for text in ("x", "-1", "1e9", "9" * 40, "1 2; 3", "A" * 3000):
            found = solve(kind, {**good, name: text})
            assert found.solution or found.missing or found.faults
            assert all(fault.key != "other" for fault in found.faults), "pydantic's words, which are English"
