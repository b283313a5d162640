"""Repetition: a mistake comes back, a known point later; the deck survives a browser that changed it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from osrag.quiz.bank import shipped_bank
from osrag.quiz.judgement import Judgement
from osrag.study.repetition import EMPTY, Deck, point_of, read_deck

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
BANK = shipped_bank()
ITEM = BANK.get("ch05-001/en")
POINT = point_of(ITEM, BANK)


def answered(deck: Deck, right: bool, now: datetime = NOW, *, hinted: bool = False, item=ITEM) -> Deck:
    return deck.after(item, Judgement(item, "x", right, 1.0, "key"), BANK, now, hinted=hinted)


def test_a_mistake_is_due_within_minutes_and_a_right_answer_later():
    wrong, right = answered(EMPTY, False), answered(EMPTY, True)
    assert wrong.due(NOW + timedelta(minutes=5)) == [POINT] and not right.due(NOW + timedelta(minutes=5))
    twice = answered(right, True, NOW + timedelta(minutes=20))
    assert not twice.due(NOW + timedelta(hours=12)) and twice.due(NOW + timedelta(days=30)) == [POINT]
    assert answered(EMPTY, True, hinted=True).next_day() < right.next_day()  # helped is not known


def test_a_clock_that_jumps_moves_a_date_and_loses_nothing():
    deck = EMPTY
    for count, days in enumerate((0, -400, 400, 0), start=1):
        now = NOW + timedelta(days=days)
        deck = answered(deck, True, now)
        assert deck.points[POINT].asked == count and deck.next_day() > now
        back, dropped = read_deck(json.loads(json.dumps(deck.as_data())))
        assert (back, dropped) == (deck, 0)
        assert deck.mastery(BANK, now)["5"][1] == 1


def test_both_languages_are_one_point():
    deck = answered(answered(EMPTY, False), True, item=BANK.get("ch05-001/zh"))
    assert list(deck.points) == [POINT] and deck.points[POINT].asked == 2


def test_whether_the_next_question_on_a_missed_point_was_right():
    deck = answered(answered(answered(EMPTY, False), False), True)
    assert deck.mended() == (1, 2)
    assert answered(deck, True).mended() == (1, 2)  # nothing was missed before this one


def test_mastery_counts_what_is_known_now():
    deck = answered(answered(EMPTY, True), True, NOW + timedelta(hours=1))
    known, met, there = deck.mastery(BANK, NOW + timedelta(hours=2))["5"]
    assert (known, met) == (1, 1) and there > 10
    assert deck.mastery(BANK, NOW + timedelta(days=3000))["5"][:2] == (0, 1)
    assert answered(EMPTY, False).mastery(BANK, NOW)["5"][:2] == (0, 1)


def test_a_typed_in_question_changes_nothing():
    from osrag.quiz.rows import read_row

    (own,) = read_row({"question": "Why?", "reference": "Because."})
    assert answered(EMPTY, False, item=own) == EMPTY


def test_a_deck_goes_to_a_file_and_comes_back():
    deck = answered(answered(EMPTY, False), True)
    back, dropped = read_deck(json.loads(json.dumps(deck.as_data())))
    assert back == deck and not dropped


@pytest.mark.parametrize(
    ("data", "dropped"),
    [
        (None, 0),
        ("nonsense", 1),
        ({"version": 2, "points": {}}, 1),
        ({"version": 1, "points": []}, 1),
        ({"version": 1, "points": {"a": {"asked": -1, "memory": {}}, "b": 7, "c": {"memory": {"due": "x"}}}}, 3),
    ],
)
def test_what_cannot_be_used_is_left_out_and_counted(data, dropped: int):
    assert read_deck(data) == (EMPTY, dropped)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
)
_FIELDS = ["state", "step", "stability", "difficulty", "due", "last_review"]


@given(_JSON, st.dictionaries(st.sampled_from(_FIELDS), _JSON))
def test_no_browser_state_breaks_the_deck(points, changed):
    good = answered(EMPTY, True).as_data()["points"][POINT]
    edited = {**good, "memory": {**good["memory"], **changed}}
    for data in (points, {"version": 1, "points": points}, {"version": 1, "points": {POINT: edited}}):
        deck, _ = read_deck(data)
        deck.due(NOW)
        deck.mastery(BANK, NOW)
        answered(deck, True)
