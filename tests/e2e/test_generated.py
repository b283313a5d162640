"""Generated arguments for the endpoints that look something up or grade, over the shipped index and real weights."""

import pytest

from tests.calls import called_with
from tests.generated import try_endpoints, try_hostile, valid_calls

pytestmark = pytest.mark.slow

ANSWERS = ("chat", "ask_textbook", "ask_kernel")  # tried without a model in tests/ui


def test_any_argument_of_a_search_or_an_exercise_gets_a_reply_or_a_sentence(server):
    try_endpoints(f"{server.url}/", lambda name: name not in ANSWERS, 150)
    assert "Traceback" not in server.log.read_text()


def test_hostile_texts_in_each_string_of_a_search_gets_a_reply_or_a_sentence(server):
    valid = valid_calls(f"{server.url}/", "os-course-en.pdf#p67-2", "os-course-en.pdf")
    searches = [name for name in valid if "search" in name or name in ("get_page_content", "callers", "grade_trace")]
    taken = try_hostile(f"{server.url}/", {name: valid[name] for name in searches})
    assert taken["search_textbook"] > 10 and taken["search_kernel"] > 10
    assert "Traceback" not in server.log.read_text()


def test_no_word_of_a_student_is_in_the_log(server):
    """Also where the model explains, and reads what the grammar of the lab does not find."""
    canary = "zyzzogeton"
    valid = valid_calls(f"{server.url}/", "os-course-en.pdf#p67-2", "os-course-en.pdf")
    called_with(f"{server.url}/", "solve", text=f"LRU for {canary}, 3 frames, 7 0 1 2 0 3")
    called_with(f"{server.url}/", "search_textbook", question=f"the semaphore of {canary}")
    called_with(f"{server.url}/", "add_material", **{**valid["add_material"], "name": f"{canary}.pdf"})
    own = {"question": f"What does {canary} need?", "options": [f"one {canary}", f"two {canary}"], "answer": "A"}
    for name in ("judge", "explain"):
        called_with(f"{server.url}/", name, question=own, student_answer=f"two {canary}")
    for name in ANSWERS:
        called_with(f"{server.url}/", name, **{**valid[name], "question": f"What is a semaphore for {canary}?"})
    assert canary not in server.log.read_text()
