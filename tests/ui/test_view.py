from dataclasses import replace

import pytest

from osrag.answer.events import Done, Failed, Retrieved, SourceDone, Token
from osrag.types import Chunk, ChunkKind, LineRef, PageRef, Passage, Stage, Turn
from osrag.ui.evidence import panel
from osrag.ui.state import Conversation
from osrag.ui.view import View, past, show
from osrag.wording import say

CHUNK = Chunk(
    "b.pdf#p41-1", "A <b>page</b> table.", "b.pdf", PageRef(41, 41, "21"), 0, ("6 Memory", "6.2"), "en", title="Book"
)
PASSAGE = Passage(1, CHUNK, 0.9, 0.87)


def after(*events) -> View:
    view = View("en")
    for event in events:
        view = show(event, view)
    return view


def test_a_citation_becomes_a_link_to_its_card():
    view = after(Retrieved("textbook", (PASSAGE,), "one"), Token("textbook", "Pages map to frames. [1]"))
    assert r"[\[1\]](#ev-1)" in view.reply
    assert 'id="ev-1"' in view.evidence


def test_the_card_says_book_section_both_page_numbers_and_score():
    html = panel(Retrieved("textbook", (PASSAGE,), ""), "en")
    for part in ("Book", "6 Memory &gt; 6.2", "p. 21 · page 41 of the file", "0.87"):
        assert part in html


def test_the_words_of_a_document_are_never_html():
    html = panel(Retrieved("textbook", (PASSAGE,), ""), "en")
    assert "<b>page</b>" not in html and "&lt;b&gt;page" in html


def test_html_and_pictures_of_an_answer_are_text_and_its_code_is_as_it_was():
    text = "A <img src=x> and ![one](https://x/y.png), but `a < b` and [a link](https://x)."
    shown = r"A &lt;img src=x> and !\[one](https://x/y.png), but `a < b` and [a link](https://x)."
    assert after(Token("textbook", text)).reply.startswith(shown)
    assert past(Turn("Q?", text)).startswith(shown)
    assert "<img" not in after(Failed("the server said <img src=x>", "")).reply


def test_a_listing_keeps_its_lines_in_the_card():
    chunk = replace(CHUNK, text="Two locks:\n\nlock(a);\n    lock(b);")
    html = panel(Retrieved("textbook", (replace(PASSAGE, chunk=chunk),), ""), "en")
    assert '<p class="ev-text">Two locks:\nlock(a);\n    lock(b);</p>' in html


def test_a_mark_is_shown_as_a_mark():
    view = after(Token("textbook", "Odd. [not found in the book]"))
    assert '<span class="unverified">[not found in the book]</span>' in view.reply


def test_a_failure_keeps_what_was_shown():
    view = after(Token("textbook", "Half an answer"), Failed("the model died", "ask again"))
    assert view.reply.startswith("Half an answer") and "ask again" in view.reply and not view.busy


def test_cited_cards_and_times_are_shown_when_the_run_ends():
    view = after(
        Retrieved("textbook", (PASSAGE,), ""),
        SourceDone("textbook", "x", (1,), "extracts", (Stage("search", 0.09),)),
        Done("x", (), "extracts"),
    )
    assert "is-cited" in view.evidence and "0.09 s" in view.evidence


def test_a_whole_reply_says_how_it_came_about():
    book, code = (SourceDone(source, "x", (), "prepared", ()) for source in ("textbook", "kernel"))
    assert "Prepared answer" not in after(Token("textbook", "x"), book).reply
    assert after(Token("textbook", "x"), book, Done("x", (), "prepared")).reply.endswith(">Prepared answer</small>")
    both = after(Token("textbook", "x"), book, replace(code, how="generated"), Done("x", (), "prepared"))
    assert "Course book: Prepared answer · Kernel source: Written by the model" in both.reply


def test_an_answer_that_is_being_worked_on_says_so_until_it_is_whole():
    begun = after(Token("textbook", "**Explanation**"))
    assert begun.reply.endswith('role="status">Writing…</span>')
    assert "Writing" not in show(Done("x", (), "generated"), begun).reply
    assert "Writing" not in show(Failed("died", "again"), begun).reply
    assert after().reply == '<span class="os-working" role="status">Searching the book…</span>'


def test_the_empty_panel_says_what_to_do():
    assert "提问之后" in View("zh").evidence


def test_a_conversation_is_a_value_of_its_own():
    one = Conversation().with_turn(Turn("q", "a"))
    assert one.messages == 2 and Conversation().messages == 0


def test_an_entry_of_the_reference_is_shown_by_its_parts():
    text = "```c\nmode_t umask(mode_t mask);\n```\n**Parameters**\n| name | type |\n|---|---|\n| mask | mode_t |\n"
    chunk = Chunk("api#1", text, "api.md", LineRef(1, 9), 0, ("umask",), "en", ChunkKind.API)
    html = panel(Retrieved("textbook", (Passage(1, chunk, 0.9, 0.87),), ""), "en")
    assert "<code>mode_t umask(mode_t mask);</code>" in html and "<td>mask</td><td>mode_t</td>" in html
    assert "**" not in html and "|---|" not in html


@pytest.mark.parametrize(("url", "links"), [("https://os.example.edu/book", 1), ("javascript:alert(1)", 0), ("", 0)])
def test_a_passage_leads_to_where_its_document_is_found(url: str, links: int):
    chunk = Chunk("b#1", "Text.", "b.md", LineRef(1, 2), 0, (), "en", title="Book", version="2nd edition", url=url)
    html = panel(Retrieved("textbook", (Passage(1, chunk, 0.9, 0.87),), ""), "en")
    assert html.count(f'<a href="{url}"') == links and "javascript" not in html
    assert "2nd edition" in html


def test_a_source_that_the_question_chose_is_named_with_the_way_to_the_others():
    view = View("en", source="auto")
    for event in (
        Token("kernel", "It calls `schedule`."),
        SourceDone("kernel", "", (), "composed", ()),
        Done("", (), "composed"),
    ):
        view = show(event, view)
    assert "Kernel source: Composed" in view.reply
    assert "[Course book](#ask-textbook) · [Both](#ask-both)" in view.reply
    assert "#ask-" not in replace(view, source="kernel").reply


def steps(count: int) -> str:
    """A walk-through: its title, its steps with their code, and the way through them."""
    shown = [
        f"**{n}.** `f{n}` [{n}] It runs.\n\n```c\n/* kernel/f.c:{n}0 */\nf{n}(a[1]);\n/* … {n}9: */\nreturn;\n```"
        for n in range(1, count + 1)
    ]
    path = f"{say('kernel_path', 'en')}\n\n- `f1` [1] runs\n    - `f2` [2] runs\n"
    return "\n\n".join(["**How it runs**", *shown, path, "The end. [1]"])


def test_long_code_is_folded_so_that_the_steps_are_read_first():
    reply = after(Token("kernel", steps(3)), Done("x", (), "prepared")).reply
    assert reply.count('<details class="os-fold">') == 4 == reply.count("</details>")
    assert reply.startswith("**How it runs**\n\n[Open or close all code](#fold)\n\n**1.** `f1`")
    assert "<summary>Code: kernel/f.c:10, lines: 2</summary>\n\n```c\n/* kernel/f.c:10 */\nf1(a[1]);" in reply
    assert "<summary>Reading path (from the call graph, callers first)</summary>\n\n- `f1`" in reply
    assert reply.rpartition("</details>")[2].strip() == r"The end. [\[1\]](#ev-1)"


def test_little_code_stays_open():
    assert "<details" not in after(Token("kernel", steps(2)), Done("x", (), "prepared")).reply


def test_an_earlier_reply_lists_what_it_cites_and_leads_to_no_card_of_a_later_one():
    view = after(Retrieved("textbook", (PASSAGE,), "one"), Token("textbook", "Pages map to frames. [1]"))
    view = show(SourceDone("textbook", "x", (1,), "prepared", ()), replace(view, source="auto"))
    view = show(Done("x", (1,), "prepared"), view)
    assert "#ev-1" in view.reply and "#ask-kernel" in view.reply
    url = "https://elixir.bootlin.com/linux/v6.1.192/source/kernel/exit.c#L8"
    sources = (*view.sources, f"[2] do_exit · kernel/exit.c:8 · {url}")
    said = past(Turn("What is a page?", view.draft, view.told, sources))
    assert "Pages map to frames. [1]" in said and "Course book: Prepared answer" in said
    assert "#ev-" not in said and "#ask-" not in said
    assert "<summary>Evidence</summary>" in said and "<li>[1] Book · 6 Memory &gt; 6.2 · p. 21</li>" in said
    assert f'<a href="{url}" target="_blank"' in said


def test_a_model_that_reads_for_long_says_so():
    waiting = after(Retrieved("textbook", (PASSAGE,), "one"))
    assert "Evidence found; the model is reading it…" in waiting.reply
