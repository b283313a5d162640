"""What orders textbook hits besides cosine and BM25."""

import numpy as np
import pytest

from osrag.book.everyday import load_words, parse_words
from osrag.book.rank import EXERCISE_PENALTY, RowTraits, pages_apart, penalties, with_section
from osrag.errors import BadInput

WORDS = parse_words("zh\ten\n硬盘|磁盘\tdisk|hard disk\n移动|搬\tmove|shove\n内存不足\tout of memory\n内存\tmemory\n")


def test_the_first_places_go_to_different_pages() -> None:
    page = np.array([7, 7, 8, 7, 9, 7], dtype=np.int64)
    order = np.array([0, 1, 3, 2, 4, 5], dtype=np.int64)
    assert pages_apart(order, page).tolist() == [0, 2, 4, 1, 3, 5]


def test_a_chunk_gains_from_the_rest_of_its_section() -> None:
    scores = np.array([0.5, 0.9, 0.5], dtype=np.float32)
    better, _, alone = with_section(scores, np.array([0, 0, 1], dtype=np.int64))
    assert better > alone


def test_an_exercise_loses_unless_it_is_asked_for() -> None:
    rows = RowTraits(
        exercise=np.array([True, False]),
        table=np.zeros(2, dtype=np.float32),
        section=np.zeros(2, dtype=np.int64),
        page=np.zeros(2, dtype=np.int64),
    )
    assert penalties(rows, "什么是死锁？").tolist() == pytest.approx([EXERCISE_PENALTY, 0.0])
    assert penalties(rows, "习题 3-4 怎么做？").tolist() == [0.0, 0.0]


def test_everyday_words_are_found_in_both_languages() -> None:
    (move,) = WORDS.find("Why does it shove everything around?")
    assert "移动" in move.other and "move" in move.own
    (disk,) = WORDS.find("硬盘灯一直亮")
    assert "disk" in disk.other and "磁盘" in disk.own


def test_the_longer_name_wins() -> None:
    assert [meaning.own for meaning in WORDS.find("内存不足了")] == [WORDS.find("内存不足")[0].own]
    assert len(WORDS.find("the memory is slow")) == 1  # "out of memory" is not named


def test_the_shipped_words_can_be_read() -> None:
    assert load_words().find("What happens at a power failure?")


def test_a_broken_row_is_named() -> None:
    with pytest.raises(BadInput, match="line 2"):
        parse_words("zh\ten\n只有中文\n")
