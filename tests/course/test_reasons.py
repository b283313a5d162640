"""The prepared explanations of the bank stand: they fit their exercises and quote the course book."""

import json
import shutil

import check_reasons

from osrag.quiz.bank import load_bank, shipped_bank
from osrag.settings import ROOT


def test_every_prepared_explanation_fits_its_exercise_and_quotes_the_book() -> None:
    assert list(check_reasons.faults(shipped_bank(), ROOT / "index" / "textbook")) == []


def test_a_quote_that_the_book_does_not_have_is_found(tmp_path) -> None:
    shutil.copy(ROOT / "examples" / "quiz" / "ch01.jsonl", tmp_path)
    (tmp_path / "reasons").mkdir()
    wrong = {
        "T": {"why": "It is only a short one.", "quote": "words that no book has"},
        "F": {"why": "No.", "quote": "x"},
    }
    number = next(one.id for one in shipped_bank().exercises() if one.type == "true_false")
    (tmp_path / "reasons" / "ch01.reasons.jsonl").write_text(json.dumps({"id": number, "en": {"options": wrong}}))
    found = list(check_reasons.faults(load_bank(tmp_path), ROOT / "index" / "textbook"))
    assert [what.split(": ", 1)[1] for what in found] == [
        "the book does not say 'words that no book has'", "1 words", "a quote of 1 letters",
    ]  # fmt: skip
