"""Small sums about the processor: the course book's figures, second formulations, faults, exercises and drawings."""

from itertools import pairwise, product
from math import log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.catalog import KINDS
from osrag.lab.load import KINDS as LOAD
from osrag.lab.load import WEIGHTS
from osrag.lab.solve import sentence, solve
from tests.lab.checks import check_choices, check_generated, check_told, faults


def value(name: str, ask: str, **values: Any) -> Any:
    found = solve(KINDS[name], {"ask": ask, **values})
    assert found.solution is not None, (found.missing, [fault.sentence("en") for fault in found.faults])
    return found.solution.results[ask].value


def test_predictions_of_the_course_book() -> None:
    found = value("burst_prediction", "all_predictions", first_guess=8, bursts="4 6 12 12", alpha=0.5)
    assert found == (6, 6, 9, 10.5)
    found = value("burst_prediction", "all_predictions", first_guess=10, bursts="6 14 10", alpha=0.25)  # exercise 3-6
    assert found == (9, 10.25, 10.1875)
    assert value("burst_prediction", "prediction", first_guess=10, bursts="12", alpha=0.5) == 11  # bank ch03-023


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(0, 50), st.sampled_from((0, 0.25, 0.5, 1)))
def test_a_prediction_is_a_weighted_sum(bursts: list[int], first: int, alpha: float) -> None:
    """Unrolled: alpha (1 - alpha)^i of the burst i before the last, and the rest of the first guess."""
    terms = [alpha * (1 - alpha) ** age * burst for age, burst in enumerate(reversed(bursts))]
    expected = sum(terms) + (1 - alpha) ** len(bursts) * first
    found = value("burst_prediction", "prediction", first_guess=first, bursts=tuple(bursts), alpha=alpha)
    assert found == pytest.approx(expected)


def test_degrees_of_the_course_book() -> None:
    """Section 1.4, exercise 1-5 and the bank."""
    found = [value("multiprogramming", "cpu_use", io_fraction=0.8, degree=n) for n in (1, 2, 4, 10, 8, 12)]
    assert [round(each, 1) for each in found] == [20, 36, 59, 89.3, 83.2, 93.1]
    assert value("multiprogramming", "least_degree", io_fraction=0.75, target=90) == 9
    assert value("multiprogramming", "cpu_use", io_fraction=0.5, degree=3) == 87.5
    assert value("multiprogramming", "least_degree", io_fraction=0.5, target=75) == 2  # reached exactly


@pytest.mark.parametrize(("part", "degree"), [(0.2, 3), (0.5, 4), (0.8, 5)])
def test_the_model_of_multiprogramming_over_all_states(part: float, degree: int) -> None:
    """Somebody computes: the probability summed over all states of the processes."""
    states = product((True, False), repeat=degree)  # True: waits
    use = sum(part ** sum(state) * (1 - part) ** (degree - sum(state)) for state in states if not all(state))
    assert value("multiprogramming", "cpu_use", io_fraction=part, degree=degree) == pytest.approx(100 * use)


@pytest.mark.parametrize(("part", "target"), [(0.3, 99), (0.75, 90), (0.9, 95), (0.99, 99)])
def test_the_least_degree_by_logarithms(part: float, target: float) -> None:
    expected = -(-log(1 - target / 100) // log(part))
    assert value("multiprogramming", "least_degree", io_fraction=part, target=target) == expected


def test_amdahl_of_the_course_book() -> None:
    found = [value("amdahl", "speedup", serial=0.1, cores=cores) for cores in (4, 16)]
    assert [round(each, 2) for each in found] == [3.08, 6.4]
    assert value("amdahl", "speedup_limit", serial=0.1, cores=16) == value("amdahl", "speedup_limit", serial=0.1) == 10
    assert solve(KINDS["amdahl"], {"serial": "0.1"}).missing == ("cores",)
    assert value("amdahl", "speedup", serial=0.2, cores=4) == 2.5  # bank ch02-010
    assert round(value("amdahl", "speedup", serial=0.05, cores=8), 2) == 5.93  # exercise
    assert value("amdahl", "efficiency", serial=0, cores=64) == 100


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 20), st.integers(1, 64))
def test_amdahl_by_counting_work(serial: int, cores: int) -> None:
    """20 pieces of work, `serial` of them one after the other: time on one core over time on several."""
    time = serial + (20 - serial) / cores
    assert value("amdahl", "speedup", serial=serial / 20, cores=cores) == pytest.approx(20 / time)


def test_shares_of_the_course_book() -> None:
    shares = [value("cfs_shares", "cfs_share", nices="0 5", task=task) for task in (1, 2)]
    assert [round(each, 1) for each in shares] == [75.3, 24.7]
    assert round(value("cfs_shares", "cfs_vruntime", nices="0 5", task=2, ran="10 ms"), 1) == 30.6
    assert value("cfs_shares", "cfs_vruntime", nices="0 5", task=1, ran=10) == 10
    three = [value("cfs_shares", "cfs_share", nices="0 0 5", task=task) for task in (1, 2, 3)]  # exercise 3-11
    assert [round(each, 1) for each in three] == [43, 43, 14.1]
    assert value("cfs_shares", "cfs_slice", nices="0 0", task=1, period=24) == 12


def test_the_weights_are_those_of_the_kernel() -> None:
    """40 weights, 1024 for nice 0, and each about 1.25 times the next."""
    assert len(WEIGHTS) == 40 and WEIGHTS[20] == 1024
    assert all(1.15 < a / b < 1.3 for a, b in pairwise(WEIGHTS))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-20, 19), min_size=2, max_size=5))
def test_shares_by_running_the_least_vruntime(nices: list[int]) -> None:
    """Running whoever has the least vruntime, many times, gives each task its share."""
    weights = [WEIGHTS[nice + 20] for nice in nices]
    ticks = 20_000
    vruntime, ran = [0.0] * len(nices), [0] * len(nices)
    for _ in range(ticks):
        task = min(range(len(nices)), key=vruntime.__getitem__)
        vruntime[task] += 1024 / weights[task]
        ran[task] += 1
    for task in range(len(nices)):
        share = value("cfs_shares", "cfs_share", nices=tuple(nices), task=task + 1)
        assert ran[task] / ticks * 100 == pytest.approx(share, abs=100 * (len(nices) + 1) / ticks)


def test_turns_of_the_course_book() -> None:
    assert value("time_slice", "longest_wait", ready=20, quantum=10, switch=0.1) == 192  # exercise 3-7
    assert round(value("time_slice", "switching_share", ready=20, quantum=10, switch=0.1)) == 1
    assert value("time_slice", "longest_wait", ready=10, quantum=10) == 90  # bank ch03-022
    assert value("time_slice", "switching_share", ready=2, quantum="990 us", switch="10 us") == 1  # bank ch02-005
    assert value("time_slice", "longest_wait", ready=1, quantum=10, switch=1) == 0


@pytest.mark.parametrize("ready", [2, 3, 7])
def test_the_longest_wait_against_round_robin_itself(ready: int) -> None:
    jobs = "; ".join(f"P{number} 0 20" for number in range(ready))
    found = solve(KINDS["rr"], {"jobs": jobs, "quantum": 4, "switch": 1})
    assert found.solution is not None
    mine = [step.row for step in found.solution.steps if step.row and step.row[2] == "P0"]
    assert mine[1][0] - mine[0][1] == value("time_slice", "longest_wait", ready=ready, quantum=4, switch=1)


def test_a_step_says_why() -> None:
    found = solve(KINDS["burst_prediction"], {"first_guess": 8, "bursts": "4", "alpha": 0.5})
    assert found.solution is not None
    assert sentence(found.solution.steps[0], "en") == "0.5 × 4 + 0.5 × 8 = 6."


@pytest.mark.parametrize(
    ("name", "values", "field", "told"),
    [
        ("burst_prediction", {"first_guess": 8, "bursts": "4 -6"}, "bursts", "A burst must lie between 0 and 1000000"),
        ("burst_prediction", {"first_guess": 8, "bursts": "4", "alpha": 2}, "alpha", "It may be at most 1; it is 2."),
        ("multiprogramming", {"io_fraction": 1}, "io_fraction", "It must be less than 1; it is 1."),
        (
            "multiprogramming",
            {"io_fraction": 0.99999, "ask": "least_degree"},
            "target",
            "More than 1000 processes would be needed",
        ),
        (
            "amdahl",
            {"serial": 0, "cores": 4, "ask": "speedup_limit"},
            "ask",
            "the speedup has no limit",
        ),
        ("amdahl", {"serial": 0.5, "cores": 0}, "cores", "It must be at least 1; it is 0."),
        ("cfs_shares", {"nices": "0 20"}, "nices", "Nice values lie between −20 and 19; one is 20."),
        ("cfs_shares", {"nices": "0 5", "task": 3}, "task", "There is no task 3; there are 2."),
        ("time_slice", {"ready": 3, "quantum": "soon"}, "quantum", "“soon” is not a time"),
    ],
)
def test_faults_name_the_field_and_the_rule(name: str, values: dict[str, Any], field: str, told: str) -> None:
    assert told in faults(KINDS[name], **values)[field]


EXAMPLES: dict[str, dict[str, Any]] = {
    "burst_prediction": {"first_guess": 8, "bursts": "4 6 12 12"},
    "time_slice": {"ready": 20, "quantum": 10, "switch": 0.1},
    "multiprogramming": {"io_fraction": 0.8, "degree": 4},
    "amdahl": {"serial": 0.1, "cores": 16},
    "cfs_shares": {"nices": "0 5 19", "task": 2},
}


@pytest.mark.parametrize("kind", LOAD, ids=lambda kind: kind.name)
def test_exercises_words_and_drawings(kind: Any) -> None:
    check_generated(kind, range(51))
    check_choices(kind)
    for ask in kind.parameters.model_fields["ask"].annotation.__args__:
        check_told(kind, kind.parameters.model_validate({**EXAMPLES[kind.name], "ask": ask}))
