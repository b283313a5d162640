"""Kernel C to chunks: functions, structs, enums, macros, tables, and the text between them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from osrag.kernel.clean_c import Clean, Span, clean
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


_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]*([A-Za-z_]\w*)(\(?)")
_GUARD = re.compile(r"_?_?\w+_H_?_?$|pr_fmt|dev_fmt|CREATE_TRACE_POINTS|TRACE_INCLUDE\w*|__NO_\w+")
_NAME = re.compile(rb"([A-Za-z_]\w*)\s*\(")
_BY_MACRO = re.compile(rb"(?:static[ \t]+)?([A-Z][A-Z0-9_]{4,})[ \t]*\(\s*([A-Za-z_]\w*)")
_INITCALL = re.compile(
    rb"^(\w*initcall\w*|module_init|module_exit|early_param|__setup|core_param|module_platform_driver)"
    rb"[ \t]*\([^()\n]*?(\w+)[ \t]*\)[ \t]*;?",
    re.M,
)
_SYSCALL = re.compile(r"(COMPAT_)?SYSCALL(?:32|64)?_DEFINE\d")
HEAD_BYTES = 3000  # no signature is longer
# Lines of attributes above a definition.
_ATTRIBUTES = re.compile(rb"(?:^[ \t]*(?:__\w+|asmlinkage|notrace|noinline\w*|noinstr)[\w \t()\",]*\n)+\Z", re.M)
_HEAD_TYPE = re.compile(rb"\b(struct|union|enum)\s+([A-Za-z_]\w*)\s*$")
_HEAD_TABLE = re.compile(rb"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*=\s*$")
_HEAD_TABLE_MACRO = re.compile(rb"([A-Z_]+)\s*\([^()]*?(\w+)\s*\)\s*=\s*$")  # DEFINE_PER_CPU(struct rq, runqueues) =


def macro_function(source: bytes, start: int) -> tuple[str, tuple[str, ...]]:
    """Name and other names of a function that a macro defines: `sys_read` for `SYSCALL_DEFINE3(read, ...)`; else ""."""
    found = _BY_MACRO.match(source, start)
    if not found:
        return "", ()
    macro, name = (group.decode() for group in found.groups())
    match = _SYSCALL.fullmatch(macro)
    if not match:
        return name, ()
    shown = f"{'compat_' if match.group(1) else ''}sys_{name}"
    return shown, (name, f"__do_{shown}", f"__se_{shown}", f"__x64_{shown}", f"{macro}({name}")


def define_blocks(cleaned: Clean, source: bytes) -> list[Definition]:
    """Macros at the top level: each with arguments or many lines alone, runs of constants together."""
    out: list[Definition] = []
    constants = False  # the last definition is a run of constants, which may go on
    for span in cleaned.directives:
        found = _DEFINE.match(source, span.start)
        name = found.group(1).decode() if found else ""
        if not found or _GUARD.fullmatch(name):
            continue
        alone = bool(found.group(2)) or b"\n" in source[span.start : span.end]
        if constants and not alone and not source[out[-1].span.end : span.start].strip():
            run = out[-1]
            out[-1] = replace(run, span=Span(run.span.start, span.end), aliases=(*run.aliases, name))
        else:
            out.append(Definition(span, ChunkKind.MACRO, name, span.start))
        constants = not alone
    return out


def initcalls(cleaned: Clean) -> Iterator[Definition]:
    """Lines that put a function into a table of the linker: `core_initcall(cgroup_wq_init);`."""
    for match in _INITCALL.finditer(cleaned.text):
        name = f"{match.group(1).decode()}({match.group(2).decode()})"
        yield Definition(Span(*match.span()), ChunkKind.TABLE, name, match.start())


def margin_blocks(cleaned: Clean, source: bytes, known: Sequence[Span]) -> Iterator[Definition]:
    """Definitions that are in none of `known`, found by the brace at the end of their head.

    This costs one pass, and finds a function whose signature no grammar of plain C accepts.
    """
    for head, opened, close in _top_blocks(cleaned.text):
        found = any(span.start <= opened < span.end for span in known)
        if not found and (item := _by_head(cleaned, source, head, opened, close)):
            yield item


def _top_blocks(text: bytes) -> Iterator[tuple[int, int, int]]:
    """(start of the head, `{`, behind the `}`) of each block at the top level."""
    depth, opened, head = 0, 0, 0
    for match in re.finditer(rb"[{};]", text):
        at, sign = match.start(), match.group()
        at_margin = text[at - 1 : at] in (b"", b"\n")
        if sign == b"{":
            if depth and at_margin:
                depth = 0  # an opening brace at the margin starts a function, whatever was left open
                head = text.rfind(b"\n\n", 0, at) + 1
            if depth == 0:
                opened = at
            depth += 1
        elif sign == b"}":
            was, depth = depth, (0 if at_margin else max(0, depth - 1))
            if was and depth == 0:
                yield head, opened, at + 1
                head = at + 1
        elif depth == 0:
            head = at + 1


def _by_macro(match: re.Match[bytes]) -> tuple[str, tuple[str, ...]]:
    """The names of a table that a macro defines: `fair_sched_class` and fair for `DEFINE_SCHED_CLASS(fair) =`."""
    name = match.group(2).decode()
    return (f"{name}_sched_class", (name,)) if match.group(1) == b"DEFINE_SCHED_CLASS" else (name, ())


def _by_head(cleaned: Clean, source: bytes, head: int, opened: int, close: int) -> Definition | None:
    """What the text from `head` up to the brace at `opened` defines; None if it is nothing with a name."""
    head = max(head, opened - HEAD_BYTES)
    before = cleaned.text[head:opened]
    start = head + len(before) - len(before.lstrip())
    span = Span(start, close)
    if match := _HEAD_TABLE_MACRO.search(before):
        name, aliases = _by_macro(match)
        return Definition(span, ChunkKind.TABLE, name, opened, aliases)
    if match := _HEAD_TABLE.search(before):
        return Definition(span, ChunkKind.TABLE, match.group(1).decode(), opened)
    if match := _HEAD_TYPE.search(before):
        kind = ChunkKind.ENUM if match.group(1) == b"enum" else ChunkKind.STRUCT
        return Definition(span, kind, match.group(2).decode(), opened)
    name, aliases = macro_function(source, start)
    if not name and before.rstrip().endswith(b")") and (match := _NAME.search(before)):
        name = match.group(1).decode()
    return Definition(span, ChunkKind.FUNCTION, name, opened, aliases) if name else None


@cache
def parser() -> Any:
    """The parser of C; tree-sitter is loaded when the first file is read."""
    import tree_sitter
    import tree_sitter_c

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))


def definitions(root: Any, cleaned: Clean, source: bytes) -> Iterator[Definition]:
    """Functions, types and tables at the top level of a file."""
    stack = list(reversed(root.children))
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            yield from _function(node, cleaned, source)
        elif node.type in ("struct_specifier", "union_specifier", "enum_specifier"):
            yield from _type(node, node)
        elif node.type in ("declaration", "type_definition"):
            yield from _declaration(node)
        elif node.type in ("ERROR", "linkage_specification", "declaration_list"):
            stack.extend(reversed(node.children))


def _function(node: Any, cleaned: Clean, source: bytes) -> Iterator[Definition]:
    """A function with a body, under its name."""
    body = node.child_by_field_name("body")
    name, aliases = macro_function(source, node.start_byte)
    name = name or _declared_name(node.child_by_field_name("declarator"))
    if name and body is not None:
        yield Definition(Span(node.start_byte, _end(node, cleaned)), ChunkKind.FUNCTION, name, body.start_byte, aliases)


def _end(node: Any, cleaned: Clean) -> int:
    """Where the function ends: where the grammar could not read it, at the first `}` at the left margin."""
    if not node.has_error:
        return int(node.end_byte)
    margin = cleaned.text.find(b"\n}", node.start_byte, node.end_byte)
    return int(node.end_byte) if margin < 0 else margin + 2


def _declared_name(node: Any) -> str:
    """`f` of `*f(int)` and of `(*f)[2]`; empty for a declarator without a name."""
    while node is not None:
        if node.type in ("identifier", "type_identifier", "field_identifier"):
            return str(node.text.decode())
        inside = (child for child in node.children if child.type.endswith(("declarator", "identifier")))
        node = node.child_by_field_name("declarator") or next(inside, None)
    return ""


def _type(node: Any, whole: Any, *, declared: Sequence[str] = ()) -> Iterator[Definition]:
    """A type with a body, under its tag; without one under what is declared with it, or its first enumerator."""
    body = node.child_by_field_name("body")
    if body is None:
        return
    tag = _tag(node)
    kind = ChunkKind.ENUM if node.type == "enum_specifier" else ChunkKind.STRUCT
    constants: tuple[str, ...] = ()
    if kind is ChunkKind.ENUM:
        constants = tuple(
            child.child_by_field_name("name").text.decode() for child in body.children if child.type == "enumerator"
        )
    names = list(dict.fromkeys(name for name in (tag, *declared) if name)) or list(constants[:1])
    if names:
        span = Span(whole.start_byte, whole.end_byte)
        yield Definition(span, kind, names[0], body.start_byte, (*constants, *names[1:]))


def _tag(node: Any) -> str:
    """`x` of `struct x {...}`; empty for a type without a name."""
    named = node.child_by_field_name("name")
    return str(named.text.decode()) if named is not None else ""


def _declaration(node: Any) -> Iterator[Definition]:
    """A table, a type, or both at once: `static struct x {...} y = {...}` is a table y, also found as x."""
    kind = node.child_by_field_name("type")
    typed = kind is not None and kind.type in ("struct_specifier", "union_specifier", "enum_specifier")
    tag = _tag(kind) if typed and kind.child_by_field_name("body") is not None else ""
    declared = list(node.children_by_field_name("declarator"))
    for child in declared:
        value = child.child_by_field_name("value") if child.type == "init_declarator" else None
        if value is not None and value.type == "initializer_list":
            name = _declared_name(child)
            if name:
                span = Span(node.start_byte, node.end_byte)
                macro = _HEAD_TABLE_MACRO.search(node.text[: value.start_byte - node.start_byte])
                shown, also = _by_macro(macro) if macro else (name, (tag,) if tag else ())
                yield Definition(span, ChunkKind.TABLE, shown, value.start_byte, also)
                return
    if typed:
        yield from _type(kind, node, declared=[_declared_name(child) for child in declared])


def errors(root: Any) -> list[Any]:
    """Error nodes in file order, outermost only."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR":
            found.append(node)
        elif node.has_error:
            stack.extend(reversed(node.children))
    return found


LONG_FILE_LINES = 40_000  # a file longer than this is generated: it is kept, but only cut at lines
GAP_LINES = 120  # text between definitions is cut so that one chunk stays readable
# Not `class->pick_next_task(rq)`: which function that is, the text does not tell.
_CALL = re.compile(rb"(?<!->)(?<![.\w])([A-Za-z_]\w*)[ \t]*\(")
# Called in nearly every function, and telling nothing about it.
_NO_CALL = frozenset(
    """
    if for while switch return sizeof typeof __typeof__ defined do else case likely unlikely offsetof
    __alignof__ alignof BUILD_BUG_ON WARN_ON WARN_ON_ONCE BUG_ON VM_BUG_ON VM_BUG_ON_PAGE VM_WARN_ON
    VM_WARN_ON_ONCE READ_ONCE WRITE_ONCE data_race ARRAY_SIZE container_of IS_ENABLED IS_ERR PTR_ERR ERR_PTR
    min max min_t max_t barrier pr_err pr_info pr_warn pr_debug printk IS_ERR_OR_NULL asm __asm__
    ACCESS_ONCE current int
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a file. Joining the `text` of a file's pieces gives the file back."""

    first: int  # line, 1-based
    last: int  # inclusive
    kind: ChunkKind
    name: str
    text: str
    comment: str = ""  # the comment above, without its stars
    calls: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()  # other names it is asked for by: `read` for sys_read, enumerators
    exported: bool = False


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What is in a C file."""

    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...] = ()  # what an instructor should know: not UTF-8, not parsed, nothing found


def chunk_c(source: bytes) -> ParsedFile:
    """The pieces of a C file in file order; together they are the file, byte for byte.

    Text that is not UTF-8 is read as Latin-1, which loses nothing either.
    """
    file = _File(source)
    lines = source.count(b"\n")
    if lines > LONG_FILE_LINES:
        warning = f"{lines} lines: taken for a generated file, not parsed"
        return ParsedFile(tuple(file.gap(0, len(source))), (warning,))
    cleaned = clean(source)
    tree = parser().parse(cleaned.text)
    found = [*definitions(tree.root_node, cleaned, source), *define_blocks(cleaned, source), *initcalls(cleaned)]
    found += margin_blocks(cleaned, source, [item.span for item in found])
    items = _without_overlap([_widened(item, cleaned, source) for item in found])
    warnings = ["not UTF-8, read as Latin-1"] if file.encoding == "latin-1" else []
    # The grammar stumbles over macros in half of all files; it matters where nothing was found.
    if not items and (broken := errors(tree.root_node)):
        first = broken[0].start_point[0] + 1
        warnings.append(f"{len(broken)} places do not parse, the first on line {first}")
    return ParsedFile(tuple(_pieces(items, cleaned, file)), tuple(warnings))


class _File:
    """The bytes of a file, with what turns a range of them into a piece."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]  # offsets of the lines
        try:
            source.decode("utf-8")
            self.encoding = "utf-8"
        except UnicodeDecodeError:
            self.encoding = "latin-1"

    def text(self, start: int, end: int) -> str:
        """The bytes from `start` up to `end`, decoded."""
        return self.source[start:end].decode(self.encoding)

    def lines(self, start: int, end: int) -> tuple[int, int]:
        """The first and the last line of these bytes, from 1."""
        return bisect_right(self._starts, start), bisect_right(self._starts, end - 1)

    def gap(self, start: int, end: int) -> Iterator[Piece]:
        """The text between two definitions, cut at line ends."""
        while start < end:
            row = bisect_right(self._starts, start) - 1 + GAP_LINES
            stop = min(end, self._starts[row]) if row < len(self._starts) else end
            yield Piece(*self.lines(start, stop), ChunkKind.OTHER, "", self.text(start, stop))
            start = stop


# -- definitions to pieces


def _widened(item: Definition, cleaned: Clean, source: bytes) -> Definition:
    """The definition with the comment above it and up to the end of its line."""
    start = _line_start(source, item.span.start, cleaned)
    end = _line_end(source, item.span.end, cleaned.text)
    comment = None
    place = bisect_right(cleaned.comments, start, key=lambda span: span.end) - 1
    for above in reversed(cleaned.comments[: place + 1]):
        margin = _margin(source, above.start)
        between = source[above.end : start]
        if between.strip() or between.count(b"\n") > 2 or source[margin : above.start].strip():
            break  # it does not touch the definition, or does not stand alone on its line
        comment = Span(above.start, comment.end if comment else above.end)
        start = margin
        if not source.startswith(b"//", above.start):
            break
    return replace(item, span=Span(start, end), head=item.span.start, comment=comment)


def _margin(source: bytes, offset: int) -> int:
    """Where the line of `offset` begins."""
    return source.rfind(b"\n", 0, offset) + 1


def _line_start(source: bytes, start: int, cleaned: Clean) -> int:
    """Back over attributes that were blanked, to the start of the line where nothing else is on it."""
    margin = _margin(source, start)
    if cleaned.text[margin:start].strip():
        return start  # other code before it on this line
    above = _ATTRIBUTES.search(source, max(0, margin - HEAD_BYTES // 10), margin)
    return above.start() if above else margin


def _line_end(source: bytes, end: int, text: bytes) -> int:
    """Over `;` and a comment on the same line, to the end of the line."""
    newline = source.find(b"\n", end)
    newline = len(source) if newline < 0 else newline + 1
    rest = text[end:newline].strip()
    return newline if rest in (b"", b";") else end


def _without_overlap(found: list[Definition]) -> list[Definition]:
    """In file order; of two that overlap the outer one stays."""
    out: list[Definition] = []
    for item in sorted(found, key=lambda item: (item.head, -item.span.end)):
        if out and item.span.start < out[-1].span.end:
            if item.head < out[-1].span.end:
                continue
            item = replace(item, span=Span(out[-1].span.end, item.span.end), comment=None)
        out.append(item)
    return out


def _pieces(items: Sequence[Definition], cleaned: Clean, file: _File) -> Iterator[Piece]:
    """A piece for each definition, and those for the text between them."""
    exported = frozenset(re.findall(rb"EXPORT_\w*SYMBOL\w*\(\s*(\w+)", file.source))
    at = 0
    for item in items:
        start, end = item.span.start, item.span.end
        yield from file.gap(at, start)
        yield Piece(
            *file.lines(start, end),
            item.kind,
            item.name,
            file.text(start, end),
            comment=plain_comment(file.text(item.comment.start, item.comment.end)) if item.comment else "",
            calls=_calls(item, cleaned.text[item.body : end], file.source[start:end]),
            aliases=item.aliases,
            exported=item.name.encode() in exported,
        )
        at = end
    yield from file.gap(at, len(file.source))


def _calls(item: Definition, body: bytes, raw: bytes) -> tuple[str, ...]:
    """What a function calls, and what a table points at (`.enqueue_task = enqueue_task_fair`), in order."""
    names: list[bytes] = []
    if item.kind is ChunkKind.FUNCTION:
        unsaid = _NO_CALL | {item.name}
        names = [name for name in _CALL.findall(body) if name.decode() not in unsaid]
    elif item.kind is ChunkKind.TABLE:
        initcall = re.search(rb"(\w+)\s*\)\s*;?\s*$", raw) if raw.count(b"\n") <= 1 else None
        names = [initcall.group(1)] if initcall else re.findall(rb"=\s*&?([a-z_]\w{3,})\s*[,}\n]", raw)
    return tuple(dict.fromkeys(name.decode() for name in names))


_STARS = re.compile(r"^[ \t]*(?:/\*+|\*+/|\*(?!/)|//+)?[ \t]?", re.M)


def plain_comment(text: str) -> str:
    """A comment without its frame of stars."""
    text = re.sub(r"\*+/\s*$", "", text.strip())
    return _STARS.sub("", text).strip()
