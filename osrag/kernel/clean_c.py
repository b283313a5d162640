"""Kernel C made easy for a grammar, byte for byte in the same places.

tree-sitter's grammar is plain C. What the kernel adds (attribute macros, loop macros,
`SYSCALL_DEFINE3(...)`, several heads with one body) is replaced here by blanks or by C of the
same length, so every offset in the clean text is an offset in the file. A function that the
grammar still cannot read, because a conditional cuts a statement in two, is found by its braces.
"""

import re
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
# Arguments in parentheses, with two more levels of parentheses inside.
_ARGUMENTS = rb"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"

# Attribute macros that may be taken for a name or a type. A few take an argument.
_ATTRIBUTE = re.compile(
    rb"\b(?:__(?:init|exit|initdata|initconst|init_memblock|softirq_entry|net_init|always_inline|pure|weak|visible|iomem"
    rb"|lockfunc|maybe_unused|user|must_check|latent_entropy|no_sanitize_\w+|ro_after_init|read_mostly|packed"
    rb"|cacheline_aligned\w*|randomize_layout|no_caller_saved_registers)|____cacheline_(?:\w*aligned\w*|in_smp)"
    rb"|noinline(?:_for_stack|_for_tracing)?|noinstr|notrace|nokprobe_inline|asmlinkage"
    rb"|__(?:aligned|section|printf|scanf|releases|acquires|must_hold|realloc_size|attribute__)[ \t]*"
    + _ARGUMENTS
    + rb")(?!\w)"
)
# `for_each_thing(a, b)` and its kin open a loop; C of the same length is `while (a, b)`.
_LOOP = re.compile(rb"^([ \t]+)(\w*for_each\w*|scoped_guard)(?=[ \t]*" + _ARGUMENTS + rb"\s*[^\s;,)])", re.M)
# A macro at the left margin: a definition by macro, or a list that a section collects.
_MARGIN = re.compile(
    rb"^((?:static[ \t]+)?[A-Z][A-Z0-9_]{4,}|\w*initcall\w*)([ \t]*" + _ARGUMENTS + rb")(?=\s*(\S?))", re.M
)
# The heads that a conditional gives one body: the first stays. They differ in the order of the arguments.
_HEADS = re.compile(rb"^((\w+_DEFINE)\d(\(\w+\b)[^()]*\))((?:\s*\2\d\3[^()]*\))+)(?=\s*\{)", re.M)


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bytes."""

    start: int  # byte offset
    end: int  # exclusive


@dataclass(slots=True)
class Clean:
    """The clean text and what was taken out of it."""

    text: bytes  # as long as the source
    comments: list[Span] = field(default_factory=list)
    directives: list[Span] = field(default_factory=list)  # continuation lines included


def clean(source: bytes) -> Clean:
    """Blank comments, strings, directives and attributes; make macro definitions plain C."""
    out = bytearray(source)
    result = Clean(b"")
    for match in _TOKEN.finditer(source):
        start, end = match.span()
        if match.lastgroup == "string":
            out[start + 1 : end - 1] = b" " * (end - start - 2)
            continue
        out[start:end] = _blanks(match.group())
        kept = result.comments if match.lastgroup == "comment" else result.directives
        kept.append(Span(start, end))
    text = _ATTRIBUTE.sub(lambda match: _blanks(match.group()), bytes(out))
    text = _HEADS.sub(lambda match: match.group(1) + _blanks(match.group(4)), text)
    text = _MARGIN.sub(_margin_macro, text)
    result.text = _LOOP.sub(lambda match: match.group(1) + b"while".ljust(len(match.group(2))), text)
    return result


def _blanks(text: bytes) -> bytes:
    """As many blanks, with the line ends kept."""
    return _NOT_NEWLINE.sub(b" ", text)


def _margin_macro(match: re.Match[bytes]) -> bytes:
    """`SYSCALL_DEFINE1(x, ...) {` becomes `int Sxxx(x, ...) {`; a bare list macro becomes blanks."""
    head, arguments, following = match.groups()
    if following == b"{":
        return b"int ".ljust(len(head), b"S") + arguments
    return match.group() if following in (b";", b"=", b"[", b",", b")", b"(") else _blanks(match.group())
