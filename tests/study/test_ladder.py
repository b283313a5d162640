"""The ladder of hints: an attempt, then one rung at a time; the key only at the top."""

import json

import pytest

from osrag.quiz.bank import load_bank
from osrag.quiz.hints import gives_away
from osrag.study.ladder import RUNGS, climb, missed, next_rung
from tests.quiz.parts import CHOICE, TEXT_EN, item_of, judge_of

ASK = "Which of them looks at the jobs on the disk?"
LINE = {
    "id": "q1", "twin": "q4",
    "en": {"ask": ASK, "quote": "decides which jobs on disk may enter", "points": {"A": "Those are ready.", "C": "No"}},
}  # fmt: skip
TWIN = {"id": "q4", "type": "true_false", "question": "The short-term scheduler admits jobs.", "answer": "F",
        "knowledge_point": "levels of scheduling"}  # fmt: skip
BLANKS = {"id": "q5", "type": "fill_blank", "question": "P is ____ and V is ____.", "answer": ["wait", "signal"]}


@pytest.fixture
def bank(tmp_path):
    rows = [{**one, "language": "en"} for one in (CHOICE, TWIN, TEXT_EN, BLANKS)]
    (tmp_path / "ch01.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (tmp_path / "hints").mkdir()
    (tmp_path / "hints" / "ch01.hints.jsonl").write_text(json.dumps(LINE), encoding="utf-8")
    return load_bank(tmp_path)


@pytest.fixture
def judge(tmp_path):
    return judge_of(tmp_path / "book", ["never asked"])


def test_one_rung_comes_after_the_other_as_far_as_the_instructor_lets():
    assert next_rung((), "solution") == "ask" and next_rung(("ask",), "solution") == "page"
    assert next_rung(("ask", "page"), "page") is None and next_rung((), None) is None
    assert next_rung(RUNGS, "solution") is None


def test_prepared_hints_lead_and_the_key_stands_only_at_the_top(bank, judge):
    item = bank.get("q1/en")
    told = {rung: climb(judge, bank, item, "A", rung) for rung in RUNGS}
    assert told["ask"].text == ASK and told["point"].text == "Those are ready."
    assert "decides which jobs on disk may enter" in told["page"].text
    (page,) = told["page"].passages
    assert page.number == 1 and "long-term scheduler decides" in page.chunk.text
    assert TWIN["question"] in told["twin"].text and "false" in told["twin"].text
    for rung in ("ask", "point", "twin"):
        assert not list(gives_away(item, told[rung].text)), rung
    assert "long-term scheduler" in told["solution"].text


@pytest.mark.parametrize(
    ("row", "answer", "where"),
    [
        (CHOICE, "C", "C"),
        (CHOICE, "B", None),
        ({**CHOICE, "type": "multiple_choice", "answer": "AB"}, "AC", "C"),  # a wrong one first
        ({**CHOICE, "type": "multiple_choice", "answer": "AB"}, "A", "B"),  # then one that is left out
        (BLANKS, "wait; post", "2"),
        (BLANKS, "wait; signal", None),
        (TEXT_EN, "hold and wait: a process holds one resource and waits for another", "1"),
    ],
)
def test_what_an_attempt_misses_first(judge, row: dict, answer: str, where: str | None):
    assert missed(judge, item_of(row), answer) == where


def test_a_typed_exercise_gets_hints_composed_of_its_page(bank, judge):
    item = item_of({**TEXT_EN, "id": ""})
    assert "?" in climb(judge, bank, item, "x", "ask").text
    assert climb(judge, bank, item, "x", "page").passages
    assert climb(judge, bank, item, "x", "point").text == "Point 1 is not made yet."


def test_a_twin_of_the_lab_is_computed_and_can_be_played(bank, judge):
    from dataclasses import replace

    item = bank.get("q1/en")
    item = replace(item, hint=replace(item.hint, twin="lab:lru"))
    hint = climb(judge, bank, item, "A", "twin")
    assert dict(hint.lab)["lab"] == "lru" and "| --- |" in hint.text
    assert hint == climb(judge, bank, item, "C", "twin")  # the same one each time
