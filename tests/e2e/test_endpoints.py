"""The named endpoints, called as a script would, and ten visitors at once."""

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest
from gradio_client import Client

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

# What each visitor asks and a word that only the right answer's evidence has.
TEN = [
    ("死锁的四个必要条件是什么？", "死锁"),
    ("什么是信号量？", "信号量"),
    ("TLB 有什么作用？", "TLB"),
    ("什么是系统调用？", "系统调用"),
    ("什么是线程？", "线程"),
    ("What is a deadlock?", "deadlock"),
    ("What is a semaphore?", "semaphore"),
    ("Why is a TLB needed?", "TLB"),
    ("What is a system call?", "system call"),
    ("What is a thread?", "thread"),
]


@pytest.fixture
def client(server: Server) -> Client:
    return Client(server.url, verbose=False)


def test_search_gives_pages(client: Client):
    found = client.predict("什么是死锁？", 3, api_name="/search_textbook")
    assert len(found["hits"]) == 3
    assert {"chunk_id", "file_name", "section", "first_page", "last_page", "page_label", "score", "text"} <= set(
        found["hits"][0]
    )


def test_an_answer_comes_whole_with_what_it_cites(client: Client):
    reply = client.predict("什么是信号量？", "fast", api_name="/ask_textbook")
    assert reply["error"] == "" and not reply["refused"]
    assert set(reply["cited"]) <= {passage["number"] for passage in reply["passages"]}
    assert reply["cited"]


def test_a_conversation_streams_typed_events_and_belongs_to_one_visitor(server: Server, client: Client):
    events = list(client.submit("什么是死锁？", "fast", api_name="/chat"))
    kinds = [event["type"] for event in events]
    assert kinds[0] == "retrieval" and kinds[-2:] == ["textbook_done", "done"]
    assert client.predict(api_name="/info")["messages"] == 2
    other = Client(server.url, verbose=False)
    assert other.predict(api_name="/info")["messages"] == 0
    assert client.predict(api_name="/clear")["cleared"] == 2
    assert client.predict(api_name="/info")["messages"] == 0


def test_a_threshold_is_the_visitors_own(server: Server, client: Client):
    client.predict(0.99, api_name="/set_threshold")
    events = list(client.submit("锁的粒度和死锁发生的频率之间到底有什么说不清的关系？", "fast", api_name="/chat"))
    assert any(event["type"] == "textbook_done" and event["refused"] for event in events)
    assert Client(server.url, verbose=False).predict(api_name="/info")["threshold"] == 0.0


def test_bad_arguments_get_a_sentence(client: Client):
    with pytest.raises(Exception, match="threshold: Input should be less than or equal to 1, got 7"):
        client.predict(7, api_name="/set_threshold")
    reply = client.predict("", "fast", api_name="/ask_textbook")
    assert "empty" in reply["error"]


def test_ten_visitors_at_once_each_get_their_own_answer(server: Server):
    def visit(case: tuple[str, str]) -> tuple[str, str, dict]:
        question, word = case
        return question, word, Client(server.url, verbose=False).predict(question, "fast", api_name="/ask_textbook")

    with ThreadPoolExecutor(len(TEN)) as pool:
        for question, word, reply in pool.map(visit, TEN):
            assert reply["error"] == "", (question, reply["error"])
            assert reply["question"] == question
            assert word.lower() in reply["answer"].lower(), (question, reply["answer"])


def test_a_file_of_a_program_is_searched_and_answered_from(client: Client):
    text = "# Quanta\n\nThe ferret scheduler gives every task of the lecture a quantum of 42 milliseconds.\n"
    own = client.predict("notes.md", b64encode(text.encode()).decode(), api_name="/add_material")["material"]
    found = client.predict("ferret scheduler", 3, material=own, api_name="/search_textbook")
    assert found["hits"][0]["file_name"] == "upload/notes.md" and len(found["hits"]) == 3
    question = "How long is the quantum of the ferret scheduler?"
    reply = client.predict(question, material=own, alone=True, api_name="/ask_textbook")
    assert "42" in reply["answer"] and {one["file_name"] for one in reply["passages"]} == {"upload/notes.md"}
    assert "42" in client.predict(question, material=own, api_name="/chat")["text"]
    client.predict(own, api_name="/remove_material")


def test_nothing_but_the_pages_own_port_is_open(server: Server):
    """Every listening socket of the app and its children is the page's."""
    psutil = pytest.importorskip("psutil", reason="psutil is not installed")
    process = psutil.Process(server.process.pid)
    ports = {
        connection.laddr.port
        for one in (process, *process.children(recursive=True))
        for connection in one.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert ports == {int(server.url.rsplit(":", 1)[1])}
