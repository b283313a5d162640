"""The questions of readers and examiners about the course book are as they should be, and their check sees slips."""

import json
from pathlib import Path

import bankcheck
import pytest


@pytest.mark.parametrize(("file", "least"), [(bankcheck.ASKS, 900), (bankcheck.FACTS, 2500)])
def test_the_questions_have_no_slips(file: Path, least: int) -> None:
    slips = bankcheck.Slips()
    rows = bankcheck.check_asks(file, slips)
    assert len(rows) > least and slips.lines == []


def test_a_quote_that_is_not_in_the_book_and_a_question_twice_in_a_row_are_slips(tmp_path: Path) -> None:
    row = json.loads(bankcheck.ASKS.read_text("utf-8").splitlines()[0])
    file = tmp_path / "own.asks.jsonl"
    astray = {**row, "quotes": [row["quotes"][0], "no page of the book says this"]}
    alone = {"quotes": row["quotes"], "facts": [["Which language is missing?", "the other one"]]}
    lines = [row, astray, {"quotes": []}, {**row, "asks": [*row["asks"], row["asks"][0]]}, alone]
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    slips = bankcheck.Slips()
    assert len(bankcheck.check_asks(file, slips)) == 4
    assert slips.lines[0].startswith("own.asks.jsonl row 2: quote is not in the book")
    assert slips.lines[1].startswith("own.asks.jsonl:3: ")
    assert slips.lines[2:] == [
        "own.asks.jsonl row 3: the same question twice",
        "own.asks.jsonl row 4: 1 facts, where each language has one",
    ]
