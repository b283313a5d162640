"""The line under the head of the page: short, with the reasons inside, and nothing that is not true."""

from osrag.app.parts import Parts
from osrag.models.load import Notice
from osrag.settings import Settings
from osrag.ui.app import banner

CARD = "no CUDA device was found (set OSRAG_PROFILE=cpu)"


def parts(*notices: Notice) -> Parts:
    made = Parts(Settings(_env_file=None))
    made.notices = notices
    return made


def test_nothing_is_shown_when_all_is_as_set():
    assert banner(parts(), "zh") == ""


def test_a_reason_is_said_once_and_never_as_markup():
    html = banner(parts(Notice("small_encoder", CARD), Notice("small_chat", CARD), Notice("no_reranker", "<b>")), "en")
    assert html.count("no CUDA device") == 1 and "&lt;b&gt;" in html
    assert html.index("<summary>") < html.index("answers instead") < html.index("</summary>") < html.index("Reason:")


def test_only_the_last_step_is_told_of_the_chat_model():
    html = banner(parts(Notice("small_chat", CARD), Notice("no_chat", "no weights")), "zh")
    assert "小模型作答" not in html and "只给出教材原文摘录" in html and "no CUDA device" in html
