"""CPU scheduling of processes without input and output, on one processor: who runs when, and what each one feels.

Seven algorithms: first come first served, shortest job first, shortest remaining time first, priorities, highest
response ratio next (Brinch Hansen, 1971), round robin, and multilevel feedback queues (Corbató et al., 1962; rules as
in Arpaci-Dusseau, Operating Systems: Three Easy Pieces, ch. 8). Criteria and conventions are those of the course book,
sections 3.2 and 3.3, and of Silberschatz et al., Operating System Concepts, 10th ed., ch. 5: ties go to the earlier
arrival, then to the process listed first; equality does not preempt; an arrival queues before a process whose quantum
ends at the same moment; switching costs nothing unless a time is given.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from osrag.lab.fields import Rows, Words, fault
from osrag.lab.gantt import Bar, Chart, gantt
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.schedule import (
    OF_ONE,
    Equal,
    Felt,
    Job,
    Slice,
    Ties,
    Timeline,
    Urgency,
    by_arrival,
    exact,
    feedback,
    felt,
    order_of,
    plain,
    results,
    round_robin,
    run_to_end,
    with_preemption,
)
from osrag.lab.svg import Figure
from osrag.lab.words import word
from osrag.types import Language

MOST_PROCESSES = 12
MOST_SLICES = 2400  # 12 processes with 200 bursts; more could not be drawn, and would take long
LONGEST = 100_000  # time units
LONGEST_NAME = 12  # letters
UNLIMITED = ("inf", "∞", "unlimited", "fcfs", "不限")  # ways to write a quantum without end
_DECIMAL = re.compile(r"[+-]?\d{1,9}(\.\d{1,6})?")

Ask = Literal[
    "average_waiting",
    "average_turnaround",
    "average_weighted_turnaround",
    "average_response",
    "completion",
    "turnaround",
    "waiting",
    "response",
    "switches",
    "utilisation",
    "throughput",
    "makespan",
    "order",
]


def _decimal(text: str, row: str) -> Fraction:
    if not _DECIMAL.fullmatch(text):
        raise fault("cpu_not_a_number", seen=text[:20], row=row[:40])
    return Fraction(text)


def jobs_of(rows: Sequence[Sequence[str]]) -> list[Job]:
    """Rows of name, arrival, burst and, if there is one, priority. Raises a fault for a row that is none."""
    jobs: list[Job] = []
    for place, row in enumerate(rows):
        text = " ".join(row)
        if len(row) not in (3, 4):
            raise fault("cpu_row", row=text[:40])
        name, arrival, burst = row[0], _decimal(row[1], text), _decimal(row[2], text)
        if len(name) > LONGEST_NAME:
            raise fault("cpu_name", name=name[:40], most=LONGEST_NAME)
        if any(job.name == name for job in jobs):
            raise fault("cpu_twice", name=name)
        if arrival < 0:
            raise fault("cpu_arrival", name=name, seen=row[1])
        if burst <= 0:
            raise fault("cpu_burst", name=name, seen=row[2])
        if arrival > LONGEST or burst > LONGEST:
            raise fault("cpu_long", name=name, most=LONGEST)
        jobs.append(Job(name, arrival, burst, _decimal(row[3], text) if len(row) == 4 else Fraction(0), place))
    return jobs


class Jobs(Parameters):
    """Processes without input and output."""

    jobs: Rows = given(min_length=1, max_length=MOST_PROCESSES)
    ask: Ask = given("average_waiting")
    process: str = given("", validate_default=True)

    @field_validator("jobs")
    @classmethod
    def _jobs_can_be_read(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        jobs_of(rows)
        return rows

    @field_validator("process")
    @classmethod
    def _process_is_one_of_them(cls, process: str, info: ValidationInfo) -> str:
        if "jobs" not in info.data:
            return process
        names = [row[0] for row in info.data["jobs"]]
        if process and process not in names:
            raise fault("cpu_process", process=process[:20], names=", ".join(names))
        if not process and info.data.get("ask") in OF_ONE:
            raise PydanticCustomError("missing", "the process that is asked for")
        return process

    def read(self) -> list[Job]:
        """The processes in the order of the list."""
        return jobs_of(self.jobs)


class TiedJobs(Jobs):
    """Processes among which an algorithm chooses by a number, so that two can be equal."""

    ties: Ties = rule("earlier_arrival")


class PreemptingJobs(TiedJobs):
    """The same where an arrival can preempt."""

    equal: Equal = rule("running_stays")


class PriorityJobs(PreemptingJobs):
    """Processes with priority numbers."""

    preemption: Literal["preemptive", "non_preemptive"] = given("preemptive")
    urgent: Literal["small_number", "large_number"] = rule("small_number")

    @field_validator("jobs")
    @classmethod
    def _every_job_has_a_priority(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        for row in rows:
            if len(row) == 3:
                raise fault("cpu_priority", name=row[0])
        return rows


class RoundRobin(Jobs):
    """Processes that take turns."""

    quantum: float = given(gt=0, le=LONGEST, unit="time")
    switch: float = given(0.0, ge=0, le=LONGEST, unit="time")
    meeting: Literal["arrival_first", "expired_first"] = rule("arrival_first")
    switch_when: Literal["other_process", "every_slice"] = rule("other_process")

    @field_validator("quantum")
    @classmethod
    def _not_too_many_slices(cls, quantum: float, info: ValidationInfo) -> float:
        _bounded(info.data.get("jobs", ()), exact(quantum))
        return quantum


class FeedbackQueues(Jobs):
    """Processes that sink from queue to queue."""

    quanta: Words = given(min_length=1, max_length=6)
    boost: float = given(0.0, ge=0, le=LONGEST, unit="time")  # period; 0: never
    arrival: Literal["preempts_at_once", "waits_for_slice_end"] = rule("preempts_at_once")
    preempted: Literal["head_with_rest", "tail_with_full_quantum"] = rule("head_with_rest")

    @field_validator("quanta")
    @classmethod
    def _quanta_are_times(cls, quanta: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for text in quanta:
            if text.lower() not in UNLIMITED and (not _DECIMAL.fullmatch(text) or Fraction(text) <= 0):
                raise fault("cpu_quantum", seen=text[:20])
        finite = [quantum for quantum in _quanta(quanta) if quantum is not None]
        if finite:
            _bounded(info.data.get("jobs", ()), min(finite))
        return tuple("inf" if text.lower() in UNLIMITED else text for text in quanta)

    @field_validator("boost")
    @classmethod
    def _not_too_many_boosts(cls, boost: float, info: ValidationInfo) -> float:
        if boost:
            _bounded(info.data.get("jobs", ()), exact(boost))
        return boost


def _quanta(texts: Sequence[str]) -> list[Fraction | None]:
    return [None if text.lower() in UNLIMITED else Fraction(text) for text in texts]


def _bounded(rows: Sequence[Sequence[str]], piece: Fraction) -> None:
    """Raises a fault where pieces of that length would be too many."""
    if sum(-(-Fraction(row[2]) // piece) for row in rows) > MOST_SLICES:
        raise fault("cpu_slices", most=MOST_SLICES)


COLUMNS = ("cpu_from", "cpu_to", "cpu_process", "cpu_ready")
QUEUE_COLUMNS = ("cpu_from", "cpu_to", "cpu_process", "cpu_queue")  # the ready processes stand in a queue
LEVEL_COLUMNS = ("cpu_from", "cpu_to", "cpu_process", "cpu_level", "cpu_queue")


def solution_of(parameters: Jobs, name: str, timeline: Timeline) -> Solution:
    """The timeline as steps, then the times of each process and the figure that is asked for."""
    jobs = parameters.read()
    steps = [_step(each) if isinstance(each, Slice) else each for each in timeline]
    bars = [
        Bar(float(each.start), float(each.end), each.process, number, each.queue)
        for number, each in enumerate(timeline, 1)
        if isinstance(each, Slice)
    ]
    times = felt(jobs, timeline)
    for each in times:
        values = {"process": each.job.name, "arrival": plain(each.job.arrival), "burst": plain(each.job.burst)}
        values |= {
            key: plain(getattr(each, key)) for key in ("completion", "turnaround", "waiting", "first", "response")
        }
        steps.append(Step("cpu_times", values))
    found = results(jobs, timeline, parameters.process)
    steps.append(_last_step(parameters, times, found))
    columns = {"fcfs": QUEUE_COLUMNS, "rr": QUEUE_COLUMNS, "mlfq": LEVEL_COLUMNS}.get(name, COLUMNS)

    def figure(language: Language) -> Figure:
        told = ", ".join(f"{bar.label or '–'} {bar.start:g}–{bar.end:g}" for bar in bars)
        title = word("kinds", name, language)
        first = tuple(job.name for job in sorted(jobs, key=by_arrival) if job.arrival == 0)
        description = word("steps", "cpu_chart", language, kind=title, bars=told)
        queue_label = word("columns", "cpu_queue_at" if columns is not COLUMNS else "cpu_ready_at", language)
        return gantt(Chart(bars, [job.name for job in jobs], title, description, len(steps), queue_label, first))

    return Solution(tuple(steps), found, columns, figure)


def _step(piece: Slice) -> Step:
    """A slice as a step; time in which nobody runs has no row."""
    row: tuple[Any, ...] = (plain(piece.start), plain(piece.end), piece.process, piece.queue)
    if piece.level:
        row = (*row[:3], piece.level, row[3])
    return Step(piece.key, piece.values, row if piece.process else (), piece.rule)


AVERAGES = {
    "average_waiting": "waiting",
    "average_turnaround": "turnaround",
    "average_weighted_turnaround": "weighted",
    "average_response": "response",
}


def _last_step(parameters: Jobs, times: Sequence[Felt], found: Mapping[str, Result]) -> Step:
    """How the figure that is asked for follows."""
    ask, value = parameters.ask, found[parameters.ask].value
    if ask in AVERAGES:
        parts = " + ".join(f"{plain(getattr(each, AVERAGES[ask])):.4g}" for each in times)
        return Step(f"cpu_{ask}", {"parts": parts, "count": len(times), "value": value})
    values = {"process": parameters.process, "value": value, "count": len(times), "length": found["makespan"].value}
    values["busy"] = plain(sum((each.job.burst for each in times), Fraction(0)))
    return Step(f"cpu_ask_{ask}", values)


# The kinds


def _by_burst(job: Job, _: Fraction) -> Fraction:
    return job.burst


def _shortest(jobs: Sequence[Job], ties: Ties = "earlier_arrival") -> Timeline:
    return run_to_end(jobs, _by_burst, "sjf", lambda job, _: f"{job.name} {plain(job.burst):.10g}", ties)


def _first_come(jobs: Sequence[Job]) -> Timeline:
    return run_to_end(
        jobs,
        lambda job, _: job.arrival,
        "fcfs",
        lambda job, _: f"{job.name} {plain(job.arrival):.10g}",
        "earlier_arrival",
    )


def _remaining(jobs: Sequence[Job], ties: Ties = "earlier_arrival", equal: Equal = "running_stays") -> Timeline:
    return with_preemption(jobs, lambda job, left: left, "srtf", ties, equal)


def ratio(job: Job, now: Fraction) -> Fraction:
    """Response ratio: (waiting + burst) / burst."""
    return (now - job.arrival + job.burst) / job.burst


def _ratio_text(job: Job, now: Fraction) -> str:
    waited, burst = f"{plain(now - job.arrival):.10g}", f"{plain(job.burst):.10g}"
    return f"{job.name} ({waited} + {burst}) ÷ {burst} = {float(ratio(job, now)):.3g}"


def _highest_ratio(jobs: Sequence[Job], ties: Ties = "earlier_arrival") -> Timeline:
    return run_to_end(jobs, lambda job, now: -ratio(job, now), "hrrn", _ratio_text, ties)


def _urgency(parameters: PriorityJobs, *, reverse: bool = False) -> Urgency:
    sign = -1 if (parameters.urgent == "large_number") != reverse else 1
    return lambda job, _: sign * job.priority


def _prioritised(parameters: PriorityJobs, *, reverse: bool = False, other: bool = False) -> Timeline:
    """By priority; `reverse` takes the numbers the wrong way, `other` preempts where it should not or the reverse."""
    jobs, urgency = parameters.read(), _urgency(parameters, reverse=reverse)
    if (parameters.preemption == "preemptive") != other:
        return with_preemption(jobs, urgency, "priority", parameters.ties, parameters.equal)
    return run_to_end(
        jobs, urgency, "priority", lambda job, _: f"{job.name} {plain(job.priority):.10g}", parameters.ties
    )


def _rotated(parameters: RoundRobin, **wrong: Any) -> Timeline:
    options = {
        "switch": exact(parameters.switch),
        "arrival_first": parameters.meeting == "arrival_first",
        "every_slice": parameters.switch_when == "every_slice",
    }
    return round_robin(parameters.read(), exact(parameters.quantum), **(options | wrong))


def _fed_back(parameters: FeedbackQueues, **wrong: Any) -> Timeline:
    options: dict[str, Any] = {
        "boost": exact(parameters.boost),
        "at_once": parameters.arrival == "preempts_at_once",
        "head": parameters.preempted == "head_with_rest",
    }
    return feedback(parameters.read(), _quanta(parameters.quanta), **(options | wrong))


SCHEDULES: Mapping[str, Callable[[Any], Timeline]] = {
    "fcfs": lambda p: _first_come(p.read()),
    "sjf": lambda p: _shortest(p.read(), p.ties),
    "srtf": lambda p: _remaining(p.read(), p.ties, p.equal),
    "priority": _prioritised,
    "hrrn": lambda p: _highest_ratio(p.read(), p.ties),
    "rr": _rotated,
    "mlfq": _fed_back,
}


def _solver(name: str) -> Callable[[Any], Solution]:
    def solve(parameters: Jobs) -> Solution:
        return solution_of(parameters, name, SCHEDULES[name](parameters))

    return solve


# Mistakes


def _wrong_schedule(name: str, schedule: Callable[[Any], Timeline]) -> Mistake[Any]:
    """A mistake in who runs when: the figure that is asked for, from the wrong chart."""

    def value(parameters: Jobs) -> Value | None:
        return results(parameters.read(), schedule(parameters), parameters.process)[parameters.ask].value

    return Mistake(name, value)


def _wrong_average(name: str, schedule: str, number: Callable[[Felt], Fraction], asks: Sequence[str]) -> Mistake[Any]:
    """A mistake in what is added up, from the right chart."""

    def value(parameters: Jobs) -> Value | None:
        if parameters.ask not in asks:
            return None
        times = felt(parameters.read(), SCHEDULES[schedule](parameters))
        return plain(sum((number(each) for each in times), Fraction(0)) / len(times))

    return Mistake(name, value)


def _common(name: str) -> tuple[Mistake[Any], ...]:
    return (
        _wrong_average("cpu_forgot_arrival", name, lambda t: t.completion - t.job.burst, ("average_waiting",)),
        _wrong_average("cpu_completion_as_turnaround", name, lambda t: t.completion, ("average_turnaround",)),
        _wrong_average("cpu_turnaround_as_waiting", name, lambda t: t.turnaround, ("average_waiting",)),
        _wrong_average("cpu_waiting_as_turnaround", name, lambda t: t.waiting, ("average_turnaround",)),
    )


FIRST_WAIT = ("average_waiting",)


def _as_if_all_were_there(parameters: Jobs) -> Timeline:
    """Shortest first as if every process had arrived at the beginning."""
    now, timeline = Fraction(0), list[Slice | Step]()
    for job in sorted(parameters.read(), key=lambda each: (each.burst, each.arrival, each.place)):
        timeline.append(Slice(job.name, now, now + job.burst, (), "cpu_only"))
        now += job.burst
    return timeline


def _whole_burst(parameters: PreemptingJobs) -> Timeline:
    """Preemption by the whole burst of the running process, not by what it has left."""
    return with_preemption(parameters.read(), _by_burst, "srtf", parameters.ties, parameters.equal)


MISTAKES: Mapping[str, tuple[Mistake[Any], ...]] = {
    "fcfs": (
        *_common("fcfs"),
        _wrong_schedule("cpu_shortest_instead", lambda p: _shortest(p.read())),
    ),
    "sjf": (
        _wrong_schedule("cpu_preempted", lambda p: _remaining(p.read())),
        _wrong_schedule("cpu_fcfs_instead", lambda p: _first_come(p.read())),
        _wrong_schedule("cpu_all_there", _as_if_all_were_there),
        *_common("sjf"),
    ),
    "srtf": (
        _wrong_schedule("cpu_not_preempted", lambda p: _shortest(p.read())),
        _wrong_schedule("cpu_whole_burst", _whole_burst),
        _wrong_average("cpu_first_wait_only", "srtf", lambda t: t.response, FIRST_WAIT),
        *_common("srtf"),
    ),
    "priority": (
        _wrong_schedule("cpu_priority_reversed", lambda p: _prioritised(p, reverse=True)),
        _wrong_schedule("cpu_other_preemption", lambda p: _prioritised(p, other=True)),
        _wrong_average("cpu_first_wait_only", "priority", lambda t: t.response, FIRST_WAIT),
        *_common("priority"),
    ),
    "hrrn": (
        _wrong_schedule("cpu_sjf_instead", lambda p: _shortest(p.read())),
        _wrong_schedule("cpu_fcfs_instead", lambda p: _first_come(p.read())),
        *_common("hrrn"),
    ),
    "rr": (
        _wrong_schedule("cpu_other_meeting", lambda p: _rotated(p, arrival_first=p.meeting != "arrival_first")),
        _wrong_schedule("cpu_slice_not_given_up", lambda p: _rotated(p, whole_slices=True)),
        _wrong_average("cpu_first_wait_only", "rr", lambda t: t.response, FIRST_WAIT),
        _wrong_schedule("cpu_switch_forgotten", lambda p: _rotated(p, switch=Fraction(0))),
        *_common("rr"),
    ),
    "mlfq": (
        _wrong_schedule("cpu_does_not_sink", lambda p: _fed_back(p, sinks=False)),
        _wrong_schedule("cpu_arrival_waits", lambda p: _fed_back(p, at_once=p.arrival != "preempts_at_once")),
        _wrong_average("cpu_first_wait_only", "mlfq", lambda t: t.response, FIRST_WAIT),
        *_common("mlfq"),
    ),
}


# Exercises

PROCESSES: Mapping[Level, int] = {"easy": 3, "medium": 4, "hard": 5}
TRIES = 300


def _rows(random: Random, level: Level, *, priorities: bool) -> tuple[tuple[str, ...], ...]:
    """Processes that arrive one soon after the other, from 0 on; bursts and priorities differ where they can."""
    count = PROCESSES[level]
    arrivals, bursts = [0], random.sample(range(1, 8 if level == "easy" else 10), count)
    while len(arrivals) < count:
        arrivals.append(arrivals[-1] + random.randint(1, 2))
    numbers = random.sample(range(1, count + 1), count)
    rows = [(f"P{i + 1}", str(arrivals[i]), str(bursts[i]), str(numbers[i])) for i in range(count)]
    return tuple(row if priorities else row[:3] for row in rows)


def _worth_it(name: str, parameters: Any, level: Level) -> bool:
    """Whether the exercise shows what its algorithm is about, and has an answer without a long fraction."""
    jobs, timeline = parameters.read(), SCHEDULES[name](parameters)
    if any(isinstance(each, Slice) and each.key == "cpu_idle" for each in timeline):
        return False
    order, names = order_of(timeline), tuple(job.name for job in jobs)
    if name != "fcfs" and order == names:
        return False
    preempted = len(order) > len(jobs)
    if not preempted and (name in ("srtf", "rr", "mlfq") or getattr(parameters, "preemption", "") == "preemptive"):
        return False
    if name == "hrrn" and level != "easy" and order == order_of(_shortest(jobs)):
        return False
    if name in ("rr", "mlfq") and level == "hard":
        keys = {each.key for each in timeline if isinstance(each, Slice)}
        if not keys & {"cpu_rr_met", "cpu_mlfq_preempted"}:
            return False
    asked = results(jobs, timeline)[parameters.ask].value
    return round(float(asked) * 100) == float(asked) * 100 if isinstance(asked, int | float) else True


def _generator(name: str, kind: type[Jobs]) -> Callable[[Random, Level], Any]:
    def generate(random: Random, level: Level) -> Jobs:
        """At the harder levels more processes, other questions, a cost of switching or three queues."""
        found: Jobs | None = None
        for _ in range(TRIES):
            values: dict[str, Any] = {"jobs": _rows(random, level, priorities=name == "priority")}
            values["ask"] = "average_waiting" if level != "medium" else random.choice(list(AVERAGES)[:2])
            if name == "priority":
                values["preemption"] = "non_preemptive" if level == "easy" else "preemptive"
            if name == "rr":
                values |= {"quantum": random.choice((2, 3)), "switch": 1 if level == "hard" else 0}
            if name == "mlfq":
                values["quanta"] = {"easy": ("2", "inf"), "medium": ("2", "4", "inf"), "hard": ("1", "2", "4")}[level]
            found = kind.model_validate(values)
            if _worth_it(name, found, level):
                break
        assert found is not None
        return found

    return generate


SECTIONS: Mapping[str, str] = {
    "fcfs": "3.3.1", "sjf": "3.3.2", "srtf": "3.3.2", "hrrn": "3.3.3", "priority": "3.3.4", "rr": "3.3.5",
    "mlfq": "3.3.6",
}  # fmt: skip


def _kind(name: str, parameters: type[Jobs]) -> Kind[Any]:
    return Kind(
        name=name,
        topic="cpu",
        parameters=parameters,
        solve=_solver(name),
        generate=_generator(name, parameters),
        mistakes=MISTAKES[name],
        section=SECTIONS[name],
    )


KINDS: tuple[Kind[Any], ...] = (
    _kind("fcfs", Jobs),
    _kind("sjf", TiedJobs),
    _kind("srtf", PreemptingJobs),
    _kind("priority", PriorityJobs),
    _kind("hrrn", TiedJobs),
    _kind("rr", RoundRobin),
    _kind("mlfq", FeedbackQueues),
)
