"""RAID against the course book, arrays that lose disks in every way, and layouts drawn by hand."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab import raid
from osrag.lab.kind import Kind
from osrag.lab.raid import RaidLayout, RaidParity
from osrag.lab.solve import solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

KINDS: dict[str, Kind[Any]] = {kind.name: kind for kind in raid.KINDS}


def results(name: str, **values: Any) -> dict[str, Any]:
    solved = solve(KINDS[name], values)
    assert solved.solution is not None, (solved.missing, [fault.sentence("en") for fault in solved.faults])
    return {key: result.value for key, result in solved.solution.results.items()}


@pytest.mark.parametrize(
    ("level", "size", "survives", "small_write"), [("0", 24, 0, 1), ("10", 12, 1, 2), ("5", 20, 1, 4), ("6", 16, 2, 6)]
)
def test_six_disks_of_the_book(level: str, size: int, survives: int, small_write: int) -> None:
    found = results("raid", raid_level=f"RAID {level}", disks=6, disk_size="4 TB")
    assert (found["usable_size"], found["survives"], found["small_write"]) == (size, survives, small_write)


def test_operations_of_the_book_and_the_bank() -> None:
    load = {"disks": 6, "disk_operations": 100, "read_percent": 70, "ask": "host_requests"}
    for level, requests in (("10", 461.5), ("5", 315.8), ("6", 240.0)):
        assert results("raid", raid_level=level, **load)["host_requests"] == pytest.approx(requests, abs=0.05)
    exercise = {"disks": 8, "disk_operations": 150, "read_percent": 60, "ask": "host_requests"}
    assert results("raid", raid_level="5", **exercise)["host_requests"] == pytest.approx(545.5, abs=0.05)
    assert results("raid", raid_level="10", **exercise)["host_requests"] == pytest.approx(857.1, abs=0.05)
    assert results("raid", raid_level="6", disks=10, disk_size=8)["usable_size"] == 64  # ch10-006
    bank = {"disks": 10, "disk_operations": 120, "read_percent": 50, "ask": "host_requests"}
    assert results("raid", raid_level="5", **bank)["host_requests"] == pytest.approx(480)  # ch10-008


def test_mean_times_to_data_loss() -> None:
    pair = {"ask": "time_to_data_loss", "disk_mttf": 200_000, "disk_mttr": 20}
    assert results("raid", raid_level="1", disks=2, **pair)["time_to_data_loss"] == 1_000_000_000
    assert results("raid", raid_level="10", disks=8, **pair)["time_to_data_loss"] == 250_000_000
    small = {"ask": "time_to_data_loss", "disk_mttf": 1000, "disk_mttr": 1}
    assert results("raid", raid_level="5", disks=5, **small)["time_to_data_loss"] == 50_000
    assert results("raid", raid_level="6", disks=5, **small)["time_to_data_loss"] == pytest.approx(1e9 / 60)
    assert (
        results("raid", raid_level="0", disks=100, ask="time_to_data_loss", disk_mttf=1e6)["time_to_data_loss"] == 1e4
    )


def test_the_layout_of_the_book() -> None:
    given = RaidLayout(disks=4, block_number=11)
    rows = [step.row for step in KINDS["raid_layout"].solve(given).steps if step.row]
    assert rows == [
        (0, ("D0", "D1", "D2", "P0")),
        (1, ("D3", "D4", "P1", "D5")),
        (2, ("D6", "P2", "D7", "D8")),
        (3, ("P3", "D9", "D10", "D11")),
    ]


@pytest.mark.parametrize(
    ("rotation", "second"),
    [
        ("left_symmetric", ("D4", "D5", "P1", "D3")),
        ("right_asymmetric", ("D3", "P1", "D4", "D5")),
        ("right_symmetric", ("D5", "P1", "D3", "D4")),
    ],
)
def test_the_other_rotations(rotation: str, second: tuple[str, ...]) -> None:
    given = RaidLayout.model_validate({"disks": 4, "block_number": 3, "rotation": rotation})
    rows = [step.row for step in KINDS["raid_layout"].solve(given).steps if step.row]
    assert rows[1] == (1, second)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["0", "1", "4", "5", "6", "10"]), st.integers(2, 5), st.sampled_from(list(raid.OTHER_WAY)))
def test_every_disk_of_a_stripe_holds_one_block(level: str, half: int, rotation: str) -> None:
    disks = 2 * half
    shape = raid._Layout(level, disks, rotation)
    turns = [shape.stripe(number) for number in range(disks)]
    seen = {cell for cells in turns for cell in cells if cell.startswith("D")}
    assert all(all(cells) for cells in turns)
    assert seen == {f"D{block}" for block in range(shape.data * disks)}
    if level in ("5", "6"):  # parity falls on each disk equally often
        on = [sum(cells[disk].startswith(("P", "Q")) for cells in turns) for disk in range(disks)]
        assert len(set(on)) == 1


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["0", "1", "4", "5", "6", "10"]), st.integers(2, 4))
def test_survives_is_the_most_that_any_choice_of_failed_disks_leaves(level: str, half: int) -> None:
    """A stripe is there if its lost data are no more than its parities that are left, or a copy is left."""
    disks = 2 * half
    cells = raid._Layout(level, disks).stripe(0)

    def readable(failed: tuple[int, ...]) -> bool:
        left = [cell for disk, cell in enumerate(cells) if disk not in failed]
        lost = {cell for cell in cells if cell.startswith("D")} - set(left)
        return len(lost) <= sum(cell.startswith(("P", "Q")) for cell in left)

    sure = max(n for n in range(disks) if all(map(readable, combinations(range(disks), n))))
    found = results("raid", raid_level=level, disks=max(disks, raid.LEAST[level]))
    if disks >= raid.LEAST[level]:
        assert found["survives"] == sure
        assert found["usable_size"] == len({cell for cell in cells if cell.startswith("D")})


def test_parity_of_the_book_and_the_bank() -> None:
    data = "10110100 01101001 11000111"
    assert results("raid_parity", blocks=data)["parity"] == "00011010"
    rest = "10110100 11000111 00011010"
    assert results("raid_parity", ask="lost_block", blocks=rest)["lost_block"] == "01101001"
    write = {"ask": "new_parity", "blocks": data, "old_block": "10110100", "new_block": "10010111"}
    assert results("raid_parity", **write)["new_parity"] == "00111001"
    assert results("raid_parity", blocks="1100,1010,0111")["parity"] == "0001"  # ch10-020
    exercise = {"blocks": "11001010 00110101 01011100", "old_block": "00110101", "new_block": "11110000"}
    found = results("raid_parity", ask="new_parity", **exercise)
    assert (found["parity"], found["new_parity"]) == ("10100011", "01100110")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("01", min_size=6, max_size=6), min_size=2, max_size=6), st.data())
def test_any_lost_block_comes_back(blocks: list[str], data: st.DataObject) -> None:
    whole = [*blocks, str(results("raid_parity", blocks=tuple(blocks))["parity"])]
    for column in zip(*whole, strict=True):
        assert column.count("1") % 2 == 0
    lost = data.draw(st.integers(0, len(whole) - 1))
    rest = tuple(whole[:lost] + whole[lost + 1 :])
    assert results("raid_parity", ask="lost_block", blocks=rest)["lost_block"] == whole[lost]


def test_faults_name_the_field_and_the_rule() -> None:
    array, layout, bits = KINDS["raid"], KINDS["raid_layout"], KINDS["raid_parity"]
    assert "at least 4 disks" in faults(array, raid_level="6", disks=3)["disks"]
    assert "is odd" in faults(array, raid_level="10", disks=5)["disks"]
    assert "not one of" in faults(array, raid_level="7", disks=5)["raid_level"]
    assert "not a capacity" in faults(array, disks=5, disk_size="four")["disk_size"]
    assert "has no parity" in faults(layout, raid_level="0", disks=4, block_number=1, ask="parity_disk")["block_number"]
    assert "not binary" in faults(bits, blocks="102 111")["blocks"]
    assert "same number" in faults(bits, blocks="10 111")["blocks"]
    changed = {"blocks": "10 11", "ask": "new_parity", "new_block": "00"}
    assert "not one of the data" in faults(bits, **changed, old_block="01")["old_block"]
    assert "same number" in faults(bits, **changed, old_block="011")["old_block"]
    assert solve(bits, {"ask": "new_parity", "blocks": "10 11"}).missing == ("old_block", "new_block")
    assert solve(array, {"disks": 4, "ask": "host_requests"}).missing == ("disk_operations", "read_percent")
    assert solve(array, {"disks": 4, "ask": "time_to_data_loss"}).missing == ("disk_mttf", "disk_mttr")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_exercises_of_every_seed(kind: Kind[Any]) -> None:
    check_generated(kind, range(51))
    check_choices(kind)


@pytest.mark.parametrize("level", ["0", "1", "4", "5", "6", "10"])
def test_all_is_told_in_both_languages(level: str) -> None:
    values = {"raid_level": level, "disks": 18, "disk_operations": 100, "read_percent": 33, "disk_mttf": 1e6}
    check_told(KINDS["raid"], KINDS["raid"].parameters.model_validate({**values, "disk_mttr": 8}))
    for rotation in raid.OTHER_WAY:
        place = {"raid_level": level, "disks": 4, "block_number": 20, "rotation": rotation}
        check_told(KINDS["raid_layout"], RaidLayout.model_validate(place))
    for ask in ("parity", "lost_block", "new_parity"):
        bits = {"ask": ask, "blocks": ("01", "11"), "old_block": "01", "new_block": "10"}
        check_told(KINDS["raid_parity"], RaidParity.model_validate(bits))
