"""Readers' questions beside the documents: read, bound to what answers them, bound anew, taken out."""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from osrag.app.info import collections
from osrag.book.asks import ASKS, read_asks
from osrag.book.build import copies_of
from osrag.book.search import TextbookSearch
from osrag.errors import BadDocument, BadInput
from osrag.index.collection import Collection
from osrag.index.manifest import read_manifest, write_manifest
from osrag.types import Ask, Chunk
from tests.book.documents import Documents
from tests.fakes import FakeEncoder

BOOK = """# Disks

A journal records what will be done before it is done.

# Memory

A page fault occurs when the page that is wanted is not in a frame.

Belady's anomaly: more frames, and yet more faults.

# Locks

A spinlock burns the processor while it waits.
"""
FAQ = """# Frequently asked

## Is a mutex faster than a spinlock?

That depends on how long the lock is held, and on who waits.

## 死锁是什么？

一组进程互相等待，谁也无法前进。
"""
ROWS = [
    {"quotes": ["“Belady’s anomaly” — more frames"], "asks": ["Why can extra RAM slow my program down?"]},
    {"quotes": ["records what will be done before"], "asks": ["What if the power fails in the middle of saving?"]},
    {"quotes": ["a stretch of the other edition", "burns the processor"], "asks": ["Why is a core at 100 % idle?"]},
]


class Shelf(Documents):
    def __init__(self, root: Path) -> None:
        super().__init__(root, root / "index" / "textbook")

    def asks(self, rows: Sequence[object] = ROWS, name: str = "own.asks.jsonl") -> Path:
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        return self.write(name, "\n".join(lines) + "\n")

    def opened(self) -> Collection[Ask] | None:
        return ASKS.open(self.index, read_manifest(self.index), self.encoder.id)

    def search(self, *, asks: bool = True) -> TextbookSearch:
        book = Collection.load(self.index, self.encoder.id, of=Chunk)
        return TextbookSearch(book, self.encoder, asks=self.opened() if asks else None)

    def best(self, question: str, *, asks: bool = True) -> str:
        return self.search(asks=asks).search(question, k=1).hits[0].chunk.text


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
def built(shelf: Shelf) -> Shelf:
    shelf.build(shelf.write("book.md", BOOK), shelf.asks())
    return shelf


def test_broken_lines_are_named_and_the_others_count(shelf: Shelf) -> None:
    file = read_asks(shelf.asks([ROWS[0], "{no json", "", {"quotes": [], "asks": ["Why?"]}, {"quote": "x"}, ROWS[1]]))
    assert [ask.text for ask in file.rows] == [*ROWS[0]["asks"], *ROWS[1]["asks"]]
    first, second, third = file.entry.warnings
    assert first.startswith("own.asks.jsonl line 2: the line: invalid json: ")
    assert "line 1 column 2: {no json (left out; a line is {" in first
    assert second.startswith("own.asks.jsonl line 4: quotes: tuple should have at least 1 item")
    assert "line 5: quotes: field required" in third


@pytest.mark.parametrize("text", ["", "[1, 2]\n", '{"quotes": "x"}\n'])
def test_a_file_without_a_single_row_is_refused(shelf: Shelf, text: str) -> None:
    with pytest.raises(BadDocument):
        read_asks(shelf.write("own.asks.jsonl", text))
    report = shelf.build(shelf.write("book.md", BOOK), shelf.root / "own.asks.jsonl")
    assert report.added == ("book.md",) and [name for name, _ in report.failed] == ["own.asks.jsonl"]
    assert ASKS.manifest(shelf.index) is None


def test_questions_alone_make_no_index(shelf: Shelf) -> None:
    report = shelf.build(shelf.asks())
    assert report.manifest is None and "holds no document" in report.failed[0][1]


def test_a_question_in_plain_words_finds_the_passage_by_what_was_asked_of_it(built: Shelf) -> None:
    questions = {
        "Will extra RAM slow my program down?": "anomaly",
        "My power fails while it saves, what then?": "journal",
        "Why does one core stand at 100 % though idle?": "spinlock",
    }
    assert all(word in built.best(question) for question, word in questions.items())
    assert not all(word in built.best(question, asks=False) for question, word in questions.items())


def test_quotes_are_compared_by_letters_and_a_cut_one_by_its_first_half(shelf: Shelf) -> None:
    cut = {"quotes": ["A spinlock burns the processor and here the page ends for good"], "asks": ["Who burns?"]}
    report = shelf.build(shelf.write("book.md", BOOK), shelf.asks([*ROWS, cut, {**cut, "quotes": ["A"]}]))
    asks = shelf.opened()
    assert asks is not None and report.warnings == ()
    assert {ask.text for ask in asks.chunks()} == {*(row["asks"][0] for row in ROWS), "Who burns?"}
    assert all(ask.chunk_ids for ask in asks.chunks())  # a text twice is one row with the quotes of both


def test_a_quote_that_no_document_has_is_a_warning(shelf: Shelf) -> None:
    lost = [{"quotes": [f"nowhere to be found {n}"], "asks": [f"What is {n}?"]} for n in range(5)]
    report = shelf.build(shelf.write("book.md", BOOK), shelf.asks([*ROWS, *lost]))
    assert report.asks == 3 and not report.failed
    (warning,) = report.warnings
    assert "5 questions are kept but not searched" in warning and warning.endswith("'nowhere to be found 2', …")


def test_they_are_bound_anew_when_a_document_comes_goes_or_changes(built: Shelf) -> None:
    report = built.build(built.write("book.md", BOOK.replace("A journal", "Each journal")))
    assert report.replaced == ("book.md",) and report.asks == 3
    assert "Each journal" in built.best("What if the power fails in the middle of saving?")
    built.build(built.write("faq.md", FAQ), remove=["book.md"])
    manifest = ASKS.manifest(built.index)
    assert manifest is not None and (manifest.counts["asks"], manifest.counts["bound"]) == (3, 0)
    report = built.build(built.root / "book.md")
    assert report.added == ("book.md",) and report.asks == 3 and report.warnings == ()


def test_the_same_files_twice_write_nothing(built: Shelf) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.index.rglob("*-*.*")}
    report = built.build(built.root / "book.md", built.root / "own.asks.jsonl")
    assert report.unchanged == ("book.md", "own.asks.jsonl") and report.asks == 3
    assert {path: path.stat().st_mtime_ns for path in built.index.rglob("*-*.*")} == before


def test_a_file_of_questions_is_replaced_and_removed(built: Shelf) -> None:
    built.build(built.asks(ROWS[1:2], "second.asks.jsonl"))
    assert built.build(built.asks(ROWS[:1])).replaced == ("own.asks.jsonl",)
    asks = built.opened()
    assert asks is not None and [ask.source for ask in asks.chunks()] == ["own.asks.jsonl", "second.asks.jsonl"]
    with pytest.raises(BadInput) as refused:
        built.build(remove=["third.asks.jsonl"])
    assert refused.value.hint == "there are: book.md, own.asks.jsonl, second.asks.jsonl"
    assert built.build(remove=["own.asks.jsonl", "second.asks.jsonl"]).removed == (
        "own.asks.jsonl",
        "second.asks.jsonl",
    )
    assert built.opened() is None and not list((built.index / "asks").glob("*.parquet"))


def test_without_questions_the_search_is_what_it_was(shelf: Shelf) -> None:
    shelf.build(shelf.write("book.md", BOOK))
    assert not (shelf.index / "asks").exists() and "bound_to" not in (shelf.index / "manifest.json").read_text()
    before = shelf.search().search("What is a page fault?").hits
    shelf.build(shelf.asks())
    shelf.build(remove=["own.asks.jsonl"])
    assert shelf.search().search("What is a page fault?").hits == before


def test_a_fresh_index_holds_no_old_questions(built: Shelf) -> None:
    built.build(built.root / "book.md", fresh=True)
    assert built.opened() is None


def test_questions_of_another_state_or_encoder_are_left_out(built: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    corpus = read_manifest(built.index)
    other = replace(built.encoder, revision="fake-2")
    assert ASKS.open(built.index, corpus, other.id) is None
    # As a build leaves it that is killed between the documents and the questions.
    write_manifest(built.index / "asks", read_manifest(built.index / "asks").model_copy(update={"bound_to": "old"}))
    assert built.opened() is None
    assert [record.message[:32] for record in caplog.records] == ["students' questions are left out"] * 2
    assert built.build().asks == 3 and built.opened() is not None  # the next build mends it
    next((built.index / "asks").glob("vectors-*")).unlink()
    assert built.opened() is None


def test_another_document_and_the_questions_of_an_faq_stay_on_the_same_scale(built: Shelf) -> None:
    notes = "# Notes\n\nInodes hold the size, the owner and the times of a file.\n"
    built.build(built.write("faq.md", FAQ), built.write("notes.md", notes))
    assert "Inodes" in built.best("Where are owner and size of a file held?")
    assert built.best("Is a mutex faster than a spinlock?").startswith("Is a mutex")
    assert built.best("死锁是什么？").startswith("死锁")
    manifest = ASKS.manifest(built.index)
    assert manifest is not None and manifest.counts["bound"] == 3  # an FAQ's own questions are not readers'


def test_they_are_told_by_info_and_renewed_for_another_encoder(built: Shelf, tmp_path: Path) -> None:
    assert collections(tmp_path / "index")["textbook"]["readers_questions"] == 3
    other, told = FakeEncoder(name="other", revision="o/1", dim=32), []
    copies = copies_of(built.index, tmp_path)
    assert copies.fitting(built.encoder.id) == built.index and copies.fitting(other.id) is None
    place = copies.make(other, lambda done, total: told.append((done, total)))
    assert copies.fitting(other.id) == place and (told[0], told[-1]) == ((0, 6), (6, 6))
    renewed = ASKS.open(place, read_manifest(place), other.id)
    assert renewed is not None and renewed.dense.dim == 32 and renewed.searchable == 3
    built.build(built.asks(ROWS[:1]))  # other questions about the same corpus
    copies = copies_of(built.index, tmp_path)
    assert copies.fitting(other.id) is None
    place = copies.make(other, lambda *_: None)
    renewed = ASKS.open(place, read_manifest(place), other.id)
    assert renewed is not None and renewed.searchable == 1
