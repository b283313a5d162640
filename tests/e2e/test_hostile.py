"""HTML and scripts in all that a stranger may write: Chromium shows them as text, and nothing of them runs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import ROOT, free_port, need_weights, wait_for
from tests.large.faulty_server import faulty

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(600)]
WAIT_MS = 60_000
KEY = "the instructor"
# Each sets `window.pwned` where it runs, and has the class `pwn` where it becomes an element.
ATTACKS = (
    "<script class=pwn>window.pwned='script'</script>",
    "<img class=pwn src=x onerror=\"window.pwned='img'\">",
    "<svg class=pwn onload=\"window.pwned='svg'\"></svg>",
    "<svg class=pwn><animate onbegin=window.pwned='animate' attributeName=x dur=1s></svg>",
    "<details class=pwn open ontoggle=window.pwned='toggle'>more</details>",
    "<input class=pwn autofocus onfocus=window.pwned='focus'>",
    "<iframe class=pwn srcdoc=\"<script>parent.pwned='frame'</script>\"></iframe>",
    "<a class=pwn href=\"javascript:window.pwned='link'\">link</a>",
    "[words](javascript:window.pwned='markdown')",
    "![picture](x\"onerror=\"window.pwned='picture')",
    "<style class=pwn>body{display:none}</style>",
    "<template class=pwn><img src=x onerror=window.pwned='template'></template>",
    "<b class=pwn onmouseover=window.pwned='over'>bold</b>",
    "\" class=pwn onclick=window.pwned='broken' x=\"",
    "' class=pwn onclick=window.pwned='quoted' x='",
    "--><math class=pwn><mtext></title><img src=x onerror=window.pwned='mixed'>",
    "{{constructor.constructor('window.pwned=1')()}}",
)
ALL = " ".join(ATTACKS)
IN_MARKDOWN = tuple(one for one in ATTACKS if not one.startswith("[words]"))  # there a link is its words
# What one reader of Markdown takes for code, and another may not.
BESIDE_CODE = (
    "`` ` <img class=pwn src=x onerror=window.pwned='a'> ` ``",
    "\\`<img class=pwn src=x onerror=window.pwned='b'>\\`",
    "`<img class=pwn src=x onerror=window.pwned='c'>``",
    "```<img class=pwn src=x onerror=window.pwned='d'>```",
    "\n\n~~~\n```\n~~~\n<img class=pwn src=x onerror=window.pwned='e'>\n\n```\n",
)
# What became part of the page, wherever: elements of ours, or such that run or load something of ours.
FOUND = """() => [...document.querySelectorAll('*')].filter((one) =>
    one.classList.contains('pwn')
    || (['SCRIPT', 'STYLE'].includes(one.tagName) && /window\\.pwned|body\\{display:none/.test(one.textContent))
    || [...one.attributes].some((at) => /^on|href$|^src|action$/.test(at.name) && at.value.includes('pwned'))
).map((one) => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app with an instructor, whose model answers with what a browser would run."""
    need_weights()
    port, log = free_port(), tmp_path_factory.mktemp("hostile") / "app.log"
    with faulty("good") as model, log.open("wb") as out:
        model.words = [
            "A critical section ",
            "touches shared data. ",
            *(f"{attack} " for attack in (*ATTACKS, *BESIDE_CODE)),
        ]
        env = {name: value for name, value in os.environ.items() if not name.startswith("OSRAG_")} | {
            "OSRAG_PROFILE": "endpoint",
            "OSRAG_ENDPOINT_URL": model.url,
            "OSRAG_ENDPOINT_KEY": model.key,
            "OSRAG_ENDPOINT_MODEL": model.model,
            "OSRAG_EFFORT": "fast",
            "OSRAG_INSTRUCTOR_KEY": KEY,
            "OSRAG_REQUESTS_PER_MINUTE": "1000",
            "OSRAG_PORT": str(port),
        }
        with subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=env, stdout=out, stderr=out) as process:
            try:
                wait_for(f"http://127.0.0.1:{port}/", process, log)
                yield f"http://127.0.0.1:{port}/"
            finally:
                process.kill()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1360, "height": 1000}, locale="en-GB")
    page = context.new_page()
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    yield page
    if folder := os.environ.get("HOSTILE_PICTURES"):  # to look at them
        name = os.environ["PYTEST_CURRENT_TEST"].split("::")[1].split(" ")[0]
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)
    context.close()


def opened(page: Page, url: str, query: str = "", tab: str = "") -> None:
    page.goto(f"{url}?lang=en{query}")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=60_000)
    if tab:
        page.get_by_role("tab", name=tab, exact=True).click()


def ask(page: Page, text: str) -> None:
    before = page.locator("#os-chat .bot-row").count()
    page.fill("#os-question textarea", text)
    page.click("#os-send")
    expect(page.locator("#os-question textarea")).to_have_value("", timeout=WAIT_MS)  # with the first update of a run
    expect(page.locator("#os-chat .bot-row")).to_have_count(before + 1, timeout=WAIT_MS)
    expect(page.locator("#os-stop")).to_be_hidden(timeout=WAIT_MS)
    expect(page.locator("#os-send")).to_be_visible(timeout=WAIT_MS)


def assert_text_only(page: Page, *boxes: str, text: tuple[str, ...] = ATTACKS) -> None:
    """Nothing ran, no element came of it, and each box shows all of `text`."""
    page.wait_for_timeout(300)  # for what loads and fails
    assert page.evaluate(FOUND) == []
    assert [frame.evaluate("window.pwned") for frame in page.frames] == [None]
    for box in boxes:
        shown = " ".join(" ".join(page.locator(box).all_inner_texts()).split())
        missing = [one for one in text if " ".join(one.split()) not in shown]
        assert missing == [], f"{box} shows {shown}"


def test_the_attacks_are_real(browser: Browser):
    page = browser.new_page()
    for attack in ATTACKS[:7]:  # the others wait for a hand, or for a program that takes Markdown or an attribute
        page.set_content(f"<title>page</title><body>{attack}</body>")
        assert page.evaluate(FOUND), attack
        page.wait_for_function("window.pwned", timeout=10_000)
    page.close()


def test_a_question_a_share_link_and_an_answer(page: Page, url: str):
    asked = f"What is a critical section, and why {ALL}?"
    opened(page, url, f"&q={quote(asked)}")
    expect(page.locator("#os-question textarea")).to_have_value(asked)
    assert_text_only(page)
    ask(page, asked)
    assert_text_only(page, "#os-chat .user-row")
    assert_text_only(page, "#os-chat .bot-row", text=IN_MARKDOWN)
    ask(page, "What is a semaphore, and why is it needed when two tasks wait for the same buffer at once?")
    assert_text_only(page, "#os-chat .user-row >> nth=0")
    assert_text_only(page, "#os-chat .bot-row >> nth=0", "#os-chat .bot-row >> nth=1", text=IN_MARKDOWN)


def test_an_error_log(page: Page, url: str):
    lines = [f"[   12.{place:06}] {attack}" for place, attack in enumerate(ATTACKS)]
    log = "\n".join(
        [
            "[   11.000000] BUG: kernel NULL pointer dereference, address: 0000000000000008",
            "[   11.000001] RIP: 0010:do_exit+0x12/0x40",
            *lines,
            "[   13.000000] Call Trace:",
            "[   13.000001]  <IRQ class=pwn>",
            "[   13.000002]  ? do_exit+0x1/0x2 [<img src=x onerror=window.pwned=1>]",
            "[   13.000003] ---[ end trace 0000000000000000 ]---",
        ]
    )
    opened(page, url)
    ask(page, log)
    assert_text_only(page, "#os-chat .user-row")


def test_a_document_and_its_name(page: Page, url: str, tmp_path: Path):
    named = tmp_path / "<img class=pwn src=x onerror=window.pwned='name'>.md"
    named.write_text(
        f"# Ferret {ATTACKS[1]}\n\nThe ferret scheduler {ALL} has a quantum of 42 milliseconds.\n", encoding="utf-8"
    )
    slide = tmp_path / "badger.html"
    escaped = ALL.replace("&", "&amp;").replace("<", "&lt;")
    slide.write_text(
        f"<title>{escaped}</title><p>The badger queue is emptied once a minute by the sweeper. {escaped}</p>{ALL}"
    )
    opened(page, url, tab="Material")
    with page.expect_file_chooser() as chooser:
        page.click("#om-add")
    chooser.value.set_files([named, slide])
    expect(page.locator(".om-file.is-ready")).to_have_count(2, timeout=WAIT_MS)
    assert_text_only(page, "#om-list", text=("onerror",))
    page.get_by_role("tab", name="Ask", exact=True).click()
    page.locator("#om-reach label").nth(1).click()
    for question in ("How long is the quantum of the ferret scheduler?", "How often is the badger queue emptied?"):
        ask(page, question)
        page.locator(".ev-card details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        assert_text_only(page, ".ev-card")
        assert_text_only(page, "#os-chat .bot-row", text=IN_MARKDOWN)


def test_a_bank_of_exercises_and_its_report(page: Page, url: str, tmp_path: Path):
    row = {
        "id": "hostile",
        "type": "single_choice",
        "question": f"Which one? {ALL}",
        "options": {"A": f"one {ALL}", "B": f"two {ALL}"},
        "answer": "B",
        "knowledge_point": ALL,
        "explanation": f"Because {ALL}.",
        "chapter": "98",
        "section": ALL,
        "language": "en",
    }
    bad = {**row, "id": f"bad {ATTACKS[1]}", "answer": ATTACKS[1]}
    bank = tmp_path / "bank.jsonl"
    bank.write_text("\n".join(map(json.dumps, (row, bad))), encoding="utf-8")
    opened(page, url, tab="Quiz")
    page.locator("#qz-class").get_by_role("button").first.click()
    page.locator("#qz-class input[type=password]").fill(KEY)
    page.locator("#qz-class").get_by_role("button", name="Open").click()
    with page.expect_file_chooser() as chooser:
        page.click("#qz-bank-in")
    chooser.value.set_files(bank)
    expect(page.locator("#qz-bank-report")).to_contain_text("Questions read: 1", timeout=WAIT_MS)
    page.locator("#qz-bank-report details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert_text_only(page, "#qz-bank-report", text=("<img class=pwn src=x onerror=",))
    page.click("#qz-pick input")
    page.keyboard.type("hostile")
    page.locator("ul[role=listbox] li", has_text="hostile").first.click()
    expect(page.locator(".qz-question")).to_contain_text("Which one?")
    assert_text_only(page, ".qz-question p", ".qz-question .qz-tags", "#qz-radio label >> nth=0")
    page.locator("#qz-radio label").first.click()
    page.click("#qz-hint")
    expect(page.locator("#qz-hints")).to_contain_text("1. ", timeout=WAIT_MS)
    page.click("#qz-grade")
    expect(page.locator(".qz-mistake")).to_have_count(1, timeout=WAIT_MS)
    expect(page.locator("#qz-grade")).to_be_visible(timeout=WAIT_MS)
    assert_text_only(page, "#qz-verdict")
    page.click("#qz-explain")
    expect(page.locator("#qz-explanation")).to_contain_text("Study advice", timeout=WAIT_MS)
    expect(page.locator("#qz-grade")).to_be_visible(timeout=WAIT_MS)
    assert_text_only(page)


def test_a_question_of_one_s_own_and_the_answer_to_it(page: Page, url: str, tmp_path: Path):
    opened(page, url, tab="Quiz")
    page.locator("#qz-own").get_by_role("button").first.click()
    page.locator("#qz-own input").first.click()
    page.locator("ul[role=listbox] li", has_text="Short answer").click()
    page.fill("#qz-own-question textarea", f"What is a semaphore? {ALL}")
    page.fill("#qz-own-reference textarea", f"An integer with two operations. {ALL}")
    page.fill("#qz-own-rubric textarea", f"an integer {ALL} | 5")
    page.click("#qz-use")
    expect(page.locator(".qz-question")).to_contain_text("What is a semaphore?")
    assert_text_only(page, ".qz-question")
    page.fill("#qz-text textarea", f"A semaphore is an integer that wait and signal change. {ALL}")
    page.click("#qz-grade")
    expect(page.locator(".qz-head")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator("#qz-grade")).to_be_visible(timeout=WAIT_MS)
    assert_text_only(page, ".qz-question")
    practice = tmp_path / "practice.json"
    practice.write_text(json.dumps({"points": {ALL: {"chapter": ALL}}, "version": ALL}))
    page.locator("#qz-import").locator("xpath=..").locator("input[type=file]").set_input_files(practice)
    assert_text_only(page)


@pytest.mark.parametrize("query", ["lab={}", "lab=lru&frames={}&refs={}", "lab={}&frames=3", "quiz={}", "lang={}"])
def test_a_link_with_parameters(page: Page, url: str, query: str):
    page.goto(f"{url}?{query.replace('{}', quote(ALL))}&lang=en")
    expect(page.locator("#os-send")).to_have_text("Ask", timeout=60_000)
    if query.startswith("lab"):
        # The form, or the sentence where a kind is longer than any is.
        expect(page.locator(".lb-given, [role=alert]").first).to_be_visible(timeout=20_000)
    assert_text_only(page)


def test_what_is_written_and_pasted_into_the_lab(page: Page, url: str):
    opened(page, url, "&lab=lru&frames=3&refs=1,2,3")
    expect(page.locator(".lb-answer strong")).to_be_visible(timeout=30_000)
    page.fill("#lb-refs", ALL)
    expect(page.locator("#lb-fault-refs")).to_be_visible(timeout=20_000)
    assert_text_only(page)
    page.locator(".lb-paste summary").click()
    page.fill(".lb-paste textarea", f"LRU with 3 frames and the references 1, 2, 3, 1, 4. {ALL}")
    page.click("[data-act=read]")
    expect(page.locator(".lb-readings")).not_to_be_empty(timeout=20_000)
    assert_text_only(page)
