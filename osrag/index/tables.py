"""Chunks, and questions of readers, as rows of a Parquet file, and back.

The columns carry the names of the requirements (C3, C4), plain types only, so
that `datasets.load_dataset("parquet", data_files=…)` reads the same file. osrag
itself reads it with pyarrow, which costs a start milliseconds instead of seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from osrag.errors import BadIndex
from osrag.types import AnyChunk, Ask, Chunk, ChunkKind, CodeChunk, Language, LineRef, PageRef

C = TypeVar("C", bound=AnyChunk | Ask)
Row = Mapping[str, Any]

_STRING, _LIST, _INT = "string", "list", "int"


@dataclass(frozen=True, slots=True)
class Layout(Generic[C]):
    """How one type of chunk lies in a table."""

    columns: Mapping[str, str]  # name -> one of the types above
    to_row: Callable[[C], dict[str, Any]]
    from_row: Callable[[Row], C]


def _text_row(chunk: Chunk) -> dict[str, Any]:
    where = chunk.where
    return {
        "chunk_id": chunk.id,
        "text": chunk.text,
        "file_name": chunk.source,
        "place": "pages" if isinstance(where, PageRef) else "lines",
        "first": where.first,
        "last": where.last,
        "page_label": where.label if isinstance(where, PageRef) else "",
        "position": chunk.position,
        "section": list(chunk.section),
        "language": chunk.language,
        "kind": chunk.kind.value,
        "title": chunk.title,
        "category": chunk.category,
        "subcategory": chunk.subcategory,
        "version": chunk.version,
        "url": chunk.url,
    }


def _text_chunk(row: Row) -> Chunk:
    first, last = int(row["first"]), int(row["last"])
    return Chunk(
        id=row["chunk_id"],
        text=row["text"],
        source=row["file_name"],
        where=PageRef(first, last, row["page_label"]) if row["place"] == "pages" else LineRef(first, last),
        position=int(row["position"]),
        section=tuple(row["section"]),
        language=cast("Language", row["language"]),
        kind=ChunkKind(row["kind"]),
        title=row["title"],
        category=row["category"],
        subcategory=row["subcategory"],
        version=row["version"],
        url=row["url"],
    )


def _code_row(chunk: CodeChunk) -> dict[str, Any]:
    return {
        "chunk_id": chunk.id,
        "file": chunk.source,
        "start_line": chunk.where.first,
        "end_line": chunk.where.last,
        "function_name": chunk.name,
        "kind": chunk.kind.value,
        "description": chunk.description,
        "content": chunk.text,
        "calls": list(chunk.calls),
        "called_by": list(chunk.called_by),
    }


def _code_chunk(row: Row) -> CodeChunk:
    return CodeChunk(
        id=row["chunk_id"],
        text=row["content"],
        source=row["file"],
        where=LineRef(int(row["start_line"]), int(row["end_line"])),
        kind=ChunkKind(row["kind"]),
        name=row["function_name"],
        description=row["description"],
        calls=tuple(row["calls"]),
        called_by=tuple(row["called_by"]),
    )


def _ask_row(ask: Ask) -> dict[str, Any]:
    return {
        "text": ask.text,
        "language": ask.language,
        "file_name": ask.source,
        "quotes": list(ask.quotes),
        "chunk_ids": list(ask.chunk_ids),
        "answer": ask.answer,
    }


def _ask(row: Row) -> Ask:
    return Ask(
        text=row["text"],
        language=cast("Language", row["language"]),
        source=row["file_name"],
        quotes=tuple(row["quotes"]),
        chunk_ids=tuple(row["chunk_ids"]),
        answer=row["answer"],
    )


_TEXT = Layout(
    columns={
        "chunk_id": _STRING,
        "text": _STRING,
        "file_name": _STRING,
        "place": _STRING,  # "pages" or "lines": what `first` and `last` count
        "first": _INT,
        "last": _INT,
        "page_label": _STRING,
        "position": _INT,
        "section": _LIST,
        "language": _STRING,
        "kind": _STRING,
        "title": _STRING,
        "category": _STRING,
        "subcategory": _STRING,
        "version": _STRING,
        "url": _STRING,
    },
    to_row=_text_row,
    from_row=_text_chunk,
)
_CODE = Layout(
    columns={
        "chunk_id": _STRING,
        "file": _STRING,
        "start_line": _INT,
        "end_line": _INT,
        "function_name": _STRING,
        "kind": _STRING,
        "description": _STRING,
        "content": _STRING,
        "calls": _LIST,
        "called_by": _LIST,
    },
    to_row=_code_row,
    from_row=_code_chunk,
)
_ASK = Layout(
    columns={
        "text": _STRING,
        "language": _STRING,
        "file_name": _STRING,
        "quotes": _LIST,
        "chunk_ids": _LIST,
        "answer": _STRING,
    },
    to_row=_ask_row,
    from_row=_ask,
)
_LAYOUTS: Mapping[type, Layout[Any]] = {Chunk: _TEXT, CodeChunk: _CODE, Ask: _ASK}


def layout_of(kind: type[C]) -> Layout[C]:
    return cast("Layout[C]", _LAYOUTS[kind])


def write_table(path: Path, chunks: Sequence[C], kind: type[C]) -> None:
    """Write `chunks` in their order; the bytes are the same for the same chunks."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    layout = layout_of(kind)
    types = {_STRING: pa.string(), _INT: pa.int32(), _LIST: pa.list_(pa.string())}
    schema = pa.schema([(name, types[type_]) for name, type_ in layout.columns.items()])
    table = pa.Table.from_pylist([layout.to_row(chunk) for chunk in chunks], schema=schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=12)
    # Through Python's own file, so that a full disk is an OSError with its number.
    path.write_bytes(sink.getvalue())


class Table(Generic[C]):
    """The rows of a Parquet file in memory; a row becomes a chunk when it is asked for."""

    def __init__(self, table: Any, layout: Layout[C]) -> None:
        self._table = table
        self._layout = layout

    @classmethod
    def load(cls, path: Path, kind: type[C]) -> "Table[C]":
        import pyarrow as pa
        import pyarrow.parquet as pq

        layout = layout_of(kind)
        try:
            table = pq.read_table(path, columns=list(layout.columns), memory_map=False)
        except (OSError, pa.ArrowException) as error:
            raise BadIndex(f"{path} is no readable table", hint="build the index again") from error
        if table.column_names != list(layout.columns):
            raise BadIndex(f"{path} holds other columns than {kind.__name__}", hint="build the index again")
        return cls(table.combine_chunks(), layout)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, row: int) -> C:
        if not 0 <= row < len(self):
            raise IndexError(row)
        return self._layout.from_row({name: self._table[name][row].as_py() for name in self._layout.columns})

    def chunks(self) -> list[C]:
        """All rows in order."""
        return [self._layout.from_row(row) for row in self._table.to_pylist()]

    def column(self, name: str) -> Any:
        """The Arrow column `name`, for filters; KeyError when there is none."""
        return self._table[name]


def release_unused() -> None:
    """Give the system back what Arrow keeps in reserve after tables were read."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
