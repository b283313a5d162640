"""Lines of type to running text."""

import unicodedata
from typing import Any

import pytest

from osrag.book.glyphs import accented, lowered, raised, readable
from osrag.book.pdf.lines import count_words, join_lines
from osrag.book.pdf.page import runs_of, underscores_of

WORDS = count_words(["the developer writes kernel-mode code", "time passes", "time is sharing", "sharing is hard"])


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["An operating", "system"], "An operating system"),
        (["进程是程序的", "一次执行"], "进程是程序的一次执行"),
        (["每个进程有一个", "PCB"], "每个进程有一个PCB"),
        (["the devel-", "oper writes"], "the developer writes"),  # seen whole elsewhere
        (["in kernel-", "mode code"], "in kernel-mode code"),  # seen with its hyphen elsewhere
        (["by time-", "sharing"], "by time-sharing"),  # never seen, but both halves are words
        (["a pre-", "emptive kernel"], "a preemptive kernel"),  # never seen: the hyphen was the line's
        (["without stop-", "ping"], "without stopping"),
        (["Unix-", "Like systems"], "Unix-Like systems"),
        (["on x86-", "64"], "on x86-64"),
        (["P2 12–", "14"], "P2 12–14"),
        (["see http://lwn.net/", "Articles/1"], "see http://lwn.net/Articles/1"),
        (["soft\u00ad", "ware"], "software"),
    ],
)
def test_lines_are_joined(lines: list[str], joined: str) -> None:
    assert join_lines(lines, WORDS) == joined


@pytest.mark.parametrize(
    ("glyph", "font", "text"),
    [
        ("\ufb01", "", "fi"),
        ("\ufb03", "", "ffi"),
        ("\u2eda", "", "页"),  # a radical used for the character
        ("\u2f08", "", "人"),  # a Kangxi radical
        ("(cid:15)", "CMSY10", "•"),
        ("(cid:21)", "CMSY10", "≥"),
        (")", "CMSY10", "⇒"),  # a font without a Unicode table gives its raw codes
        (";", "CMMI10", ","),
        (";", "CMR10", ";"),
        ("(cid:999)", "Unknown", ""),
        ("\x00", "", ""),
        ("，", "", "，"),  # Chinese punctuation stays
    ],
)
def test_glyphs_become_readable(glyph: str, font: str, text: str) -> None:
    assert readable(glyph, font) == text


def test_raised_and_lowered_digits_are_the_plain_ones_after_nfkc() -> None:
    assert raised("32") == "³²"
    assert lowered("1") == "₁"
    assert unicodedata.normalize("NFKC", f"2{raised('32')}") == "232"


def test_an_accent_set_over_a_letter_is_one_letter() -> None:
    assert accented("¨", "o") == "ö"
    assert accented("¨", "=") == ""


def set_words(*words: str, gap: float) -> list[dict[str, Any]]:
    """Characters of a 10-point typewriter font, as pdfplumber gives them; baseline at 100."""
    chars: list[dict[str, Any]] = []
    x = 50.0
    for word in words:
        for char in word:
            place = {"x0": x, "x1": x + 5, "y0": 0, "bottom": 100, "matrix": (1, 0, 0, 1, x, 0)}
            chars.append({"text": char, "fontname": "ABCDEF+CMTT10", "size": 10, **place})
            x += 5
        x += gap
    return chars


def test_an_underscore_that_is_drawn_is_read() -> None:
    chars = set_words("sem", "init", gap=4)
    line = {"x0": 65.4, "x1": 68.9, "top": 100.2, "bottom": 100.2}
    below = {**line, "top": 108, "bottom": 108}
    assert [run.text for run in runs_of(chars, (), underscores_of([line]))] == ["sem_init"]
    assert [run.text for run in runs_of(chars, (), underscores_of([below]))] == ["sem init"]
