"""The prepared hints of the bank stand: they fit their exercises, quote the course book and give no key away."""

import json
import shutil

import check_hints

from osrag.quiz.bank import load_bank, shipped_bank
from osrag.settings import ROOT


def test_every_exercise_has_a_hint_that_fits_it_and_quotes_the_book() -> None:
    assert list(check_hints.faults(shipped_bank(), ROOT / "index" / "textbook")) == []
    assert [exercise.name for exercise in shipped_bank().exercises() if exercise.hint is None] == []


def test_what_the_book_does_not_say_and_a_twin_of_its_own_are_found(tmp_path) -> None:
    shutil.copy(ROOT / "examples" / "quiz" / "ch01.jsonl", tmp_path)
    (tmp_path / "hints").mkdir()
    one = next(one for one in shipped_bank().exercises() if one.type == "true_false" and one.language == "en")
    (other,) = {"T", "F"} - set(one.answer)
    side = {"ask": "Look.", "quote": "words that no book has", "points": {other: "Who runs it, and in which mode?"}}
    (tmp_path / "hints" / "ch01.hints.jsonl").write_text(json.dumps({"id": one.id, "twin": one.id, "en": side}))
    found = list(check_hints.faults(load_bank(tmp_path), ROOT / "index" / "textbook"))
    assert [what.split(": ", 1)[1] for what in found] == [
        "1 words", "asks nothing back", "the book does not say 'words that no book has'", f"no twin {one.id!r}",
    ]  # fmt: skip
