"""Which prepared answer a question wants: by its words alone, or by what a pair encoder says of the nearest."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from osrag.answer.prepared import SURE, PreparedQuestion, PreparedQuestions
from tests.fakes import FakeEncoder

QUESTIONS = [
    PreparedQuestion("What is a page fault?", "en", "fault"),
    PreparedQuestion("page fault meaning", "en", "fault"),
    PreparedQuestion("什么是缺页？", "zh", "fault"),
    PreparedQuestion("How is a page fault handled?", "en", "handling"),
    PreparedQuestion("What is a deadlock?", "en", "deadlock"),
    PreparedQuestion("什么是死锁？", "zh", "deadlock"),
]


class Pairs:
    """Finds the questions of one answer the same; remembers what it was given."""

    def __init__(self, same: str = "", score: float = 2.0) -> None:
        self.same = same
        self.score = score
        self.read: list[list[str]] = []

    def scores(self, text: str, others: Sequence[str]) -> np.ndarray:
        self.read.append(list(others))
        return np.array([self.score if self.same and self.same in other else -3.0 for other in others], np.float32)


def prepared(pairs: Pairs | None, keywords: Callable[[str], np.ndarray] | None = None) -> PreparedQuestions:
    encoder = FakeEncoder()
    vectors = encoder.passages([one.text for one in QUESTIONS])
    texts = {"fault": "It takes 8 ms.", "deadlock": "四个条件"}
    return PreparedQuestions(QUESTIONS, vectors, encoder, pairs, answers=texts, keywords=keywords)


def test_a_question_in_the_same_words_but_for_its_frame_needs_no_model() -> None:
    pairs = Pairs()
    assert prepared(pairs).match("what is a  page fault", "en") == "fault" and not pairs.read
    assert prepared(None).match("什么是死锁", "zh") == "deadlock"
    assert prepared(None).match("Please tell me what a page fault is", "en") == "fault"
    assert prepared(None).match("What is lost by a page fault?", "en") is None


def test_other_words_are_the_same_question_where_the_pair_encoder_says_so() -> None:
    pairs = Pairs("How is a page fault handled?")
    assert prepared(pairs).match("What is done to handle a page fault?", "en") == "handling"
    assert {*pairs.read[0]} == {
        "How is a page fault handled?",
        "What is a page fault? / page fault meaning",
        "What is a deadlock?",
    }


def test_an_answer_is_near_by_its_words_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("osrag.answer.prepared.CANDIDATES", 1)
    pairs = Pairs()
    prepared(pairs).best("page fault costs", "en")
    prepared(pairs, lambda text: np.array([0, 0, 0, 0, 9, 0], np.float32)).best("page fault costs", "en")
    assert [read[0].split(" / ")[0] for read in pairs.read] == ["What is a page fault?", "What is a deadlock?"]


def test_the_chance_that_a_question_is_prepared_is_known_below_the_one_from_which_it_is_answered() -> None:
    known = prepared(Pairs("How is a page fault handled?", -1.9))
    assert known.chance("什么是死锁", "zh") == 1
    assert 0 < known.chance("Say what is done about a page fault.", "en") < SURE
    assert known.chance("What is done to handle a page fault? " * 20, "en") == 0
    assert prepared(None).chance("What is lost by a page fault?", "en") == 0


def test_a_near_miss_gets_no_answer() -> None:
    assert prepared(Pairs("page fault", -2.5)).match("What does a page fault cost?", "en") is None


def test_a_question_with_another_number_is_another_question() -> None:
    assert prepared(Pairs("page fault meaning")).match("Does a page fault take 4 ms?", "en") is None
    assert prepared(Pairs("page fault meaning")).match("Does a page fault take 8 ms?", "en") == "fault"


def test_a_comparison_of_three_things_is_not_answered_with_one() -> None:
    best = prepared(Pairs("page fault meaning", 9.0)).best("Compare a page fault, a deadlock and a semaphore.", "en")
    assert best is not None and best.chance == 0


def test_an_answer_is_given_in_the_language_of_the_question_only() -> None:
    pairs = Pairs("handled")
    assert prepared(pairs).match("page fault 怎么 handle", "zh") is None
    assert all("handled" not in other for other in pairs.read[0])


def test_in_a_language_without_prepared_questions_nothing_matches() -> None:
    english, encoder = [one for one in QUESTIONS if one.language == "en"], FakeEncoder()
    vectors = encoder.passages([one.text for one in english])
    own = PreparedQuestions(english, vectors, encoder, Pairs(), answers={"fault": "It takes 8 ms."})
    assert own.match("引起创建进程的事件有哪些？", "zh") is None


def test_a_long_text_is_no_prepared_question() -> None:
    pairs = Pairs("What")
    assert prepared(pairs).match("What is a page fault? " * 40, "en") is None and not pairs.read


def test_without_prepared_answers_nothing_matches() -> None:
    assert (
        PreparedQuestions([], np.zeros((0, 64), np.float32), FakeEncoder(), Pairs(), answers={}).match("Why?", "en")
        is None
    )


def test_the_nearest_other_answers_are_what_to_ask_next() -> None:
    assert prepared(None).others("fault", "en", 2) == ["How is a page fault handled?", "What is a deadlock?"]
    assert prepared(None).others("fault", "zh", 2) == ["什么是死锁？"]


def test_how_far_the_answers_cover_a_question_is_told_by_the_nearest() -> None:
    asked = "What does a page fault cost?"
    near, far = prepared(Pairs("page fault", 60.0)).covers(asked, "en"), prepared(Pairs()).covers(asked, "en")
    assert near is not None and far is not None and near > 0.9 > 0.1 > far
    assert prepared(Pairs()).covers("什么是死锁", "zh") == 1
    assert prepared(None).covers(asked, "en") is None
    assert prepared(Pairs()).covers(asked * 20, "en") is None
