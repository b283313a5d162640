"""Availability against the course book and all ways in which parts can fail."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.availability import KINDS, Availability
from osrag.lab.solve import solve
from tests.lab.checks import check_generated, check_told, faults

KIND = KINDS[0]


def results(**values: Any) -> dict[str, Any]:
    solved = solve(KIND, values)
    assert solved.solution is not None, (solved.missing, [fault.sentence("en") for fault in solved.faults])
    return {key: result.value for key, result in solved.solution.results.items()}


def test_the_server_of_the_book() -> None:
    found = results(mttf=2000, mttr=2)
    assert found["availability"] == pytest.approx(99.90, abs=0.005)
    assert results(mttf=999, mttr=1)["downtime"] / 60 == pytest.approx(8.76)
    assert results(mttf=9999, mttr=1)["downtime"] == pytest.approx(52.56)
    pair = {"ask": "together", "parts": "99.9% 99.9%"}
    assert results(**pair)["together"] == pytest.approx(99.80, abs=0.005)
    assert results(**pair, connected="in_parallel")["together"] == pytest.approx(99.9999)


def test_shares_of_one_are_percents_too():
    assert results(ask="together", parts="0.999, 0.99, .98")["together"] == pytest.approx(96.92298)
    assert results(ask="together", parts="0.5%")["together"] == 0.5


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=5))
def test_parts_by_adding_up_all_states(parts: list[int]) -> None:
    totals = {"in_series": 0.0, "in_parallel": 0.0}
    for works in product((True, False), repeat=len(parts)):
        chance = 1.0
        for part, works_now in zip(parts, works, strict=True):
            chance *= part / 100 if works_now else 1 - part / 100
        totals["in_series"] += chance * all(works)
        totals["in_parallel"] += chance * any(works)
    for way, total in totals.items():
        found = results(ask="together", parts=tuple(map(float, parts)), connected=way)
        assert found["together"] == pytest.approx(100 * total, abs=1e-9)


def test_faults_and_missing_fields() -> None:
    assert "from 0 to 100" in faults(KIND, ask="together", parts="101")["parts"]
    assert "greater than 0" in faults(KIND, mttf=0, mttr=1)["mttf"]
    assert solve(KIND, {}).missing == ("mttf", "mttr")
    assert solve(KIND, {"ask": "together"}).missing == ("parts",)


def test_exercises_and_words() -> None:
    check_generated(KIND, range(51))
    check_told(KIND, Availability(mttf=1000, mttr=2))
    check_told(KIND, Availability(ask="together", parts=(99.0, 90.0)))
    check_told(KIND, Availability(ask="together", parts=(99.0, 90.0, 1.0), connected="in_parallel"))
