"""Counting forks against the course book, real processes, and outputs listed by hand."""

import random
import subprocess
import sys
from typing import Any

import pytest

from osrag.lab import forks
from osrag.lab.forks import Fork
from osrag.lab.kind import Kind
from osrag.lab.solve import solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

KIND: Kind[Any] = forks.KINDS[0]


def results(program: str, **values: Any) -> dict[str, Any]:
    solved = solve(KIND, {"program": program, **values})
    assert solved.solution is not None, (solved.missing, [fault.sentence("en") for fault in solved.faults])
    return {key: result.value for key, result in solved.solution.results.items()}


@pytest.mark.parametrize(
    ("program", "processes"),
    [
        ("for (i = 0; i < 3; i++) fork();", 8),
        ("for (i = 0; i < 3; i++) if (fork() == 0) break;", 4),
        ("fork(); fork(); if (fork() == 0) fork();", 12),
        ("for (i = 0; i < 4; i++) fork();", 16),  # ch02-006
        ("fork(); fork() && fork() || fork(); fork();", 20),
        ("#include <stdio.h>\nint main(void) { pid_t pid = fork(); if (!pid) { fork(); exit(0); } return 0; }", 3),
        ("int i = 3; while (i--) { if (fork() > 0) continue; break; }", 4),
        ("// nothing", 1),
    ],
)
def test_processes_of_the_book_and_of_papers(program: str, processes: int) -> None:
    found = results(program)
    assert (found["processes"], found["new_processes"]) == (processes, processes - 1)


def test_text_in_the_buffer_is_copied() -> None:
    program = 'printf("A"); fork(); fork();'
    assert results(program)["prints"] == 4  # the pitfall of section 2.3
    assert results(program, buffering="none")["prints"] == 1
    line = 'printf("A\\n"); fork(); fork();'
    assert results(line)["lines"] == 1
    assert results(line, buffering="full")["lines"] == 4


def test_variables_are_copies() -> None:
    program = 'int x = 1; if (fork() == 0) { x++; printf("%d\\n", x); exit(0); } wait(NULL); printf("%d\\n", x);'
    assert results(program, ask="is_possible", output="2 1")["is_possible"]
    assert not results(program, ask="is_possible", output="1 2")["is_possible"]


def test_outputs_are_the_orders_that_wait_leaves() -> None:
    free = 'if (fork() == 0) printf("a\\n"); else printf("b\\n"); printf("c\\n");'
    expected = {"a c b c", "a b c c", "b c a c", "b a c c"}
    assert {forks.visible(text) for text in forks.outputs((free, "line")) or ()} == expected
    waited = 'if (fork() == 0) printf("a\\n"); else { wait(NULL); printf("b\\n"); } printf("c\\n");'
    assert results(waited, ask="outputs")["outputs"] == 1
    two = 'fork(); fork(); wait(NULL); printf("x\\n");'
    assert results(two, ask="outputs")["outputs"] == 1


def test_a_wait_before_a_birth_is_that_of_the_parent() -> None:
    program = 'if (fork() == 0) { fork(); while (wait(NULL) > 0); if (fork() == 0) printf("g\\n"); }'
    assert results(program)["lines"] == 2


def expression(draw: random.Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.3:
        return "fork()"
    sign = draw.choice(["&&", "||"])
    return f"({expression(draw, depth - 1)} {sign} {expression(draw, depth - 1)})"


def test_real_processes_are_as_many() -> None:
    """Python forks for real; every process writes one byte into a pipe."""
    draw = random.Random(17)
    programs = [[expression(draw, 2) for _ in range(draw.randint(1, 2))] for _ in range(25)]
    script = """
import os, sys
for line in sys.stdin.read().splitlines():
    here, there = os.pipe()
    first = os.getpid()
    for part in line.split(";"):
        eval(part, {"fork": os.fork})
    os.write(there, b"x")
    if os.getpid() != first:
        os._exit(0)
    os.close(there)
    count = 0
    while got := os.read(here, 4096):
        count += len(got)
    print(count)
"""
    text = "\n".join(";".join(parts).replace("&&", "and").replace("||", "or") for parts in programs)
    done = subprocess.run([sys.executable, "-S", "-c", script], input=text, capture_output=True, text=True, timeout=60)
    real = [int(line) for line in done.stdout.split()]
    assert len(real) == len(programs), done.stderr
    assert [results("; ".join(parts) + ";")["processes"] for parts in programs] == real


def test_faults_name_the_field_and_the_rule() -> None:
    for program, part in [
        ("fork() @", "cannot be read"),
        ("fork()", "there should be ;"),
        ("while (1) fork();", "more than"),
        ("while (1) ;", "more than 200000 steps"),
        ("x = y + fork();", "before it has a value"),
        ('system("rm");', "system is not known"),
        ("break;", "outside a loop"),
        ("x = 1 / 0;", "division by 0"),
        ('x = 1 + "a";', "cannot be computed"),
        ("puts();", "puts has a wrong argument"),
        ('putchar("a");', "putchar has a wrong argument"),
        ("int *p;", "Pointer"),
        ("{" * 60 + "}" * 60, "too deeply"),
        ("(" * 200 + "1" + ")" * 200 + ";", "too deeply"),
        ("++3;", "“3” cannot stand after “++”"),
        ("fork() || ;", "“;” cannot stand after “fork ( ) ||”"),
        ("fork(", "The program ends in the middle"),
        ("x" * 3000, "At most 2000 characters"),
        ("fork(); " * 11, "more than 1024 processes"),
    ]:
        assert part in faults(KIND, program=program)["program"], program
    many = 'fork(); fork(); fork(); printf("%d\\n", getpid()); printf("%d\\n", getpid());'
    long = 'for (i = 0; i < 3000; i++) printf("a\\n");'
    for program in (many, long):
        assert "too many orders" in faults(KIND, program=program, ask="outputs")["output"]
    assert solve(KIND, {"ask": "is_possible", "program": "fork();"}).missing == ("output",)


def test_exercises_of_every_seed() -> None:
    check_generated(KIND, range(51))
    check_choices(KIND)


@pytest.mark.parametrize(
    "values",
    [
        {"program": "fork(); fork() && fork();"},
        {"program": "fork(); " * 7},
        {"program": 'fork(); printf("a\\n");', "ask": "is_possible", "output": "a a"},
        {"program": 'fork(); printf("a\\n");', "ask": "is_possible", "output": "b"},
    ],
)
def test_all_is_told_in_both_languages(values: dict[str, Any]) -> None:
    check_told(KIND, Fork.model_validate(values))
