"""What only a browser can show of the page, with scripted runs in the place of models."""

from threading import Semaphore

import pytest
from gradio_client import Client

from osrag.answer.events import Done, Retrieved, SourceDone, Token
from osrag.types import Passage
from osrag.ui.admission import answers_at_once
from osrag.wording import say
from tests.ui.conftest import page_of

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


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_visitor_who_waits_sees_a_place_that_falls(browser, address: str, parts, monkeypatch, language):
    from playwright.sync_api import expect

    ends = Semaphore(0)

    def slow(_parts, _question):
        ends.acquire(timeout=60)
        yield Token("textbook", "A page is a block.")
        yield Done("A page is a block.", (), "extracts")

    for module in ("api", "chat"):
        monkeypatch.setattr(f"osrag.ui.{module}.answer", slow)
    client = Client(address, verbose=False)
    at_once = answers_at_once(parts.settings.slots, None)
    before = [client.submit("q", api_name="/chat") for _ in range(at_once + 2)]
    page = browser.new_page(locale="zh-CN" if language == "zh" else "en-GB")
    page.goto(f"{address}?lang={language}")
    page.wait_for_function(f"document.documentElement.lang === '{language}'")  # greeted: that draws the chat anew
    expect(page.locator("#os-send")).to_have_text(say("send", language), timeout=30_000)
    page.fill("#os-question textarea", "What is a page?")
    page.click("#os-send")
    line = page.locator("#os-chat .meta-text, #os-chat .meta-text-center")
    for place in (3, 2, 1):
        told = say("queue_place", language, place=place, of=place)
        expect(line.first).to_have_attribute("data-place", told, timeout=20_000)
        assert told in line.first.evaluate("one => getComputedStyle(one, '::after').content")
        ends.release()
    for _ in range(at_once):
        ends.release()
    assert all(one.result(timeout=20)["text"] for one in before)
    expect(page.locator("#os-chat .bot").last).to_contain_text("A page is a block.", timeout=20_000)
    page.close()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_upload_that_is_too_large_is_refused_in_the_language_of_the_page(browser, address: str, tmp_path, language):
    from playwright.sync_api import expect

    page = browser.new_page(locale="zh-CN" if language == "zh" else "en-GB")
    page.goto(f"{address}?lang={language}")
    expect(page.locator("#om-add-chat")).to_have_text(say("own_add", language), timeout=30_000)
    expect(page.locator(".os-brand")).to_contain_text(say("tagline", language))
    for size, count in ((101_000_000, 1), (60_000_000, 2)):  # of one file Gradio tells, of all together the server
        paths = [tmp_path / f"{size}-{at}.pdf" for at in range(count)]
        for path in paths:
            with path.open("wb") as file:
                file.truncate(size)
        with page.expect_file_chooser() as chooser:
            page.click("#om-add-chat")
        chooser.value.set_files(paths)
        expect(page.get_by_test_id("toast-text").last).to_have_text(
            say("too_large", language, limit="100 MB"), timeout=60_000
        )
        expect(page.locator(".toast-title").last).to_have_text(say("toast_error", language))
        page.get_by_test_id("toast-close").last.click()
    page.close()


def test_a_button_that_can_do_nothing_says_why(browser, address: str, tmp_path):
    from playwright.sync_api import expect

    page = browser.new_page(locale="en-GB")
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    page.get_by_role("tab", name="Quiz").click()
    file = tmp_path / "practice.json"
    file.write_text("{nonsense", encoding="utf-8")
    said = page.locator(".toast-body")
    page.click("#qz-anki")
    expect(said.filter(has_text="There are no mistakes")).to_be_visible(timeout=20_000)
    page.click("#qz-review")
    expect(said.filter(has_text="Nothing is practised yet")).to_be_visible(timeout=20_000)
    page.locator("#qz-import").locator("xpath=..").locator("input[type=file]").set_input_files(file)
    expect(said.filter(has_text="is no practice")).to_be_visible(timeout=20_000)
    page.locator("#qz-own").get_by_role("button").first.click()
    page.click("#qz-use")
    expect(said.filter(has_text="question: is empty")).to_be_visible(timeout=20_000)
    page.close()


def test_folded_code_opens_one_by_one_and_together_and_stays_open(browser, address: str, script):
    from playwright.sync_api import expect

    blocks = [f"**{n}.** It runs.\n\n```c\n/* kernel/f.c:{n} */\nf{n}();\n```" for n in range(1, 4)]
    script.events = [Token("kernel", "\n\n".join(blocks)), Done("x", (), "prepared")]
    page = browser.new_page(locale="en-GB")
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    page.fill("#os-question textarea", "How does it run?")
    page.click("#os-send")
    folds, opened = page.locator("details.os-fold"), page.locator("details.os-fold[open]")
    expect(folds).to_have_count(3, timeout=20_000)
    expect(opened).to_have_count(0)
    folds.first.locator("summary").click()
    expect(opened).to_have_count(1)
    page.locator('#os-chat a[href="#fold"]').click()
    expect(opened).to_have_count(3)
    page.evaluate("for (const one of document.querySelectorAll('#os-chat .prose')) one.innerHTML = one.innerHTML")
    expect(opened).to_have_count(3)  # as Gradio does with each word that comes
    page.evaluate(
        "for (const one of document.querySelectorAll('#os-chat .prose'))"
        " one.innerHTML = one.innerHTML.replaceAll(' open=\"\"', '')"
    )
    expect(opened).to_have_count(3)
    page.locator('#os-chat a[href="#fold"]').click()
    expect(opened).to_have_count(0)
    page.close()


def test_a_reply_is_copied_as_it_is_read(browser, address: str, script):
    from playwright.sync_api import expect

    blocks = [f"**{n}.** It *runs*. [1]\n\n```c\nf{n}();\n```" for n in range(1, 4)]
    script.events = [Token("kernel", "\n\n".join(blocks)), Done("x", (), "prepared")]
    context = browser.new_context(locale="en-GB", permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    page.fill("#os-question textarea", "How does it run?")
    page.click("#os-send")
    expect(page.locator("details.os-fold")).to_have_count(3, timeout=20_000)
    page.locator('#os-chat .bot-row .message-buttons button[title="Copy"]').click()
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('1. It runs. [1]'))")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "f3();" in copied and not any(mark in copied for mark in ("```", "<details", "#ev-1", "Open or close"))
    expect(page.locator("details.os-fold[open]")).to_have_count(0)
    context.close()


def test_the_citations_of_an_earlier_answer_lead_to_no_card_of_a_later_one(browser, address: str, script):
    from playwright.sync_api import expect

    passages = (Passage(1, page_of("en"), 0.9, 0.87),)
    page = browser.new_page(locale="en-GB")
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    for count, said in enumerate(("It is a page. [1]", "It is a frame. [1]"), start=1):
        script.events = [
            Retrieved("textbook", passages, "one"),
            Token("textbook", said),
            SourceDone("textbook", said, (1,), "prepared", ()),
            Done(said, (1,), "prepared"),
        ]
        page.fill("#os-question textarea", "What is it?")
        page.click("#os-send")
        expect(page.locator("#os-chat .bot-row")).to_have_count(count, timeout=20_000)
        expect(page.locator('#os-chat a[href="#ev-1"]')).to_have_count(1, timeout=20_000)
        expect(page.locator("#os-chat .bot-row").last).to_contain_text(said)
        expect(page.locator("#os-send")).to_be_visible(timeout=20_000)
    first = page.locator("#os-chat .bot-row").first
    expect(first.locator("a")).to_have_count(0)
    first.locator("summary", has_text="Evidence").click()
    expect(first.locator("details li")).to_contain_text("7.3.4 Least recently used")
    page.close()


def test_on_a_phone_a_citation_leads_to_its_evidence_and_back(browser, address: str, script):
    from playwright.sync_api import expect

    passages = tuple(Passage(n, page_of("en"), 0.9, 0.87) for n in range(1, 6))
    said = "It evicts the page that was used least recently. [1]"
    script.events = [Retrieved("textbook", passages, "one"), Token("textbook", said), Done("x", (1,), "prepared")]
    page = browser.new_page(locale="en-GB", viewport={"width": 390, "height": 844})
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    page.fill("#os-question textarea", "What is LRU?")
    page.click("#os-send")
    page.locator('#os-chat a[href="#ev-1"]').click(timeout=20_000)
    expect(page.locator("#ev-1")).to_be_in_viewport()
    expect(page.locator("#os-back")).to_have_text("Back to the citation")
    page.click("#os-back")
    expect(page.locator('#os-chat a[href="#ev-1"]')).to_be_in_viewport()
    expect(page.locator("#os-back")).to_have_count(0)
    page.close()


def test_a_phone_has_room_for_fingers_and_all_tabs(browser, address: str, script):
    from playwright.sync_api import expect

    page = browser.new_page(locale="en-GB", viewport={"width": 390, "height": 844})
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    for name in ("Ask", "Quiz", "Lab", "Material", "Measured"):
        expect(page.get_by_role("tab", name=name, exact=True)).to_be_visible()
    high = "[...document.querySelectorAll('button.sm, #os-source label')].filter((one) => one.offsetParent)"
    assert page.evaluate(f"Math.min(...{high}.map((one) => one.offsetHeight))") >= 40
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    assert page.locator("footer img").evaluate_all("all => all.every((one) => !one.offsetParent)")
    page.get_by_role("tab", name="Quiz").click()
    expect(page.locator("#qz-pick")).to_be_visible()
    assert page.locator("#qz-pick").evaluate("one => one.offsetWidth") > 340
    page.close()


def test_on_a_small_screen_most_of_the_page_is_conversation(browser, address: str):
    from playwright.sync_api import expect

    page = browser.new_page(locale="en-GB", viewport={"width": 1366, "height": 768})
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
    assert page.locator("#os-chat").evaluate("one => one.offsetHeight") >= 460
    for button in ("#os-send", "#om-add-chat", "#os-again-row"):
        expect(page.locator(button)).to_be_in_viewport(ratio=1)
    page.close()


def test_light_or_dark_stays_as_it_was_chosen(browser, address: str):
    from playwright.sync_api import expect

    context = browser.new_context(locale="en-GB", color_scheme="light")
    page = context.new_page()
    for dark in (True, False):
        page.goto(f"{address}?lang=en")
        expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
        page.click("#os-theme")
        page.reload()
        expect(page.locator("#os-send")).to_have_text("Ask", timeout=30_000)
        page.wait_for_function(f"document.body.classList.contains('dark') === {str(dark).lower()}")
    context.close()


def test_a_visitor_sees_no_other_language_first(browser, address: str):
    from playwright.sync_api import expect

    page = browser.new_page(locale="en-GB")
    page.add_init_script(
        "window.seen = new Set(); const look = () => { const one = document.querySelector('#os-send');"
        " if (one && getComputedStyle(one).visibility === 'visible') window.seen.add(one.innerText);"
        " requestAnimationFrame(look); }; look();"
        # After five seconds the page is shown as it is; a busy machine may need longer for the words.
        "document.addEventListener('DOMContentLoaded', () => document.head.insertAdjacentHTML('beforeend',"
        " '<style>html.os-waits .main { animation: none !important }</style>'));"
    )
    page.goto(f"{address}?lang=en")
    expect(page.locator("#os-send")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(500)
    assert page.evaluate("[...window.seen]") == ["Ask"]
    page.close()


def test_the_names_of_gradio_s_buttons_follow_the_language(browser, address: str, script):
    from playwright.sync_api import expect

    script.events = [Token("textbook", "页是一块。\n\n```c\nint page;\n```"), Done("x", (), "extracts")]
    page = browser.new_page(locale="zh-CN")
    page.goto(f"{address}?lang=zh")
    expect(page.locator("#os-send")).to_have_text("提问", timeout=30_000)
    page.fill("#os-question textarea", "页是什么？")
    page.click("#os-send")
    buttons = page.locator("#os-chat .message-buttons button:visible, #os-chat .copy_code_button")
    expect(buttons.first).to_be_visible(timeout=20_000)
    for language, name in (("zh", "复制"), ("en", "Copy")):
        expect(buttons.first).to_have_attribute("title", name)
        names = buttons.evaluate_all("all => all.flatMap((one) => [one.title, one.ariaLabel]).filter(Boolean)")
        assert all(any(ord(char) > 0x2E80 for char in one) == (language == "zh") for one in names), names
        page.click("#os-language")
    page.close()


def test_every_event_that_may_tell_something_passes_the_queue(page):
    code = [(fn, getattr(fn.fn, "__code__", None)) for fn in page.fns.values()]
    telling = [fn for fn, known in code if known and {"Info", "Warning"} & set(known.co_names)]
    assert len(telling) > 5 and all(fn.queue is not False for fn in telling)
