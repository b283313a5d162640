"""Buffering: the course book's example, exams, a simulation in small steps, exercises and drawings."""

import itertools
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab.buffers import KINDS, Buffered
from osrag.lab.solve import solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

KIND = KINDS[0]
HOW = get_args(Buffered.model_fields["buffers"].annotation)


def total(how: str, read: int, move: int, process: int, blocks: int) -> Any:
    values = {"buffers": how, "input_time": read, "move_time": move, "process_time": process, "block_count": blocks}
    solved = solve(KIND, values)
    assert solved.answer is not None
    return solved.answer.value


def test_the_example_of_the_book() -> None:
    assert [total(how, 100, 5, 60, 10) for how in HOW] == [1600, 1110, 1065]
    assert [total(how, 80, 10, 40, 20) for how in HOW] == [2400, 1840, 1650]  # exercise of section 9.6


def test_published_exams() -> None:
    assert total("single_buffer", 100, 50, 50, 10) == 1550  # 408, 2011
    assert total("double_buffer", 100, 50, 50, 10) == 1100
    assert total("single_buffer", 100, 5, 90, 2) == 300  # 408, 2013


def clocked(slots: int, read: int, move: int, process: int, blocks: int) -> int:
    """Device, mover and process, tick by tick."""
    filled = moved = reading = moving = processing = 0
    started = done = 0
    for now in itertools.count():
        if done == blocks:
            return now
        if not moving and not processing and filled:
            moving = move or -1
        if moving == -1:  # takes no time
            moving, filled, moved, processing = 0, filled - 1, moved + 1, process
            if not process:
                done += 1
        held = filled + bool(reading)
        if not reading and started < blocks and held < slots and not (moving and filled == slots):
            reading, started = read, started + 1
        reading, finished_reading = max(0, reading - 1), reading == 1
        if processing:
            processing -= 1
            done += processing == 0
        if moving > 0:
            moving -= 1
            if not moving:
                filled, moved, processing = filled - 1, moved + 1, process
                done += not process
        filled += finished_reading
    raise AssertionError


@pytest.mark.parametrize(("how", "slots"), [("single_buffer", 1), ("double_buffer", 2)])
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 9), st.integers(1, 6))
def test_against_a_clock(how: str, slots: int, read: int, move: int, process: int, blocks: int) -> None:
    assert total(how, read, move, process, blocks) == clocked(slots, read, move, process, blocks)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 99), st.integers(0, 20), st.integers(0, 99), st.integers(1, 40))
def test_more_buffers_never_take_longer(read: int, move: int, process: int, blocks: int) -> None:
    single, double = (total(how, read, move, process, blocks) for how in HOW[1:])
    assert double <= single
    values = {"input_time": read, "move_time": move, "process_time": process, "ask": "block_time"}
    each = {how: solve(KIND, {"buffers": how, **values}).answer for how in HOW}
    assert total("no_buffer", read, move, process, blocks) == blocks * (read + process)
    assert each["single_buffer"] is not None and each["double_buffer"] is not None
    assert each["double_buffer"].value <= each["single_buffer"].value  # type: ignore[operator]


def test_faults_and_missing_fields() -> None:
    assert solve(KIND, {}).missing == ("input_time", "process_time", "block_count")
    assert "greater than 0" in faults(KIND, input_time=0, process_time=1, block_count=2)["input_time"]


def test_exercises_words_and_drawings() -> None:
    check_generated(KIND, range(51))
    check_choices(KIND)
    for how in HOW:
        check_told(KIND, Buffered(buffers=how, input_time=80, move_time=2.5, process_time=30, block_count=40))
        check_told(KIND, Buffered(buffers=how, input_time=80, process_time=30, ask="block_time"))
