"""How far hints go: by the instructor's file, and by the switch for the class."""

import pytest

from osrag.app.locked import locked_exercise
from osrag.errors import BadSettings
from osrag.quiz.bank import shipped_bank
from osrag.quiz.banks import Banks
from osrag.study.limits import Limits, LimitsFile, read_limits

FILE = 'highest = "twin"\nchapters = { "5" = "page" }\nexercises = { "ch05-001" = "solution", "ch05-002" = "off" }\n'


def top(limits: Limits, id_: str) -> str | None:
    return limits.top(shipped_bank().get(f"{id_}/en"))


def test_an_exercise_counts_before_its_chapter_and_that_before_all(tmp_path):
    (tmp_path / "hints.toml").write_text(FILE)
    limits = Limits(read_limits(tmp_path / "hints.toml"))
    found = {id_: top(limits, id_) for id_ in ("ch01-001", "ch05-003", "ch05-001", "ch05-002")}
    assert found == {"ch01-001": "twin", "ch05-003": "page", "ch05-001": "solution", "ch05-002": None}


def test_the_switch_lowers_and_never_raises():
    limits = Limits(LimitsFile(chapters={"5": "page"}))
    assert limits.mode == "full" and top(limits, "ch01-001") == "solution" and not limits.open
    limits.switch("hints")
    assert top(limits, "ch01-001") == "twin" and top(limits, "ch05-001") == "page"
    limits.switch("off")
    assert top(limits, "ch01-001") is None and limits.locked(shipped_bank().get("ch01-001/en"))


@pytest.mark.parametrize(
    ("text", "what"),
    [('highest = "top"', "highest"), ('chapter = { "5" = "page" }', "chapter"), ("highest =", "cannot read")],
)
def test_a_wrong_file_is_named_with_its_field(tmp_path, text: str, what: str):
    (tmp_path / "hints.toml").write_text(text)
    with pytest.raises(BadSettings, match=what):
        read_limits(tmp_path / "hints.toml")
    with pytest.raises(BadSettings, match="cannot read"):
        read_limits(tmp_path / "none.toml")


def test_a_locked_exercise_is_known_again_in_the_chat():
    limits, item = Limits(), shipped_bank().get("ch07-001/en")
    asked = f"Please tell me: {item.question} Is it A or B?"
    assert locked_exercise(asked, limits, Banks()) is None  # nothing is kept back
    limits.switch("hints")
    assert locked_exercise(asked, limits, Banks()) == item
    assert locked_exercise("What is demand paging?", limits, Banks()) is None
