"""CPU scheduling, worked by hand's rules: one processor, integer times, jobs as tuples.

A job is `(name, arrival, burst)` or `(name, arrival, burst, priority)`; a smaller priority number
is more urgent. Ties go to the earlier arrival, then to the order in which the jobs were given.
"""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypedDict

Job = tuple[str, int, int] | tuple[str, int, int, int]
Slot = tuple[str, int, int]  # name, start, end


class Schedule(TypedDict):
    """A finished schedule: who ran when, and what each job felt."""

    gantt: list[Slot]  # adjacent slots of one job are joined; idle time is a gap
    completion: dict[str, int]
    turnaround: dict[str, int]  # completion - arrival
    waiting: dict[str, int]  # turnaround - burst
    response: dict[str, int]  # first run - arrival
    avg_turnaround: float
    avg_wait: float
    avg_response: float
    switches: int  # changes from one job to another


def fcfs(jobs: Sequence[Job]) -> Schedule:
    """First come, first served.

    >>> fcfs([("P1", 0, 24), ("P2", 0, 3), ("P3", 0, 3)])["avg_wait"]
    17.0
    """
    return _run_to_end(jobs, lambda job, now: job[1])


def sjf(jobs: Sequence[Job]) -> Schedule:
    """Shortest job first, not preemptive.

    >>> sjf([("P1", 0, 6), ("P2", 0, 8), ("P3", 0, 7), ("P4", 0, 3)])["avg_wait"]
    7.0
    """
    return _run_to_end(jobs, lambda job, now: job[2])


def hrrn(jobs: Sequence[Job]) -> Schedule:
    """Highest response ratio next: (waiting + burst) / burst, not preemptive."""
    return _run_to_end(jobs, lambda job, now: -(now - job[1] + job[2]) / job[2])


def priority(jobs: Sequence[Job], *, preemptive: bool = False) -> Schedule:
    """Fixed priorities; a smaller number is more urgent.

    >>> priority([("P1",0,10,3), ("P2",0,1,1), ("P3",0,2,4), ("P4",0,1,5), ("P5",0,5,2)])["avg_wait"]
    8.2
    """
    if preemptive:
        return _preempting(jobs, lambda job, left: _priority_of(job))
    return _run_to_end(jobs, lambda job, now: _priority_of(job))


def srtf(jobs: Sequence[Job]) -> Schedule:
    """Shortest remaining time first, the preemptive SJF; a tie leaves the running job alone.

    >>> srtf([("P1", 0, 8), ("P2", 1, 4), ("P3", 2, 9), ("P4", 3, 5)])["avg_wait"]
    6.5
    """
    return _preempting(jobs, lambda job, left: left)


def rr(jobs: Sequence[Job], quantum: int, *, switch: int = 0) -> Schedule:
    """Round robin. A job that arrives as a slice ends queues before the job whose slice ended.

    `switch` is the time lost whenever the processor changes to another job.

    >>> rr([("P1", 0, 24), ("P2", 0, 3), ("P3", 0, 3)], 4)["waiting"]
    {'P1': 6, 'P2': 4, 'P3': 7}
    """
    waiting = deque(sorted(jobs, key=lambda job: job[1]))
    ready: deque[Job] = deque()
    left = {job[0]: job[2] for job in jobs}
    slots: list[Slot] = []
    now, last = 0, ""
    while waiting or ready:
        if not ready:
            now = max(now, waiting[0][1])
        while waiting and waiting[0][1] <= now:
            ready.append(waiting.popleft())
        job = ready.popleft()
        if last and last != job[0]:
            now += switch
        run = min(quantum, left[job[0]])
        slots.append((job[0], now, now + run))
        now += run
        left[job[0]] -= run
        last = job[0]
        while waiting and waiting[0][1] <= now:
            ready.append(waiting.popleft())
        if left[job[0]]:
            ready.append(job)
    return _measure(jobs, slots)


def mlfq(jobs: Sequence[Job], quanta: Sequence[int | None], *, boost: int | None = None) -> Schedule:
    """Multi-level feedback queue without I/O.

    A new job enters level 0; a job that used its whole quantum moves down one level (and stays on
    the last, where it goes to the tail). A quantum of `None` runs to the end. An arrival preempts a
    job of a lower level, which goes back to the head of its queue with the rest of its quantum.
    Every `boost` units all jobs return to level 0 in the order of their queues, running job last.

    >>> mlfq([("A", 0, 6), ("B", 1, 2)], [2, 4])["gantt"]
    [('A', 0, 2), ('B', 2, 4), ('A', 4, 8)]
    """
    left = {job[0]: job[2] for job in jobs}
    arrivals = {job[0]: job[1] for job in jobs}
    queues: list[deque[tuple[str, int]]] = [deque() for _ in quanta]  # name, used of its quantum
    pending = deque(sorted(arrivals, key=arrivals.__getitem__))
    slots: list[Slot] = []
    now = 0
    while any(left.values()):
        if boost and now and now % boost == 0:
            everyone = [(name, 0) for queue in queues for name, _ in queue]
            queues = [deque(everyone), *(deque() for _ in quanta[1:])]
        while pending and arrivals[pending[0]] <= now:
            queues[0].append((pending.popleft(), 0))
        level = next((i for i, queue in enumerate(queues) if queue), None)
        if level is None:
            now += 1
            continue
        name, used = queues[level].popleft()
        slots.append((name, now, now + 1))
        now, left[name], used = now + 1, left[name] - 1, used + 1
        if not left[name]:
            continue
        while pending and arrivals[pending[0]] <= now:
            queues[0].append((pending.popleft(), 0))
        if used == quanta[level]:
            queues[min(level + 1, len(quanta) - 1)].append((name, 0))
        elif boost and now % boost == 0:
            queues[-1].append((name, used))
        else:
            queues[level].appendleft((name, used))
    return _measure(jobs, slots)


# the kernel's sched_prio_to_weight, nice -20 to 19
_NICE_WEIGHTS = (
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
    9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
    1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
    110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
)  # fmt: skip


def nice_weight(nice: int) -> int:
    """The weight Linux gives a nice value.

    >>> nice_weight(0), nice_weight(5)
    (1024, 335)
    """
    if not -20 <= nice <= 19:
        raise ValueError(f"nice {nice} is outside -20..19")
    return _NICE_WEIGHTS[nice + 20]


def cfs_shares(nices: Sequence[int]) -> list[float]:
    """Each task's share of one processor when all are always runnable."""
    weights = [nice_weight(nice) for nice in nices]
    return [weight / sum(weights) for weight in weights]


def rm_bound(tasks: int) -> float:
    """Liu and Layland's bound n(2^(1/n) - 1) for rate-monotonic scheduling."""
    return float(tasks * (2 ** (1 / tasks) - 1))


def utilisation(tasks: Sequence[tuple[int, int]]) -> float:
    """Processor use of periodic tasks given as (run time, period)."""
    return sum(run / period for run, period in tasks)


def predict_burst(first_guess: float, bursts: Sequence[float], alpha: float = 0.5) -> float:
    """Exponential averaging: guess = alpha * last + (1 - alpha) * guess.

    >>> predict_burst(10, [6, 4, 6, 4])
    5.0
    """
    guess = first_guess
    for burst in bursts:
        guess = alpha * burst + (1 - alpha) * guess
    return guess


def cpu_use(io_fraction: float, jobs: int) -> float:
    """Tanenbaum's model of multiprogramming: 1 - p^n."""
    return float(1 - io_fraction**jobs)


def amdahl(parallel: float, processors: int) -> float:
    """Speed-up when a fraction `parallel` of the work is spread over `processors`.

    >>> round(amdahl(0.75, 2), 2)
    1.6
    """
    return 1 / ((1 - parallel) + parallel / processors)


def _priority_of(job: Job) -> int:
    if len(job) != 4:
        raise ValueError(f"job {job[0]!r} has no priority")
    return job[3]


def _run_to_end(jobs: Sequence[Job], key: Callable[[Job, int], float]) -> Schedule:
    todo = list(jobs)
    slots: list[Slot] = []
    now = 0
    while todo:
        now = max(now, min(job[1] for job in todo))
        here = [job for job in todo if job[1] <= now]
        job = min(here, key=lambda each: (key(each, now), each[1]))
        slots.append((job[0], now, now + job[2]))
        now += job[2]
        todo.remove(job)
    return _measure(jobs, slots)


def _preempting(jobs: Sequence[Job], key: Callable[[Job, int], float]) -> Schedule:
    left = {job[0]: job[2] for job in jobs}
    slots: list[Slot] = []
    now, running = 0, ""
    while any(left.values()):
        here = [job for job in jobs if job[1] <= now and left[job[0]]]
        if here:
            job = min(here, key=lambda each: (key(each, left[each[0]]), each[0] != running, each[1]))
            running = job[0]
            slots.append((running, now, now + 1))
            left[running] -= 1
        now += 1
    return _measure(jobs, slots)


def _measure(jobs: Sequence[Job], slots: Sequence[Slot]) -> Schedule:
    gantt: list[Slot] = []
    for name, start, end in slots:
        if gantt and gantt[-1][0] == name and gantt[-1][2] == start:
            gantt[-1] = (name, gantt[-1][1], end)
        else:
            gantt.append((name, start, end))
    completion = {job[0]: max(end for name, _, end in gantt if name == job[0]) for job in jobs}
    turnaround = {job[0]: completion[job[0]] - job[1] for job in jobs}
    waiting = {job[0]: turnaround[job[0]] - job[2] for job in jobs}
    response = {job[0]: min(start for name, start, _ in gantt if name == job[0]) - job[1] for job in jobs}
    return Schedule(
        gantt=gantt,
        completion=completion,
        turnaround=turnaround,
        waiting=waiting,
        response=response,
        avg_turnaround=sum(turnaround.values()) / len(jobs),
        avg_wait=sum(waiting.values()) / len(jobs),
        avg_response=sum(response.values()) / len(jobs),
        switches=sum(a[0] != b[0] for a, b in pairwise(gantt)),
    )
