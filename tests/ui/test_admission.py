"""Who may ask: rates by session and address, lines of their own, arguments that are checked; without a browser."""

import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import pytest
from gradio_client import Client

from osrag.errors import BadInput
from osrag.models.protocols import ChatAbilities
from osrag.ui.admission import RateLimit, answers_at_once
from osrag.ui.app import build, serve
from osrag.ui.state import Conversation, Conversations
from tests.calls import called
from tests.fakes import ScriptedChat


def test_the_rate_limit_holds_when_many_visitors_ask_at_once():
    """Without a lock one thread walks through the visitors while another adds one."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            limit = RateLimit(per_minute=1, visitors=1000)
            with ThreadPoolExecutor(8) as pool:
                waits = list(pool.map(limit.wait_s, [f"{n}" for n in range(400)] * 2, ["campus"] * 800))
            assert sum(wait == 0 for wait in waits) == 400
    finally:
        sys.setswitchinterval(usual)


def test_a_visitor_has_a_limit_and_so_has_an_address_that_renames_its_sessions():
    limit = RateLimit(per_minute=2, visitors=3)
    assert [limit.wait_s("a", "campus") for _ in range(2)] == [0, 0]
    assert limit.wait_s("a", "campus") > 0
    assert limit.wait_s("b", "campus") == 0
    assert limit.wait_s("a", "elsewhere") > 0  # the session is the same
    assert [limit.wait_s(f"new {n}", "campus") == 0 for n in range(5)] == [True, True, True, False, False]
    assert limit.wait_s("c", "elsewhere") == 0


def test_a_caller_without_a_session_is_its_address():
    limit = RateLimit(per_minute=1, visitors=3)
    assert limit.wait_s("", "one") == 0 and limit.wait_s("", "one") > 0 and limit.wait_s("", "two") == 0


@pytest.fixture
def served(parts, script):
    """A page of its own with these settings, served."""
    pages = []

    def start(**settings):
        own = SimpleNamespace(**vars(parts))
        own.settings = parts.settings.model_copy(update={"port": None, **settings})
        page = build(own)
        pages.append(page)
        serve(page, own.settings, own.metrics, block=False)
        return page, own

    yield start
    for page in pages:
        page.close()


def test_searches_have_a_rate_and_a_length_and_are_not_empty(served, capsys):
    page, _ = served(searches_per_minute=6, max_question_chars=100)
    told = [
        called(page.local_url, "search_kernel", text, 5)[1]["error"] for text in ("x" * 101, "", "\u200b\u2060 \ufeff")
    ]
    assert "has 101 characters, the limit is 100" in told[0]
    assert "The question is empty" in told[1] and "The question is empty" in told[2]
    assert "characters" in called(page.local_url, "definition", "f" * 1000, "")[1]["error"]
    for endpoint in ("search_textbook", "search_kernel"):
        called(page.local_url, endpoint, "", 5)
    waiting = called(page.local_url, "callees", "do_exit", "")[1]
    assert "Please wait" in waiting["error"] and waiting["title"] == "too_often" and 0 < waiting["duration"] <= 60
    assert "Traceback" not in capsys.readouterr().err


def test_a_client_that_renames_its_session_is_refused_as_its_address(served):
    page, _ = served(searches_per_minute=2, visitors_per_address=2)
    told = [called(page.local_url, "exercise", "lru", "easy", 1, "en", session=f"s{n}") for n in range(6)]
    assert [event for event, _ in told] == ["complete"] * 4 + ["error"] * 2
    assert "Please wait" in told[-1][1]["error"]


DEEP = {"question": {}}
for _ in range(60):
    DEEP = {"question": DEEP}
WRONG = [
    ("judge", [DEEP, "A"], "nested more than 20 deep"),
    ("explain", [[[[]]], ""], "question: Input should be a valid dictionary, got list"),
    ("judge", ["text", "A"], "question: Input should be a valid dictionary, got 'text'"),
    ("judge", [{"question": "Q?", "options": ["a", "b"], "answer": "A"}, 7], "student_answer"),
    ("judge", [{"question": "Q?", "options": ["\ud800", "b"], "answer": "A"}, "A"], "question: the text holds half a"),
    ("solve", ["lru", [1, 2], "en", ""], "parameters"),
    ("solve", [None, {}, "en", ""], "type: Input should be a valid string, got NoneType"),
    ("solve", ["lru", {}, "fr", ""], "language: Input should be 'zh' or 'en', got 'fr'"),
    ("solve", ["lru", {"refs": "7," * 150_000}, "en", ""], "characters, the limit is"),
    ("exercise", ["lru", "easy", "many", "en"], "seed: Input should be a valid integer"),
    ("exercise", ["lru", "easy", 1e300, "en"], "seed"),
    ("grade_trace", ["lru", {}, "rows", "en"], "rows: Input should be a valid list"),
    ("search_textbook", [{"a": 1}, 5], "question: Input should be a valid string, got dict"),
    ("search_kernel", ["page", "ten"], "k: Input should be a valid integer"),
    ("search_kernel", ["page", 31], "k: Input should be less than or equal to 30, got 31"),
    ("set_threshold", ["high", ""], "threshold: Input should be a valid number"),
    ("clear", [5], "conversation: Input should be a valid string"),
    ("ask_kernel", [], "question: Input should be a valid string, got NoneType"),
    ("ask_textbook", [None, "fast"], "question: Input should be a valid string"),
]


@pytest.mark.parametrize(("endpoint", "data", "words"), WRONG)
def test_a_wrong_argument_gets_a_sentence_and_leaves_no_traceback(address, capsys, endpoint, data, words):
    _, body = called(address, endpoint, *data)
    assert words in body["error"]
    assert body["title"] in ("bad_argument", "bad_input")
    assert "Traceback" not in "".join(capsys.readouterr())


def test_an_endpoint_that_breaks_says_so_and_the_log_has_the_reason(served, caplog):
    page, own = served()
    own.textbook = SimpleNamespace(search=lambda *_, **__: {}["boom"])
    assert "Something unexpected happened" in called(page.local_url, "search_textbook", "page", 5)[1]["error"]
    assert "KeyError: 'boom'" in caplog.text


def test_a_plain_call_is_its_addresss_though_gradio_names_a_session_for_it(served):
    page, _ = served(searches_per_minute=2, visitors_per_address=50)
    assert [called(page.local_url, "info")[0] for _ in range(3)] == ["complete", "complete", "error"]
    assert called(page.local_url, "info", session="mine")[0] == "complete"


def test_one_address_can_have_only_its_own_conversations_forgotten():
    kept = Conversations(most=4, of_address=2)
    for name, address in (("a", "one"), ("b", "two"), ("c", "two"), ("d", "two"), ("a", "two")):
        kept.put(name, Conversation(), address)
    assert [kept.get(name) is not None for name in "abcd"] == [True, False, True, True]
    kept.put("e", Conversation(), "three"), kept.put("f", Conversation(), "four")
    assert [kept.get(name) is not None for name in "acdef"] == [False, True, True, True, True], "the oldest of all"


def test_no_call_goes_around_the_lines(address: str):
    """Gradio's own `/run` answers a POST at once, whoever else waits."""
    for name in ("ask_textbook", "exercise", "info"):
        for way in ("run", "api"):
            assert httpx.post(f"{address}gradio_api/{way}/{name}", json={"data": ["q"]}).status_code == 404


def test_a_large_model_writes_as_many_answers_as_it_has_places_and_the_server_composes_more():
    small, large = (ScriptedChat([], abilities=ChatAbilities(4096, True, chain, 4)) for chain in (False, True))
    assert [answers_at_once(4, chat) for chat in (None, small, large)] == [12, 12, 4]


def test_who_waits_for_an_answer_shuts_out_no_search(served, script):
    page, own = served(queue_size=2)
    own.kernel = SimpleNamespace(search=lambda *_, **__: (_ for _ in ()).throw(BadInput("searched")))
    waiting = SimpleNamespace(queue=[object()] * 2, concurrency_limit=0, current_concurrency=0)
    page._queue.event_queue_per_concurrency_id["model"] = waiting
    join = f"{page.local_url}gradio_api/call/ask_textbook"
    for language, words in (("zh-CN,zh", "现在有 2 个请求在排队"), ("en", "2 requests are waiting already")):
        refused = httpx.post(join, json={"data": ["What is a page?"]}, headers={"accept-language": language})
        assert refused.status_code == 429 and words in refused.json()["detail"]
    with pytest.raises(Exception, match="searched"):
        Client(page.local_url, verbose=False).predict("page", api_name="/search_kernel")
