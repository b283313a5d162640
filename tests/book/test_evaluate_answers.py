"""Figures of answers whose key points are known."""

from osrag.answer.events import Done, Said, Token
from osrag.evaluate.answers import KeyPoints, Point, evaluate
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
    figures, misses = evaluate([KeyPoints.model_validate(ROW)], lambda question: iter(events), FakeEncoder())
    for group in ("all", "en", "what", "composed"):
        assert figures[group]["points_said"] == 0.5 and figures[group]["all_points"] == 0
    assert figures["all"]["statements"] == 2 and figures["all"]["repeated"] == 0.5
    assert figures["how"] == {"composed": 1}
    assert misses[0]["missing"] == ("for ever",)
