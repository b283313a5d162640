"""A reranker over what the merged search found: scripted, and a tiny real one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from osrag.book.chunking import search_text
from osrag.book.search import SearchResult, TextbookSearch
from osrag.errors import ModelFailed
from osrag.index.collection import Collection, write_collection
from osrag.index.rerank import blended
from osrag.text import tokens
from osrag.types import Chunk, Hit, LineRef
from tests.fakes import FakeEncoder
from tests.large import tiny

TEXTS = [
    "A process is a program in execution.",
    "A thread is a path of execution inside a process.",
    "The page table maps pages of a process to frames.",
    "A semaphore is an integer that two operations change.",
]


@dataclass
class ByWord:
    """Prefers passages with a word; fails where it is told to."""

    word: str
    name: str = "by-word"
    fails: bool = False
    asked: list[tuple[str, int]] = field(default_factory=list)

    def scores(self, query: str, passages: Sequence[str]) -> np.ndarray:
        self.asked.append((query, len(passages)))
        if self.fails:
            raise ModelFailed("the card is full", hint="wait")
        return np.array([0.9 if self.word in passage else 0.1 for passage in passages], dtype=np.float32)


def chunk(place: int, text: str, **more: object) -> Chunk:
    values = {"section": ("1 Basics",), "language": "en", **more}
    return Chunk(f"c{place}", text, "book.md", LineRef(place + 1, place + 1), place, **values)  # type: ignore[arg-type]


def collection(folder: Path, chunks: Sequence[Chunk]) -> Collection[Chunk]:
    encoder = FakeEncoder()
    texts = [search_text(one) for one in chunks]
    words = [tokens(text) for text in texts]
    write_collection(folder, chunks, encoder.passages(texts), words, of=Chunk, name="textbook", encoder=encoder.id)
    return Collection.load(folder, encoder.id, of=Chunk)


@pytest.fixture
def book(tmp_path: Path) -> Collection[Chunk]:
    return collection(tmp_path, [chunk(place, text) for place, text in enumerate(TEXTS)])


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.id for hit in hits]


def test_the_order_is_the_reranker_s_and_scores_fall(book: Collection[Chunk]):
    reader = ByWord("semaphore")
    hits = TextbookSearch(book, FakeEncoder(), reranker=reader).search("What is a process?", k=2).hits
    assert hits[0].chunk.id == "c3" and hits[0].score > hits[1].score
    assert reader.asked == [("What is a process?", 4)]  # more than were asked for are read
    plain = TextbookSearch(book, FakeEncoder()).search("What is a process?", k=2).hits
    assert plain[0].chunk.id != "c3"


def test_several_queries_have_one_order_by_the_question(book: Collection[Chunk]):
    reader = ByWord("thread")
    search = TextbookSearch(book, FakeEncoder(), reranker=reader)
    results = [search.search("process", k=2), search.search("semaphore", k=2)]
    merged = search.merge("what is a thread", results, k=3)
    assert reader.asked[-1][0] == "what is a thread"
    assert [hit.score for hit in merged] == sorted((hit.score for hit in merged), reverse=True)
    assert merged[0].chunk.id == "c1"


def test_a_reranker_that_breaks_costs_no_answer(book: Collection[Chunk]):
    broken = TextbookSearch(book, FakeEncoder(), reranker=ByWord("x", fails=True))
    assert ids(broken.search("page table", k=3).hits) == ids(
        TextbookSearch(book, FakeEncoder()).search("page table", k=3).hits
    )


def test_ties_keep_the_order_of_the_search(book: Collection[Chunk]):
    found = [Hit(chunk(place, text), 0.0, 0.9, "fusion") for place, text in enumerate(("no", "a lock", "the lock"))]
    search = TextbookSearch(book, FakeEncoder(), reranker=ByWord("lock"))
    merged = search.merge("what is a lock?", [SearchResult("lock", tuple(found), 0.9, {})] * 2, k=3)
    assert ids(merged) == ["c1", "c2", "c0"]


def test_two_orders_in_one():
    assert blended([7, 8, 9], np.array([0.1, 0.9, 0.2], dtype=np.float32))[0] == 8
    assert blended([7, 8, 9], np.array([0.9, 0.5, 0.1], dtype=np.float32)) == [7, 8, 9]


def test_a_tiny_real_reranker_ranks_the_book(book: Collection[Chunk], tmp_path: Path):
    pytest.importorskip("FlagEmbedding", reason="requirements-gpu.txt is not installed")
    from osrag.models.bge import BgeReranker

    reader = BgeReranker(tiny.bge_reranker(tmp_path / "rr"), device="cpu")
    hits = TextbookSearch(book, FakeEncoder(), reranker=reader).search("What is a process?", k=4).hits
    expected = reader.scores("What is a process?", [search_text(hit.chunk) for hit in hits])
    assert list(expected) == sorted(expected, reverse=True)
    assert np.allclose([hit.score for hit in hits], expected, atol=1e-4)
