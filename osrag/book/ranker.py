"""The trained ranker: a map that moves the vector of a question to where passages lie that answer it (H3).

An encoder lays a question near texts that speak alike, and an answer speaks otherwise than its question. The map is
fitted on the readers' questions of the course and the passages that answer them (`bench/fit_ranker.py`, whole chapters
left out). Passages keep their vectors, so an index needs nothing new, and a question costs one small product.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

PATH = Path(__file__).resolve().parent.parent / "data" / "ranker.npz"
SHARE = 0.5  # of the map, beside the question as it is; with all of it other books are searched a little worse


@dataclass(frozen=True, slots=True)
class Ranker:
    """A low-rank map, for vectors of one encoder."""

    down: Floats  # (dim, rank)
    up: Floats  # (rank, dim)

    def toward(self, vector: Floats) -> Floats:
        """(dim,) of a question, between itself and where its answers lie."""
        moved = vector + vector @ self.down @ self.up
        return np.asarray((1 - SHARE) * vector + SHARE * moved / np.linalg.norm(moved), dtype=np.float32)


@functools.cache
def ranker_of(encoder: str) -> Ranker | None:
    """The map for vectors of the encoder of this name; None for one that it was not fitted on."""
    with np.load(PATH) as held:
        if str(held["encoder"]) != encoder:
            return None
        return Ranker(held["down"].astype(np.float32), held["up"].astype(np.float32))
