"""What a parser sees of a point: whether what a `Need` asks for is there, and in which line.

Nothing here reads the names that a student chose; only the names of library calls and of system calls count.
"""

from dataclasses import dataclass
from typing import Any, Literal

from osrag.quiz.programs.code import LOOPS, Code, alike, called, line_of, text_of, walk
from osrag.quiz.programs.paths import Paths, TooMany
from osrag.quiz.programs.program import Need

Seen = Literal["met", "broken", "absent", "unclear"]
_TESTS = ("if_statement", *LOOPS, "switch_statement", "conditional_expression")
_COMPARING = ("==", "!=", "<", ">", "<=", ">=", "&&", "||")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen of a need.

    `met`: it is there. `broken`: the code does the opposite, in `line`. `absent`: there is no such call at all.
    `unclear`: the parser cannot tell.
    """

    need: Need
    seen: Seen
    line: int = 0  # from 1; 0 for none


def findings(code: Code, needs: tuple[Need, ...]) -> list[Finding]:
    """One finding for each need that a parser can look at."""
    return [_find(code, need) for need in needs if need.kind != "says"]


def _find(code: Code, need: Need) -> Finding:
    if need.unless and need.unless in code.source:
        return Finding(need, "unclear")
    calls = code.calls_of(need.first)
    if not calls:
        return Finding(need, "absent")
    match need.kind:
        case "calls":
            return Finding(need, "met", line_of(calls[0]))
        case "checks":
            return _checked(code, need, calls)
        case "loop_around":
            return _looped(code, need, calls)
        case "order":
            return _ordered(code, need)
        case "paired":
            return _paired(code, need, calls)
        case _:
            return Finding(need, "unclear")


# -- what a call returns is looked at


def _checked(code: Code, need: Need, calls: list[Any]) -> Finding:
    for call in calls:
        if _is_checked(code, call) is False:
            return Finding(need, "broken", line_of(call))
    sure = all(_is_checked(code, call) for call in calls)
    return Finding(need, "met" if sure else "unclear", line_of(calls[0]))


def _is_checked(code: Code, call: Any) -> bool | None:
    """Whether the result of a call is looked at; None where it goes somewhere that is not followed."""
    parent = call.parent
    while parent is not None and parent.type in ("parenthesized_expression", "cast_expression"):
        if text_of(parent).startswith("(void)") or text_of(parent).startswith("( void )"):
            return False
        if parent.parent is not None and parent.parent.type in _TESTS:
            return True
        parent = parent.parent
    if parent is None:
        return None
    match parent.type:
        case "expression_statement" | "comma_expression":
            return False
        case "return_statement":
            return True
        case "binary_expression":
            return text_of(parent.child_by_field_name("operator")) in _COMPARING or None
        case "unary_expression":
            return text_of(parent.child_by_field_name("operator")) == "!" or None
        case "init_declarator" | "assignment_expression":
            if parent.parent is not None and parent.parent.type in ("parenthesized_expression", "binary_expression"):
                return True  # `while ((n = read(…)) > 0)`
            target = parent.child_by_field_name("declarator" if parent.type == "init_declarator" else "left")
            return _is_tested(code, _plain(target), call)
        case kind if kind in _TESTS:
            return True
    return None


def _plain(target: Any) -> str:
    while target.type in ("pointer_declarator", "array_declarator") and target.named_children:
        target = target.named_children[0]
    return text_of(target)


def _is_tested(code: Code, name: str, call: Any) -> bool:
    """Whether what was put into `name` is tested or given back after the call, in the same function."""
    body = code.functions.get(code.within(call), code.tree)
    for node in walk(body):
        if node.type == "return_statement":
            tested = node
        elif node.type in _TESTS:
            tested = node.child_by_field_name("condition")
        elif node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in _COMPARING:
            tested = node
        else:
            continue
        if tested is not None and tested.end_byte > call.start_byte and any(_same(one, name) for one in walk(tested)):
            return True
    return False


def _same(node: Any, name: str) -> bool:
    """Whether an expression is `name`; an element of an array is the same as another one, whatever its index."""
    if node.type not in ("identifier", "field_expression", "subscript_expression", "pointer_expression"):
        return False
    return text_of(node).split("[")[0] == name.split("[")[0]


# -- a loop around a call


def _looped(code: Code, need: Need, calls: list[Any]) -> Finding:
    for call in calls:
        if not _in_loop(code, call, {}):
            return Finding(need, "broken", line_of(call))
    return Finding(need, "met", line_of(calls[0]))


def _in_loop(code: Code, call: Any, known: dict[str, bool]) -> bool:
    """Whether the loop next around a call tests again at once: nothing that works on what was waited for follows first.

    Of a function without a loop, each call of it must stand in one.
    """
    node, after = call, False
    while node.parent is not None and node.type != "function_definition":
        parent = node.parent
        if parent.type in LOOPS:
            return not after
        if parent.type == "compound_statement":
            behind = [one for one in parent.named_children if one.start_byte >= node.end_byte]
            if any(one.type == "goto_statement" for one in behind[:1]):
                return True
            after = after or any(_works(one) for one in behind)
        node = parent
    name = code.within(call)
    if name not in known:
        known[name] = False  # while it is looked at
        sites = [site for site_name, site in code.calls if site_name == name]
        known[name] = bool(sites) and all(_in_loop(code, site, known) for site in sites)
    return known[name]


def _works(statement: Any) -> bool:
    """Whether a statement behind a wait does more than count, or test and leave."""
    if statement.type in ("comment", "break_statement", "continue_statement", "if_statement"):
        return False
    return any(called(node) or node.type == "subscript_expression" for node in walk(statement))


# -- one call before another, and one for each other


def _ordered(code: Code, need: Need) -> Finding:
    first, second = alike(need.first), alike(need.second)
    some = None
    for name in code.outer:
        before = None
        for called_name, node in code.in_turn(name):
            if called_name in first:
                before = before or node
            if called_name in second:
                if before is not None:
                    return Finding(need, "met", line_of(before))
                some = some or node
    return Finding(need, "broken", line_of(some)) if some is not None else Finding(need, "absent")


def _paired(code: Code, need: Need, calls: list[Any]) -> Finding:
    if not code.calls_of(need.second):
        return Finding(need, "broken", line_of(calls[0]))
    paths = Paths(code, need.first, need.second)
    try:
        outs = {name: paths.ways_out(name) for name in code.outer}
    except (TooMany, RecursionError):
        return Finding(need, "unclear", line_of(calls[0]))
    left = [(name, out) for name, ways in outs.items() for out in ways if out.held > 0]
    given = {name for name, ways in outs.items() if ways and all(out.held < 0 for out in ways)}
    for name, out in left:
        whole = all(one.held > 0 for one in outs[name])
        if whole and given:
            continue  # a function that only takes, beside one that only gives back
        return Finding(need, "broken", _line(out.node, code))
    return Finding(need, "met", line_of(calls[0]))


def _line(node: Any, code: Code) -> int:
    if node is None:
        return 0
    return int(node.end_point[0]) + 1 if node.type == "compound_statement" else line_of(node)
