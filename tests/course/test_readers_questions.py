"""The readers' questions of the course book are as they should be, and the check of them sees slips."""

import json
from pathlib import Path

import bankcheck


def test_the_readers_questions_have_no_slips() -> None:
    slips = bankcheck.Slips()
    rows = bankcheck.check_asks(bankcheck.ASKS, slips)
    assert len(rows) > 700 and slips.lines == []


def test_a_quote_that_is_not_in_the_book_and_a_question_twice_in_a_row_are_slips(tmp_path: Path) -> None:
    row = json.loads(bankcheck.ASKS.read_text("utf-8").splitlines()[0])
    file = tmp_path / "own.asks.jsonl"
    astray = {**row, "quotes": [row["quotes"][0], "no page of the book says this"]}
    lines = [row, astray, {"quotes": []}, {**row, "asks": [*row["asks"], row["asks"][0]]}]
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    slips = bankcheck.Slips()
    assert len(bankcheck.check_asks(file, slips)) == 3
    assert slips.lines[0].startswith("own.asks.jsonl row 2: quote is not in the book")
    assert slips.lines[1].startswith("own.asks.jsonl:3: ")
    assert slips.lines[2:] == ["own.asks.jsonl row 3: the same question twice"]
