import re
from dataclasses import replace

from osrag.answer.events import CallPath, Done, PathStep, Retrieved, SourceDone, Token
from osrag.types import Chunk, ChunkKind, CodeChunk, LineRef, Origin, PageRef, Passage, Stage
from osrag.ui.chat import escape_user
from osrag.ui.evidence import MOST_ROWS, code_card, diagram, panel
from osrag.ui.view import View, show

CODE = CodeChunk(
    "mm/memory.c:10-14",
    "/* Copies <a> page. */\nint do_cow(void)\n{\n\treturn a[1] < 2;\n}\n",
    "mm/memory.c",
    LineRef(10, 14),
    ChunkKind.FUNCTION,
    "do_cow",
    "Copies a page on a write fault, once.",
    "写缺页时复制一页。",
    origin=Origin.NOTE,
)
PASSAGE = Passage(3, CODE, 1.0, 0.8)
PATH = CallPath(
    (PathStep(2, "fault", "mm/memory.c", 1, 0, "", ()), PathStep(3, "do_cow", "mm/memory.c", 10, 1, "fault", ("mid",))),
    (("fault", "mid"), ("mid", "do_cow")),
)
FOUND = Retrieved("kernel", (PASSAGE,), "one", version="6.1.192", path=PATH, marked=((3, (11, 13)),))


def after(*events) -> View:
    view = View("en", source="kernel")
    for event in events:
        view = show(event, view)
    return view


def test_a_card_has_numbers_beside_the_lines_and_the_link_to_them():
    html = "".join(code_card(CODE, "6.1.192", {11, 13}, "en"))
    assert 'data-n="13">\treturn a[1] &lt; 2;' in html
    assert 'href="https://elixir.bootlin.com/linux/v6.1.192/source/mm/memory.c#L10"' in html
    assert "All 5 lines" in html and html.count("is-marked") == 2
    assert "cd-gap" in html  # line 12 is left out of the excerpt
    assert "Copies a page on a write fault" in html


def test_code_is_never_html():
    assert "<a> page" not in "".join(code_card(CODE, "6.1.192", (), "en"))


def test_the_diagram_shows_every_call_and_leads_to_the_cards():
    svg = diagram(PATH, "en")
    assert svg.count("cd-arrow") == 2 and svg.count("<rect") == 3
    assert 'href="#ev-3"' in svg and "is-between" in svg
    assert 'aria-label="Call diagram: fault → mid; mid → do_cow"' in svg
    assert diagram(CallPath(), "en") == ""
    (wide,) = set(re.findall(r'(?:--wide:|width=")(\d+)', svg.partition(">")[2].partition("viewBox")[0]))
    assert int(wide) > 100  # by which it may shrink on a phone


def test_an_index_inside_code_is_no_citation():
    view = after(FOUND, Token("kernel", "See `a[1]` [3].\n\n```c\nx = a[2];\n```\n"))
    assert "`a[1]` [\\[3\\]](#ev-3)" in view.reply and "x = a[2];" in view.reply


def test_a_mark_of_the_code_check_is_shown_as_a_mark():
    view = after(Token("kernel", "Odd. [not found in the code]"))
    assert '<span class="unverified">[not found in the code]</span>' in view.reply


def test_both_parts_of_the_evidence_stay():
    book = Passage(1, Chunk("b#1", "Text.", "b.pdf", PageRef(1, 1, "1"), 0, ("S",), "en", title="Book"), 1.0, 0.9)
    view = after(
        Retrieved("textbook", (book,), "book"),
        SourceDone("textbook", "x", (1,), "extracts", (Stage("search", 0.1),)),
        FOUND,
        SourceDone("kernel", "y", (3,), "generated", (Stage("generate", 2.0),)),
        Done("xy", (), "extracts"),
    )
    assert 'id="ev-1"' in view.evidence and 'id="ev-3"' in view.evidence
    assert "Kernel code (Linux 6.1.192)" in view.evidence and "2.00 s" in view.evidence
    assert view.cited == (1, 3)


def test_before_the_first_word_the_reply_says_what_is_searched():
    assert "kernel" in View("en", source="kernel").reply


def test_a_pasted_log_keeps_its_lines():
    shown = escape_user("Why?\n[    1.795580] BUG: kernel NULL pointer dereference, address: 0000000000000004\n")
    assert shown.startswith("```text\n") and "[    1.795580] BUG" in shown


def test_an_indirect_edge_is_dashed_and_its_kind_is_told_in_words_too():
    path = replace(PATH, indirect=(("mid", "do_cow", "timer"),))
    svg = diagram(path, "en")
    assert svg.count("cd-arrow is-indirect") == 1 and "⇠ a timer</text>" in svg
    assert 'aria-label="Call diagram: fault → mid; mid → do_cow (a timer)"' in svg
    assert "is-indirect" not in diagram(PATH, "en")


def test_of_a_large_diagram_functions_that_lead_nowhere_are_left_out_first():
    ends = [("fault", f"helper_{n}") for n in range(MOST_ROWS)]
    svg = diagram(replace(PATH, edges=(*ends, *PATH.edges)), "en")
    assert "do_cow" in svg and "helper_0<" in svg and f"helper_{MOST_ROWS - 1}<" not in svg


def test_the_card_of_the_book_leads_to_the_walk_through():
    page = Passage(2, Chunk("b#1", "Copied.", "b.pdf", PageRef(1, 1, "1"), 0, ("7.2",), "en"), 1.0, 0.9)
    html = panel(Retrieved("textbook", (page,), "", in_linux=((2, 'How "fork" copies'),)), "en")
    assert 'data-ask="How &quot;fork&quot; copies">In Linux: How' in html
    assert "ev-walk" not in panel(Retrieved("textbook", (page,), ""), "en")
