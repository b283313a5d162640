"""Access times and addresses of disks: the course book's figures, second formulations, faults, exercises, drawings."""

from itertools import product
from typing import Any

import pytest

from osrag.lab.catalog import KINDS
from osrag.lab.disk_time import KINDS as TIMES
from osrag.lab.solve import sentence, solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

BOOK = {"rpm": 7200, "seek": "8 ms", "rate": 200}  # section 10.1
EXERCISE = {"rpm": 5400, "seek": 10, "track_sectors": 500, "sector_size": 4096, "bytes_each": "4 KiB"}  # 10-1


def value(name: str, ask: str, **values: Any) -> Any:
    found = solve(KINDS[name], {"ask": ask, **values})
    assert found.solution is not None, (found.missing, [fault.sentence("en") for fault in found.faults])
    return found.solution.results[ask].value


def test_random_and_sequential_access_of_the_course_book() -> None:
    block = {**BOOK, "bytes_each": 4096}
    assert value("disk_time", "revolution", rpm=7200) == pytest.approx(8.333, abs=0.001)
    assert value("disk_time", "access_time", **block) == pytest.approx(12.19, abs=0.005)
    assert round(value("disk_time", "accesses_per_second", **block)) == 82
    assert value("disk_time", "effective_rate", **block) == pytest.approx(0.336, abs=0.0005)
    whole = {**BOOK, "bytes_each": 100_000_000}
    assert value("disk_time", "access_time", **whole) == pytest.approx(512.2, abs=0.05)
    assert round(value("disk_time", "effective_rate", **whole)) == 195


def test_the_exercise_and_the_bank() -> None:
    assert value("disk_track_time", "rotational_delay", **EXERCISE) == pytest.approx(5.556, abs=0.001)
    assert value("disk_track_time", "access_time", **EXERCISE) == pytest.approx(15.58, abs=0.005)
    assert round(value("disk_track_time", "accesses_per_second", **EXERCISE)) == 64
    assert value("disk_time", "rotational_delay", rpm=10_000) == 3  # ch10-002
    assert value("disk_time", "access_time", rpm=12_000, seek=5, bytes_each=50_000, rate=100) == 8  # ch10-021


def test_scattered_and_consecutive_sectors_by_adding_up() -> None:
    """Stallings, Operating Systems, 9th ed., section 11.5: 2,500 sectors, 4 ms, 7,500 rpm, 500 sectors a track."""
    disk = {"rpm": 7500, "seek": 4, "track_sectors": 500, "bytes_each": 512, "reads": 2500}
    scattered = sum(4 + 4 + 8 / 500 for _ in range(2500))
    assert value("disk_track_time", "total_time", **disk) == pytest.approx(scattered)
    together = 4 + 4 + sum(8 / 500 for _ in range(2500))
    assert value("disk_track_time", "total_time", placed="consecutive", **disk) == pytest.approx(together)


def test_a_megabyte_may_be_binary() -> None:
    disk = {"rpm": 6000, "rate": 1, "bytes_each": "1M"}
    assert value("disk_time", "transfer_time", megabyte="binary_megabyte", **disk) == 1000
    assert value("disk_time", "transfer_time", **disk) == 1048.576


def test_every_address_of_a_small_disk_and_back() -> None:
    heads, sectors = 3, 4
    disk = {"heads": heads, "track_sectors": sectors}
    for first in (0, 1):
        rule = {"first_sector": f"sectors_from_{first}"}
        places = product(range(3), range(heads), range(first, sectors + first))
        for block, (cylinder, head, sector) in enumerate(places):
            where = {"cylinder": cylinder, "head": head, "sector": sector}
            assert value("disk_address", "lba", **disk, **rule, **where) == block
            assert value("disk_address", "cylinder_head_sector", **disk, **rule, lba_block=block) == (*where.values(),)


def test_a_missing_value_is_asked_for() -> None:
    assert solve(KINDS["disk_time"], {"rpm": 7200}).missing == ("seek", "bytes_each", "rate")
    assert solve(KINDS["disk_track_time"], {"rpm": 7200, "seek": 8}).missing == ("bytes_each", "track_sectors")
    assert solve(KINDS["disk_address"], {"heads": 4, "track_sectors": 10}).missing == ("cylinder", "head", "sector")
    back = {"heads": 4, "track_sectors": 10, "ask": "cylinder_head_sector"}
    assert solve(KINDS["disk_address"], back).missing == ("lba_block",)


@pytest.mark.parametrize(
    ("name", "values", "field", "told"),
    [
        ("disk_time", {**BOOK, "bytes_each": 4096, "rpm": 0}, "rpm", "It must be greater than 0; it is 0."),
        ("disk_time", {**BOOK, "bytes_each": 4096, "seek": -1}, "seek", "It must be at least 0; it is -1."),
        ("disk_time", {**BOOK, "bytes_each": "much"}, "bytes_each", "“much” is not a size"),
        (
            "disk_address",
            {"heads": 4, "track_sectors": 10, "cylinder": 1, "head": 4, "sector": 1},
            "head",
            "There is no head 4; they are numbered from 0 to 3.",
        ),
        (
            "disk_address",
            {"heads": 4, "track_sectors": 10, "cylinder": 1, "head": 1, "sector": 0},
            "sector",
            "There is no sector 0; they are numbered from 1 to 10.",
        ),
    ],
)
def test_faults_name_the_field_and_the_rule(name: str, values: dict[str, Any], field: str, told: str) -> None:
    assert told in faults(KINDS[name], **values)[field]


def test_a_step_says_why() -> None:
    found = solve(KINDS["disk_track_time"], EXERCISE)
    assert found.solution is not None
    told = [sentence(step, "en") for step in found.solution.steps]
    assert told[-1].startswith("Access time = seek + rotational delay + transfer = 10 + 5.56 + 0.02222 = 15.5778 ms.")


EXAMPLES: dict[str, dict[str, Any]] = {
    "disk_time": {**BOOK, "bytes_each": 4096, "reads": 3},
    "disk_track_time": {**EXERCISE, "reads": 3},
    "disk_address": {"heads": 4, "track_sectors": 10, "cylinder": 2, "head": 1, "sector": 3, "lba_block": 77},
}


@pytest.mark.parametrize("kind", TIMES, ids=lambda kind: kind.name)
def test_exercises_words_and_drawings(kind: Any) -> None:
    check_generated(kind, range(51))
    check_choices(kind)
    for ask in kind.parameters.model_fields["ask"].annotation.__args__:
        for placed in ("scattered", "consecutive") if "placed" in kind.parameters.model_fields else ("",):
            values = {**EXAMPLES[kind.name], "ask": ask, **({"placed": placed} if placed else {})}
            check_told(kind, kind.parameters.model_validate(values))
