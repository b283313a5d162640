"""Generated arguments for the endpoints, the same on each run: any values at all, and valid ones but for one text."""

import pytest

from tests.generated import cases_of, try_endpoints, try_hostile, valid_calls

CASES = 1090
TAKE_TEXT = {
    "chat", "ask_textbook", "ask_kernel", "search_textbook", "search_kernel", "keyword_search", "semantic_search",
    "judge", "explain", "solve", "grade_trace",
}  # fmt: skip


@pytest.mark.slow
def test_any_argument_of_any_endpoint_gets_a_reply_or_a_sentence(address: str, caplog):
    try_endpoints(address, lambda name: name not in ("judge", "explain"), 300)  # these need an index: tests/e2e
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.slow
def test_hostile_texts_in_each_string_of_a_valid_call_gets_a_reply_or_a_sentence(
    searching_page, searching_address: str, caplog, capsys
):
    valid = valid_calls(searching_address, "en#1", "en.pdf")
    public = {fn.api_name for fn in searching_page.fns.values() if fn.api_visibility == "public"}
    assert set(valid) == public, "every endpoint is tried"
    assert cases_of(valid) == CASES
    taken = try_hostile(searching_address, valid)
    assert {name for name, times in taken.items() if times > 10} >= TAKE_TEXT, taken
    assert not [record for record in caplog.records if record.exc_info]
    assert "Traceback" not in "".join(capsys.readouterr())
