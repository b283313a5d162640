"""The paths through a function: what is taken and not given back when it returns.

Every path is followed with the number of things that are held and with what conditions said on the way, so that
`if (second != first) lock(second); … if (second != first) unlock(second);` is one path or the other. Functions of the
program are followed into their callers. What cannot be followed makes no finding.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from osrag.quiz.programs.code import Code, alike, called, text_of, walk

MOST_STATES = 300  # at one place of a function; code that has more is not followed
MOST_HELD = 4
MOST_STEPS = 50_000  # statements that are followed for one answer
_ENDS = frozenset(("exit", "_exit", "_Exit", "abort", "pthread_exit"))
_FREELY = frozenset(("free",))  # may be called for nothing


class TooMany(Exception):
    """More paths than are followed."""


@dataclass(frozen=True, slots=True)
class State:
    """What is known at a place: how many are held, which conditions hold, which variables stand for what was taken."""

    held: int = 0
    facts: frozenset[tuple[str, bool]] = frozenset()
    results: frozenset[str] = frozenset()  # variables that hold what the taking call returned


States = frozenset[State]


@dataclass(frozen=True, slots=True)
class Left:
    """A way out of a function, with what is still held there."""

    node: Any  # of the return, or the body where its end is reached
    held: int


class Paths:
    """Follows the paths of a program between calls of `open_` and of `close`."""

    def __init__(self, code: Code, open_: str, close: str) -> None:
        self._code = code
        self._open, self._close = alike(open_), alike(close)
        self._pointer = open_ in ("malloc", "fopen")  # 0 means failure, not success
        self._known: dict[str, list[Left]] = {}
        self._open_now: list[str] = []
        self.steps = 0

    def ways_out(self, name: str) -> list[Left]:
        """Every way out of a function that begins with nothing held. Raises TooMany."""
        if name in self._open_now:
            return [Left(None, 0)]
        if name not in self._known:
            self._open_now.append(name)
            flow = _Flow(self)
            body = self._code.functions[name]
            for _ in range(3):  # so that a jump backwards is followed too
                flow.left = []
                after = flow.run(body, frozenset([State()]))
                flow.left += [Left(body, state.held) for state in after]
            self._open_now.pop()
            self._known[name] = list(dict.fromkeys(flow.left))
        return self._known[name]

    def effect(self, call: Any, states: States) -> States:
        """The states after a call whose result nobody looks at."""
        name = called(call)
        if name in _ENDS:
            return frozenset()
        if name in self._open:
            return _moved(states, +1)
        if name in self._close:
            low = 0 if self._close & _FREELY else -MOST_HELD
            return frozenset(replace(state, held=max(low, state.held - 1)) for state in states)
        if name in self._code.functions:
            nets = {left.held for left in self.ways_out(name)}
            return frozenset(state for net in nets for state in _moved(states, net))
        return states

    def takes(self, call: Any) -> bool:
        """Whether this is a call that takes."""
        return called(call) in self._open

    def fails_if(self, truth: bool) -> bool:
        """Whether a result of this truth says that nothing was taken."""
        return truth != self._pointer


def _moved(states: States, by: int) -> States:
    return frozenset(replace(state, held=max(-MOST_HELD, min(MOST_HELD, state.held + by))) for state in states)


class _Flow:
    """One pass over one function."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.left: list[Left] = []
        self._breaks: list[set[State]] = []
        self._continues: list[set[State]] = []
        self._labels: dict[str, set[State]] = {}

    # -- statements

    def run(self, node: Any, states: States) -> States:
        """The states behind a statement."""
        self._paths.steps += 1
        if len(states) > MOST_STATES or self._paths.steps > MOST_STEPS:
            raise TooMany
        match node.type:
            case "compound_statement" | "else_clause" | "translation_unit":
                for child in node.named_children:
                    states = self.run(child, states)
                return states
            case "if_statement":
                return self._if(node, states)
            case "while_statement":
                return self._loop(node, states, None, node.child_by_field_name("condition"), None)
            case "do_statement":
                return self._do(node, states)
            case "for_statement":
                start = node.child_by_field_name("initializer")
                states = self.run(start, states) if start is not None else states
                return self._loop(node, states, start, node.child_by_field_name("condition"), "update")
            case "switch_statement":
                return self._switch(node, states)
            case "return_statement":
                for child in node.named_children:
                    states = self.value(child, states)
                self.left += [Left(node, state.held) for state in states]
                return frozenset()
            case "break_statement" | "continue_statement":
                where = self._breaks if node.type == "break_statement" else self._continues
                if where:
                    where[-1] |= states
                return frozenset()
            case "goto_statement":
                self._labels.setdefault(text_of(node.child_by_field_name("label")), set()).update(states)
                return frozenset()
            case "labeled_statement":
                label = text_of(node.child_by_field_name("label"))
                states = states | frozenset(self._labels.get(label, ()))
                for child in node.named_children[1:]:
                    states = self.run(child, states)
                return states
            case _:
                return self.value(node, states)

    def _if(self, node: Any, states: States) -> States:
        yes, no = self.test(node.child_by_field_name("condition"), states)
        after = self.run(node.child_by_field_name("consequence"), yes)
        other = node.child_by_field_name("alternative")
        return after | (self.run(other, no) if other is not None else no)

    def _loop(self, node: Any, states: States, start: Any, condition: Any, update: str | None) -> States:
        out: set[State] = set()
        seen: States = frozenset()
        while states - seen:
            seen |= states
            yes, no = self.test(condition, states) if condition is not None else (states, frozenset[State]())
            out |= no
            self._breaks.append(set())
            self._continues.append(set())
            after = self.run(node.child_by_field_name("body"), yes)
            out |= self._breaks.pop()
            states = after | frozenset(self._continues.pop())
            step = node.child_by_field_name(update) if update else None
            states = self.value(step, states) if step is not None else states
            if len(seen) > MOST_STATES:
                raise TooMany
        return frozenset(out)

    def _do(self, node: Any, states: States) -> States:
        out: set[State] = set()
        seen: States = frozenset()
        while states - seen:
            seen |= states
            self._breaks.append(set())
            self._continues.append(set())
            after = self.run(node.child_by_field_name("body"), states)
            out |= self._breaks.pop()
            after |= frozenset(self._continues.pop())
            states, no = self.test(node.child_by_field_name("condition"), after)
            out |= no
        return frozenset(out)

    def _switch(self, node: Any, states: States) -> States:
        states = self.value(node.child_by_field_name("condition"), states)
        self._breaks.append(set())
        now: States = frozenset()
        default = False
        for case in node.child_by_field_name("body").named_children:
            if case.type != "case_statement":
                continue
            default |= case.child_by_field_name("value") is None
            now |= states
            value = case.child_by_field_name("value")
            for child in case.named_children:
                if child != value:
                    now = self.run(child, now)
        return now | frozenset(self._breaks.pop()) | (frozenset() if default else states)

    # -- expressions

    def value(self, node: Any, states: States) -> States:
        """The states after an expression or a declaration, of which only calls and assignments matter."""
        if node.type in ("assignment_expression", "init_declarator"):
            return self._assigned(node, states)
        if node.type == "conditional_expression":
            yes, no = self.test(node.child_by_field_name("condition"), states)
            one = self.value(node.child_by_field_name("consequence") or node, yes) if yes else yes
            return one | self.value(node.child_by_field_name("alternative"), no)
        if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("&&", "||"):
            yes, no = self.test(node, states)
            return yes | no
        for child in node.named_children:
            states = self.value(child, states)
        if node.type == "call_expression":
            states = self._paths.effect(node, states)
        if node.type == "update_expression":
            states = _forgotten(states, node.child_by_field_name("argument"))
        return states

    def _assigned(self, node: Any, states: States) -> States:
        declared = node.type == "init_declarator"
        target = node.child_by_field_name("declarator" if declared else "left")
        value = node.child_by_field_name("value" if declared else "right")
        states = _forgotten(self.value(value, states), target)
        while value.type in ("cast_expression", "parenthesized_expression"):
            value = value.named_children[-1]
        if self._paths.takes(value):
            name = _name(target)
            states = frozenset(replace(state, results=state.results | {name}) for state in states)
        return states

    def test(self, node: Any, states: States) -> tuple[States, States]:
        """The states where a condition holds, and those where it does not."""
        node = _bare(node)
        if node.type == "comma_expression":
            for child in node.named_children[:-1]:
                states = self.value(child, states)
            return self.test(node.named_children[-1], states)
        if node.type == "unary_expression" and text_of(node.child_by_field_name("operator")) == "!":
            yes, no = self.test(node.child_by_field_name("argument"), states)
            return no, yes
        if node.type == "number_literal" or text_of(node) in ("true", "false", "NULL"):
            truth = text_of(node) not in ("0", "false", "NULL")
            return (states, frozenset()) if truth else (frozenset(), states)
        operator = text_of(node.child_by_field_name("operator")) if node.type == "binary_expression" else ""
        if operator in ("&&", "||"):
            yes, no = self.test(node.child_by_field_name("left"), states)
            if operator == "&&":
                both, other = self.test(node.child_by_field_name("right"), yes)
                return both, no | other
            either, none = self.test(node.child_by_field_name("right"), no)
            return yes | either, none
        if operator in ("==", "!=", "<", ">", "<=", ">="):
            return self._compared(node, operator, states)
        return self._split(node, states)

    def _compared(self, node: Any, operator: str, states: States) -> tuple[States, States]:
        """A comparison with nothing tells whether what stands before it is there; any other is a fact by its words."""
        left, right = _bare(node.child_by_field_name("left")), _bare(node.child_by_field_name("right"))
        if text_of(left) in ("0", "NULL"):
            left, right = right, left
        if text_of(right) in ("0", "NULL") and operator in ("==", "!="):
            yes, no = self._split(left, states)
            return (yes, no) if operator == "!=" else (no, yes)
        return self._split(node, states)

    def _split(self, node: Any, states: States) -> tuple[States, States]:
        """The states in which this expression is not nothing, and in which it is."""
        inner = node
        if node.type == "assignment_expression":
            states = self._assigned(node, states)
            inner = _bare(node.child_by_field_name("left"))
        elif self._paths.takes(node):  # tested at once: it holds where it did not fail
            before = states
            got = _moved(states, +1)
            return (before, got) if self._paths.fails_if(True) else (got, before)
        else:
            states = self.value(node, states)
        words = text_of(inner)
        yes, no = set[State](), set[State]()
        pure = not any(one.type == "call_expression" for one in walk(inner))
        for state in states:
            said = dict(state.facts).get(words)
            for truth, out in ((True, yes), (False, no)):
                if said is not None and said != truth:
                    continue
                one = state
                if words in state.results:
                    one = replace(one, results=one.results - {words})
                    if self._paths.fails_if(truth):
                        one = replace(one, held=max(-MOST_HELD, one.held - 1))
                if pure:
                    one = replace(one, facts=one.facts | {(words, truth)})
                out.add(one)
        return frozenset(yes), frozenset(no)


def _bare(node: Any) -> Any:
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    return node


def _name(target: Any) -> str:
    while target.type in ("pointer_declarator", "array_declarator") and target.named_children:
        target = target.named_children[0]
    return text_of(target)


def _forgotten(states: States, target: Any) -> States:
    """The states without the facts that name what is assigned."""
    words = {text_of(one) for one in walk(target) if one.type in ("identifier", "field_identifier")}
    last = _name(target).replace("->", ".").rpartition(".")[2]
    gone = {last} if last.isidentifier() else words

    def about(text: str) -> Iterator[bool]:
        yield from (word in text.replace("->", " ").replace(".", " ").split() or word in text for word in gone)

    return frozenset(
        replace(
            state,
            facts=frozenset(fact for fact in state.facts if not any(about(fact[0]))),
            results=state.results - {_name(target)},
        )
        for state in states
    )
