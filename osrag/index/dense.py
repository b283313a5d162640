"""Vectors in FAISS: exact inner product over unit rows, so a score is a cosine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex
from osrag.index.dense_gpu import MORE, MOST, Faiss, GpuCopy
from osrag.models.protocols import Vectors

Codec = Literal["float32", "float16", "int8"]
Rows = npt.NDArray[np.int64]  # row numbers in the table


class DenseIndex:
    """An exact index. `float16` halves the file at no loss that was measurable, `int8` quarters it."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._gpu: GpuCopy | None = None

    @classmethod
    def build(cls, vectors: Vectors, *, codec: Codec = "float32") -> "DenseIndex":
        """`vectors` is (rows, dim) float32 with unit rows."""
        import faiss

        dim = vectors.shape[1]
        quantizer = faiss.ScalarQuantizer
        index: Any
        if codec == "float32":
            index = faiss.IndexFlatIP(dim)
        else:
            kind = quantizer.QT_fp16 if codec == "float16" else quantizer.QT_8bit
            index = faiss.IndexScalarQuantizer(dim, kind, faiss.METRIC_INNER_PRODUCT)
        if len(vectors):
            index.train(vectors)
            index.add(vectors)
        return cls(index)

    @classmethod
    def load(cls, path: Path) -> "DenseIndex":
        import faiss

        try:
            return cls(faiss.read_index(str(path)))
        except RuntimeError as error:
            raise BadIndex(f"{path} is no readable FAISS file", hint="build the index again") from error

    def save(self, path: Path) -> None:
        import faiss

        # Through Python's own file: FAISS's writer loses what a full disk refuses at close.
        path.write_bytes(faiss.serialize_index(self._index).tobytes())

    def to_gpu(self, faiss: Faiss | None = None) -> bool:
        """Search on the graphics card from now on; False, and nothing changes, where there is none."""
        self._gpu = GpuCopy.of(self.vectors(), faiss)
        return self._gpu is not None

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def dim(self) -> int:
        return int(self._index.d)

    def search(self, query: Vectors, k: int, *, rows: Sequence[int] | Rows | None = None) -> list[tuple[int, float]]:
        """The `k` nearest (row, cosine) to `query` (dim,), best first; among `rows` where given."""
        found, cosines = self.nearest(query, k, rows=rows)
        return list(zip(found.tolist(), cosines.tolist(), strict=True))

    def nearest(
        self, query: Vectors, k: int, *, rows: Sequence[int] | Rows | None = None
    ) -> tuple[Rows, npt.NDArray[np.float32]]:
        """`search` as two arrays: rows and their cosines."""
        import faiss

        count = len(self) if rows is None else len(rows)
        if not count or k < 1:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        if self._gpu is not None and rows is None and min(k, count) + MORE <= MOST:
            near = self._gpu.candidates(query, min(k, count))
            cosines = self.similarities(query, near)
            order = np.lexsort((near, -cosines))[: min(k, count)]
            return near[order], cosines[order]
        params = None
        if rows is not None:
            selector = faiss.IDSelectorBatch(np.asarray(rows, dtype=np.int64))
            params = faiss.SearchParameters()
            params.sel = selector
        scores, found = self._index.search(query[None, :].astype(np.float32), min(k, count), params=params)
        there = found[0] >= 0
        return found[0][there], scores[0][there]

    def rows(self, rows: Rows) -> Vectors:
        """(len(rows), dim) float32: some rows, decoded."""
        if not len(rows):
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.asarray(self._index.reconstruct_batch(np.asarray(rows, dtype=np.int64)), dtype=np.float32)

    def similarities(self, query: Vectors, rows: Sequence[int] | Rows) -> npt.NDArray[np.float32]:
        """(len(rows),) cosines of `query` (dim,) with the vectors of `rows`."""
        if not len(rows):
            return np.zeros(0, dtype=np.float32)
        vectors = self._index.reconstruct_batch(np.asarray(rows, dtype=np.int64))
        return np.asarray(vectors @ query, dtype=np.float32)

    def vectors(self) -> Vectors:
        """All rows, decoded: (rows, dim) float32."""
        if not len(self):
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.asarray(self._index.reconstruct_n(0, len(self)), dtype=np.float32)
