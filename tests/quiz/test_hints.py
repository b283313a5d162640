"""Prepared hints of bank questions: they lead, and never say the key."""

import json

import pytest

from osrag.quiz.bank import load_bank
from osrag.quiz.hints import gives_away
from tests.quiz.parts import CHOICE, item_of

ASK = {"ask": "Which of them looks at the disk?", "quote": "a stretch of the book"}
POINTS = {"A": "It works among the ready ones.", "C": "It orders requests."}
PROGRAM = {
    "type": "programming",
    "question": "Write `int get(void)`, which waits until `full` holds.",
    "reference": "int get(void) {\n    while (!full)\n        pthread_cond_wait(&c, &m);\n}",
    "structure": [{"point": 1, "needs": "loop_around", "call": "pthread_cond_wait"}],
}


def bank(folder, *lines: dict):
    (folder / "ch01.jsonl").write_text(json.dumps({**CHOICE, "language": "en"}), encoding="utf-8")
    (folder / "hints").mkdir()
    (folder / "hints" / "ch01.hints.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return load_bank(folder)


def test_a_hint_comes_with_its_exercise(tmp_path):
    (exercise,) = bank(tmp_path, {"id": "q1", "twin": "q2", "en": {**ASK, "points": POINTS}}).exercises()
    assert exercise.hint.ask == ASK["ask"] and exercise.hint.point("C") == POINTS["C"] and not exercise.hint.point("B")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ({"id": "q1", "en": {**ASK, "points": {"A": "x"}}}, "hint of q1/en: points for A; wanted: A, C"),
        ({"id": "q9", "en": {**ASK, "points": POINTS}}, "hint of q9/en: no such exercise"),
        ({"id": "q1", "en": {**ASK, "ask": "Is it not option B?", "points": POINTS}}, "gives the key away: option B"),
        (
            {"id": "q1", "en": {**ASK, "points": {**POINTS, "A": "The long-term scheduler."}}},
            "away: long-term",
        ),
        ({"id": "q1", "en": {"ask": "?"}}, "ch01.hints.jsonl:1: en.quote: Field required"),
    ],
)
def test_a_hint_that_does_not_fit_or_says_the_key_is_left_out_by_name(tmp_path, line: dict, what: str):
    made = bank(tmp_path, line)
    assert made.exercises()[0].hint is None and what in " ".join(made.slips)


@pytest.mark.parametrize(
    ("row", "text", "told"),
    [
        ({"type": "fill_blank", "question": "It takes ____ ms.", "answer": ["7"]}, "Add 4 and 3; it is not 17.", []),
        ({"type": "fill_blank", "question": "It takes ____ ms.", "answer": ["7"]}, "So 7 remain.", ["7"]),
        ({"type": "fill_blank", "question": "It is kept in ____.", "answer": ["RAM|memory"]}, "A ramp.", []),
        ({"type": "fill_blank", "question": "64 = 8 x ____", "answer": ["8"]}, "Divide 64 by 8.", []),
        ({"type": "true_false", "question": "A thread has a heap.", "answer": "F"}, "这句话是错的。", ["这句话是错的"]),
        ({"type": "true_false", "question": "A thread has a heap.", "answer": "F"}, "Whose heap is it?", []),
        (PROGRAM, "What if it is checked by `while (!full)`, and not once?", ["while (!full)"]),
        (PROGRAM, "等待时要用 pthread_cond_wait。", ["pthread_cond_wait"]),
        (PROGRAM, "A thread wakes, int get(void) goes on: is the queue full still?", []),
    ],
)
def test_what_gives_the_key_away(row: dict, text: str, told: list[str]):
    assert list(gives_away(item_of(row), text)) == told
