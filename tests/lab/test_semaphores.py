"""Interleavings against the course book, and against all merges of the processes run one by one."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab import semaphores
from osrag.lab.kind import Kind
from osrag.lab.semaphores import STATES, Semaphores
from osrag.lab.solve import solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

KINDS: dict[str, Kind[Any]] = {kind.name: kind for kind in semaphores.KINDS}
KIND = KINDS["semaphores"]


def results(program: str, **values: Any) -> dict[str, Any]:
    solved = solve(KIND, {"concurrent": program, **values})
    assert solved.solution is not None, (solved.missing, [fault.sentence("en") for fault in solved.faults])
    return {key: result.value for key, result in solved.solution.results.items()}


def test_two_increments_of_the_book() -> None:
    found = results("A: x = x + 1\nB: x++", variables="x=0", ask="final_values")
    assert found["final_values"] == (1, 2)
    three = "A: repeat 3 { x = x + 1 } || B: repeat 3 { x += 1 }"
    found = results(three, variables="x=0", ask="smallest")
    assert (found["smallest"], found["largest"]) == (2, 6)  # the exercise of chapter 4
    atomic = results(three, variables="x=0", ask="final_values", assignment="at_once")
    assert atomic["final_values"] == (6,)
    guarded = "A: P(S); x = x + 1; V(S) || B: wait(S); x = x + 1; signal(S)"
    assert results(guarded, semaphores="S=1", variables="x=0", ask="final_values")["final_values"] == (2,)


def test_the_order_of_the_producer() -> None:
    starts = "mutex=1, empty=1, full=0"
    consumer = " || C: P(full); P(mutex); get; V(mutex); V(empty)"
    right = "A: repeat 2 { P(empty); P(mutex); put; V(mutex); V(full) }" + consumer
    wrong = "A: repeat 2 { P(mutex); P(empty); put; V(mutex); V(full) }" + consumer
    assert not results(right, semaphores=starts)["can_deadlock"]
    assert results(wrong, semaphores=starts)["can_deadlock"]


def philosophers(count: int, seats: int) -> str:
    fork = "P(F{}); P(F{}); V(F{}); V(F{})"
    lines = [fork.format(n, (n + 1) % count, (n + 1) % count, n) for n in range(count)]
    return "\n".join(f"P(T); {line}; V(T)" if seats < count else line for line in lines)


def test_philosophers_and_the_one_who_stays_away() -> None:
    forks = ", ".join(f"F{n}=1" for n in range(4))
    assert results(philosophers(4, 4), semaphores=forks)["can_deadlock"]
    assert not results(philosophers(4, 3), semaphores=forks + ", T=3")["can_deadlock"]


def test_one_too_many_in_the_section() -> None:
    program = " || ".join("P(S); enter C; leave C; V(S)" for _ in range(3))
    assert results(program, semaphores="S=2", ask="can_violate")["can_violate"]
    assert not results(program, semaphores="S=1", ask="can_violate")["can_violate"]


def test_printing_in_turn() -> None:
    program = "A: print a; V(S) || B: P(S); print b || C: print c"
    found = results(program, semaphores="S=0", ask="can_print", printed_text="c a b")
    assert found["printed"] == ("a b c", "a c b", "c a b") and found["can_print"]
    assert not results(program, semaphores="S=0", ask="can_print", printed_text="b a c")["can_print"]


def test_the_value_of_a_semaphore() -> None:
    for initial, downs, ups, value in ((3, 5, 0, -2), (3, 5, 1, -1), (4, 9, 3, -2), (3, 7, 2, -2)):
        solved = solve(KINDS["semaphore_value"], {"initial": initial, "p_count": downs, "v_count": ups})
        assert solved.solution is not None and solved.solution.results["semaphore_value"].value == value
        assert solved.solution.results["waiting_count"].value == max(0, -value)
        told = solve(KINDS["semaphore_value"], {"current": value, "ask": "waiting_count"})
        assert told.answer is not None and told.answer.value == max(0, -value)
    assert set(solve(KINDS["semaphore_value"], {"v_count": 1}).missing) == {"initial", "p_count"}


def test_operations_after_the_present_value_change_it():
    later = solve(KINDS["semaphore_value"], {"current": "-3", "p_count": "1", "v_count": "2", "ask": "waiting_count"})
    assert later.answer is not None and later.answer.value == 2
    whole = solve(KINDS["semaphore_value"], {"initial": "4", "p_count": "9", "current": "-2"})  # after these operations
    assert whole.answer is not None and whole.answer.value == -2


def merges(counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every order in which processes with so many steps can take turns."""
    if not any(counts):
        yield ()
    for process, left in enumerate(counts):
        if left:
            rest = tuple(n - (each == process) for each, n in enumerate(counts))
            yield from ((process, *tail) for tail in merges(rest))


def run(lines: list[list[str]], order: tuple[int, ...], values: dict[str, int]) -> tuple[str, tuple[int, ...]]:
    """Run one order with plain variables: "done", "no" where a P cannot pass, and the places reached."""
    values, at, register = dict(values), [0] * len(lines), [0] * len(lines)
    for process in order:
        step = lines[process][at[process]]
        if step == "P":
            if values["S"] == 0:
                return "no", tuple(at)
            values["S"] -= 1
        elif step == "V":
            values["S"] += 1
        elif step == "r":
            register[process] = values["x"]
        elif step == "+":
            register[process] += process + 1
        elif step == "w":
            values["x"] = register[process]
        at[process] += 1
    return f"x={values['x']}", tuple(at)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["P(S)", "V(S)", "x"]), max_size=2), min_size=2, max_size=2), st.integers(0, 2)
)
def test_all_orders_one_by_one_end_with_the_same_values(parts: list[list[str]], value: int) -> None:
    texts, lines = list[str](), list[list[str]]()
    for process, statements in enumerate(parts):
        texts.append("; ".join(s if s != "x" else f"x = x + {process + 1}" for s in statements) + "; done")
        lines.append([step for s in statements for step in (["r", "+", "w"] if s == "x" else [s[0]])] + ["d"])
    ends = set[int]()
    for order in merges(tuple(map(len, lines))):
        how, _ = run(lines, order, {"S": value, "x": 0})
        if how != "no":
            ends.add(int(how[2:]))
    # Stuck: some prefix of an order after which nobody can take a step.
    stuck = False
    for some in {tuple(sorted(c)) for c in merges(tuple(map(len, lines)))}:
        for length in range(len(some)):
            for order in set(merges(tuple(some[:length].count(p) for p in range(2)))):
                how, at = run(lines, order, {"S": value, "x": 0})
                if how == "no":
                    continue
                more = [p for p in range(2) if at[p] < len(lines[p])]
                stuck |= bool(more) and all(run(lines, (*order, p), {"S": value, "x": 0})[0] == "no" for p in more)
    found = results("\n".join(texts), semaphores=f"S={value}", variables="x=0")
    assert set(found.get("final_values", ())) == ends
    if stuck:
        assert found["can_deadlock"]


def test_a_schedule_can_be_replayed() -> None:
    given = Semaphores.model_validate(
        {
            "ask": "smallest",
            "variables": "x=0",
            "concurrent": "A: repeat 3 { x = x + 1 } || B: repeat 3 { x = x + 1 }",
        }
    )
    solution = KIND.solve(given)
    rows = [step.row for step in solution.steps if step.row]
    x, register = 0, {"A": 0, "B": 0}
    for _, who, what, values in rows:
        if str(what).startswith("read"):
            register[str(who)] = x
        elif str(what).startswith("compute"):
            register[str(who)] += 1
        else:
            x = register[str(who)]
        assert values == (f"x={x}",)
    assert len(rows) == 18 and x == solution.results["smallest"].value == 2


def test_the_states_of_independent_processes_multiply() -> None:
    program = "\n".join("; ".join(f"s{n}" for n in range(length)) for length in (3, 4, 2))
    assert results(program, ask="state_count")["state_count"] == 4 * 5 * 3


def test_faults_name_the_field_and_the_rule() -> None:
    for values, field, part in [
        ({"concurrent": "P(S)"}, "concurrent", "no semaphore"),
        ({"concurrent": "a"}, "concurrent", "2 to 4 processes"),
        ({"concurrent": "a\nb\nc\nd\ne"}, "concurrent", "2 to 4 processes"),
        ({"concurrent": "A: a\nA: b"}, "concurrent", "same name"),
        ({"concurrent": "repeat 13 { a }\nb"}, "concurrent", "more than 12"),
        ({"concurrent": "repeat 12 {" * 9 + "a" + "}" * 9 + "\nb"}, "concurrent", "more than 12"),
        ({"concurrent": "x = 1\nb"}, "concurrent", "no initial value"),
        ({"concurrent": "x = (1)\nb", "variables": "x=0"}, "concurrent", "not a sum"),
        ({"concurrent": "!\nb"}, "concurrent", "not a statement"),
        ({"concurrent": "S = 1\nb", "semaphores": "S=1"}, "concurrent", "P and V only"),
        ({"concurrent": "a\nb", "semaphores": "S=-1"}, "semaphores", "below 0"),
        ({"concurrent": "a\nb", "semaphores": "S"}, "semaphores", "write S=1"),
        ({"concurrent": "a\nb", "variables": "x=1,x=2"}, "variables", "two initial"),
        ({"concurrent": "a\nb", "ask": "smallest"}, "concurrent", "no shared variable"),
        ({"concurrent": "a\nb", "ask": "can_violate"}, "concurrent", "no enter"),
        ({"concurrent": "a\nb", "ask": "printed"}, "concurrent", "no print"),
        (
            {"concurrent": "P(S)\nb", "ask": "smallest", "semaphores": "S=0", "variables": "x=0"},
            "concurrent",
            "No order",
        ),
    ]:
        assert part in faults(KIND, **values)[field], values
    large = "\n".join("repeat 6 { x = x + 1 }" for _ in range(4))
    assert f"More than {STATES} states" in faults(KIND, concurrent=large, variables="x=0")["concurrent"]
    asked = solve(KIND, {"concurrent": "print a\nprint b", "ask": "can_print"})
    assert asked.missing == ("printed_text",)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_exercises_of_every_seed(kind: Kind[Any]) -> None:
    check_generated(kind, range(51))
    check_choices(kind)


@pytest.mark.parametrize(
    "values",
    [
        {"concurrent": "A: P(S); P(T)\nB: P(T); P(S)", "semaphores": "S=1,T=1"},
        {"concurrent": "A: P(S); V(S)\nB: P(S); V(S); end", "semaphores": "S=1"},
        {"concurrent": "enter C; leave C\nenter C; leave C", "ask": "can_violate"},
        {"concurrent": "P(S); enter C; leave C; V(S)\nleave C", "ask": "can_violate", "semaphores": "S=1"},
        *(
            {"concurrent": "x = 2*x + 1; print x\ny = x", "variables": "x=1,y=2", "assignment": how, "ask": ask}
            for how in ("in_steps", "at_once")
            for ask in ("final_values", "smallest", "largest", "printed", "state_count")
        ),
        *({"concurrent": "print a\nprint b", "ask": "can_print", "printed_text": text} for text in ("a b", "a a")),
    ],
)
def test_all_is_told_in_both_languages(values: dict[str, Any]) -> None:
    check_told(KIND, Semaphores.model_validate(values))
    for downs in (1, 4):
        counts = {"initial": 2, "p_count": downs}
        check_told(KINDS["semaphore_value"], KINDS["semaphore_value"].parameters.model_validate(counts))
