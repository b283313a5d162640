"""Who runs when on one processor: the algorithms as pure functions from processes to a timeline.

Ties go to the earlier arrival and then to the process listed first, or to the latter alone. Times are fractions, so
that arrivals such as 0.4 stay exact.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Any, Literal

from osrag.lab.kind import Result, Step

Ties = Literal["earlier_arrival", "listed_first"]
Equal = Literal["running_stays", "newcomer_preempts"]
OF_ONE = ("completion", "turnaround", "waiting", "response")  # figures of one process


@dataclass(frozen=True, slots=True)
class Job:
    """One process as the exercise gives it."""

    name: str
    arrival: Fraction
    burst: Fraction
    priority: Fraction
    place: int  # in the list of processes


@dataclass(frozen=True, slots=True)
class Slice:
    """A stretch of time in which one process runs, or none."""

    process: str  # "" while the processor idles or switches
    start: Fraction
    end: Fraction
    queue: tuple[str, ...]  # ready when the slice ends, head first; (without order: by arrival)
    key: str  # of words.steps: why it is so
    values: Mapping[str, Any] = field(default_factory=dict)
    rule: str = ""
    level: int = 0  # of a feedback queue, from 1


Timeline = list[Slice | Step]  # a Step between slices only tells something
Urgency = Callable[[Job, Fraction], Fraction]  # of a job and, where it matters, the time or what it has left


def exact(number: float) -> Fraction:
    """The decimal that a student wrote, without the noise of binary fractions."""
    return Fraction(str(number))


def plain(number: Fraction) -> int | float:
    """A fraction as people write it."""
    return int(number) if number.denominator == 1 else float(number)


def run_to_end(
    jobs: Sequence[Job], urgency: Urgency, name: str, listed: Callable[[Job, Fraction], str], ties: Ties
) -> Timeline:
    """Without preemption: the least `urgency` (of a job and the time) is chosen and runs to its end."""
    todo, now = sorted(jobs, key=lambda job: (job.arrival, job.place)), Fraction(0)
    timeline: Timeline = []
    while todo:
        if todo[0].arrival > now:
            timeline.append(_idle(now, todo[0].arrival, (todo[0].name,)))
            now = todo[0].arrival
        ready = [job for job in todo if job.arrival <= now]
        job = min(ready, key=lambda each: (urgency(each, now), *_tie(each, ties)))
        todo.remove(job)
        end = now + job.burst
        among = ", ".join(listed(each, now) for each in ready)
        values = {"process": job.name, "at": plain(now), "end": plain(end), "among": among}
        key = f"cpu_{name}" if len(ready) > 1 else "cpu_only"
        timeline.append(Slice(job.name, now, end, _arrived(todo, end), key, values, f"cpu_{name}"))
        now = end
    return timeline


def with_preemption(jobs: Sequence[Job], urgency: Urgency, name: str, ties: Ties, equal: Equal) -> Timeline:
    """The least `urgency` (of a job and what it has left) runs; an arrival that is more urgent preempts."""
    left = {job.name: job.burst for job in jobs}
    arrivals = sorted({job.arrival for job in jobs})
    timeline: Timeline = []
    now, running = Fraction(0), None
    start, why, asides = now, ("", dict[str, Any]()), list[Step]()

    def rank(job: Job) -> tuple[Any, ...]:
        newcomer = equal == "newcomer_preempts" and job.arrival == now and job is not running
        return (urgency(job, left[job.name]), not newcomer, job is not running, *_tie(job, ties))

    while any(left.values()):
        ready = [job for job in jobs if job.arrival <= now and left[job.name]]
        if not ready:
            begin = min(each for each in arrivals if each > now)
            new = tuple(job.name for job in jobs if job.arrival == begin)
            timeline.append(_idle(now, begin, new))
            now = begin
            continue
        job = min(ready, key=rank)
        if job is not running:
            if running is not None:
                queue = tuple(each.name for each in sorted(ready, key=by_arrival))
                timeline += [Slice(running.name, start, now, queue, *why, f"cpu_{name}"), *asides]
            start, asides = now, []
            why = _why_chosen(name, job, running, ready, now, left, urgency)
        elif running is not None:
            asides += [_why_not(name, each, job, now, left, urgency) for each in ready if each.arrival == now]
        running = job
        end = now + left[job.name]
        stop = min([end, *(each for each in arrivals if each > now)])
        left[job.name] -= stop - now
        now = stop
        if not left[job.name]:
            waiting = [each for each in jobs if each.arrival <= now and left[each.name]]
            queue = tuple(each.name for each in sorted(waiting, key=by_arrival))
            timeline += [Slice(job.name, start, now, queue, *why, f"cpu_{name}"), *asides]
            running, asides = None, []
    return timeline


def round_robin(
    jobs: Sequence[Job],
    quantum: Fraction,
    *,
    switch: Fraction = Fraction(0),
    arrival_first: bool = True,
    every_slice: bool = False,
    whole_slices: bool = False,
) -> Timeline:
    """Each process in turn for at most a quantum. `whole_slices` is a mistake: the rest of a slice is lost."""
    pending, ready = deque(sorted(jobs, key=by_arrival)), deque[Job]()
    left = {job.name: job.burst for job in jobs}
    timeline: Timeline = []
    now, last = Fraction(0), None

    def admit(until: Fraction) -> None:
        while pending and pending[0].arrival <= until:
            ready.append(pending.popleft())

    def names() -> tuple[str, ...]:
        return tuple(job.name for job in ready)

    admit(now)
    while pending or ready:
        if not ready:
            begin = pending[0].arrival
            admit(begin)
            timeline.append(_idle(now, begin, names()))
            now = begin
        job = ready.popleft()
        if switch and last is not None and (last is not job or every_slice):
            admit(now + switch)
            values = {"at": plain(now), "end": plain(now + switch), "process": job.name}
            timeline.append(Slice("", now, now + switch, (job.name, *names()), "cpu_switch", values, "cpu_switch"))
            now += switch
        run = min(quantum, left[job.name])
        left[job.name] -= run
        end = now + run
        met = [each.name for each in pending if each.arrival == end]
        over = bool(left[job.name])
        if over and not arrival_first:
            while pending and pending[0].arrival < end:
                ready.append(pending.popleft())
            ready.append(job)
            admit(end)
        else:
            admit(end)
            ready.extend([job] * over)
        key = ("cpu_rr_met" if met else "cpu_rr_over") if over else "cpu_rr_done"
        key += ("_after" if not arrival_first else "") if key == "cpu_rr_met" else ""
        if over and len(ready) == 1:
            key = "cpu_rr_alone"
        values = {"process": job.name, "at": plain(now), "end": plain(end), "left": plain(left[job.name])}
        values |= {"met": ", ".join(met), "queue": ", ".join(names()) or "–"}
        timeline.append(Slice(job.name, now, end, names(), key, values, "cpu_meeting" if met and over else "cpu_rr"))
        now = now + quantum if whole_slices else end
        admit(now)
        last = job
    return timeline


def feedback(
    jobs: Sequence[Job],
    quanta: Sequence[Fraction | None],
    *,
    boost: Fraction = Fraction(0),
    at_once: bool = True,
    head: bool = True,
    sinks: bool = True,
) -> Timeline:
    """Multilevel feedback queues. `sinks` false is a mistake: a used-up quantum does not move a process down."""
    pending = deque(sorted(jobs, key=by_arrival))
    queues: list[deque[Job]] = [deque() for _ in quanta]
    left, used = {job.name: job.burst for job in jobs}, {job.name: Fraction(0) for job in jobs}
    timeline: Timeline = []
    now = next_boost = Fraction(0)

    def admit(until: Fraction) -> None:
        while pending and pending[0].arrival <= until:
            queues[0].append(pending.popleft())

    admit(now)
    while pending or any(queues):
        if not any(queues):
            begin = pending[0].arrival
            admit(begin)
            timeline.append(_idle(now, begin, tuple(job.name for job in queues[0])))
            now = begin
        if boost:
            next_boost = (now // boost + 1) * boost
        level = next(number for number, queue in enumerate(queues) if queue)
        job, quantum = queues[level].popleft(), quanta[level]
        end = now + left[job.name]
        if quantum is not None:
            end = min(end, now + quantum - used[job.name])
        if at_once and level and pending:
            end = min(end, pending[0].arrival)
        if boost:
            end = min(end, next_boost)
        left[job.name] -= end - now
        used[job.name] += end - now
        admit(end)
        boosted = bool(boost) and end == next_boost
        last = len(quanta) - 1
        if not left[job.name]:
            key = "cpu_mlfq_done"
        elif boosted:
            key = "cpu_mlfq_boosted"
        elif quantum is not None and used[job.name] == quantum:
            key = "cpu_mlfq_sinks" if level < last and sinks else "cpu_mlfq_stays"
            queues[min(level + 1, last) if sinks else level].append(job)
            used[job.name] = Fraction(0)
        else:
            key = "cpu_mlfq_preempted" if head else "cpu_mlfq_preempted_tail"
            queues[level].insert(0 if head else len(queues[level]), job)
            used[job.name] = used[job.name] if head else Fraction(0)
        if boosted:
            everyone = [each for queue in queues for each in queue] + [job] * bool(left[job.name])
            queues = [deque(everyone), *(deque[Job]() for _ in quanta[1:])]
            used = dict.fromkeys(used, Fraction(0))
        by_level = tuple(tuple(each.name for each in queue) for queue in queues)
        values = {"process": job.name, "at": plain(now), "end": plain(end), "left": plain(left[job.name])}
        values |= {"level": level + 1, "next": min(level + 2, last + 1), "queue": _by_levels(by_level) or "–"}
        flat = tuple(name for names in by_level for name in names)
        timeline.append(Slice(job.name, now, end, flat, key, values, key, level + 1))
        if boosted and any(queues):
            timeline.append(Step("cpu_mlfq_boost", {"at": plain(end), "queue": ", ".join(flat)}, rule="cpu_mlfq_boost"))
        now = end
    return timeline


def _idle(start: Fraction, end: Fraction, queue: tuple[str, ...]) -> Slice:
    return Slice("", start, end, queue, "cpu_idle", {"at": plain(start), "end": plain(end)}, "cpu_idle")


def by_arrival(job: Job) -> tuple[Fraction, int]:
    """The order of a queue, as a sort key."""
    return job.arrival, job.place


def _tie(job: Job, ties: Ties) -> tuple[Fraction | int, ...]:
    return (job.arrival, job.place) if ties == "earlier_arrival" else (job.place,)


def _arrived(todo: Sequence[Job], now: Fraction) -> tuple[str, ...]:
    return tuple(job.name for job in todo if job.arrival <= now)


def _by_levels(levels: Sequence[Sequence[str]]) -> str:
    """Feedback queues in one line, without the empty ones."""
    return "; ".join(f"Q{number}: {' '.join(names)}" for number, names in enumerate(levels, 1) if names)


def _number(name: str, job: Job, left: Mapping[str, Fraction]) -> int | float:
    """The number by which the algorithm compares, as the exercise gives it."""
    return plain(job.priority if name == "priority" else left[job.name])


def _why_chosen(
    name: str,
    job: Job,
    running: Job | None,
    ready: Sequence[Job],
    now: Fraction,
    left: Mapping[str, Fraction],
    urgency: Urgency,
) -> tuple[str, dict[str, Any]]:
    """The sentence for a process that gets the processor."""
    values: dict[str, Any] = {"process": job.name, "at": plain(now), "number": _number(name, job, left)}
    if running is not None:
        same = urgency(job, left[job.name]) == urgency(running, left[running.name])
        values |= {"running": running.name, "other": _number(name, running, left)}
        return f"cpu_{name}_preempts{'_equal' * same}", values
    among = ", ".join(f"{each.name} {_number(name, each, left):.10g}" for each in sorted(ready, key=by_arrival))
    return f"cpu_{name}" if len(ready) > 1 else "cpu_only", {**values, "among": among}


def _why_not(
    name: str, arrived: Job, running: Job, now: Fraction, left: Mapping[str, Fraction], urgency: Urgency
) -> Step:
    """The sentence for an arrival that does not preempt."""
    same = urgency(arrived, left[arrived.name]) == urgency(running, left[running.name])
    values = {"process": arrived.name, "running": running.name, "at": plain(now)}
    values |= {"number": _number(name, arrived, left), "other": _number(name, running, left)}
    return Step(f"cpu_{name}_waits{'_equal' * same}", values, rule="cpu_equal" if same else f"cpu_{name}")


@dataclass(frozen=True, slots=True)
class Felt:
    """The times of one finished process."""

    job: Job
    first: Fraction  # when it first ran
    completion: Fraction

    @property
    def turnaround(self) -> Fraction:
        """From arrival to completion."""
        return self.completion - self.job.arrival

    @property
    def waiting(self) -> Fraction:
        """Time in the ready queue."""
        return self.turnaround - self.job.burst

    @property
    def weighted(self) -> Fraction:
        """Turnaround in units of the process's own burst."""
        return self.turnaround / self.job.burst

    @property
    def response(self) -> Fraction:
        """From arrival to the first run."""
        return self.first - self.job.arrival


def felt(jobs: Sequence[Job], timeline: Timeline) -> list[Felt]:
    """What each process felt, in the order of the list."""
    runs = [each for each in timeline if isinstance(each, Slice) and each.process]
    first: dict[str, Fraction] = {}
    last: dict[str, Fraction] = {}
    for run in runs:
        first.setdefault(run.process, run.start)
        last[run.process] = run.end
    return [Felt(job, first[job.name], last[job.name]) for job in jobs]


def order_of(timeline: Timeline) -> tuple[str, ...]:
    """Who has the processor, one after the other; slices of one process in a row count once."""
    runs = (each.process for each in timeline if isinstance(each, Slice) and each.process)
    return tuple(name for name, _ in groupby(runs))


def results(jobs: Sequence[Job], timeline: Timeline, process: str = "") -> dict[str, Result]:
    """Every figure that can be asked for; those of one process only where a process is named."""
    times, order = felt(jobs, timeline), order_of(timeline)
    count = len(jobs)
    length = max(each.completion for each in times) - min(job.arrival for job in jobs)
    found = {
        "average_waiting": Result(plain(sum((t.waiting for t in times), Fraction(0)) / count), "time"),
        "average_turnaround": Result(plain(sum((t.turnaround for t in times), Fraction(0)) / count), "time"),
        "average_weighted_turnaround": Result(plain(sum((t.weighted for t in times), Fraction(0)) / count)),
        "average_response": Result(plain(sum((t.response for t in times), Fraction(0)) / count), "time"),
        "switches": Result(len(order) - 1, "count"),
        "utilisation": Result(plain(100 * sum((job.burst for job in jobs), Fraction(0)) / length), "percent"),
        "throughput": Result(plain(Fraction(count) / length), "cpu_per_time"),
        "makespan": Result(plain(length), "time"),
        "order": Result(order),
    }
    for each in times:
        if each.job.name == process:
            found |= {name: Result(plain(getattr(each, name)), "time") for name in OF_ONE}
    return found
