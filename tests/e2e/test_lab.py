"""The lab tab in headless Chromium: a prepared link, a changed number, steps by key, a trace with a mistake."""

import json

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]
LINK = "lang=en&lab=lru&frames=3&refs=7,0,1,2,0,3,0,1"
AT_ONCE_MS = 2_000  # the browser, its wait after a key and a busy machine included


def opened(browser: Browser, server: Server, query: str, width: int = 1280) -> Page:
    page = browser.new_context(
        viewport={"width": width, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    ).new_page()
    page.goto(f"{server.url}/?{query}")
    return page


@pytest.fixture
def page(browser: Browser, server: Server):
    page = opened(browser, server, LINK)
    expect(page.locator(".lb-answer strong")).to_have_text("6", timeout=30_000)
    page.wait_for_function("document.documentElement.lang === 'en'")
    yield page
    page.context.close()


def shown_steps(page: Page) -> int:
    """How many groups of the drawing are to be seen."""
    groups = "[...document.querySelectorAll('.lb-canvas g[data-step]')]"
    return page.evaluate(f"{groups}.filter((one) => one.style.visibility !== 'hidden').length")


def test_a_changed_number_changes_the_answer_and_the_link(page: Page):
    page.fill("#lb-frames", "4")
    expect(page.locator(".lb-answer strong")).to_have_text("5", timeout=AT_ONCE_MS)
    page.click("[data-act=link]")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "lab=lru" in copied and "frames=4" in copied and "refs=7,0,1,2,0,3,0,1" in copied


def test_a_fault_stands_at_its_field_and_the_last_result_stays(page: Page):
    page.fill("#lb-frames", "0")
    expect(page.locator("#lb-fault-frames")).to_contain_text("at least 1", timeout=AT_ONCE_MS)
    expect(page.locator(".lb-answer strong")).to_have_text("6")
    page.fill("#lb-frames", "3")
    expect(page.locator("#lb-fault-frames")).to_be_hidden(timeout=AT_ONCE_MS)


def test_steps_play_by_key_and_button(page: Page):
    whole = shown_steps(page)
    page.locator(".lb-figure").focus()
    page.keyboard.press("Home")
    assert page.locator(".lb-figure output").inner_text().startswith("0 /")
    nothing = shown_steps(page)
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert nothing < shown_steps(page) < whole
    expect(page.locator(".lb-say")).to_contain_text("Page 0")
    expect(page.locator(".lb-steps .is-now")).to_have_attribute("data-at", "2")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".lb-figure output").inner_text().startswith("1 /")
    page.click("[data-play=last]")
    assert shown_steps(page) == whole
    page.locator("#lb-refs").focus()
    page.keyboard.press("ArrowLeft")  # moves the cursor, not the drawing
    assert shown_steps(page) == whole


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_drawing_is_downloaded(page: Page, kind: str):
    with page.expect_download() as waiting:
        page.click(f"[data-tool={kind}]")
    path = waiting.value.path()
    assert waiting.value.suggested_filename == f"osrag-lru.{kind}"
    assert path.read_bytes().startswith(b"<svg" if kind == "svg" else b"\x89PNG") and path.stat().st_size > 2_000


def test_the_table_is_copied(page: Page):
    page.click("[data-tool=markdown]")
    assert page.evaluate("navigator.clipboard.readText()").startswith("| page |")


def test_the_book_and_linux_stand_below(page: Page):
    expect(page.locator(".lb-voices .ev-section").first).to_contain_text("7.3.4 Least recently used", timeout=20_000)
    expect(page.locator(".lb-voices .cd-link").first).to_contain_text("mm/")
    page.locator(".lb-voices .ev-page").first.click()
    expect(page.locator(".lb-voices .ev-picture img").first).to_be_visible(timeout=30_000)


def test_the_form_follows_the_language(page: Page):
    page.fill("#lb-frames", "4")
    page.click("#os-language")
    expect(page.locator(".lb-answer span")).to_have_text("缺页次数", timeout=10_000)
    expect(page.locator("#lb-frames")).to_have_value("4")


def test_a_wrong_trace_is_told_where_and_why(browser: Browser, server: Server):
    page = opened(browser, server, "lang=en&lab=lru&exercise=easy-1")
    row = page.locator(".lb-trace tbody tr").first
    expect(row).to_be_visible(timeout=30_000)
    first = json.loads(page.evaluate("JSON.stringify(document.querySelector('.qz-question').textContent)"))
    page.wait_for_function("document.documentElement.lang === 'en'")
    row.locator("input").nth(0).fill("99")
    page.click("[data-act=check]")
    expect(page.locator(".qz-verdict")).to_contain_text('you wrote "99"', timeout=5_000)
    expect(page.locator(".lb-trace .is-bad")).to_have_count(1)
    expect(page.locator(".lb-verdict .ev-section")).to_contain_text("7.3.4")
    page.click(".lb-choices summary")
    page.locator("[name=lb-choice]").first.check()
    expect(page.locator(".qz-verdict")).to_contain_text("The answer is", timeout=5_000)
    page.click("[data-act=solution]")
    expect(page.locator(".lb-shown .lb-answer")).to_be_visible(timeout=5_000)
    page.click("[data-act=twin]")
    expect(page.locator(".qz-question")).not_to_have_text(first, timeout=5_000)
    page.context.close()


@pytest.mark.parametrize("kind", ["rr", "banker", "scan", "lru", "inode", "raid", "translate", "fork", "buddy"])
def test_a_phone_needs_no_sideways_scroll(browser: Browser, server: Server, kind: str):
    page = opened(browser, server, f"lang=zh&lab={kind}", width=390)
    expect(page.locator(".lb-answer")).to_be_visible(timeout=30_000)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    page.context.close()


def test_a_pasted_exercise_is_read_and_the_text_stays(page: Page):
    page.click(".lb-paste summary")
    page.fill(".lb-paste textarea", "某进程有 4 个页框，采用 FIFO 算法，页面引用串为 1,2,3,4,1,2,5，求缺页次数。")
    page.click("[data-act=read]")
    expect(page.locator("#lb-refs")).to_have_value("1,2,3,4,1,2,5", timeout=5_000)
    expect(page.locator("#lb-frames")).to_have_value("4")
    expect(page.locator(".lb-kind")).to_have_value("fifo")
    expect(page.locator(".lb-readings [aria-pressed=true]")).to_have_count(1)
    expect(page.locator(".lb-paste textarea")).to_have_value(
        "某进程有 4 个页框，采用 FIFO 算法，页面引用串为 1,2,3,4,1,2,5，求缺页次数。"
    )


def test_an_exercise_in_the_chat_is_computed_and_opens_in_the_lab(browser: Browser, server: Server):
    page = opened(browser, server, "lang=en")
    page.wait_for_function("document.documentElement.lang === 'en'")
    page.fill("#os-question textarea", "3 frames, LRU, references 7, 0, 1, 2, 0, 3, 0, 1: how many page faults?")
    page.click("#os-send")
    expect(page.locator("#os-chat .bot table")).to_be_visible(timeout=20_000)
    expect(page.locator("#os-evidence .ev-card").first).to_be_visible()
    page.locator("#os-chat .bot a", has_text="Play the steps").click()
    expect(page.locator("#lb-refs")).to_have_value("7,0,1,2,0,3,0,1", timeout=20_000)
    expect(page.locator(".lb-answer strong")).to_have_text("6")
    page.context.close()
