"""A collection: chunks with their vectors and keywords, as one folder on disk.

    DIR/manifest.json                     what the folder holds, written last
    DIR/chunks-<hash>.parquet             one row a chunk
    DIR/vectors-<hash>.faiss              row i belongs to row i of the table
    DIR/keywords-<hash>.npz               the same
    DIR/.lock                             held while the folder is being switched

Rows that are only kept, not searched (the text between two functions), lie behind
those that are: the vectors cover the first `searchable` rows.
"""

import errno
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Generic

from osrag import __version__
from osrag.errors import BadIndex, NoSpace
from osrag.index.dense import Codec, DenseIndex, VectorIndex
from osrag.index.keyword import KeywordIndex
from osrag.index.manifest import DocumentEntry, EncoderId, Manifest, check_encoder, read_manifest, write_manifest
from osrag.index.tables import C, read_table, rows_of, table_of, write_table
from osrag.models.protocols import Vectors
from osrag.recent import Recent

KEPT_CHUNKS = 1024  # of the rows asked for last: a search looks at some twenty
CHUNKS, VECTORS, KEYWORDS = "chunks", "vectors", "keywords"
_SUFFIX = {CHUNKS: ".parquet", VECTORS: ".faiss", KEYWORDS: ".npz"}
# Libraries whose version the manifest names: another one may read, cut or count in another way.
_TOOLS = ("faiss-cpu", "bm25s", "pyarrow", "pdfplumber", "tree-sitter", "tree-sitter-c")


class Collection(Generic[C]):
    """A collection in memory; safe to read from several threads."""

    def __init__(self, manifest: Manifest, table: Any, dense: VectorIndex, keywords: KeywordIndex, of: type[C]) -> None:
        self.manifest = manifest
        self.table = table  # of Arrow; a row becomes a chunk when it is asked for
        self._of = of
        self.dense = dense
        self.keywords = keywords
        self._ids: dict[str, int] = {}
        self._latest: Recent[C] = Recent(KEPT_CHUNKS)

    @classmethod
    def load(
        cls,
        folder: Path,
        encoder: EncoderId | None,
        *,
        of: type[C],
        rebuild: str = "",
        vectors: Callable[[Path], VectorIndex] = DenseIndex.load,
    ) -> "Collection[C]":
        """Raises BadIndex when it is missing, damaged, or made by another encoder than `encoder`.

        `rebuild` is the command that the message names; None as the encoder checks nothing. `vectors` opens the file
        of the vectors.
        """
        manifest = read_manifest(folder)
        if encoder is not None:
            check_encoder(manifest, encoder, rebuild=rebuild or "python -m osrag build --help")
        try:
            paths = {part: _checked(folder, manifest, part) for part in _SUFFIX}
            table = read_table(paths[CHUNKS], of)
            dense, keywords = vectors(paths[VECTORS]), KeywordIndex.load(paths[KEYWORDS])
        except BadIndex:
            if read_manifest(folder) == manifest:
                raise
            # a build switched the folder while we read
            return cls.load(folder, encoder, of=of, rebuild=rebuild, vectors=vectors)
        if not len(dense) == len(keywords) <= len(table):
            sizes = f"{len(table)} chunks, {len(dense)} vectors, {len(keywords)} keyword rows"
            raise BadIndex(f"{folder} does not fit together: {sizes}", hint="build the index again")
        return cls(manifest, table, dense, keywords, of)

    @classmethod
    def in_memory(
        cls,
        chunks: Sequence[C],
        vectors: Vectors,
        keywords: Sequence[Sequence[str]],
        *,
        of: type[C],
        name: str,
        encoder: EncoderId,
        documents: Sequence[DocumentEntry],
    ) -> "Collection[C]":
        """A collection that nothing is written of; a vector and the tokens of each of `chunks`."""
        manifest = Manifest(
            collection=name,
            corpus_hash=corpus_hash(documents),
            encoder=encoder,
            counts={"chunks": len(chunks), "searchable": len(chunks)},
            files={},
            documents=tuple(documents),
        )
        return cls(manifest, table_of(chunks, of), DenseIndex.build(vectors), KeywordIndex.build(keywords), of)

    def __len__(self) -> int:
        """All rows, searched or only kept."""
        return len(self.table)

    @property
    def searchable(self) -> int:
        """Rows that have a vector and keywords: 0 .. searchable - 1."""
        return len(self.dense)

    def chunks(self) -> list[C]:
        """All chunks, by row."""
        return rows_of(self.table, self._of)

    def searched(self) -> list[C]:
        """The chunks that have a vector, by row."""
        return rows_of(self.table.slice(0, self.searchable), self._of)

    def chunk(self, row: int) -> C:
        """The chunk of a row, searched or only kept."""
        (found,) = self._latest.of([row], lambda _: rows_of(self.table.slice(row, 1), self._of))
        return found

    def row_of(self, chunk_id: str) -> int | None:
        """The row of a chunk, None when the collection has no such chunk."""
        if not self._ids:
            self._ids = {id_: row for row, id_ in enumerate(self.table.column("chunk_id").to_pylist())}
        return self._ids.get(chunk_id)


def write_collection(
    folder: Path,
    chunks: Sequence[C],
    vectors: Vectors,
    keywords: Sequence[Sequence[str]],
    *,
    of: type[C],
    name: str,
    encoder: EncoderId,
    documents: Sequence[DocumentEntry] = (),
    counts: Mapping[str, int] | None = None,
    licence: str = "",
    source: str = "",
    codec: Codec = "float32",
    bound_to: str = "",
) -> Manifest:
    """Write a collection and switch `folder` over to it.

    `vectors` (rows, dim) and `keywords` (token lists) cover the first rows of `chunks`;
    the chunks behind them are kept without being searched. Until the last step the folder
    holds the previous collection, whole. Raises NoSpace when the disk is full.
    """
    if len(vectors) != len(keywords) or len(vectors) > len(chunks):
        raise ValueError(f"{len(chunks)} chunks, {len(vectors)} vectors, {len(keywords)} keyword rows")
    savers: dict[str, Callable[[Path], None]] = {
        CHUNKS: lambda path: write_table(path, chunks, of),
        VECTORS: DenseIndex.build(vectors, codec=codec).save,
        KEYWORDS: KeywordIndex.build(keywords).save,
    }
    with full_disk_is_no_space(folder), locked(folder):
        files = {part: save_hashed(folder, part, save) for part, save in savers.items()}
        manifest = Manifest(
            collection=name,
            corpus_hash=corpus_hash(documents),
            encoder=encoder,
            counts={"chunks": len(chunks), "searchable": len(vectors), **(counts or {})},
            files=files,
            documents=tuple(documents),
            tools=_tool_versions(),
            licence=licence,
            source=source,
            bound_to=bound_to,
        )
        write_manifest(folder, manifest)
    return manifest


def corpus_hash(documents: Sequence[DocumentEntry]) -> str:
    """One hash of all documents, whatever their order."""
    lines = sorted(f"{document.name}\0{document.sha256}" for document in documents)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@contextmanager
def locked(folder: Path, name: str = ".lock") -> Iterator[None]:
    """Hold `folder` against other writers; waits for them. Free again when the process dies."""
    from filelock import FileLock

    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / name):
        yield


@contextmanager
def full_disk_is_no_space(folder: Path) -> Iterator[None]:
    """Turn "no space left" of the system or of SQLite into NoSpace; `folder` is named."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT) if isinstance(error, OSError) else "full" in str(error)
        if not full:
            raise
        raise NoSpace(
            f"the disk of {str(folder)!r} is full; the previous index is unchanged",
            hint="free some space and run the same command again, it goes on where it stopped",
        ) from error


def save_hashed(folder: Path, part: str, save: Callable[[Path], None]) -> str:
    """Let `save` write the file of a part, then name it after its content; returns the name."""
    draft = folder / f".{part}.{os.getpid()}{_SUFFIX[part]}"
    try:
        save(draft)
        name = _hashed_name(part, draft)
        draft.replace(folder / name)
    finally:
        draft.unlink(missing_ok=True)
    return name


def _hashed_name(part: str, path: Path) -> str:
    """The name of a file with this content."""
    with path.open("rb") as file:
        return f"{part}-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}{_SUFFIX[part]}"


def _checked(folder: Path, manifest: Manifest, part: str) -> Path:
    """The file of `part`, after its content was compared with its name."""
    name = manifest.files.get(part)
    if name is None:
        raise BadIndex(f"the manifest of {folder} names no {part}", hint="build the index again")
    path = folder / name
    try:
        whole = name == _hashed_name(part, path)
    except FileNotFoundError as error:
        raise BadIndex(f"{folder} lacks {name}", hint="build the index again") from error
    if not whole:
        raise BadIndex(f"{path} is damaged, its content has changed", hint="build the index again")
    return path


def _tool_versions() -> dict[str, str]:
    """osrag and the libraries that make an index, as far as they are installed."""
    found = {"osrag": __version__}
    for tool in _TOOLS:
        with suppress(PackageNotFoundError):
            found[tool] = version(tool)
    return found
