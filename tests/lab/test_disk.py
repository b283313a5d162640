"""The disk arm: the course book's example, a slow second formulation, faults, exercises and drawings."""

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.catalog import KINDS
from osrag.lab.disk import KINDS as DISK
from osrag.lab.disk import Ask
from osrag.lab.kind import Solution
from osrag.lab.solve import sentence, solve
from osrag.lab.svg import Label
from tests.lab.checks import check_choices, check_generated, check_told, faults

QUEUE = "35,120,64,180,82,10,150,74"  # section 10.2: the head is at 70 and moving up


def solved(kind: str, requests: Any, start: int, **values: Any) -> Solution:
    found = solve(KINDS[kind], {"requests": requests, "start": start, **values})
    assert found.solution is not None, (found.missing, [fault.sentence("en") for fault in found.faults])
    return found.solution


def moved(kind: str, requests: Any, start: int, **values: Any) -> Any:
    return solved(kind, requests, start, **values).results["total_movement"].value


def order(kind: str, requests: Any, start: int, **values: Any) -> Any:
    return solved(kind, requests, start, **values).results["service_order"].value


@pytest.mark.parametrize(
    ("kind", "way", "distance"),  # the table of section 10.2
    [
        ("disk_fcfs", "35 120 64 180 82 10 150 74", 678),
        ("sstf", "74 82 64 35 10 120 150 180", 254),
        ("scan", "74 82 120 150 180 199 64 35 10", 318),
        ("look", "74 82 120 150 180 64 35 10", 280),
        ("cscan", "74 82 120 150 180 199 0 10 35 64", 392),
        ("clook", "74 82 120 150 180 10 35 64", 334),
    ],
)
def test_the_table_of_the_course_book(kind: str, way: str, distance: int) -> None:
    solution = solved(kind, QUEUE, 70)
    assert [step.row[0] for step in solution.steps if step.row] == [int(stop) for stop in way.split()]
    assert solution.results["total_movement"].value == distance == solution.steps[-2].row[2]


def test_the_exercises_and_the_bank() -> None:
    requests = "30,140,85,175,60,110"  # exercise 10-2
    kinds = ("disk_fcfs", "sstf", "scan", "look")
    down = [moved(kind, requests, 90, **({"direction": "down"} if kind != "disk_fcfs" else {})) for kind in kinds]
    assert down == [480, 205, 265, 205]
    assert [moved(kind, "45 70 20 90 60", 50) for kind in ("sstf", "look", "disk_fcfs", "scan")] == [120, 110, 180, 328]
    assert [moved(kind, "55 100 20 160", 60) for kind in ("sstf", "scan", "look")] == [180, 318, 240]
    assert order("sstf", "55 100 20 160", 60) == (55, 20, 100, 160)
    assert moved("look", QUEUE, 70, direction="down") == 230


def test_the_example_of_silberschatz() -> None:
    """Operating System Concepts, 10th ed., section 11.2."""
    queue = "98 183 37 122 14 124 65 67"
    found = [moved(kind, queue, 53) for kind in ("disk_fcfs", "sstf", "scan", "look", "cscan", "clook")]
    assert found == [640, 236, 331, 299, 382, 322]
    assert moved("scan", queue, 53, direction="down") == 236


def test_the_conventions() -> None:
    assert moved("scan", QUEUE, 70, sweep_end="to_the_last_request") == moved("look", QUEUE, 70)
    assert moved("cscan", QUEUE, 70, sweep_end="to_the_last_request") == moved("clook", QUEUE, 70)
    assert moved("cscan", QUEUE, 70, way_back="way_back_free") == 392 - 199
    assert moved("clook", QUEUE, 70, way_back="way_back_free") == 334 - 170
    first = {ties: order("sstf", "60 40", 50, direction="down", equally_near=ties)[0]
             for ties in ("same_direction", "lower_cylinder", "higher_cylinder", "earlier_request")}  # fmt: skip
    assert list(first.values()) == [40, 40, 60, 60]


def test_the_direction_follows_from_the_previous_position() -> None:
    assert order("look", "40 60", 50, previous="55") == (40, 60)
    assert order("look", "40 60", 50, previous=45) == (60, 40)
    assert order("look", "40 60", 50, previous=50, direction="down") == (40, 60)
    told = faults(KINDS["look"], requests="40 60", start=50, previous=45, direction="down")
    assert told == {"previous": "Cylinder where the arm was before (gives the direction): "
                    "The arm moved from 45 to 50, which disagrees with the direction given."}  # fmt: skip


def test_a_sweep_without_requests_ahead_and_one_that_needs_no_edge() -> None:
    assert [step.row[0] for step in solved("scan", "10 20", 50).steps if step.row] == [199, 20, 10]
    assert moved("scan", "60 70", 53) == 17
    assert [step.row[0] for step in solved("cscan", "199 0", 50).steps if step.row] == [199, 0]
    assert order("cscan", "199 0 0", 50) == (199, 0, 0)
    assert order("look", "50 50 40", 50, direction="down") == (50, 50, 40)


def walked(kind: str, requests: list[int], start: int, up: bool, last: int) -> list[int]:
    """The stops, one cylinder after the other."""
    todo, at, stops, step = list(requests), start, [], 1 if up else -1
    while todo:
        if kind == "disk_fcfs":
            at = todo.pop(0)
            stops.append(at)
            continue
        if kind == "sstf":
            best = min(abs(each - at) for each in todo)
            ahead, behind = at + step * best, at - step * best
            new = ahead if ahead in todo else behind
            step = step if new == at else 1 if new > at else -1
            at = new
        while at in todo:
            todo.remove(at)
            stops.append(at)
        if not todo or kind == "sstf":
            continue
        none_ahead = not any((each - at) * step > 0 for each in todo)
        edge = last if step > 0 else 0
        if none_ahead and (kind in ("look", "clook") or at == edge):
            if kind in ("scan", "cscan") and stops[-1:] != [edge]:
                stops.append(at)
            if kind in ("scan", "look"):
                step = -step
            else:
                at = last - edge if kind == "cscan" else min(todo, key=lambda each: each * step)
                if kind == "cscan" and at not in todo:
                    stops.append(at)
            continue
        at += step
    return stops


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 29), min_size=1, max_size=7), st.integers(0, 29), st.booleans())
def test_each_walk_against_one_cylinder_by_cylinder(requests: list[int], start: int, up: bool) -> None:
    for kind in KINDS:
        if kind in [each.name for each in DISK]:
            given = {} if kind == "disk_fcfs" else {"direction": "up" if up else "down"}
            solution = solved(kind, tuple(requests), start, cylinders=30, **given)
            stops = [step.row[0] for step in solution.steps if step.row]
            expected = walked(kind, requests, start, up, 29)
            if start in (0, 29) and stops != expected:  # an edge where the arm stands already is no stop
                expected = expected[1:] if expected[:1] == [start] and start not in requests else expected
            assert stops == expected, kind
            assert sorted(solution.results["service_order"].value) == sorted(requests)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 199), min_size=1, max_size=12), st.integers(0, 199), st.sampled_from(("up", "down")))
def test_what_holds_for_every_queue(requests: list[int], start: int, direction: str) -> None:
    distance = {
        kind.name: moved(
            kind.name, tuple(requests), start, **({"direction": direction} if kind.name != "disk_fcfs" else {})
        )
        for kind in DISK
    }
    low, high = min(*requests, start), max(*requests, start)
    least = high - low + min(start - low, high - start)
    assert all(each >= least for each in distance.values())
    assert distance["look"] <= distance["scan"] and distance["clook"] <= distance["cscan"]
    assert distance["look"] <= distance["clook"]
    turned = moved("look", tuple(requests), start, direction="down" if direction == "up" else "up")
    assert least == min(distance["look"], turned)  # the better of the two sweeps is the best of all orders


def test_times() -> None:
    results = solved("look", QUEUE, 70, ask="seek_time", per_cylinder="0.5 ms").results
    assert (results["seek_time"].value, results["seek_time"].unit) == (140, "ms")
    assert results["average_movement"].value == 35
    assert solve(KINDS["look"], {"requests": QUEUE, "start": 70, "ask": "seek_time"}).missing == ("per_cylinder",)


def test_a_step_says_why() -> None:
    told = [sentence(step, "en") for step in solved("sstf", "60 40", 50).steps]
    assert told[0] == "60 and 40 are equally near to 50, 10 away; by the rule for ties 60 comes first."
    back = [sentence(step, "zh") for step in solved("cscan", QUEUE, 70).steps]
    assert "磁头从 199 直接返回 0，途中不服务；返回行程 199 计入。" in back


def test_faults_name_the_field_and_the_rule() -> None:
    look = KINDS["look"]
    cylinders = "Number of cylinders (numbered from 0): "
    assert faults(look, requests="40 300", start=50) == {
        "cylinders": cylinders + "There is no cylinder 300; they are numbered from 0 to 199."
    }
    assert "There is no cylinder 250" in faults(look, requests="40", start=250)["cylinders"]
    assert "There is no cylinder 400" in faults(look, requests="40", start=50, previous=400)["previous"]
    assert "“x” is not a whole number." in faults(look, requests="40 x", start=50)["requests"]
    assert "At least 1 are needed" in faults(look, requests=" , ", start=50)["requests"]
    assert "At most 1000 are allowed" in faults(look, requests="1 " * 1001, start=50)["requests"]
    assert "It must be at least 0; it is -1." in faults(look, requests="1", start=-1)["start"]
    assert "There is no request for cylinder 8." in faults(look, requests="40 9", start=50, served=8)["served"]
    assert solve(look, {"requests": "1"}).missing == ("start",)
    assert solve(look, {"requests": "1", "start": 2, "ask": "served_before"}).missing == ("served",)


@pytest.mark.parametrize("kind", DISK, ids=lambda kind: kind.name)
def test_exercises_words_and_drawings(kind: Any) -> None:
    check_generated(kind, range(51))
    check_choices(kind)
    for ask in get_args(Ask):
        values = {"requests": QUEUE, "start": 70, "ask": ask, "per_cylinder": 2, "served": 74}
        check_told(kind, kind.parameters.model_validate(values))


def test_numbers_stay_inside_the_drawing() -> None:
    figure = solved("cscan", "0 999999 5", 999_998, cylinders=1_000_000).figure
    assert figure is not None
    drawn = figure("en")
    for mark in drawn.marks:
        if isinstance(mark, Label) and mark.anchor != "middle":
            width = 7.6 * len(mark.text)
            left = mark.x if mark.anchor == "start" else mark.x - width
            assert left >= 0 and left + width <= drawn.width


def test_many_requests_are_fast() -> None:
    requests = tuple((number * 7919) % 100_003 for number in range(1000))
    assert moved("sstf", requests, 5, cylinders=100_003) > 0
