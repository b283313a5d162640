"""Prepared explanations of bank questions: read, bound to pages, shown without a model."""

import json
from dataclasses import replace

import pytest

from osrag.quiz.bank import load_bank
from osrag.quiz.exercise import Reason
from osrag.quiz.explain import explain
from tests.quiz.parts import CHOICE, item_of, judge_of, place

WHY = {
    "A": ("It picks among the ready ones.", "A semaphore is an integer"),
    "B": ("It admits jobs from the disk.", "decides which jobs on disk may enter memory"),
    "C": ("It orders requests of the disk.", "no such words in this book"),
}
REASONS = tuple(Reason(text, quote, key) for key, (text, quote) in WHY.items())


@pytest.fixture
def silent(tmp_path):
    """A judge whose model must not be asked: it has nothing to say."""
    return judge_of(tmp_path, ["never asked"], belief=place(0))


def line(id_: str = "q1", **sides) -> str:
    return json.dumps({"id": id_, **sides})


def options(*keys: str) -> dict:
    return {"options": {key: {"why": f"Because of {key}.", "quote": "a stretch of the book"} for key in keys}}


def bank(folder, *lines: str):
    (folder / "ch01.jsonl").write_text(json.dumps({**CHOICE, "language": "en"}), encoding="utf-8")
    (folder / "reasons").mkdir()
    (folder / "reasons" / "ch01.reasons.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return load_bank(folder)


def test_every_option_is_explained_and_bound_to_a_page_without_a_model(silent):
    item = replace(item_of(CHOICE), reasons=REASONS)
    *_, done = silent.judge(item, "A")
    told = dict(done.judgement.option_analysis)
    assert told["A"].startswith("Not the answer here. It picks among the ready ones. [")
    assert told["B"].startswith("Right. It admits jobs from the disk. [")
    assert told["C"] == "Not the answer here. It orders requests of the disk."  # nothing bears it out: no number
    number = int(told["B"][-2])
    assert "long-term scheduler decides" in {one.number: one.chunk.text for one in done.passages}[number]
    assert not silent.chat.asked and not silent.chat.weighed


def test_an_explanation_tells_the_students_mistake_first(silent):
    item = replace(item_of(CHOICE), reasons=REASONS)
    (whole,) = explain(silent, item, "C")
    assert whole.done and not silent.chat.asked and not silent.chat.weighed
    places = [whole.text.index(text) for text in ("**C** (your choice) Not the answer", "**B** Right.", "**A** Not")]
    assert places == sorted(places)


def test_a_statement_is_explained_by_what_was_overlooked_and_what_holds(silent):
    reasons = (Reason("One overlooks the ring.", "x" * 9, "T"), Reason("It needs all four.", "y" * 9, "F"))
    item = replace(item_of({"type": "true_false", "question": "Three suffice.", "answer": "F"}), reasons=reasons)
    *_, done = silent.judge(item, "T")
    assert done.judgement.analysis == "One overlooks the ring.\n\nIt needs all four."


def test_a_worked_answer_stands_in_its_order(silent):
    reasons = (Reason("First divide.", "x" * 9), Reason("Then add.", "y" * 9))
    item = replace(item_of({"type": "fill_blank", "question": "2 + 6 / 3 = ____", "answer": ["4"]}), reasons=reasons)
    *_, done = silent.judge(item, "5")
    assert done.judgement.analysis == "First divide.\n\nThen add."


def test_reasons_are_read_beside_the_bank(tmp_path):
    found = bank(tmp_path, line(en=options("A", "B", "C")))
    assert [reason.key for reason in found.get("q1/en").reasons] == ["A", "B", "C"] and not found.slips


@pytest.mark.parametrize(
    ("wrong", "slip"),
    [
        (line(en=options("A", "B")), "for A, B; wanted: A, B, C"),
        (line(en={"worked": [{"say": "x", "quote": "y"}]}), "wanted: A, B, C"),
        (line("q9", en=options("A")), "reasons of q9/en: no such exercise"),
        (line(en={"options": {"A": {"why": "", "quote": "x"}}}), "ch01.reasons.jsonl:1: en.options.A.why"),
        ("{", "ch01.reasons.jsonl:1: not JSON"),
        (line(en=options("A", "B", "C")) + "\n" + line(en=options("A", "B", "C")), "explained twice in en"),
    ],
)
def test_reasons_that_do_not_fit_are_named_and_left_out(tmp_path, wrong: str, slip: str):
    found = bank(tmp_path, wrong)
    assert any(slip in one for one in found.slips), found.slips
    assert found.get("q1/en").question == CHOICE["question"]
