"""The calculators against numbers from the literature or worked by hand."""

import doctest
import importlib

import pytest
from coursecalc import (
    banker_request,
    best_fit,
    buddy,
    clock,
    clook,
    close,
    cscan,
    deadlocked,
    disk_access_ms,
    disk_fcfs,
    eat_fault,
    eat_tlb,
    fcfs,
    fifo,
    file_max_bytes,
    first_fit,
    hrrn,
    indirect_blocks,
    inode_path,
    is_safe,
    is_safe_order,
    look,
    lru,
    mlfq,
    mttdl_raid5,
    need,
    next_fit,
    opt,
    parity,
    priority,
    raid_capacity,
    rm_bound,
    rr,
    safe_sequence,
    scan,
    sjf,
    split_levels,
    srtf,
    sstf,
    translate,
    translate_segment,
    translate_two_level,
    wait_for_cycle,
    working_set,
    worst_fit,
)

# Silberschatz et al., Operating System Concepts, 10th ed., section 8.6.3
ALLOCATION = [[0, 1, 0], [2, 0, 0], [3, 0, 2], [2, 1, 1], [0, 0, 2]]
MAXIMUM = [[7, 5, 3], [3, 2, 2], [9, 0, 2], [2, 2, 2], [4, 3, 3]]
AVAILABLE = [3, 3, 2]
# ibid., section 10.4
STRING = [7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1]
# ibid., section 11.2
QUEUE = [98, 183, 37, 122, 14, 124, 65, 67]


@pytest.mark.parametrize("module", ["cpu", "deadlock", "memory", "storage"])
def test_examples_in_docstrings_hold(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"coursecalc.{module}"))
    assert result.attempted > 0 and result.failed == 0


def test_fcfs_convoy_and_its_reverse() -> None:
    assert fcfs([("P1", 0, 24), ("P2", 0, 3), ("P3", 0, 3)])["avg_wait"] == 17
    assert fcfs([("P2", 0, 3), ("P3", 0, 3), ("P1", 0, 24)])["avg_wait"] == 3


def test_a_processor_without_work_stays_idle() -> None:
    run = fcfs([("A", 0, 2), ("B", 5, 1)])
    assert run["gantt"] == [("A", 0, 2), ("B", 5, 6)]
    assert run["waiting"] == {"A": 0, "B": 0}


def test_srtf_chart() -> None:
    run = srtf([("P1", 0, 8), ("P2", 1, 4), ("P3", 2, 9), ("P4", 3, 5)])
    assert run["gantt"] == [("P1", 0, 1), ("P2", 1, 5), ("P4", 5, 10), ("P1", 10, 17), ("P3", 17, 26)]
    assert run["avg_wait"] == 6.5


def test_sjf_waits_less_than_fcfs() -> None:
    jobs = [("P1", 0, 6), ("P2", 0, 8), ("P3", 0, 7), ("P4", 0, 3)]
    assert (sjf(jobs)["avg_wait"], fcfs(jobs)["avg_wait"]) == (7, 10.25)


def test_round_robin_puts_an_arrival_before_the_job_whose_slice_ended() -> None:
    run = rr([("A", 0, 4), ("B", 2, 2)], 2)
    assert run["gantt"] == [("A", 0, 2), ("B", 2, 4), ("A", 4, 6)]
    assert run["switches"] == 2


def test_round_robin_with_switch_cost() -> None:
    run = rr([("A", 0, 4), ("B", 0, 4)], 2, switch=1)
    assert run["completion"] == {"A": 8, "B": 11}


def test_preemptive_priority() -> None:
    run = priority([("A", 0, 5, 2), ("B", 1, 2, 1)], preemptive=True)
    assert run["gantt"] == [("A", 0, 1), ("B", 1, 3), ("A", 3, 7)]


def test_hrrn_lets_a_long_wait_win() -> None:
    # when A ends at 8 the ratios are B = (8-1+4)/4 = 2.75, C = (8-2+9)/9 = 1.67
    run = hrrn([("A", 0, 8), ("C", 2, 9), ("B", 1, 4)])
    assert [name for name, _, _ in run["gantt"]] == ["A", "B", "C"]


def test_mlfq_demotes_a_job_that_uses_its_quantum() -> None:
    run = mlfq([("A", 0, 6), ("B", 0, 3)], [2, None])
    assert run["gantt"] == [("A", 0, 2), ("B", 2, 4), ("A", 4, 8), ("B", 8, 9)]


def test_mlfq_arrival_preempts_the_lower_level() -> None:
    run = mlfq([("A", 0, 6), ("B", 3, 2)], [2, 4])
    assert run["gantt"] == [("A", 0, 3), ("B", 3, 5), ("A", 5, 8)]


def test_rate_monotonic_bound() -> None:
    assert close(rm_bound(2), 0.828) and close(rm_bound(3), 0.780)


def test_banker_on_the_standard_case() -> None:
    assert need(ALLOCATION, MAXIMUM)[0] == [7, 4, 3]
    assert safe_sequence(AVAILABLE, ALLOCATION, MAXIMUM) == ["P1", "P3", "P0", "P2", "P4"]
    assert is_safe_order(["P1", "P3", "P4", "P2", "P0"], AVAILABLE, ALLOCATION, MAXIMUM)
    assert not is_safe_order(["P0", "P1", "P2", "P3", "P4"], AVAILABLE, ALLOCATION, MAXIMUM)


def test_banker_requests_on_the_standard_case() -> None:
    first = banker_request(AVAILABLE, ALLOCATION, MAXIMUM, 1, [1, 0, 2])
    assert first["granted"] and first["available"] == [2, 3, 0]
    held = [[0, 1, 0], [3, 0, 2], [3, 0, 2], [2, 1, 1], [0, 0, 2]]
    assert banker_request([2, 3, 0], held, MAXIMUM, 4, [3, 3, 0])["reason"] == "must wait"
    assert banker_request([2, 3, 0], held, MAXIMUM, 0, [0, 2, 0])["reason"] == "unsafe"
    assert banker_request(AVAILABLE, ALLOCATION, MAXIMUM, 1, [2, 0, 0])["reason"] == "exceeds need"
    assert not is_safe([2, 1, 0], [[0, 3, 0], *held[1:]], MAXIMUM)


def test_detection_on_the_standard_case() -> None:
    held = [[0, 1, 0], [2, 0, 0], [3, 0, 3], [2, 1, 1], [0, 0, 2]]
    asks = [[0, 0, 0], [2, 0, 2], [0, 0, 0], [1, 0, 0], [0, 0, 2]]
    assert deadlocked([0, 0, 0], held, asks) == []
    asks[2] = [0, 0, 1]
    assert deadlocked([0, 0, 0], held, asks) == ["P1", "P2", "P3", "P4"]


def test_wait_for_cycle() -> None:
    assert wait_for_cycle([("A", "B"), ("B", "C"), ("C", "B")]) == ["B", "C"]
    assert wait_for_cycle([("A", "B"), ("B", "C"), ("A", "C")]) == []


def test_page_replacement_on_the_standard_string() -> None:
    assert [run(STRING, 3)["faults"] for run in (fifo, lru, opt)] == [15, 12, 9]
    assert lru(STRING, 3)["rows"][:4] == [(7, None, None), (7, 0, None), (7, 0, 1), (2, 0, 1)]


def test_beladys_anomaly_is_fifos_alone() -> None:
    string = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]
    assert [fifo(string, n)["faults"] for n in (3, 4)] == [9, 10]
    assert [lru(string, n)["faults"] for n in (3, 4)] == [10, 8]
    assert [opt(string, n)["faults"] for n in (3, 4)] == [7, 6]


def test_clock_gives_a_second_chance() -> None:
    # after 1 2 3 every bit is set; 4 clears all and takes frame 0; 2 sets its bit again,
    # so 5 passes over 2 and takes the frame of 3
    run = clock([1, 2, 3, 4, 2, 5], 3)
    assert run["rows"][3:] == [(4, 2, 3), (4, 2, 3), (4, 2, 5)]
    assert run["faults"] == 5


def test_working_set_looks_back_inclusively() -> None:
    assert working_set([1, 2, 1, 3, 3, 3], 4, 3) == {1, 3}


def test_addresses() -> None:
    assert translate(0x1A30, 4096, {1: 7}) == 0x7A30
    assert split_levels(0x00403004, 12, (10, 10)) == (1, 3, 4)
    assert translate_two_level(0x00403004, {1: {3: 0x55}}) == 0x55004
    assert translate_segment(2, 53, {2: (4300, 400)}) == 4353
    with pytest.raises(ValueError, match="outside"):
        translate_segment(0, 1222, {0: (1400, 1000)})
    with pytest.raises(KeyError):
        translate(0x2000, 4096, {1: 7})


def test_access_times() -> None:
    assert close(eat_tlb(0.99, 0, 10), 10.1)
    assert close(eat_tlb(0.98, 20, 100), 122)
    assert close(eat_tlb(0.9, 0, 100, levels=4), 140)
    assert close(eat_fault(1 / 1000, 200, 8_000_000), 8199.8)


def test_fits() -> None:
    # Silberschatz et al., exercise 9.13
    holes, asks = [100, 500, 200, 300, 600], [212, 417, 112, 426]
    assert first_fit(holes, asks)["placed"] == [1, 4, 1, None]
    assert best_fit(holes, asks)["placed"] == [3, 1, 2, 4]
    assert worst_fit(holes, asks)["placed"] == [4, 1, 4, None]
    assert next_fit([100, 500, 200], [400, 90, 60])["placed"] == [1, 1, 2]


def test_buddies_merge_back() -> None:
    # Knuth's scheme; 1 MiB, requests 100, 240, 64, 256 as in Stallings, figure 7.6
    run = buddy(1024, [("A", 100), ("B", 240), ("C", 64), ("D", 256)])
    assert run["blocks"] == {"A": (0, 128), "B": (256, 256), "C": (128, 64), "D": (512, 256)}
    assert run["free"] == [(192, 64), (768, 256)]
    run = buddy(1024, [("A", 100), ("B", 240), ("A", 0), ("B", 0)])
    assert run["free"] == [(0, 1024)] and run["blocks"] == {}
    assert buddy(64, [("A", 65)])["failed"] == ["A"]


@pytest.mark.parametrize(
    ("walk", "distance"),
    [(disk_fcfs, 640), (sstf, 236), (scan, 331), (look, 299), (cscan, 382), (clook, 322)],
)
def test_disk_arm(walk: object, distance: int) -> None:
    assert callable(walk) and walk(53, QUEUE)["distance"] == distance


def test_disk_arm_orders() -> None:
    assert sstf(53, QUEUE)["order"] == [65, 67, 37, 14, 98, 122, 124, 183]
    assert scan(53, QUEUE, up=False)["order"] == [37, 14, 65, 67, 98, 122, 124, 183]
    assert cscan(53, QUEUE)["order"] == [65, 67, 98, 122, 124, 183, 14, 37]
    assert scan(53, [60, 70])["distance"] == 17


def test_disk_access() -> None:
    assert close(disk_access_ms(5, 7200, 4096, 125_000_000), 9.2, 0.01)


def test_files() -> None:
    assert file_max_bytes(4096, 4, double=0, triple=0) == (12 + 1024) * 4096
    assert inode_path(5000, 1024, 4) == ("direct", (4,))
    assert inode_path((12 + 256 + 256 * 3 + 5) * 1024, 1024, 4) == ("double", (3, 5))
    assert [indirect_blocks(n * 1024, 1024, 4) for n in (12, 13, 268, 269, 525)] == [0, 1, 1, 3, 4]


def test_raid() -> None:
    assert raid_capacity(10, 6, 1) == 3
    assert parity(5, 9, parity(5, 9, 12)) == 12
    assert close(mttdl_raid5(1000, 1, 5), 50_000)
    with pytest.raises(ValueError, match="cannot be built"):
        raid_capacity(6, 3, 1)
