"""Generated arguments for the endpoints that look something up, over the shipped index and real weights."""

from tests.generated import try_endpoints


def test_any_argument_of_a_search_or_an_exercise_gets_a_reply_or_a_sentence(server):
    answers = ("chat", "ask_textbook", "ask_kernel")  # tried without a model in tests/ui
    try_endpoints(f"{server.url}/", lambda name: name not in answers, 150)
    assert "Traceback" not in server.log.read_text()
