"""What an instructor does on the quiz tab: only with the key, with a report by row."""

import json
from base64 import b64decode
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from osrag.app.unanswered import places
from osrag.quiz.bank import shipped_bank
from osrag.quiz.banks import Banks
from osrag.study.board import Board
from osrag.study.limits import Limits
from osrag.ui.app import build
from osrag.ui.guard import upload_mb
from tests.ui.conftest import page_of

VISITOR = SimpleNamespace(session_hash="a", headers={}, client=SimpleNamespace(host="127.0.0.1"))


@pytest.fixture
def here(parts):
    settings = parts.settings.model_copy(update={"instructor_key": SecretStr("geheim")})
    return SimpleNamespace(**{**vars(parts), "settings": settings, "limits": Limits(), "banks": Banks()})


@pytest.fixture
def does(here):
    """A handler of the page by its name."""
    page = build(here)
    by_name = {getattr(fn.fn, "__name__", ""): fn.fn for fn in page.fns.values()}
    return lambda name, *values: by_name[name](*values)


def test_the_key_opens_the_part_and_another_word_does_not(does):
    assert does("entered", "falsch", "en", VISITOR)[0] is False
    opened, gate, inside, key, _ = does("entered", "geheim", "en", VISITOR)
    assert opened is True and not gate["visible"] and inside["visible"] and key == ""


def test_without_the_key_nothing_is_switched_taken_or_given(does, here, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("question,answer\nIs it?,T\n")
    does("switched", False, "en", "off")
    does("taken", False, "en", str(path))
    assert here.limits.mode == "full" and len(here.banks.now) == len(shipped_bank())
    assert all(one["__type__"] == "update" for one in does("given", False, "en", "moodle", ""))


def test_an_upload_tells_what_was_read_and_what_was_left_out_by_row(does, here, tmp_path):
    path = tmp_path / "mine.csv"
    rows = ["id,question,A,B,answer", "x1,Which <b>one</b>?,one,two,B", "x1,Again?,one,two,A", "x2,Bad?,one,two,Q"]
    path.write_text("\n".join(rows))
    report, _ = does("taken", True, "en", str(path))
    assert "Questions read: 1 (single choice 1)" in report and "Left out: 2" in report
    assert "mine.csv:3: the id" in report and "mine.csv:4: answer: the key" in report
    assert here.banks.now.get("x1/en").question == "Which <b>one</b>?"
    (tmp_path / "p.pdf").write_bytes(b"%PDF-1.7")
    assert "p.pdf: .pdf is not read" in does("taken", True, "en", str(tmp_path / "p.pdf"))[0]
    assert "taken out: 1" in does("cleared", True, "en")[0] and here.banks.now.get("x1/en") is None


def test_what_is_wrong_with_a_row_is_told_in_the_language_of_the_page(does, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id,question,A,B,answer\nx1,Which?,one,two,\nx2,Bad?,one,two,Q")
    report, _ = does("taken", True, "zh", str(path))
    assert "mine.csv:3：answer：答案 &#x27;Q&#x27; 不在选项中（选项有 A, B）" in report
    assert "mine.csv:2 en：没有答案：由模型判定" in report
    path.write_text("id,question\nx1,")
    assert "mine.csv:2：question：是空的" in does("taken", True, "zh", str(path))[0]


@pytest.mark.parametrize(("form", "name"), [("moodle", "osrag.xml"), ("gift", "osrag.gift"), ("anki", "osrag.apkg")])
def test_a_chapter_is_given_in_a_form_with_what_it_cannot_hold(does, form: str, name: str):
    file, report = does("given", True, "en", form, "5")
    assert json.loads(file)[0] == name
    assert "What this form cannot hold" in report and "ch05-001/en: page_quote" in report


def test_files_may_be_large_only_where_an_instructor_uploads_a_bank(here, parts):
    without_material = [one.settings.model_copy(update={"upload_visitors": 0}) for one in (parts, here)]
    assert [upload_mb(settings) for settings in without_material] == [2, 20]
    assert upload_mb(parts.settings) == 100


def test_guesses_of_the_key_count_as_questions(here):
    here.settings = here.settings.model_copy(update={"requests_per_minute": 2})
    page = build(here)
    (enter,) = [fn.fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "entered"][:1]
    assert [enter(word, "en", VISITOR)[0] for word in ("a", "b", "geheim")] == [False, False, False]


def test_the_board_shows_five_sessions_and_gives_them_as_csv(here, tmp_path):
    here.board = Board(tmp_path / "board.sqlite")
    page = build(here)
    by_name = {getattr(fn.fn, "__name__", ""): fn.fn for fn in page.fns.values()}
    shown, saved = by_name["shown"], by_name["saved"]
    for session in range(6):
        here.board.note(f"s{session}", [("tried", "x"), ("missed", "=x"), ("open", "7.3|page fault"), ("rung", "page")])
    here.board.note("one", [("missed", "rare")])
    html, places = shown(True, "en")
    assert "=x</td><td>6</td>" in html and "rare" not in html and "page fault · 7.3 Page replacement" in html
    assert places == ("7.3|page fault",)
    file = b64decode(json.loads(saved(True, "en"))[1].split(",")[1]).decode()
    assert "missed,'=x,'=x,6," in file and "rung,page,Read this,6," in file
    assert saved(False, "en") == "" and all(one["__type__"] == "update" for one in shown(False, "en"))


def test_without_its_setting_there_is_no_board(does):
    with pytest.raises(KeyError):
        does("shown", True, "en")


def test_a_question_without_an_answer_is_kept_without_its_words(here):
    hit = SimpleNamespace(chunk=page_of("en"))
    here.textbook = SimpleNamespace(search=lambda text, k: SimpleNamespace(hits=[hit]))
    assert places(here, "Why does Li's TLB hate me?") == ["7.3|translation lookaside buffer"]
    assert places(here, "My name is Li") == ["7.3|"]
