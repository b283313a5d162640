"""Chunks, students' questions and prepared answers as rows of a Parquet file, and back.

A row is a dataclass, a column is one of its fields under the name that the requirements give it (C3, C4).
The columns have plain types only, so that `datasets.load_dataset("parquet", data_files=…)` reads the same
file. osrag itself reads it with pyarrow, which costs a start milliseconds instead of seconds.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, get_origin, get_type_hints

from osrag.errors import BadIndex
from osrag.types import AnyChunk, Ask, Chunk, CodeChunk, LineRef, PageRef, PreparedRow, WalkText

C = TypeVar("C", bound=AnyChunk | Ask | PreparedRow | WalkText)

# Field -> column, where the two have different names.
_NAMES: Mapping[type, Mapping[str, str]] = {
    Chunk: {"id": "chunk_id", "source": "file_name"},
    CodeChunk: {"id": "chunk_id", "text": "content", "source": "file", "name": "function_name"},
    Ask: {"source": "file_name"},
    PreparedRow: {"id": "answer_id", "source": "file_name"},
    WalkText: {},
}


# Columns that were added later, with what stands for them in an older index.
_LATER: Mapping[str, Any] = {"recognised": 0.0}


def _schema(kind: type) -> Any:
    """The Arrow columns of rows of `kind`. A place in a file takes several."""
    import pyarrow as pa

    columns: list[tuple[str, Any]] = []
    for name, hint in get_type_hints(kind).items():
        if hint is LineRef:
            columns += [("start_line", pa.int32()), ("end_line", pa.int32())]
        elif name == "where":  # `place` is "pages" or "lines"
            columns += [("place", pa.string()), ("first", pa.int32()), ("last", pa.int32())]
            columns.append(("page_label", pa.string()))
        else:
            plain = pa.int32() if hint is int else pa.float32() if hint is float else pa.string()
            columns.append((_NAMES[kind].get(name, name), pa.list_(plain) if get_origin(hint) is tuple else plain))
    return pa.schema(columns)


def _cells(row: AnyChunk | Ask | PreparedRow | WalkText) -> Iterator[Any]:
    """The values of the columns of a row."""
    for field in fields(row):
        match getattr(row, field.name):
            case PageRef(first, last, label):
                yield from ("pages", first, last, label)
            case LineRef(first, last):
                yield from (first, last) if isinstance(row, CodeChunk) else ("lines", first, last, "")
            case value:
                yield value


@functools.cache
def _readers(kind: type) -> tuple[tuple[int, Callable[..., Any] | None], ...]:
    """The reader of each field. Finding them takes longer than reading a row, and a search reads one at a time."""
    return tuple(map(_reader, get_type_hints(kind).values()))


def _reader(hint: Any) -> tuple[int, Callable[..., Any] | None]:
    """How many columns a field takes, and what makes the field of their values; None for a value as it is."""
    if hint is LineRef:
        return 2, LineRef
    if hint == PageRef | LineRef:
        return 4, _place
    if get_origin(hint) is tuple:
        return 1, tuple
    return 1, hint if isinstance(hint, type) and issubclass(hint, StrEnum) else None


def _place(place: str, first: int, last: int, label: str) -> PageRef | LineRef:
    """The place of a chunk of the textbook in its file."""
    return PageRef(first, last, label) if place == "pages" else LineRef(first, last)


def table_of(rows: Sequence[C], kind: type[C]) -> Any:
    """The Arrow table of `rows`, in their order."""
    import pyarrow as pa

    schema = _schema(kind)
    return pa.Table.from_pylist([dict(zip(schema.names, _cells(row), strict=True)) for row in rows], schema=schema)


def write_table(path: Path, rows: Sequence[C], kind: type[C]) -> None:
    """Write `rows` in their order; the bytes are the same for the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table_of(rows, kind), sink, compression="zstd", compression_level=12)
    # Through Python's own file, so that a full disk is an OSError with its number.
    path.write_bytes(sink.getvalue())


def read_table(path: Path, kind: type[C]) -> Any:
    """The Arrow table of a file. Raises BadIndex when it is damaged or holds rows of another kind."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(kind)
    wanted = schema.names
    try:
        held = pq.read_schema(path).names
        columns = [name for name in wanted if name in held or name not in _LATER]
        table = pq.read_table(path, columns=columns, memory_map=False)
    except (OSError, pa.ArrowException) as error:
        raise BadIndex(f"{path} is no readable table", hint="build the index again") from error
    for name, value in _LATER.items():  # an index that was built before there was such a column
        if name in wanted and name not in held:
            column = pa.array([value] * len(table), schema.field(name).type)
            table = table.add_column(wanted.index(name), name, column)
    if table.column_names != wanted:
        raise BadIndex(f"{path} holds other columns than {kind.__name__}", hint="build the index again")
    return table.combine_chunks()


def rows_of(table: Any, kind: type[C]) -> list[C]:
    """The rows of an Arrow table, in order."""
    columns = iter(table.columns)
    values: list[Sequence[Any]] = []
    for width, make in _readers(kind):  # type: ignore[arg-type]  # a type can be hashed
        cells = [column.to_pylist() for column in islice(columns, width)]
        values.append(list(map(make, *cells)) if make else cells[0])
    return [kind(*row) for row in zip(*values, strict=True)]


def release_unused() -> None:
    """Give the system back what Arrow keeps in reserve after tables were read."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
