"""No word of a student goes into the log, whatever they ask, hand in or bring."""

import json
import logging

import httpx
import pytest

from tests.calls import called_with
from tests.generated import valid_calls, with_each

CANARY = "zyzzogeton"


@pytest.mark.slow
def test_no_word_of_any_argument_is_logged(searching_address: str, caplog, capsys):
    caplog.set_level(logging.DEBUG, logger="osrag")
    tried = 0
    for name, arguments in valid_calls(searching_address, "en#1", "en.pdf").items():
        for _, sent in with_each((CANARY, f"{CANARY}.md", f"<{CANARY}"), arguments):
            called_with(searching_address, name, **sent)
            tried += 1
    assert tried > 300
    assert CANARY not in caplog.text and CANARY not in "".join(capsys.readouterr())


def test_no_word_of_a_question_that_a_student_wrote_on_the_page_is_logged(
    searching_page, searching_address: str, caplog, capsys
):
    """The sentence that refuses it quotes it to the student."""
    caplog.set_level(logging.DEBUG, logger="osrag")
    (number,) = (n for n, fn in searching_page.fns.items() if getattr(fn.fn, "__name__", "") == "own")
    fields = ["single_choice", f"Which {CANARY}?", f"one {CANARY}\ntwo", f"{CANARY}", "", ""]
    body = {"data": [None, None, *fields], "fn_index": number, "session_hash": "own"}
    with httpx.Client(base_url=searching_address, timeout=30, verify=False) as web:
        web.post("gradio_api/queue/join", json=body).raise_for_status()
        with web.stream("GET", "gradio_api/queue/data", params={"session_hash": "own"}) as stream:
            told = [json.loads(line[5:]) for line in stream.iter_lines() if line.startswith("data:")]
    assert any(one["msg"] == "log" and CANARY in one["log"] for one in told), told
    assert CANARY not in caplog.text and CANARY not in "".join(capsys.readouterr())
