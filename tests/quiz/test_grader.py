"""The figures that a point asks for, and the marks of answers in a student's own words."""

import json
from pathlib import Path

import pytest

from osrag.quiz.bank import shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.figures import content_words, figures_missed, is_figure
from osrag.quiz.grader import Grader, key_points, readable_parts
from osrag.quiz.written import earned
from tests.fakes import FakeEncoder, FakePairs
from tests.quiz.parts import real_grader

LABELS = Path(__file__).resolve().parents[2] / "examples" / "eval" / "quiz"


@pytest.mark.parametrize(
    ("point", "answer", "missed"),
    [
        ("W begins at 8", "it starts at 11", 1),
        ("W begins at 8", "它在 8 开始", 0),
        ("5 轮", "一共要五轮", 0),
        ("5 rounds", "Five rounds.", 0),
        ("12 个页框", "要十二个页框", 0),
        ("2 个页框", "要十二个页框", 1),
        ("about 333 per second", "1000 / 3 = 333.3", 0),
        ("offset 60 000", "the byte at 60,000", 0),
        ("order 55, 20, 100, 160", "55,20,100,160", 0),
        ("turnaround times 4, 10, 3", "4, 8 and 3", 1 / 3),
        ("T1 preempts T2", "it preempts the other", 0),  # a name, no figure
        ("mutual exclusion", "42", 0),
        ("9 (or 10)", "It took 10 time units", 0),
        ("9（或10）", "用了 9 个单位", 0),
        ("9 (or 10)", "It took 8 time units", 1),
    ],
)
def test_figures_of_a_point_are_looked_for_in_the_answer(point, answer, missed):
    assert figures_missed(point, answer, "When?") == pytest.approx(-missed)


def test_figures_of_the_question_prove_nothing_where_the_point_has_its_own():
    assert figures_missed("2 blocks for 1, 4 blocks for 3", "1 and 3", "Change 1 block and 3 blocks.") == -1
    assert figures_missed("RAID 10 for the database", "RAID 10", "RAID 10 or RAID 6?") == 0


def test_a_point_may_be_a_figure_and_nothing_else():
    assert is_figure("9 (or 10)") and is_figure("10 time units")
    assert not is_figure("FIFO 7 次") and not is_figure("mutual exclusion")


@pytest.mark.parametrize(("answer", "fraction"), [("It took 10 time units.", 1), ("8 time units", 0), ("9", 1)])
def test_a_bare_figure_is_said_or_it_is_not(answer, fraction):
    item = Exercise("short_answer", "en", "How long did it take?", reference="9 (or 10)")
    (found,) = Grader(FakeEncoder(), FakePairs()).matches(item, key_points(item.reference), answer)
    assert found.fraction == fraction


def test_a_long_answer_is_read_in_parts_and_nothing_of_it_is_left_out():
    answer = "\n".join(f"Sentence number {n} of a long answer says this." for n in range(200))
    parts = readable_parts(answer)
    assert "".join(parts).split() == answer.split() and max(map(len, parts)) < 1_500
    assert readable_parts("One sentence.") == ["One sentence."]


def test_a_point_that_only_the_end_of_a_long_answer_says_is_found():
    item = Exercise("short_answer", "en", "What is it?", reference="Mutual exclusion")
    answer = "\n".join(["The rest of this answer talks about other matters of locks."] * 60 + ["Mutual exclusion."])
    (found,) = Grader(FakeEncoder(), FakePairs()).matches(item, key_points(item.reference), answer)
    assert found.fraction > 0.9 and found.said == "Mutual exclusion."


def test_beside_an_encoder_without_a_pair_encoder_a_teacher_is_asked():
    item = Exercise("short_answer", "en", "What is it?", reference="Mutual exclusion")
    (found,) = Grader(FakeEncoder(), None).matches(item, key_points(item.reference), "Mutual exclusion")
    assert found.fraction > 0.5 and found.sure < 0.6


def test_minus_signs_are_no_bullets_and_each_line_of_a_trace_is_a_point():
    assert key_points("-1 is returned\n-EINTR means interrupted") == ["-1 is returned", "-EINTR means interrupted"]
    assert key_points("0: P1\n4: P2\n6: P3") == ["0: P1", "4: P2", "6: P3"]
    assert key_points("- keeps a copy\n- frees the page") == ["keeps a copy", "frees the page"]


def test_every_label_belongs_to_a_point_and_no_question_is_in_both_files():
    bank = {(item.id, item.language): item for item in shipped_bank().exercises()}
    ids = []
    for name in ("points.jsonl", "points_held_out.jsonl", "ablation.jsonl", "turned.jsonl"):
        rows = [json.loads(line) for line in (LABELS / name).read_text("utf-8").splitlines()]
        for row in rows:
            assert len(row["said"]) == len(bank[row["id"], row["language"]].rubric)
            assert set(row["said"]) <= {0, 0.5, 1} and row["answer"].strip()
        ids.append({row["id"] for row in rows})
    assert not ids[0] & ids[1]


@pytest.fixture(scope="module")
def shares():
    """How much of each point of a question of the bank an answer says, with the real encoder."""
    grader = real_grader()
    bank = {(item.id, item.language): item for item in shipped_bank().exercises()}

    def told(id: str, language: str, answer: str) -> list[float]:
        item = bank[id, language]
        points = [point.point for point in item.rubric]
        return [match.fraction for match in grader.matches(item, points, answer)]

    return told


@pytest.mark.slow
def test_half_of_two_comparisons_earns_about_half_of_them(shares):
    found = shares("ch02-025", "zh", "用户级线程切换不进内核，速度快；但一个线程阻塞会使整个进程阻塞。")
    assert sum(found[:2]) == pytest.approx(1, abs=0.4) and found[2:] == pytest.approx([0, 0], abs=0.15)


@pytest.mark.slow
def test_wrong_figures_earn_less_than_right_ones(shares):
    right = shares("ch02-027", "en", "One thread does 200 per second, many threads at most 333 per second.")
    wrong = shares("ch02-027", "en", "One thread does 91 per second, many threads at most 125 per second.")
    assert sum(right[1:3]) > 1.5 and sum(wrong[1:3]) < 0.5 * sum(right[1:3])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "answer"),
    [("zh", "今天天气很好，适合出去走走。"), ("en", "The weather is fine and I would like to go for a walk.")],
)
def test_an_answer_about_the_weather_earns_nothing(shares, language, answer):
    assert [earned(one, 1) for one in shares("ch02-025", language, answer)] == [0, 0, 0, 0]


@pytest.mark.slow
def test_a_bare_list_of_the_words_of_the_rubric_earns_next_to_nothing(shares):
    item = next(one for one in shipped_bank().exercises() if one.name == "ch01-025/en")
    words = dict.fromkeys(word for point in item.rubric for word in content_words(point.point))
    assert sum(shares("ch01-025", "en", ", ".join(words))) < 0.6
    said = "A monolithic kernel is fast because its parts call each other as functions."
    assert sum(shares("ch01-025", "en", said)) > 0.6
