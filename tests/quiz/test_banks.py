"""The bank of now: the shipped questions, the operator's own, and what an instructor uploads."""

import json
from pathlib import Path

import pytest

from osrag.errors import BadInput, BadSettings
from osrag.quiz.bank import shipped_bank
from osrag.quiz.banks import MOST_ROWS, Banks

ROW = {"id": "own-1", "type": "single_choice", "question": "Which?", "A": "one", "B": "two", "answer": "B"}


def written(path: Path, *rows: dict) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_folder_of_ones_own_joins_the_shipped_bank_or_takes_its_place(tmp_path):
    written(tmp_path / "mine.jsonl", ROW)
    joined = Banks(tmp_path).now
    assert len(joined) == len(shipped_bank()) + 1 and joined.get("ch05-001/en").hint is not None
    assert [one.id for one in Banks(tmp_path, shipped=False).now.exercises()] == ["own-1"]
    with pytest.raises(BadSettings, match="OSRAG_BANK_DIR: no folder"):
        Banks(tmp_path / "nowhere")


def test_an_upload_is_asked_at_once_and_after_the_next_start(tmp_path):
    folder = tmp_path / "bank"
    folder.mkdir()
    banks = Banks(folder)
    before = banks.now
    banks.add(written(tmp_path / "week 1.jsonl", ROW))
    assert banks.now.get("own-1/en") is not None and before.get("own-1/en") is None
    again = Banks(folder)
    assert again.now.get("own-1/en") is not None
    again.add(written(tmp_path / "week 1.jsonl", {**ROW, "question": "Which one?"}))  # replaces itself
    assert Banks(folder).now.get("own-1/en").question == "Which one?"
    assert again.clear() == 1 and len(again.now) == len(Banks(folder).now) == len(shipped_bank())


def test_without_a_folder_an_upload_lasts_until_the_app_ends(tmp_path):
    banks = Banks()
    banks.add(written(tmp_path / "a.jsonl", ROW))
    assert banks.now.get("own-1/en") is not None and Banks().now.get("own-1/en") is None


def test_an_id_that_another_bank_has_is_left_out_and_named(tmp_path):
    read = Banks().add(written(tmp_path / "a.jsonl", {**ROW, "id": "ch05-001"}, ROW))
    assert read.slips == ("a.jsonl:1: the id 'ch05-001' (en) is that of another bank",)
    assert [one.id for one in read.exercises] == ["own-1"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", "", "a.jsonl: no questions"),
        ("a.jsonl", '{"question": ""}\n', "question: is empty"),
        ("a.pdf", "%PDF", ".pdf is not read"),
        ("a.jsonl", "{}\n" * (MOST_ROWS + 1), "5,001 questions, at most 5,000"),
        ("a.csv", "q\0u\0e\0", "not UTF-8 at byte 1"),
    ],
)
def test_a_file_that_gives_nothing_changes_nothing_and_says_why(tmp_path, name: str, text: str, words: str):
    banks = Banks()
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput) as caught:
        banks.add(tmp_path / name)
    assert words in caught.value.sentence()
    assert len(banks.now) == len(shipped_bank())


def test_what_the_operators_folder_cannot_give_is_logged(tmp_path, caplog):
    written(tmp_path / "a.jsonl", ROW, ROW)
    (tmp_path / "b.jsonl").write_text("{}\n" * (MOST_ROWS + 1))
    assert len(Banks(tmp_path).now) == len(shipped_bank()) + 1
    assert "'own-1'" in caplog.text and "b.jsonl: 5,001 questions, at most 5,000" in caplog.text


def test_an_upload_that_the_disk_does_not_take_is_in_use_and_says_so(tmp_path):
    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "uploaded").write_text("in the way")
    banks = Banks(folder)
    with pytest.raises(BadInput, match="not kept for the next start"):
        banks.add(written(tmp_path / "a.jsonl", ROW))
    assert banks.now.get("own-1/en") is not None
