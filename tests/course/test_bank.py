"""The checker finds the slips it promises to find, and the bank has none."""

import json

import bankcheck
import booktext
import pytest


def test_marks_of_typst_are_not_in_the_plain_text() -> None:
    assert booktext.plain("#term[进程][process]是_运行中_的程序。") == booktext.straight(
        "进程（process）是运行中的程序。"
    )
    assert booktext.plain("a #term[file]\\; use `read_iter` and *not* that") == "a file; use read_iter and not that"


def test_quotes_and_dashes_compare_equal() -> None:
    assert booktext.straight("Belady’s  “anomaly” – here") == 'Belady\'s "anomaly" - here'


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("lab('fcfs', jobs='A 0 2') == 0", ""),
        ("sum(lab('lru', refs='1,2,1', frames=n) for n in (1, 2)) == 5", ""),
        ("8 * 4096 == 32768", ""),
        ("max([1, 2], key=lambda n: -n) == 1", ""),
        ("lab('fcfs', jobs='A 0 2') == 1", "check gives False"),
        ("lab('lru', refs='1,2,1') == 1", "check raises ValueError('frames')"),
        ("True", "check computes nothing"),
        ("open('x') == 1", "check uses open"),
        ("lab.__globals__ == 1", "check reaches for a private attribute"),
        ("1 ==", "check cannot be read: invalid syntax"),
        ("close(1 / 0, 1)", "check raises ZeroDivisionError('division by zero')"),
    ],
)
def test_check_expressions(expression: str, complaint: str) -> None:
    assert bankcheck.check_expression(expression) == complaint


def test_near_copies_are_found() -> None:
    slips = bankcheck.Slips()
    bankcheck.check_alike(
        [
            ("a", "Which condition of deadlock does lock ordering break?"),
            ("b", "What is a TLB miss?"),
            ("c", "Which condition of deadlock does a lock ordering break?"),
        ],
        slips,
    )
    assert len(slips.lines) == 1 and slips.lines[0].startswith("c: is like a")


def test_a_quote_must_stand_in_its_chapter() -> None:
    assert bankcheck.is_in_book("A deadlock is a situation in which every member of a set", 5, "en")
    assert not bankcheck.is_in_book("A deadlock is a situation in which every member of a set", 6, "en")


def test_the_bank_and_the_development_questions_have_no_slips() -> None:
    slips = bankcheck.Slips()
    bank = bankcheck.check_bank((), slips)
    rows = bankcheck.check_development((), slips)
    assert slips.lines == []
    assert len(bank) >= 24 and len(rows) >= 16


def test_the_quotes_of_the_held_out_questions_are_in_the_book() -> None:
    rows = [json.loads(line) for line in (bankcheck.EVAL / "held_out.jsonl").read_text("utf-8").splitlines()]
    quotes = [quote for row in rows for quote in (row["quote"], *row.get("also", []))]
    assert [quote for quote in quotes if not booktext.is_anywhere(quote)] == []
