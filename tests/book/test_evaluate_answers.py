"""Figures of answers whose key points are known."""

from osrag.answer.events import Done, Retrieved, Said, Token
from osrag.evaluate.answers import KeyPoints, Point, rows
from osrag.evaluate.figures import plain
from osrag.types import Chunk, PageRef, Passage
from tests.fakes import FakeEncoder

ROW = {
    "id": "one",
    "question": "What is a deadlock?",
    "language": "en",
    "kind": "what",
    "points": [
        {"text": "threads wait for each other", "words": [["wait"], ["thread", "process"]]},
        {"text": "for ever", "words": [["for ever", "forever"]]},
    ],
}


def test_a_point_is_said_where_each_group_has_a_word() -> None:
    point = Point(text="copied when written", words=[["copy", "copies"], ["on_write"]])
    assert point.said_in("It COPIES a page on\\_write.")
    assert not point.said_in("It copies a page.")


def test_answers_are_counted_by_language_kind_and_how() -> None:
    said = (Said("Threads wait for each other.", (1,), True), Said("Threads wait for each other.", (2,), True))
    events = [Token("textbook", "Threads wait for each other. [1]"), Done("…", (), "composed", said)]
    found = list(rows([KeyPoints.model_validate(ROW)], lambda question: iter(events), FakeEncoder()))
    figures = plain(found)
    for group in ("all", "en", "what", "composed"):
        assert figures[group]["points_said"] == 0.5 and figures[group]["all_points"] == 0
    assert figures["all"]["statements"] == 2 and figures["all"]["repeated"] == 0.5
    assert found[0].note["missing"] == ["for ever"]


def test_a_citation_counts_where_its_passage_bears_the_statement_out() -> None:
    told = "Threads in a deadlock wait for each other for ever."
    pages = [told, "A semaphore is an integer with a queue of waiting threads."]
    chunks = [Chunk(f"b#{n}", text, "b.pdf", PageRef(n, n, str(n)), n, (), "en") for n, text in enumerate(pages)]
    shown = Retrieved("textbook", tuple(Passage(n, one, 1.0, 1.0) for n, one in enumerate(chunks, start=1)), "")
    said = (Said(told, (1, 2), True), Said("Nobody ever cited this sentence.", (), False))
    events = [shown, Token("textbook", told), Done("…", (), "composed", said)]
    (row,) = rows([KeyPoints.model_validate(ROW)], lambda question: iter(events), FakeEncoder())
    assert row.scores["citation_recall"] == (1, 2) and row.scores["citation_precision"] == (1, 2)


def test_a_prepared_statement_is_borne_out_by_the_page_that_has_its_quote_and_its_numbers() -> None:
    page = Chunk("b#1", "The hand clears the bit of 4 pages.", "b.pdf", PageRef(1, 1, "1"), 1, (), "en")
    shown = Retrieved("textbook", (Passage(1, page, 1.0, 1.0),), "")
    quote = "The hand clears the bit"
    said = (
        Said("A reference is forgotten when the pointer passes.", (1,), False, quote),
        Said("Eight references are forgotten: 8.", (1,), False, quote),
        Said("A reference is forgotten when the pointer passes.", (1,), False, "A quote of another page"),
    )
    events = [shown, Token("textbook", "…"), Done("…", (), "composed", said)]
    (row,) = rows([KeyPoints.model_validate(ROW)], lambda question: iter(events), FakeEncoder())
    assert row.scores["citation_precision"] == (1, 3)
