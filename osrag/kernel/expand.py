"""What is reached from a piece of kernel code: callers and callees, the uses of a field, what fills a table's entry.

Everything comes from the index: the call graph, and the words of the code. A field is found by its name, because C
without its headers does not tell the type of an expression; functions that name the structure come first.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from osrag.errors import BadInput
from osrag.kernel.code import SourceLine, all_lines, without_comments
from osrag.kernel.describe import BODY
from osrag.kernel.store import KernelStore
from osrag.types import ChunkKind, CodeChunk

MOST = 30  # pieces of code that one question reaches
LINES = 6  # of one piece that are shown
Relation = Literal["callers", "callees", "writers", "readers", "entries", "filled"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_ENTRY = re.compile(r"\.(\w+)\s*=\s*&?(\w+)")


@dataclass(frozen=True, slots=True)
class Reached:
    """A piece of code, and its lines that lead to it or from it."""

    chunk: CodeChunk
    lines: tuple[SourceLine, ...]  # where the call, the use or the entry stands
    indirect: bool = False  # by a pointer in a table


def definition(store: KernelStore, name: str, file: str = "") -> tuple[CodeChunk, ...]:
    """The pieces of code called `name`; that of `file` alone where there is one."""
    rows = store.functions_named(name)
    own = [row for row in rows if store.file_name(row) == file]
    return tuple(store.chunk(row) for row in (own or rows)[:MOST])


def piece(store: KernelStore, name: str, file: str = "") -> CodeChunk:
    """The piece of code called `name`, that in `file` where there are several. Raises BadInput where there is none."""
    found = definition(store, name, file)
    if not found:
        near = store.nearest_names(name)
        hint = f"did you mean {', '.join(near)}?" if near else "names are as in the C source"
        raise BadInput(f"the index of Linux {store.version} has nothing called {name[:80]!r}", hint=hint)
    return found[0]


def relations(chunk: CodeChunk) -> tuple[Relation, ...]:
    """What can be asked about a piece of code."""
    match chunk.kind:
        case ChunkKind.FUNCTION:
            return ("callers", "callees")
        case ChunkKind.STRUCT:
            return ("writers", "readers", "entries")
        case ChunkKind.TABLE:
            return ("filled",) if _ENTRY.search(chunk.text) else ()
        case _:
            return ()


def callers(store: KernelStore, chunk: CodeChunk) -> tuple[Reached, ...]:
    """The functions that call `chunk`, those of its own file first, each with the lines of the calls.

    After them come the tables that hold a pointer to it, and the functions that call through such a pointer.
    """
    rows = [row for row in store.definitions([chunk.name], chunk.source) if store.chunk(row).id == chunk.id]
    found = (store.chunk(caller) for row in rows for caller in store.callers(row))
    ordered = sorted(found, key=lambda one: (one.source != chunk.source, one.source, one.where.first))
    direct = _reached(ordered, rf"\b{re.escape(chunk.name)}\s*\(")
    return (*direct, *_through_tables(store, chunk))[:MOST]


def _through_tables(store: KernelStore, chunk: CodeChunk) -> Iterator[Reached]:
    """The tables that name a function, and the functions that call what stands at that place of a table."""
    members: dict[str, None] = {}
    for table in _mentioning(store, chunk.name):
        for line in all_lines(table) if table.kind is ChunkKind.TABLE else ():
            match = _ENTRY.search(line.text)
            if match and match[2] == chunk.name:
                members[match[1]] = None
                yield Reached(table, (line,), indirect=True)
    for member in members:
        callers = [one for one in _mentioning(store, member) if one.kind is ChunkKind.FUNCTION]
        for reached in _reached(callers, rf"->\s*{member}\s*\("):
            yield replace(reached, indirect=True)


def callees(store: KernelStore, chunk: CodeChunk) -> tuple[Reached, ...]:
    """What `chunk` calls, in the order of the calls, each with the lines of `chunk` that call it."""
    rows = [row for row in store.definitions([chunk.name], chunk.source) if store.chunk(row).id == chunk.id]
    found = [store.chunk(callee) for row in rows for callee in store.callees(row)]
    return tuple(Reached(one, _lines(chunk, rf"\b{re.escape(one.name)}\s*\(")) for one in found[:MOST])


def uses(store: KernelStore, field: str, *, written: bool, struct: str = "") -> tuple[Reached, ...]:
    """The functions that write, or that only read, a field of this name; those that name `struct` first.

    Empty for what is no name. `x->field = y`, `x->field++` and `WRITE_ONCE(x->field, y)` write.
    """
    if not _NAME.fullmatch(field):
        return ()
    at = rf"(?:->|\.)\s*{field}\b(?!\s*\()"
    write = (
        rf"{at}(?:\[[^\]]*\])?\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|{at}\s*(?:\+\+|--)|(?:\+\+|--)[\w>.-]*{at}"
        rf"|WRITE_ONCE\([^,;]*{at}"
    )
    found = [one for one in _mentioning(store, field) if one.kind is ChunkKind.FUNCTION]
    wanted = [one for one in found if bool(re.search(write, without_comments(one).text)) == written]
    named = sorted(wanted, key=lambda one: f"struct {struct}" not in one.text) if struct else wanted
    return _reached(named, write if written else at)


def entries(store: KernelStore, name: str) -> tuple[Reached, ...]:
    """What stands behind `.name = …` in the tables of the index: the function, with the line of the table."""
    if not _NAME.fullmatch(name):
        return ()
    found: list[Reached] = []
    for table in _mentioning(store, name):
        for line in all_lines(table) if table.kind is ChunkKind.TABLE else ():
            match = _ENTRY.search(line.text)
            if match and match[1] == name:
                rows = store.definitions([match[2]], table.source)
                found.append(Reached(store.chunk(rows[0]) if rows else table, (line,), indirect=True))
    return tuple(found[:MOST])


def filled(store: KernelStore, table: CodeChunk) -> tuple[Reached, ...]:
    """The functions that a table names, in the order of its lines."""
    pairs = ((line, match[2]) for line in all_lines(table) if (match := _ENTRY.search(line.text)))
    found = ((line, store.definitions([name], table.source)) for line, name in pairs)
    return tuple(Reached(store.chunk(rows[0]), (line,), indirect=True) for line, rows in found if rows)[:MOST]


def reached(store: KernelStore, chunk: CodeChunk, relation: Relation, field: str = "") -> tuple[Reached, ...]:
    """What stands in `relation` to a piece of code; of a structure, to its `field`."""
    match relation:
        case "callers":
            return callers(store, chunk)
        case "callees":
            return callees(store, chunk)
        case "filled":
            return filled(store, chunk)
        case "entries":
            return entries(store, field)
        case _:
            return uses(store, field, written=relation == "writers", struct=chunk.name)


def _mentioning(store: KernelStore, word: str) -> list[CodeChunk]:
    """The pieces of code with this word, whole."""
    return [store.chunk(row) for row in store.with_word(BODY + word.lower())]


def _reached(chunks: Iterable[CodeChunk], pattern: str) -> tuple[Reached, ...]:
    pairs = ((chunk, _lines(chunk, pattern)) for chunk in chunks)
    return tuple(Reached(chunk, lines) for chunk, lines in pairs if lines)[:MOST]


def _lines(chunk: CodeChunk, pattern: str) -> tuple[SourceLine, ...]:
    """The lines of code of `chunk` that match, as they stand in the file."""
    code: Sequence[SourceLine] = all_lines(without_comments(chunk))[1:]  # the first line is the signature
    return tuple(line for line in code if re.search(pattern, line.text))[:LINES]
