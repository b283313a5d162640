"""A cross-encoder over what the merged search found: one global order (H3).

Where the machine affords none, the order of the search stands. A reranker that breaks does not cost an answer:
the search's own order serves, and the log says so.
"""

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from osrag.errors import ModelFailed
from osrag.models.protocols import Reranker

log = logging.getLogger(__name__)

POOL = 32  # merged candidates that a reranker reads
DAMPING = 10  # of the two orders; with more, their first places count hardly more than the others


def scores_of(reranker: Reranker | None, query: str, texts: Sequence[str]) -> npt.NDArray[np.float32] | None:
    """(texts,) relevance, 0-1; None without a reranker, or when it failed."""
    if reranker is None or not texts:
        return None
    try:
        return reranker.scores(query, texts)
    except ModelFailed as error:
        log.warning("the order of the search stands: %s", error.sentence())
        return None


def blended(own: Sequence[int], scores: npt.NDArray[np.float32]) -> list[int]:
    """Places `own` (best first) in one order with the reranker's `scores` of the same places.

    By reciprocal rank: the search of the kernel knows the call graph, which the words that a
    cross-encoder reads do not show, so neither order replaces the other.
    """
    by_score = sorted(range(len(own)), key=lambda place: -float(scores[place]))
    total = {place: 1 / (DAMPING + place) for place in range(len(own))}
    for rank, place in enumerate(by_score):
        total[place] += 1 / (DAMPING + rank)
    return [own[place] for place in sorted(total, key=lambda place: -total[place])]
