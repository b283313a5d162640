"""The confidence of a search, and the results that are kept."""

import pytest

from osrag.index.confidence import REFUSE, Confidence, load_confidence
from osrag.recent import Recent


def test_a_signal_moves_the_probability_by_its_weight():
    model = Confidence(-1.0, {"terms": 1.0})
    assert model({"terms": 1.0}) == 0.5
    assert model({"terms": 2.0}) == pytest.approx(0.7311, abs=1e-4)  # the logistic function of 1
    assert model({"terms": -1000.0}) < 1e-9 and model({"terms": 1000.0}) > 1 - 1e-9
    with pytest.raises(KeyError):
        model({"cosine": 1.0})


def test_the_fitted_models_answer_clear_questions_and_refuse_far_ones():
    book, kernel = load_confidence("textbook"), load_confidence("kernel")
    assert book({"cosine": 0.92, "foreign": 0, "terms": 1}) > REFUSE > book({"cosine": 0.82, "foreign": 0, "terms": 0})
    assert kernel({"dense": 5, "words": 1, "known": 1}) > REFUSE > kernel({"dense": 2, "words": 0.3, "known": 0.5})


def test_a_passage_in_another_language_than_the_question_may_lie_further_off():
    book, far = load_confidence("textbook"), {"cosine": 0.83, "terms": 1}
    assert book({**far, "foreign": 1}) > REFUSE > book({**far, "foreign": 0})


def test_the_value_that_was_not_used_for_longest_makes_room():
    kept: Recent[int] = Recent(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)


def test_what_is_not_kept_is_made_in_one_call_each_once():
    kept: Recent[str] = Recent(2)
    kept.put("a", "A")
    calls: list[list[str]] = []

    def made(keys: list[str]) -> list[str]:
        calls.append(keys)
        return [key.upper() for key in keys]

    assert kept.of(["b", "a", "b", "c"], made) == ["B", "A", "B", "C"]
    assert kept.of(["c", "b"], made) == ["C", "B"] and kept.of([], made) == []
    assert calls == [["b", "c"]]
