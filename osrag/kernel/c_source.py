"""Kernel C to chunks: functions, structs, enums, macros, tables, and the text between them."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from osrag.kernel.c_source_blocks import Definition, define_blocks, initcalls, margin_blocks
from osrag.kernel.c_source_clean import Clean, Span, clean
from osrag.kernel.c_source_tree import definitions, errors, parser
from osrag.types import ChunkKind

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
    signature: str = ""  # of a function, on one line
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
        head = cleaned.text[item.head : item.body] if is_function else b""
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
            signature=" ".join(source[item.head : item.body].decode(encoding).split()) if head else "",
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
