"""CPU scheduling: the course book's figures, an independent schedule tick by tick, faults, exercises and drawings."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.catalog import KINDS
from osrag.lab.cpu import KINDS as CPU
from osrag.lab.cpu import MISTAKES, PROCESSES
from osrag.lab.exercise import Exercise, exercise, grade_trace
from osrag.lab.kind import Level, Result, Solution
from osrag.lab.solve import sentence, solve
from osrag.lab.words import table
from osrag.types import Language
from tests.lab.checks import check_told

LANGUAGES: tuple[Language, ...] = get_args(Language)
BOOK = "P1 0 6 3; P2 1 4 1; P3 3 2 4; P4 4 3 2"  # section 3.2
OTHERS = "A 0 7; B 2 3; C 4 1; D 6 4"  # exercise 3-2


def solved(kind: str, jobs: str, **values: Any) -> Solution:
    found = solve(KINDS[kind], {"jobs": jobs, **values})
    assert found.solution is not None, (found.missing, [fault.sentence("en") for fault in found.faults])
    return found.solution


def value(kind: str, jobs: str, ask: str = "average_waiting", **values: Any) -> Any:
    return solved(kind, jobs, ask=ask, **values).results[ask].value


def chart(solution: Solution) -> list[tuple[Any, ...]]:
    """Rows (process, from, to), slices of one process that touch being joined."""
    joined: list[tuple[Any, ...]] = []
    for start, end, process, *_ in (step.row for step in solution.steps if step.row):
        if joined and joined[-1][0] == process and joined[-1][2] == start:
            joined[-1] = (process, joined[-1][1], end)
        else:
            joined.append((process, start, end))
    return joined


def texts(chart: str) -> list[tuple[Any, ...]]:
    """`P1 0-6, P2 6-10` as the course book writes a chart."""
    pieces = (part.split() for part in chart.split(", "))
    return [(name, *map(int, times.split("-"))) for name, times in pieces]


@pytest.mark.parametrize(
    ("kind", "values", "averages"),  # turnaround, waiting, response: the table of section 3.3
    [
        ("fcfs", {}, (8.75, 5, 5)),
        ("sjf", {}, (8, 4.25, 4.25)),
        ("srtf", {}, (7.25, 3.5, 1.25)),
        ("hrrn", {}, (8.25, 4.5, 4.5)),
        ("priority", {"preemption": "non_preemptive"}, (9, 5.25, 5.25)),
        ("priority", {}, (8.25, 4.5, 2.75)),
        ("rr", {"quantum": 2}, (10.25, 6.5, 2)),
        ("rr", {"quantum": 4}, (9.5, 5.75, 3.5)),
        ("rr", {"quantum": 6}, (8.75, 5, 5)),
        ("mlfq", {"quanta": "2 4 inf"}, (9.75, 6, 1)),
    ],
)
def test_the_table_of_the_course_book(kind: str, values: dict[str, Any], averages: tuple[float, ...]) -> None:
    results = solved(kind, BOOK, **values).results
    asked = ("average_turnaround", "average_waiting", "average_response")
    assert tuple(results[name].value for name in asked) == averages


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("fcfs", {}, "P1 0-6, P2 6-10, P3 10-12, P4 12-15"),
        ("sjf", {}, "P1 0-6, P3 6-8, P4 8-11, P2 11-15"),
        ("srtf", {}, "P1 0-1, P2 1-5, P3 5-7, P4 7-10, P1 10-15"),
        ("hrrn", {}, "P1 0-6, P3 6-8, P2 8-12, P4 12-15"),
        ("priority", {}, "P1 0-1, P2 1-5, P4 5-8, P1 8-13, P3 13-15"),
        ("priority", {"preemption": "non_preemptive"}, "P1 0-6, P2 6-10, P4 10-13, P3 13-15"),
        ("rr", {"quantum": 2}, "P1 0-2, P2 2-4, P1 4-6, P3 6-8, P4 8-10, P2 10-12, P1 12-14, P4 14-15"),
        ("rr", {"quantum": 4}, "P1 0-4, P2 4-8, P3 8-10, P4 10-13, P1 13-15"),
        ("mlfq", {"quanta": "2,4,inf"}, "P1 0-2, P2 2-4, P3 4-6, P4 6-8, P1 8-12, P2 12-14, P4 14-15"),
    ],
)
def test_the_charts_of_the_course_book(kind: str, values: dict[str, Any], expected: str) -> None:
    assert chart(solved(kind, BOOK, **values)) == texts(expected)


def test_the_exercises_of_the_course_book() -> None:
    """Exercises 3-2 to 3-4 and the convoy."""
    averages = [(value(kind, OTHERS, "average_turnaround"), value(kind, OTHERS)) for kind in ("fcfs", "sjf", "srtf")]
    assert averages == [(7.75, 4), (7.25, 3.5), (6, 2.25)]
    assert (value("rr", OTHERS, quantum=2), value("rr", OTHERS, "average_response", quantum=2)) == (4.25, 1)
    together = "A 0 8; B 0 1; C 0 3; D 0 2; E 0 6"
    assert (value("sjf", together), value("fcfs", together)) == (4.4, 8.6)
    assert (value("fcfs", "A 0 20; B 0 2; C 0 2"), value("fcfs", "B 0 2; C 0 2; A 0 20")) == (14, 2)


def test_the_question_bank() -> None:
    jobs = "P1 0 5; P2 1 3; P3 2 1"
    assert [round(value(kind, jobs), 2) for kind in ("srtf", "sjf", "fcfs")] == [1.67, 2.67, 3.33]
    assert value("rr", jobs, "completion", quantum=2, process="P3") == 5
    assert value("srtf", jobs, "completion", process="P3") == 3
    assert value("sjf", "A 0 4; B 1 5; C 3 2", "order") == ("A", "C", "B")


def test_examples_of_silberschatz() -> None:
    """Operating System Concepts, 10th ed., section 5.3."""
    assert value("fcfs", "P1 0 24; P2 0 3; P3 0 3") == 17
    assert value("sjf", "P1 0 6; P2 0 8; P3 0 7; P4 0 3") == 7
    assert value("srtf", "P1 0 8; P2 1 4; P3 2 9; P4 3 5") == 6.5
    assert value("priority", "P1 0 10 3; P2 0 1 1; P3 0 2 4; P4 0 1 5; P5 0 5 2") == 8.2
    assert value("rr", "P1 0 24; P2 0 3; P3 0 3", quantum=4) == pytest.approx(17 / 3)


def test_fractions_of_a_unit_stay_exact() -> None:
    jobs = "P1 0.0 8; P2 0.4 4; P3 1.0 1"  # Silberschatz et al., exercise 5.4
    assert value("fcfs", jobs, "average_turnaround") == pytest.approx(10.53, abs=0.01)
    assert value("sjf", jobs, "average_turnaround") == pytest.approx(9.53, abs=0.01)


def test_weighted_turnaround_counts_in_bursts() -> None:
    assert value("fcfs", "A 0 2; B 0 4", "average_weighted_turnaround") == 1.25  # (2/2 + 6/4) / 2


def test_other_figures() -> None:
    jobs = "A 0 2; B 5 3"
    asked = {name: value("fcfs", jobs, name) for name in ("makespan", "utilisation", "throughput", "switches")}
    assert asked == {"makespan": 8, "utilisation": 62.5, "throughput": 0.25, "switches": 1}


# An independent schedule: one unit of time after the other, with lists and no events.


def ticked(jobs: list[tuple[str, int, int, int]], choose: Callable[[list[Any], Any, int], Any]) -> list[str]:
    """Who runs in each unit of time; `choose` gets the ready jobs, the one that ran and the time."""
    left = {job[0]: job[2] for job in jobs}
    ran: list[str] = []
    last = None
    while any(left.values()):
        now = len(ran)
        ready = [(*job, left[job[0]]) for job in jobs if job[1] <= now and left[job[0]]]
        last = choose(ready, last, now) if ready else None
        ran.append(last or "")
        if last:
            left[last] -= 1
            last = last if left[last] else None
    return ran


def kept(number: Callable[[Any, int], Any]) -> Callable[[list[Any], Any, int], Any]:
    """Without preemption: who runs stays."""

    def choose(ready: list[Any], last: Any, now: int) -> Any:
        return last or min(ready, key=lambda job: (number(job, now), job[1]))[0]

    return choose


def compared(number: Callable[[Any], Any]) -> Callable[[list[Any], Any, int], Any]:
    def choose(ready: list[Any], last: Any, now: int) -> Any:
        return min(ready, key=lambda job: (number(job), job[0] != last, job[1]))[0]

    return choose


ORACLES: dict[str, Callable[[list[Any], Any, int], Any]] = {
    "fcfs": kept(lambda job, now: job[1]),
    "sjf": kept(lambda job, now: job[2]),
    "hrrn": kept(lambda job, now: -Fraction(now - job[1], job[2])),
    "srtf": compared(lambda job: job[4]),
    "priority": compared(lambda job: job[3]),
}


def rotated(jobs: list[tuple[str, int, int, int]], quantum: int, arrival_first: bool) -> list[str]:
    """Round robin with a plain list, one unit of time after the other."""
    left = {job[0]: job[2] for job in jobs}
    queue: list[str] = []
    ran: list[str] = []
    running, used = "", 0
    while any(left.values()):
        now = len(ran)
        new = [job[0] for job in jobs if job[1] == now]
        over = running if running and used == quantum else ""
        if over:
            running = ""
        queue += [*new, over] if arrival_first else [over, *new]
        queue = [name for name in queue if name]
        if not running and queue:
            running, used = queue.pop(0), 0
        ran.append(running)
        if running:
            left[running] -= 1
            used += 1
            if not left[running]:
                running = ""
    return ran


def fed_back(jobs: list[tuple[str, int, int, int]], quanta: list[int]) -> list[str]:
    """Feedback queues with the book's rules as one sorted list of (level, place) a unit of time."""
    left = {job[0]: job[2] for job in jobs}
    level, used, place = {}, {}, {}
    ran: list[str] = []
    clock = 0
    moved = ""
    while any(left.values()):
        now = len(ran)
        for job in jobs:
            if job[1] == now:
                clock += 1
                level[job[0]], used[job[0]], place[job[0]] = 0, 0, clock
        if moved:
            clock += 1
            level[moved] = min(level[moved] + 1, len(quanta) - 1)
            used[moved], place[moved] = 0, clock
            moved = ""
        ready = [name for name in level if left[name]]
        name = min(ready, key=lambda each: (level[each], place[each])) if ready else ""
        ran.append(name)
        if name:
            left[name] -= 1
            used[name] += 1
            if left[name] and used[name] == quanta[level[name]]:
                moved = name
    return ran


def ticks(solution: Solution) -> list[str]:
    ran: list[str] = []
    for name, start, end in chart(solution):
        ran += [""] * (start - len(ran)) + [name] * (end - start)
    return ran


TIMES = st.integers(1, 9)
JOBS = st.lists(st.tuples(st.integers(0, 12), TIMES, st.integers(1, 4)), min_size=1, max_size=6).map(
    lambda rows: [(f"P{number}", *row) for number, row in enumerate(rows, 1)]
)


def text_of(jobs: list[tuple[str, int, int, int]]) -> str:
    return "; ".join(" ".join(map(str, job)) for job in jobs)


@settings(max_examples=60, deadline=None)
@given(JOBS)
def test_each_algorithm_against_a_schedule_by_units_of_time(jobs: list[tuple[str, int, int, int]]) -> None:
    for kind, choose in ORACLES.items():
        assert ticks(solved(kind, text_of(jobs))) == ticked(jobs, choose), kind
    calm = solved("priority", text_of(jobs), preemption="non_preemptive")
    assert ticks(calm) == ticked(jobs, kept(lambda job, now: job[3]))


@settings(max_examples=60, deadline=None)
@given(JOBS, st.integers(1, 5), st.booleans())
def test_round_robin_against_a_list(jobs: list[tuple[str, int, int, int]], quantum: int, first: bool) -> None:
    meeting = "arrival_first" if first else "expired_first"
    assert ticks(solved("rr", text_of(jobs), quantum=quantum, meeting=meeting)) == rotated(jobs, quantum, first)


@settings(max_examples=60, deadline=None)
@given(JOBS, st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_feedback_queues_against_a_list(jobs: list[tuple[str, int, int, int]], quanta: list[int]) -> None:
    assert ticks(solved("mlfq", text_of(jobs), quanta=" ".join(map(str, quanta)))) == fed_back(jobs, quanta)


@settings(max_examples=40, deadline=None)
@given(JOBS, st.integers(1, 5))
def test_what_holds_for_every_schedule(jobs: list[tuple[str, int, int, int]], quantum: int) -> None:
    text = text_of(jobs)
    extra = {"rr": {"quantum": quantum}, "mlfq": {"quanta": f"{quantum} 4 inf", "boost": 7}}
    found = {kind.name: solved(kind.name, text, **extra.get(kind.name, {})) for kind in CPU}
    for solution in found.values():
        ran = ticks(solution)
        assert {job[0]: ran.count(job[0]) for job in jobs} == {job[0]: job[2] for job in jobs}
        assert all(name not in ran[:arrival] for name, arrival, *_ in jobs)
        results = {name: result.value for name, result in solution.results.items()}
        bursts = sum(job[2] for job in jobs) / len(jobs)
        assert results["average_turnaround"] == pytest.approx(results["average_waiting"] + bursts)
        assert results["average_weighted_turnaround"] >= 1
        assert results["average_response"] <= results["average_waiting"] + 1e-9
    waits = {name: solution.results["average_waiting"].value for name, solution in found.items()}
    assert waits["srtf"] <= min(waits.values()) + 1e-9  # the least of all schedules (Schrage, 1968)
    busy = {name: {unit for unit, who in enumerate(ticks(one)) if who} for name, one in found.items()}
    assert len({frozenset(units) for units in busy.values()}) == 1  # none idles while somebody is ready


@settings(max_examples=30, deadline=None)
@given(st.lists(TIMES, min_size=1, max_size=5))
def test_shortest_first_is_best_of_all_orders_when_all_arrive_together(bursts: list[int]) -> None:
    def waited(order: tuple[int, ...]) -> int:
        return sum(sum(order[:place]) for place in range(len(order)))

    least = min(waited(order) for order in permutations(bursts))
    jobs = "; ".join(f"P{number} 0 {burst}" for number, burst in enumerate(bursts))
    assert value("sjf", jobs) * len(bursts) == pytest.approx(least)


# Conventions


def test_the_conventions_of_ties() -> None:
    jobs = "L 1 3; E 0 5; S 2 3"
    assert value("sjf", jobs, "order") == ("E", "L", "S")
    assert value("sjf", "S 2 3; E 0 5; L 1 3", "order") == ("E", "L", "S")
    assert value("sjf", "S 2 3; E 0 5; L 1 3", "order", ties="listed_first") == ("E", "S", "L")


def test_an_equal_arrival_preempts_only_by_its_rule() -> None:
    assert value("srtf", "A 0 4; B 2 2", "order") == ("A", "B")
    assert value("srtf", "A 0 4; B 2 2", "order", equal="newcomer_preempts") == ("A", "B", "A")
    jobs = "A 0 4 1; B 1 2 1; C 2 1 5"  # the arrival of C does not bring A back before B
    assert value("priority", jobs, "order", equal="newcomer_preempts") == ("A", "B", "A", "C")


def test_large_numbers_may_be_urgent() -> None:
    jobs = "A 0 4 1; B 1 2 2"
    assert value("priority", jobs, "order", urgent="large_number") == ("A", "B", "A")
    assert value("priority", jobs, "order") == ("A", "B")
    told = [sentence(step, "en") for step in solved("priority", jobs, urgent="large_number").steps]
    assert "B arrives with the priority number 2 and is more urgent than A with 1" in told[1]


def test_switching_costs_time() -> None:
    jobs = "A 0 4; B 0 4"
    assert chart(solved("rr", jobs, quantum=2, switch=1)) == texts("A 0-2, B 3-5, A 6-8, B 9-11")
    assert value("rr", jobs, "utilisation", quantum=2, switch=1) == pytest.approx(800 / 11)
    alone = "A 0 4"
    assert value("rr", alone, "completion", quantum=2, switch=1, process="A") == 4
    assert value("rr", alone, "completion", quantum=2, switch=1, process="A", switch_when="every_slice") == 5


def test_the_rules_of_feedback_queues() -> None:
    jobs = "A 0 6; B 3 2"
    assert chart(solved("mlfq", jobs, quanta="2 4")) == texts("A 0-3, B 3-5, A 5-8")
    assert chart(solved("mlfq", jobs, quanta="2 4", arrival="waits_for_slice_end")) == texts("A 0-6, B 6-8")
    three = "A 0 6; B 0 6; C 5 1"  # C preempts A, which has used 1 of 4
    assert chart(solved("mlfq", three, quanta="2 4"))[2:] == texts("A 4-5, C 5-6, A 6-9, B 9-13")
    tail = solved("mlfq", three, quanta="2 4", preempted="tail_with_full_quantum")
    assert chart(tail)[2:] == texts("A 4-5, C 5-6, B 6-10, A 10-13")


def test_a_boost_brings_all_back_to_the_first_queue() -> None:
    jobs = "A 0 9; B 0 9"
    rows = [step.row for step in solved("mlfq", jobs, quanta="1 2 4", boost=6).steps if step.row]
    assert [row[3] for row in rows if row[0] < 6] == [1, 1, 2, 2]
    assert [row[3] for row in rows if 6 <= row[0] < 8] == [1, 1]
    assert [row[0] for row in rows] == [0, 1, 2, 4, 6, 7, 8, 10, 12, 13, 14, 16]


def test_a_boost_during_a_slice_ends_it() -> None:
    rows = [step.row for step in solved("mlfq", "A 0 5; B 0 5", quanta="2 4", boost=5).steps if step.row]
    assert rows[2] == (4, 5, "A", 2, ("B", "A"))


def test_idle_time_is_told() -> None:
    solution = solved("sjf", "A 2 1; B 9 1")
    assert sentence(solution.steps[0], "en") == ("From 0 to 2 no process is ready; the processor is idle.")


def test_a_step_says_why() -> None:
    told = [sentence(step, "en") for step in solved("srtf", BOOK).steps]
    assert "At 1 P2 arrives and needs 4, less than the 5 that P1 has left, so P2 preempts." in told
    assert "At 3 P3 arrives and needs 2, as much as P2 has left; equality does not preempt." in told
    assert told[-1] == "Average waiting time = (9 + 0 + 2 + 3) ÷ 4 = 3.5."
    ratios = [sentence(step, "zh") for step in solved("hrrn", BOOK).steps][1]
    assert "P2 (5 + 4) ÷ 4 = 2.25, P3 (3 + 2) ÷ 2 = 2.5, P4 (2 + 3) ÷ 3 = 1.67" in ratios


def test_the_trace_of_a_student_is_compared() -> None:
    kind, values = KINDS["rr"], {"jobs": "A 0 3; B 2 2", "quantum": "2"}
    parameters = solve(kind, values).parameters
    assert parameters is not None
    right = [["0", "2", "A", "B, A"], ["2", "4", "B", "A"], ["4", "5", "A", "-"]]
    assert grade_trace(kind, parameters, right).score == 1
    wrong = grade_trace(kind, parameters, [["0", "2", "A", "A, B"], *right[1:]])
    assert (wrong.right, wrong.column) == (0, "cpu_queue")


# Faults


def refused(kind: str, **values: Any) -> str:
    found = solve(KINDS[kind], values)
    return " ".join(fault.sentence("en") for fault in found.faults)


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        ("fcfs", {"jobs": "P1 0"}, "“P1 0” is not “name arrival burst [priority]”."),
        ("fcfs", {"jobs": "P1 0 x"}, "“x” in “P1 0 x” is not a number"),
        ("fcfs", {"jobs": "P1 0 1e99999999"}, "is not a number"),
        ("fcfs", {"jobs": "P1 0 -5"}, "The burst of P1 must be greater than 0; it is -5."),
        ("fcfs", {"jobs": "P1 0 0"}, "The burst of P1 must be greater than 0"),
        ("fcfs", {"jobs": "P1 -1 5"}, "The arrival of P1 cannot be negative; it is -1."),
        ("fcfs", {"jobs": "P1 0 5; P1 1 2"}, "There are two processes named P1."),
        ("fcfs", {"jobs": "P1 0 500000"}, "The times of P1 may be at most 100000."),
        ("fcfs", {"jobs": "Averyveryverylongname 0 5"}, "is too long; at most 12 characters."),
        ("fcfs", {"jobs": "; ".join(f"P{i} 0 1" for i in range(13))}, "At most 12 are allowed; there are 13."),
        ("fcfs", {"jobs": "P1 0 5", "process": "P9"}, "There is no process P9; there are P1."),
        ("priority", {"jobs": "P1 0 5"}, "P1 has no priority number."),
        ("rr", {"jobs": "P1 0 5", "quantum": 0}, "It must be greater than 0; it is 0."),
        ("rr", {"jobs": "P1 0 5", "quantum": "nan"}, "Time slice: "),
        ("rr", {"jobs": "P1 0 5", "quantum": 0.001}, "That makes more than 2400 slices; choose a larger one."),
        ("rr", {"jobs": "P1 0 5", "quantum": 1, "switch": -1}, "Time of a switch: It must be at least 0; it is -1."),
        ("mlfq", {"jobs": "P1 0 5", "quanta": "2 -1"}, "“-1” is not a time slice"),
        ("mlfq", {"jobs": "P1 0 5", "quanta": "0.001 inf"}, "That makes more than 2400 slices"),
        ("mlfq", {"jobs": "P1 0 5", "quanta": "2", "boost": 0.001}, "That makes more than 2400 slices"),
    ],
)
def test_a_fault_names_its_field_and_rule(kind: str, values: dict[str, Any], told: str) -> None:
    assert told in refused(kind, **values)


def test_a_question_about_one_process_misses_its_name() -> None:
    found = solve(KINDS["fcfs"], {"jobs": BOOK, "ask": "completion"})
    assert found.missing == ("process",) and found.answer is None


def test_the_largest_exercise_takes_less_than_a_second() -> None:
    jobs = "; ".join(f"P{number} {number} 200" for number in range(12))
    assert value("rr", jobs, "switches", quantum=1) == 2399
    assert len(solved("mlfq", jobs, quanta="1 1 1", boost=3).steps) > 2400


# Exercises, words, drawings

EVERY = [(kind.name, level) for kind in CPU for level in PROCESSES]


@pytest.mark.parametrize(("name", "level"), EVERY)
def test_generated_exercises(name: str, level: Level) -> None:
    kind = KINDS[name]
    distractors = 0
    for seed in range(51):
        made = exercise(kind, seed, level)
        again = solve(kind, made.parameters.model_dump())
        assert again.answer == made.answer
        if not seed:
            assert kind.generate(Random(seed), level) == kind.generate(Random(seed), level)
        distractors += len(made.options) - 1
        for language in LANGUAGES:
            assert "{" not in made.question(language)
    assert distractors >= 2 * 51


@pytest.mark.parametrize("name", [kind.name for kind in CPU])
def test_every_question_and_convention_can_be_read_and_drawn(name: str) -> None:
    kind = KINDS[name]
    base = {"jobs": "P1 1 5 1; P2 2 2 1; P3 4 2 2; P4 15 3 1; P5 16 5 3; P6 18 2 2", "process": "P2"}
    base |= {"quantum": "2", "switch": "1"} if name == "rr" else {}
    base |= {"quanta": "1,2,3", "boost": "9"} if name == "mlfq" else {}
    for field, info in kind.parameters.model_fields.items():
        for choice in get_args(info.annotation) if get_origin(info.annotation) is Literal else ():
            check_told(kind, kind.parameters.model_validate({**base, field: choice}))
            assert choice in table()["results" if field == "ask" else "choices"]


def test_a_question_about_one_process_names_it() -> None:
    parameters = solve(KINDS["fcfs"], {"jobs": BOOK, "ask": "completion", "process": "P2"}).parameters
    assert parameters is not None
    asked = Exercise(KINDS["fcfs"], parameters, Result(10), ())
    assert asked.question("en").endswith("Find the completion time of P2.")
    assert asked.question("zh").endswith("求进程 P2 的完成时间。")


def test_jobs_of_json_and_negative_priorities() -> None:
    found = solve(KINDS["priority"], {"jobs": [["A", 0, 4, 1], ["B", 1, 2.5, -5]]})
    assert found.solution is not None
    assert "B arrives with the priority number -5" in sentence(found.solution.steps[1], "en")


def test_every_kind_has_its_mistakes() -> None:
    assert all(len(MISTAKES[kind.name]) >= 3 for kind in CPU)
