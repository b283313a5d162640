"""Definitions found by their shape: macros, and what a grammar missed."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from osrag.kernel.c_source_clean import Clean, Define, DepthMap, Span
from osrag.types import ChunkKind


@dataclass(frozen=True, slots=True)
class Definition:
    """Something with a name and a place in the file."""

    span: Span
    kind: ChunkKind
    name: str
    body: int  # offset where the body opens
    aliases: tuple[str, ...] = ()
    head: int = 0  # where the definition itself starts, behind its comment
    comment: Span | None = None


_GUARD = re.compile(r"_?_?\w+_H_?_?$|pr_fmt|dev_fmt|CREATE_TRACE_POINTS|TRACE_INCLUDE\w*|__NO_\w+")
_LAST_WORD = re.compile(rb"([A-Za-z_]\w*)\s*$")
_INITCALL = re.compile(
    rb"^(\w*initcall\w*|module_init|module_exit|early_param|__setup|core_param|module_platform_driver)"
    rb"[ \t]*\([^()\n]*?(\w+)[ \t]*\)[ \t]*;?",
    re.M,
)
_SYSCALL = re.compile(r"(COMPAT_)?SYSCALL(?:32|64)?_DEFINE\d")
HEAD_BYTES = 3000  # no signature is longer
_HEAD_TYPE = re.compile(rb"\b(struct|union|enum)\s+([A-Za-z_]\w*)\s*$")
_HEAD_TABLE = re.compile(rb"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*=\s*$")
_HEAD_TABLE_MACRO = re.compile(rb"([A-Z_]+)\s*\(\s*(\w+)[^()]*\)\s*=\s*$")


def macro_function(macro: str, name: str) -> tuple[str, tuple[str, ...]]:
    """Name and other names of a function defined by a macro: `sys_read` for `SYSCALL_DEFINE3(read, ...)`."""
    match = _SYSCALL.fullmatch(macro)
    if not match:
        return name, ()
    shown = f"{'compat_' if match.group(1) else ''}sys_{name}"
    return shown, (name, f"__do_{shown}", f"__se_{shown}", f"__x64_{shown}", f"{macro}({name}")


def define_blocks(cleaned: Clean, source: bytes) -> list[Definition]:
    """Macros at the top level: each with arguments or many lines alone, runs of constants together."""
    depth = DepthMap(cleaned.text)
    out: list[Definition] = []
    run: list[Define] = []
    for item in cleaned.defines:
        if depth.at(item.span.start) or _GUARD.fullmatch(item.name):
            continue
        text = source[item.span.start : item.span.end]
        if item.takes_arguments or b"\n" in text:
            out += _constants(run)
            run = []
            out.append(Definition(item.span, ChunkKind.MACRO, item.name, item.span.start))
        else:
            if run and source[run[-1].span.end : item.span.start].strip():
                out += _constants(run)
                run = []
            run.append(item)
    return out + _constants(run)


def initcalls(cleaned: Clean) -> Iterator[Definition]:
    """Lines that put a function into a table of the linker: `core_initcall(cgroup_wq_init);`."""
    depth = DepthMap(cleaned.text)
    for match in _INITCALL.finditer(cleaned.text):
        if not depth.at(match.start()):
            name = f"{match.group(1).decode()}({match.group(2).decode()})"
            yield Definition(Span(*match.span()), ChunkKind.TABLE, name, match.start())


def _constants(run: Sequence[Define]) -> list[Definition]:
    if not run:
        return []
    span = Span(run[0].span.start, run[-1].span.end)
    others = tuple(item.name for item in run[1:])
    return [Definition(span, ChunkKind.MACRO, run[0].name, span.start, others)]


def margin_blocks(cleaned: Clean, known: Sequence[Span]) -> Iterator[Definition]:
    """Definitions that are in none of `known`, found by the brace at the end of their head.

    The net below the grammar: it costs one pass and catches a function whose signature
    no grammar of plain C accepts.
    """
    text = cleaned.text
    spans = sorted(known, key=lambda span: span.start)
    starts = [span.start for span in spans]
    for head, opened, close in _top_blocks(text):
        place = bisect_left(starts, opened) - 1
        if any(spans[n].start <= opened < spans[n].end for n in range(max(0, place - 1), place + 1)):
            continue
        item = _by_head(cleaned, head, opened, close)
        if item:
            yield item


def _top_blocks(text: bytes) -> Iterator[tuple[int, int, int]]:
    """(start of the head, `{`, behind the `}`) of each block at the top level."""
    depth, opened, head = 0, 0, 0
    for match in re.finditer(rb"[{};]", text):
        at, sign = match.start(), match.group()
        if sign == b"{":
            if depth and (at == 0 or text[at - 1 : at] == b"\n"):
                depth = 0  # an opening brace at the margin starts a function, whatever was left open
                head = text.rfind(b"\n\n", 0, at) + 1
            if depth == 0:
                opened = at
            depth += 1
        elif sign == b"}":
            at_margin = at == 0 or text[at - 1 : at] == b"\n"
            was, depth = depth, (0 if at_margin else max(0, depth - 1))
            if was and depth == 0:
                yield head, opened, at + 1
                head = at + 1
        elif depth == 0:
            head = at + 1


def _by_head(cleaned: Clean, head: int, opened: int, close: int) -> Definition | None:
    head = max(head, opened - HEAD_BYTES)
    before = cleaned.text[head:opened]
    start = head + len(before) - len(before.lstrip())
    span = Span(start, close)
    if match := _HEAD_TABLE_MACRO.search(before):
        name = match.group(2).decode()
        name = f"{name}_sched_class" if match.group(1) == b"DEFINE_SCHED_CLASS" else name
        return Definition(span, ChunkKind.TABLE, name, opened)
    if match := _HEAD_TABLE.search(before):
        return Definition(span, ChunkKind.TABLE, match.group(1).decode(), opened)
    if match := _HEAD_TYPE.search(before):
        kind = ChunkKind.ENUM if match.group(1) == b"enum" else ChunkKind.STRUCT
        return Definition(span, kind, match.group(2).decode(), opened)
    if start in cleaned.macro_names:
        name, aliases = macro_function(*cleaned.macro_names[start])
        return Definition(span, ChunkKind.FUNCTION, name, opened, aliases)
    name = _name_before_arguments(before)
    return Definition(span, ChunkKind.FUNCTION, name, opened) if name else None


def _name_before_arguments(before: bytes) -> str:
    """`f` of `static int f(struct a *(*b)(int))`; attributes behind the arguments are stepped over."""
    while True:
        before = before.rstrip()
        if not before.endswith(b")"):
            return ""
        depth, at = 0, len(before)
        while at:
            at -= 1
            depth += {41: 1, 40: -1}.get(before[at], 0)
            if not depth:
                break
        match = _LAST_WORD.search(before[:at])
        if not match:
            return ""
        if not match.group(1).startswith(b"__") or b"(" not in before[: match.start()]:
            return match.group(1).decode()
        before = before[: match.start()]
