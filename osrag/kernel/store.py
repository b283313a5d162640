"""The kernel collections in memory, as one numbered list of chunks over all subsystems."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex
from osrag.index.collection import Collection
from osrag.index.manifest import NAME, EncoderId
from osrag.kernel.describe import BODY, EXACT, name_parts
from osrag.models.protocols import Vectors
from osrag.types import CodeChunk

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
CHUNKS, FILES = "_chunks", "_files"
SAMPLE = 1024  # chunks that tell what cosine an arbitrary chunk has with a question
BUILD = "python -m osrag build kernel --source linux-source-6.1.tar.xz --subsystem {name} --out {root}"


@dataclass(frozen=True, slots=True)
class Subsystem:
    """One subsystem: its chunks, and its files where that index is there and fits."""

    name: str
    chunks: Collection[CodeChunk]
    files: Collection[CodeChunk] | None
    offset: int  # number of its first chunk among the chunks of all subsystems

    @property
    def rows(self) -> int:
        return self.chunks.searchable


def open_subsystems(
    root: Path, encoder: EncoderId | None, names: Sequence[str] = ()
) -> tuple[list[Subsystem], list[str]]:
    """The subsystems under `root`, and sentences about what is missing.

    A subsystem without a usable file index is opened all the same and searched in one stage.
    Raises BadIndex when there is no subsystem, or a chunk index is damaged or of another encoder.
    """
    found = sorted(path.parent.name.removesuffix(CHUNKS) for path in root.glob(f"*{CHUNKS}/{NAME}"))
    wanted = list(names) or found
    if not wanted:
        raise BadIndex(f"no kernel index at {str(root)!r}", hint=f"build one: {BUILD.format(name='kernel', root=root)}")
    opened: list[Subsystem] = []
    missing: list[str] = []
    offset = 0
    for name in wanted:
        rebuild = BUILD.format(name=name, root=root)
        chunks = Collection.load(root / f"{name}{CHUNKS}", encoder, of=CodeChunk, rebuild=rebuild)
        try:
            files: Collection[CodeChunk] | None = Collection.load(
                root / f"{name}{FILES}", encoder, of=CodeChunk, rebuild=rebuild
            )
            if files is not None and files.manifest.corpus_hash != chunks.manifest.corpus_hash:
                raise BadIndex(f"{name}{FILES} is of another build than {name}{CHUNKS}")
        except BadIndex as error:
            files = None
            missing.append(f"{name} is searched by its chunks alone: {error}; to repair: {rebuild}")
        opened.append(Subsystem(name, chunks, files, offset))
        offset += chunks.searchable
    return opened, missing


class KernelStore:
    """Columns of all searched chunks, in one numbering. Read-only after it is built."""

    def __init__(self, subsystems: Sequence[Subsystem]) -> None:
        self.subsystems = tuple(subsystems)
        self.rows = sum(one.rows for one in subsystems)
        self.names: list[str] = []
        self.files: list[str] = []
        self.file_of: Ints = np.zeros(self.rows, dtype=np.int64)  # (rows,) number of the file
        for one in subsystems:
            self._read_names(one)
        self.file_number = {name: number for number, name in enumerate(self.files)}
        self._file_rows = [self._file_places(one) for one in subsystems]
        self._file_vectors = [one.files.dense.vectors() if one.files else None for one in subsystems]
        self._is_function = np.array([kind == "function" for kind in self.column("kind").to_pylist()], dtype=np.bool_)
        self._by_name: dict[str, list[int]] = {}
        for row, name in enumerate(self.names):
            self._by_name.setdefault(name, []).append(row)
        for rows in self._by_name.values():
            if len(rows) > 1 and any(self._is_function[row] for row in rows):
                rows[:] = [row for row in rows if self._is_function[row]]
        every = np.linspace(0, max(0, self.rows - 1), min(SAMPLE, self.rows)).astype(np.int64)
        self.sample = self.vectors(every)  # (SAMPLE, dim)

    def _read_names(self, one: Subsystem) -> None:
        encoded = self._column(one, "file").dictionary_encode().combine_chunks()
        self.file_of[one.offset : one.offset + one.rows] = encoded.indices.to_numpy() + len(self.files)
        self.files += encoded.dictionary.to_pylist()
        self.names += self._column(one, "function_name").to_pylist()

    def _column(self, one: Subsystem, name: str) -> Any:
        """The Arrow column of a subsystem, searched rows only, as a chunked array."""
        import pyarrow as pa

        column = one.chunks.table.column(name).slice(0, one.rows)
        return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])

    def column(self, name: str) -> Any:
        """The Arrow column over all subsystems, in the order of the numbers."""
        import pyarrow as pa

        pieces = [piece for one in self.subsystems for piece in self._column(one, name).chunks]
        return pa.chunked_array(pieces).combine_chunks()

    def _file_places(self, one: Subsystem) -> Ints:
        """(files of the file index,) their numbers; -1 for a file without a searched chunk."""
        if one.files is None:
            return np.zeros(0, dtype=np.int64)
        names = one.files.table.column("file").slice(0, one.files.searchable).to_pylist()
        return np.array([self.file_number.get(name, -1) for name in names], dtype=np.int64)

    def chunk(self, row: int) -> CodeChunk:
        one = self.subsystem_of(row)
        return one.chunks.chunk(row - one.offset)

    def subsystem_of(self, row: int) -> Subsystem:
        for one in self.subsystems:
            if 0 <= row - one.offset < one.rows:
                return one
        raise IndexError(row)

    def summary(self, file: str) -> str:
        """The summary of a file; empty where there is no file index."""
        for one in self.subsystems:
            row = one.files.row_of(file) if one.files else None
            if one.files and row is not None:
                return one.files.chunk(row).description
        return ""

    def named(self, name: str) -> list[int]:
        """Chunks called `name`, also by a second name (`read` for sys_read); the same case first."""
        found: list[int] = []
        for one in self.subsystems:
            found += (one.offset + one.chunks.keywords.rows_of(EXACT + name.lower())).tolist()
        return sorted(found, key=lambda row: (self.names[row] != name, row))

    def nearest(self, vector: Vectors, k: int, *, most: int | None = None) -> list[int]:
        """Of every subsystem the `k` chunks nearest to `vector` (any length), best first; at most `most`."""
        found = [(one.offset, *one.chunks.dense.nearest(vector, k)) for one in self.subsystems]
        rows = np.concatenate([offset + near for offset, near, _ in found])
        order = np.argsort(-np.concatenate([scores for *_, scores in found]), kind="stable")
        return [int(row) for row in rows[order][:most]]

    def vectors(self, rows: Ints) -> Vectors:
        """(len(rows), dim) vectors of chunks."""
        out = np.zeros((len(rows), self.subsystems[0].chunks.dense.dim), dtype=np.float32)
        for one in self.subsystems:
            own = (rows >= one.offset) & (rows < one.offset + one.rows)
            if own.any():
                out[own] = one.chunks.dense.rows(rows[own] - one.offset)
        return out

    def keyword_scores(self, words: Sequence[str]) -> Floats:
        """(rows,) BM25 of every chunk with tokens of a field."""
        if not words:
            return np.zeros(self.rows, dtype=np.float32)
        return np.concatenate([one.chunks.keywords.scores(words) for one in self.subsystems])

    def file_cosines(self, vector: Vectors) -> Floats:
        """(files,) cosine of every file summary with a question; NaN without a file index."""
        out = np.full(len(self.files), np.nan, dtype=np.float32)
        for places, vectors in zip(self._file_rows, self._file_vectors, strict=True):
            if vectors is not None:
                out[places[places >= 0]] = (vectors @ vector)[places >= 0]
        return out

    # -- names and the call graph

    def is_function(self, row: int) -> bool:
        return bool(self._is_function[row])

    def file_name(self, row: int) -> str:
        return self.files[int(self.file_of[row])]

    def functions_named(self, name: str) -> list[int]:
        """Functions called exactly `name`; macros and tables where no function is."""
        return self._by_name.get(name, [])

    def callers_of(self, chunk: CodeChunk) -> list[str]:
        """Names of all functions that call `chunk`, its own file first.

        A call means the definition in the caller's own file where there is one.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        calls = self.column("calls")
        at = pc.equal(pc.list_flatten(calls), pa.scalar(chunk.name)).to_numpy(zero_copy_only=False)
        rows = pc.list_parent_indices(calls).to_numpy()[at].tolist()
        defined = {self.file_name(row) for row in self.functions_named(chunk.name)} - {chunk.source}
        calling = [row for row in rows if self.file_name(row) not in defined]
        calling.sort(key=lambda row: self.file_name(row) != chunk.source)
        return list(dict.fromkeys(self.names[row] for row in calling))

    def mentions(self, word: str) -> bool:
        """Whether any chunk has the word in its code, whole."""
        return self.knows(BODY + word.lower())

    def knows(self, token: str) -> bool:
        """Whether any chunk has a token of a field."""
        return any(token in one.chunks.keywords for one in self.subsystems)


class NameParts:
    """Finds the names that share parts with one: `find_get_page` has find, get and page."""

    def __init__(self, names: Sequence[str]) -> None:
        self._having: dict[str, list[int]] = {}
        self._sizes: list[int] = []  # (names,) distinct parts of each
        for row, name in enumerate(names):
            parts = set(name_parts(name))
            self._sizes.append(len(parts))
            for part in parts:
                self._having.setdefault(part, []).append(row)

    def alike(self, parts: set[str], *, most: int) -> list[int]:
        """Rows of the names that share at least half of `parts`, those that share the largest part first."""
        shared = Counter(row for part in parts for row in self._having.get(part, ()))
        enough = [row for row in sorted(shared) if 2 * shared[row] >= len(parts)]
        return sorted(enough, key=lambda row: -shared[row] / (len(parts) + self._sizes[row] - shared[row]))[:most]
