"""Figures of textbook search: where the answer of a question stands, in either edition, and what is refused."""

from dataclasses import replace
from math import log2
from pathlib import Path

import pytest

from osrag.book.search import TextbookSearch
from osrag.evaluate.figures import plain
from osrag.evaluate.measures import first_right, hit_rate, mean_reciprocal_rank, ranked
from osrag.evaluate.textbook import PageQuestion, located, read_questions, rows
from osrag.index.collection import Collection, write_collection
from osrag.index.manifest import DocumentEntry
from osrag.text import tokens
from osrag.types import Chunk, PageRef
from tests.book.test_editions import EN, ZH, collection, document
from tests.fakes import FakeEncoder

EVAL = Path(__file__).parents[2] / "examples" / "eval" / "textbook"
TEXTS = {1: "A semaphore is an integer with a queue.", 2: "A mutex has an owner.", 3: "Only its owner unlocks a mutex."}


@pytest.fixture
def book(tmp_path) -> TextbookSearch:
    encoder = FakeEncoder()
    chunks = [
        Chunk(f"book.pdf#p{n}-1", text, "book.pdf", PageRef(n, n, str(n)), n, ("1 Locks",), "en")
        for n, text in TEXTS.items()
    ]
    write_collection(
        tmp_path,
        chunks,
        encoder.passages(list(TEXTS.values())),
        [tokens(text) for text in TEXTS.values()],
        of=Chunk,
        name="textbook",
        encoder=encoder.id,
        documents=[DocumentEntry(name="book.pdf", sha256="0", chunks=3)],
    )
    # Fake vectors have a scale of their own: the terms that a question names decide whether it is answered.
    return TextbookSearch(Collection.load(tmp_path, encoder.id, of=Chunk), encoder, fitted=False)


def test_ranks_become_figures():
    ranks = [first_right([False, True]), first_right([]), first_right([True])]
    assert ranks == [2, None, 1]
    assert hit_rate(ranks, 1) == pytest.approx(0.3333) and mean_reciprocal_rank(ranks) == 0.5
    assert hit_rate([], 1) == mean_reciprocal_rank([]) == 0


def test_a_ranking_is_scored_by_hand():
    found = ranked([False, True, True], wanted=2, cuts=(2, 3))
    assert found["precision@2"] == (0.5, 1) and found["recall@2"] == (0.5, 1) and found["recall@3"] == (1, 1)
    gain, best = 1 / log2(3) + 1 / log2(4), 1 / log2(2) + 1 / log2(3)
    assert found["ndcg@3"] == (pytest.approx(gain / best), 1)


def test_every_quote_that_answers_names_a_page(book):
    question = PageQuestion(question="Who unlocks?", quote=TEXTS[2], also=[TEXTS[3], "of an edition that is not here"])
    (asked,) = located(book, [question])
    assert asked.gold == {("book.pdf", 2), ("book.pdf", 3)}


def test_a_question_whose_own_page_is_missing_is_left_out(book):
    elsewhere = PageQuestion(question="Who unlocks?", quote="of another book", also=[TEXTS[3]])
    pages = PageQuestion(question="What is a semaphore?", gold_pages=[1])
    other = PageQuestion(question="What is a semaphore?", gold_pages=[1], book="other.pdf")
    figures = plain(rows(book, [elsewhere, pages, other]))
    assert figures["left_out"] == {"n": 2}
    assert figures["all"]["n"] == 1 and figures["all"]["hit@3"] == 1.0


def test_a_question_without_an_answer_must_be_refused(book):
    asked = ["Who won the football cup in Brazil?", "What is a semaphore good for in the kitchen?"]
    answered = PageQuestion(question="What is a semaphore?", gold_pages=[1])
    found = list(rows(book, [answered, *(PageQuestion(question=one) for one in asked)]))
    figures = plain(found)
    assert figures["absent"] == {"n": 2, "refused": 0.5} and figures["all"]["refused_wrongly"] == 0.0
    assert len(found) == 3 and figures["all"]["n"] == 1
    assert [row.note["answered"] for row in found if row.note] == asked[1:]


@pytest.mark.parametrize("gold", [{"quote": EN[1]}, {"gold_pages": [2], "book": "en.pdf"}])
def test_the_same_place_in_the_readers_edition_is_right(tmp_path, gold):
    chunks = collection(tmp_path, document("zh.pdf", ZH, "zh"), document("en.pdf", EN, "en"))
    entries = tuple(DocumentEntry(name=name, sha256="0", chunks=5) for name in ("zh.pdf", "en.pdf"))
    chunks.manifest = chunks.manifest.model_copy(update={"documents": entries})
    search = TextbookSearch(chunks, FakeEncoder(dim=512))
    question = PageQuestion(question="TLB 缓存什么？", language="zh", book_language="en", **gold)
    assert search.search(question.question, k=1).hits[0].chunk.source == "zh.pdf"  # the edition that the student reads
    assert plain(rows(search, [question]))["zh->en"]["hit@1"] == 1.0


def test_questions_of_this_repository_are_all_counted():
    off_topic, new = read_questions(EVAL / "off_topic.jsonl"), read_questions(EVAL / "ablation.jsonl")
    assert len(off_topic) == 80 and not any(question.is_answerable for question in off_topic)
    assert [sum(question.is_answerable is wanted for question in new) for wanted in (True, False)] == [84, 24]


def test_the_new_questions_have_their_page_in_the_shipped_book():
    shipped = Collection.load(EVAL.parents[2] / "index" / "textbook", None, of=Chunk)
    search = TextbookSearch(shipped, replace(FakeEncoder(), dim=384))
    new = [question for question in read_questions(EVAL / "ablation.jsonl") if question.is_answerable]
    assert len(located(search, new)) == len(new)
