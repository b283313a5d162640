"""Programs of two to four processes with semaphores and shared variables: every interleaving, one state at a time.

Course book, sections 4.1 and 4.3. The search goes through all reachable states in breadth, so the schedule that it
shows for a deadlock, a violation or a value is a shortest one. A semaphore stays at 0 while processes wait; the book's
definition counts them below 0, to the same effect.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import Words, absent, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Tone, text_width
from osrag.lab.words import word
from osrag.types import Language

PROCESSES, STATEMENTS, STATES = 4, 12, 100_000  # processes, statements of each, reachable states
TEXT = 2000  # characters
P_NAMES, V_NAMES = {"p", "wait", "down", "acquire", "lock"}, {"v", "signal", "up", "release", "unlock", "post"}
TERM = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(.))")
Assignment = Literal["in_steps", "at_once"]


@dataclass(frozen=True, slots=True)
class Action:
    """One indivisible step of a process."""

    kind: Literal["P", "V", "enter", "leave", "print", "load", "add", "store", "assign", "do"]
    name: str  # of the semaphore, section, variable or action
    parts: tuple[tuple[int, str], ...] = ()  # of a sum: factor and variable ("" for a number)
    text: str = ""  # as it is shown


State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[tuple[int, ...], ...], str]
# of each process the next action; semaphores; variables; of each process what it has read; what is printed


def _sum(text: str) -> tuple[tuple[int, str], ...]:
    """`2*x + y - 1` as factors and variables."""
    parts, sign = list[tuple[int, str]](), 1
    for piece in re.split(r"([+-])", text.replace(" ", "")):
        if piece in ("+", "-"):
            sign = 1 if piece == "+" else -1
        elif match := re.fullmatch(r"(?:(\d{1,6})\*)?([A-Za-z_]\w*)", piece):
            parts.append((sign * int(match[1] or 1), match[2]))
        elif re.fullmatch(r"\d{1,6}", piece):
            parts.append((sign * int(piece), ""))
        elif piece:
            raise fault("not_a_sum", seen=text[:30])
    if not parts:
        raise fault("not_a_sum", seen=text[:30])
    return tuple(parts)


def _statement(text: str, semaphores: tuple[str, ...], assignment: Assignment) -> list[Action]:
    """The actions of one statement."""
    if match := re.fullmatch(r"([A-Za-z]+)\s*\(\s*&?([A-Za-z_]\w*)\s*\)", text):
        called, name = match[1].lower(), match[2]
        if called in P_NAMES | V_NAMES:
            if name not in semaphores:
                raise fault("no_such_semaphore", seen=name, known=", ".join(semaphores) or "–")
            kind: Literal["P", "V"] = "P" if called in P_NAMES else "V"
            return [Action(kind, name, text=f"{kind}({name})")]
    if match := re.fullmatch(r"(enter|leave)\s+(\w+)", text, re.IGNORECASE):
        way: Literal["enter", "leave"] = "enter" if match[1].lower() == "enter" else "leave"
        return [Action(way, match[2], text=f"{way} {match[2]}")]
    if match := re.fullmatch(r"print(?:f)?\s*\(?\s*[\"“']?([^\"”'()]{1,10})[\"”']?\s*\)?", text):
        return [Action("print", match[1].strip(), text=f"print {match[1].strip()}")]
    if match := re.fullmatch(r"([A-Za-z_]\w*)\s*(\+\+|--)", text):
        text = f"{match[1]} = {match[1]} {match[2][0]} 1"
    elif match := re.fullmatch(r"([A-Za-z_]\w*)\s*([+-])=\s*(.+)", text):
        text = f"{match[1]} = {match[1]} {match[2]} {match[3]}"
    if match := re.fullmatch(r"([A-Za-z_]\w*)\s*=\s*(.+)", text):
        name, parts = match[1], _sum(match[2])
        if name in semaphores:
            raise fault("semaphore_assigned", seen=name)
        if assignment == "at_once":
            return [Action("assign", name, parts, text)]
        loads = list(dict.fromkeys(variable for _, variable in parts if variable))
        made = [Action("load", variable, text=f"read {variable}") for variable in loads]
        if loads and parts != ((1, loads[0]),):
            made.append(Action("add", name, parts, f"compute {match[2].strip()}"))
        return [*made, Action("store", name, parts, f"write {name}")]
    if re.fullmatch(r"\w{1,12}", text):
        return [Action("do", text, text=text)]
    raise fault("not_a_statement", seen=text[:30])


def _expanded(text: str, process: str) -> list[str]:
    """The statements of a process, with `repeat 3 { … }` written out."""
    if len(text) > 20 * TEXT:  # repeats in repeats
        raise fault("too_many_statements", process=process, most=STATEMENTS)
    found = re.search(r"repeat\s*\(?\s*(\d+)\s*\)?\s*\{([^{}]*)\}", text, re.IGNORECASE)
    if found is not None:
        text = f"{text[: found.start()]};{f';{found[2]};' * min(int(found[1]), STATEMENTS + 1)};{text[found.end() :]}"
        return _expanded(text, process)
    return [part.strip() for part in re.split(r"[;；]", text) if part.strip()]


@dataclass(frozen=True, slots=True)
class Program:
    """Processes by name, and the values to begin with."""

    names: tuple[str, ...]
    actions: tuple[tuple[Action, ...], ...]
    semaphores: tuple[str, ...]
    variables: tuple[str, ...]
    values: tuple[int, ...]  # of the semaphores
    starts: tuple[int, ...]  # of the variables


@lru_cache(maxsize=64)
def read(text: str, semaphores: tuple[str, ...], variables: tuple[str, ...], assignment: Assignment) -> Program:
    """One process a line, or apart by `||`: `P1: P(S); x = x + 1; V(S)`."""
    values = [part.split("=") for part in semaphores]
    starts = {part.split("=")[0]: int(part.split("=")[1]) for part in variables}
    names, programs = list[str](), list[tuple[Action, ...]]()
    for number, line in enumerate(part for part in re.split(r"\n|\|\|", text) if part.strip()):
        match = re.match(r"\s*([A-Za-z_]\w*)\s*[:：](.*)", line, re.DOTALL)
        names.append(match[1] if match else f"P{number + 1}")
        statements = _expanded(match[2] if match else line, names[-1])
        if len(statements) > STATEMENTS:
            raise fault("too_many_statements", process=names[-1], most=STATEMENTS)
        known = tuple(name for name, _ in values)
        programs.append(tuple(a for each in statements for a in _statement(each, known, assignment)))
    if not 2 <= len(names) <= PROCESSES:
        raise fault("processes_wanted", most=PROCESSES, given=len(names))
    if len(set(names)) < len(names):
        raise fault("process_twice")
    for action in (action for actions in programs for action in actions):
        used = [variable for _, variable in action.parts if variable]
        if action.kind in ("load", "store", "assign"):
            used.append(action.name)
        for name in used:
            if name not in starts:
                raise fault("no_start_value", seen=name)
    return Program(
        tuple(names),
        tuple(programs),
        tuple(name for name, _ in values),
        tuple(starts),
        tuple(int(value) for _, value in values),
        tuple(starts.values()),
    )


def start(program: Program) -> State:
    """Where everything begins."""
    empty = ((0,) * len(program.variables),) * len(program.names)
    return (0,) * len(program.names), program.values, program.starts, empty, ""


def following(program: Program, state: State) -> Iterator[tuple[int, State]]:
    """Every next state, and the process that leads to it."""
    at, values, variables, read_, text = state
    for process, place in enumerate(at):
        if place == len(program.actions[process]):
            continue
        action = program.actions[process][place]
        new_values, new_variables, seen, new_text = values, variables, read_[process], text
        if action.kind in ("P", "V"):
            which = program.semaphores.index(action.name)
            if action.kind == "P" and values[which] == 0:
                continue
            new_values = _put(values, which, values[which] + (-1 if action.kind == "P" else 1))
        elif action.kind == "load":
            which = program.variables.index(action.name)
            seen = _put(seen, which, variables[which])
        elif action.kind in ("store", "assign"):
            known = seen if action.kind == "store" else variables
            total = sum(f * (known[program.variables.index(v)] if v else 1) for f, v in action.parts)
            new_variables = _put(variables, program.variables.index(action.name), total)
            seen = (0,) * len(seen)  # what was read is used up
        elif action.kind == "print":
            shown = action.name
            if shown in program.variables:
                shown = str(variables[program.variables.index(shown)])
            new_text = f"{text} {shown}".strip()
        after = _put(at, process, place + 1)
        kept = read_ if seen == read_[process] else (*read_[:process], seen, *read_[process + 1 :])
        yield process, (after, new_values, new_variables, kept, new_text)


def _put(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def inside(program: Program, state: State) -> dict[str, list[int]]:
    """Who is in each critical section."""
    found: dict[str, list[int]] = {}
    for process, place in enumerate(state[0]):
        for action in program.actions[process][:place]:
            if action.kind == "enter":
                found.setdefault(action.name, []).append(process)
            elif action.kind == "leave" and process in found.get(action.name, []):
                found[action.name].remove(process)
    return found


@dataclass(frozen=True, slots=True)
class Search:
    """What all interleavings together can do."""

    states: int
    came: dict[State, tuple[State, int] | None]
    deadlock: State | None  # the first found, so one of the nearest
    violation: State | None
    ends: tuple[State, ...]  # where all processes have finished


@lru_cache(maxsize=4)
def search(program: Program) -> Search:
    """All reachable states. Raises a fault where there are more than `STATES`."""
    first = start(program)
    came: dict[State, tuple[State, int] | None] = {first: None}
    deadlock = violation = None
    ends, frontier = list[State](), [first]
    sections = any(action.kind == "enter" for actions in program.actions for action in actions)
    while frontier:
        reached = list[State]()
        for state in frontier:
            stuck = True
            for process, new in following(program, state):
                stuck = False
                if new not in came:
                    if len(came) >= STATES:
                        raise fault("too_many_states", most=STATES)
                    came[new] = (state, process)
                    reached.append(new)
            if stuck and all(place == len(acts) for place, acts in zip(state[0], program.actions, strict=True)):
                ends.append(state)
            elif stuck and deadlock is None:
                deadlock = state
            if sections and violation is None and any(len(who) > 1 for who in inside(program, state).values()):
                violation = state
        frontier = reached
    return Search(len(came), came, deadlock, violation, tuple(ends))


def schedule(found: Search, state: State) -> list[tuple[int, State]]:
    """The processes that run, in order, to reach a state, and the state after each."""
    path = list[tuple[int, State]]()
    at = state
    while (step := found.came[at]) is not None:
        path.append((step[1], at))
        at = step[0]
    return path[::-1]


def _assignments(value: tuple[str, ...]) -> tuple[str, ...]:
    for part in value:
        if not re.fullmatch(r"[A-Za-z_]\w{0,11}=-?\d{1,4}", part):
            raise fault("not_a_start", seen=part[:20])
    names = [part.split("=")[0] for part in value]
    if len(set(names)) < len(names):
        raise fault("start_twice")
    return value


class Semaphores(Parameters):
    """Processes that run at the same time."""

    ask: Literal[
        "can_deadlock", "can_violate", "final_values", "smallest", "largest", "printed", "state_count", "can_print"
    ] = "can_deadlock"
    semaphores: Words = given((), max_length=8)
    variables: Words = given((), max_length=6)
    assignment: Assignment = rule("in_steps")
    concurrent: str = given(min_length=1, max_length=TEXT)
    printed_text: str = given("", max_length=200, validate_default=True)

    @field_validator("semaphores")
    @classmethod
    def _semaphores_start(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for part in _assignments(value):
            if "-" in part:
                raise fault("semaphore_below_zero", seen=part)
        return value

    @field_validator("variables")
    @classmethod
    def _variables_start(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return _assignments(value)

    @field_validator("concurrent")
    @classmethod
    def _searched(cls, value: str, info: ValidationInfo) -> str:
        data = info.data
        if {"semaphores", "variables", "assignment"} <= data.keys():
            program = read(value, data["semaphores"], data["variables"], data["assignment"])
            kinds = {action.kind for actions in program.actions for action in actions}
            if data.get("ask") in ("final_values", "smallest", "largest") and not program.variables:
                raise fault("no_variable")
            if data.get("ask") == "can_violate" and "enter" not in kinds:
                raise fault("no_section")
            if data.get("ask") in ("printed", "can_print") and "print" not in kinds:
                raise fault("no_print")
            if not search(program).ends and data.get("ask") in ("final_values", "smallest", "largest"):
                raise fault("never_finishes")
        return value

    @field_validator("printed_text")
    @classmethod
    def _text_where_needed(cls, value: str, info: ValidationInfo) -> str:
        if info.data.get("ask") == "can_print" and not value:
            raise absent("printed_text")
        return value

    def read(self) -> Program:
        """The program."""
        return read(self.concurrent, self.semaphores, self.variables, self.assignment)


def _named(names: tuple[str, ...], values: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _goal(given: Semaphores, program: Program, found: Search) -> tuple[State, str]:
    """The state whose schedule is shown, and the key of the sentence that says why."""
    first = (lambda state: state[2][0]) if program.variables else (lambda state: 0)
    done = found.ends or (next(iter(found.came)),)
    if given.ask == "can_violate" and found.violation is not None:
        return found.violation, "sem_violation"
    if given.ask in ("smallest", "final_values") and program.variables:
        return min(done, key=first), "sem_smallest"
    if given.ask == "largest" and program.variables:
        return max(done, key=first), "sem_largest"
    if given.ask == "can_print":
        wanted = " ".join(given.printed_text.split())
        hit = next((state for state in done if state[4] == wanted), None)
        if hit is not None:
            return hit, "sem_prints"
        return done[0], "sem_prints_never"
    if found.deadlock is not None and given.ask in ("can_deadlock", "state_count", "printed"):
        return found.deadlock, "sem_deadlock"
    return done[0], "sem_no_violation" if given.ask == "can_violate" else "sem_no_deadlock"


def _solve(given: Semaphores) -> Solution:
    program = given.read()
    found = search(program)
    goal, key = _goal(given, program, found)
    steps = [Step("sem_searched", {"states": found.states})]
    for number, (process, state) in enumerate(schedule(found, goal), 1):
        action = program.actions[process][state[0][process] - 1]
        values, variables = _named(program.semaphores, state[1]), _named(program.variables, state[2])
        row = (number, program.names[process], action.text, values + variables)
        told = {
            "number": number,
            "process": program.names[process],
            "action": action.text,
            "values": values + variables,
        }
        steps.append(Step(f"sem_{action.kind}", told, row, "sem_step"))
    waiting = tuple(
        f"{program.names[process]}: {program.actions[process][place].text}"
        for process, place in enumerate(goal[0])
        if place < len(program.actions[process])
    )
    finals = sorted({state[2] for state in found.ends})
    told_values = tuple(" ".join(_named(program.variables, values)) for values in finals)
    texts = tuple(sorted({state[4] for state in found.ends}))
    who = next((each for each in inside(program, goal).values() if len(each) > 1), [])
    last = {"waiting": waiting, "states": found.states, "who": tuple(program.names[process] for process in who)}
    last |= {"values": _named(program.variables, goal[2]), "text": " ".join(given.printed_text.split())}
    steps.append(Step(key, last))
    results = {
        "can_deadlock": Result(found.deadlock is not None),
        "can_violate": Result(found.violation is not None),
        "state_count": Result(found.states),
    }
    if program.variables and found.ends:
        single = [values[0] for values in finals]
        kept: tuple[Any, ...] = tuple(single) if len(program.variables) == 1 else told_values
        steps.append(Step("sem_finals", {"values": told_values[:30], "count": len(finals)}))
        results |= {"final_values": Result(kept), "smallest": Result(min(single)), "largest": Result(max(single))}
    if any(action.kind == "print" for actions in program.actions for action in actions):
        steps.append(Step("sem_texts", {"texts": texts[:20], "count": len(texts)}))
        results["printed"] = Result(texts)
        results["can_print"] = Result(" ".join(given.printed_text.split()) in texts)
    columns = ("turn", "who_runs", "what_it_does", "values_after")
    return Solution(tuple(steps), results, columns, partial(_figure, program, key, tuple(steps)))


def _figure(program: Program, key: str, steps: tuple[Step, ...], language: Language) -> Figure:
    """A column for each process; the schedule runs down, and the values stand on the right."""
    rows = [(number, step) for number, step in enumerate(steps, 1) if step.row]
    texts = [action.text for actions in program.actions for action in actions]
    wide = max(text_width(text) for text in (*texts, *program.names)) + 18
    head = word("columns", "values_after", language)
    told = [" ".join(map(str, step.values["values"])) for _, step in rows]
    right = 1.15 * max(text_width(text) for text in (head, *told)) + 10  # “m”, “w” and “=” are wide
    x0 = 40.0
    marks: list[Mark] = []
    for lane, name in enumerate(program.names):
        marks.append(Box(x0 + lane * (wide + 8), 8, wide, ROW, name, "muted"))
    side = x0 + len(program.names) * (wide + 8) + 4
    marks.append(Label(side, 27, head, tone="muted"))
    tones: tuple[Tone, ...] = ("a", "b", "c", "d")
    for line, ((number, step), text) in enumerate(zip(rows, told, strict=True)):
        y = 8 + (line + 1) * (ROW + 4)
        lane = program.names.index(str(step.row[1]))
        marks.append(Label(8, y + 19, str(step.row[0]), tone="muted", step=number))
        marks.append(Box(x0 + lane * (wide + 8), y, wide, ROW, str(step.row[2]), tones[lane], number))
        marks.append(Label(side, y + 19, text, step=number))
    y = 8 + (len(rows) + 1) * (ROW + 4)
    last = next((number for number, step in enumerate(steps, 1) if step.key == key), len(steps))
    if key == "sem_deadlock":
        for part in steps[last - 1].values["waiting"]:
            name, text = str(part).split(": ", 1)
            lane = program.names.index(name)
            marks.append(Box(x0 + lane * (wide + 8), y, wide, ROW, text, "bad", last))
        y += ROW + 4
    order = ", ".join(f"{step.row[1]} {step.row[2]}" for _, step in rows)
    described = word("figures", "interleaving", language, order=order or "–")
    return Figure(side + right, y + 8, tuple(marks), word("kinds", "semaphores", language), described, len(steps))


# The value of one semaphore


class SemaphoreValue(Parameters):
    """A semaphore after so many P and V, or at its present value, by the definition that lets it fall below 0.

    Operations beside a present value without an initial one come after it.
    """

    ask: Literal["semaphore_value", "waiting_count", "free_units"] = "semaphore_value"
    current: int | None = given(None, ge=-1_000_000, le=1_000_000)
    initial: int | None = given(None, ge=0, le=1_000_000, validate_default=True)
    p_count: int | None = given(None, ge=0, le=1_000_000, validate_default=True)
    v_count: int = given(0, ge=0, le=1_000_000)

    @field_validator("initial", "p_count")
    @classmethod
    def _without_its_present_value(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is None and info.data.get("current") is None:
            raise absent(str(info.field_name))
        return value

    @property
    def start(self) -> int | None:
        """The value before the operations; None where the present value tells all."""
        goes_on = self.initial is None and bool(self.p_count or self.v_count)
        return self.initial if self.current is None else self.current if goes_on else None

    @property
    def value(self) -> int:
        return self.current or 0 if self.start is None else self.start - (self.p_count or 0) + self.v_count


def _solve_value(given: SemaphoreValue) -> Solution:
    value = given.value
    start, downs = given.start, given.p_count or 0
    told = {"initial": start, "p": downs, "v": given.v_count, "value": value, "waiting": max(0, -value)}
    last = Step("sem_waiting" if value < 0 else "sem_free", told)
    results = {
        "semaphore_value": Result(value),
        "waiting_count": Result(max(0, -value)),
        "free_units": Result(max(0, value)),
    }
    if start is None:
        only = replace(last, row=(value, max(0, value), max(0, -value)), rule="sem_value")
        return Solution((only,), results, ("value_now", "free_now", "waiting_now"))
    row = (start, downs, given.v_count, value, max(0, -value))
    steps = (Step("sem_value", told, row, "sem_value"), last)
    return Solution(steps, results, ("initial_value", "p_done", "v_done", "value_now", "waiting_now"))


def _generate_value(random: Random, level: Level) -> SemaphoreValue:
    initial, ups = random.randint(1, 5), 0 if level == "easy" else random.randint(1, 4)
    downs = initial + ups + random.randint(1, 4)
    ask: Literal["semaphore_value", "waiting_count"] = "waiting_count" if level == "hard" else "semaphore_value"
    return SemaphoreValue(ask=ask, initial=initial, p_count=downs, v_count=ups)


def _miscounted(name: str, count: Callable[[int, int, int], tuple[int, int]]) -> Mistake[SemaphoreValue]:
    """A wrong value and number of waiting processes, from the initial value and the counts of P and V."""

    def wrong(given: SemaphoreValue) -> Value | None:
        if given.initial is None or given.p_count is None or given.ask == "free_units":
            return None
        value = count(given.initial, given.p_count, given.v_count)[given.ask == "waiting_count"]
        return value if value != _solve_value(given).results[given.ask].value else None

    return Mistake(name, wrong)


VALUE_MISTAKES: tuple[Mistake[SemaphoreValue], ...] = (
    _miscounted("signals_forgotten", lambda start, downs, _: (start - downs, max(0, downs - start))),
    _miscounted("signs_swapped", lambda start, downs, ups: (start + downs - ups, downs - ups)),
    _miscounted("not_below_zero", lambda start, downs, ups: (max(0, start - downs + ups), 0)),
    _miscounted("initial_forgotten", lambda _, downs, ups: (ups - downs, max(0, downs - ups))),
)

# Exercises


def _race(random: Random) -> Semaphores:
    """Two processes that change one variable, each in three steps."""
    start, (one, other) = random.randint(0, 9), random.sample(range(1, 5), 2)
    texts = {
        f"A: x = x + {one} || B: x = x + {other}": "smallest",
        f"A: x = x + {one}; x = x + {one} || B: x = x + {one}; x = x + {one}": "smallest",
        f"A: x = x + {one} || B: x = x - {other}": "final_values",
        f"A: x = 2*x || B: x = x + {other}": "final_values",
    }
    text, ask = random.choice(list(texts.items()))
    return Semaphores.model_validate({"ask": ask, "variables": f"x={start or 1}", "concurrent": text})


def _generate(random: Random, level: Level) -> Semaphores:
    if level == "easy":
        return _race(random)
    if level == "medium":
        one, two = random.sample(("S", "T", "M", "Q"), 2)
        crossed = random.random() < 0.7
        second = (two, one) if crossed else (one, two)
        text = f"A: P({one}); P({two}); V({two}); V({one}) || B: P({second[0]}); P({second[1]}); V({one}); V({two})"
        return Semaphores(semaphores=(f"{one}=1", f"{two}=1"), concurrent=text)
    cells = random.choice((1, 2))
    if random.random() < 0.5:
        first, then = random.choice((("mutex", "empty"), ("empty", "mutex")))  # the second order is the right one
        text = (
            f"Producer: repeat {cells + 1} {{ P({first}); P({then}); V(mutex); V(full) }}"
            " || Consumer: P(full); P(mutex); V(mutex); V(empty)"
        )
        starts: tuple[str, ...] = ("mutex=1", f"empty={cells}", "full=0")
        return Semaphores(semaphores=starts, concurrent=text)
    value = random.choice((1, 2))
    names = random.choice(("AB", "ABC"))
    text = " || ".join(f"{name}: P(S); enter C; leave C; V(S)" for name in names)
    return Semaphores(ask="can_violate", semaphores=(f"S={value}",), concurrent=text)


def _opposite(given: Semaphores, right: bool) -> Value | None:
    """The wrong answer where `right` is the right one."""
    if given.ask not in ("can_deadlock", "can_violate"):
        return None
    return not right if _solve(given).results[given.ask].value is right else None


def _indivisible(given: Semaphores) -> Value | None:
    """The values when every assignment is one step."""
    if given.ask not in ("final_values", "smallest", "largest") or given.assignment == "at_once":
        return None
    results = _solve(given.model_copy(update={"assignment": "at_once"})).results
    return results[given.ask].value if results[given.ask].value != _solve(given).results[given.ask].value else None


def _extreme(given: Semaphores) -> Value | None:
    """Only one of the interleavings that lose an update."""
    values = _solve(given).results.get("final_values")
    if given.ask != "final_values" or values is None or not isinstance(values.value, tuple) or len(values.value) < 3:
        return None
    return (values.value[0], values.value[-1])


def _start_value(given: Semaphores) -> Value | None:
    if given.ask != "smallest":
        return None
    first = given.read().starts[0]
    return first if first != _solve(given).results["smallest"].value else None


MISTAKES: tuple[Mistake[Semaphores], ...] = (
    Mistake("one_order_only", lambda p: _opposite(p, True)),
    Mistake("order_not_checked", lambda p: _opposite(p, False)),
    Mistake("assignment_indivisible", _indivisible),
    Mistake("ends_only", _extreme),
    Mistake("all_updates_lost", _start_value),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind("semaphores", "synchronisation", Semaphores, _solve, _generate, MISTAKES, "4.3.2"),
    Kind(
        "semaphore_value",
        "synchronisation",
        SemaphoreValue,
        _solve_value,
        _generate_value,
        VALUE_MISTAKES,
        "4.3.2",
    ),
)
