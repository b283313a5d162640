"""The books that osrag is developed on: words, pages, labels and sections as they are printed."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from osrag.book.chunking import chunk_document
from osrag.book.document import BlockKind, Document
from osrag.book.pdf.read import read_pdf
from osrag.book.read import read_material
from osrag.text import squeeze
from osrag.types import Chunk, PageRef

ROOT = Path(__file__).parents[2]
BOOKS = ROOT.parent / "shared/eval/books"
HAILPERIN, NOTES, THINKOS = (
    "hailperin-os-and-middleware-1.3.1.pdf",
    "操作系统.pdf",
    "thinkos-twocolumn-derived.pdf",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not BOOKS.is_dir(), reason=f"the development books are not at {BOOKS}"),
]


@cache
def book(name: str) -> Document:
    return read_pdf(BOOKS / name, workers=2)


@cache
def chunks(name: str) -> tuple[Chunk, ...]:
    return tuple(chunk_document(book(name)))


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (BOOKS / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def on_page(name: str, page: int) -> list[Chunk]:
    return [chunk for chunk in chunks(name) if chunk.where.first <= page <= chunk.where.last]


def anchors() -> list[dict[str, Any]]:
    return list(rows("page_anchors.jsonl")) if BOOKS.is_dir() else []


@pytest.mark.parametrize("anchor", anchors(), ids=lambda row: f"{row['pdf'][:8]}-{row['page_index_1based']}")
def test_every_snippet_is_on_its_page_with_its_label(anchor: dict[str, Any]) -> None:
    document, place = book(anchor["pdf"]), anchor["page_index_1based"]
    if anchor["pages_total"] != document.pages:
        # "存储器管理负责内存的分配与回收" was taken from a file of 12 pages; neither this one nor
        # the Markdown of the same notes has the words.
        pytest.skip(f"the snippet is of another file, with {anchor['pages_total']} pages")
    assert any(squeeze(anchor["snippet"]) in squeeze(chunk.text) for chunk in on_page(anchor["pdf"], place))
    assert anchor["page_label"] in (None, document.labels[place - 1])


def test_every_gold_page_has_a_passage() -> None:
    for question in rows("pageqa.jsonl"):
        for page in question["gold_pages"]:
            assert on_page(question["book"], page), question["id"]


def headings(name: str, level: int) -> list[tuple[str, int]]:
    return [
        (block.text, block.first)
        for block in book(name).blocks
        if block.kind is BlockKind.HEADING and block.level == level
    ]


def test_the_chapters_of_the_english_book() -> None:
    assert [heading for heading in headings(HAILPERIN, 1) if heading[0] != "Contents"] == [
        ("Preface", 11),
        ("Chapter 1 Introduction", 21),
        ("Chapter 2 Threads", 41),
        ("Chapter 3 Scheduling", 65),
        ("Chapter 4 Synchronization and Deadlocks", 113),
        ("Chapter 5 Atomic Transactions", 181),
        ("Chapter 6 Virtual Memory", 229),
        ("Chapter 7 Processes and Protection", 293),
        ("Chapter 8 Files and Other Persistent Storage", 353),
        ("Chapter 9 Networking", 415),
        ("Chapter 10 Messaging, RPC, and Web Services", 467),
        ("Chapter 11 Security", 487),
        ("Appendix A Stacks", 525),
        ("Bibliography", 531),
        ("Index", 547),
    ]
    sections = headings(HAILPERIN, 2)
    assert ("1.2 What Is an Operating System?", 22) in sections
    assert ("1.6 Controlling the Interactions Between Computations", 31) in sections  # the outline has a short form
    assert sum(title == "Exercises" for title, _ in sections) == 11  # not in the outline


def test_the_chapters_of_the_chinese_notes_are_found_by_their_type() -> None:
    assert headings(NOTES, 1) == [
        ("计算机系统概述", 1),
        ("进程与线程", 4),
        ("内存管理", 13),
        ("文件管理", 20),
        ("输入输出管理", 26),
    ]
    assert len(headings(NOTES, 2)) == 21


def test_the_markdown_of_the_notes_has_the_same_sections() -> None:
    markdown = read_material(BOOKS / "操作系统.md")
    # Before the first stands only a "3"; below the second come the items of lists.
    wanted = {chunk.section[:2] for chunk in chunks(NOTES) if chunk.section}
    assert {chunk.section[:2] for chunk in markdown.chunks} == wanted


def test_two_columns_are_read_in_order() -> None:
    (chunk,) = [chunk for chunk in chunks(THINKOS) if "generates an executable file" in chunk.text]
    assert "it runs all of these steps and generates an executable file. For example, here is a minimal C program:" in (
        chunk.text
    )
    assert '\nint main()\n{\n    printf("Hello World\\n");\n}' in chunk.text


def test_the_scan_is_recognised() -> None:
    document = read_pdf(BOOKS / "scan-no-textlayer-derived-3p.pdf")
    assert document.warnings[0].startswith("Pages read by text recognition (0.9")
    text = squeeze(" ".join(block.text for block in document.blocks if block.first == 3))
    assert "页表:记录页面在内存中对应的物理块号" in text


def test_slides_have_a_section_a_slide() -> None:
    sections = {chunk.where.first: chunk.section for chunk in chunks("course-os-slides-zh-ch2.pdf")}
    assert sections[13][0].endswith("进程管理")  # the title slide sets "CH2" before it
    assert sections[13][1:] == ("2.1.3 进程的特征和状态", "进程的特征")


@pytest.mark.parametrize("name", [HAILPERIN, NOTES, THINKOS])
def test_few_chunks_go_over_more_than_two_pages(name: str) -> None:
    spans = [chunk.where.last - chunk.where.first + 1 for chunk in chunks(name) if isinstance(chunk.where, PageRef)]
    assert sum(span > 2 for span in spans) <= 0.04 * len(spans)


@pytest.mark.parametrize("edition", ["zh", "en"])
def test_the_course_book(edition: str) -> None:
    path = ROOT / f"examples/textbook/os-course-{edition}.pdf"
    if not path.is_file():
        pytest.skip(f"{path.name} is not built")
    document = read_pdf(path, workers=2)
    found = chunk_document(document)
    tops = [block.text for block in document.blocks if block.kind is BlockKind.HEADING and block.level == 1]
    chapters = [title for title in tops if title.startswith(("第", "Chapter"))]
    assert len(chapters) == 13
    (appendix,) = [title for title in tops if title.startswith(("附录 A", "Appendix A"))]
    tables = [chunk.section[1] for chunk in found if chunk.section[:1] == (appendix,) and len(chunk.section) > 1]
    assert [title.split()[0] for title in dict.fromkeys(tables)] == [f"A.{number}" for number in range(1, 13)]
    assert all(chunk.language == edition for chunk in found if not chunk.subcategory)
    assert any(block.kind is BlockKind.TABLE and block.text.count("\n") > 3 for block in document.blocks)
    first = next(chunk for chunk in found if chunk.section[:1] == (chapters[0],))
    assert isinstance(first.where, PageRef)
    assert first.where.label == "1"
