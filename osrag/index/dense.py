"""Vectors in FAISS: the exact inner product over unit rows, so a score is a cosine."""

import logging
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex
from osrag.models.protocols import Vectors

log = logging.getLogger(__name__)

Codec = Literal["float32", "float16", "int8"]
Rows = npt.NDArray[np.int64]  # row numbers in the table

# A graphics card adds up in another order, so its scores differ in the last digits. It therefore only names
# candidates, a few more than asked for, and the index itself scores them: the order is that of a search without a card.
SPARE_CANDIDATES = 16  # rows beyond those asked for; rounding does not move a row further
MOST_CANDIDATES = 2048  # FAISS finds no more neighbours than this on a card


class DenseIndex:
    """An exact index. `float16` halves the file with no loss that we could measure, `int8` quarters it."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._card: Any = None  # a copy of the index on a graphics card
        self._card_memory: Any = None  # is given back when nothing holds this

    @classmethod
    def build(cls, vectors: Vectors, *, codec: Codec = "float32") -> "DenseIndex":
        """`vectors` is (rows, dim) float32 with unit rows."""
        import faiss

        index: Any = faiss.IndexFlatIP(vectors.shape[1])
        if codec != "float32":
            kinds = faiss.ScalarQuantizer
            kind = kinds.QT_fp16 if codec == "float16" else kinds.QT_8bit
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

    def to_gpu(self, faiss: Any = None) -> bool:
        """Search with the first graphics card from now on.

        False, and nothing changes, without a card, without FAISS for it, or without room on it.
        `faiss` replaces the library in a test.
        """
        if faiss is None:
            import faiss
        if not len(self) or not getattr(faiss, "get_num_gpus", lambda: 0)():
            return False
        flat = faiss.IndexFlatIP(self.dim)
        flat.add(self.vectors())
        try:
            self._card_memory = faiss.StandardGpuResources()
            self._card = faiss.index_cpu_to_gpu(self._card_memory, 0, flat)
        except RuntimeError as error:
            log.warning("the index stays in main memory: %s", str(error).strip().splitlines()[-1][:200])
        return self._card is not None

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
        if self._card is None or k + SPARE_CANDIDATES > MOST_CANDIDATES:
            scores, found = self._index.search(queries, k)
            return found[0], scores[0]
        _, found = self._card.search(queries, k + SPARE_CANDIDATES)
        near = np.asarray(found[0][found[0] >= 0], dtype=np.int64)
        cosines = self.rows(near) @ query.astype(np.float32)
        order = np.lexsort((near, -cosines))[:k]
        return near[order], cosines[order]

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
