"""Kernel questions with the real index and models: prompt size, endpoints, the code panel in a browser."""

from pathlib import Path

import pytest
from gradio_client import Client

from osrag.answer.events import Done, Retrieved, SourceDone
from osrag.answer.source import Question
from osrag.answer.workflow import warm_up
from osrag.app.parts import Parts
from osrag.app.run import answer
from osrag.settings import load_settings
from tests.e2e.conftest import Server, need_weights
from tests.e2e.test_page import ANSWER_MS, ask, reply

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
LOGS = Path(__file__).parents[2] / "examples" / "logs"


@pytest.fixture(scope="module")
def parts():
    need_weights()
    made = Parts(load_settings())
    warm_up(made.kernel_source, made.chat)
    yield made
    made.chat.close()


@pytest.mark.parametrize(
    ("question", "function"),
    [("do_anonymous_page 做什么？", "do_anonymous_page"), ("What does try_to_wake_up do?", "try_to_wake_up")],
)
def test_an_answer_asks_no_small_model(parts: Parts, question: str, function: str):
    for event in answer(parts, Question(question, source="kernel", effort="fast")):
        if isinstance(event, Retrieved) and event.source == "kernel":
            assert function in [getattr(passage.chunk, "name", "") for passage in event.passages]  # beside a page
        if isinstance(event, SourceDone):
            assert not event.refused and event.cited
    assert isinstance(event, Done)
    assert event.how in ("prepared", "composed")


@pytest.fixture
def client(server: Server) -> Client:
    return Client(server.url, verbose=False)


def test_search_gives_functions_by_file(client: Client):
    found = client.predict("try_to_wake_up 做什么？", 5, api_name="/search_kernel")
    chunk = found["retrieved_files"][0]["chunks"][0]
    assert chunk["function_name"] == "try_to_wake_up" and chunk["start_line"] < chunk["end_line"]


def test_an_explanation_comes_whole_with_links_and_calls(client: Client):
    made = client.predict(
        "How does the kernel handle a page fault on anonymous memory?", "fast", api_name="/ask_kernel"
    )
    assert made["error"] == "" and not made["refused"] and "```c" in made["answer"]
    version = made["kernel_version"]
    code = [passage for passage in made["passages"] if "function_name" in passage]
    assert code and all(f"/linux/v{version}/source/" in passage["url"] for passage in code)
    assert set(made["cited"]) <= {passage["number"] for passage in made["passages"]}


def test_both_parts_in_one_reply(client: Client):
    events = list(client.submit("什么是信号量？", "fast", "both", api_name="/chat"))
    kinds = [event["type"] for event in events]
    assert kinds.index("textbook_done") < kinds.index("code_retrieval") < kinds.index("code_done")
    assert kinds[-1] == "done" and "相关源代码" in events[-1]["text"]
    numbers = [passage["number"] for event in events if "passages" in event for passage in event["passages"]]
    first = {p["number"] for e in events if e["type"] == "retrieval" for p in e["passages"]}
    assert first.isdisjoint({p["number"] for e in events if e["type"] == "code_retrieval" for p in e["passages"]})
    assert numbers


def test_a_log_goes_to_the_log_reader_whatever_the_source(client: Client):
    log = (LOGS / "divide-error.txt").read_text(encoding="utf-8")
    events = list(client.submit(f"这是什么错误？\n{log}", "fast", "textbook", api_name="/chat"))
    assert all(part in events[-1]["text"] for part in ("问题分析", "解决方案", "lab_average"))


def test_callers_callees_and_definition_lead_from_function_to_function(client: Client):
    (found,) = client.predict("copy_page_range", "", api_name="/definition")["found"]
    assert found["file"] == "mm/memory.c" and "copy_p4d_range" in found["code"]
    (caller,) = client.predict("copy_page_range", "", api_name="/callers")["found"]
    assert caller["name"] == "dup_mmap" and "copy_page_range(" in caller["lines"][0]["text"]
    assert "exit_mm" in [one["name"] for one in client.predict("do_exit", "", api_name="/callees")["found"]]


def test_info_lists_the_kernel_collections(client: Client):
    collections = client.predict(api_name="/info")["collections"]
    assert {"textbook", "kernel_chunks", "kernel_files", "mm_chunks", "mm_files"} <= set(collections)


def choose(page, source: str) -> None:
    page.locator("#os-source label").nth(["auto", "textbook", "kernel", "both"].index(source)).click()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1360, 390])
def test_code_stands_beside_the_explanation(browser, server: Server, width: int):
    from playwright.sync_api import expect

    context = browser.new_context(viewport={"width": width, "height": 900}, locale="zh-CN")
    page = context.new_page()
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2] if "//" in request.url else ""))
    page.goto(f"{server.url}/?lang=zh")
    expect(page.locator("#os-question textarea")).to_be_visible(timeout=30_000)
    page.wait_for_function("document.documentElement.lang === 'zh'")
    choose(page, "kernel")
    ask(page, "写时复制在缺页时是怎样实现的？")
    expect(page.locator(".ev-code").first).to_be_visible(timeout=20_000)
    expect(page.locator(".cd-figure svg")).to_be_visible()
    expect(page.locator("#os-chat .bot").last).to_contain_text("写时复制缺页", timeout=ANSWER_MS)
    expect(page.locator("#os-stop")).to_be_hidden(timeout=ANSWER_MS)
    assert "do_wp_page" in reply(page)
    card = page.locator(".ev-code.is-cited").first
    marked = card.locator(".cd-box .cd-line").first
    assert int(marked.get_attribute("data-n")) > 0
    assert not marked.inner_text().strip().startswith(marked.get_attribute("data-n"))  # numbers are not copied
    assert card.locator("a.cd-link").get_attribute("href").startswith("https://elixir.bootlin.com/linux/v")
    card.locator("summary").click()
    assert card.locator(".cd-line.is-marked").count() >= 1
    card.locator(".cd-reach").last.click()  # what it calls, and of the first of these again who calls it
    expect(card.locator(".cd-reached .cd-one .cd-name").first).to_be_visible(timeout=10_000)
    card.locator(".cd-one .cd-reach").first.click()
    expect(card.locator(".cd-one .cd-reached .cd-one").first).to_be_visible(timeout=10_000)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    assert all(host.startswith("127.0.0.1") or not host for host in hosts), hosts
    context.close()
