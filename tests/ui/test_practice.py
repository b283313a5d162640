"""Practice on the quiz tab: what the page says of it, the files that it gives and takes."""

import base64
import json
import sqlite3
import zipfile
from datetime import timedelta

import pytest

from osrag.quiz.bank import shipped_bank
from osrag.quiz.exchange.anki import anki_deck
from osrag.quiz.judgement import Judgement, Step
from osrag.study.repetition import EMPTY, Deck, today
from osrag.ui.download import as_file
from osrag.ui.practice import progress_html
from osrag.ui.quiz_view import QuizState

BANK = shipped_bank()
ITEM = BANK.get("ch05-001/en")
WRONG = Judgement(ITEM, "<b>A</b>", False, 1.0, "key")


def missed(days_ago: float = 0) -> Deck:
    return EMPTY.after(ITEM, WRONG, BANK, today() - timedelta(days=days_ago), hinted=False)


def test_progress_tells_what_is_due_and_how_far_each_chapter_is():
    assert progress_html(EMPTY, BANK, "en") == ""
    html = progress_html(missed(1), BANK, "en")
    assert "Points to review today: 1." in html and "Chapter 5" in html and "0 known, 1 practised" in html
    assert "Chapter 6" not in html
    right = missed(1).after(ITEM, Judgement(ITEM, "C", True, 1.0, "key"), BANK, today(), hinted=False)
    assert "The next question after a mistake on its point was right: 1 of 1." in progress_html(right, BANK, "en")
    assert "分钟后" in progress_html(right, BANK, "zh")


def test_mistakes_become_an_anki_deck_with_answer_and_reasons(tmp_path):
    file = tmp_path / "deck.apkg"
    file.write_bytes(anki_deck("mistakes", [(ITEM, "p. 40")]))
    with zipfile.ZipFile(file) as packed:
        packed.extract("collection.anki2", tmp_path)
    with sqlite3.connect(tmp_path / "collection.anki2") as notes:
        ((fields, tags),) = notes.execute("select flds, tags from notes").fetchall()
    front, back = fields.split("\x1f")
    assert "not a necessary condition" in front and "Priority preemption" in front
    assert back.startswith("<b>C. Priority preemption") and "Mutual exclusion is necessary" in back
    assert tags.strip() == "osrag::5.2" and back.endswith("<small>p. 40</small>")


def test_a_file_is_a_link_with_its_name():
    name, link = json.loads(as_file("x.json", "application/json", b"{}"))
    assert name == "x.json" and base64.b64decode(link.split(",")[1]) == b"{}"


@pytest.mark.parametrize("text", ["", "[1", '{"version": 9}', "\udcff"])
def test_a_file_that_is_no_practice_changes_nothing(tmp_path, page, text: str):
    path = tmp_path / "practice.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    (read,) = [fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "imported"]
    assert read.fn(str(path), missed().as_data(), "en")["__type__"] == "update"


@pytest.mark.parametrize(
    "kept", [{"version": 9, "points": {"x": 1}}, "edited", {"version": 1, "points": {"x": "by hand"}}]
)
def test_an_entry_that_cannot_be_read_is_told_and_kept(page, kept):
    by_name = {getattr(fn.fn, "__name__", ""): fn.fn for fn in page.fns.values()}
    told, after = by_name["told"], by_name["after"]
    assert "not used and not deleted" in told(kept, "en") and "没有删除" in told(kept, "zh")
    _, data = after(QuizState().with_result(Step("done", WRONG, ())), kept)
    assert len(data["points"]) == 1 and data["unread"] == kept
    assert "not used" not in told(data, "en")  # said once
    _, again = after(QuizState().with_result(Step("done", WRONG, ())), data)
    assert again["unread"] == kept


def test_an_imported_practice_joins_what_was_there(tmp_path, page):
    other = BANK.get("ch01-001/en")
    deck = EMPTY.after(other, Judgement(other, "C", True, 1.0, "key"), BANK, today(), hinted=False)
    path = tmp_path / "practice.json"
    path.write_text(json.dumps(deck.as_data()))
    (read,) = [fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "imported"]
    assert len(read.fn(str(path), missed().as_data(), "en")["points"]) == 2


def test_results_are_counted_once(page):
    (keep,) = [fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "after"][:1]
    state, kept = keep.fn(QuizState().with_result(Step("done", WRONG, ())), {})
    assert len(kept["points"]) == 1 and state.unkept == ()
    assert keep.fn(state, kept)[1]["__type__"] == "update"
