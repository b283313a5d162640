"""Records of a track: a known example, the turning track by small moments, exercises and drawings."""

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.catalog import KINDS
from osrag.lab.disk_records import layout, read
from osrag.lab.solve import sentence, solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

KIND = KINDS["disk_records"]
TRACK = {"records": 10, "turn": "20 ms", "handling": "4 ms"}


def figures(**values: Any) -> dict[str, Any]:
    found = solve(KIND, values)
    assert found.solution is not None, (found.missing, [fault.sentence("en") for fault in found.faults])
    return {name: result.value for name, result in found.solution.results.items()}


def test_ten_records_consecutive_and_interleaved() -> None:
    """By hand: nine times 2 to read, 4 to handle and 16 to wait, and the last without a wait; or no wait at all."""
    found = figures(**TRACK)
    assert found["records_time"] == 9 * (2 + 4 + 16) + 2 + 4 == 204
    assert (found["best_interleave"], found["best_time"]) == (3, 60)
    assert figures(**TRACK, interleave=3)["records_time"] == 60


def test_layouts() -> None:
    assert figures(**TRACK, interleave=3)["track_layout"] == (1, 8, 5, 2, 9, 6, 3, 10, 7, 4)
    assert figures(records=8, turn=8, handling=1, interleave=2)["track_layout"] == (1, 5, 2, 6, 3, 7, 4, 8)
    assert sorted(layout(7, 5)) == list(range(7))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 8), st.integers(0, 9), st.integers(1, 6))
def test_the_time_against_a_turning_track(count: int, handling: int, interleave: int) -> None:
    """A place passes in 4 moments. Each moment the head sees a place and how far into it."""
    places, moment, wanted, busy = layout(count, interleave), 0, 0, 0
    while wanted < count:
        place, part = moment // 4 % count, moment % 4
        if not busy and part == 0 and place == places[wanted]:
            busy, wanted = 4 + handling, wanted + 1
        busy -= busy > 0
        moment += 1
    total = moment + busy
    found = figures(records=count, turn=count * 4.0, handling=float(handling), interleave=interleave)
    assert found["records_time"] == total


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(0, 30))
def test_the_best_layout_is_the_best_of_all(count: int, handling: int) -> None:
    def total(places: tuple[int, ...]) -> Fraction:
        return read(count, Fraction(4 * count), Fraction(handling), list(places))[-1].handled

    shortest = min(total((0, *rest)) for rest in permutations(range(1, count)))
    assert figures(records=count, turn=count * 4.0, handling=float(handling))["best_time"] == shortest


def test_a_step_says_why() -> None:
    found = solve(KIND, TRACK)
    assert found.solution is not None
    told = [sentence(step, "en") for step in found.solution.steps]
    assert "After a wait of 16 ms record 2 comes: read from 22 to 24, handled at 28." in told


@pytest.mark.parametrize(
    ("values", "field", "told"),
    [
        ({**TRACK, "records": 1}, "records", "It must be at least 2; it is 1."),
        ({**TRACK, "turn": 0}, "turn", "It must be greater than 0; it is 0."),
        ({**TRACK, "handling": "-4 ms"}, "handling", "“-4 ms” is not a time"),
    ],
)
def test_faults_name_the_field_and_the_rule(values: dict[str, Any], field: str, told: str) -> None:
    assert told in faults(KIND, **values)[field]


def test_exercises_words_and_drawings() -> None:
    check_generated(KIND, range(51))
    check_choices(KIND)
    for ask in KIND.parameters.model_fields["ask"].annotation.__args__:
        check_told(KIND, KIND.parameters.model_validate({**TRACK, "ask": ask, "interleave": 3}))
