"""Small sums about the processor: how long a burst will be, how busy it is, how much several of them help, who gets
which share.

Exponential averaging, the longest wait under round robin and the shares of the Completely Fair Scheduler are in
sections 3.3 and 3.6 of the course book, the model of multiprogramming (Tanenbaum, Modern Operating Systems, 4th ed.,
section 2.1.7) in 1.4, and Amdahl's law (AFIPS 1967) in 2.4.
"""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import Milliseconds, Numbers, absent, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given
from osrag.lab.plot import Series, plot
from osrag.lab.schedule import exact, plain
from osrag.lab.svg import TONES, Box, Figure, Label, Mark, text_width
from osrag.lab.words import word
from osrag.types import Language


def _for(ask: str, value: Callable[[Any], Fraction | int | float]) -> Callable[[Any], Value | None]:
    """The wrong value of a mistake about one question."""

    def wrong(parameters: Any) -> Value | None:
        if parameters.ask != ask:
            return None
        found = value(parameters)
        return plain(found) if isinstance(found, Fraction) else found

    return wrong


# Exponential averaging


class BurstPrediction(Parameters):
    """Bursts that have been, and the first guess."""

    first_guess: float = given(ge=0, le=1e6, unit="time")
    bursts: Numbers = given(min_length=1, max_length=200)
    alpha: float = given(0.5, ge=0, le=1)
    ask: Literal["prediction", "all_predictions"] = given("prediction")

    @field_validator("bursts")
    @classmethod
    def _bursts_are_times(cls, bursts: tuple[int, ...]) -> tuple[int, ...]:
        for burst in bursts:
            if not 0 <= burst <= 1_000_000:
                raise fault("load_burst", seen=burst)
        return bursts


def predictions(first: float, bursts: tuple[int, ...], alpha: float) -> list[Fraction]:
    """The guess before each burst, and the one after the last: alpha * last + (1 - alpha) * guess."""
    guesses, weight = [exact(first)], exact(alpha)
    for burst in bursts:
        guesses.append((weight * burst + (1 - weight) * guesses[-1]).limit_denominator(10**12))
    return guesses


def solve_prediction(parameters: BurstPrediction) -> Solution:
    """One row for each burst."""
    guesses = predictions(parameters.first_guess, parameters.bursts, parameters.alpha)
    alpha, rest = plain(exact(parameters.alpha)), plain(1 - exact(parameters.alpha))
    steps = []
    for number, burst in enumerate(parameters.bursts, 1):
        before, after = plain(guesses[number - 1]), plain(guesses[number])
        values = {"alpha": alpha, "rest": rest, "burst": burst, "before": before, "after": after}
        steps.append(Step("load_prediction", values, (number, burst, before, after), "load_prediction"))
    told = tuple(plain(guess) for guess in guesses[1:])
    found = {"prediction": Result(told[-1], "time"), "all_predictions": Result(told)}

    def figure(language: Language) -> Figure:
        actual = Series(
            word("columns", "load_actual", language),
            [(float(number), float(burst)) for number, burst in enumerate(parameters.bursts, 1)],
            "b",
            steps=range(1, len(steps) + 1),
        )
        guessed = Series(
            word("columns", "load_guess", language),
            [(float(number), float(guess)) for number, guess in enumerate(guesses, 1)],
            "a",
            steps=range(len(guesses)),
        )
        title = word("kinds", "burst_prediction", language)
        values = {"bursts": ", ".join(map(str, parameters.bursts)), "guesses": ", ".join(f"{g:.4g}" for g in told)}
        description = word("steps", "load_prediction_chart", language, **values)
        number_name = word("columns", "load_number", language)
        return plot([actual, guessed], number_name, "", title, description, len(steps))

    return Solution(tuple(steps), found, ("load_number", "load_actual", "load_before", "load_after"), figure)


def generate_prediction(random: Random, level: Level) -> BurstPrediction:
    """Even numbers, so that halves stay short; another weight at the hard level."""
    count = {"easy": 2, "medium": 3, "hard": 4}[level]
    bursts: tuple[int, ...] = ()
    while len(set(bursts)) < 2:
        bursts = tuple(random.choice((4, 6, 8, 10, 12, 14, 16, 20)) for _ in range(count))
    guess = random.choice([number for number in (8.0, 10.0, 12.0) if number not in bursts[:1]])
    return BurstPrediction(
        first_guess=guess, bursts=bursts, alpha=random.choice((0.25, 0.75)) if level == "hard" else 0.5
    )


# The degree of multiprogramming


class Multiprogramming(Parameters):
    """Independent processes that wait for input and output for a part of their time."""

    io_fraction: float = given(gt=0, lt=1)
    degree: int = given(1, ge=1, le=1000)
    ask: Literal["cpu_use", "all_wait", "least_degree"] = given("cpu_use")
    target: float = given(90.0, gt=0, lt=100, unit="percent", validate_default=True)

    @field_validator("target")
    @classmethod
    def _few_are_enough(cls, target: float, info: ValidationInfo) -> float:
        part = info.data.get("io_fraction")
        if info.data.get("ask") == "least_degree" and part is not None and part**1000 > 1 - target / 100:
            raise fault("load_target", most=1000)
        return target


def cpu_use(io_fraction: float, degree: int) -> Fraction:
    """1 - p^n as a percentage: somebody computes unless all wait."""
    return 100 - 100 * exact(io_fraction) ** degree


def least_degree(io_fraction: float, target: float) -> int:
    """The fewest processes that reach a use of `target` percent."""
    degree = 1
    while cpu_use(io_fraction, degree) < exact(target):
        degree += 1
    return degree


def solve_multiprogramming(parameters: Multiprogramming) -> Solution:
    """The one sum, or one row for each degree up to the one that is enough."""
    part = parameters.io_fraction
    use = cpu_use(part, parameters.degree)
    found = {
        "cpu_use": Result(float(use), "percent"),
        "all_wait": Result(float(100 - use), "percent"),
    }
    last, steps = parameters.degree, list[Step]()
    if parameters.ask == "least_degree":
        last = least_degree(part, parameters.target)
        found["least_degree"] = Result(last, "load_processes")
    for degree in range(1, last + 1) if parameters.ask == "least_degree" else [last]:
        now = float(cpu_use(part, degree))
        values = {"p": part, "n": degree, "idle": f"{1 - now / 100:.4g}", "use": now}
        steps.append(Step("load_use", values, (degree, 100 - now, now), "load_use"))
    if parameters.ask == "least_degree":
        steps.append(Step("load_enough", {"n": last, "target": parameters.target}))

    def figure(language: Language) -> Figure:
        count = min(max(last, 10), 100)
        points = [(float(degree), float(cpu_use(part, degree))) for degree in range(1, count + 1)]
        title = word("kinds", "multiprogramming", language)
        told = f"{float(cpu_use(part, last)):.4g}"
        description = word("steps", "load_use_chart", language, p=part, n=last, use=told)
        x_name = word("columns", "load_degree", language)
        y_name = word("columns", "load_use", language)
        series = [Series(y_name, points)]
        if last <= count:
            series.append(Series(f"n = {last}", points[last - 1 : last], "b"))
        return plot(series, x_name, y_name, title, description, len(steps))

    return Solution(tuple(steps), found, ("load_degree", "load_all_wait", "load_use"), figure)


def generate_multiprogramming(random: Random, level: Level) -> Multiprogramming:
    """At the hard level the number of processes is asked for."""
    part = random.choice((0.5, 0.6, 0.75, 0.8) if level == "easy" else (0.4, 0.6, 0.7, 0.75, 0.8, 0.9))
    if level == "hard":
        return Multiprogramming(io_fraction=part, ask="least_degree", target=random.choice((80.0, 90.0, 95.0)))
    return Multiprogramming(io_fraction=part, degree=random.randint(2, 4) if level == "easy" else random.randint(3, 6))


# Amdahl's law


class Amdahl(Parameters):
    """A program of which a part must run serially."""

    serial: float = given(ge=0, le=1)
    cores: int | None = given(None, ge=1, le=1_000_000)  # the limit needs none
    ask: Literal["speedup", "speedup_limit", "efficiency"] = given("speedup", validate_default=True)

    @field_validator("ask")
    @classmethod
    def _there_is_a_limit(cls, ask: str, info: ValidationInfo) -> str:
        if ask == "speedup_limit" and info.data.get("serial") == 0:
            raise fault("load_no_limit")
        if ask != "speedup_limit" and "cores" in info.data and info.data["cores"] is None:
            raise absent("cores")
        return ask


def speedup(serial: float, cores: int | None) -> Fraction:
    """1 / (s + (1 - s) / n); without a number of cores its limit."""
    part = exact(serial)
    return 1 / (part + ((1 - part) / cores if cores else 0))


def solve_amdahl(parameters: Amdahl) -> Solution:
    """The time on one core is 1; what is left of it on several?"""
    part = exact(parameters.serial)
    cores = None if parameters.ask == "speedup_limit" else parameters.cores
    gain = speedup(parameters.serial, cores)
    share = (1 - part) / cores if cores else Fraction(0)
    values = {"s": plain(part), "parallel": plain(1 - part), "n": cores, "share": plain(share)}
    values |= {"time": plain(1 / gain), "gain": plain(gain)}
    row = (plain(part), plain(share), plain(1 / gain), plain(gain))
    time = Step("load_amdahl_time" if cores else "load_amdahl_limit_time", values)
    steps = [time, Step("load_amdahl", values, row, "load_amdahl")]
    found = {"speedup_limit": Result(plain(1 / part), "load_fold")} if part else {}
    if cores:
        found["speedup"] = Result(plain(gain), "load_fold")
        found["efficiency"] = Result(plain(100 * gain / cores), "percent")
    steps.append(Step(f"load_{parameters.ask}", {**values, "value": found[parameters.ask].value}))

    def figure(language: Language) -> Figure:
        count = min(max(cores or 64, 8), 64)
        xs = sorted({1 + round((count - 1) * step / 30) for step in range(31)})
        law = [(float(x), float(speedup(parameters.serial, x))) for x in xs]
        title = word("kinds", "amdahl", language)
        chart = "load_amdahl_chart" if cores else "load_amdahl_limit_chart"
        description = word("steps", chart, language, s=parameters.serial, n=cores, gain=f"{float(gain):.4g}")
        ideal = [(float(x), float(x)) for x in xs if x <= law[-1][1] * 1.3]
        series = [
            Series(word("columns", "load_gain", language), law),
            Series(word("columns", "load_ideal", language), ideal, "muted", dashed=True),
        ]
        return plot(series, word("columns", "load_cores", language), "", title, description, len(steps))

    columns = ("load_serial_time", "load_parallel_time", "load_time", "load_gain")
    return Solution(tuple(steps), found, columns, figure)


def generate_amdahl(random: Random, level: Level) -> Amdahl:
    """At the hard level the efficiency or the limit is asked for."""
    ask: Any = random.choice(("speedup", "efficiency", "speedup_limit")) if level == "hard" else "speedup"
    serial = random.choice((0.1, 0.2, 0.25, 0.4, 0.5) if level == "easy" else (0.05, 0.1, 0.2, 0.25, 0.4))
    return Amdahl(serial=serial, cores=random.choice((2, 4, 5, 8) if level == "easy" else (8, 10, 16, 32)), ask=ask)


# Shares of the Completely Fair Scheduler

# the kernel's sched_prio_to_weight, nice -20 to 19
WEIGHTS = (
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
    9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
    1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
    110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
)  # fmt: skip


class CfsShares(Parameters):
    """Tasks of one processor that are always runnable."""

    nices: Numbers = given(min_length=1, max_length=100)
    task: int = given(1, ge=1, validate_default=True)
    ask: Literal["cfs_share", "cfs_weight", "cfs_vruntime", "cfs_slice"] = given("cfs_share")
    ran: Milliseconds = given(10.0, gt=0, le=1e6, unit="ms")
    period: Milliseconds = given(24.0, gt=0, le=1e6, unit="ms")

    @field_validator("nices")
    @classmethod
    def _nices_have_weights(cls, nices: tuple[int, ...]) -> tuple[int, ...]:
        for nice in nices:
            if not -20 <= nice <= 19:
                raise fault("load_nice", seen=nice)
        return nices

    @field_validator("task")
    @classmethod
    def _task_is_one_of_them(cls, task: int, info: ValidationInfo) -> int:
        if "nices" in info.data and task > len(info.data["nices"]):
            raise fault("load_task", seen=task, most=len(info.data["nices"]))
        return task


def weight(nice: int) -> int:
    """The weight that Linux gives a nice value; 1024 for 0."""
    return WEIGHTS[nice + 20]


def solve_shares(parameters: CfsShares) -> Solution:
    """Weights, their sum, and the share of each task."""
    weights = [weight(nice) for nice in parameters.nices]
    total = sum(weights)
    shares = [Fraction(100 * each, total) for each in weights]
    steps = [Step("load_weights", {"parts": " + ".join(map(str, weights)), "total": total}, rule="load_weights")]
    for number, (nice, each, share) in enumerate(zip(parameters.nices, weights, shares, strict=True), 1):
        values = {"task": number, "nice": nice, "weight": each, "total": total, "share": float(share)}
        steps.append(Step("load_share", values, (number, nice, each, float(share)), "load_share"))
    mine, share = weights[parameters.task - 1], shares[parameters.task - 1]
    grown = exact(parameters.ran) * 1024 / mine
    found = {
        "cfs_share": Result(float(share), "percent"),
        "cfs_weight": Result(mine),
        "cfs_vruntime": Result(plain(grown), "ms"),
        "cfs_slice": Result(float(share * exact(parameters.period) / 100), "ms"),
    }
    asked: dict[str, Any] = {"task": parameters.task, "weight": mine, "total": total, "ran": parameters.ran}
    asked |= {"period": parameters.period, "value": found[parameters.ask].value, "share": float(share)}
    steps.append(Step(f"load_{parameters.ask}", asked))

    def figure(language: Language) -> Figure:
        marks, x = list[Mark](), 14.0
        for number, each in enumerate(shares, 1):
            label = f"{float(each):.3g}%"
            width = max(text_width(label) + 12, float(each) * 4)
            name = word("steps", "load_task", language, task=number)
            width = max(width, text_width(name) + 10)
            marks.append(Box(x, 34, width, 44, label, TONES[(number - 1) % len(TONES)], number + 1))
            marks.append(Label(x + width / 2, 24, name, "middle", step=number + 1))
            marks.append(Label(x + width / 2, 98, str(weights[number - 1]), "middle", "muted", number + 1))
            x += width
        title = word("kinds", "cfs_shares", language)
        told = ", ".join(f"{number}: {float(each):.3g}%" for number, each in enumerate(shares, 1))
        return Figure(x + 14, 112, tuple(marks), title, f"{title}: {told}", len(steps))

    return Solution(tuple(steps), found, ("load_task", "load_nice", "load_weight", "load_share"), figure)


def generate_shares(random: Random, level: Level) -> CfsShares:
    """Two tasks, or three; at the hard level the virtual runtime or the slice is asked for."""
    count = 2 if level == "easy" else 3
    nices = tuple(random.sample((-5, -1, 0, 1, 3, 5, 10), count))
    if level == "easy":
        nices = (0, random.randint(1, 12))
    ask: Any = random.choice(("cfs_vruntime", "cfs_slice")) if level == "hard" else "cfs_share"
    task = next(number for number, nice in enumerate(nices, 1) if nice) if ask == "cfs_vruntime" else count
    return CfsShares(nices=nices, task=task, ask=ask)


# Round robin among many


class TimeSlice(Parameters):
    """Processes that are always ready, each with a whole slice."""

    ready: int = given(ge=1, le=100_000)
    quantum: Milliseconds = given(gt=0, le=1e6, unit="ms")
    switch: Milliseconds = given(0.0, ge=0, le=1e6, unit="ms")
    ask: Literal["longest_wait", "switching_share"] = given("longest_wait")


def solve_time_slice(parameters: TimeSlice) -> Solution:
    """Between two turns of a process all others have one, and each turn begins with a switch."""
    count, quantum, switch = parameters.ready, exact(parameters.quantum), exact(parameters.switch)
    wait = (count - 1) * quantum + (count * switch if count > 1 else 0)
    share = 100 * switch / (quantum + switch)
    values = {"n": count, "others": count - 1, "q": plain(quantum), "s": plain(switch), "wait": plain(wait)}
    values |= {"share": float(share), "round": plain(quantum + switch)}
    found = {"longest_wait": Result(plain(wait), "ms"), "switching_share": Result(float(share), "percent")}
    wait_key = "load_wait_switch" if switch else "load_wait"
    steps = (Step(wait_key, values, (plain(wait), float(share)), wait_key), Step("load_switching", values))
    return Solution(steps, found, ("load_wait", "load_switching"))


def generate_time_slice(random: Random, level: Level) -> TimeSlice:
    """Without switches, with them, or their share."""
    values: dict[str, Any] = {
        "ready": random.choice((5, 8, 10, 20, 25)),
        "quantum": random.choice((5.0, 10.0, 20.0, 40.0, 50.0)),
    }
    if level != "easy":
        values["switch"] = random.choice((0.1, 0.5, 1.0))
    return TimeSlice(
        **values, ask=random.choice(("longest_wait", "switching_share")) if level == "hard" else "longest_wait"
    )


# Mistakes and kinds


def _shares(wrong: Callable[[CfsShares], Fraction]) -> Callable[[Any], Value | None]:
    return lambda parameters: float(wrong(parameters)) if parameters.ask == "cfs_share" else None


def _of_nice(parameters: CfsShares) -> Fraction:
    turned = [weight(max(-20, min(19, -nice))) for nice in parameters.nices]
    return Fraction(100 * turned[parameters.task - 1], sum(turned))


def _of_another(parameters: CfsShares) -> Fraction:
    weights = [weight(nice) for nice in parameters.nices]
    return Fraction(100 * weights[parameters.task - 1], max(weights))


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        name="burst_prediction",
        topic="cpu",
        parameters=BurstPrediction,
        solve=solve_prediction,
        generate=generate_prediction,
        mistakes=(
            Mistake(
                "load_weights_swapped",
                _for("prediction", lambda p: predictions(p.first_guess, p.bursts, plain(1 - exact(p.alpha)))[-1]),
            ),
            Mistake(
                "load_one_too_few",
                _for("prediction", lambda p: predictions(p.first_guess, p.bursts, p.alpha)[-2]),
            ),
            Mistake("load_mean", _for("prediction", lambda p: Fraction(sum(p.bursts), len(p.bursts)))),
            Mistake(
                "load_first_guess_kept",
                _for("prediction", lambda p: predictions(p.first_guess, p.bursts[-1:], p.alpha)[-1]),
            ),
            Mistake("load_last_burst", _for("prediction", lambda p: p.bursts[-1])),
        ),
        section="3.3.2",
    ),
    Kind(
        name="time_slice",
        topic="cpu",
        parameters=TimeSlice,
        solve=solve_time_slice,
        generate=generate_time_slice,
        mistakes=(
            Mistake("load_own_slice", _for("longest_wait", lambda p: p.ready * (exact(p.quantum) + exact(p.switch)))),
            Mistake("load_switches_forgotten", _for("longest_wait", lambda p: (p.ready - 1) * exact(p.quantum))),
            Mistake(
                "load_one_switch_too_few",
                _for("longest_wait", lambda p: (p.ready - 1) * (exact(p.quantum) + exact(p.switch))),
            ),
            Mistake(
                "load_share_of_slice",
                _for("switching_share", lambda p: 100 * exact(p.switch) / exact(p.quantum)),
            ),
        ),
        section="3.3.5",
    ),
    Kind(
        name="multiprogramming",
        topic="cpu",
        parameters=Multiprogramming,
        solve=solve_multiprogramming,
        generate=generate_multiprogramming,
        mistakes=(
            Mistake("load_all_wait", _for("cpu_use", lambda p: float(100 - cpu_use(p.io_fraction, p.degree)))),
            Mistake("load_one_process", _for("cpu_use", lambda p: float(cpu_use(p.io_fraction, 1)))),
            Mistake("load_io_as_cpu", _for("cpu_use", lambda p: float(100 * (1 - (1 - p.io_fraction) ** p.degree)))),
            Mistake("load_uses_added", _for("cpu_use", lambda p: min(100.0, 100 * p.degree * (1 - p.io_fraction)))),
            Mistake("load_one_short", _for("least_degree", lambda p: least_degree(p.io_fraction, p.target) - 1)),
            Mistake(
                "load_uses_added",
                _for("least_degree", lambda p: int(-(-exact(p.target) // (100 * (1 - exact(p.io_fraction)))))),
            ),
        ),
        section="1.4",
    ),
    Kind(
        name="amdahl",
        topic="cpu",
        parameters=Amdahl,
        solve=solve_amdahl,
        generate=generate_amdahl,
        mistakes=(
            Mistake("load_parallel_as_serial", _for("speedup", lambda p: speedup(plain(1 - exact(p.serial)), p.cores))),
            Mistake("load_parallel_times_cores", _for("speedup", lambda p: (1 - exact(p.serial)) * p.cores)),
            Mistake("load_ideal", _for("speedup", lambda p: p.cores)),
            Mistake("load_limit_given", _for("speedup", lambda p: 1 / exact(p.serial) if p.serial else p.cores)),
            Mistake("load_gain_given", _for("speedup_limit", lambda p: speedup(p.serial, p.cores))),
            Mistake("load_parallel_as_serial", _for("speedup_limit", lambda p: 1 / (1 - exact(p.serial)))),
            Mistake("load_parallel_part", _for("efficiency", lambda p: 100 * (1 - exact(p.serial)))),
        ),
        section="2.4.2",
    ),
    Kind(
        name="cfs_shares",
        topic="cpu",
        parameters=CfsShares,
        solve=solve_shares,
        generate=generate_shares,
        mistakes=(
            Mistake("load_of_another", _shares(_of_another)),
            Mistake("load_equal", _shares(lambda p: Fraction(100, len(p.nices)))),
            Mistake("load_nice_turned", _shares(_of_nice)),
            Mistake(
                "load_vruntime_turned",
                _for("cfs_vruntime", lambda p: exact(p.ran) * weight(p.nices[p.task - 1]) / 1024),
            ),
            Mistake("load_vruntime_real", _for("cfs_vruntime", lambda p: exact(p.ran))),
            Mistake("load_equal", _for("cfs_slice", lambda p: p.period / len(p.nices))),
        ),
        section="3.6",
    ),
)
