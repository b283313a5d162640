"""Counting the processes of a C fragment with fork by running the whole tree of processes.

Course book, section 2.3; POSIX.1-2017, fork() and wait(). A small part of C is read by a parser of its own and never
compiled. A child is its parent run again from the beginning with the same results of fork up to its birth, where it
gets 0; so no process has to be copied. Outputs are all orders that program order, birth and wait allow.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from random import Random
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from osrag.lab.fields import absent, fault
from osrag.lab.kind import Kind, Level, Mistake, Parameters, Result, Solution, Step, Value, given, rule
from osrag.lab.svg import Dot, Figure, Label, Mark, Path
from osrag.lab.words import word
from osrag.types import Language

TEXT, PROCESSES, STEPS = 2000, 1024, 200_000  # characters; processes; expressions and statements evaluated in all
ORDERS, SHOWN = 20_000, 48  # states of the search for outputs; processes told one by one and drawn
FIRST_PID = 1000
TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/|#[^\n]*"
    r"|(?P<token>[A-Za-z_]\w*|\d+|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'"
    r"|\+\+|--|&&|\|\||[=!<>]=|[+\-*/%]=|[-+*/%<>=!(){};,&])",
    re.DOTALL,
)
TYPES = {"int", "pid_t", "void", "char", "long", "unsigned", "const", "static"}
ESCAPES = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\", '"': '"', "'": "'"}
Node = tuple[Any, ...]
Buffering = Literal["line", "none", "full"]


class _Parser:
    """Recursive descent over the tokens; a node is its kind and its parts."""

    LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))

    def __init__(self, text: str) -> None:
        self.tokens, self.at, self.forks, self.depth = list[str](), 0, 0, 0
        place = 0
        text = text.translate(str.maketrans("（）；，“”", '();,""'))
        while place < len(text):
            match = TOKEN.match(text, place)
            if match is None:
                raise fault("not_c", seen=text[place : place + 15])
            if match["token"]:
                self.tokens.append(match["token"])
            place = match.end()

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token, before = self.peek(), " ".join(self.tokens[: self.at][-4:])
        if not token:
            raise fault("c_lacks" if expected else "c_ends", expected=expected, after=before)
        if expected and token != expected:
            raise fault("c_expected", expected=expected, seen=token, after=before)
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def program(self) -> Node:
        found = list[Node]()
        while self.peek():
            found.append(self.statement())
        return ("block", found)

    def statement(self) -> Node:
        self.depth += 1
        if self.depth > 40:
            raise fault("c_too_deep")
        try:
            return self._statement()
        finally:
            self.depth -= 1

    def _statement(self) -> Node:
        token = self.peek()
        if self.accept("{"):
            found = list[Node]()
            while not self.accept("}"):
                found.append(self.statement())
            return ("block", found)
        if self.accept(";"):
            return ("block", [])
        if self.accept("if"):
            self.take("(")
            test = self.expression()
            self.take(")")
            then = self.statement()
            return ("if", test, then, self.statement() if self.accept("else") else ("block", []))
        if self.accept("while"):
            self.take("(")
            test = self.expression()
            self.take(")")
            return ("for", ("block", []), test, None, self.statement())
        if self.accept("for"):
            self.take("(")
            start = self.simple()
            self.take(";")
            test = ("number", 1) if self.peek() == ";" else self.expression()
            self.take(";")
            after = None if self.peek() == ")" else self.expression()
            self.take(")")
            return ("for", start, test, after, self.statement())
        if token in ("break", "continue"):
            self.take()
            self.take(";")
            return (token,)
        if self.accept("return"):
            if self.peek() != ";":
                self.expression()
            self.take(";")
            return ("return",)
        found = [self.simple()]
        if found == [("main",)]:
            return self.statement()
        self.take(";")
        return found[0]

    def simple(self) -> Node:
        """A declaration or expressions with commas, without the semicolon; or the head of main."""
        if self.peek() == ";":
            return ("block", [])
        typed = False
        while self.peek() in TYPES:
            self.take()
            typed = True
        found = list[Node]()
        while True:
            if typed and self.peek() == "*":
                raise fault("c_pointer")
            if self.peek() == "main":
                while self.take() != ")":
                    pass
                return ("main",)
            if typed and re.fullmatch(r"[A-Za-z_]\w*", self.peek()) and self.tokens[self.at + 1 : self.at + 2] != ["="]:
                found.append(("assign", self.take(), "=", ("number", 0)))
            else:
                found.append(self.expression())
            if not self.accept(","):
                return ("block", found)

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > 60:
            raise fault("c_too_deep")
        try:
            following = self.tokens[self.at + 1 : self.at + 2]
            if following and following[0] in ("=", "+=", "-=", "*=", "/=", "%=") and self.peek().isidentifier():
                name, sign = self.take(), self.take()
                return ("assign", name, sign, self.expression())
            return self.binary(0)
        finally:
            self.depth -= 1

    def binary(self, level: int) -> Node:
        if level == len(self.LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in self.LEVELS[level]:
            sign = self.take()
            left = ("binary", sign, left, self.binary(level + 1))
        return left

    def unary(self) -> Node:
        if self.peek() in ("!", "-", "+", "&"):
            return ("unary", self.take(), self.unary())
        if self.peek() in ("++", "--"):
            sign = self.take()
            return ("assign", self.name(), sign[0] + "=", ("number", 1))
        return self.postfix()

    def name(self) -> str:
        name = self.take()
        if not name.isidentifier():
            raise fault("c_unexpected", seen=name, after="++")
        return name

    def postfix(self) -> Node:
        token = self.take()
        if token == "(":
            if self.peek() in TYPES:  # a cast
                while self.take() != ")":
                    pass
                return self.unary()
            inside = self.expression()
            self.take(")")
            return inside
        if token.isdigit():
            return ("number", int(token))
        if token[0] in "\"'":
            text = re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), token[1:-1])
            return ("text", text) if token[0] == '"' else ("number", ord(text))
        if not token.isidentifier():
            raise fault("c_unexpected", seen=token, after=" ".join(self.tokens[: self.at - 1][-4:]))
        if self.accept("("):
            arguments = list[Node]()
            while not self.accept(")"):
                arguments.append(self.expression())
                if self.peek() != ")":
                    self.take(",")
            if token == "fork":
                self.forks += 1
                return ("call", "fork", [("number", self.forks)])
            if token not in CALLS:
                raise fault("c_unknown_call", name=token)
            return ("call", token, arguments)
        if self.peek() in ("++", "--"):
            return ("postfix", token, self.take()[0])
        return ("number", 0) if token in ("NULL", "stdout") else ("name", token)


CALLS = {
    "fork",
    "wait",
    "waitpid",
    "printf",
    "puts",
    "putchar",
    "exit",
    "_exit",
    "getpid",
    "getppid",
    "sleep",
    "fflush",
}


class _Stop(Exception):
    """`break`, `continue` or the end of a process."""


class _Break(_Stop):
    pass


class _Continue(_Stop):
    pass


class _Exit(_Stop):
    pass


@dataclass
class Process:
    """One process: what it does, in order."""

    number: int
    parent: int | None
    site: int  # which fork of the text made it, from 1; 0 for the first
    results: list[int]  # of its forks so far, in order; a child begins with its parent's and a 0
    events: list[tuple[str, Any]] = field(default_factory=list)  # ("write", pieces), ("fork", child), ("wait", child)
    children: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"P{self.number}"

    def written(self) -> list[str]:
        """The pieces that it writes, in order."""
        return [piece for what, pieces in self.events if what == "write" for piece in pieces]


class _Run:
    """Runs one process to its end, and notes the children it makes."""

    def __init__(self, tree: Node, process: Process, buffering: Buffering, world: "_World") -> None:
        self.tree, self.process, self.buffering, self.world = tree, process, buffering, world
        self.known, self.variables, self.buffer = len(process.results), dict[str, int](), list[str]()
        self.used, self.reaped = 0, set[int]()
        self.born_at = 0  # where in the results the forks of the process that is replayed begin

    @property
    def live(self) -> bool:
        """Past its birth, so that what it does is its own."""
        return self.used >= self.known

    def run(self) -> None:
        try:
            self.do(self.tree)
        except _Exit:
            pass
        except _Stop:
            raise fault("c_stray_break") from None
        self.flush()

    def flush(self) -> None:
        if self.buffer and self.live:
            self.process.events.append(("write", tuple(self.buffer)))
        self.buffer = []

    def write(self, text: str) -> None:
        if text:
            self.buffer.append(text)
        if self.buffering == "none" or (self.buffering == "line" and "\n" in text):
            self.flush()

    def do(self, node: Node) -> None:
        self.world.tick()
        match node:
            case ("block", parts):
                for part in parts:
                    self.do(part)
            case ("if", test, then, other):
                self.do(then if self.value(test) else other)
            case ("for", start, test, after, body):
                self.do(start)
                while self.value(test):
                    try:
                        self.do(body)
                    except _Break:
                        break
                    except _Continue:
                        pass
                    if after is not None:
                        self.value(after)
            case ("break",):
                raise _Break
            case ("continue",):
                raise _Continue
            case ("return",):
                raise _Exit
            case _:
                self.value(node)

    def value(self, node: Node) -> Any:
        self.world.tick()
        match node:
            case ("number", number):
                return number
            case ("text", text):
                return text  # only printf and puts take one
            case ("name", name):
                if name not in self.variables:
                    raise fault("c_undefined", name=name)
                return self.variables[name]
            case ("assign", name, sign, right):
                new = self.number(right)
                old = self.variables.get(name, 0)
                self.variables[name] = new if sign == "=" else _arithmetic(sign[0], old, new)
                return self.variables[name]
            case ("postfix", name, sign):
                old = self.value(("name", name))
                self.variables[name] = old + (1 if sign == "+" else -1)
                return old
            case ("unary", sign, inner):
                if sign == "&":
                    return 0  # the address of a status, for wait
                found = self.number(inner)
                return {"!": int(not found), "-": -found, "+": found}[sign]
            case ("binary", "&&", left, right):
                return int(bool(self.value(left)) and bool(self.value(right)))
            case ("binary", "||", left, right):
                return int(bool(self.value(left)) or bool(self.value(right)))
            case ("binary", sign, left, right):
                return _arithmetic(sign, self.value(left), self.value(right))
            case ("call", name, arguments):
                return self.call(name, arguments)
        raise AssertionError(node)

    def number(self, node: Node) -> int:
        """The value of a node that must not be a text."""
        found = self.value(node)
        if not isinstance(found, int):
            raise fault("c_text_in_sum")
        return found

    def call(self, name: str, arguments: list[Node]) -> int:
        if name == "fork":
            return self.fork(arguments[0][1])
        values = [self.value(argument) for argument in arguments]
        text_first = name in ("printf", "puts")
        if (not values and name in ("printf", "puts", "putchar")) or (
            values and name != "fflush" and isinstance(values[0], str) != text_first
        ):
            raise fault("c_wrong_argument", name=name)
        if name in ("wait", "waitpid"):
            return self.wait(values[0] - FIRST_PID if name == "waitpid" and values and values[0] > 0 else None)
        if name in ("exit", "_exit"):
            if name == "_exit":
                self.buffer = []
            raise _Exit
        if name == "printf" and values:
            self.write(_formatted(str(values[0]), values[1:]))
        elif name == "puts":
            self.write(f"{values[0]}\n")
        elif name == "putchar":
            self.write(chr(values[0] % 128))
        elif name == "fflush":
            self.flush()
        elif name == "getpid":
            return FIRST_PID + self.process.number
        elif name == "getppid":
            return FIRST_PID + (self.process.parent or 0)
        return 0

    def fork(self, site: int) -> int:
        process = self.process
        if not self.live:
            self.used += 1
            result = process.results[self.used - 1]
            if result == 0:  # from here on a child is replayed, which has no children yet
                self.born_at, self.reaped = self.used, set()
            return result
        child = self.world.born(process, site)
        process.events.append(("fork", child.number))
        process.children.append(child.number)
        process.results.append(FIRST_PID + child.number)
        self.used += 1
        self.known = self.used
        return FIRST_PID + child.number

    def wait(self, child: int | None) -> int:
        """The oldest child that is not fetched yet, of this process or of the ancestor that is replayed."""
        children = [result - FIRST_PID for result in self.process.results[self.born_at : self.used]]
        left = [each for each in children if each not in self.reaped and child in (None, each)]
        if not left:
            return -1
        self.reaped.add(left[0])
        if self.live:
            self.process.events.append(("wait", child))
        return FIRST_PID + left[0]


class _World:
    """All processes, in the order of their birth, generation by generation."""

    def __init__(self) -> None:
        self.processes, self.steps = [Process(0, None, 0, [])], 0

    def tick(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise fault("c_too_long", most=STEPS)

    def born(self, parent: Process, site: int) -> Process:
        if len(self.processes) >= PROCESSES:
            raise fault("too_many_processes", most=PROCESSES)
        child = Process(len(self.processes), parent.number, site, [*parent.results, 0])
        self.processes.append(child)
        return child


def _arithmetic(sign: str, left: Any, right: Any) -> int:
    if not isinstance(left, int) or not isinstance(right, int):
        raise fault("c_text_in_sum")
    if sign in "/%":
        if right == 0:
            raise fault("c_zero")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == "/" else left - right * quotient
    result = {
        "+": left + right,
        "-": left - right,
        "*": left * right,
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        ">": left > right,
        "<=": left <= right,
        ">=": left >= right,
    }[sign]
    return max(-(1 << 63), min(int(result), 1 << 63))


def _formatted(form: str, values: Sequence[Any]) -> str:
    left = iter(values)

    def put(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        value = next(left, "")
        return chr(value % 128) if match[0].endswith("c") and isinstance(value, int) else str(value)

    return re.sub(r"%%|%-?\d*l?[diuscx]", put, form)


@lru_cache(maxsize=64)
def run(program: str, buffering: Buffering) -> tuple[Process, ...]:
    """All processes of a program. Raises a fault where it is no program of this small language, or too large."""
    parser = _Parser(program)
    tree, world, number = parser.program(), _World(), 0
    while number < len(world.processes):
        _Run(tree, world.processes[number], buffering, world).run()
        number += 1
    return tuple(world.processes)


@lru_cache(maxsize=64)
def outputs(processes_of: tuple[str, Buffering]) -> tuple[str, ...] | None:
    """Every output that some order of the processes gives, sorted; None where there are too many orders."""
    processes = run(*processes_of)
    if sum(len(piece) for process in processes for piece in process.written()) > TEXT:
        return None
    # A state: how far each process is (-1: not born), whom wait has fetched, and what is written so far.
    start = tuple(0 if process.number == 0 else -1 for process in processes)
    state = (start, frozenset[int](), "")
    seen, frontier, found = {state}, [state], set[str]()
    while frontier:
        at, fetched, text = frontier.pop()
        following = list(_next(processes, at, fetched, text))
        if not following:
            found.add(text)
        for new in following:
            if new not in seen:
                if len(seen) >= ORDERS:
                    return None
                seen.add(new)
                frontier.append(new)
    return tuple(sorted(found))


def _next(
    processes: tuple[Process, ...], at: tuple[int, ...], fetched: frozenset[int], text: str
) -> Iterator[tuple[tuple[int, ...], frozenset[int], str]]:
    """What may come next. A birth shows nothing by itself, so it is taken at once, before any choice."""
    writes = list[tuple[tuple[int, ...], frozenset[int], str]]()
    for process, place in zip(processes, at, strict=True):
        if place < 0 or place >= len(process.events):
            continue
        what, value = process.events[place]
        after = [*at]
        after[process.number] += 1
        if what == "fork":
            after[value] = 0
            yield tuple(after), fetched, text
            return
        if what == "write":
            writes.append((tuple(after), fetched, text + "".join(value)))
            continue
        ended = [each for each in process.children if at[each] == len(processes[each].events) and each not in fetched]
        for each in ended if value is None else [each for each in ended if each == value]:
            writes.append((tuple(after), fetched | {each}, text))
    yield from writes


class Fork(Parameters):
    """A C fragment; `\\n` in a text ends a line."""

    ask: Literal["processes", "new_processes", "prints", "lines", "outputs", "is_possible"] = "processes"
    buffering: Buffering = rule("line")
    program: str = given(min_length=1, max_length=TEXT)
    output: str = given("", max_length=400, validate_default=True)

    @field_validator("program")
    @classmethod
    def _runs(cls, value: str, info: ValidationInfo) -> str:
        run(value, info.data.get("buffering", "line"))
        return value

    @field_validator("output")
    @classmethod
    def _orders_few(cls, value: str, info: ValidationInfo) -> str:
        ask, program = info.data.get("ask"), info.data.get("program")
        if ask == "is_possible" and not value:
            raise absent("output")
        key = (program or "", info.data.get("buffering", "line"))
        if program and ask in ("outputs", "is_possible") and outputs(key) is None:
            raise fault("too_many_orders", most=ORDERS)
        return value


def visible(text: str) -> str:
    """A text on one line: a space for each end of a line."""
    return " ".join(text.split("\n")).strip() or "–"


def _solve(given: Fork) -> Solution:
    processes = run(given.program, given.buffering)
    pieces = [piece for process in processes for piece in process.written()]
    steps = list[Step]()
    for process in processes[:SHOWN]:
        parent = None if process.parent is None else f"P{process.parent}"
        children = tuple(f"P{child}" for child in process.children)
        told = {"process": process.name, "parent": parent, "site": process.site, "children": children}
        key = "fork_first" if parent is None else "fork_child"
        written = visible("".join(process.written()))
        steps.append(Step(key, told, (process.name, parent, process.site or None, len(children)), "fork_twice"))
        if pieces:
            steps.append(Step("fork_writes", {"process": process.name, "text": written}))
    if len(processes) > SHOWN:
        steps.append(Step("fork_more", {"more": len(processes) - SHOWN}))
    lines = sum(piece.count("\n") for piece in pieces)
    steps.append(Step("fork_sum", {"count": len(processes), "new": len(processes) - 1}))
    results = {"processes": Result(len(processes)), "new_processes": Result(len(processes) - 1)}
    if pieces:
        steps.append(Step("fork_prints", {"prints": len(pieces), "lines": lines}))
    results |= {"prints": Result(len(pieces), "count"), "lines": Result(lines)}
    found = outputs((given.program, given.buffering)) if given.ask in ("outputs", "is_possible") else None
    if found is not None:
        shown = tuple(visible(text) for text in found[:20])
        steps.append(Step("fork_outputs", {"count": len(found), "outputs": shown}))
        results["outputs"] = Result(len(found))
        if given.output:
            possible = visible(given.output.replace("\\n", "\n")) in {visible(text) for text in found}
            results["is_possible"] = Result(possible)
            steps.append(Step("fork_possible" if possible else "fork_impossible", {"text": visible(given.output)}))
    columns = ("process_name", "parent_process", "which_fork", "count_of_children")
    return Solution(tuple(steps), results, columns, partial(_figure, processes, tuple(steps)))


def _figure(processes: tuple[Process, ...], steps: tuple[Step, ...], language: Language) -> Figure:
    """The tree of processes; on each edge, which fork of the text made the child."""
    drawn = processes[:SHOWN]
    place, depth = dict[int, float](), {0: 0}
    column = 0.0

    def put(number: int) -> None:
        nonlocal column
        children = [child for child in processes[number].children if child < len(drawn)]
        for child in children:
            depth[child] = depth[number] + 1
            put(child)
        if children:
            place[number] = (place[children[0]] + place[children[-1]]) / 2
        else:
            place[number] = column
            column += 1

    put(0)
    shown = {str(step.row[0]): number for number, step in enumerate(steps, 1) if step.row}
    wide, high = 46.0, 66.0
    marks: list[Mark] = []
    for process in drawn:
        x, y = 30 + place[process.number] * wide, 26 + depth[process.number] * high
        step = shown.get(process.name, 0)
        if process.parent is not None:
            px, py = 30 + place[process.parent] * wide, 26 + depth[process.parent] * high
            marks.append(Path(((px, py + 18), (x, y - 19)), arrow=True, step=step))
            dx, dy = x - px, y - py - 37
            last = process.number == processes[process.parent].children[-1] and dx >= 0
            side = (11 if last else -11) / (dx * dx + dy * dy) ** 0.5  # right of the last edge, left of the others
            spot = (px + 0.55 * dx + side * dy, py + 18 + 0.55 * dy - side * dx + 5)
            marks.append(Label(*spot, str(process.site), "middle", "muted", step))
        marks.append(Dot(x, y, 18, process.name, "accent" if process.parent is None else "a", step))
    bottom = 26 + max(depth.values()) * high + 30
    legend = word("figures", "fork_edges", language)
    marks.append(Label(8, bottom + 12, legend, tone="muted"))
    tree = "; ".join(f"{p.name}: {', '.join(f'P{c}' for c in p.children)}" for p in drawn if p.children) or "P0"
    described = word("figures", "fork", language, count=len(processes), tree=tree)
    width = max(60 + (column - 1) * wide, 16 + 8.2 * len(legend) if language == "en" else 16 + 14.2 * len(legend))
    return Figure(width, bottom + 22, tuple(marks), word("kinds", "fork", language), described, len(steps))


EASY = (
    "fork(); fork();",
    "fork(); fork(); fork();",
    "fork(); fork(); fork(); fork();",
    "for (i = 0; i < 3; i++) fork();",
    "for (i = 0; i < 4; i++) fork();",
    "for (i = 0; i < 5; i++) fork();",
    "fork(); for (i = 0; i < 2; i++) fork();",
    "for (i = 1; i <= 6; i++) if (i % 2 == 0) fork();",
)
MEDIUM = (
    "fork(); if (fork() == 0) fork(); fork();",
    "fork(); fork(); if (fork() == 0) fork();",
    "if (fork() == 0) { fork(); fork(); }",
    "for (i = 0; i < 3; i++) if (fork() == 0) break;",
    "for (i = 0; i < 4; i++) if (fork() > 0) break;",
    "if (fork() == 0) fork(); fork();",
    "fork(); if (fork() > 0) fork(); fork();",
    "fork(); fork(); if (fork() > 0) { fork(); fork(); }",
    "for (i = 0; i < 3; i++) if (fork() == 0) fork();",
    "if (fork() == 0) { fork(); fork(); } else fork();",
)
HARD = (
    "fork() && fork(); fork();",
    "fork() || fork(); fork();",
    "fork(); fork() && fork() || fork(); fork();",
    "fork() && fork() || fork();",
    "for (i = 0; i < 2; i++) { fork(); fork() && fork(); }",
    "if (fork() && fork()) fork(); else fork();",
    "fork() || fork() && fork(); fork();",
    "for (i = 0; i < 3; i++) fork() && fork();",
    "if (fork() || fork()) fork(); fork();",
    "for (i = 0; i < 3; i++) { if (fork() == 0) break; fork(); }",
)


def _generate(random: Random, level: Level) -> Fork:
    text = random.choice({"easy": EASY, "medium": MEDIUM, "hard": HARD}[level]).strip()
    if level == "easy" and random.random() < 0.5:
        return Fork(ask="new_processes", program=text)
    if level == "hard" and random.random() < 0.3:
        count = random.choice((2, 3))
        return Fork(ask="lines", program=f'for (i = 0; i < {count}; i++) {{ fork(); printf("x\\n"); }}')
    return Fork(program=text)


def _fork_calls(given: Fork) -> int:
    """How often the first process calls fork."""
    return len(run(given.program, given.buffering)[0].children)


def _wrong(given: Fork, asks: tuple[str, ...], value: int) -> Value | None:
    return value if given.ask in asks and value > 0 and value != _solve(given).results[given.ask].value else None


def _doubled(given: Fork) -> Value | None:
    """Every fork of the text taken to be run by all."""
    sites = _Parser(given.program)
    sites.program()
    return _wrong(given, ("processes",), 2 ** min(sites.forks, 20))


MISTAKES: tuple[Mistake[Fork], ...] = (
    Mistake("only_first_forks", lambda p: _wrong(p, ("processes",), _fork_calls(p) + 1)),
    Mistake("only_first_forks_new", lambda p: _wrong(p, ("new_processes",), _fork_calls(p))),
    Mistake("all_run_every_fork", _doubled),
    Mistake("first_left_out", lambda p: _wrong(p, ("processes",), len(run(p.program, p.buffering)) - 1)),
    Mistake("first_counted", lambda p: _wrong(p, ("new_processes",), len(run(p.program, p.buffering)))),
    Mistake("one_line_each", lambda p: _wrong(p, ("lines", "prints"), len(run(p.program, p.buffering)))),
    Mistake("one_level_too_many", lambda p: _wrong(p, ("processes", "lines"), 2 * len(run(p.program, p.buffering)))),
)

KINDS: tuple[Kind[Any], ...] = (Kind("fork", "processes", Fork, _solve, _generate, MISTAKES, "2.3.1"),)
