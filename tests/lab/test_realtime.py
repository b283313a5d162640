"""Periodic tasks: the course book's examples, response-time analysis as an oracle, exercises and drawings."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from osrag.lab.catalog import KINDS
from osrag.lab.exercise import exercise
from osrag.lab.kind import Solution
from osrag.lab.realtime import Task, bound, schedule
from osrag.lab.solve import sentence, solve
from tests.lab.checks import LANGUAGES, check_choices, check_generated, check_told, faults

KIND = KINDS["rate_monotonic"]
BOOK = "T1 5 2; T2 7 4"  # section 3.5


def solved(tasks: str, **values: Any) -> Solution:
    found = solve(KIND, {"tasks": tasks, **values})
    assert found.solution is not None, (found.missing, [fault.sentence("en") for fault in found.faults])
    return found.solution


def chart(solution: Solution) -> list[tuple[Any, ...]]:
    return [step.row[:3] for step in solution.steps if step.row]


def test_the_example_of_the_course_book() -> None:
    rm, edf = solved(BOOK), solved(BOOK, algorithm="edf")
    assert round(rm.results["rt_utilisation"].value, 3) == 0.971
    assert chart(rm) == [(0, 2, "T1"), (2, 5, "T2"), (5, 7, "T1")]
    assert (rm.results["rt_succeeds"].value, rm.results["rt_missed_at"].value) == (False, 7)
    assert sentence(rm.steps[-1], "en") == "At 7 T2 still needs 1 and misses its deadline."
    assert chart(edf)[:5] == [(0, 2, "T1"), (2, 6, "T2"), (6, 8, "T1"), (8, 12, "T2"), (12, 14, "T1")]
    assert edf.results["rt_succeeds"].value is True


def test_above_the_bound_and_yet_in_time() -> None:
    """Exercise 3-10."""
    found = solved("A 4 1; B 6 2; C 12 3")
    assert found.results["rt_utilisation"].value == pytest.approx(0.833, abs=0.001)
    assert found.results["rt_bound"].value == pytest.approx(0.780, abs=0.001)
    assert found.results["rt_succeeds"].value is True


def test_the_question_bank() -> None:
    assert solved("A 4 2; B 7 3", algorithm="edf").results["rt_succeeds"].value is True  # ch03-010
    assert solved("A 4 2; B 7 3").results["rt_utilisation"].value == pytest.approx(0.929, abs=0.001)


def test_the_bound() -> None:
    assert [round(bound(count), 3) for count in (1, 2, 3)] == [1, 0.828, 0.780]
    assert bound(10_000) == pytest.approx(0.693, abs=0.001)


TASKS = st.lists(
    st.sampled_from((2, 3, 4, 5, 6, 8, 10, 12)).flatmap(
        lambda period: st.tuples(st.just(period), st.integers(1, period))
    ),
    min_size=1,
    max_size=4,
).map(lambda rows: [Task(f"T{number}", *row) for number, row in enumerate(rows)])


def response(tasks: list[Task]) -> bool:
    """Joseph and Pandya (1986): the least R = C + sum of ceil(R / T) C over the more urgent must meet the deadline."""
    ordered = sorted(tasks, key=lambda task: task.period)
    for place, task in enumerate(ordered):
        total, before = task.run, 0
        while total != before and total <= task.period:
            before = total
            total = task.run + sum(-(-before // other.period) * other.run for other in ordered[:place])
        if total > task.period:
            return False
    return True


@settings(max_examples=60, deadline=None)
@given(TASKS)
def test_rate_monotonic_against_response_times(tasks: list[Task]) -> None:
    assert (not schedule(tasks, "rm").missed) == response(tasks)


@settings(max_examples=60, deadline=None)
@given(TASKS)
def test_earliest_deadline_first_succeeds_exactly_up_to_full_use(tasks: list[Task]) -> None:
    use = sum(Fraction(task.run, task.period) for task in tasks)
    found = schedule(tasks, "edf")
    assert (not found.missed) == (use <= 1)
    assume(not found.missed)
    ran = {task.name: sum(run.end - run.start for run in found.runs if run.task == task.name) for task in tasks}
    assert ran == {task.name: found.end // task.period * task.run for task in tasks}
    assert all(run.end <= run.deadline for run in found.runs)
    assert not schedule(tasks, "rm").missed or use > bound(len(tasks)) - 1e-9


def test_idle_time_and_preemption_are_told() -> None:
    told = [sentence(step, "en") for step in solved("A 4 1; B 10 4").steps]
    assert "B runs from 1 to 4, when a more urgent task arrives and preempts it; its deadline is 10." in told
    assert "From 6 to 8 no task is ready." in told


@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        ("A 4", "“A 4” is not “name period run-time” in whole numbers."),
        ("A 4 -1", "is not “name period run-time”"),
        ("A 4 1; A 5 1", "There are two tasks named A."),
        ("A 0 1", "The period of A must lie between 1 and 100000"),
        ("A 4 5", "The run time of A must lie between 1 and its period of 4; it is 5."),
        ("A 4 0", "The run time of A must lie between 1"),
        ("A 9973 1; B 9967 1", "There would be more than 2000 arrivals"),
    ],
)
def test_faults_name_the_field_and_the_rule(tasks: str, told: str) -> None:
    assert told in faults(KIND, tasks=tasks)["tasks"]


def test_exercises_words_and_drawings() -> None:
    check_generated(KIND, range(51))
    check_choices(KIND)
    for tasks in (BOOK, "A 4 1; B 10 4", "A 2 2; B 3 3"):
        for algorithm in ("rm", "edf"):
            for ask in ("rt_utilisation", "rt_bound", "rt_succeeds", "rt_missed_at", "rt_order"):
                values = {"tasks": tasks, "algorithm": algorithm, "ask": ask}
                check_told(KIND, KIND.parameters.model_validate(values))


def test_about_half_of_the_harder_exercises_miss_a_deadline() -> None:
    answers = [exercise(KIND, seed, "hard").answer.value for seed in range(30)]
    assert 8 <= answers.count(True) <= 22 and all(exercise(KIND, 1, "easy").question(each) for each in LANGUAGES)
