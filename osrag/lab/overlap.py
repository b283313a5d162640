"""Programs that compute and do input and output in turn, one processor: how much multiprogramming gains.

The example of the course book, section 1.4: the programs are there from the beginning; when several can compute, the
one listed first does; nobody is preempted; each has a device of its own. With one shared device, requests are served
in the order in which they are made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from osrag.lab.fields import Rows, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.schedule import plain
from osrag.lab.svg import TONES, Box, Figure, Label, Mark, Path, text_width
from osrag.lab.words import word
from osrag.types import Language

MOST_PROGRAMS, MOST_BURSTS, LONGEST, LONGEST_NAME = 12, 200, 100_000, 12

Chosen = Literal["listed_first_program", "ready_first_program"]


@dataclass(frozen=True, slots=True)
class Program:
    """Bursts in turn: processor, input and output, processor, …"""

    name: str
    bursts: tuple[int, ...]

    @property
    def computing(self) -> int:
        """Its time on the processor."""
        return sum(self.bursts[::2])


def programs_of(rows: Sequence[Sequence[str]]) -> list[Program]:
    """Rows of a name and bursts. Raises a fault for a row that is none."""
    programs: list[Program] = []
    for row in rows:
        if len(row) < 2 or not all(part.isdecimal() and len(part) < 10 for part in row[1:]):
            raise fault("overlap_row", row=" ".join(row)[:40])
        name, bursts = row[0], tuple(int(part) for part in row[1:])
        if len(name) > LONGEST_NAME or any(each.name == name for each in programs):
            raise fault("overlap_name", name=name[:20], most=LONGEST_NAME)
        if len(bursts) > MOST_BURSTS or not all(0 < burst <= LONGEST for burst in bursts):
            raise fault("overlap_burst", name=name, most=LONGEST, count=MOST_BURSTS)
        programs.append(Program(name, bursts))
    return programs


class Overlap(Parameters):
    """Programs that share a processor."""

    programs: Rows = given(min_length=1, max_length=MOST_PROGRAMS)
    ask: Literal["makespan", "utilisation", "completion", "makespan_alone", "utilisation_alone"] = given("makespan")
    process: str = given("", validate_default=True)
    chosen: Chosen = rule("listed_first_program")
    preemption: Literal["non_preemptive", "preemptive"] = rule("non_preemptive")  # by a program listed earlier
    devices: Literal["own_devices", "shared_device"] = rule("own_devices")

    @field_validator("programs")
    @classmethod
    def _programs_can_be_read(cls, rows: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        programs_of(rows)
        return rows

    @field_validator("process")
    @classmethod
    def _process_is_one_of_them(cls, process: str, info: ValidationInfo) -> str:
        names = [row[0] for row in info.data.get("programs", ())]
        if process and names and process not in names:
            raise fault("cpu_process", process=process[:20], names=", ".join(names))
        if not process and info.data.get("ask") == "completion":
            raise PydanticCustomError("missing", "the program that is asked for")
        return process


@dataclass(frozen=True, slots=True)
class Turn:
    """One stretch of computing, and the input or output after it."""

    program: str
    start: int
    end: int
    among: tuple[str, ...]  # who could compute at the start
    io: tuple[int, int] | None = None  # start and end; None where the program was preempted or is complete
    preempted: bool = False


def run(parameters: Overlap) -> tuple[list[Turn], dict[str, int]]:
    """The turns on the processor, and when each program completes."""
    programs = programs_of(parameters.programs)
    place = dict.fromkeys(range(len(programs)), 0)  # of the next burst of each program
    able = dict.fromkeys(place, 0)  # when a program can compute next
    left = {number: program.bursts[0] for number, program in enumerate(programs)}
    completion: dict[str, int] = {}
    turns: list[Turn] = []
    now = device_free = 0
    while able:
        now = max(now, min(able.values()))
        ready = [number for number in able if able[number] <= now]
        by_list = parameters.chosen == "listed_first_program"
        number = min(ready, key=lambda each: (0 if by_list else able[each], each))
        program, end = programs[number], now + left[number]
        if by_list and parameters.preemption == "preemptive":
            end = min([end, *(able[other] for other in able if other < number and able[other] > now)])
        left[number] -= end - now
        among = tuple(programs[each].name for each in ready)
        if left[number]:
            turns.append(Turn(program.name, now, end, among, preempted=True))
            now = end
            continue
        place[number] += 1
        io, start, now = None, now, end
        if place[number] < len(program.bursts):
            begin = end if parameters.devices == "own_devices" else max(end, device_free)
            io = (begin, begin + program.bursts[place[number]])
            end = device_free = io[1]
            place[number] += 1
        turns.append(Turn(program.name, start, now, among, io))
        if place[number] < len(program.bursts):
            able[number], left[number] = end, program.bursts[place[number]]
        else:
            completion[program.name] = end
            del able[number]
    return turns, completion


def results(parameters: Overlap) -> dict[str, Result]:
    """Together, and one program after the other."""
    programs = programs_of(parameters.programs)
    _, completion = run(parameters)
    busy, together = sum(each.computing for each in programs), max(completion.values())
    alone = sum(sum(each.bursts) for each in programs)
    found = {
        "makespan": Result(together, "time"),
        "utilisation": Result(plain(Fraction(100 * busy, together)), "percent"),
        "makespan_alone": Result(alone, "time"),
        "utilisation_alone": Result(plain(Fraction(100 * busy, alone)), "percent"),
    }
    if parameters.process:
        found["completion"] = Result(completion[parameters.process], "time")
    return found


def solve(parameters: Overlap) -> Solution:
    """A row for each turn on the processor; then the sums."""
    programs = programs_of(parameters.programs)
    turns, completion = run(parameters)
    found = results(parameters)
    steps: list[Step] = []
    numbers: list[int] = []
    now = 0
    for turn in turns:
        values: dict[str, Any] = {"process": turn.program, "at": turn.start, "end": turn.end}
        values |= {"among": ", ".join(turn.among), "begin": turn.io[0] if turn.io else 0}
        values["until"] = turn.io[1] if turn.io else turn.end
        if turn.start > now:
            steps.append(Step("overlap_idle", {"at": now, "end": turn.start}))
        key = "overlap_preempted" if turn.preempted else "overlap_io" if turn.io else "overlap_done"
        io: tuple[Any, ...] = turn.io or (None, None)
        row = (turn.start, turn.end, turn.program, *io)
        first = parameters.chosen == "listed_first_program"
        steps.append(Step(key, values, row, "overlap_listed" if first else "overlap_ready"))
        numbers.append(len(steps))
        now = turn.end
    busy, alone = sum(each.computing for each in programs), found["makespan_alone"].value
    sums = {"busy": busy, "total": found["makespan"].value, "alone": alone, "use": found["utilisation"].value}
    sums |= {"use_alone": found["utilisation_alone"].value}
    steps += [Step("overlap_together", sums), Step("overlap_alone", sums)]
    if parameters.process:
        values = {"process": parameters.process, "value": completion[parameters.process]}
        steps.append(Step("cpu_ask_completion", values))

    def figure(language: Language) -> Figure:
        return draw(parameters, turns, numbers, len(steps), language)

    columns = ("cpu_from", "cpu_to", "cpu_process", "overlap_io_from", "overlap_io_to")
    return Solution(tuple(steps), found, columns, figure)


LANE, BAR, TOP, BODY = 44.0, 32.0, 14.0, 560.0  # pixels


def draw(parameters: Overlap, turns: Sequence[Turn], numbers: Sequence[int], steps: int, language: Language) -> Figure:
    """A lane for the processor, and one for each device. Time runs to the right, the same in all lanes."""
    names = [row[0] for row in parameters.programs]
    shared = parameters.devices == "shared_device"
    device = word("columns", "overlap_device", language)
    lanes = [word("columns", "overlap_cpu", language), *([device] if shared else [f"{device} {n}" for n in names])]
    left = max(map(text_width, lanes)) + 24
    times = sorted({0, *(t for turn in turns for t in (turn.start, turn.end, *(turn.io or ())))})
    widest = max(*(text_width(str(each)) for each in times), *(text_width(name) for name in names)) + 10
    scale = min(BODY, max(1.2 * widest * (len(times) - 1), 320.0)) / times[-1]
    x = {0: left}  # pixels; in proportion to time, but no stretch is too narrow for its texts
    for earlier, later in pairwise(times):
        x[later] = x[earlier] + max(widest, (later - earlier) * scale)

    marks: list[Mark] = [Label(12, TOP + lane * LANE + 21, name) for lane, name in enumerate(lanes)]
    bottom = TOP + len(lanes) * LANE
    marks.append(Path(((left, bottom - 4), (x[times[-1]] + 4, bottom - 4)), tone="muted"))
    marks += [Label(x[time], bottom + 16, str(time), "middle") for time in times]
    told: list[str] = []
    for turn, step in zip(turns, numbers, strict=True):
        tone = TONES[names.index(turn.program) % len(TONES)]
        marks.append(Box(x[turn.start], TOP, x[turn.end] - x[turn.start], BAR, turn.program, tone, step))
        told.append(f"{turn.program} {turn.start}–{turn.end}")
        if turn.io:
            lane = 1 if shared else 1 + names.index(turn.program)
            begin, end = x[turn.io[0]], x[turn.io[1]]
            marks.append(Box(begin, TOP + lane * LANE, end - begin, BAR, turn.program, tone, step))
    title = word("kinds", "io_overlap", language)
    description = word("steps", "cpu_chart", language, kind=title, bars=", ".join(told))
    return Figure(x[times[-1]] + 24, bottom + 26, tuple(marks), title, description, steps)


def generate(random: Random, level: Level) -> Overlap:
    """Two programs; three, so that somebody waits; then with one device or with preemption."""
    found: Overlap | None = None
    extra: Mapping[Level, dict[str, Any]] = {
        "easy": {},
        "medium": {},
        "hard": random.choice(({"devices": "shared_device"}, {"preemption": "preemptive"})),
    }
    for _ in range(100):
        count = 2 if level == "easy" else 3
        rows = tuple((name, *(str(random.randint(1, 5)) for _ in range(3))) for name in "ABC"[:count])
        ask = "makespan" if level != "medium" else "utilisation"
        found = Overlap.model_validate({"programs": rows, "ask": ask, **extra[level]})
        values = {name: result.value for name, result in results(found).items()}
        plainly = results(found.model_copy(update={"devices": "own_devices", "preemption": "non_preemptive"}))
        changed = level != "hard" or plainly["makespan"].value != values["makespan"]
        use = float(values["utilisation"]) if not isinstance(values["utilisation"], tuple) else 0
        if changed and (use < 100 or level == "easy") and round(use, 1) == use:
            break
    assert found is not None
    return found


def _changed(name: str, **update: str) -> Mistake[Any]:
    """The figure under another convention; none where that one holds."""

    def value(parameters: Overlap) -> Value | None:
        other = parameters.model_copy(update=update)
        return None if other == parameters else results(other)[parameters.ask].value

    return Mistake(name, value)


def _alone(parameters: Overlap) -> Value | None:
    found = results(parameters)
    return found[f"{parameters.ask}_alone"].value if parameters.ask in ("makespan", "utilisation") else None


def _longest(parameters: Overlap) -> Value | None:
    longest = max(sum(each.bursts) for each in programs_of(parameters.programs))
    return longest if parameters.ask == "makespan" else None


def _only_computing(parameters: Overlap) -> Value | None:
    busy = sum(each.computing for each in programs_of(parameters.programs))
    return busy if parameters.ask == "makespan" else None


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        name="io_overlap",
        topic="cpu",
        parameters=Overlap,
        solve=solve,
        generate=generate,
        mistakes=(
            Mistake("overlap_alone", _alone),
            _changed("overlap_own_devices", devices="own_devices"),
            _changed("overlap_not_preempted", preemption="non_preemptive"),
            _changed("overlap_shared_device", devices="shared_device"),
            Mistake("overlap_longest", _longest),
            Mistake("overlap_only_computing", _only_computing),
        ),
        section="1.4",
    ),
)
