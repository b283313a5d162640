"""Vectors in FAISS: the exact inner product over unit rows, so a score is a cosine."""

from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex
from osrag.models.protocols import Vectors

Codec = Literal["float32", "float16", "int8", "int6"]
Rows = npt.NDArray[np.int64]  # row numbers in the table


class VectorIndex(Protocol):
    """Vectors by row, wherever they are held."""

    @property
    def dim(self) -> int: ...
    def __len__(self) -> int: ...
    def nearest(self, query: Vectors, k: int) -> tuple[Rows, npt.NDArray[np.float32]]: ...
    def rows(self, rows: Rows) -> Vectors: ...
    def vectors(self) -> Vectors: ...


class DenseIndex:
    """An exact index.

    `float16` halves the file with no loss that we could measure, `int8` quarters it, and `int6` takes a quarter less
    than that.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, vectors: Vectors, *, codec: Codec = "float32") -> "DenseIndex":
        """`vectors` is (rows, dim) float32 with unit rows."""
        import faiss

        index: Any = faiss.IndexFlatIP(vectors.shape[1])
        if codec != "float32":
            kinds = faiss.ScalarQuantizer
            kind = {"float16": kinds.QT_fp16, "int8": kinds.QT_8bit, "int6": kinds.QT_6bit}[codec]
            index = faiss.IndexScalarQuantizer(vectors.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        if len(vectors):
            index.train(vectors)
            index.add(vectors)
        return cls(index)

    @classmethod
    def load(cls, path: Path) -> "DenseIndex":
        """Raises BadIndex when FAISS cannot read the file."""
        import faiss

        try:
            return cls(faiss.read_index(str(path)))
        except RuntimeError as error:
            raise BadIndex(f"{path} is no readable FAISS file", hint="build the index again") from error

    def save(self, path: Path) -> None:
        """Write the file. Raises OSError when the disk is full."""
        import faiss

        # Through Python's own file: FAISS's writer loses what a full disk refuses at close.
        path.write_bytes(faiss.serialize_index(self._index).tobytes())

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def dim(self) -> int:
        """Numbers a vector."""
        return int(self._index.d)

    def nearest(self, query: Vectors, k: int) -> tuple[Rows, npt.NDArray[np.float32]]:
        """The rows of the `k` vectors nearest to `query` (dim,), and their cosines; best first."""
        k = min(k, len(self))
        if k < 1:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        queries = query[None, :].astype(np.float32)
        scores, found = self._index.search(queries, k)
        return found[0], scores[0]

    def rows(self, rows: Rows) -> Vectors:
        """(len(rows), dim) float32: some rows, decoded."""
        if not len(rows):
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.asarray(self._index.reconstruct_batch(np.asarray(rows, dtype=np.int64)), dtype=np.float32)

    def vectors(self) -> Vectors:
        """All rows, decoded: (rows, dim) float32."""
        if not len(self):
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.asarray(self._index.reconstruct_n(0, len(self)), dtype=np.float32)
