"""The kernel collections in memory, as one numbered list of chunks over all subsystems."""

import difflib
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex
from osrag.index.collection import Collection
from osrag.index.dense import DenseIndex, VectorIndex
from osrag.index.manifest import NAME, EncoderId
from osrag.kernel.describe import BODY, EXACT, WORDS, name_parts
from osrag.models.protocols import Vectors
from osrag.text import tokens
from osrag.types import CodeChunk

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Stamp = tuple[tuple[str, int, int], ...]  # name, time in ns and inode of each collection on disk
CHUNKS, FILES = "_chunks", "_files"
NEAREST = 3  # names that are suggested for one that is not there
CANDIDATES = 4000  # chunks with words of it in name or description, whose names are compared; more take longer
SAMPLE = 1024  # chunks that tell what cosine an arbitrary chunk has with a question
# Headers hold what stands in for code that is not configured; these files are for machines of another kind.
_SELDOM = re.compile(r"\.h$|/(?:nommu|up|slab|slob|percpu-km|tiny|srcutiny)\.c$")
BUILD = "python -m osrag build kernel --source linux-source-6.1.tar.xz --subsystem {name} --out {root}"


@dataclass(frozen=True, slots=True)
class Subsystem:
    """One subsystem: its chunks, and its files if that index exists and belongs to the same build."""

    name: str
    chunks: Collection[CodeChunk]
    files: Collection[CodeChunk] | None
    offset: int  # number of its first chunk among the chunks of all subsystems


def stamp_of(root: Path) -> Stamp:
    """The state of the collections under `root`; it changes with every build."""
    paths = sorted(root.glob(f"*_*/{NAME}"))
    return tuple((path.parent.name, stat.st_mtime_ns, stat.st_ino) for path in paths for stat in [path.stat()])


def open_store(
    root: Path, encoder: EncoderId, *, vectors: Callable[[Path], VectorIndex] = DenseIndex.load
) -> "KernelStore":
    """The subsystems under `root`; `vectors` opens the vectors of their chunks.

    A subsystem without a usable file index is opened too; it is searched in one stage.
    Raises BadIndex if there is no subsystem, or if a chunk index is damaged or was made by another encoder.
    """
    stamp = stamp_of(root)
    found = sorted(path.parent.name.removesuffix(CHUNKS) for path in root.glob(f"*{CHUNKS}/{NAME}"))
    if not found:
        raise BadIndex(f"no kernel index at {str(root)!r}", hint=f"build one: {BUILD.format(name='kernel', root=root)}")
    opened: list[Subsystem] = []
    missing: list[str] = []
    offset = 0
    for name in found:
        rebuild = BUILD.format(name=name, root=root)
        chunks = Collection.load(root / f"{name}{CHUNKS}", encoder, of=CodeChunk, rebuild=rebuild, vectors=vectors)
        files: Collection[CodeChunk] | None = None
        try:
            files = Collection.load(root / f"{name}{FILES}", encoder, of=CodeChunk, rebuild=rebuild)
            if files.manifest.corpus_hash != chunks.manifest.corpus_hash:
                raise BadIndex(f"{name}{FILES} is of another build than {name}{CHUNKS}")
        except BadIndex as error:
            files = None
            missing.append(f"{name} is searched by its chunks alone: {error}; to repair: {rebuild}")
        opened.append(Subsystem(name, chunks, files, offset))
        offset += chunks.searchable
    versions = {one.name: one.chunks.manifest.source.removeprefix("Linux ") for one in opened}
    if len(set(versions.values())) > 1:
        missing.append("the subsystems are of different kernels: " + ", ".join(map(" ".join, versions.items())))
    return KernelStore(opened, tuple(missing), versions[found[0]], stamp)


class KernelStore:
    """Columns of all searched chunks, in one numbering. Read-only after it is built."""

    def __init__(self, subsystems: Sequence[Subsystem], missing: tuple[str, ...], version: str, stamp: Stamp) -> None:
        self.subsystems = tuple(subsystems)
        self.missing = missing  # sentences about collections that do not exist or do not fit
        self.version = version  # of the kernel
        self.stamp = stamp
        self.subsystem_names = tuple(one.name for one in subsystems)
        self.rows = sum(one.chunks.searchable for one in subsystems)
        self.names: list[str] = self.column("function_name").to_pylist()
        files = self.column("file").dictionary_encode()
        self.files: list[str] = files.dictionary.to_pylist()
        self.file_of: Ints = files.indices.to_numpy().astype(np.int64)  # (rows,) number of the file
        self.file_number = {name: number for number, name in enumerate(self.files)}
        self._summaries = self._summary_vectors()
        self._calls = self.column("calls")
        self._is_function = np.array([kind == "function" for kind in self.column("kind").to_pylist()], dtype=np.bool_)
        self._by_name: dict[str, list[int]] = {}
        for row, name in enumerate(self.names):
            self._by_name.setdefault(name, []).append(row)
        first, last = (self.column(name).to_numpy() for name in ("start_line", "end_line"))
        for name, rows in self._by_name.items():
            rows = [row for row in rows if self._is_function[row]] or rows
            if len(rows) > 1:  # the one that most kernels have; what stands in for code that is left out is short
                rows.sort(key=lambda row: (bool(_SELDOM.search(self.file_name(row))), first[row] - last[row]))
            self._by_name[name] = rows
        every = np.linspace(0, max(0, self.rows - 1), min(SAMPLE, self.rows)).astype(np.int64)
        self.sample = self.vectors(every)  # (SAMPLE, dim)

    def column(self, name: str) -> Any:
        """The Arrow column over all subsystems, in the order of the numbers."""
        import pyarrow as pa

        columns = [one.chunks.table.column(name).slice(0, one.chunks.searchable) for one in self.subsystems]
        return pa.chunked_array([piece for column in columns for piece in column.chunks]).combine_chunks()

    def _summary_vectors(self) -> Vectors:
        """(files, dim) vectors of the file summaries; NaN for a file without one."""
        out = np.full((len(self.files), self.subsystems[0].chunks.dense.dim), np.nan, dtype=np.float32)
        for one in self.subsystems:
            if one.files:
                names = one.files.table.column("file").to_pylist()
                for name, vector in zip(names, one.files.dense.vectors(), strict=False):  # the searched rows come first
                    if name in self.file_number:
                        out[self.file_number[name]] = vector
        return out

    def chunk(self, row: int) -> CodeChunk:
        """The chunk with this number. Raises IndexError."""
        for one in self.subsystems:
            if 0 <= row - one.offset < one.chunks.searchable:
                return one.chunks.chunk(row - one.offset)
        raise IndexError(row)

    def with_id(self, chunk_id: str) -> CodeChunk | None:
        """The piece of code with this id, searched or only kept; None where there is none."""
        found = ((one, one.chunks.row_of(chunk_id)) for one in self.subsystems)
        return next((one.chunks.chunk(row) for one, row in found if row is not None), None)

    def summary(self, file: str) -> str:
        """The summary of a file; empty without a file index."""
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
        """The `k` chunks of every subsystem nearest to `vector` (any length), best first; at most `most`."""
        found = [(one.offset, *one.chunks.dense.nearest(vector, k)) for one in self.subsystems]
        rows = np.concatenate([offset + near for offset, near, _ in found])
        order = np.argsort(-np.concatenate([scores for *_, scores in found]), kind="stable")
        return [int(row) for row in rows[order][:most]]

    def vectors(self, rows: Ints) -> Vectors:
        """(len(rows), dim) vectors of chunks."""
        out = np.zeros((len(rows), self.subsystems[0].chunks.dense.dim), dtype=np.float32)
        for one in self.subsystems:
            own = (rows >= one.offset) & (rows < one.offset + one.chunks.searchable)
            if own.any():
                out[own] = one.chunks.dense.rows(rows[own] - one.offset)
        return out

    def keyword_scores(self, words: Iterable[str]) -> Floats:
        """(rows,) BM25 of every chunk with `words`, which carry the prefixes of their fields."""
        words = list(words)
        return np.concatenate([one.chunks.keywords.scores(words) for one in self.subsystems])

    def file_cosines(self, vector: Vectors) -> Floats:
        """(files,) cosine of every file summary with a question; NaN for a file without a summary."""
        return (self._summaries @ vector).astype(np.float32)

    # -- names and the call graph

    def is_function(self, row: int) -> bool:
        """Whether a chunk is a function, and not a structure or a macro."""
        return bool(self._is_function[row])

    def file_name(self, row: int) -> str:
        """The source file of a chunk."""
        return self.files[int(self.file_of[row])]

    def functions_named(self, name: str) -> list[int]:
        """Functions called exactly `name`; macros and tables if no function is."""
        return self._by_name.get(name, [])

    def definitions(self, names: Iterable[str], file: str) -> list[int]:
        """What code in `file` means by these names: the definition in the same file if there is one, or else folder."""
        folder = file.rpartition("/")[0]
        found = filter(None, map(self.functions_named, names))
        nearest = functools.partial(min, key=lambda row: self._distance(row, file, folder))
        return [rows[0] if len(rows) == 1 else nearest(rows) for rows in found]

    def _distance(self, row: int, file: str, folder: str) -> int:
        """How far a definition is from a `file` in `folder`: 0 in it, 1 in its folder, 2 elsewhere or in a stand-in."""
        own = self.file_name(row)
        return 0 if own == file else 1 if own.rpartition("/")[0] == folder and not _SELDOM.search(own) else 2

    def callees(self, row: int) -> list[int]:
        """Definitions of what a chunk calls, in the order of the calls."""
        return self.definitions(self._calls[row].as_py(), self.file_name(row))

    @functools.cached_property
    def _callers(self) -> dict[str, list[int]]:
        """Name -> the chunks that call something of this name; made when first asked for, in a tenth of a second."""
        found: dict[str, list[int]] = {}
        for row, names in enumerate(self._calls.to_pylist()):
            for name in names:
                found.setdefault(name, []).append(row)
        return found

    def callers(self, row: int) -> list[int]:
        """The chunks that call this one and not another of its name."""
        name = self.names[row]
        return [one for one in self._callers.get(name, []) if row in self.definitions([name], self.file_name(one))]

    def times_called(self, name: str) -> int:
        """How many chunks call something of this name."""
        return len(self._callers.get(name, ()))

    def with_word(self, token: str) -> list[int]:
        """Chunks that have a token of a field."""
        return [one.offset + int(row) for one in self.subsystems for row in one.chunks.keywords.rows_of(token)]

    def mentions(self, word: str) -> bool:
        """Whether any chunk has the word in its code, whole."""
        return self.knows(BODY + word.lower())

    def knows(self, token: str) -> bool:
        """Whether any chunk has a token of a field."""
        return any(token in one.chunks.keywords for one in self.subsystems)

    def named_after(self, name: str) -> list[str]:
        """The names that go on behind `name_`, the shortest first: async_schedule_node for async_schedule."""
        return sorted((one for one in self._by_name if one.startswith(f"{name}_")), key=len)

    def nearest_names(self, name: str) -> list[str]:
        """The names that look most like `name`, best first; empty if none does."""
        parts = {part for part in name_parts(name) if len(part) > 1}
        scores = self.keyword_scores(WORDS + token for token in tokens(name))
        best = dict.fromkeys(self.names[row] for row in np.argsort(-scores, kind="stable")[:CANDIDATES])
        alike = [one for one in best if len(parts.intersection(name_parts(one))) >= max(1, len(parts) / 2)]
        return difflib.get_close_matches(name, alike, n=NEAREST, cutoff=0.5)
