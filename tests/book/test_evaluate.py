"""Figures of textbook search: where the answer of a question stands."""

from osrag.book.search import TextbookSearch
from osrag.evaluate.textbook import PageQuestion, evaluate, located
from osrag.index.collection import Collection, write_collection
from osrag.index.manifest import DocumentEntry
from osrag.text import tokens
from osrag.types import Chunk, PageRef
from tests.fakes import FakeEncoder

TEXTS = {1: "A semaphore is an integer with a queue.", 2: "A mutex has an owner.", 3: "Only its owner unlocks a mutex."}


def collection(folder) -> Collection[Chunk]:
    encoder = FakeEncoder()
    chunks = [
        Chunk(f"book.pdf#p{n}-1", text, "book.pdf", PageRef(n, n, str(n)), n, ("1 Locks",), "en")
        for n, text in TEXTS.items()
    ]
    write_collection(
        folder,
        chunks,
        encoder.passages(list(TEXTS.values())),
        [tokens(text) for text in TEXTS.values()],
        of=Chunk,
        name="textbook",
        encoder=encoder.id,
        documents=[DocumentEntry(name="book.pdf", sha256="0", chunks=3)],
    )
    return Collection.load(folder, encoder.id, of=Chunk)


def test_every_quote_that_answers_names_a_page(tmp_path):
    question = PageQuestion(question="Who unlocks?", quote=TEXTS[2], also=[TEXTS[3], "of an edition that is not here"])
    (asked,) = located(collection(tmp_path), [question])
    assert asked.gold == {("book.pdf", 2), ("book.pdf", 3)}


def test_a_question_whose_own_page_is_missing_is_left_out(tmp_path):
    elsewhere = PageQuestion(question="Who unlocks?", quote="of another book", also=[TEXTS[3]])
    pages = PageQuestion(question="What is a semaphore?", gold_pages=[1])
    report = evaluate(TextbookSearch(collection(tmp_path), FakeEncoder()), [elsewhere, pages])
    assert report.figures["left_out"] == 1
    assert report.figures["all"]["hit@3"] == 1.0
