"""A program in C as a parser reads it: its functions, the calls in them, and in which order they happen."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from osrag.kernel.c_source import parser

MAX_SOURCE = 60_000  # bytes of a program that are read; exercises need some 5,000
MAX_LEVELS = 200  # of the tree; deeper code is not read, as it would exhaust the stack. An `else if` takes two.
MOST_CALLS = 5_000  # that are followed through functions
LOOPS = ("while_statement", "do_statement", "for_statement")
# Calls that do the same for a point of a rubric, each under the name that exercises use.
SAME_CALLS = {
    "malloc": "calloc realloc aligned_alloc",
    "kmalloc": "kzalloc kcalloc kmalloc_array",
    "fork": "vfork",
    "execvp": "execv execve execvpe execl execlp execle",
    "waitpid": "wait wait3 wait4 waitid",
    "_exit": "_Exit exit",
    "write": "writev pwrite dprintf",
    "read": "readv pread",
    "dup2": "dup3",
    "pipe": "pipe2",
    "fsync": "fdatasync",
    "rename": "renameat renameat2",
    "pthread_mutex_lock": "pthread_mutex_trylock pthread_mutex_timedlock",
    "pthread_cond_wait": "pthread_cond_timedwait",
    "sem_wait": "sem_trywait sem_timedwait",
}
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\([^)\n]*\)((?:[^\n\\]|\\.|\\\n)*)", re.M)
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)


def alike(name: str) -> frozenset[str]:
    """The calls that count as a call of `name`."""
    return frozenset((name, *SAME_CALLS.get(name, "").split()))


def walk(node: Any) -> Iterator[Any]:
    """The node and everything below it, in the order of the text."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(reversed(one.children))


def text_of(node: Any) -> str:
    """The words of a node, with single blanks."""
    return " ".join(node.text.decode("utf-8", "replace").split())


def line_of(node: Any) -> int:
    """The line on which a node begins, from 1."""
    return int(node.start_point[0]) + 1


def called(node: Any) -> str:
    """The name of the function that a call names; empty for a call through a pointer, or what is no call."""
    if node.type != "call_expression":
        return ""
    function = node.child_by_field_name("function")
    while function is not None and function.type == "parenthesized_expression" and function.named_child_count == 1:
        function = function.named_children[0]
    return text_of(function) if function is not None and function.type == "identifier" else ""


@dataclass(frozen=True)
class Code:
    """A parsed program."""

    source: str

    @cached_property
    def tree(self) -> Any:
        """The top node of the tree. Macros that take arguments stand behind the text, as functions."""
        macros = "".join(f"\nvoid {name}(void) {{ {value}; }}" for name, value in _MACRO.findall(self.source))
        return parser().parse((self.source + macros.replace("\\\n", " ")).encode()).root_node

    @cached_property
    def deep(self) -> bool:
        """Whether it is nested so deeply that it is not read."""
        level = [self.tree]
        for _ in range(MAX_LEVELS):
            level = [child for node in level for child in node.children]
            if not level:
                return False
        return True

    @cached_property
    def functions(self) -> dict[str, Any]:
        """The body of each function by its name; a macro that is called counts as one."""
        found: dict[str, Any] = {}
        for node in walk(self.tree):
            if node.type == "function_definition" and (name := _declared(node)):
                found.setdefault(name, node.child_by_field_name("body"))
        return {name: body for name, body in found.items() if body is not None}

    @cached_property
    def calls(self) -> list[tuple[str, Any]]:
        """(name, node) of every call, in the order of the text."""
        bodies = self.functions.values()
        return [(name, node) for body in bodies for node in walk(body) if (name := called(node))]

    def calls_of(self, name: str) -> list[Any]:
        """The calls that count as calls of `name`."""
        names = alike(name)
        return [node for called_, node in self.calls if called_ in names]

    @cached_property
    def outer(self) -> list[str]:
        """The functions that no other function of the program calls."""
        inside = {name for name, node in self.calls if name != self.within(node)}
        return [name for name in self.functions if name not in inside] or list(self.functions)

    def within(self, node: Any) -> str:
        """The function that a node stands in."""
        for name, body in self.functions.items():
            if body.start_byte <= node.start_byte and node.end_byte <= body.end_byte:
                return name
        return ""

    def in_turn(self, name: str) -> Iterator[tuple[str, Any]]:
        """The first calls of a function in the order of the text, those of the program's own functions followed."""
        return islice(self._in_turn(name, frozenset()), MOST_CALLS)

    def _in_turn(self, name: str, open_: frozenset[str]) -> Iterator[tuple[str, Any]]:
        for node in walk(self.functions[name]):
            inner = called(node)
            if inner in self.functions and inner not in open_ | {name}:
                yield from self._in_turn(inner, open_ | {name})
            elif inner:
                yield inner, node

    def line(self, number: int) -> str:
        """A line of the program, from 1."""
        lines = self.source.split("\n")
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _declared(function: Any) -> str:
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "identifier":
        node = node.child_by_field_name("declarator")
    return text_of(node) if node is not None else ""


def code_in(answer: str) -> str:
    """The C of an answer: what stands between ``` fences, else the whole."""
    return "\n".join(_FENCE.findall(answer + "\n")) or answer


def prose_in(answer: str) -> str:
    """The words of an answer beside its functions: comments, and what stands around the code."""
    code = Code(answer[:MAX_SOURCE])
    data = answer[:MAX_SOURCE].encode()
    comments = [text_of(node) for node in walk(code.tree) if node.type == "comment"]
    around = data
    for node in reversed([one for one in code.tree.children if one.type == "function_definition"]):
        around = around[: node.start_byte] + around[node.end_byte :]
    lines = [line for line in around.decode("utf-8", "replace").splitlines() if not line.startswith(("#", "```"))]
    return "\n".join([*(one.strip("/* ") for one in comments), *lines]).strip()


def is_code(text: str) -> bool:
    """Whether a text holds a function in C."""
    return bool(Code(code_in(text)[:MAX_SOURCE]).functions)
