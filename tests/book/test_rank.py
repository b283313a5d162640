"""What orders textbook hits: pure functions of arrays, with values worked out by hand."""

import numpy as np
import pytest

from osrag.book.rank import pages_apart, standardised, taking_turns, with_other_language, with_section
from osrag.book.ranker import Ranker, ranker_of
from osrag.index.keyword import scaled


def test_cosines_are_told_by_their_distance_from_an_arbitrary_text() -> None:
    cosines = np.array([0.8, 0.9], dtype=np.float32)  # mean .85, standard deviation .05
    assert standardised(cosines).tolist() == pytest.approx([-0.2, 0.2], abs=1e-4)
    assert standardised(np.full(3, 0.8, dtype=np.float32)).tolist() == pytest.approx([0, 0, 0], abs=1e-5)


def test_keyword_scores_are_shares_of_the_best() -> None:
    assert scaled(np.array([2.0, 8.0], dtype=np.float32)).tolist() == [0.25, 1.0]
    assert scaled(np.zeros(2, dtype=np.float32)).tolist() == [0.0, 0.0]


def test_the_first_places_go_to_different_pages() -> None:
    page = np.array([7, 7, 8, 7, 9, 7], dtype=np.int64)
    order = np.array([0, 1, 3, 2, 4, 5], dtype=np.int64)
    assert pages_apart(order, page).tolist() == [0, 2, 4, 1, 3, 5]


def test_a_chunk_gains_from_the_rest_of_its_section() -> None:
    scores = np.array([0.5, 0.9, 0.5], dtype=np.float32)
    better, _, alone = with_section(scores, np.array([0, 0, 1], dtype=np.int64))
    assert better > alone


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ([6, 5], [0, 1, 2, 3, 5, 4, 6]),  # the best of the other language takes the last place of the head
        ([2, 6], [0, 1, 2, 3, 4, 5, 6]),  # it has one already
        ([], [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_the_head_holds_one_of_the_other_language(other: list[int], expected: list[int]) -> None:
    mask = np.isin(np.arange(7), other)
    assert with_other_language(np.arange(7), mask).tolist() == expected


def test_a_short_order_is_left_alone() -> None:
    assert with_other_language(np.arange(5), np.ones(5, dtype=np.bool_)).tolist() == [0, 1, 2, 3, 4]


def test_a_question_is_moved_halfway_to_where_its_answers_lie() -> None:
    ranker = Ranker(down=np.array([[1.0], [0.0]], np.float32), up=np.array([[-1.0, 1.0]], np.float32))
    assert ranker.toward(np.array([1.0, 0.0], np.float32)).tolist() == pytest.approx([0.5, 0.5])


def test_the_ranker_serves_the_encoder_that_it_was_fitted_on() -> None:
    ranker = ranker_of("multilingual-e5-small")
    assert ranker is not None and ranker.down.shape == ranker.up.T.shape == (384, 64)
    assert ranker_of("bge-m3") is None


def test_two_collections_take_turns_each_in_its_order() -> None:
    second = np.array([False, False, False, True, True])
    assert taking_turns(np.array([2, 0, 1, 4, 3]), second).tolist() == [4, 2, 3, 0, 1]
    assert taking_turns(np.array([1, 0]), second).tolist() == [1, 0]
