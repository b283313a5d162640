"""Computing and I/O in turn: the course book's example, a schedule by units of time, faults, exercises, drawings."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.catalog import KINDS
from osrag.lab.kind import Solution
from osrag.lab.solve import sentence, solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

KIND = KINDS["io_overlap"]
BOOK = "A 2 3 2; B 3 2 1"  # section 1.4


def solved(programs: str, **values: Any) -> Solution:
    found = solve(KIND, {"programs": programs, **values})
    assert found.solution is not None, (found.missing, [fault.sentence("en") for fault in found.faults])
    return found.solution


def figures(programs: str, **values: Any) -> tuple[Any, ...]:
    results = solved(programs, **values).results
    return tuple(results[name].value for name in ("makespan", "utilisation", "makespan_alone", "utilisation_alone"))


def test_the_example_of_the_course_book() -> None:
    solution = solved(BOOK)
    rows = [step.row for step in solution.steps if step.row]
    assert rows == [(0, 2, "A", 2, 5), (2, 5, "B", 5, 7), (5, 7, "A", None, None), (7, 8, "B", None, None)]
    assert figures(BOOK) == (8, 100, 13, pytest.approx(61.5, abs=0.05))


def test_the_exercise_and_the_bank() -> None:
    assert figures("A 3 4 1; B 2 2 3") == (11, pytest.approx(81.8, abs=0.05), 15, 60)  # exercise 1-6
    assert figures("A 2 4 2; B 4 2 2") == (10, 100, 16, 62.5)  # ch01-026


def test_the_conventions() -> None:
    jobs = "A 1 2 3; B 4 1 1"
    assert [step.row[:3] for step in solved(jobs, preemption="preemptive").steps if step.row] == [
        (0, 1, "A"), (1, 3, "B"), (3, 6, "A"), (6, 8, "B"), (9, 10, "B"),
    ]  # fmt: skip
    assert [step.row[:3] for step in solved(jobs).steps if step.row][:3] == [(0, 1, "A"), (1, 5, "B"), (5, 8, "A")]
    both = "A 1 4 1; B 1 4 1"
    assert figures(both)[0] == 7 and figures(both, devices="shared_device")[0] == 10
    three = "A 1 3 1; B 3 1 1; C 2 1 1"
    listed = [step.row[2] for step in solved(three).steps if step.row]
    ready = [step.row[2] for step in solved(three, chosen="ready_first_program").steps if step.row]
    assert (listed, ready) == (list("ABABCC"), list("ABCABC"))


def ticked(programs: list[tuple[int, ...]], preemptive: bool, shared: bool) -> int:
    """The total time, one unit after the other: first everybody's wishes, then one unit for each who is served."""
    todo = [list(bursts) for bursts in programs]
    doing = [0] * len(programs)  # even: wants the processor; odd: wants a device
    queue: list[int] = []
    running, now = -1, 0
    while any(todo):
        wants = [number for number, rest in enumerate(todo) if rest and doing[number] % 2 == 0]
        if running not in wants or preemptive:
            running = wants[0] if wants else -1
        served = [number for number, rest in enumerate(todo) if rest and doing[number] % 2]
        queue = [number for number in queue if number in served]
        served = queue[:1] if shared else served
        for number in [*served, *([running] if running >= 0 else [])]:
            todo[number][0] -= 1
            if not todo[number][0]:
                todo[number].pop(0)
                doing[number] += 1
                if number == running:
                    running = -1
                    queue.append(number)
                elif number in queue:
                    queue.remove(number)
        now += 1
    return now


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=5).map(tuple), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_the_total_against_units_of_time(programs: list[tuple[int, ...]], preemptive: bool, shared: bool) -> None:
    text = "; ".join(f"P{number} {' '.join(map(str, bursts))}" for number, bursts in enumerate(programs))
    values = {"preemption": "preemptive" if preemptive else "non_preemptive"}
    values["devices"] = "shared_device" if shared else "own_devices"
    total, use, alone, _ = figures(text, **values)
    assert total == ticked(programs, preemptive, shared)
    assert max(map(sum, programs)) <= total <= alone and 0 < use <= 100


def test_idle_time_is_told() -> None:
    told = [sentence(step, "en") for step in solved("A 1 5 1").steps]
    assert told[1] == "From 1 to 6 all jobs do I/O or are complete; the processor is idle."


@pytest.mark.parametrize(
    ("programs", "told"),
    [
        ("A", "“A” is not “name processor I/O processor …” in whole numbers."),
        ("A 1 x", "“A 1 x” is not"),
        ("A 1 -2", "“A 1 -2” is not"),
        ("A 1; A 2", "The name “A” is there twice"),
        ("A 1 0 2", "Each of the times of A must lie between 1 and 100000"),
    ],
)
def test_faults_name_the_field_and_the_rule(programs: str, told: str) -> None:
    assert told in faults(KIND, programs=programs)["programs"]


def test_one_program_is_asked_for_by_its_name() -> None:
    assert solve(KIND, {"programs": BOOK, "ask": "completion"}).missing == ("process",)
    assert solved(BOOK, ask="completion", process="A").results["completion"].value == 7
    assert "There is no process C" in faults(KIND, programs=BOOK, process="C")["process"]


def test_exercises_words_and_drawings() -> None:
    check_generated(KIND, range(51))
    check_choices(KIND)
    for devices in ("own_devices", "shared_device"):
        for preemption in ("preemptive", "non_preemptive"):
            for ask in KIND.parameters.model_fields["ask"].annotation.__args__:
                values = {"programs": "A 1 2 3; B 4 1 1; C 2 2", "ask": ask, "process": "B"}
                values |= {"devices": devices, "preemption": preemption}
                check_told(KIND, KIND.parameters.model_validate(values))
