"""Kernel C made easy for a grammar, byte for byte in the same places.

tree-sitter's grammar is plain C. What the kernel adds (attribute macros, loop macros,
`SYSCALL_DEFINE3(...)`, conditionals that cut a statement in two) is replaced here by blanks or
by C of the same length, so every offset in the clean text is an offset in the file.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

_TOKEN = re.compile(
    rb"""
    (?P<comment> /\*.*?(?:\*/|\Z) | //[^\n]*(?:\\\n[^\n]*)* )
  | (?P<string> "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<directive> ^[ \t]*\#(?: /\*.*?(?:\*/|\Z) | //[^\n]* | \\\r?\n | [^\n] )* )
    """,
    re.S | re.M | re.X,
)
_NOT_NEWLINE = re.compile(rb"[^\n]")
_NOT_BLANK = re.compile(rb"\S")
_DIRECTIVE = re.compile(rb"[ \t]*#[ \t]*([a-z]+)[ \t]*(.*)", re.S)
_DEFINE = re.compile(rb"([A-Za-z_]\w*)(\(?)")

# Attribute macros that may stand in a signature. A few take an argument.
_ATTRIBUTE = re.compile(
    rb"\b(?:"
    rb"__(?:init|exit|sched|lockfunc|cpuidle|irq_entry|softirq_entry|exception_irq_entry|meminit|memexit"
    rb"|cpuinit|net_init|init_or_module|initdata_or_meminfo|init_memblock|initdata|initconst|init_task_data"
    rb"|ref|refdata|ref_or_null|always_inline|inline|inline__|noclone|noreturn|cold|hot|weak|pure|const|used|unused"
    rb"|maybe_unused|always_unused|visible|user|kernel|iomem|rcu|percpu|force|must_check|malloc|deprecated"
    rb"|latent_entropy|flatten|naked|no_sanitize_\w+|no_kcsan|no_kasan_or_inline|no_profile|nocfi|nostackprotector"
    rb"|ro_after_init|read_mostly|cacheline_aligned\w*|cacheline_in_smp|packed|bpf_kfunc|designated_init"
    rb"|randomize_layout|bitwise|refconst|nocast|no_caller_saved_registers|private|safe|mm_private|restrict|volatile|extension__)"
    rb"|asmlinkage|noinline(?:_for_stack|_for_tracing)?|noinstr|notrace|nokprobe_inline|inline_for_stack"
    rb"|STACK_FRAME_NON_STANDARD_FP|randomized_struct_fields_(?:start|end)|____cacheline_(?:\w*aligned\w*|in_smp)"
    rb"|__(?:aligned|section|printf|scanf|releases|acquires|must_hold|cond_acquires|cond_lock|alloc_size|assume_aligned"
    rb"|attribute__|copy|alias|no_sanitize|cleanup|counted_by|diagnose_as|realloc_size|error|compiletime_error"
    rb"|compiletime_warning)"
    rb"[ \t]*(?P<paren>\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))"
    rb"|__page_aligned_(?:bss|data)|__kprobes|__nokprobe\w*)(?![\w])"
)
# `for_each_thing(a, b)` and its kin open a loop; C of the same length is `while (a, b)`.
_LOOP = re.compile(rb"^[ \t]+(\w*for_each\w*|scoped_guard)[ \t]*(?=\()", re.M)
# A macro at the left margin: a definition by macro, or a list that a section collects.
_MARGIN = re.compile(rb"^((?:static[ \t]+)?[A-Z][A-Z0-9_]*|\w*initcall\w*)[ \t]*\(", re.M)
_FIRST_ARGUMENT = re.compile(rb"\s*([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Span:
    start: int  # byte offset
    end: int  # exclusive


@dataclass(frozen=True, slots=True)
class Define:
    """One `#define`, continuation lines included."""

    name: str
    span: Span
    takes_arguments: bool


@dataclass(slots=True)
class Clean:
    """The clean text and what was taken out of it."""

    text: bytes  # as long as the source
    comments: list[Span] = field(default_factory=list)
    defines: list[Define] = field(default_factory=list)
    macro_names: dict[int, tuple[str, str]] = field(default_factory=dict)  # offset -> (macro, name)


@dataclass(slots=True)
class _Group:
    """`#if ... #elif ... #else ... #endif`."""

    positive: bool  # the first branch is the configured one
    branches: list[Span] = field(default_factory=list)


def clean(source: bytes) -> Clean:
    """Blank comments, strings, directives and attributes; make macro definitions plain C."""
    out = bytearray(source)
    result = Clean(b"")
    groups: list[_Group] = []
    stack: list[tuple[_Group, int]] = []
    for match in _TOKEN.finditer(source):
        start, end = match.span()
        if match.lastgroup == "string":
            out[start + 1 : end - 1] = b" " * (end - start - 2)
            continue
        out[start:end] = _blanks(match.group())
        if match.lastgroup == "comment":
            result.comments.append(Span(start, end))
        else:
            _directive(match.group(), start, result, stack, groups)
    for group in groups:  # inner groups end first, so they are settled first
        _settle(out, group)
    text = bytes(out)
    text = _ATTRIBUTE.sub(lambda match: _blanks(match.group()), text)
    text = _margin_macros(text, result.macro_names)
    result.text = _loops(text)
    return result


def _blanks(text: bytes) -> bytes:
    """As many blanks, with the line ends kept."""
    return _NOT_NEWLINE.sub(b" ", text)


def _directive(text: bytes, start: int, result: Clean, stack: list[tuple[_Group, int]], groups: list[_Group]) -> None:
    parts = _DIRECTIVE.match(text)
    if not parts:
        return
    word, rest = parts.groups()
    end = start + len(text)
    if word == b"define":
        name = _DEFINE.match(rest)
        if name:
            result.defines.append(Define(name.group(1).decode(), Span(start, end), bool(name.group(2))))
        return
    if word in (b"if", b"ifdef", b"ifndef"):
        positive = word == b"ifdef" or (word == b"if" and not re.match(rb"!|0\b", rest))
        stack.append((_Group(positive), end))
    elif word in (b"else", b"elif") and stack:
        group, opened = stack[-1]
        group.branches.append(Span(opened, start))
        stack[-1] = (group, end)
    elif word == b"endif" and stack:
        group, opened = stack.pop()
        group.branches.append(Span(opened, start))
        groups.append(group)


def _settle(out: bytearray, group: _Group) -> None:
    """Keep one branch where the braces of another do not match, or where all branches are heads of one body."""
    bodies = [bytes(out[span.start : span.end]) for span in group.branches]
    end = group.branches[-1].end
    whole = all(body.count(b"{") == body.count(b"}") and body.count(b"(") == body.count(b")") for body in bodies)
    heads = all(body.rstrip().endswith(b")") for body in bodies) and re.match(rb"\s*\{", out[end : end + 400])
    if whole and not heads:
        return
    kept = 0 if group.positive else 1
    for number, span in enumerate(group.branches):
        if number != kept:
            out[span.start : span.end] = _blanks(bodies[number])


def close_of(text: bytes, opened: int) -> int:
    """Offset behind the `)` that closes the `(` at `opened`; -1 when there is none."""
    depth = 0
    for match in re.compile(rb"[()]").finditer(text, opened):
        depth += 1 if match.group() == b"(" else -1
        if depth == 0:
            return match.end()
    return -1


def _next(text: bytes, offset: int) -> bytes:
    """The first byte from `offset` on that is no blank; empty at the end of the text."""
    found = _NOT_BLANK.search(text, offset)
    return found.group() if found else b""


def _margin_macros(text: bytes, names: dict[int, tuple[str, str]]) -> bytes:
    """`SYSCALL_DEFINE1(x, ...) {` becomes `int Sxxx(x, ...) {`; a bare list macro becomes blanks."""
    out = bytearray(text)
    depth = DepthMap(text)
    for match in _MARGIN.finditer(text):
        start, opened = match.start(), match.end() - 1
        close = close_of(text, opened)
        if depth.at(start) or close < 0:
            continue
        following = _next(text, close)
        argument = _FIRST_ARGUMENT.match(text, opened + 1)
        if following == b"{" and argument and opened - start >= 5:
            out[start:opened] = b"int ".ljust(opened - start, b"S")
            names[start] = (match.group(1).split()[-1].decode(), argument.group(1).decode())
        elif following not in (b";", b"=", b"[", b",", b")", b"("):
            out[start:close] = _blanks(text[start:close])
    return bytes(out)


def _loops(text: bytes) -> bytes:
    """Loop macros to `while`, so that the block behind them is a block."""
    out = bytearray(text)
    for match in _LOOP.finditer(text):
        start, end = match.span(1)
        close = close_of(text, match.end())
        if close >= 0 and end - start >= 5 and _next(text, close) not in b";,)":
            out[start:end] = b"while".ljust(end - start)
    return bytes(out)


class DepthMap:
    """Brace depth at any offset. A `}` at the left margin ends whatever was open, as kernel style has it."""

    def __init__(self, text: bytes) -> None:
        self._at: list[int] = []
        self._depth: list[int] = []
        depth = 0
        for match in re.finditer(rb"[{}]", text):
            if match.group() == b"{":
                depth += 1
            else:
                depth = 0 if text[match.start() - 1 : match.start()] in (b"", b"\n") else max(0, depth - 1)
            self._at.append(match.start())
            self._depth.append(depth)

    def at(self, offset: int) -> int:
        place = bisect_right(self._at, offset) - 1
        return self._depth[place] if place >= 0 else 0
