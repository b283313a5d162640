"""A visitor's own files in headless Chromium: brought, asked, opened, deleted, and never seen by another visitor."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from osrag.wording import say
from tests.e2e.conftest import Server
from tests.pdfs import make_pdf, text

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]
WAIT_MS = 240_000  # two busy cores
FERRET = [
    "The ferret scheduler gives every task of the lecture a quantum of 42 milliseconds.",
    "A task that is the last of its group waits for the badger queue to be empty.",
]
QUESTION = {
    "en": "How long is the quantum of the ferret scheduler?",
    "zh": "ferret scheduler 的 quantum 有多长？",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("own")
    lines = [text(72, 300 + 20 * place, line) for place, line in enumerate(FERRET)]
    notes = folder / "notes.md"
    notes.write_text("# Badger queue\n\nThe badger queue is emptied once a minute by the sweeper.\n")
    bad = folder / "old.doc"
    bad.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600)
    return [make_pdf(folder / "ferret.pdf", [lines]), notes, bad]


def visitor(browser: Browser, server: Server, language: str, **viewport: int) -> Page:
    page = browser.new_context(viewport=viewport or {"width": 1280, "height": 900}).new_page()
    page.goto(f"{server.url}/?lang={language}")
    expect(page.locator("#om-add-chat")).to_be_visible(timeout=60_000)
    page.wait_for_function(f"document.documentElement.lang === '{language}'")
    return page


def tab(page: Page, key: str, language: str) -> None:
    page.get_by_role("tab", name=say(key, language)).click()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_files_are_brought_asked_opened_and_deleted(browser: Browser, server: Server, files: list[Path], language: str):
    page, other = visitor(browser, server, language), visitor(browser, server, language)
    tab(page, "tab_material", language)
    expect(page.locator(".om-about")).to_contain_text("1,000")
    with page.expect_file_chooser() as chooser:
        page.click("#om-add")
    chooser.value.set_files(files)
    expect(page.locator(".om-file.is-ready")).to_have_count(2, timeout=WAIT_MS)
    expect(page.locator(".om-file.is-failed")).to_contain_text("old.doc", timeout=WAIT_MS)
    tab(page, "tab_chat", language)
    page.locator("#om-reach label").filter(has_text=say("own_reach_alone", language)).click()
    page.fill("#os-question textarea", QUESTION[language])
    page.click("#os-send")
    card = page.locator(".ev-card").filter(has_text="ferret.pdf").first
    expect(card).to_contain_text(say("own_badge", language), timeout=WAIT_MS)
    expect(page.locator("#os-chat .bot").last).to_contain_text("42", timeout=WAIT_MS)
    assert page.locator(".ev-card").filter(has_text="os-course").count() == 0
    card.locator(".ev-page").click()
    expect(card.locator(".ev-picture img")).to_be_visible(timeout=60_000)
    expect(other.locator("#om-reach")).to_be_hidden()
    tab(page, "tab_material", language)
    page.click("#om-forget")
    expect(page.locator(".om-none")).to_be_visible(timeout=20_000)
    for one in (page, other):
        one.context.close()
