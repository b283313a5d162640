"""What to read next: near to what was asked and missed, never what was just read."""

import numpy as np

from osrag.study.recommend import LAST, Interest, Profile, Sections, exercise_for, recommend
from osrag.types import Chunk, PageRef


def page(number: str) -> Chunk:
    section = (f"Chapter {number[0]}", f"{number} Of {number}")
    return Chunk(f"os-course-en.pdf#{number}", "", "os-course-en.pdf", PageRef(1, 1, "1"), 0, section, "en")


NUMBERS = ("5.1", "5.2", "6.1", "6.2")
VECTORS = np.asarray([[1, 0.1, 0], [1, -0.1, 0], [0, 0.1, 1], [0, -0.1, 1]], dtype=np.float32)
BOOK = Sections(NUMBERS, tuple(map(page, NUMBERS)), VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True))
DEADLOCK = Interest("asked", "What is deadlock?", (1, 0.1, 0), ("5.1",))
MEMORY = Interest("missed", "Which page goes?", (0, 0.1, 1))


def test_the_nearest_section_that_was_not_read_comes_with_its_reason():
    (one,) = recommend(Profile((DEADLOCK,)), BOOK, k=1)
    assert (one.number, one.because.text) == ("5.2", "What is deadlock?")


def test_a_mistake_weighs_three_questions_and_may_lead_to_its_own_section():
    (one,) = recommend(Profile((DEADLOCK, DEADLOCK, MEMORY)), BOOK, k=1)
    assert (one.number, one.because.sign) == ("6.1", "missed")
    opened = Interest("opened", "6.1", (0, 0.1, 1), ("6.1",))
    assert recommend(Profile((MEMORY, opened)), BOOK, k=1)[0].number == "6.2"


def test_nothing_is_recommended_before_the_first_sign_nor_when_all_is_read():
    assert recommend(Profile(), BOOK) == []
    assert recommend(Profile((Interest("asked", "?", (1, 0, 0), NUMBERS),)), BOOK) == []


def test_the_last_ten_signs_count():
    profile = Profile()
    for number in range(LAST + 3):
        profile = profile.after(Interest("asked", str(number), (1, 0, 0)))
    assert len(profile.interests) == LAST and not profile.has("asked", "2") and profile.has("asked", "3")


def test_an_exercise_of_the_section_that_was_not_done():
    names = [("a/en", "6.1"), ("b/en", "6.1.2"), ("c/en", "6.10")]
    assert exercise_for("6.1", names, []) == "a/en"
    assert exercise_for("6.1", names, ["a/en"]) == "b/en"
    assert exercise_for("6.1", names, ["a/en", "b/en"]) == ""
