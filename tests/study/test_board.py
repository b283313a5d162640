"""The class board: counts of five sessions and more, and nothing that leads to one of them."""

import sqlite3
import subprocess
import sys
from datetime import date

import pytest

from osrag.errors import OsragError
from osrag.quiz.bank import shipped_bank
from osrag.quiz.judgement import Judgement, PointResult
from osrag.quiz.rows import read_row
from osrag.study.board import KEPT_DAYS, Board, Count, of_answer, of_hint

BANK = shipped_bank()


class Days:
    """A calendar that the test turns."""

    def __init__(self) -> None:
        self.now = date(2026, 3, 2)

    def __call__(self) -> date:
        return self.now


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def board(tmp_path, days) -> Board:
    return Board(tmp_path / "board.sqlite", days)


def seen(board: Board, sessions: range, kind="missed", item="deadlock") -> None:
    for session in sessions:
        board.note(f"s{session}", [(kind, item)])


def test_four_sessions_are_nothing_and_five_are_a_count(board):
    seen(board, range(4))
    assert board.counts("missed") == []
    seen(board, range(5))  # the first four again: each counts once
    assert board.counts("missed") == [Count("deadlock", 5)]
    assert board.counts("tried") == []


def test_five_days_of_one_session_are_nothing(board, days):
    for day in range(1, 6):
        days.now = date(2026, 3, day)
        seen(board, range(1))
    assert board.counts("missed") == []


def test_a_clock_that_jumps_shows_nothing_of_four_sessions_and_counts_on(board, days):
    seen(board, range(5), item="paging")
    seen(board, range(4))
    for day in (date(2026, 4, 2), date(2025, 1, 1), date(2026, 3, 2)):
        days.now = day
        assert board.counts("missed") == [Count("paging", 5)]
        board.note("late", [("missed", "deadlock")])  # the first four are forgotten since the day first passed
    seen(board, range(5))
    assert board.counts("missed") == [Count("deadlock", 6), Count("paging", 5)]


def test_a_day_that_has_passed_leaves_counts_and_no_trace_of_who(board, days):
    seen(board, range(6))
    seen(board, range(3), item="paging")
    days.now = date(2026, 3, 3)
    seen(board, range(5))
    assert board.counts("missed") == [Count("deadlock", 11)]
    with sqlite3.connect(board.file) as db:
        assert db.execute("select day, item, sessions from counts").fetchall() == [("2026-03-02", "deadlock", 6)]
        assert {day for (day,) in db.execute("select day from seen union select day from salts")} == {"2026-03-03"}
    assert b"paging" not in board.file.read_bytes()  # deleted for good
    days.now = date.fromordinal(days.now.toordinal() + KEPT_DAYS + 1)
    assert board.counts("missed") == []


def test_sessions_are_hashed_with_a_salt_of_the_day(board, days):
    seen(board, range(1))
    first = sqlite3.connect(board.file).execute("select who from seen").fetchone()
    days.now = date(2026, 3, 3)
    seen(board, range(1))
    assert sqlite3.connect(board.file).execute("select who from seen").fetchone() != first
    assert b"s0" not in board.file.read_bytes()


WRITER = """
import pathlib, sys
from osrag.study.board import Board
for number in range(10):
    Board(pathlib.Path(sys.argv[1])).note(f"{sys.argv[2]}-{number}", [("hint", "ch01-001")])
"""


def test_several_processes_share_the_file(board):
    runs = [subprocess.Popen([sys.executable, "-c", WRITER, str(board.file), who]) for who in ("a", "b")]
    assert [run.wait() for run in runs] == [0, 0]
    assert Board(board.file).counts("hint") == [Count("ch01-001", 20)]


def test_a_file_that_is_no_board_harms_no_visitor_and_is_told_to_the_instructor(tmp_path, caplog):
    broken = Board(tmp_path / "board.sqlite")
    broken.file.write_bytes(b"no database " * 500)
    broken.note("s", [("missed", "x")])
    assert "not kept" in caplog.text
    with pytest.raises(OsragError, match=r"board.sqlite: the class board cannot be read"):
        broken.counts("missed")


def test_an_answer_counts_for_its_point_and_for_what_its_rubric_misses():
    item = next(one for one in BANK.exercises() if one.language == "zh" and len(one.rubric) == 3)
    points = tuple(
        PointResult(row.point, row.points, earned, "", "", 0)
        for row, earned in zip(item.rubric, (9, 0, 9), strict=True)
    )
    wrong = Judgement(item, "secret words", False, 0.9, "rubric", points=points)
    point = BANK.get(f"{item.id}/en").knowledge_point
    assert of_answer(wrong, BANK) == [("tried", point), ("missed", point), ("rubric", f"{item.id}#2")]
    assert of_hint(item, "page", BANK) == [("hint", item.id), ("rung", "page")]


def test_a_question_that_a_student_typed_in_counts_for_nothing():
    (own,) = read_row({"question": "My name is Li?", "type": "true_false", "answer": "T"})
    assert of_answer(Judgement(own, "F", False, 1.0, "key"), BANK) == [] == of_hint(own, "ask", BANK)


def test_a_key_that_the_model_doubts_is_counted():
    item = BANK.get("ch05-001/en")
    doubted = Judgement(item, "A", False, 1.0, "key", model_correct=True)
    assert ("disagrees", "ch05-001") in of_answer(doubted, BANK)
