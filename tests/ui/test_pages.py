import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pdfplumber.page
import pytest

from osrag.errors import BadDocument
from osrag.types import Chunk, PageRef
from osrag.ui.pages import find_document, marked_words, page_pictures
from tests.pdfs import make_pdf, text


def words(text: str) -> list[dict[str, str]]:
    return [{"text": part} for part in text.split()]


def test_the_words_of_the_passage_are_marked_whatever_the_line_breaks():
    page = words("Chapter 3 Paging maps vir- tual pages to frames. Segments differ.")
    marked = marked_words(page, "Paging maps virtual\npages to frames.")
    assert [word["text"] for word in marked] == ["Paging", "maps", "vir-", "tual", "pages", "to", "frames."]


def test_a_chinese_passage_is_found_in_words_without_blanks():
    page = words(" ".join("第一页信号量是一个整数。其他"))
    assert "".join(word["text"] for word in marked_words(page, "信号量是 一个整数。")) == "信号量是一个整数。"


def test_a_name_that_leads_out_of_the_folder_finds_nothing(tmp_path):
    (tmp_path / "book.pdf").write_bytes(b"x")
    assert find_document("book.pdf", [tmp_path]) == tmp_path / "book.pdf"
    assert find_document("../book.pdf", [tmp_path / "sub"]) is None


def passage(page: int, words: str = "Words of the page") -> Chunk:
    return Chunk(f"b.pdf#p{page}", words, "b.pdf", PageRef(page, page + 5, str(page)), 0, (), "en")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    make_pdf(tmp_path / "b.pdf", [[text(72, 80, f"Words of the page {number}")] for number in range(1, 9)])
    return tmp_path / "b.pdf"


def test_several_threads_draw_one_page_at_a_time(book: Path, monkeypatch: pytest.MonkeyPatch):
    """PDFium is not thread-safe. The threads overlap for sure: each stays inside for a while."""
    inside, most, counting = 0, 0, threading.Lock()
    draw = pdfplumber.page.Page.to_image

    def counted(page, **options):
        nonlocal inside, most
        with counting:
            inside += 1
            most = max(most, inside)
        time.sleep(0.05)
        try:
            return draw(page, **options)
        finally:
            with counting:
                inside -= 1

    monkeypatch.setattr("pdfplumber.page.Page.to_image", counted)
    with ThreadPoolExecutor(6) as pool:
        drawn = list(pool.map(lambda page: page_pictures(passage(page), book), range(1, 7)))
    assert [list(pictures) for pictures in drawn] == [[n, n + 1] for n in range(1, 7)]
    assert all(url.startswith("data:image/webp;base64,") for pictures in drawn for url in pictures.values())
    assert most == 1


def test_a_page_that_many_open_at_once_is_drawn_once(book: Path, monkeypatch: pytest.MonkeyPatch):
    drawn, draw = [], pdfplumber.page.Page.to_image
    monkeypatch.setattr(
        "pdfplumber.page.Page.to_image", lambda page, **options: drawn.append(page) or draw(page, **options)
    )
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: page_pictures(passage(3, "opened by a class"), book), range(6)))
    assert len(drawn) == 2  # a passage shows two pages


def test_a_page_that_is_not_there_is_said(book: Path):
    with pytest.raises(BadDocument, match=r"page 9 of b\.pdf cannot be drawn"):
        page_pictures(passage(9), book)
