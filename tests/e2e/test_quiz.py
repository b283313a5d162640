"""The quiz tab in headless Chromium and its endpoints, with the real models."""

import pytest
from gradio_client import Client
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]
WAIT_MS = 240_000
CASE = {
    "type": "single_choice",
    "question": "决定哪些作业可以从外存进入内存的是哪一级调度？",
    "options": {"A": "短程调度", "B": "长程调度", "C": "中程调度", "D": "磁盘调度"},
    "answer": "B",
}


@pytest.fixture
def page(browser: Browser, server: Server):
    context = browser.new_context(viewport={"width": 1360, "height": 900}, locale="zh-CN")
    page = context.new_page()
    page.goto(f"{server.url}/?lang=zh")
    expect(page.locator("#os-question textarea")).to_be_visible(timeout=30_000)
    page.wait_for_function("document.documentElement.lang === 'zh'")
    page.get_by_role("tab", name="练习").click()
    expect(page.locator("#qz-grade")).to_be_visible()
    yield page
    context.close()


def pick(page: Page, box: str, words: str) -> None:
    page.click(f"{box} input")
    page.fill(f"{box} input", "")
    page.keyboard.type(words)  # the list narrows by keys, not by a value that is set
    page.locator("ul[role=listbox] li", has_text=words).first.click()


def test_a_choice_is_graded_by_its_key_and_the_mistake_is_listed(page: Page):
    pick(page, "#qz-pick", "ch03-001")
    expect(page.locator("#qz-radio label").first).to_be_visible()
    page.locator("#qz-radio label").first.click()
    page.click("#qz-grade")
    expect(page.locator(".qz-head.is-wrong")).to_be_visible(timeout=5_000)
    expect(page.locator("#qz-evidence .ev-card").first).to_be_visible(timeout=20_000)
    expect(page.locator("#qz-grade")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".qz-mistake")).to_have_count(1, timeout=10_000)
    assert page.locator(".qz-options li").count() == 4
    page.locator("#qz-evidence .ev-page").first.click()
    expect(page.locator("#qz-evidence .ev-picture img").first).to_be_visible(timeout=20_000)
    assert page.locator("a.qz-download").get_attribute("href").startswith("data:text/csv")
    page.locator(".qz-more").first.click()
    expect(page.locator(".qz-verdict")).to_have_count(0)


def test_the_quiz_opens_with_a_question_and_hints_come_one_by_one_by_keyboard(browser: Browser, server: Server):
    context = browser.new_context(viewport={"width": 1360, "height": 900}, locale="zh-CN")
    page = context.new_page()
    page.goto(f"{server.url}/?lang=zh&quiz=ch05-001")
    expect(page.locator(".qz-question")).to_contain_text("必要条件", timeout=30_000)
    page.wait_for_function("document.documentElement.lang === 'zh'")
    page.keyboard.press("h")
    expect(page.get_by_text("先写下自己的答案")).to_be_visible(timeout=10_000)
    page.keyboard.press("2")
    expect(page.locator("#qz-radio input").nth(1)).to_be_checked()
    for number, rung in enumerate(("想一想", "读这一段", "先缺的一点", "同类题"), start=1):
        page.keyboard.press("h")
        expect(page.locator("#qz-hints")).to_contain_text(f"{number}. ", timeout=20_000)
        expect(page.locator("#qz-hints")).to_contain_text(rung)
        expect(page.locator("#qz-stop")).to_be_hidden(timeout=20_000)
    page.keyboard.press("Enter")
    expect(page.locator(".qz-head.is-wrong")).to_be_visible(timeout=10_000)
    expect(page.locator("#qz-progress")).to_contain_text("练过 1", timeout=20_000)
    page.reload()  # what was practised is in the browser, not on the server
    expect(page.locator("#qz-progress")).to_contain_text("第 5 章", timeout=30_000)
    with page.expect_download() as file:
        page.click("#qz-practice button >> nth=0")
    assert file.value.suggested_filename == "osrag-practice.json"
    context.close()


def test_the_chip_of_a_computed_exercise_opens_it_in_the_lab(page: Page):
    pick(page, "#qz-pick", "ch03-017")
    expect(page.locator("#qz-radio label").first).to_be_visible()
    page.locator("#qz-radio label").first.click()
    page.click("#qz-grade")
    page.locator("a.lb-open").first.click(timeout=WAIT_MS)
    expect(page.locator("#lb-jobs")).to_have_value("P1 0 6\nP2 1 4\nP3 3 2\nP4 4 3", timeout=20_000)
    expect(page.locator(".lb-answer strong")).to_contain_text("10.25")
    page.get_by_role("tab", name="练习").first.click()
    expect(page.locator(".qz-verdict")).to_be_visible()  # the quiz is as it was left


def test_a_question_shown_while_another_is_graded_is_graded_itself(page: Page):
    pick(page, "#qz-pick", "ch03-001")
    expect(page.locator("#qz-radio label").first).to_be_visible()
    page.click("#qz-grade")
    expect(page.get_by_text("先选一个答案或写下答案")).to_be_visible(timeout=10_000)  # and nothing is graded
    page.locator("#qz-radio label").first.click()
    page.click("#qz-grade")
    expect(page.locator(".qz-verdict")).to_be_visible(
        timeout=20_000
    )  # its run goes on, and must not write over what follows
    page.locator("#qz-own").get_by_role("button").first.click()
    page.fill("#qz-own-question textarea", "死锁的必要条件不包括哪一个？")
    page.fill("#qz-own-options textarea", "互斥\n抢占\n循环等待")
    page.fill("#qz-own-answer textarea, #qz-own-answer input", "B")
    page.click("#qz-use")
    expect(page.locator("#qz-radio label")).to_have_count(3)
    page.locator("#qz-radio label").nth(1).click()
    page.click("#qz-grade")
    expect(page.locator(".qz-head.is-right")).to_be_visible(timeout=5_000)
    expect(page.locator("#qz-grade")).to_be_visible(timeout=WAIT_MS)


def test_a_phone_needs_no_sideways_scroll(browser: Browser, server: Server):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{server.url}/?lang=en")
    expect(page.locator("#os-send")).to_be_visible(timeout=30_000)
    page.get_by_role("tab", name="Quiz").click()
    page.click("#qz-random")
    expect(page.locator(".qz-question")).to_be_visible(timeout=10_000)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    context.close()


def test_endpoints(server: Server):
    client = Client(server.url, verbose=False)
    found = client.predict(CASE, "选 b", api_name="/judge")
    assert found["isCorrect"] and found["decidedBy"] == "key" and found["evidence"]
    told = client.predict(CASE, "A", api_name="/explain")
    assert told["explanation"] and told["passages"]
    with pytest.raises(Exception, match=r"no options|没有选项"):
        client.predict({"type": "single_choice", "question": "?"}, "A", api_name="/judge")
