"""Deadlock: the banker's algorithm, its answer to a request, and detection.

Course book, sections 5.4 and 5.5. The banker is Dijkstra's (EWD 108, 1965) in the form of Habermann (CACM 12(7), 1969);
detection by reduction is that of Coffman, Elphick and Shoshani (Computing Surveys 3(2), 1971).
"""

from collections.abc import Sequence
from functools import cache, partial
from itertools import takewhile
from random import Random
from typing import Any, Literal, cast

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import Matrix, Numbers, Words, absent, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Figure, Mark, row, text_width
from osrag.lab.words import word
from osrag.types import Language

PROCESSES, TYPES, UNITS = 12, 8, 1000  # limits: processes, resource types, units of a type
Vector = tuple[int, ...]
Table = tuple[Vector, ...]


def fits(small: Sequence[int], big: Sequence[int]) -> bool:
    """Whether every number of `small` is at most that of `big`."""
    return all(a <= b for a, b in zip(small, big, strict=True))


def plus(one: Sequence[int], other: Sequence[int]) -> Vector:
    """The sum, type by type."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def minus(one: Sequence[int], other: Sequence[int]) -> Vector:
    """The difference, type by type."""
    return tuple(a - b for a, b in zip(one, other, strict=True))


def listed(vector: Sequence[int | str]) -> str:
    """A vector as a book writes it: `3 2 1`."""
    return " ".join(map(str, vector))


def _sized(value: Vector, info: ValidationInfo, what: str = "types") -> Vector:
    """`value` if it has one number for each resource type, none below 0."""
    if any(number < 0 for number in value):
        raise fault("below_zero")
    if (allocation := info.data.get("allocation")) and len(value) != len(allocation[0]):
        raise fault("wrong_count_of_types", types=len(allocation[0]), given=len(value))
    return value


def _same_shape(value: Table, info: ValidationInfo) -> Table:
    """`value` if it has the rows and columns of Allocation, no number below 0."""
    if any(number < 0 for line in value for number in line):
        raise fault("below_zero")
    allocation = info.data.get("allocation")
    if allocation and (len(value), len(value[0])) != (len(allocation), len(allocation[0])):
        shape, other = f"{len(value)} × {len(value[0])}", f"{len(allocation)} × {len(allocation[0])}"
        raise fault("other_shape", shape=shape, allocation=other)
    return value


class Held(Parameters):
    """What every process holds, and what is free."""

    allocation: Matrix = given(min_length=1, max_length=PROCESSES)
    total: Numbers = given(())
    available: Numbers = given((), validate_default=True)
    names: Words = given((), validate_default=True)

    @field_validator("allocation")
    @classmethod
    def _allocation_fits(cls, value: Table) -> Table:
        if not value[0] or len(value[0]) > TYPES:
            raise fault("types_limit", most=TYPES)
        if any(not 0 <= number <= UNITS for line in value for number in line):
            raise fault("units_limit", most=UNITS)
        return value

    @field_validator("total")
    @classmethod
    def _total_covers_allocation(cls, value: Vector, info: ValidationInfo) -> Vector:
        if value and (allocation := info.data.get("allocation")):
            _sized(value, info)
            used = tuple(map(sum, zip(*allocation, strict=True)))
            if not fits(used, value):
                raise fault("more_than_there_are", used=listed(used), total=listed(value))
        return value

    @field_validator("available")
    @classmethod
    def _available_agrees(cls, value: Vector, info: ValidationInfo) -> Vector:
        total, allocation = info.data.get("total", ()), info.data.get("allocation")
        if not value and not total and "total" in info.data:
            raise absent("available")
        if value:
            _sized(value, info)
        if value and total and allocation:
            left = minus(total, tuple(map(sum, zip(*allocation, strict=True))))
            if value != left:
                raise fault("available_disagrees", left=listed(left), given=listed(value))
        return value

    @field_validator("names")
    @classmethod
    def _names_fit(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        allocation = info.data.get("allocation")
        if value and allocation and len(value) != len(allocation):
            raise fault("wrong_count_of_names", rows=len(allocation), given=len(value))
        if len(set(value)) < len(value):
            raise fault("name_twice")
        return value

    def free(self) -> Vector:
        """What is available, given or computed."""
        if self.available:
            return self.available
        return minus(self.total, tuple(map(sum, zip(*self.allocation, strict=True))))

    def named(self) -> tuple[str, ...]:
        """The processes' names: P0, P1, … where none are given."""
        return self.names or tuple(f"P{number}" for number in range(len(self.allocation)))


class Declared(Held):
    """… and what every process may still need, or the most that it may hold."""

    need: Matrix = given(())
    maximum: Matrix = given((), validate_default=True)
    order_of_search: Literal["from_first", "onward"] = rule("from_first")

    @field_validator("need")
    @classmethod
    def _need_fits(cls, value: Table, info: ValidationInfo) -> Table:
        return _same_shape(value, info) if value else value

    @field_validator("maximum")
    @classmethod
    def _maximum_covers_allocation(cls, value: Table, info: ValidationInfo) -> Table:
        if not value:
            if "need" in info.data and not info.data["need"]:
                raise absent("maximum")
            return value
        _same_shape(value, info)
        allocation, need = info.data.get("allocation", ()), info.data.get("need", ())
        for number, (held, most) in enumerate(zip(allocation, value, strict=False)):
            if not fits(held, most):
                raise fault("holds_more_than_maximum", process=f"P{number}", held=listed(held), most=listed(most))
            if need and minus(most, held) != need[number]:
                raise fault("need_disagrees", process=f"P{number}")
        return value

    def needs(self) -> Table:
        """Need = Max - Allocation."""
        return self.need or tuple(map(minus, self.maximum, self.allocation))

    def maxima(self) -> Table:
        """Max = Need + Allocation."""
        return self.maximum or tuple(map(plus, self.need, self.allocation))


class Banker(Declared):
    """Is this state safe?"""

    ask: Literal["safe_order", "safe", "safe_orders", "need", "available"] = "safe_order"


class BankerRequest(Declared):
    """May this request be granted?"""

    process: str = given(max_length=20)
    request: Numbers = given()
    ask: Literal["decision", "reason", "safe_order"] = "decision"

    @field_validator("process")
    @classmethod
    def _known(cls, value: str, info: ValidationInfo) -> str:
        allocation = info.data.get("allocation", ())
        names = info.data.get("names") or tuple(f"P{number}" for number in range(len(allocation)))
        if value.isdigit() and f"P{value}" in names:
            value = f"P{value}"
        if names and value not in names:
            raise fault("no_such_process", seen=value, names=", ".join(names))
        return value

    @field_validator("request")
    @classmethod
    def _request_sized(cls, value: Vector, info: ValidationInfo) -> Vector:
        return _sized(value, info)


class Detection(Held):
    """Which processes are deadlocked now?"""

    request: Matrix = given()
    empty_handed: Literal["not_counted", "counted"] = rule("not_counted")
    ask: Literal["deadlocked", "deadlock", "finishing_order"] = "deadlocked"

    @field_validator("request")
    @classmethod
    def _request_fits(cls, value: Table, info: ValidationInfo) -> Table:
        if not value:
            raise absent("request")
        return _same_shape(value, info)


def finish_order(
    free: Vector, held: Table, wants: Table, onward: bool = False, chosen: Sequence[int] = ()
) -> list[int]:
    """Who can finish, in the order of the search; processes that never can are left out.

    `onward` goes on with the process after the last one, round and round, instead of from the first again. `chosen`
    come first for as long as each of them can finish in its turn.
    """
    work, order, start, count = free, list[int](), 0, len(held)
    while True:
        turn = [(start + step) % count for step in range(count)]
        if list(chosen[: len(order)]) == order:
            turn = [*chosen[len(order) : len(order) + 1], *turn]
        ready = next((each for each in turn if each not in order and fits(wants[each], work)), None)
        if ready is None:
            return order
        order.append(ready)
        work = plus(work, held[ready])
        start = (ready + 1) % count if onward else 0


def count_orders(free: Vector, held: Table, wants: Table) -> int:
    """How many safe orders there are, by the set of those that have finished."""

    @cache
    def ways(done: int) -> int:
        if done == (1 << len(held)) - 1:
            return 1
        work = free
        for each, row_held in enumerate(held):
            if done >> each & 1:
                work = plus(work, row_held)
        rest = [each for each in range(len(held)) if not done >> each & 1]
        return sum(ways(done | 1 << each) for each in rest if fits(wants[each], work))

    return ways(0)


def is_safe_order(given: Declared, order: Sequence[str]) -> bool:
    """Whether everybody can finish in this very order."""
    names, work = given.named(), given.free()
    for name in order:
        each = names.index(name)
        if not fits(given.needs()[each], work):
            return False
        work = plus(work, given.allocation[each])
    return sorted(order) == sorted(names)


def _numbers(names: tuple[str, ...], chosen: Sequence[str]) -> list[int]:
    """The processes that a student names, up to the first name that there is not."""
    lower = [name.lower() for name in names]
    known = takewhile(lower.__contains__, (each.strip().lower() for each in chosen))
    return [lower.index(each) for each in known]


def finishing(
    names: tuple[str, ...], free: Vector, held: Table, wants: Table, order: Sequence[int], kind: str
) -> list[Step]:
    """One row for each process that can finish; `kind` begins the sentences' keys."""
    steps, work, done = list[Step](), free, set[int]()
    for each in order:
        passed = [names[other] for other in range(each) if other not in done and not fits(wants[other], work)]
        after = plus(work, held[each])
        values = {
            "process": names[each],
            "passed": tuple(passed),
            "want": listed(wants[each]),
            "work": listed(work),
            "held": listed(held[each]),
            "after": listed(after),
        }
        key = f"{kind}_finishes_first" if not passed else f"{kind}_finishes"
        steps.append(Step(key, values, (names[each], work, wants[each], held[each], after), f"{kind}_finish"))
        work = after
        done.add(each)
    return steps


COLUMNS = ("finishing", "work_before", "still_wanted", "given_back", "work_after")


def _solve_banker(given: Banker, chosen: Sequence[str] = ()) -> Solution:
    names, free, needs = given.named(), given.free(), given.needs()
    onward = given.order_of_search == "onward"
    order = finish_order(free, given.allocation, needs, onward, _numbers(names, chosen))
    opening = []
    if not given.available:
        opening.append(Step("banker_available", {"total": listed(given.total), "available": listed(free)}))
    if not given.need:
        told = "; ".join(f"{name} ({listed(line)})" for name, line in zip(names, needs, strict=True))
        opening.append(Step("banker_need", {"needs": told}))
    rows = finishing(names, free, given.allocation, needs, order, "banker")
    safe = len(order) == len(names)
    told_order = tuple(names[each] for each in order)
    stuck = tuple(name for name in names if name not in told_order)
    work = rows[-1].row[-1] if rows else free
    end = Step("banker_safe" if safe else "banker_unsafe", _last(told_order, stuck, cast(Vector, work)))
    count = count_orders(free, given.allocation, needs) if safe else 0
    results = {
        "safe_order": Result(told_order if safe else ()),
        "safe": Result(safe),
        "safe_orders": Result(count),
        "need": Result(needs),
        "available": Result(free),
    }
    steps = (*opening, *rows, end)
    headed = {"held": given.allocation, "maximum": given.maxima(), "need": needs}
    figure = partial(_table_figure, "banker", names, headed, free, steps)
    return Solution(steps, results, COLUMNS, figure)


def _last(order: tuple[str, ...], stuck: tuple[str, ...], work: Vector) -> dict[str, Any]:
    return {"order": order, "stuck": stuck, "work": listed(work)}


def _solve_request(given: BankerRequest, chosen: Sequence[str] = ()) -> Solution:
    names, free, needs = given.named(), given.free(), given.needs()
    who = names.index(given.process)
    values = {"process": given.process, "request": listed(given.request)}
    values |= {"need": listed(needs[who]), "available": listed(free)}
    headed = {"held": given.allocation, "maximum": given.maxima(), "need": needs}

    def decided(decision: str, reason: str, order: tuple[str, ...], *steps: Step) -> Solution:
        results = {"decision": Result(decision), "reason": Result(reason), "safe_order": Result(order)}
        return Solution(steps, results, COLUMNS, partial(_table_figure, "banker_request", names, headed, free, steps))

    if not fits(given.request, needs[who]):
        return decided("refused", "exceeds_need", (), Step("request_exceeds_need", values))
    first = Step("request_within_need", values)
    if not fits(given.request, free):
        return decided("waits", "not_enough_free", (), first, Step("request_not_available", values))
    second = Step("request_available", values)
    left = minus(free, given.request)
    held = tuple(plus(line, given.request) if each == who else line for each, line in enumerate(given.allocation))
    wants = tuple(minus(line, given.request) if each == who else line for each, line in enumerate(needs))
    third = Step("request_pretended", {**values, "left": listed(left), "then": listed(wants[who])})
    headed |= {"held": held, "need": wants}
    free = left
    order = finish_order(left, held, wants, given.order_of_search == "onward", _numbers(names, chosen))
    rows = finishing(names, left, held, wants, order, "banker")
    told_order = tuple(names[each] for each in order)
    stuck = tuple(name for name in names if name not in told_order)
    if stuck:
        end = Step("request_unsafe", {**values, "stuck": stuck})
        return decided("waits", "unsafe", (), first, second, third, *rows, end)
    end = Step("request_safe", {**values, "order": told_order})
    return decided("granted", "safe_after", told_order, first, second, third, *rows, end)


def _solve_detection(given: Detection, chosen: Sequence[str] = ()) -> Solution:
    names, free = given.named(), given.free()
    order = finish_order(free, given.allocation, given.request, chosen=_numbers(names, chosen))
    rows = finishing(names, free, given.allocation, given.request, order, "detection")
    finished = tuple(names[each] for each in order)
    stuck = [each for each in range(len(names)) if each not in order]
    empty = tuple(names[each] for each in stuck if not any(given.allocation[each]))
    counted = given.empty_handed == "counted"
    deadlocked = tuple(names[each] for each in stuck if counted or names[each] not in empty)
    opening = []
    if not given.available:
        opening.append(Step("banker_available", {"total": listed(given.total), "available": listed(free)}))
    ends = [Step("detection_deadlock" if stuck else "detection_free", {"stuck": deadlocked, "order": finished})]
    if empty:
        ends.append(Step("detection_empty_counted" if counted else "detection_empty", {"names": empty}))
    results = {
        "deadlocked": Result(deadlocked),
        "deadlock": Result(bool(deadlocked)),
        "finishing_order": Result(finished),
    }
    steps = (*opening, *rows, *ends)
    headed = {"held": given.allocation, "request": given.request}
    figure = partial(_table_figure, "deadlock_detection", names, headed, free, steps)
    return Solution(steps, results, COLUMNS, figure)


def _table_figure(
    kind: str,
    names: tuple[str, ...],
    columns: dict[str, Table],
    free: Vector,
    steps: tuple[Step, ...],
    language: Language,
) -> Figure:
    """The table of processes; a row turns green, with its number in the order, when its process finishes."""
    heads = [word("columns", "finishing", language), *(word("columns", f"table_{key}", language) for key in columns)]
    heads.append(word("columns", "work_after", language))
    cells = [[name, *(listed(table[each]) for table in columns.values())] for each, name in enumerate(names)]
    totals = [listed(cast(Vector, step.row[-1])) for step in steps if step.row]
    texts = [heads, *([*line, ""] for line in cells), *([""] * (len(heads) - 1) + [f"①  {text}"] for text in totals)]
    texts.append([""] * (len(heads) - 1) + [listed(free)])
    widths = [max(text_width(line[place]) for line in texts) + 14 for place in range(len(heads))]
    marks: list[Mark] = row(8, 8, widths, heads, tone="muted")
    first = word("columns", "table_available", language)
    marks += row(8, 8 + ROW, [sum(widths[:-1]), widths[-1]], [first, listed(free)], tone="accent")
    top = 8 + 2 * ROW
    for line in cells:
        marks += row(8, top, widths, [*line, ""])
        top += ROW
    rank = 0
    for number, step in enumerate(steps, 1):
        if step.row:
            rank += 1
            place = names.index(str(step.row[0]))
            after = f"{chr(0x245F + rank)} {listed(cast(Vector, step.row[-1]))}"
            marks += row(8, 8 + (2 + place) * ROW, widths, [*cells[place], after], tone="good", step=number)
    order = tuple(str(step.row[0]) for step in steps if step.row)
    if kind == "banker_request" and not order:
        place = names.index(str(steps[-1].values["process"]))
        wanted = f"? {steps[-1].values['request']}"
        marks += row(8, 8 + (2 + place) * ROW, widths, [*cells[place], wanted], tone="bad", step=len(steps))
    stuck = [name for name in names if name not in order]
    if order or kind != "banker_request":
        for name in stuck:
            place = names.index(name)
            marks += row(8, 8 + (2 + place) * ROW, widths, [*cells[place], "✗"], tone="bad", step=len(steps))
    title = word("kinds", kind, language)
    told = {"order": ", ".join(order) or "–", "stuck": ", ".join(stuck) or "–"}
    description = word("figures", "finish_table", language, **told)
    return Figure(sum(widths) + 16, top + 8, tuple(marks), title, description, len(steps))


# Exercises


def _state(random: Random, processes: int, types: int, top: int) -> tuple[Table, Table, Vector]:
    """Allocation, Max and Available of a random state."""
    held = tuple(tuple(random.randint(0, top - 1) for _ in range(types)) for _ in range(processes))
    most = tuple(tuple(random.randint(max(1, have), top + 1) for have in line) for line in held)
    return held, most, tuple(random.randint(0, top) for _ in range(types))


SIZES: dict[Level, tuple[int, int, int]] = {"easy": (3, 1, 5), "medium": (4, 2, 4), "hard": (5, 3, 4)}


def _good_banker(random: Random, level: Level, safe: bool) -> Banker:
    """A state in which the first process cannot go first and the orders are few."""
    processes, types, top = SIZES[level]
    while True:
        held, most, free = _state(random, processes, types, top)
        order = finish_order(free, held, tuple(map(minus, most, held)))
        need = tuple(map(minus, most, held))
        if not all(map(any, need)) or not all(map(any, held)) or (safe and order[:1] == [0]):
            continue
        if safe and len(order) == processes and count_orders(free, held, need) <= {3: 1, 4: 3, 5: 12}[processes]:
            return Banker(allocation=held, maximum=most, available=free)
        if not safe and 2 <= len(order) < processes:
            return Banker(allocation=held, maximum=most, available=free)


def _generate_banker(random: Random, level: Level) -> Banker:
    # A hard one may be unsafe after two processes have finished; it then asks whether the state is safe.
    unsafe = level == "hard" and random.random() < 0.3
    state = _good_banker(random, level, not unsafe)
    return state.model_copy(update={"ask": "safe"}) if unsafe else state


def _generate_request(random: Random, level: Level) -> BankerRequest:
    wanted = {"easy": ("granted", "waits", "refused"), "medium": ("granted", "waits"), "hard": ("granted", "unsafe")}
    outcome = random.choice(wanted[level])
    while True:
        state = _good_banker(random, level, True)
        needs = state.needs()
        for _ in range(30):
            who = random.randrange(len(needs))
            bound = needs[who] if outcome != "refused" else state.maximum[who]
            within = bound if outcome in ("waits", "refused") else tuple(map(min, bound, state.available))
            request = tuple(random.randint(0, most) for most in within)
            asked = BankerRequest(**state.model_dump(exclude={"ask"}), process=f"P{who}", request=request)
            results = _solve_request(asked).results
            if any(request) and outcome in (results["decision"].value, results["reason"].value):
                return asked


def _generate_detection(random: Random, level: Level) -> Detection:
    processes, types, top = {"easy": (3, 1, 3), "medium": (4, 2, 2), "hard": (5, 3, 2)}[level]
    while True:
        held, wants, free = _state(random, processes, types, top)
        wants = tuple(tuple(max(0, n - 1) for n in line) for line in wants)
        free = tuple(min(n, 1) for n in free) if level == "easy" else (0,) * types
        order = finish_order(free, held, wants)
        deadlock = 1 <= len(order) <= processes - 2
        free_of_it = len(order) == processes and order != list(range(processes))
        interesting = deadlock or (free_of_it and level != "easy" and random.random() < 0.05)
        if interesting and all(map(any, held)) and sum(map(any, wants)) >= processes - 1:
            return Detection(allocation=held, request=wants, available=free)


# Wrong ways


def _wrong_order(given: Banker, free: Vector, held: Table, wants: Table) -> Value | None:
    """The order, or the verdict, that this way leads to, unless it is right after all."""
    names, right = given.named(), _solve_banker(given).results
    found = finish_order(free, held, wants)
    order = tuple(names[each] for each in found) if len(found) == len(names) else ()
    if given.ask == "safe":
        return None if bool(order) == right["safe"].value else bool(order)
    if given.ask != "safe_order" or (order and is_safe_order(given, order)):
        return None
    return None if order == right["safe_order"].value else order


def _by_number(given: Banker) -> Value | None:
    names = given.named()
    return None if given.ask != "safe_order" or is_safe_order(given, names) else names


def _smallest_first(given: Banker) -> Value | None:
    if given.ask != "safe_order":
        return None
    names, needs = given.named(), given.needs()
    order = tuple(names[each] for each in sorted(range(len(names)), key=lambda each: sum(needs[each])))
    return None if is_safe_order(given, order) else order


def _held_most_first(given: Banker) -> Value | None:
    if given.ask != "safe_order":
        return None
    names = given.named()
    order = tuple(names[each] for each in sorted(range(len(names)), key=lambda each: -sum(given.allocation[each])))
    return None if is_safe_order(given, order) else order


def _one_can_finish(given: Banker) -> Value | None:
    possible = any(fits(need, given.free()) for need in given.needs())
    return possible if given.ask == "safe" and possible != _solve_banker(given).results["safe"].value else None


def _nothing(held: Table) -> Table:
    return tuple((0,) * len(line) for line in held)


BANKER_MISTAKES: tuple[Mistake[Banker], ...] = (
    Mistake("max_for_need", lambda p: _wrong_order(p, p.free(), p.allocation, p.maxima())),
    Mistake("nothing_given_back", lambda p: _wrong_order(p, p.free(), _nothing(p.allocation), p.needs())),
    Mistake("by_number", _by_number),
    Mistake("smallest_need_first", _smallest_first),
    Mistake("most_held_first", _held_most_first),
    Mistake("one_can_finish", _one_can_finish),
)


def _decision(given: BankerRequest, wrong: Value) -> Value | None:
    right = _solve_request(given).results["decision"].value
    return wrong if given.ask == "decision" and wrong != right else None


def _who(given: BankerRequest) -> int:
    return given.named().index(given.process)


REQUEST_MISTAKES: tuple[Mistake[BankerRequest], ...] = (
    Mistake("only_available", lambda p: _decision(p, "granted" if fits(p.request, p.free()) else "waits")),
    Mistake("against_max", lambda p: _decision(p, "granted" if fits(p.request, p.maxima()[_who(p)]) else "refused")),
    Mistake(
        "unsafe_is_refused",
        lambda p: _decision(p, "refused" if _solve_request(p).results["decision"].value == "waits" else "waits"),
    ),
)


def _deadlocked(given: Detection, wrong: Sequence[int]) -> Value | None:
    names = given.named()
    value = tuple(names[each] for each in wrong)
    return value if given.ask == "deadlocked" and value != _solve_detection(given).results["deadlocked"].value else None


def _stuck(free: Vector, held: Table, wants: Table) -> list[int]:
    order = finish_order(free, held, wants)
    return [each for each in range(len(held)) if each not in order]


DETECTION_MISTAKES: tuple[Mistake[Detection], ...] = (
    Mistake(
        "no_reduction",
        lambda p: _deadlocked(p, [n for n, want in enumerate(p.request) if not fits(want, p.free())]),
    ),
    Mistake(
        "request_plus_held",
        lambda p: _deadlocked(p, _stuck(p.free(), p.allocation, tuple(map(plus, p.request, p.allocation)))),
    ),
    Mistake("waiting_is_deadlocked", lambda p: _deadlocked(p, [n for n, w in enumerate(p.request) if any(w)])),
    Mistake("everybody", lambda p: _deadlocked(p, range(len(p.allocation)))),
)


KINDS: tuple[Kind[Any], ...] = (
    Kind("banker", "deadlock", Banker, _solve_banker, _generate_banker, BANKER_MISTAKES, "5.4.2", _solve_banker),
    Kind(
        "banker_request",
        "deadlock",
        BankerRequest,
        _solve_request,
        _generate_request,
        REQUEST_MISTAKES,
        "5.4.2",
        _solve_request,
    ),
    Kind(
        "deadlock_detection",
        "deadlock",
        Detection,
        _solve_detection,
        _generate_detection,
        DETECTION_MISTAKES,
        "5.5.1",
        _solve_detection,
    ),
)
