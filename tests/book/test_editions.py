"""A text that the index holds in two languages is given in the language of the reader."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from osrag.answer.plan import plan
from osrag.answer.source import Question
from osrag.book.compose import Composer
from osrag.book.editions import Editions, find_editions
from osrag.book.search import TextbookSearch
from osrag.book.selector import Selector
from osrag.book.source import BookSource
from osrag.index.collection import Collection, write_collection
from osrag.text import tokens
from osrag.types import Chunk, ChunkKind, PageRef
from tests.fakes import FakeEncoder, ScriptedChat

SHIPPED = Path(__file__).parents[2] / "index" / "textbook"

# TLB, PCB … stand in both editions: that is what fake vectors can tell of two languages.
ZH = ["PCB 记录进程。", "TLB 缓存页表项。", "RAID 把磁盘并列。", "LRU 淘汰最久未用的页。", "DMA 不经处理器搬数据。"]
EN = [
    "The PCB records a process.",
    "The TLB caches entries of the page table.",
    "RAID puts disks side by side.",
    "LRU evicts the page that was unused for longest.",
    "DMA moves data without the processor.",
]
ONLY_EN = ["A hypervisor runs guests.", "A guest is paused by the hypervisor.", "An EPT maps addresses of a guest."]


def document(name: str, texts: list[str], language: str) -> list[Chunk]:
    return [
        Chunk(f"{name}#p{n}-1", text, name, PageRef(n, n, str(n)), n, (f"{n} {text[:9]}",), language)  # type: ignore[arg-type]
        for n, text in enumerate(texts, start=1)
    ]


def collection(folder: Path, *documents: list[Chunk]) -> Collection[Chunk]:
    encoder = FakeEncoder(dim=512)
    chunks = [chunk for one in documents for chunk in one]
    texts = [chunk.text for chunk in chunks]
    words = [tokens(text) for text in texts]
    write_collection(folder, chunks, encoder.passages(texts), words, of=Chunk, name="textbook", encoder=encoder.id)
    return Collection.load(folder, encoder.id, of=Chunk)


def search(folder: Path, *documents: list[Chunk]) -> TextbookSearch:
    return TextbookSearch(collection(folder, *documents), FakeEncoder(dim=512))


@pytest.fixture
def both(tmp_path: Path) -> TextbookSearch:
    """A book in two editions, and notes in English only."""
    return search(
        tmp_path, document("zh.pdf", ZH, "zh"), document("en.pdf", EN, "en"), document("notes.pdf", ONLY_EN, "en")
    )


def sources(hits) -> set[str]:
    return {hit.chunk.source for hit in hits}


def test_each_reader_gets_the_edition_in_the_language_of_the_question(both):
    asked_in_zh = both.search("TLB 缓存什么？", k=4).hits
    assert asked_in_zh[0].chunk.id == "zh.pdf#p2-1" and "en.pdf" not in sources(asked_in_zh)
    asked_in_en = both.search("What does the TLB cache?", k=4).hits
    assert asked_in_en[0].chunk.id == "en.pdf#p2-1" and "zh.pdf" not in sources(asked_in_en)


def test_a_search_tells_whether_the_nearest_passage_is_in_another_language_than_the_question(both, tmp_path):
    english = search(tmp_path / "english", document("notes.pdf", ONLY_EN, "en"))
    assert english.signals("EPT 映射什么？")["foreign"] and not english.signals("What does an EPT map?")["foreign"]
    assert both.signals("TLB 缓存什么？", language="en")["foreign"]  # the Chinese edition is left out


def test_what_stands_in_the_other_language_only_is_still_found(both):
    assert both.search("EPT 映射什么？", k=3).hits[0].chunk.id == "notes.pdf#p3-1"


@pytest.mark.parametrize(("note", "leads"), [("TLB 缓存页表项。", True), ("操场上有一只狐狸。", False)])
def test_a_visitors_note_in_the_other_language_is_judged_by_what_the_book_has_in_both(tmp_path, note, leads):
    book = [document("zh.pdf", ZH, "zh"), document("en.pdf", EN, "en")]
    notes = document("upload/notes.md", [note], "zh")
    beside = search(tmp_path / "book", *book).with_second(collection(tmp_path / "both", *book, notes), alone=False)
    first = beside.search("The TLB caches entries of the page table.").hits[0].chunk.source
    assert first == ("upload/notes.md" if leads else "en.pdf")


def test_a_book_in_one_language_answers_both(tmp_path):
    english = search(tmp_path, document("en.pdf", EN, "en"))
    assert english.search("TLB 缓存什么？", k=3).hits[0].chunk.id == "en.pdf#p2-1"


def test_books_that_are_no_editions_of_each_other_are_both_given(tmp_path):
    other = [ZH[2], ZH[0], ZH[4], ZH[1], ZH[3]]  # the same notions, another book
    two = search(tmp_path, document("zh.pdf", other, "zh"), document("en.pdf", EN, "en"))
    assert sources(two.search("TLB 缓存什么？", k=5).hits) == {"zh.pdf", "en.pdf"}


def test_a_language_that_is_named_is_kept(both):
    hits = both.search("TLB 缓存什么？", k=4, language="en").hits
    assert hits[0].chunk.id == "en.pdf#p2-1" and "zh.pdf" not in sources(hits)


def test_queries_of_the_model_in_the_other_language_find_the_readers_edition(both):
    reply = '{"standalone": "TLB 缓存什么？", "suggested_queries": ["TLB caches entries of the page table"]}'
    asked = Question("TLB 缓存什么？", passages=4)
    planned = plan("textbook", asked.text, (), ScriptedChat([[reply]]))
    hits = BookSource(both, both.encoder, Composer(both.encoder, Selector.load())).search(planned, asked).hits
    assert hits[0].chunk.id == "zh.pdf#p2-1" and "en.pdf" not in sources(hits)


def test_the_twins_of_a_row_are_those_at_its_place() -> None:
    editions = Editions(rows=np.array([0, 0, 1, 2]), twins=np.array([2, 1, 0, 0]))
    assert editions.twins_of([0]) == [1, 2] and editions.twins_of([3]) == []
    assert editions.has_twin(4).tolist() == [True, True, True, False]


def test_a_long_passage_is_the_twin_of_the_short_ones_at_its_place(tmp_path):
    cut = document("en.pdf", [EN[0], EN[0].lower(), *EN[1:]], "en")
    cut[1] = Chunk(cut[1].id, cut[1].text, "en.pdf", cut[1].where, 2, cut[0].section, "en")
    book = collection(tmp_path, document("zh.pdf", ZH, "zh"), cut)
    editions = find_editions(book, book.dense.vectors())
    pairs = {(book.chunk(row).id, book.chunk(twin).id) for row, twin in zip(editions.rows, editions.twins, strict=True)}
    assert {("zh.pdf#p1-1", "en.pdf#p1-1"), ("zh.pdf#p1-1", "en.pdf#p2-1"), ("en.pdf#p3-1", "zh.pdf#p2-1")} <= pairs
    assert ("zh.pdf#p2-1", "en.pdf#p2-1") not in pairs


def test_an_faq_entry_loses_nothing_to_a_translation_that_fits_less_well(tmp_path):
    faq = [
        [replace(chunk, kind=ChunkKind.FAQ) for chunk in document(name, texts, language)]
        for name, texts, language in (("faq.zh.md", ZH, "zh"), ("faq.en.md", EN, "en"))
    ]
    query, both = "RAID puts disks side by side.", search(tmp_path, *faq)
    (hit,), (alone,) = both.search(query, k=1).hits, both.search(query, k=1, language="en").hits
    assert hit == alone  # a search of one language does not look at the other


def test_few_sections_make_no_editions(tmp_path):
    book = collection(tmp_path, document("zh.pdf", ZH[:4], "zh"), document("en.pdf", EN[:4], "en"))
    assert not len(find_editions(book, book.dense.vectors()).rows)


def test_all_the_shipped_material_is_there_in_both_languages():
    """Fails when one edition is changed and the other is not: then both would be given again."""
    shipped = Collection.load(SHIPPED, None, of=Chunk)
    editions = find_editions(shipped, shipped.dense.vectors())
    alone = np.flatnonzero(~editions.has_twin(shipped.searchable))
    assert sorted({shipped.chunk(int(row)).source for row in alone}) == []
    faq = {
        (shipped.chunk(row).id.split("#")[1], shipped.chunk(twin).id.split("#")[1])
        for row, twin in zip(editions.rows.tolist(), editions.twins.tolist(), strict=True)
        if shipped.chunk(row).source == "os-faq.zh.md"
    }
    assert len(faq) == 556  # question by question


def test_only_what_is_about_linux_says_its_version() -> None:
    told = {(chunk.category, chunk.version) for chunk in Collection.load(SHIPPED, None, of=Chunk).searched()}
    assert told == {
        *((category, edition) for category in ("textbook", "faq") for edition in ("2026 edition", "2026 年版")),
        ("api", "Linux 6.1"),
        ("notes", "Linux 6.1"),
    }
