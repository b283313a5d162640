"""The page in headless Chromium, with the real models: what a student does in the first five minutes."""

from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from osrag.wording import say
from tests.e2e.conftest import Server

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]
ANSWER_MS = 240_000  # two busy cores; speed itself is measured in bench/


@pytest.fixture
def page(browser: Browser, server: Server):
    context = browser.new_context(viewport={"width": 1360, "height": 900}, locale="zh-CN")
    page = context.new_page()
    page.hosts = set()
    page.on("request", lambda request: page.hosts.add(urlparse(request.url).hostname))
    page.goto(f"{server.url}/?lang=zh")
    expect(page.locator("#os-question textarea")).to_be_visible(timeout=30_000)
    page.wait_for_function("document.documentElement.lang === 'zh'")
    yield page
    context.close()


def ask(page: Page, question: str) -> None:
    """Send a question and wait until it stands in the conversation."""
    asked = page.locator("#os-chat .message.user").count()
    page.fill("#os-question textarea", question)
    page.click("#os-send")
    expect(page.locator("#os-chat .message.user")).to_have_count(asked + 1, timeout=20_000)


def reply(page: Page) -> str:
    return page.locator("#os-chat .bot").last.inner_text()


def finished(page: Page) -> None:
    """The last answer is whole: it no longer says that it is searching, and the next question may come."""
    expect(page.locator("#os-chat .bot").last).not_to_contain_text("正在检索教材", timeout=ANSWER_MS)
    expect(page.locator("#os-stop")).to_be_hidden(timeout=ANSWER_MS)
    expect(page.locator("#os-send")).to_be_visible(timeout=ANSWER_MS)


def test_a_chinese_question_streams_its_answer_beside_its_evidence(page: Page):
    ask(page, "死锁的四个必要条件是什么？")
    expect(page.locator(".ev-card").first).to_be_visible(timeout=20_000)
    finished(page)
    assert "循环等待" in reply(page) and "已备好的回答" in reply(page)
    assert page.locator('#os-chat a[href^="#ev-"]').count() >= 1
    card = page.locator(".ev-card.is-cited").first
    for part in (".ev-title", ".ev-where", ".ev-score"):
        assert card.locator(part).inner_text().strip()
    assert page.locator(".ev-times").is_visible()


def test_a_citation_opens_its_page_with_the_passage_marked(page: Page):
    ask(page, "什么是临界区？")
    finished(page)
    page.locator('#os-chat a[href^="#ev-"]').first.click()
    picture = page.locator(".ev-picture img").first
    expect(picture).to_be_visible(timeout=20_000)
    assert picture.evaluate("image => image.naturalWidth") > 300
    assert marked_pixels(picture) > 200
    picture.click()
    expect(page.locator("#os-zoom img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#os-zoom")).to_have_count(0)


def marked_pixels(picture) -> int:
    """Pixels in the colour of a text marker on paper."""
    return picture.evaluate(
        """image => {
            const canvas = document.createElement('canvas');
            canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
            const context = canvas.getContext('2d');
            context.drawImage(image, 0, 0);
            const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
            let found = 0;
            for (let i = 0; i < data.length; i += 4)
                if (data[i] > 235 && data[i + 1] > 215 && data[i + 2] < 210 && data[i + 2] > 120) found++;
            return found;
        }"""
    )


def test_stop_ends_the_answer_and_the_next_question_works(page: Page):
    page.click("#os-options")
    page.get_by_label(say("effort_deep", "zh")).check()  # the model plans and judges first: long enough to be stopped
    ask(page, "银行家算法拒绝一个请求之后，进程怎么办？")
    with page.expect_response(
        lambda reply: "cancel" in reply.url, timeout=ANSWER_MS
    ):  # once the call that runs is over
        page.click("#os-stop", timeout=10_000)
    expect(page.locator("#os-send")).to_be_visible(timeout=10_000)
    page.wait_for_timeout(1500)
    stopped = reply(page)
    page.wait_for_timeout(2500)
    assert reply(page) == stopped
    page.get_by_label(say("effort_fast", "zh")).check()
    ask(page, "什么是信号量？")
    finished(page)
    assert "信号量" in reply(page)


def test_a_follow_up_knows_what_it_is_about(page: Page):
    ask(page, "什么是信号量？")
    finished(page)
    ask(page, "它和互斥锁有什么区别？")
    finished(page)
    assert page.locator(".ev-queries").inner_text().count("信号量") >= 1
    assert page.locator("#os-chat .message.user").count() == 2


def test_an_off_topic_question_is_refused_with_a_way_on(page: Page):
    ask(page, "红烧肉怎么做才不腻？")
    finished(page)
    assert "没有找到" in reply(page)
    assert page.locator(".ev-card").count() == 0


@pytest.mark.parametrize(("question", "sentence"), [("   ", "问题是空的"), ("内" * 20_000, "20000 个字符")])
def test_a_question_out_of_bounds_gets_a_sentence_and_the_next_one_works(page: Page, question: str, sentence: str):
    ask(page, question)
    expect(page.locator("#os-chat .bot").last).to_contain_text(sentence, timeout=20_000)
    finished(page)
    assert "Traceback" not in page.content()


def test_the_page_speaks_english_and_goes_dark(page: Page):
    page.click("#os-language")
    expect(page.locator("#os-send")).to_have_text("Ask")
    expect(page.locator(".ev-empty")).to_contain_text("After a question")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#os-theme")
    page.wait_for_timeout(400)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_clear_forgets_the_conversation(page: Page):
    ask(page, "红烧肉怎么做才不腻？")
    finished(page)
    page.click("#os-clear")
    expect(page.locator("#os-chat .bot")).to_have_count(0)
    expect(page.locator(".ev-empty")).to_be_visible()


def test_nothing_is_asked_of_another_host(page: Page):
    ask(page, "红烧肉怎么做才不腻？")
    finished(page)
    assert page.hosts <= {"127.0.0.1", None, ""}, page.hosts


def test_a_phone_needs_no_sideways_scroll(browser: Browser, server: Server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="zh-CN")
    page = context.new_page()
    page.goto(f"{server.url}/?lang=zh")
    expect(page.locator("#os-send")).to_be_visible(timeout=30_000)
    ask(page, "红烧肉怎么做才不腻？")
    finished(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    context.close()
