"""Every prepared answer is whole, in both languages, and rests on words of the material."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from osrag.answer.normal_form import normal_form
from osrag.types import Chunk
from tools.check_answers import faults, searched

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "examples" / "textbook" / "answers").glob("*.answers.jsonl"))


def written() -> list[dict]:
    return [json.loads(line) for path in FILES for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def chunks() -> list[Chunk]:
    return searched(ROOT / "index" / "textbook")


@pytest.mark.slow
def test_every_prepared_answer_holds_against_the_index(chunks: list[Chunk]) -> None:
    assert list(faults(FILES, chunks)) == []


def test_there_are_six_hundred_of_every_kind_of_question() -> None:
    assert len(written()) >= 600
    assert {row["kind"] for row in written()} == {"what", "why", "how", "steps", "compare", "when", "what_if", "list"}


def whole_row() -> dict:
    return json.loads(FILES[0].read_text(encoding="utf-8").splitlines()[0])


def told(tmp_path: Path, chunks: Sequence[Chunk], *lines: str) -> str:
    path = tmp_path / "own.answers.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return " | ".join(faults([path], chunks))


def test_a_quote_that_is_not_in_the_material_is_named_with_its_line(tmp_path: Path, chunks: list[Chunk]) -> None:
    row = whole_row()
    row["en"]["answer"][0]["quote"] = "Operating systems were invented by a committee of penguins"
    said = told(tmp_path, chunks, json.dumps(row))
    assert said.startswith("own.answers.jsonl line 1: ") and "penguins" in said


def test_a_short_answer_with_one_question_in_one_language_is_no_answer_of_the_course(
    tmp_path: Path, chunks: list[Chunk]
) -> None:
    row = whole_row()
    side = {"questions": row["en"]["questions"][:1], "answer": row["en"]["answer"][:1]}
    said = told(tmp_path, chunks, json.dumps({**row, "zh": None, "en": side}))
    assert "in one language only" in said and "1 questions; 3 to 18 are wanted" in said and "1 statements" in said


def test_two_answers_to_one_question_are_refused(tmp_path: Path, chunks: list[Chunk]) -> None:
    row = whole_row()
    other = {**row, "id": "another", "en": {**row["en"], "questions": [f"Please define {row['id']}"]}}
    row["en"]["questions"] = [f"What is {row['id']}?"]
    assert "en: one question for two answers" in told(tmp_path, chunks, json.dumps(row), json.dumps(other))


@pytest.mark.parametrize(("language", "plain"), [("zh", "什么是{}？"), ("en", "What is {}?")])
def test_every_key_term_of_the_book_has_an_answer_to_what_it_is(language: str, plain: str) -> None:
    asked = {normal_form(question) for row in written() for question in row[language]["questions"]}
    terms = {
        term.replace("\\", "")
        for path in (ROOT / "examples" / "textbook" / "src" / language).glob("*.typ")
        for term in re.findall(r"#term\[([^\]]+)\]", path.read_text(encoding="utf-8"))
    }
    assert len(terms) > 450
    # "Block" by itself is the state of a process to the glossary; "disk block" has its answer.
    assert {term for term in terms if normal_form(plain.format(term)) not in asked} <= {"block"}


def test_every_pair_names_an_answer() -> None:
    ids = {row["id"] for row in written()}
    pairs = (ROOT / "examples" / "eval" / "textbook" / "prepared_pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(pair)["id"] for pair in pairs} <= ids
