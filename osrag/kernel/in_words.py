"""What a function does, read off its code: whom it calls, what it returns and sets, each under its condition.

For a function that nobody described. Every part of a sentence is text of the code; nothing is concluded from it, and
what stands under a condition that cannot be told in a few words is left out.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from osrag.kernel.code import SourceLine, code_lines, heads, statement
from osrag.kernel.graph import HELPER
from osrag.types import CodeChunk, Language
from osrag.wording import say

MOST_SAID = 4  # sentences about one function
CONDITION_CHARS, RESULT_CHARS = 90, 60
CONDITIONS = 2  # around a line; with more the sentence is harder to read than the code
_CALL = re.compile(r"(?<![.\w>])([A-Za-z_]\w*)\s*\(")
_BRANCH = re.compile(r"(?:\}\s*)?(?:else\b|if\s*\()|case\b|default\b|\}")
_ELSE = re.compile(r"(?:\}\s*)?else\s*\{?$")
_LOOP = re.compile(r"(?:while|for|do|\w*for_each\w*)\b")
_POINTER = re.compile(r"(\w+(?:(?:->|\.)\w+)+)\s*\(")
_RETURNS = re.compile(r"return\s+(.+);$")
_SETS = re.compile(r"([\w.\[\]]+(?:->|\.)[\w.>\[\]-]+)\s*=\s*([^=].*);$")


@dataclass(frozen=True, slots=True)
class Doing:
    """One thing that a function does."""

    line: int  # number in the file
    what: str  # "calls", "points" for a call through a pointer, "returns", "sets"
    about: str  # name or code
    value: str = ""
    conditions: tuple[str, ...] = ()
    loop: bool = False


def doings(chunk: CodeChunk, numbers: Collection[int], known: Callable[[str], bool]) -> list[Doing]:
    """What the lines with these `numbers` do, in their order, each callee once; `known` tells which are spoken of."""
    code = code_lines(chunk)
    configured = set(_configured(code))
    body = next((at for at, line in enumerate(code) if "{" in line.text), 0)
    found: dict[tuple[str, str, str], Doing] = {}
    for at, line in enumerate(code):
        if line.number not in numbers or at <= body or line.number in configured:
            continue
        around = _around(code, at)
        if around is None:
            continue
        conditions, loop = around
        _, text = statement(code, at)
        for one in _doing(text, line.number, conditions, known, loop=loop):
            found.setdefault((one.what, one.about, "" if one.what in ("calls", "points") else str(one.line)), one)
    return list(found.values())


def _doing(
    text: str, number: int, conditions: tuple[str, ...], known: Callable[[str], bool], *, loop: bool
) -> Iterator[Doing]:
    returned, stored = _RETURNS.match(text), _SETS.match(text)
    calls = [("calls", name) for name in _CALL.findall(text) if known(name) and not HELPER.match(name)]
    calls += [("points", name) for name in _POINTER.findall(text)]
    for what, name in calls:
        yield Doing(number, what, name, conditions=conditions, loop=loop)
    if calls or _BRANCH.match(text):
        return
    if returned and conditions and len(returned.group(1)) <= RESULT_CHARS:
        yield Doing(number, "returns", returned.group(1), conditions=conditions, loop=loop)
    elif stored and len(stored.group()) <= RESULT_CHARS:
        yield Doing(number, "sets", stored.group(1), stored.group(2), conditions, loop)


def _configured(code: Sequence[SourceLine]) -> Iterator[int]:
    """Numbers of the lines that some configurations lack: what they do cannot be said of the kernel."""
    level = 0
    for line in code:
        directive = line.text.lstrip()
        level += directive.startswith("#if")
        if level:
            yield line.number
        level -= directive.startswith("#endif")


def _around(code: Sequence[SourceLine], at: int) -> tuple[tuple[str, ...], bool] | None:
    """The conditions around a line, outermost first, and whether a loop is; None where words fail."""
    conditions: dict[str, None] = {}
    loop = other = False
    for above in heads(code, at):
        _, text = statement(code, above)
        if _ELSE.match(text):
            other = True
        elif _LOOP.match(text):
            loop = True
        else:
            inside = _inside(text) if text.startswith("if (") else ""
            if not inside or len(inside) > CONDITION_CHARS:  # a `case`, an `else if`, a label: it hangs on more
                return None
            conditions[_negated(inside) if other else inside] = None
            other = False
    return (tuple(reversed(conditions)), loop) if len(conditions) <= CONDITIONS else None


def _inside(text: str) -> str:
    """What stands between the first parentheses, without `unlikely` around it."""
    level = 0
    for place in range(text.index("("), len(text)):
        level += (text[place] == "(") - (text[place] == ")")
        if not level:
            inside = text[text.index("(") + 1 : place].strip()
            hinted = inside.startswith(("likely(", "unlikely(")) and inside.endswith(f"({_inside(inside)})")
            return _inside(inside) if hinted else inside
    return ""


def _negated(condition: str) -> str:
    """`flags` for `!flags`, `!(a && b)` for what is longer."""
    bare = condition.removeprefix("!")
    return bare if bare != condition and re.fullmatch(r"[\w.>-]+", bare) else f"!({condition})"


def in_words(some: Sequence[Doing], purpose: Callable[[str], str | None], language: Language) -> str:
    """Sentences; `purpose` tells in a few words what a callee is for."""
    told = []
    for one in some:
        about = purpose(one.about) if one.what == "calls" else ""
        text = say(f"doing_{one.what}", language, name=one.about, value=one.value)
        text += say("doing_for", language, about=about) if about else ""
        text = say("doing_loop", language, what=text) if one.loop else text
        comma = say("doing_and", language)
        conditions = comma.join(f"`{condition}`" for condition in one.conditions)
        told.append(say("doing_if" if conditions else "doing_always", language, what=text, conditions=conditions))
    return " ".join(told) if language == "en" else "".join(told)
