"""Deadlock against the course book, permutations of all processes, and states of units counted one by one."""

from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab import deadlock, waitgraph
from osrag.lab.deadlock import Banker, BankerRequest, Detection, finish_order, is_safe_order
from osrag.lab.exercise import answers, grade_trace
from osrag.lab.kind import Kind
from osrag.lab.solve import shown, solve
from osrag.lab.waitgraph import MinimumUnits, ResourceGraph
from tests.lab.checks import check_choices, check_generated, check_told, faults

KINDS: dict[str, Kind[Any]] = {kind.name: kind for kind in (*deadlock.KINDS, *waitgraph.KINDS)}
BOOK: dict[str, Any] = {  # section 5.4
    "allocation": "1 0 2; 2 3 1; 2 0 2; 1 3 1; 0 0 2",
    "maximum": "4 4 5; 5 3 6; 5 1 2; 3 3 3; 1 3 5",
    "total": "9 8 9",
}
SILBERSCHATZ: dict[str, Any] = {  # 10th edition, section 8.6.3
    "allocation": "0 1 0; 2 0 0; 3 0 2; 2 1 1; 0 0 2",
    "maximum": "7 5 3; 3 2 2; 9 0 2; 2 2 2; 4 3 3",
    "available": "3 3 2",
}


def results(name: str, **values: Any) -> dict[str, Any]:
    solved = solve(KINDS[name], values)
    assert solved.solution is not None, (solved.missing, [fault.sentence("en") for fault in solved.faults])
    return {key: result.value for key, result in solved.solution.results.items()}


def test_the_banker_of_the_book() -> None:
    found = results("banker", **BOOK)
    assert found["available"] == (3, 2, 1)
    assert found["need"] == ((3, 4, 3), (3, 0, 5), (3, 1, 0), (2, 0, 2), (1, 3, 3))
    assert found["safe_order"] == ("P2", "P3", "P0", "P1", "P4")
    rows = [step.row for step in KINDS["banker"].solve(Banker.model_validate(BOOK)).steps if step.row]
    assert [row[0] for row in rows] == ["P2", "P3", "P0", "P1", "P4"]
    assert [row[-1] for row in rows] == [(5, 2, 3), (6, 5, 4), (7, 5, 6), (9, 8, 7), (9, 8, 9)]


def test_going_on_from_the_last_process_gives_the_order_of_other_books() -> None:
    assert results("banker", **SILBERSCHATZ)["safe_order"] == ("P1", "P3", "P0", "P2", "P4")
    onward = results("banker", **SILBERSCHATZ, order_of_search="onward")
    assert onward["safe_order"] == ("P1", "P3", "P4", "P0", "P2")


def test_one_resource_type_of_the_book() -> None:
    state = {"allocation": "6;3;3", "maximum": "12;5;10", "available": "3"}
    assert results("banker", **state)["safe_order"] == ("P1", "P0", "P2")
    unsafe = results("banker", **{**state, "allocation": "6;3;4", "available": "2"})
    assert not unsafe["safe"] and unsafe["safe_order"] == () and unsafe["safe_orders"] == 0


@pytest.mark.parametrize(
    ("process", "request_", "decision", "reason"),
    [
        ("P2", "2 0 0", "granted", "safe_after"),
        ("P3", "1 0 0", "waits", "unsafe"),
        ("P4", "0 3 0", "waits", "not_enough_free"),
        ("0", "4 0 0", "refused", "exceeds_need"),
    ],
)
def test_the_four_requests_of_the_book(process: str, request_: str, decision: str, reason: str) -> None:
    found = results("banker_request", **BOOK, process=process, request=request_)
    assert (found["decision"], found["reason"]) == (decision, reason)


def test_need_may_be_given_in_place_of_max() -> None:
    need = "3 4 3; 3 0 5; 3 1 0; 2 0 2; 1 3 3"
    values = {"allocation": BOOK["allocation"], "need": need, "available": "3 2 1"}
    assert results("banker", **values)["safe_order"] == ("P2", "P3", "P0", "P1", "P4")


def test_questions_of_the_bank() -> None:
    three = {"allocation": "4;2;2", "maximum": "8;4;7", "available": "2"}
    asked = [("P0", "1"), ("P2", "1"), ("P0", "2"), ("P1", "1")]
    decisions = [results("banker_request", **three, process=p, request=r)["decision"] for p, r in asked]
    assert decisions == ["waits", "waits", "waits", "granted"]  # ch05-004
    two = Banker.model_validate({"allocation": "2 0; 1 1; 0 2", "maximum": "3 2; 2 2; 3 3", "available": "1 1"})
    assert is_safe_order(two, ("P1", "P0", "P2")) and not is_safe_order(two, ("P0", "P1", "P2"))  # ch05-012
    more = {"allocation": "1 0 1; 2 1 0; 0 1 1", "maximum": "2 2 2; 3 1 2; 3 2 4", "available": "1 1 2"}
    assert results("banker", **more)["safe_order"] == ("P1", "P0", "P2")  # ch05-025
    held, asks = "1 0; 1 1; 0 1", "0 1; 0 1; 0 0"
    assert results("deadlock_detection", allocation=held, request=asks, available="0 0")["deadlocked"] == ()
    asks = "0 1; 0 1; 1 0"  # ch05-026
    found = results("deadlock_detection", allocation=held, request=asks, available="0 0")
    assert found["deadlocked"] == ("P0", "P1", "P2")


def test_detection_of_the_book() -> None:
    state = {"allocation": "1 0; 0 1; 1 0; 1 1", "total": "3 2"}
    found = results("deadlock_detection", **state, request="0 1; 2 0; 0 0; 2 1")
    assert found["deadlocked"] == ("P0", "P1", "P3") and found["deadlock"]
    assert not results("deadlock_detection", **state, request="0 1; 1 0; 0 0; 2 1")["deadlock"]


def test_who_holds_nothing_is_blocked_but_not_deadlocked() -> None:
    state = {"allocation": "1;1;0", "request": "1;1;1", "available": "0"}
    assert results("deadlock_detection", **state)["deadlocked"] == ("P0", "P1")
    counted = results("deadlock_detection", **state, empty_handed="counted")
    assert counted["deadlocked"] == ("P0", "P1", "P2")


def test_graphs_of_the_book() -> None:
    edges = "R1->T1, R1->T2, R2->T3, R2 -> T4, T1→R2, T3->R1"
    several = results("resource_graph", edges=edges, units="R1=2, R2 = 2")
    assert several["cycle"] and not several["deadlock"]
    assert set(several["cycle_nodes"]) == {"T1", "R2", "T3", "R1"}
    worse = results("resource_graph", edges=edges + ", T2->R2, T4->R1", units="R1=2,R2=2")
    assert worse["deadlocked"] == ("T1", "T2", "T3", "T4")
    locks = "A->T1, T1->B, B->T2, D->T2, T2->C, C->T3, T3->E, T4->A, E->T5, T5->D"
    found = results("resource_graph", edges=locks)
    assert found["deadlocked"] == ("T2", "T3", "T5")
    blocked = results("resource_graph", edges=locks, members="blocked_for_ever")
    assert blocked["deadlocked"] == ("T1", "T2", "T3", "T4", "T5")
    waits = results("resource_graph", edges="T1->T2, T2->T3, T3->T5, T4->T1, T5->T2")
    assert waits["cycle_nodes"] == ("T2", "T3", "T5")
    exercise_8 = results("resource_graph", edges="R1->T1,T1->R2,R2->T2,T2->R1,R2->T3", units="R2=2")
    assert exercise_8["cycle"] and not exercise_8["deadlock"]


def test_units_of_the_book() -> None:
    assert results("minimum_units", processes=3, each="2")["fewest_units"] == 4
    assert results("minimum_units", processes=5, each="3")["fewest_units"] == 11
    assert results("minimum_units", processes=6, each="4")["fewest_units"] == 19  # ch05-006
    assert results("minimum_units", ask="most_processes", each="2", units=5)["most_processes"] == 4  # ch04-010
    assert results("minimum_units", ask="most_each", processes=4, units=11)["most_each"] == 3
    assert results("minimum_units", ask="never_deadlocks", processes=3, each="3", units=6)["never_deadlocks"] is False


@st.composite
def states(draw: st.DrawFn) -> Banker:
    processes, types = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    numbers = st.integers(0, 4)
    held = tuple(tuple(draw(numbers) for _ in range(types)) for _ in range(processes))
    most = tuple(tuple(have + draw(numbers) for have in line) for line in held)
    free = tuple(draw(numbers) for _ in range(types))
    return Banker(allocation=held, maximum=most, available=free)


def finishes(order: tuple[int, ...], state: Banker) -> bool:
    """Let the processes run in this order, with plain loops."""
    work = list(state.available)
    for each in order:
        for kind in range(len(work)):
            if state.maximum[each][kind] - state.allocation[each][kind] > work[kind]:
                return False
        for kind in range(len(work)):
            work[kind] += state.allocation[each][kind]
    return True


@settings(max_examples=60, deadline=None)
@given(states())
def test_safe_is_what_some_permutation_says(state: Banker) -> None:
    safe = [order for order in permutations(range(len(state.allocation))) if finishes(order, state)]
    found = {key: result.value for key, result in KINDS["banker"].solve(state).results.items()}
    assert found["safe"] == bool(safe) and found["safe_orders"] == len(safe)
    numbers = tuple(int(name[1:]) for name in found["safe_order"])
    assert (numbers in safe) if safe else numbers == ()
    onward = state.model_copy(update={"order_of_search": "onward"})
    assert KINDS["banker"].solve(onward).results["safe"].value == bool(safe)


@settings(max_examples=60, deadline=None)
@given(states(), st.data())
def test_a_request_is_granted_if_the_state_afterwards_is_safe(state: Banker, data: st.DataObject) -> None:
    who = data.draw(st.integers(0, len(state.allocation) - 1))
    wanted = tuple(data.draw(st.integers(0, 4)) for _ in state.available)
    asked = BankerRequest(**state.model_dump(exclude={"ask"}), process=f"P{who}", request=wanted)
    decision = KINDS["banker_request"].solve(asked).results["decision"].value
    held = [list(line) for line in state.allocation]
    held[who] = [a + b for a, b in zip(held[who], wanted, strict=True)]
    left = [a - b for a, b in zip(state.available, wanted, strict=True)]
    if any(a > b for a, b in zip(held[who], state.maximum[who], strict=True)):
        assert decision == "refused"
    elif min(left) < 0:
        assert decision == "waits"
    else:
        after = Banker(allocation=tuple(map(tuple, held)), maximum=state.maximum, available=tuple(left))
        safe = any(finishes(order, after) for order in permutations(range(len(held))))
        assert decision == ("granted" if safe else "waits")


@settings(max_examples=60, deadline=None)
@given(states())
def test_detection_lets_as_many_finish_as_any_order_can(state: Banker) -> None:
    wants = tuple(tuple(n % 3 for n in line) for line in state.maximum)
    asked = Detection(allocation=state.allocation, request=wants, available=state.available, empty_handed="counted")
    stuck = KINDS["deadlock_detection"].solve(asked).results["deadlocked"].value
    best: set[int] = set()
    for order in permutations(range(len(wants))):
        work, done = list(state.available), set[int]()
        for each in order:
            if all(a <= b for a, b in zip(wants[each], work, strict=True)):
                work = [a + b for a, b in zip(work, state.allocation[each], strict=True)]
                done.add(each)
        best = max(best, done, key=len)
    assert stuck == tuple(f"P{each}" for each in range(len(wants)) if each not in best)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 12))
def test_units_against_all_ways_of_holding(processes: int, each: int, units: int) -> None:
    each = min(each, units)
    held = product(range(each), repeat=processes)  # nobody has all that it needs
    possible = any(sum(line) == units for line in held)
    found = results("minimum_units", ask="never_deadlocks", processes=processes, each=str(each), units=units)
    assert found["never_deadlocks"] == (not possible)
    assert found["fewest_units"] == max(map(sum, product(range(each), repeat=processes))) + 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.booleans()), min_size=1, max_size=8))
def test_single_units_a_cycle_is_what_reduction_cannot_remove(drawn: list[tuple[int, int, bool]]) -> None:
    owner: dict[int, int] = {}
    asks: set[tuple[int, int]] = set()
    for process, kind, takes in drawn:
        if takes and kind not in owner:
            owner[kind] = process
        elif owner.get(kind) != process:
            asks.add((process, kind))
    asks = {(process, kind) for process, kind in asks if owner.get(kind) != process}
    edges = [f"R{kind}->P{process}" for kind, process in owner.items()] + [f"P{p}->R{k}" for p, k in asks]
    if not edges:
        return
    graph = ResourceGraph(edges=tuple(edges), members="blocked_for_ever")
    held = tuple(tuple(int(owner.get(kind) == process) for kind in range(1, 5)) for process in range(1, 5))
    wants = tuple(tuple(int((process, kind) in asks) for kind in range(1, 5)) for process in range(1, 5))
    free = tuple(int(kind not in owner) for kind in range(1, 5))
    order = finish_order(free, held, wants)
    stuck = tuple(f"P{process}" for process in range(1, 5) if process - 1 not in order)
    assert KINDS["resource_graph"].solve(graph).results["deadlocked"].value == stuck


def test_faults_name_the_field_and_the_rule() -> None:
    base = {"allocation": "1 0; 0 1", "maximum": "2 1; 1 2", "available": "1 1"}
    banker, asked = KINDS["banker"], KINDS["banker_request"]
    for changed, field, part in [
        ({"allocation": "1 0; 0"}, "allocation", "different lengths"),
        ({"allocation": "1 -1; 0 1"}, "allocation", "from 0 to"),
        ({"maximum": "0 1; 1 2"}, "maximum", "P0 holds (1 0), more than its maximum (0 1)"),
        ({"maximum": "2 1"}, "maximum", "must have the same size"),
        ({"maximum": "2 1; 1 -2"}, "maximum", "below 0"),
        ({"available": "1"}, "available", "2 resource types"),
        ({"total": "0 1"}, "total", "more than the total"),
        ({"total": "5 5"}, "available", "less the allocations is (4 4)"),
        ({"need": "1 1; 1 0"}, "maximum", "not the Need"),
        ({"names": "A"}, "names", "2 rows"),
        ({"names": "A A"}, "names", "same name"),
        ({"allocation": "x"}, "allocation", "not a whole number"),
        ({"allocation": ";".join(["1 1"] * 13)}, "allocation", "At most 12"),
    ]:
        assert part in faults(banker, **{**base, **changed})[field], changed
    assert "no process" in faults(asked, **base, process="P7", request="1 0")["process"]
    assert "2 resource types" in faults(asked, **base, process="P1", request="1")["request"]
    assert solve(banker, {"allocation": "1 0"}).missing == ("available", "maximum")
    graph = KINDS["resource_graph"]
    assert "not an edge" in faults(graph, edges="P1=R1")["edges"]
    assert "to itself" in faults(graph, edges="P1->P1")["edges"]
    assert "joins two resources" in faults(graph, edges="A->B")["processes"]
    assert "do not mix" in faults(graph, edges="P1->P2, R1->P1")["processes"]
    assert "assigned 2 times" in faults(graph, edges="R1->P1, R1->P2")["units"]
    assert "no resource" in faults(graph, edges="R1->P1", units="R2=2")["units"]
    assert "write R1=2" in faults(graph, edges="R1->P1", units="R1")["units"]
    assert "nodes" in faults(graph, edges=",".join(f"P{n}->R{n}" for n in range(20)))["processes"]
    units = KINDS["minimum_units"]
    assert solve(units, {"each": "3"}).missing == ("processes",)
    assert "one for each" in faults(units, processes=3, each="3 4")["each"]
    assert "never be satisfied" in faults(units, ask="never_deadlocks", processes=2, each="5", units=3)["units"]
    assert "same need" in faults(units, ask="most_processes", each="3 4", units=9)["each"]
    assert "any number" in faults(units, ask="most_processes", each="1", units=9)["each"]
    assert "from 1" in faults(units, processes=2, each="0")["each"]
    assert solve(units, {"ask": "most_each"}).missing == ("processes", "units")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_exercises_of_every_seed(kind: Kind[Any]) -> None:
    check_generated(kind, range(51))
    check_choices(kind)


def test_all_is_told_in_both_languages() -> None:
    book = dict(BOOK)
    for extra in ({}, {"allocation": "1 0 2; 2 3 1; 2 0 2; 2 3 1; 0 0 2"}, {"total": (), "available": "3 2 1"}):
        check_told(KINDS["banker"], Banker.model_validate({**book, **extra}))
    for process, wanted in (("P2", "2 0 0"), ("P3", "1 0 0"), ("P4", "0 3 0"), ("P0", "4 0 0")):
        values = {**book, "process": process, "request": wanted}
        check_told(KINDS["banker_request"], BankerRequest.model_validate(values))
    for available, choice in (("0", "not_counted"), ("0", "counted"), ("1", "counted")):
        values = {"allocation": "1;1;0", "request": "1;1;1", "available": available, "empty_handed": choice}
        check_told(KINDS["deadlock_detection"], Detection.model_validate(values))
    for edges, units in (
        ("R1->P1", ""),
        ("P1->P2,P2->P1", ""),
        ("R1->P1,P1->R2,R2->P2,P2->R1", ""),
        ("R1->P1,P1->R2,R2->P2,P2->R1", "R1=2"),
        ("R1->P1,P1->R2,R2->P2,P2->R1,R1->P3,P3->R2", "R1=2"),
    ):
        check_told(KINDS["resource_graph"], ResourceGraph.model_validate({"edges": edges, "units": units}))
    for values in (
        {"processes": 3, "each": "2"},
        {"each": "2 3"},
        {"ask": "most_processes", "each": "12", "units": 400},
        {"ask": "most_each", "processes": 2, "units": 7},
        {"ask": "never_deadlocks", "processes": 2, "each": "3", "units": 5},
        {"ask": "never_deadlocks", "processes": 2, "each": "3", "units": 4},
    ):
        check_told(KINDS["minimum_units"], MinimumUnits.model_validate(values))


def test_a_trace_is_graded_up_to_the_first_wrong_row() -> None:
    given = Banker.model_validate(BOOK)
    rows = [["P2", "3 2 1", "3 1 0", "2 0 2", "5 2 3"], ["P3", "5,2,3", "2 0 2", "1 3 1", "7 5 4"]]
    grade = grade_trace(KINDS["banker"], given, rows)
    assert (grade.right, grade.total, grade.column) == (1, 5, "work_after")
    assert grade.step is not None and shown(grade.expected) == "6, 5, 4"


BANK = {
    "allocation": "0 1 0; 2 0 0; 3 0 2; 2 1 1; 0 0 2",
    "maximum": "7 5 3; 3 2 2; 9 0 2; 2 2 2; 4 3 3",
    "available": "3,3,2",
}


def _rows_in_order(order: Sequence[str]) -> list[list[str]]:
    """The table of a student who lets the processes finish in this order."""
    bank = Banker.model_validate(BANK)
    work, rows = bank.free(), []
    for name in order:
        number = bank.named().index(name)
        held, after = bank.allocation[number], tuple(map(sum, zip(work, bank.allocation[number], strict=True)))
        rows.append([name, *(" ".join(map(str, each)) for each in (work, bank.needs()[number], held, after))])
        work = after
    return rows


def test_the_trace_of_any_safe_order_is_right() -> None:
    given = Banker.model_validate(BANK)
    for order in permutations(given.named()):
        grade = grade_trace(KINDS["banker"], given, _rows_in_order(order))
        assert (grade.right == grade.total) == is_safe_order(given, order)
        assert answers(KINDS["banker"], given, "<" + ",".join(order) + ">") == is_safe_order(given, order)


def test_a_step_that_cannot_be_taken_is_named() -> None:
    grade = grade_trace(KINDS["banker"], Banker.model_validate(BANK), _rows_in_order(("P3", "P0", "P1", "P4", "P2")))
    assert (grade.right, grade.column, grade.seen, grade.expected) == (1, "finishing", "P0", "P1")


def test_the_order_of_a_granted_request_is_free_too() -> None:
    given = BankerRequest.model_validate({**BANK, "process": "P1", "request": "1,0,2", "ask": "safe_order"})
    assert answers(KINDS["banker_request"], given, "P1, P3, P4, P0, P2")
    assert not answers(KINDS["banker_request"], given, "P1, P0, P3, P4, P2")
    assert not answers(KINDS["banker_request"], given, "P1, P3")
