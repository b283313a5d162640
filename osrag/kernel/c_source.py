"""Kernel C to chunks: functions, structs, enums, macros, tables, and the text between them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from osrag.kernel.clean_c import Clean, Define, DepthMap, Span, clean
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


@cache
def parser() -> Any:
    """The parser of C; tree-sitter is loaded when the first file is read."""
    import tree_sitter
    import tree_sitter_c

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))


def definitions(root: Any, cleaned: Clean) -> Iterator[Definition]:
    """Functions, types and tables at the top level of a file."""
    stack = list(reversed(root.children))
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            yield from _function(node, cleaned)
        elif node.type in ("struct_specifier", "union_specifier", "enum_specifier"):
            yield from _type(node, node)
        elif node.type in ("declaration", "type_definition"):
            yield from _declaration(node)
        elif node.type in ("ERROR", "linkage_specification", "declaration_list"):
            stack.extend(reversed(node.children))


def _function(node: Any, cleaned: Clean) -> Iterator[Definition]:
    body = node.child_by_field_name("body")
    aliases: tuple[str, ...] = ()
    if node.start_byte in cleaned.macro_names:
        name, aliases = macro_function(*cleaned.macro_names[node.start_byte])
    else:
        name = _declared_name(node.child_by_field_name("declarator"))
    if name and body is not None and not _swallowed(node, body):
        yield Definition(Span(node.start_byte, _end(node, cleaned)), ChunkKind.FUNCTION, name, body.start_byte, aliases)


def _swallowed(node: Any, body: Any) -> bool:
    """Whether recovery from an error put another function into the head of this one."""
    heads = (child for child in node.children if child.type == "ERROR" and child.end_byte <= body.start_byte)
    return any(b"}" in child.text for child in heads)


def _end(node: Any, cleaned: Clean) -> int:
    """Where the function ends: where the grammar could not read it, at the first `}` at the left margin."""
    if not node.has_error:
        return int(node.end_byte)
    margin = cleaned.text.find(b"\n}", node.start_byte, node.end_byte)
    return int(node.end_byte) if margin < 0 else margin + 2


def _declared_name(node: Any) -> str:
    while node is not None:
        if node.type in ("identifier", "type_identifier", "field_identifier"):
            return str(node.text.decode())
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (child for child in node.children if child.is_named and child.type.endswith("declarator")), None
            )
            if inner is None and node.type == "parenthesized_declarator":
                inner = next((child for child in node.children if child.type == "identifier"), None)
        node = inner
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
                yield Definition(span, ChunkKind.TABLE, name, value.start_byte, (tag,) if tag else ())
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

    start: int  # byte offset
    end: int  # exclusive
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
    pieces: tuple[Piece, ...]
    broken: int  # places the grammar could not read; the functions there were found by their braces
    first_broken: int  # line; 0 when there is none
    note: str = ""


def chunk_c(source: bytes) -> ParsedFile:
    """The pieces of a C file in file order; together they are the file, byte for byte.

    Text that is not UTF-8 is read as Latin-1, which loses nothing either.
    """
    encoding = _encoding(source)
    lines = Lines(source)
    if lines.count > LONG_FILE_LINES:
        gaps = tuple(_gap(source, 0, len(source), lines, encoding))
        return ParsedFile(gaps, 0, 0, f"{lines.count} lines: taken for a generated file, not parsed")
    cleaned = clean(source)
    tree = parser().parse(cleaned.text)
    found = [*definitions(tree.root_node, cleaned), *define_blocks(cleaned, source), *initcalls(cleaned)]
    found += margin_blocks(cleaned, [item.span for item in found])
    items = _without_overlap(_widen(found, cleaned, source))
    broken = errors(tree.root_node)
    pieces = tuple(_pieces(items, cleaned, source, lines, encoding))
    note = "not UTF-8, read as Latin-1" if encoding == "latin-1" else ""
    return ParsedFile(pieces, len(broken), broken[0].start_point[0] + 1 if broken else 0, note)


def _encoding(source: bytes) -> str:
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


class Lines:
    """Byte offset to line number."""

    def __init__(self, source: bytes) -> None:
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
        self.count = len(self._starts) - (1 if source.endswith(b"\n") or not source else 0)

    def of(self, offset: int) -> int:
        return bisect_right(self._starts, offset)


# -- definitions to pieces


def _widen(found: list[Definition], cleaned: Clean, source: bytes) -> list[Definition]:
    """Definitions with the comment above and up to the end of their line."""
    ends = [span.end for span in cleaned.comments]
    out = []
    for item in found:
        start = _line_start(source, item.span.start, cleaned)
        end = _line_end(source, item.span.end, cleaned.text)
        comment = None
        place = bisect_right(ends, start) - 1
        while place >= 0 and _touches(source[ends[place] : start]) and _alone(source, cleaned.comments[place]):
            comment = Span(cleaned.comments[place].start, comment.end if comment else ends[place])
            start = _margin(source, comment.start)
            if source[comment.start : comment.start + 2] != b"//":
                break
            place -= 1
        out.append(replace(item, span=Span(start, end), head=item.span.start, comment=comment))
    return out


def _touches(between: bytes) -> bool:
    return not between.strip() and between.count(b"\n") <= 2


def _alone(source: bytes, comment: Span) -> bool:
    """Whether nothing but blanks stands before the comment on its line."""
    return not source[_margin_raw(source, comment.start) : comment.start].strip()


def _margin_raw(source: bytes, offset: int) -> int:
    return source.rfind(b"\n", 0, offset) + 1


def _margin(source: bytes, offset: int) -> int:
    begin = _margin_raw(source, offset)
    return begin if not source[begin:offset].strip() else offset


def _line_start(source: bytes, start: int, cleaned: Clean) -> int:
    """Back over attributes that were blanked, to the start of the line where nothing else is on it."""
    begin = start
    while True:
        margin = _margin_raw(source, begin)
        if cleaned.text[margin:begin].strip():
            return begin  # other code before it on this line
        raw = source[margin:begin]
        if margin and raw.strip() == b"" and begin > margin:
            begin = margin
        previous = _margin_raw(source, margin - 1) if margin else 0
        above = source[previous : margin - 1] if margin else b""
        blanked = above.strip() and not cleaned.text[previous:margin].strip()
        if blanked and re.fullmatch(rb"[ \t]*(?:__\w+|asmlinkage|notrace|noinline\w*|noinstr)[\w \t()\",]*", above):
            begin = previous
            continue
        return margin


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


def _pieces(items: list[Definition], cleaned: Clean, source: bytes, lines: Lines, encoding: str) -> Iterator[Piece]:
    exported = frozenset(re.findall(rb"EXPORT_\w*SYMBOL\w*\(\s*(\w+)", source))
    at = 0
    for item in items:
        yield from _gap(source, at, item.span.start, lines, encoding)
        at = item.span.end
        raw = source[item.span.start : at]
        is_function = item.kind is ChunkKind.FUNCTION
        yield Piece(
            item.span.start,
            at,
            lines.of(item.span.start),
            lines.of(at - 1),
            item.kind,
            item.name,
            raw.decode(encoding),
            comment=plain_comment(source[item.comment.start : item.comment.end].decode(encoding))
            if item.comment
            else "",
            calls=_calls(cleaned.text[item.body : at], item.name) if is_function else _named(raw, item.kind),
            aliases=item.aliases,
            exported=item.name.encode() in exported,
        )
    yield from _gap(source, at, len(source), lines, encoding)


def _gap(source: bytes, start: int, end: int, lines: Lines, encoding: str) -> Iterator[Piece]:
    """The text between two definitions, cut at line ends."""
    while start < end:
        stop = start
        for _ in range(GAP_LINES):
            newline = source.find(b"\n", stop, end)
            stop = end if newline < 0 else newline + 1
            if stop == end:
                break
        text = source[start:stop].decode(encoding)
        yield Piece(start, stop, lines.of(start), lines.of(stop - 1), ChunkKind.OTHER, "", text)
        start = stop


def _calls(body: bytes, own: str) -> tuple[str, ...]:
    """Names called in a body, in order of first call."""
    names = (match.decode() for match in _CALL.findall(body))
    return tuple(dict.fromkeys(name for name in names if name not in _NO_CALL and name != own))


def _named(raw: bytes, kind: ChunkKind) -> tuple[str, ...]:
    """What a table points at: `.enqueue_task = enqueue_task_fair`."""
    if kind is not ChunkKind.TABLE:
        return ()
    if raw.count(b"\n") <= 1 and (call := re.search(rb"(\w+)\s*\)\s*;?\s*$", raw)):
        return (call.group(1).decode(),)  # an initcall
    return tuple(dict.fromkeys(name.decode() for name in re.findall(rb"=\s*&?([a-z_]\w{3,})\s*[,}\n]", raw)))


_STARS = re.compile(r"^[ \t]*(?:/\*+|\*+/|\*(?!/)|//+)?[ \t]?", re.M)


def plain_comment(text: str) -> str:
    """A comment without its frame of stars."""
    text = re.sub(r"\*+/\s*$", "", text.strip())
    return _STARS.sub("", text).strip()
