"""The size of a disk: published exams, counting sector by sector, exercises and words."""

from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.disk_size import KINDS, Geometry
from osrag.lab.solve import solve
from tests.lab.checks import check_generated, check_told, faults

KIND = KINDS[0]


def results(**values: Any) -> dict[str, Any]:
    solved = solve(KIND, values)
    assert solved.solution is not None, solved.missing
    return {key: result.value for key, result in solved.solution.results.items()}


def test_a_published_exam() -> None:  # GATE 2007
    found = results(heads=16, surface_tracks=128, track_sectors=256, sector_size=512)
    assert (found["disk_bytes"], found["sector_bits"]) == (256 << 20, 19)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 9), st.integers(1, 9))
def test_sector_by_sector(heads: int, tracks: int, sectors: int) -> None:
    places = [(c, h, s) for c in range(tracks) for h in range(heads) for s in range(sectors)]
    found = results(heads=heads, surface_tracks=tracks, track_sectors=sectors, sector_size=10)
    assert found["sector_count"] == len(places) and found["disk_bytes"] == 10 * len(places)
    assert 2 ** found["sector_bits"] >= len(places) and (
        len(places) == 1 or 2 ** (found["sector_bits"] - 1) < len(places)
    )
    assert found["cylinder_bytes"] == 10 * sum(place[0] == 0 for place in places)


def test_faults_exercises_and_words() -> None:
    assert solve(KIND, {}).missing == ("heads", "surface_tracks", "track_sectors")
    assert "at least 1" in faults(KIND, heads=0, surface_tracks=1, track_sectors=1)["heads"]
    check_generated(KIND, range(51))
    for ask in get_args(Geometry.model_fields["ask"].annotation):
        check_told(KIND, Geometry(ask=ask, heads=3, surface_tracks=100, track_sectors=63))
