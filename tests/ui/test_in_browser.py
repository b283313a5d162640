"""What only a browser can show of the page, with scripted runs in the place of models."""

import pytest

from osrag.answer.events import Done, Token

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_after_a_fault_the_student_reads_a_sentence_and_asks_again(browser, address: str, script):
    from playwright.sync_api import expect

    script.events = [RuntimeError("boom")]
    page = browser.new_page(locale="en-GB")
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    page.fill("#os-question textarea", "What is a page?")
    page.click("#os-send")
    expect(page.locator("#os-chat .bot").last).to_contain_text("Something unexpected happened", timeout=20_000)
    expect(page.locator("#os-send")).to_be_visible(timeout=20_000)
    expect(page.locator("#os-stop")).to_be_hidden()
    script.events = [Token("textbook", "A page is a block."), Done("A page is a block.", (), "extracts")]
    page.fill("#os-question textarea", "What is a page?")
    page.click("#os-send")
    expect(page.locator("#os-chat .bot").last).to_contain_text("A page is a block.", timeout=20_000)
    assert "boom" not in page.content()
    page.close()
