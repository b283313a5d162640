"""A copy of an index on the graphics card, where FAISS has one: it names candidates, the exact index scores them.

The card adds up in another order, so its scores differ in the last digits. A few more rows than
asked for come from it, their cosines are taken from the index itself, and the order is that of a
search without a card.
"""

import logging
from typing import Any, Protocol

import numpy as np

from osrag.models.protocols import Vectors

log = logging.getLogger(__name__)

MORE = 16  # rows beyond those asked for: rounding does not move a row further
MOST = 2048  # neighbours that FAISS finds on a card


class Faiss(Protocol):
    """What of FAISS is used for a card."""

    def get_num_gpus(self) -> int: ...
    def StandardGpuResources(self) -> Any: ...
    def index_cpu_to_gpu(self, resources: Any, device: int, index: Any) -> Any: ...
    def IndexFlatIP(self, dim: int) -> Any: ...


class GpuCopy:
    """Vectors on the first card."""

    def __init__(self, index: Any, resources: Any) -> None:
        self._index = index
        self._resources = resources  # the card's memory is given back when nothing holds it

    @classmethod
    def of(cls, vectors: Vectors, faiss: Faiss | None = None) -> "GpuCopy | None":
        """A copy of `vectors` (rows, dim); None where there is no card, no GPU build of FAISS or no room."""
        library: Any = faiss
        if library is None:
            import faiss as library
        if not len(vectors) or not getattr(library, "get_num_gpus", lambda: 0)():
            return None
        flat = library.IndexFlatIP(vectors.shape[1])
        flat.add(vectors)
        try:
            resources = library.StandardGpuResources()
            return cls(library.index_cpu_to_gpu(resources, 0, flat), resources)
        except RuntimeError as error:
            log.warning("the index stays in main memory: %s", str(error).strip().splitlines()[-1][:200])
            return None

    def candidates(self, query: Vectors, k: int) -> np.ndarray:
        """(at most k + MORE,) rows near `query` (dim,), the `k` nearest among them."""
        _, found = self._index.search(query[None, :].astype(np.float32), k + MORE)
        return np.asarray(found[0][found[0] >= 0], dtype=np.int64)
