"""Blocks to chunks: size, overlap, where they are cut, and what they know of their place."""

from collections.abc import Sequence

import pytest

from osrag.book.chunking import USUAL, chunk_document, pack, search_text, subcategory_of, units_of, weight
from osrag.book.document import Block, BlockKind, Document
from osrag.text import sentences
from osrag.types import Chunk, LineRef, PageRef

SENTENCE = "The scheduler picks the thread that has waited for the longest time in its queue. "
CHINESE = "调度程序从就绪队列中选择等待时间最长的线程，把处理器分配给它运行。"


def paragraph(text: str, page: int = 1) -> Block:
    return Block(BlockKind.PARAGRAPH, text.strip(), page, page)


def heading(text: str, level: int, page: int = 1) -> Block:
    return Block(BlockKind.HEADING, text, page, page, level=level)


def chunks(*blocks: Block, labels: Sequence[str] = ("i", "1", "2", "3")) -> list[Chunk]:
    return chunk_document(Document("book.pdf", "pdf", "A Book", "en", blocks, labels=tuple(labels)))


def test_a_short_section_is_one_chunk_with_its_path() -> None:
    (chunk,) = chunks(heading("2 Threads", 1), heading("2.1 States", 2), paragraph(SENTENCE, page=2))
    assert chunk.section_path == "2 Threads > 2.1 States"
    assert chunk.where == PageRef(2, 2, "1")
    assert chunk.id == "book.pdf#p2-1"
    assert search_text(chunk) == f"2 Threads > 2.1 States\n{SENTENCE.strip()}"


def test_a_chunk_from_the_middle_of_a_list_says_what_the_list_is_of() -> None:
    items = [Block(BlockKind.ITEM, f"• policy {number}: {SENTENCE.strip()}", 1, 1, level=1) for number in range(12)]
    first, second, *_ = chunks(heading("3 Threads", 1), Block(BlockKind.ITEM, "• Scheduling:", 1, 1), *items)
    assert first.text.startswith("• Scheduling:\n\n  • policy 0: The scheduler")
    assert second.section_path == "3 Threads > Scheduling"


def test_long_text_is_cut_at_sentences_into_about_equal_chunks() -> None:
    found = chunks(paragraph(SENTENCE * 40))
    sizes = [len(chunk.text) for chunk in found]
    assert max(sizes) <= USUAL.limit
    assert min(sizes) > USUAL.limit / 2
    assert all(chunk.text.endswith(".") and chunk.text.startswith("The") for chunk in found)


def test_the_next_chunk_repeats_the_last_sentences() -> None:
    numbered = " ".join(f"Sentence number {number} speaks of the page table and its entries." for number in range(40))
    first, second, *_ = chunks(paragraph(numbered))
    repeated = [sentence for sentence in sentences(second.text) if sentence in first.text]
    assert 100 <= sum(map(len, repeated)) <= 200


def test_a_cut_prefers_the_end_of_a_paragraph() -> None:
    found = chunks(paragraph(SENTENCE * 11), paragraph("A new thought. " + SENTENCE * 9))
    assert len(found) == 2
    assert "A new thought." not in found[0].text


def test_chinese_chunks_have_half_as_many_characters() -> None:
    document = Document("书.pdf", "pdf", "书", "zh", (paragraph(CHINESE * 40),), labels=("1",))
    found = chunk_document(document)
    assert all(300 < len(chunk.text) <= 500 for chunk in found)
    assert {chunk.language for chunk in found} == {"zh"}


def test_a_listing_is_never_cut() -> None:
    listing = "\n".join(f"    step({number});" for number in range(120))
    found = chunks(paragraph(SENTENCE * 8), Block(BlockKind.CODE, listing, 1, 1), paragraph(SENTENCE * 8))
    assert sum(listing in chunk.text for chunk in found) == 1


def test_a_listing_stays_with_the_line_that_announces_it() -> None:
    code = Block(BlockKind.CODE, "wait(&s);", 1, 1)
    found = chunks(paragraph(SENTENCE * 11 + "The waiting thread does this:"), code, paragraph(SENTENCE * 8))
    assert any("does this:\n\nwait(&s);" in chunk.text for chunk in found)


def test_a_long_table_is_cut_between_rows_under_its_head() -> None:
    rows = ["Device | Speed"] + [f"device number {number} | {number} megabytes a second" for number in range(60)]
    found = chunks(Block(BlockKind.TABLE, "\n".join(rows), 1, 1))
    assert len(found) > 1
    assert all(chunk.text.startswith("Device | Speed\n") for chunk in found)


def test_a_chunk_knows_which_pages_its_own_sentences_stand_on() -> None:
    text = SENTENCE * 30
    turn = text.index("The", len(text) // 2)
    block = Block(BlockKind.PARAGRAPH, text.strip(), 2, 3, turns=((turn, 3),))
    found = chunks(block)
    assert (found[0].where, found[-1].where) == (PageRef(2, 2, "1"), PageRef(3, 3, "2"))
    assert any(chunk.where == PageRef(2, 3, "1") for chunk in found)


def test_a_heading_with_nothing_below_it_is_still_found() -> None:
    found = chunks(heading("Title slide", 1), heading("Next", 1), paragraph(SENTENCE))
    assert [chunk.text for chunk in found] == ["Title slide", SENTENCE.strip()]


def test_a_sentence_without_an_end_is_cut_at_its_commas() -> None:
    endless = "进程切换要保存寄存器,更新进程控制块,把它移到队列中,选择另一个进程," * 30
    units = units_of(paragraph(endless))
    assert max(unit.weight for unit in units) <= USUAL.limit
    assert "".join(unit.joint.strip() + unit.text for unit in units) == endless


def test_megabytes_without_a_full_stop_are_weighed_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    weighed = []
    monkeypatch.setattr("osrag.book.chunking.weight", lambda text: weighed.append(len(text)) or weight(text))
    text = "paging divides memory into frames and " * 3000
    assert sum(len(chunk.text) for chunk in chunks(paragraph(text))) >= len(text) - len(text) // 100
    assert sum(weighed) < 10 * len(text)  # else a line of 5 MB takes minutes


def test_nothing_is_lost_and_the_order_is_kept() -> None:
    blocks = [paragraph(f"Paragraph {number} begins. " + SENTENCE * (number % 7 + 1)) for number in range(30)]
    joined = " ".join(chunk.text for chunk in chunks(*blocks))
    places = [joined.index(f"Paragraph {number} begins.") for number in range(30)]
    assert places == sorted(places)


def test_text_files_have_lines_instead_of_pages() -> None:
    document = Document("notes.md", "markdown", "Notes", "en", (Block(BlockKind.PARAGRAPH, SENTENCE.strip(), 7, 9),))
    (chunk,) = chunk_document(document)
    assert (chunk.where, chunk.id) == (LineRef(7, 9), "notes.md#L7-1")


def test_han_characters_weigh_two() -> None:
    assert weight("进程 PCB") == 8


def test_no_units_make_no_groups() -> None:
    assert pack([]) == []


@pytest.mark.parametrize(
    ("path", "subcategory"),
    [
        (["Contents"], "contents"),
        (["目录"], "contents"),
        (["文件管理", "目录"], ""),  # directories of a file system
        (["Index"], "index"),
        (["Chapter 3 Scheduling", "3.9 Exercises"], "exercises"),
        (["第3章 调度", "习题"], "exercises"),
        (["Bibliography"], "references"),
        (["8 File systems", "8.3 Index nodes"], ""),
    ],
)
def test_parts_of_a_book_are_known_by_their_titles(path: list[str], subcategory: str) -> None:
    assert subcategory_of(path) == subcategory


def test_contents_that_are_most_of_a_document_are_text() -> None:
    lost = chunks(heading("Contents", 1), paragraph(SENTENCE * 40), paragraph(SENTENCE * 40, page=2))
    assert {chunk.subcategory for chunk in lost} == {""}
    book = chunks(heading("Contents", 1), paragraph(SENTENCE), heading("1 Threads", 1), paragraph(SENTENCE * 40))
    assert [chunk.subcategory for chunk in book][:2] == ["contents", ""]
