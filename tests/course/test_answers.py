"""Every prepared answer is whole, in both languages, and rests on words of the material."""

import json
from pathlib import Path

import pytest

from tools.check_answers import LEAST_QUOTE, faults, texts_of

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "examples" / "textbook" / "answers").glob("*.answers.jsonl"))


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return texts_of(ROOT / "index" / "textbook")


def test_every_prepared_answer_holds_against_the_index(texts: dict[str, str]) -> None:
    assert [f"{path.name}:{line}: {what}" for path, line, what in faults(FILES, texts)] == []


def test_there_are_six_hundred_of_every_kind_of_question() -> None:
    rows = [json.loads(line) for path in FILES for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 600
    assert {row["kind"] for row in rows} == {"what", "why", "how", "steps", "compare", "when", "what_if", "list"}


def whole_row() -> dict:
    return json.loads(FILES[0].read_text(encoding="utf-8").splitlines()[0])


def told(tmp_path: Path, texts: dict[str, str], *lines: str) -> str:
    path = tmp_path / "own.answers.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return " | ".join(f"{line}: {what}" for _, line, what in faults([path], texts))


def test_a_quote_that_is_not_in_the_material_is_named_with_its_line(tmp_path: Path, texts: dict[str, str]) -> None:
    row = whole_row()
    row["en"]["answer"][0]["quote"] = "Operating systems were invented by a committee of penguins"
    assert "1: " in told(tmp_path, texts, json.dumps(row)) and "penguins" in told(tmp_path, texts, json.dumps(row))


def test_two_answers_to_one_question_are_named(tmp_path: Path, texts: dict[str, str]) -> None:
    row = whole_row()
    said = told(tmp_path, texts, json.dumps(row), json.dumps({**row, "id": "another"}))
    assert "is asked in own.answers.jsonl:1 as well" in said


def test_a_broken_line_and_a_wrong_language_are_named(tmp_path: Path, texts: dict[str, str]) -> None:
    row = whole_row()
    row["zh"]["questions"][0] = "What is this?"
    said = told(tmp_path, texts, "{", json.dumps(row))
    assert "1: not an answer" in said and "2: " in said and "is in the other language" in said


def test_a_quote_must_be_long_enough_to_be_found_again(tmp_path: Path, texts: dict[str, str]) -> None:
    row = whole_row()
    row["zh"]["answer"][0]["quote"] = "进程"
    assert len("进程") < LEAST_QUOTE["zh"] and "too short" in told(tmp_path, texts, json.dumps(row))


def test_marks_of_an_edit_are_named(tmp_path: Path, texts: dict[str, str]) -> None:
    row = whole_row()
    row["en"]["answer"][0]["say"] += " {+an operating system+}"
    assert "marks of an edit are left" in told(tmp_path, texts, json.dumps(row))


def test_every_pair_names_an_answer() -> None:
    ids = {json.loads(line)["id"] for path in FILES for line in path.read_text(encoding="utf-8").splitlines()}
    pairs = (ROOT / "examples" / "eval" / "textbook" / "prepared_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(pair)["id"] for pair in pairs} <= ids
