"""Published exam questions and textbook exercises with known answers, for every kind of the lab.

OSC: Silberschatz, Galvin, Gagne, Operating System Concepts. MOS: Tanenbaum, Modern Operating Systems. OSI: Stallings,
Operating Systems: Internals and Design Principles. 408: the Chinese entrance examination in computing. TXD: 汤小丹,
计算机操作系统. GATE: the Indian graduate examination in computer science. "hand" was computed on paper.
Numbers of sections and exercises differ between editions.
"""

from collections import Counter
from typing import Any

import pytest

from osrag.lab.catalog import KINDS
from osrag.lab.kind import Value
from osrag.lab.solve import solve

STALLINGS_JOBS = "A 0 3; B 2 6; C 4 4; D 6 5; E 8 2"
FIVE_JOBS = "P1 0 10 3; P2 0 1 1; P3 0 2 3; P4 0 1 4; P5 0 5 2"
BLOCKS = {"input_time": "100", "move_time": "50", "process_time": "50", "block_count": "10"}
DISK_PACK = {"heads": "16", "surface_tracks": "128", "track_sectors": "256", "sector_size": "512"}
ARM = {"requests": "98,183,37,122,14,124,65,67", "start": "53"}
LONG_ARM = {
    "requests": "2069,1212,2296,2800,544,1618,356,1523,4965,3681",
    "start": "2150",
    "cylinders": "5000",
    "previous": "1805",
}
OSI_ARM = {"requests": "55,58,39,18,90,160,150,38,184", "start": "100", "ask": "average_movement"}
MOS_ARM = {"requests": "1,36,16,34,9,12", "start": "11", "cylinders": "40"}
OSC_REFS = "7,0,1,2,0,3,0,4,2,3,0,3,2,1,2,0,1,7,0,1"
PRACTICE_REFS = "1,2,3,4,2,1,5,6,2,1,2,3,7,6,3,2,1,2,3,6"
OSI_REFS = "2,3,2,1,5,2,4,5,3,2,5,2"
BELADY_REFS = "1,2,3,4,1,2,5,1,2,3,4,5"
OSC_BANK = {
    "allocation": "0 1 0; 2 0 0; 3 0 2; 2 1 1; 0 0 2",
    "maximum": "7 5 3; 3 2 2; 9 0 2; 2 2 2; 4 3 3",
    "available": "3,3,2",
}
AFTER_P1 = {**OSC_BANK, "allocation": "0 1 0; 3 0 2; 3 0 2; 2 1 1; 0 0 2", "available": "2,3,0"}
FOUR_TYPES = {
    "allocation": "0 0 1 2; 1 0 0 0; 1 3 5 4; 0 6 3 2; 0 0 1 4",
    "maximum": "0 0 1 2; 1 7 5 0; 2 3 5 6; 0 6 5 2; 0 6 5 6",
    "available": "1,5,2,0",
}
DETECTION = {"allocation": "0 1 0; 2 0 0; 3 0 3; 2 1 1; 0 0 2", "available": "0,0,0"}
HOLES = {"holes": "100,500,200,300,600", "operations": "A 212; B 417; C 112; D 426"}
MOS_HOLES = {"holes": "10,4,20,18,7,9,12,15", "operations": "A 12; B 10; C 9"}
BUDDY = "A 100; B 240; C 64; D 256; B -; A -; E 75"

PUBLISHED: tuple[tuple[str, str, dict[str, str], Value], ...] = (
    ("OSC 5.3.1", "fcfs", {"jobs": "P1 0 24; P2 0 3; P3 0 3"}, 17),
    ("OSC 5.3.1, other order", "fcfs", {"jobs": "P2 0 3; P3 0 3; P1 0 24"}, 3),
    ("OSI table 9.5", "fcfs", {"jobs": STALLINGS_JOBS, "ask": "average_turnaround"}, 8.6),
    ("OSC practice 5.3", "fcfs", {"jobs": "P1 0 8; P2 0.4 4; P3 1 1", "ask": "average_turnaround"}, 10.533),
    ("OSC 5.3.2", "sjf", {"jobs": "P1 0 6; P2 0 8; P3 0 7; P4 0 3"}, 7),
    ("OSC practice 5.3", "sjf", {"jobs": "P1 0 8; P2 0.4 4; P3 1 1", "ask": "average_turnaround"}, 9.533),
    ("OSC practice 5.4", "sjf", {"jobs": FIVE_JOBS}, 3.2),
    ("MOS 2.4.2", "sjf", {"jobs": "A 0 8; B 0 4; C 0 4; D 0 4", "ask": "average_turnaround"}, 11),
    ("OSI table 9.5", "sjf", {"jobs": STALLINGS_JOBS, "ask": "average_turnaround"}, 7.6),
    ("OSC 5.3.2", "srtf", {"jobs": "P1 0 8; P2 1 4; P3 2 9; P4 3 5"}, 6.5),
    ("GATE 2011", "srtf", {"jobs": "P0 0 9; P1 1 4; P2 2 9"}, 5),
    (
        "GATE 2014",
        "srtf",
        {"jobs": "A 0 6; B 3 2; C 5 4; D 7 6; E 10 3", "ask": "average_turnaround"},
        7.2,
    ),
    ("GATE 2016", "srtf", {"jobs": "P1 0 10; P2 3 6; P3 7 1; P4 8 3", "ask": "average_turnaround"}, 8.25),
    (
        "GATE 2007",
        "srtf",
        {"jobs": "P1 0 20; P2 15 25; P3 30 10; P4 45 15", "ask": "waiting", "process": "P2"},
        15,
    ),
    ("OSC 5.3.4", "priority", {"jobs": "P1 0 10 3; P2 0 1 1; P3 0 2 4; P4 0 1 5; P5 0 5 2"}, 8.2),
    ("GATE 2017", "priority", {"jobs": "P1 0 11 2; P2 5 28 0; P3 12 2 3; P4 2 10 1; P5 9 16 4"}, 29),
    (
        "OSC exercise 5.16, larger is more urgent",
        "priority",
        {"jobs": "P1 0 2 2; P2 0 1 1; P3 0 8 4; P4 0 4 2; P5 0 5 3", "urgent": "large_number"},
        11,
    ),
    ("OSI table 9.5", "hrrn", {"jobs": STALLINGS_JOBS, "ask": "average_turnaround"}, 8),
    ("hand", "hrrn", {"jobs": "A 0 4; B 1 6; C 2 2; D 3 3", "ask": "order"}, ("A", "C", "D", "B")),
    ("TXD 3, four jobs", "hrrn", {"jobs": "A 0 20; B 5 15; C 10 5; D 15 10", "ask": "average_turnaround"}, 26.25),
    ("OSC 5.3.3", "rr", {"jobs": "P1 0 24; P2 0 3; P3 0 3", "quantum": "4"}, 17 / 3),
    ("OSC practice 5.4", "rr", {"jobs": FIVE_JOBS, "quantum": "1"}, 5.4),
    ("OSI table 9.5, q = 1", "rr", {"jobs": STALLINGS_JOBS, "quantum": "1", "ask": "average_turnaround"}, 10.8),
    ("OSI table 9.5, q = 4", "rr", {"jobs": STALLINGS_JOBS, "quantum": "4", "ask": "average_turnaround"}, 10),
    ("hand", "mlfq", {"jobs": "A 0 5; B 0 3", "quanta": "1,2,4", "ask": "average_turnaround"}, 7),
    (
        "hand, arrival preempts",
        "mlfq",
        {"jobs": "A 0 6; B 4 1", "quanta": "1,2,inf", "ask": "completion", "process": "A"},
        7,
    ),
    ("408 2019, second queue FCFS", "mlfq", {"jobs": "P1 0 30; P2 0 20", "quanta": "10,inf"}, 20),
    (
        "OSC figure 5.4",
        "burst_prediction",
        {"first_guess": "10", "bursts": "6,4,6,4,13,13,13", "ask": "all_predictions"},
        (8, 6, 6, 5, 9, 11, 12),
    ),
    ("MOS exercise 2", "burst_prediction", {"first_guess": "40", "bursts": "20,40,15"}, 25),
    ("hand", "burst_prediction", {"first_guess": "100", "bursts": "200", "alpha": "0.25"}, 125),
    (
        "OSC exercise 5.12, q = 1",
        "time_slice",
        {"ready": "11", "quantum": "1", "switch": "0.1", "ask": "switching_share"},
        9.0909,
    ),
    ("OSC 5.3.3", "time_slice", {"ready": "5", "quantum": "20"}, 80),
    ("hand", "time_slice", {"ready": "10", "quantum": "50", "switch": "2"}, 470),
    ("MOS 2.1.7, three", "multiprogramming", {"io_fraction": "0.8", "degree": "3"}, 48.8),
    ("MOS 2.1.7, seven", "multiprogramming", {"io_fraction": "0.8", "degree": "7"}, 79.028),
    ("MOS 2.1.7, eleven", "multiprogramming", {"io_fraction": "0.8", "degree": "11"}, 91.41),
    ("OSC 4.2", "amdahl", {"serial": "0.25", "cores": "2"}, 1.6),
    ("OSC 4.2", "amdahl", {"serial": "0.25", "cores": "4"}, 16 / 7),
    ("OSC exercise 4.8", "amdahl", {"serial": "0.6", "cores": "8"}, 1.5385),
    ("OSC exercise 4.8", "amdahl", {"serial": "0.1", "cores": "8"}, 4.7059),
    ("Love, 4: three to one", "cfs_shares", {"nices": "0,5"}, 75.35),
    ("kernel table", "cfs_shares", {"nices": "-20,0", "ask": "cfs_weight"}, 88761),
    ("kernel table", "cfs_shares", {"nices": "19,0", "ask": "cfs_weight"}, 15),
    ("408 2012", "io_overlap", {"programs": "P1 60 80 20; P2 120 40 40"}, 260),
    ("408 2012, alone", "io_overlap", {"programs": "P1 60 80 20; P2 120 40 40", "ask": "makespan_alone"}, 360),
    ("hand, one device", "io_overlap", {"programs": "A 2 4 2; B 2 4 2", "devices": "shared_device"}, 12),
    ("OSC 5.6.3", "rate_monotonic", {"tasks": "P1 50 20; P2 100 35", "ask": "rt_succeeds"}, True),
    ("OSC 5.6.3", "rate_monotonic", {"tasks": "P1 50 25; P2 80 35", "ask": "rt_missed_at"}, 80),
    ("OSC 5.6.4", "rate_monotonic", {"tasks": "P1 50 25; P2 80 35", "algorithm": "edf", "ask": "rt_succeeds"}, True),
    ("MOS 7.5.3", "rate_monotonic", {"tasks": "A 30 10; B 40 15; C 50 5", "ask": "rt_succeeds"}, True),
    ("MOS 7.5.4", "rate_monotonic", {"tasks": "A 30 15; B 40 15; C 50 5", "ask": "rt_succeeds"}, False),
    ("OSC 11.2.1", "disk_fcfs", ARM, 640),
    ("OSC exercise 11.13", "disk_fcfs", {k: v for k, v in LONG_ARM.items() if k != "previous"}, 13011),
    ("MOS 5.4.3", "disk_fcfs", MOS_ARM, 111),
    ("OSI table 11.2", "disk_fcfs", OSI_ARM, 55.33),
    (
        "GATE 2014",
        "sstf",
        {
            "requests": "30,85,90,100,105,110,135,145",
            "start": "100",
            "cylinders": "201",
            "served": "90",
            "ask": "served_before",
        },
        3,
    ),
    ("OSC 11.2", "sstf", ARM, 236),
    ("OSC exercise 11.13", "sstf", LONG_ARM, 7586),
    ("MOS 5.4.3", "sstf", MOS_ARM, 61),
    ("OSI table 11.2", "sstf", OSI_ARM, 27.56),
    ("OSC 11.2.2", "scan", {**ARM, "direction": "down"}, 236),
    ("OSC exercise 11.13", "scan", LONG_ARM, 7492),
    (
        "OSC, 125 then 143",
        "scan",
        {"requests": "86,1470,913,1774,948,1509,1022,1750,130", "start": "143", "cylinders": "5000"},
        9769,
    ),
    ("OSC exercise 11.13", "cscan", LONG_ARM, 9917),
    ("OSC 11.2.3", "cscan", ARM, 382),
    ("OSC 11.2.3, way back free", "cscan", {**ARM, "way_back": "way_back_free"}, 183),
    ("OSC exercise 11.13", "look", LONG_ARM, 7424),
    ("MOS 5.4.3", "look", MOS_ARM, 60),
    ("OSI table 11.2, there called SCAN", "look", OSI_ARM, 27.78),
    (
        "408 2009",
        "look",
        {"requests": "35,45,12,68,110,180,170,195", "start": "105", "ask": "service_order"},
        (110, 170, 180, 195, 68, 45, 35, 12),
    ),
    ("OSC exercise 11.13", "clook", LONG_ARM, 9137),
    ("OSC 11.2.4", "clook", ARM, 322),
    ("OSI table 11.2, there called C-SCAN", "clook", OSI_ARM, 35.78),
    (
        "408 2013 without the controller",
        "disk_time",
        {"rpm": "10000", "seek": "6", "rate": "20", "bytes_each": "4K"},
        9.2048,
    ),
    (
        "GATE 2015 without the controller",
        "disk_time",
        {"rpm": "15000", "seek": "4", "rate": "50", "bytes_each": "512"},
        6.01024,
    ),
    ("MOS 5.4, 7200 rpm", "disk_time", {"rpm": "7200", "ask": "rotational_delay"}, 4.1667),
    ("408 2015", "disk_track_time", {"rpm": "7200", "seek": "8", "track_sectors": "1000", "bytes_each": "512"}, 12.175),
    (
        "OSI 11.5, random",
        "disk_track_time",
        {
            "rpm": "15000",
            "seek": "4",
            "track_sectors": "500",
            "bytes_each": "512",
            "reads": "2500",
            "ask": "total_time",
        },
        15020,
    ),
    ("hand", "disk_track_time", {"rpm": "6000", "seek": "10", "track_sectors": "100", "bytes_each": "512"}, 15.1),
    (
        "GATE 2009",
        "disk_address",
        {
            "heads": "20",
            "track_sectors": "63",
            "first_sector": "sectors_from_0",
            "cylinder": "400",
            "head": "16",
            "sector": "29",
        },
        505037,
    ),
    (
        "GATE 2009",
        "disk_address",
        {
            "heads": "20",
            "track_sectors": "63",
            "first_sector": "sectors_from_0",
            "lba_block": "1039",
            "ask": "cylinder_head_sector",
        },
        (0, 16, 31),
    ),
    (
        "the first sector",
        "disk_address",
        {"heads": "16", "track_sectors": "63", "cylinder": "0", "head": "0", "sector": "1"},
        0,
    ),
    ("TXD, consecutive", "disk_records", {"records": "10", "turn": "20", "handling": "4"}, 204),
    ("TXD, best layout", "disk_records", {"records": "10", "turn": "20", "handling": "4", "ask": "best_time"}, 60),
    (
        "TXD, best distance",
        "disk_records",
        {"records": "10", "turn": "20", "handling": "4", "ask": "best_interleave"},
        3,
    ),
    ("OSC 8.6.3", "banker", {**OSC_BANK, "order_of_search": "onward"}, ("P1", "P3", "P4", "P0", "P2")),
    ("OSC exercise 8.27", "banker", {**FOUR_TYPES, "ask": "safe"}, True),
    (
        "OSC exercise 8.27",
        "banker",
        {**FOUR_TYPES, "ask": "need"},
        ((0, 0, 0, 0), (0, 7, 5, 0), (1, 0, 0, 2), (0, 0, 2, 0), (0, 6, 4, 2)),
    ),
    ("OSC 8.6.3", "banker_request", {**OSC_BANK, "process": "P1", "request": "1,0,2"}, "granted"),
    ("OSC 8.6.3", "banker_request", {**AFTER_P1, "process": "P4", "request": "3,3,0"}, "waits"),
    ("OSC 8.6.3", "banker_request", {**AFTER_P1, "process": "P0", "request": "0,2,0"}, "waits"),
    ("OSC exercise 8.27", "banker_request", {**FOUR_TYPES, "process": "P1", "request": "0,4,2,0"}, "granted"),
    (
        "OSC 8.7.2",
        "deadlock_detection",
        {**DETECTION, "request": "0 0 0; 2 0 2; 0 0 0; 1 0 0; 0 0 2", "ask": "deadlock"},
        False,
    ),
    (
        "OSC 8.7.2",
        "deadlock_detection",
        {**DETECTION, "request": "0 0 0; 2 0 2; 0 0 1; 1 0 0; 0 0 2"},
        ("P1", "P2", "P3", "P4"),
    ),
    (
        "hand",
        "deadlock_detection",
        {"allocation": "1 0; 0 1", "available": "0,0", "request": "0 1; 1 0", "ask": "deadlock"},
        True,
    ),
    (
        "OSC figure 8.5",
        "resource_graph",
        {"edges": "R1->P2,R3->P3,R2->P1,R2->P2,P1->R1,P2->R3,P3->R2", "units": "R2=2", "ask": "deadlocked"},
        ("P1", "P2", "P3"),
    ),
    (
        "OSC figure 8.6",
        "resource_graph",
        {"edges": "R1->P2,R1->P3,R2->P1,R2->P4,P1->R1,P3->R2", "units": "R1=2,R2=2"},
        False,
    ),
    ("MOS figure 6.3", "resource_graph", {"edges": "R1->A,A->S1,S1->B,B->R1", "processes": "A,B"}, True),
    ("408 2009", "minimum_units", {"units": "8", "each": "3", "ask": "fewest_processes"}, 4),
    ("GATE 1998", "minimum_units", {"units": "6", "each": "2", "ask": "fewest_processes"}, 6),
    ("hand", "minimum_units", {"units": "6", "each": "2", "ask": "most_processes"}, 5),
    ("GATE 1997", "minimum_units", {"processes": "3", "each": "2"}, 4),
    ("hand", "minimum_units", {"processes": "3", "each": "3,4,6"}, 11),
    (
        "OSC exercise 8.21",
        "minimum_units",
        {"processes": "3", "each": "2", "units": "4", "ask": "never_deadlocks"},
        True,
    ),
    ("OSC 10.4.2", "fifo", {"refs": OSC_REFS, "frames": "3"}, 15),
    ("OSC practice 10.8", "fifo", {"refs": PRACTICE_REFS, "frames": "3"}, 16),
    ("OSI 8.2", "fifo", {"refs": OSI_REFS, "frames": "3", "first_loads": "not_a_fault"}, 6),
    ("OSC 10.4.4", "lru", {"refs": OSC_REFS, "frames": "3"}, 12),
    ("OSC practice 10.8", "lru", {"refs": PRACTICE_REFS, "frames": "4"}, 10),
    ("GATE 2014", "lru", {"refs": "4,7,6,1,7,6,1,2,7,2", "frames": "3"}, 6),
    ("OSI 8.2", "lru", {"refs": OSI_REFS, "frames": "3"}, 7),
    ("OSC 10.4.3", "opt", {"refs": OSC_REFS, "frames": "3"}, 9),
    ("OSC practice 10.8", "opt", {"refs": PRACTICE_REFS, "frames": "3"}, 11),
    ("OSI 8.2", "opt", {"refs": OSI_REFS, "frames": "3"}, 6),
    ("OSI 8.2", "clock", {"refs": OSI_REFS, "frames": "3"}, 8),
    (
        "408 2010",
        "clock",
        {"refs": "5", "frames": "4", "loaded": "2,1,0,3", "bits": "1,1,1,1", "hand": "0", "ask": "evicted_pages"},
        (2,),
    ),
    ("hand", "clock", {"refs": BELADY_REFS, "frames": "3"}, 9),
    (
        "hand, (0, 0) before (0, 1)",
        "enhanced_clock",
        {"refs": "1w,2,3w,4", "frames": "3", "ask": "evicted_pages"},
        (2,),
    ),
    ("hand, all modified", "enhanced_clock", {"refs": "1w,2w,3w,4", "frames": "3", "ask": "evicted_pages"}, (1,)),
    ("hand, written back", "enhanced_clock", {"refs": "1w,2w,3w,4", "frames": "3", "ask": "write_backs"}, 1),
    ("OSC figure 10.13", "belady", {"refs": BELADY_REFS}, (9, 10)),
    (
        "OSC practice 10.8",
        "belady",
        {"refs": PRACTICE_REFS, "least_frames": "1", "most_frames": "7", "method": "lru"},
        (20, 18, 15, 10, 8, 7, 7),
    ),
    (
        "OSC practice 10.8",
        "belady",
        {"refs": PRACTICE_REFS, "least_frames": "1", "most_frames": "7", "method": "opt"},
        (20, 15, 11, 8, 7, 7, 7),
    ),
    ("408 2016", "working_set", {"refs": "1,3,4,5,6,0,3,2,3,2", "window": "6", "ask": "set_pages"}, (0, 2, 3, 6)),
    (
        "OSC figure 10.22",
        "working_set",
        {"refs": "2,6,1,5,7,7,7,7,5,1", "window": "10", "ask": "set_pages"},
        (1, 2, 5, 6, 7),
    ),
    ("hand", "working_set", {"refs": "1,1,2", "window": "2", "ask": "average_size"}, 4 / 3),
    (
        "408 2010",
        "inode",
        {"block_size": "256", "direct": "4", "single": "2", "double": "1", "triple": "0"},
        1057 * 1024,
    ),
    (
        "GATE 2012",
        "inode",
        {"block_size": "128", "pointer_size": "8", "direct": "8", "single": "1", "double": "1", "triple": "0"},
        35 * 1024,
    ),
    ("OSC exercise 14.9", "inode", {"block_size": "8K"}, (12 + 2048 + 2048**2 + 2048**3) * 8192),
    (
        "TXD 8, 540 MB",
        "fat",
        {"volume": "540M", "block_size": "1K", "entry_rounding": "to_half_bytes", "ask": "fat_size"},
        1350 * 1024,
    ),
    (
        "TXD 8, 200 MB",
        "fat",
        {"volume": "200M", "block_size": "1K", "entry_rounding": "to_half_bytes", "ask": "fat_size"},
        500 * 1024,
    ),
    ("MOS figure 4.12", "fat", {"links": "4=7,7=2,2=10,10=12,12=end", "first": "4", "file_block": "3"}, 10),
    ("hand", "extents", {"block_size": "4K", "file_size": "2G", "ask": "fewest_extents"}, 16),
    ("hand", "extents", {"extents": "0 10 100; 10 5 300", "file_block": "12"}, 302),
    ("hand", "extents", {"extents": "0 10 100; 10 5 300", "block_size": "4K", "offset": "4096"}, 101),
    *(
        (
            f"OSC exercise 14.8 {operation} {block}",
            "file_access",
            {"operation": f"{operation}_block", "file_block": block, "ask": ask},
            value,
        )
        for operation, block, values in (
            ("insert", "0", (201, 1, 1)),
            ("insert", "50", (101, 52, 1)),
            ("insert", "100", (1, 3, 1)),
            ("remove", "0", (198, 1, 0)),
            ("remove", "50", (98, 52, 0)),
            ("remove", "99", (0, 100, 0)),
        )
        for ask, value in zip(("contiguous", "linked", "indexed"), values, strict=True)
    ),
    ("MOS 4.4.1", "bitmap", {"volume": "1T", "block_size": "1K", "ask": "bitmap_blocks"}, 131072),
    ("MOS 4.4.1", "bitmap", {"volume": "1T", "block_size": "1K"}, 128 << 20),
    (
        "TXD 8.2",
        "bitmap",
        {"word_bits": "16", "counting": "from_1", "word": "3", "bit": "4", "ask": "block_of_bit"},
        36,
    ),
    ("TXD 8.2", "bitmap", {"word_bits": "16", "counting": "from_1", "block": "36", "ask": "word_and_bit"}, (3, 4)),
    (
        "MOS exercise 4",
        "path_lookup",
        {"path": "/usr/ast/courses/os/handout.t", "root_inode": "in_memory", "data_blocks": "0"},
        10,
    ),
    ("MOS 4.5.3", "path_lookup", {"path": "/usr/ast/mbox", "root_inode": "in_memory", "data_blocks": "0"}, 6),
    ("hand", "path_lookup", {"path": "/a"}, 4),
    (
        "OSC 11.8.1",
        "raid",
        {"raid_level": "1", "disks": "2", "disk_mttf": "100000", "disk_mttr": "10", "ask": "time_to_data_loss"},
        500e6,
    ),
    ("hand", "raid", {"disks": "4", "disk_size": "1"}, 3),
    ("OSI 11.6", "raid", {"raid_level": "6", "disks": "6", "ask": "small_write"}, 6),
    ("OSI figure 11.8", "raid_layout", {"disks": "5", "block_number": "7"}, 4),
    ("OSI figure 11.8", "raid_layout", {"disks": "5", "block_number": "10"}, 3),
    ("OSI figure 11.8", "raid_layout", {"disks": "5", "block_number": "10", "ask": "parity_disk"}, 2),
    ("hand", "raid_parity", {"blocks": "1010,0110,0001"}, "1101"),
    ("hand", "raid_parity", {"blocks": "1010,0001,1101", "ask": "lost_block"}, "0110"),
    (
        "hand",
        "raid_parity",
        {"blocks": "1010,0110", "old_block": "1010", "new_block": "0000", "ask": "new_parity"},
        "0110",
    ),
    (
        "408 2009",
        "translate",
        {"address": "2362H", "page_size": "4K", "level_bits": "4", "entries": "0 101H; 2 254H"},
        "0x254362",
    ),
    (
        "408 2010, FIFO",
        "translate",
        {"address": "17CAH", "page_size": "1K", "level_bits": "6", "entries": "5 7"},
        "0x1FCA",
    ),
    (
        "408 2010, clock",
        "translate",
        {"address": "17CAH", "page_size": "1K", "level_bits": "6", "entries": "5 2"},
        "0xBCA",
    ),
    (
        "OSC figure 9.10",
        "translate",
        {"address": "13", "page_size": "4", "level_bits": "2", "entries": "0 5; 1 6; 2 1; 3 2"},
        9,
    ),
    ("MOS 3.2.1", "relocation", {"base": "16384", "limit": "16384", "addresses": "28"}, (16412,)),
    (
        "OSC 9.1.1: limit 120900",
        "relocation",
        {"base": "300040", "limit": "120900", "addresses": "120899,120900"},
        (420939, "trap"),
    ),
    ("hand", "relocation", {"base": "1000", "limit": "10", "addresses": "9,10,11", "ask": "trap_count"}, 2),
    (
        "OSC exercise 9 on segments",
        "segments",
        {
            "segments": "0 219 600; 1 2300 14; 2 90 100; 3 1327 580; 4 1952 96",
            "addresses": "0 430; 1 10; 2 500; 3 400; 4 112",
        },
        (649, 2310, "trap", 1727, "trap"),
    ),
    (
        "OSC figure 8.20 (7th edition)",
        "segments",
        {"segments": "2 4300 400; 3 3200 1100; 0 1400 1000", "addresses": "2 53; 3 852; 0 1222"},
        (4353, 4052, "trap"),
    ),
    ("hand", "segments", {"segments": "0 0 10", "addresses": "0 9; 0 10", "ask": "trap_count"}, 1),
    ("OSC practice 3.2", "fork", {"program": "fork(); fork(); fork();"}, 8),
    ("OSC exercise 3.12", "fork", {"program": "for (i = 0; i < 4; i++) fork();"}, 16),
    ("GATE 2019", "fork", {"program": "for (i = 0; i < 10; i++) if (i % 2 == 0) fork();", "ask": "new_processes"}, 31),
    ("OSC exercise 4.17", "fork", {"program": "pid = fork(); if (pid == 0) { fork(); } fork();"}, 6),
    ("OSC 9.3, exercise", "page_table", {"address_bits": "32", "page_size": "4K"}, 4 << 20),
    ("GATE 2013", "page_table", {"address_bits": "46", "page_size": "8K", "entry_bytes": "4", "ask": "levels"}, 3),
    (
        "408 2010",
        "page_table",
        {"address_bits": "26", "page_size": "1K", "entry_bytes": "2", "ask": "index_bits"},
        (7, 9),
    ),
    (
        "408 2010",
        "page_table",
        {"address_bits": "26", "page_size": "1K", "entry_bytes": "2", "ask": "outer_entries"},
        128,
    ),
    (
        "OSC practice 9.9",
        "inverted_table",
        {"physical_memory": "512M", "page_size": "4K", "ask": "table_entries"},
        131072,
    ),
    ("hand", "inverted_table", {"physical_memory": "512M"}, 2 << 20),
    ("hand", "inverted_table", {"physical_memory": "1G", "page_size": "8K", "entry_bytes": "8"}, 1 << 20),
    ("OSC 10.9.3", "tlb_reach", {"tlb_entries": "64"}, 256 << 10),
    ("hand", "tlb_reach", {"tlb_entries": "64", "page_size": "2M"}, 128 << 20),
    ("hand", "tlb_reach", {"tlb_entries": "1024", "page_size": "16K"}, 16 << 20),
    (
        "OSC 8th, 8.4.2",
        "access_time",
        {"memory_time": "100", "tlb_time": "20", "tlb_ratio": "0.8", "table_levels": "1"},
        140,
    ),
    (
        "OSC 8th, 8.4.2",
        "access_time",
        {"memory_time": "100", "tlb_time": "20", "tlb_ratio": "98%", "table_levels": "1"},
        122,
    ),
    ("GATE 2014", "access_time", {"memory_time": "80", "tlb_time": "10", "tlb_ratio": "0.6", "table_levels": "1"}, 122),
    (
        "GATE 2003",
        "access_time",
        {
            "memory_time": "10",
            "tlb_time": "1",
            "tlb_ratio": "0.96",
            "table_levels": "2",
            "cache_ratio": "0.9",
            "cache_time": "1",
        },
        3.8,
    ),
    ("OSC 10.2.3", "access_time", {"memory_time": "200", "fault_rate": "1/1000", "service_time": "8ms"}, 8199.8),
    (
        "OSC exercise 10 on dirty pages",
        "access_time",
        {
            "memory_time": "100",
            "service_time": "8ms",
            "dirty_share": "0.7",
            "dirty_service_time": "20ms",
            "target_time": "200",
            "ask": "highest_fault_rate",
        },
        6.1e-6,
    ),
    (
        "hand",
        "semaphores",
        {"variables": "x=1", "concurrent": "A: x = x + 1 || B: x = x - 1", "ask": "final_values"},
        (0, 1, 2),
    ),
    (
        "GATE 2013",
        "semaphores",
        {
            "variables": "x=0",
            "semaphores": "S=2",
            "concurrent": " || ".join(
                f"{name}: P(S); x = x {change}; V(S)"
                for name, change in (("W", "+ 1"), ("X", "+ 1"), ("Y", "- 2"), ("Z", "- 2"))
            ),
            "ask": "largest",
        },
        2,
    ),
    (
        "OSC 8.2",
        "semaphores",
        {"semaphores": "S=1,Q=1", "concurrent": "A: P(S); P(Q); V(S); V(Q) || B: P(Q); P(S); V(Q); V(S)"},
        True,
    ),
    ("GATE 1992", "semaphore_value", {"initial": "10", "p_count": "6", "v_count": "4"}, 8),
    ("GATE 1998", "semaphore_value", {"initial": "7", "p_count": "20", "v_count": "15"}, 2),
    ("hand", "semaphore_value", {"initial": "3", "p_count": "5", "ask": "waiting_count"}, 2),
    ("408 2010", "semaphore_value", {"current": "1", "ask": "free_units"}, 1),
    ("408 2010", "semaphore_value", {"current": "1", "ask": "waiting_count"}, 0),
    ("hand", "semaphore_value", {"current": "-2", "ask": "waiting_count"}, 2),
    ("408 2011", "buffers", {**BLOCKS, "buffers": "single_buffer"}, 1550),
    ("408 2011", "buffers", {**BLOCKS, "buffers": "double_buffer"}, 1100),
    ("408 2013", "buffers", {"input_time": "100", "move_time": "5", "process_time": "90", "block_count": "2"}, 300),
    ("GATE 2007", "disk_size", DISK_PACK, 256 << 20),
    ("GATE 2007", "disk_size", {**DISK_PACK, "ask": "sector_bits"}, 19),
    ("hand", "disk_size", {"heads": "2", "surface_tracks": "80", "track_sectors": "18"}, 1_474_560),  # a floppy disk
    ("three nines", "availability", {"mttf": "999", "mttr": "1"}, 99.9),
    ("three nines", "availability", {"mttf": "999", "mttr": "1", "ask": "downtime"}, 525.6),
    ("hand", "availability", {"parts": "90,90", "connected": "in_parallel", "ask": "together"}, 99),
    ("OSC practice 9.6", "fit", HOLES, (500, 600, 288, "request_fails")),
    ("OSC practice 9.6", "fit", {**HOLES, "method": "best_fit"}, (300, 500, 200, 600)),
    ("OSC practice 9.6", "fit", {**HOLES, "method": "worst_fit"}, (600, 500, 388, "request_fails")),
    ("MOS exercise 3", "fit", MOS_HOLES, (20, 10, 18)),
    ("MOS exercise 3", "fit", {**MOS_HOLES, "method": "best_fit"}, (12, 10, 9)),
    ("MOS exercise 3", "fit", {**MOS_HOLES, "method": "worst_fit"}, (20, 18, 15)),
    ("MOS exercise 3", "fit", {**MOS_HOLES, "method": "next_fit"}, (20, 18, 9)),
    (
        "408 2010",
        "fit",
        {"holes": "55", "operations": "A 15; B 30; A -; C 8; D 6", "method": "best_fit", "ask": "largest_free"},
        9,
    ),
    (
        "OSI figure 7.6",
        "buddy",
        {"memory_size": "1024", "operations": BUDDY, "ask": "buddy_free"},
        ((192, 64), (256, 256), (768, 256)),
    ),
    (
        "OSI figure 7.6, to the end",
        "buddy",
        {"memory_size": "1024", "operations": f"{BUDDY}; C -; E -; D -", "ask": "buddy_free"},
        ((0, 1024),),
    ),
    ("hand", "buddy", {"memory_size": "1024", "operations": "A 100; B 240", "ask": "buddy_waste"}, 44),
    # Cases small enough to follow by eye.
    ("hand, idle", "fcfs", {"jobs": "A 0 2; B 5 1"}, 0),
    (
        "hand, switches",
        "rr",
        {"jobs": "A 0 4; B 0 4", "quantum": "2", "switch": "1", "ask": "completion", "process": "B"},
        11,
    ),
    ("hand, arrival first", "rr", {"jobs": "A 0 4; B 2 2", "quantum": "2", "ask": "order"}, ("A", "B", "A")),
    ("hand, preemption", "priority", {"jobs": "A 0 5 2; B 1 2 1", "ask": "order"}, ("A", "B", "A")),
    ("hand, a long wait wins", "hrrn", {"jobs": "A 0 8; C 2 9; B 1 4", "ask": "order"}, ("A", "B", "C")),
    ("hand, demotion", "mlfq", {"jobs": "A 0 6; B 0 3", "quanta": "2,inf", "ask": "order"}, ("A", "B", "A", "B")),
    ("hand, arrival preempts", "mlfq", {"jobs": "A 0 6; B 3 2", "quanta": "2,4", "ask": "order"}, ("A", "B", "A")),
    ("Liu and Layland", "rate_monotonic", {"tasks": "A 9 1; B 8 1", "ask": "rt_bound"}, 0.8284),
    ("Liu and Layland", "rate_monotonic", {"tasks": "A 9 1; B 8 1; C 6 1", "ask": "rt_bound"}, 0.7798),
    ("OSC 8.6.3", "banker", OSC_BANK, ("P1", "P3", "P0", "P2", "P4")),
    ("OSC 8.6.3", "banker_request", {**OSC_BANK, "process": "P1", "request": "2,0,0", "ask": "reason"}, "exceeds_need"),
    ("hand", "resource_graph", {"edges": "A->B,B->C,C->B", "processes": "A,B,C", "ask": "deadlocked"}, ("B", "C")),
    ("hand", "resource_graph", {"edges": "A->B,B->C,A->C", "processes": "A,B,C"}, False),
    ("OSC 10.4.4", "lru", {"refs": "7,0,1,2", "frames": "3", "ask": "final_frames"}, (2, 0, 1)),
    ("OSC 10.4.4", "belady", {"refs": BELADY_REFS, "method": "lru"}, (10, 8)),
    ("OSC 10.4.3", "belady", {"refs": BELADY_REFS, "method": "opt"}, (7, 6)),
    ("hand, second chance", "clock", {"refs": "1,2,3,4,2,5", "frames": "3", "ask": "final_frames"}, (4, 2, 5)),
    ("hand", "working_set", {"refs": "1,2,1,3,3,3", "window": "3", "at": "5", "ask": "set_pages"}, (1, 3)),
    ("hand", "translate", {"address": "0x1A30", "level_bits": "4", "entries": "1 7"}, "0x7A30"),
    ("hand", "translate", {"address": "0x00403004", "level_bits": "10,10", "entries": "1 3 0x55"}, "0x55004"),
    ("hand", "translate", {"address": "0x2000", "level_bits": "4", "entries": "1 7", "ask": "page_fault"}, True),
    ("OSC 9.3.3", "access_time", {"memory_time": "10", "tlb_ratio": "0.99"}, 10.1),
    ("hand", "access_time", {"memory_time": "100", "tlb_ratio": "0.9", "table_levels": "4"}, 140),
    ("hand", "fit", {"method": "next_fit", "holes": "100,500,200", "operations": "A 400; B 90; C 60"}, (500, 100, 200)),
    (
        "OSI figure 7.6",
        "buddy",
        {"memory_size": "1024", "operations": "A 100; B 240; C 64; D 256"},
        ((192, 64), (768, 256)),
    ),
    ("hand", "buddy", {"memory_size": "64", "operations": "A 65", "ask": "failed_requests"}, ("A",)),
    ("OSC 11.2.2", "scan", ARM, 331),
    ("OSC 11.2.2", "scan", {**ARM, "direction": "down", "ask": "service_order"}, (37, 14, 65, 67, 98, 122, 124, 183)),
    ("hand, nothing on the other side", "scan", {"requests": "60,70", "start": "53"}, 17),
    ("OSC 11.2.4", "look", ARM, 299),
    ("OSC 11.2", "sstf", {**ARM, "ask": "service_order"}, (65, 67, 37, 14, 98, 122, 124, 183)),
    ("hand", "disk_time", {"rpm": "7200", "seek": "5", "rate": "125", "bytes_each": "4096"}, 9.1994),
    ("hand", "inode", {"block_size": "4K", "double": "0", "triple": "0"}, (12 + 1024) * 4096),
    ("hand", "inode", {"block_size": "1K", "offset": "5000", "ask": "level"}, "direct"),
    ("hand", "inode", {"block_size": "1K", "offset": str((12 + 256 + 256 * 3 + 5) * 1024), "ask": "entries"}, (3, 5)),
    *(
        ("hand", "inode", {"block_size": "1K", "file_size": f"{size}K", "ask": "index_blocks"}, blocks)
        for size, blocks in ((12, 0), (13, 1), (268, 1), (269, 3), (525, 4))
    ),
    ("hand", "raid", {"raid_level": "10", "disks": "6"}, 3),
    ("hand", "raid", {"disks": "5", "disk_mttf": "1000", "disk_mttr": "1", "ask": "time_to_data_loss"}, 50_000),
)


@pytest.mark.parametrize(
    ("source", "kind", "given", "answer"), PUBLISHED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_published_answer(source: str, kind: str, given: dict[str, str], answer: Any) -> None:
    solved = solve(KINDS[kind], given)
    assert solved.answer is not None, (solved.missing, [fault.sentence("en") for fault in solved.faults])
    value = solved.answer.value
    assert value == (answer if isinstance(answer, str | bool | tuple) else pytest.approx(answer, rel=1e-3)), source


def test_every_kind_is_compared_with_three_answers() -> None:
    rows = Counter(kind for _, kind, _, _ in PUBLISHED)
    assert [kind for kind in KINDS if rows[kind] < 3] == []
