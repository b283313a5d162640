"""Periodic tasks on one processor: utilisation, the bound of Liu and Layland, and the schedule until all begin again.

Rate-monotonic and earliest deadline first as in Liu and Layland (JACM 1973) and in the course book, section 3.5: each
task arrives at 0 and then once in every period, must complete before its next period begins, and can be preempted.
The drawing stops at the first deadline that is missed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random
from typing import Any, Literal

from pydantic import field_validator

from osrag.lab.fields import Rows, fault
from osrag.lab.gantt import Bar, Chart, gantt
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given
from osrag.lab.schedule import plain
from osrag.lab.svg import Figure
from osrag.lab.words import word
from osrag.types import Language

MOST_TASKS, MOST_JOBS, LONGEST_PERIOD, LONGEST_NAME = 8, 2000, 100_000, 12

Algorithm = Literal["rm", "edf"]


@dataclass(frozen=True, slots=True)
class Task:
    """Runs for `run` in every `period`."""

    name: str
    period: int
    run: int


def tasks_of(rows: Sequence[Sequence[str]]) -> list[Task]:
    """Rows of name, period and run time. Raises a fault for a row that is none."""
    tasks: list[Task] = []
    for row in rows:
        if len(row) != 3 or not (row[1].isdecimal() and row[2].isdecimal()):
            raise fault("rt_row", row=" ".join(row)[:40])
        name, period, run = row[0], int(row[1][:9]), int(row[2][:9])
        if any(task.name == name for task in tasks):
            raise fault("rt_twice", name=name[:20])
        if len(name) > LONGEST_NAME or not 0 < period <= LONGEST_PERIOD:
            raise fault("rt_period", name=name[:20], most=LONGEST_PERIOD, letters=LONGEST_NAME)
        if not 0 < run <= period:
            raise fault("rt_run", name=name, seen=run, period=period)
        tasks.append(Task(name, period, run))
    if sum(lcm(*(task.period for task in tasks)) // task.period for task in tasks) > MOST_JOBS:
        raise fault("rt_jobs", most=MOST_JOBS)
    return tasks


class Periodic(Parameters):
    """Periodic tasks and the algorithm that schedules them."""

    tasks: Rows = given(min_length=1, max_length=MOST_TASKS)
    algorithm: Algorithm = given("rm")
    ask: Literal["rt_utilisation", "rt_bound", "rt_succeeds", "rt_missed_at", "rt_order"] = given("rt_utilisation")

    @field_validator("tasks")
    @classmethod
    def _tasks_can_be_read(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        tasks_of(rows)
        return rows

    def read(self) -> list[Task]:
        """The tasks in the order of the list."""
        return tasks_of(self.tasks)


@dataclass(frozen=True, slots=True)
class Run:
    """One task runs; or none, with an empty name."""

    task: str
    start: int
    end: int
    deadline: int
    preempted: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """The runs up to the end, or up to the first missed deadline."""

    runs: tuple[Run, ...]
    end: int
    missed: str = ""  # the task whose deadline at `end` is missed
    left: int = 0  # of it


def schedule(tasks: Sequence[Task], algorithm: Algorithm) -> Schedule:
    """From 0, where all tasks arrive together, until they do so again. Among equals the running task stays."""
    end = lcm(*(task.period for task in tasks))
    left, deadline = [0] * len(tasks), [0] * len(tasks)
    arrivals = sorted({time for task in tasks for time in range(0, end, task.period)})
    runs: list[Run] = []
    now, last = 0, -1
    while now < end:
        for number, task in enumerate(tasks):
            if now % task.period == 0 and deadline[number] <= now:
                if left[number]:
                    return Schedule(tuple(runs), now, task.name, left[number])
                left[number], deadline[number] = task.run, now + task.period
        following = min([each for each in arrivals if each > now], default=end)
        arrivals = [each for each in arrivals if each > now]
        ready = [number for number, rest in enumerate(left) if rest]
        if not ready:
            runs.append(Run("", now, following, following))
            now, last = following, -1
            continue
        rank = [task.period for task in tasks] if algorithm == "rm" else deadline
        number = min(ready, key=lambda each: (rank[each], each != last, each))
        stop = min(now + left[number], following)
        left[number] -= stop - now
        if last == number and runs and runs[-1].deadline == deadline[number]:
            runs[-1] = Run(tasks[number].name, runs[-1].start, stop, deadline[number])
        else:
            if last >= 0 and left[last] and runs:
                runs[-1] = Run(runs[-1].task, runs[-1].start, runs[-1].end, runs[-1].deadline, preempted=True)
            runs.append(Run(tasks[number].name, now, stop, deadline[number]))
        now, last = stop, number if left[number] else -1
    late = [number for number, rest in enumerate(left) if rest]
    return Schedule(tuple(runs), end, tasks[late[0]].name if late else "", left[late[0]] if late else 0)


def utilisation(tasks: Sequence[Task]) -> Fraction:
    """The sum of run time over period."""
    return sum((Fraction(task.run, task.period) for task in tasks), Fraction(0))


def bound(count: int) -> float:
    """n (2^(1/n) - 1): up to it rate-monotonic scheduling is certain to succeed."""
    return count * float(2 ** (1 / count) - 1)


def solve(parameters: Periodic) -> Solution:
    """The two tests, then the schedule slice by slice."""
    tasks, algorithm = parameters.read(), parameters.algorithm
    use, limit = utilisation(tasks), bound(len(tasks))
    parts = " + ".join(f"{task.run} ÷ {task.period}" for task in tasks)
    values = {"parts": parts, "use": f"{float(use):.4g}", "bound": f"{limit:.3f}", "n": len(tasks)}
    verdict = "over" if use > 1 else "edf" if algorithm == "edf" else "sure" if use <= limit else "unsure"
    steps = [Step("rt_use", values, rule="rt_use"), Step(f"rt_{verdict}", values, rule=f"rt_{algorithm}")]
    timeline = schedule(tasks, algorithm)
    numbers: list[int] = []
    for run in timeline.runs:
        told = {"task": run.task, "from": run.start, "to": run.end, "deadline": run.deadline}
        key = ("rt_preempted" if run.preempted else f"rt_run_{algorithm}") if run.task else "rt_idle"
        row = (run.start, run.end, run.task or None, run.deadline) if run.task else ()
        steps.append(Step(key, told, row, f"rt_{algorithm}"))
        numbers.append(len(steps))
    last = {"task": timeline.missed, "at": timeline.end, "left": timeline.left}
    steps.append(Step("rt_missed" if timeline.missed else "rt_met", last))
    order = tuple(run.task for run in timeline.runs if run.task)
    found = {
        "rt_utilisation": Result(float(use)),
        "rt_bound": Result(limit),
        "rt_succeeds": Result(not timeline.missed),
        "rt_missed_at": Result(timeline.end if timeline.missed else "rt_none", "time" if timeline.missed else ""),
        "rt_order": Result(order),
    }

    def figure(language: Language) -> Figure:
        bars = [Bar(run.start, run.end, run.task, number) for run, number in zip(timeline.runs, numbers, strict=True)]
        title = f"{word('kinds', 'rate_monotonic', language)} – {word('choices', algorithm, language)}"
        told = ", ".join(f"{run.task or '–'} {run.start}–{run.end}" for run in timeline.runs)
        ending = word("steps", steps[-1].key, language, **last)
        missed = {word("steps", "rt_mark", language, **last): float(timeline.end)} if timeline.missed else {}
        return gantt(Chart(bars, [task.name for task in tasks], title, f"{told}. {ending}", len(steps), missed=missed))

    return Solution(tuple(steps), found, ("rt_from", "rt_to", "rt_task", "rt_deadline"), figure)


def generate(random: Random, level: Level) -> Periodic:
    """Two tasks within the bound; above it, where the chart decides; then three. Half of the charts miss a deadline."""
    found: Periodic | None = None
    fails = random.random() < 0.5
    for _ in range(300):
        periods = sorted(random.sample((4, 5, 6, 8, 10, 12, 15, 20), 3 if level == "hard" else 2))
        tasks = [Task(f"T{i}", period, random.randint(1, max(1, period // 2))) for i, period in enumerate(periods, 1)]
        use, jobs = utilisation(tasks), sum(lcm(*periods) // period for period in periods)
        if jobs > 16 or not Fraction(1, 2) < use <= 1 or (use > bound(len(tasks))) != (level != "easy"):
            continue
        rows = tuple((task.name, str(task.period), str(task.run)) for task in tasks)
        found = Periodic(tasks=rows, ask="rt_utilisation" if level == "easy" else "rt_succeeds")
        if level == "easy" or bool(schedule(tasks, "rm").missed) == fails:
            break
    assert found is not None
    return found


def _wrong(name: str, value: Any) -> Mistake[Any]:
    def of(parameters: Periodic) -> Value | None:
        return plain(value(parameters.read())) if parameters.ask == "rt_utilisation" else None

    return Mistake(name, of)


def _by_the_bound(parameters: Periodic) -> Value | None:
    """Above the bound it must fail: the sufficient condition taken for a necessary one."""
    tasks = parameters.read()
    return utilisation(tasks) <= Fraction(str(bound(len(tasks)))) if parameters.ask == "rt_succeeds" else None


def _by_the_sum(parameters: Periodic) -> Value | None:
    return utilisation(parameters.read()) <= 1 if parameters.ask == "rt_succeeds" else None


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        name="rate_monotonic",
        topic="cpu",
        parameters=Periodic,
        solve=solve,
        generate=generate,
        mistakes=(
            _wrong("rt_sums", lambda tasks: Fraction(sum(t.run for t in tasks), sum(t.period for t in tasks))),
            _wrong("rt_largest", lambda tasks: max(Fraction(t.run, t.period) for t in tasks)),
            _wrong("rt_mean", lambda tasks: utilisation(tasks) / len(tasks)),
            Mistake("rt_bound_as_necessary", _by_the_bound),
            Mistake("rt_sum_as_enough", _by_the_sum),
        ),
        section="3.5",
    ),
)
