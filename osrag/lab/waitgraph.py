"""Resource-allocation and wait-for graphs, and how many units of a resource rule deadlock out.

Course book, sections 5.2 and 5.4. The rules for reading a graph, and its reduction, are those of Holt (Computing
Surveys 4(3), 1972); the bound on the units is the worst case of Coffman, Elphick and Shoshani (1971).
"""

import re
from collections.abc import Sequence
from functools import partial
from math import cos, pi, sin
from random import Random
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, ValidationInfo, field_validator

from osrag.lab.deadlock import COLUMNS, PROCESSES, Vector, finish_order, finishing, listed
from osrag.lab.fields import Numbers, Words, absent, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import ROW, Box, Dot, Figure, Label, Mark, Path, Tone, text_width
from osrag.lab.words import word
from osrag.types import Language

EDGES = 100


def _edges(value: Any) -> Any:
    """Words of edges, whatever arrow and spaces stand between them."""
    if not isinstance(value, str):
        return value
    tight = re.sub(r"\s*(?:-+>|→|=>|⟶)\s*", "->", value.strip())
    return tuple(part for part in re.split(r"[\s,，、;；]+", tight) if part)


def _units(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(part for part in re.split(r"[\s,，、;；]+", re.sub(r"\s*[=:：]\s*", "=", value.strip())) if part)


class ResourceGraph(Parameters):
    """Edges P->R (request) and R->P (assignment), or T1->T2 of a wait-for graph."""

    edges: Annotated[tuple[str, ...], BeforeValidator(_edges)] = given(min_length=1, max_length=EDGES)
    processes: Words = given((), validate_default=True)
    units: Annotated[tuple[str, ...], BeforeValidator(_units)] = given((), validate_default=True)
    members: Literal["on_cycle", "blocked_for_ever"] = rule("on_cycle")
    ask: Literal["deadlock", "cycle", "deadlocked", "cycle_nodes"] = "deadlock"

    @field_validator("edges")
    @classmethod
    def _edges_join_two(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for edge in value:
            if not re.fullmatch(r"[^\s>-][^\s>]{0,19}->[^\s>-][^\s>]{0,19}", edge) or edge.count("->") != 1:
                raise fault("not_an_edge", seen=edge[:40])
            if len(set(edge.split("->"))) < 2:
                raise fault("edge_to_itself", seen=edge)
        return value

    @field_validator("processes")
    @classmethod
    def _edges_go_between(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        pairs = [edge.split("->") for edge in info.data.get("edges", ())]
        direct = [is_process(a, value) and is_process(b, value) for a, b in pairs]
        for (a, b), both in zip(pairs, direct, strict=True):
            if not is_process(a, value) and not is_process(b, value):
                raise fault("edge_between_resources", seen=f"{a}->{b}")
            if both and not all(direct):
                raise fault("two_sorts_of_graph", seen=f"{a}->{b}")
        if len({node for pair in pairs for node in pair}) > 2 * PROCESSES:
            raise fault("nodes_limit", most=2 * PROCESSES)
        return value

    @field_validator("units")
    @classmethod
    def _units_cover(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for part in value:
            if not re.fullmatch(r"[^=]+=[1-9]\d{0,2}", part):
                raise fault("not_a_unit_count", seen=part[:30])
        known = dict(part.split("=") for part in value)
        if "processes" not in info.data:
            return value
        pairs = [edge.split("->") for edge in info.data.get("edges", ())]
        processes = info.data["processes"]
        nodes = {node for pair in pairs for node in pair if not is_process(node, processes)}
        for resource in nodes | known.keys():
            taken = sum(1 for a, _ in pairs if a == resource)
            if resource not in nodes:
                raise fault("no_such_resource", seen=resource)
            if taken > int(known.get(resource, 1)):
                raise fault("assigned_too_often", resource=resource, taken=taken, units=known.get(resource, 1))
        return value

    def pairs(self) -> list[tuple[str, str]]:
        """The edges as pairs."""
        return [cast(tuple[str, str], tuple(edge.split("->"))) for edge in self.edges]

    def of(self, resource: str) -> int:
        """Units of a resource; 1 where nothing is said."""
        return int(dict(part.split("=") for part in self.units).get(resource, 1))


def is_process(node: str, processes: Sequence[str] = ()) -> bool:
    """Whether a node is a process or thread: named so, or with a P or T before its number."""
    return node in processes if processes else bool(re.fullmatch(r"[PpTt]\d+", node))


def first_cycle(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The nodes of a shortest cycle through the first node, in the order of their names, that lies on one; or ()."""
    after: dict[str, list[str]] = {}
    for a, b in pairs:
        after.setdefault(a, []).append(b)
    for start in sorted(after):
        came: dict[str, str] = {}
        frontier = [start]
        while frontier and start not in came:
            reached = list[str]()
            for node in frontier:
                for following in sorted(after.get(node, [])):
                    if following not in came:
                        came[following] = node
                        reached.append(following)
            frontier = reached
        if start in came:
            path = [came[start]]
            while path[-1] != start:
                path.append(came[path[-1]])
            return tuple(reversed(path))
    return ()


def reachable(pairs: Sequence[tuple[str, str]], start: str) -> set[str]:
    """The nodes that a path of at least one edge leads to."""
    seen, frontier = set[str](), [start]
    while frontier:
        node = frontier.pop()
        new = {b for a, b in pairs if a == node} - seen
        seen |= new
        frontier += new
    return seen


def _natural(name: str) -> tuple[str, int]:
    match = re.search(r"\d+", name)
    return (re.sub(r"\d+", "", name), int(match[0]) if match else 0)


def _solve_graph(given: ResourceGraph) -> Solution:
    pairs = given.pairs()
    nodes = sorted({node for pair in pairs for node in pair}, key=_natural)
    names = [node for node in nodes if is_process(node, given.processes)]
    resources = [node for node in nodes if node not in names]
    cycle = first_cycle(pairs)
    ring = " → ".join([*cycle, cycle[0]]) if cycle else ""
    on_cycle = tuple(name for name in names if name in reachable(pairs, name))
    single = all(given.of(resource) == 1 for resource in resources)
    steps: list[Step] = []
    columns: tuple[str, ...]
    if not resources:
        columns = ("waiting", "waits_for")
        steps += [Step("graph_waits", {"process": a, "holder": b}, (a, b), "graph_edge") for a, b in pairs]
    elif single:
        columns = ("waiting", "resource", "waits_for")
        for a, resource in pairs:
            for holder in [b for other, b in pairs if other == resource and a in names and a != b]:
                values = {"process": a, "resource": resource, "holder": holder}
                steps.append(Step("graph_waits_resource", values, (a, resource, holder), "graph_edge"))
    else:
        columns = COLUMNS
    steps.append(Step("graph_cycle" if cycle else "graph_no_cycle", {"ring": ring}))
    if single or not cycle:
        stuck = on_cycle
        if cycle and given.members == "blocked_for_ever":
            stuck = tuple(name for name in names if name in on_cycle or reachable(pairs, name) & set(on_cycle))
        key = ("graph_single" if resources else "graph_wait_for") if cycle else "graph_no_deadlock"
        steps.append(Step(key, {"stuck": stuck}))
    else:
        held = tuple(tuple(pairs.count((kind, name)) for kind in resources) for name in names)
        wants = tuple(tuple(pairs.count((name, kind)) for kind in resources) for name in names)
        free = tuple(given.of(kind) - sum(1 for a, _ in pairs if a == kind) for kind in resources)
        order = finish_order(free, held, wants)
        steps.append(Step("graph_several", {"kinds": tuple(resources), "free": listed(free)}))
        steps += finishing(tuple(names), free, held, wants, order, "detection")
        left = [each for each in range(len(names)) if each not in order]
        stuck = tuple(names[each] for each in left if given.members == "blocked_for_ever" or any(held[each]))
        steps.append(Step("graph_deadlock" if stuck else "graph_reduced", {"stuck": stuck}))
    results = {
        "deadlock": Result(bool(stuck)),
        "cycle": Result(bool(cycle)),
        "deadlocked": Result(stuck),
        "cycle_nodes": Result(cycle),
    }
    return Solution(tuple(steps), results, columns, partial(_graph_figure, given, cycle, stuck, tuple(steps)))


def _graph_figure(
    given: ResourceGraph, cycle: tuple[str, ...], stuck: tuple[str, ...], steps: tuple[Step, ...], language: Language
) -> Figure:
    """Processes as circles and resources as boxes with a dot for each unit, in two columns; a cycle in red."""
    pairs = given.pairs()
    nodes = sorted({node for pair in pairs for node in pair}, key=_natural)
    ordered = [*cycle, *(node for node in nodes if node not in cycle)]
    radius = max(90.0, len(nodes) * 17.0)
    longest = max(text_width(node) for node in nodes)
    disc = max(20.0, longest / 2 + 6)
    center = (radius + disc + 16, radius + disc + 16)
    at = {}
    for number, node in enumerate(ordered):
        angle = -pi / 2 + 2 * pi * number / len(ordered)
        at[node] = (center[0] + radius * cos(angle), center[1] + radius * sin(angle))
    ring = set(zip(cycle, (*cycle[1:], *cycle[:1]), strict=True)) if cycle else set()
    shown = next((number for number, step in enumerate(steps, 1) if step.key == "graph_cycle"), 0)
    marks: list[Mark] = []
    for number, (a, b) in enumerate(pairs):
        copies = [place for place, pair in enumerate(pairs) if pair == (a, b) or pair == (b, a)]
        shift = (copies.index(number) - (len(copies) - 1) / 2) * 12
        line = _between(at[a], at[b], disc, shift)
        marks.append(Path(line, arrow=True))
        if (a, b) in ring:
            marks.append(Path(line, arrow=True, tone="bad", step=shown))
    for node in nodes:
        x, y = at[node]
        process = is_process(node, given.processes)
        tones: list[tuple[Tone, int]] = [("a" if process else "plain", 0)]
        if node in stuck:
            tones.append(("bad", len(steps)))
        for tone, step in tones:
            if process:
                marks.append(Dot(x, y, disc, node, tone, step))
            else:
                units = given.of(node)
                dots = "•" * units if units <= 4 else f"•×{units}"
                marks += [Box(x - disc, y - disc, 2 * disc, 2 * disc, "", tone, step)]
                marks += [Label(x, y - 1, node, "middle", step=step), Label(x, y + 13, dots, "middle", step=step)]
    kind = "resource_graph"
    edges, ringed = ", ".join(f"{a}→{b}" for a, b in pairs), " → ".join([*cycle, *cycle[:1]]) or "–"
    description = word("figures", "graph", language, edges=edges, ring=ringed, stuck=", ".join(stuck) or "–")
    size = 2 * center[0]
    return Figure(size, size, tuple(marks), word("kinds", kind, language), description, len(steps))


def _between(
    start: tuple[float, float], end: tuple[float, float], disc: float, shift: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The line between two nodes' rims, moved sideways where several edges run side by side."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max((dx * dx + dy * dy) ** 0.5, 1e-9)
    ux, uy = dx / length, dy / length
    # Side by side means the same side for both directions: the normal of the sorted pair.
    side = 1 if (start < end) else -1
    ox, oy = -uy * shift * side, ux * shift * side
    rim = disc + 3
    return (
        (start[0] + ux * rim + ox, start[1] + uy * rim + oy),
        (end[0] - ux * rim + ox, end[1] - uy * rim + oy),
    )


# How many units are enough


OF_PROCESSES = ("most_processes", "fewest_processes")  # the figures that count processes


class MinimumUnits(Parameters):
    """Processes that share units of one type and take them one at a time."""

    ask: Literal["fewest_units", "most_processes", "fewest_processes", "most_each", "never_deadlocks"] = "fewest_units"
    processes: int | None = given(None, ge=1, le=10_000, validate_default=True)
    each: Numbers = given((), max_length=PROCESSES, validate_default=True)
    units: int | None = given(None, ge=1, le=1_000_000, validate_default=True)

    @field_validator("processes")
    @classmethod
    def _processes_where_needed(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is None and info.data.get("ask") == "most_each":
            raise absent("processes")
        return value

    @field_validator("each")
    @classmethod
    def _each_where_needed(cls, value: Vector, info: ValidationInfo) -> Vector:
        ask, count = info.data.get("ask"), info.data.get("processes")
        if not value and ask != "most_each":
            raise absent("each")
        if any(not 1 <= number <= 10_000 for number in value):
            raise fault("each_limit", most=10_000)
        if len(value) > 1 and count is not None and count != len(value):
            raise fault("one_for_each", count=count, given=len(value))
        if len(value) > 1 and ask in OF_PROCESSES:
            raise fault("one_need_only")
        if value == (1,) and ask in OF_PROCESSES:
            raise fault("any_number_of_processes")
        if len(value) == 1 and count is None and ask in ("fewest_units", "never_deadlocks"):
            raise absent("processes")
        return value

    @field_validator("units")
    @classmethod
    def _units_where_needed(cls, value: int | None, info: ValidationInfo) -> int | None:
        ask, each = info.data.get("ask"), info.data.get("each", ())
        if value is None and ask != "fewest_units":
            raise absent("units")
        if value is not None and ask in (*OF_PROCESSES, "never_deadlocks") and each and max(each) > value:
            raise fault("needs_more_than_all", each=max(each), units=value)
        return value


def _needs_of(given: MinimumUnits) -> Vector:
    return given.each * (given.processes or 1) if len(given.each) == 1 else given.each


def _solve_units(given: MinimumUnits) -> Solution:
    if given.ask in OF_PROCESSES:
        units, each = given.units or 1, given.each[0]
        count = (units - 1) // (each - 1)
        needs: Vector = (each,) * min(count, 100)
        held, total = count * (each - 1), units
        steps = [
            Step("units_worst", {"count": count, "least": each - 1, "held": held}, (count, each, held), "units_worst"),
            Step("units_processes", {"count": count, "held": held, "units": units, "more": (count + 1) * (each - 1)}),
        ]
        results = {
            "most_processes": Result(count),
            "fewest_processes": Result(count + 1),
            "fewest_units": Result(held + 1),
        }
    elif given.ask == "most_each":
        units, count = given.units or 1, given.processes or 1
        most = (units - 1) // count + 1
        needs, held, total = (most,) * min(count, 100), count * (most - 1), units
        steps = [
            Step("units_worst", {"count": count, "least": most - 1, "held": held}, (count, most, held), "units_worst"),
            Step("units_each", {"most": most, "held": held, "units": units, "more": count * most}),
        ]
        results = {"most_each": Result(most), "fewest_units": Result(held + 1)}
    else:
        needs = _needs_of(given)
        held = sum(needs) - len(needs)
        total = held + 1 if given.units is None else given.units
        values = {"count": len(needs), "held": held, "sum": sum(needs), "least": needs[0] - 1, "fewest": held + 1}
        alike = len(set(needs)) == 1
        worst = "units_worst" if alike else "units_worst_each"
        told: Any = needs[0] if alike else needs
        steps = [
            Step(worst, values, (len(needs), told, held), "units_worst"),
            Step("units_enough", values),
        ]
        if given.units is not None:
            key = "units_never" if given.units > held else "units_may"
            steps.append(Step(key, {"units": given.units, **values}))
        results = {"fewest_units": Result(held + 1)}
        if given.units is not None:
            results["never_deadlocks"] = Result(given.units > held)
    columns = ("count_of_processes", "each_needs", "held_at_worst")
    return Solution(tuple(steps), results, columns, partial(_units_figure, needs, total, len(steps)))


def _units_figure(needs: Vector, units: int, steps: int, language: Language) -> Figure:
    """A row for each process: the units it holds at the worst moment, and the one that it still waits for."""
    shown = needs[:PROCESSES]
    most = max(shown, default=1)
    cut = 8  # cells of a row; what is more is told
    names = [f"P{number}" for number in range(len(shown))]
    name_width = max((text_width(name) for name in names), default=0) + 18
    marks: list[Mark] = []
    for place, (name, need) in enumerate(zip(names, shown, strict=True)):
        y = 8 + place * (ROW + 4)
        marks.append(Label(8, y + 19, name))
        if need <= cut:
            marks += [Box(8 + name_width + cell * 32, y, ROW, ROW, "", "a", 1) for cell in range(need - 1)]
            marks.append(Box(8 + name_width + (need - 1) * 32, y, ROW, ROW, "?", "bad", 1))
        else:
            marks.append(Box(8 + name_width, y, 6 * 32, ROW, f"{need - 1}", "a", 1))
            marks.append(Box(8 + name_width + 6 * 32 + 4, y, ROW, ROW, "?", "bad", 1))
    y = 8 + len(shown) * (ROW + 4)
    held = sum(needs) - len(needs)
    if len(shown) < len(needs):
        marks.append(Label(8, y + 16, "…"))
        y += ROW
    legend = [("a", "units_held"), ("bad", "units_waited"), ("b", "units_left")]
    for tone, key in legend:
        step = 1 if tone != "b" else 2
        marks.append(Box(8, y + 6, 16, 16, "", cast(Tone, tone), step))
        marks.append(Label(30, y + 19, word("figures", key, language), step=step))
        y += 24
    if units > held:
        marks.append(Box(8 + name_width + min(most, cut) * 32 + 12, 8, ROW, ROW, "+1", "b", 2))
    told = max(text_width(word("figures", key, language)) for _, key in legend)
    wide = max(8 + name_width + min(most, cut) * 32 + 52, 46 + told)
    description = word("figures", "units", language, count=len(needs), held=held, units=units)
    return Figure(wide, y + 10, tuple(marks), word("kinds", "minimum_units", language), description, steps)


# Exercises


def _generate_graph(random: Random, level: Level) -> ResourceGraph:
    count = {"easy": 3, "medium": 4, "hard": 5}[level]
    names, kinds = [f"P{n}" for n in range(1, count + 1)], [f"R{n}" for n in range(1, count + (level != "easy"))]
    while True:
        units = {kind: 1 if level == "easy" else random.choice((1, 1, 2)) for kind in kinds}
        edges = list[str]()
        for kind in kinds:
            edges += [f"{kind}->{name}" for name in random.sample(names, units[kind])]
        for name in random.sample(names, count - (level != "easy")):
            kind = random.choice(kinds)
            if f"{kind}->{name}" not in edges:
                edges.append(f"{name}->{kind}")
        several = tuple(f"{kind}={number}" for kind, number in units.items() if number > 1)
        graph = ResourceGraph(edges=tuple(edges), units=several, ask="deadlocked" if level == "easy" else "deadlock")
        results = _solve_graph(graph).results
        if results["cycle"].value and (level == "easy" or several):
            if level == "hard" and results["deadlock"].value and random.random() < 0.7:
                continue
            return graph


def _generate_units(random: Random, level: Level) -> MinimumUnits:
    count, each = random.randint(3, 6), random.randint(2, 5)
    if level == "easy":
        return MinimumUnits(processes=count, each=(each,))
    if level == "medium":
        each = random.randint(3, 5)
        return MinimumUnits(ask="most_processes", each=(each,), units=(each - 1) * random.randint(3, 6))
    needs = [random.randint(2, 6) for _ in range(random.randint(3, 5))]
    if len(set(needs)) == 1:
        needs[0] += 1
    return MinimumUnits(processes=len(needs), each=tuple(needs))


# Wrong ways


def _graph_wrong(given: ResourceGraph, ask: str, value: Value) -> Value | None:
    return value if given.ask == ask and _solve_graph(given).results[ask].value != value else None


def _blocked(given: ResourceGraph) -> tuple[str, ...]:
    pairs = given.pairs()
    return tuple(sorted({a for a, _ in pairs if is_process(a, given.processes)}, key=_natural))


GRAPH_MISTAKES: tuple[Mistake[ResourceGraph], ...] = (
    Mistake("cycle_is_deadlock", lambda p: _graph_wrong(p, "deadlock", _solve_graph(p).results["cycle"].value)),
    Mistake("several_never", lambda p: _graph_wrong(p, "deadlock", not p.units)),
    Mistake("all_who_wait", lambda p: _graph_wrong(p, "deadlocked", _blocked(p))),
    Mistake("resources_counted", lambda p: _graph_wrong(p, "deadlocked", _solve_graph(p).results["cycle_nodes"].value)),
)


def _units_wrong(given: MinimumUnits, ask: str, value: int) -> Value | None:
    if given.ask != ask or value <= 0:
        return None
    return value if value != _solve_units(given).results[ask].value else None


def _fewest(given: MinimumUnits, add: int) -> Value | None:
    return _units_wrong(given, "fewest_units", sum(_needs_of(given)) + add)


def _processes(given: MinimumUnits, less: int) -> Value | None:
    if given.ask not in OF_PROCESSES:
        return None
    most = (given.units or 1) // (given.each[0] - less)
    return _units_wrong(given, given.ask, most + (given.ask == "fewest_processes"))


UNITS_MISTAKES: tuple[Mistake[MinimumUnits], ...] = (
    Mistake("all_at_once", lambda p: _fewest(p, 0)),
    Mistake("one_less_each", lambda p: _fewest(p, -len(_needs_of(p)))),
    Mistake("one_more_each", lambda p: _fewest(p, 1)),
    Mistake("one_fewer_in_all", lambda p: _fewest(p, -1)),
    Mistake("whole_needs", lambda p: _processes(p, 0)),
    Mistake("none_left", lambda p: _processes(p, 1)),
)

KINDS: tuple[Kind[Any], ...] = (
    Kind("resource_graph", "deadlock", ResourceGraph, _solve_graph, _generate_graph, GRAPH_MISTAKES, "5.2.2"),
    Kind("minimum_units", "deadlock", MinimumUnits, _solve_units, _generate_units, UNITS_MISTAKES, "5.4"),
)
