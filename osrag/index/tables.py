"""Chunks, and questions of readers, as rows of a Parquet file, and back.

A row is a dataclass, a column is one of its fields under the name that the requirements give it (C3, C4).
The columns have plain types only, so that `datasets.load_dataset("parquet", data_files=…)` reads the same
file. osrag itself reads it with pyarrow, which costs a start milliseconds instead of seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar, get_origin, get_type_hints

from osrag.errors import BadIndex
from osrag.types import AnyChunk, Ask, Chunk, CodeChunk, LineRef, PageRef

C = TypeVar("C", bound=AnyChunk | Ask)

# Field -> column, where the two have different names. A place in a file takes several columns.
_NAMES: Mapping[type, Mapping[str, str]] = {
    Chunk: {"id": "chunk_id", "source": "file_name"},
    CodeChunk: {"id": "chunk_id", "text": "content", "source": "file", "name": "function_name"},
    Ask: {"source": "file_name"},
}
_PAGES_OR_LINES = {"place": str, "first": int, "last": int, "page_label": str}  # place: "pages" or "lines"
_LINES = {"start_line": int, "end_line": int}


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of a row and the columns that hold it."""

    name: str
    kind: Any  # its type
    columns: Mapping[str, type]  # str, int or tuple (of strings)

    def write(self, value: Any) -> list[Any]:
        """The values of the columns."""
        if isinstance(value, PageRef):
            return ["pages", value.first, value.last, value.label]
        if isinstance(value, LineRef):
            lines = [value.first, value.last]
            return lines if self.kind is LineRef else ["lines", *lines, ""]
        return [value]

    def read(self, values: Sequence[Any]) -> Any:
        """The field, from the values of its columns."""
        if self.kind is LineRef:
            return LineRef(*values)
        if self.columns is _PAGES_OR_LINES:
            place, first, last, label = values
            return PageRef(first, last, label) if place == "pages" else LineRef(first, last)
        (value,) = values
        if get_origin(self.kind) is tuple:
            return tuple(value)
        return self.kind(value) if isinstance(self.kind, type) and issubclass(self.kind, StrEnum) else value


def _fields_of(kind: type) -> list[_Field]:
    """How rows of `kind` lie in a table."""
    found = []
    hints = get_type_hints(kind)
    for name in (field.name for field in fields(kind)):
        hint = hints[name]
        columns: Mapping[str, type] = {_NAMES[kind].get(name, name): _plain(hint)}
        if name == "where":
            columns = _LINES if hint is LineRef else _PAGES_OR_LINES
        found.append(_Field(name, hint, columns))
    return found


def _plain(hint: Any) -> type:
    """The type of a column. A name out of a fixed set (`Language`, `ChunkKind`) is a string."""
    if get_origin(hint) is tuple:
        return tuple
    return int if hint is int else str


def write_table(path: Path, rows: Sequence[C], kind: type[C]) -> None:
    """Write `rows` in their order; the bytes are the same for the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = {str: pa.string(), int: pa.int32(), tuple: pa.list_(pa.string())}
    columns: dict[str, Any] = {}
    for field in _fields_of(kind):
        values = [field.write(getattr(row, field.name)) for row in rows]
        for at, (name, plain) in enumerate(field.columns.items()):
            columns[name] = pa.array([value[at] for value in values], type=arrow[plain])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, compression="zstd", compression_level=12)
    # Through Python's own file, so that a full disk is an OSError with its number.
    path.write_bytes(sink.getvalue())


class Table(Generic[C]):
    """The rows of a Parquet file in memory; a row becomes a chunk when it is asked for."""

    def __init__(self, table: Any, kind: type[C]) -> None:
        self._table = table
        self._kind = kind
        self._fields = _fields_of(kind)

    @classmethod
    def load(cls, path: Path, kind: type[C]) -> "Table[C]":
        """Raises BadIndex for a file that is damaged or holds rows of another kind."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = [name for field in _fields_of(kind) for name in field.columns]
        try:
            table = pq.read_table(path, columns=wanted, memory_map=False)
        except (OSError, pa.ArrowException) as error:
            raise BadIndex(f"{path} is no readable table", hint="build the index again") from error
        if table.column_names != wanted:
            raise BadIndex(f"{path} holds other columns than {kind.__name__}", hint="build the index again")
        return cls(table.combine_chunks(), kind)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, row: int) -> C:
        if not 0 <= row < len(self):
            raise IndexError(row)
        (found,) = self._rows(self._table.slice(row, 1))
        return found

    def chunks(self) -> list[C]:
        """All rows in order."""
        return self._rows(self._table)

    def _rows(self, table: Any) -> list[C]:
        columns = []
        for field in self._fields:
            values = [table[name].to_pylist() for name in field.columns]
            columns.append([field.read(cells) for cells in zip(*values, strict=True)])
        return [self._kind(*values) for values in zip(*columns, strict=True)]

    def column(self, name: str) -> Any:
        """The Arrow column `name`, for filters; KeyError when there is none."""
        return self._table[name]


def release_unused() -> None:
    """Give the system back what Arrow keeps in reserve after tables were read."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
