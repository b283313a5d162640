"""A cross-encoder over what the merged search found: one global order (H3).

Where the machine affords none the order of the search stands. A reranker that breaks
does not cost an answer: the search's own order serves, and the log says so.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from osrag.book.chunking import search_text
from osrag.errors import ModelFailed
from osrag.models.protocols import Reranker
from osrag.types import ChunkKind, Hit

log = logging.getLogger(__name__)

POOL = 32  # merged candidates that are read again
EXERCISE_PENALTY = 0.12  # an exercise repeats the question, it does not answer it
FAQ_BONUS = 0.25  # H4: an entry whose question is this question
FAQ_COSINE = 0.93
EXERCISE_SECTIONS = ("exercise", "习题", "练习", "programming project", "思考题")


def scores_of(reranker: Reranker | None, query: str, texts: Sequence[str]) -> npt.NDArray[np.float32] | None:
    """(texts,) relevance, 0-1; None without a reranker, or when it failed."""
    if reranker is None or not texts:
        return None
    try:
        return reranker.scores(query, texts)
    except ModelFailed as error:
        log.warning("the order of the search stands: %s", error.sentence())
        return None


def rerank(reranker: Reranker | None, query: str, hits: Sequence[Hit], *, k: int) -> tuple[Hit, ...]:
    """The best `k` hits for `query`, best first; the first `k` as they are without a reranker.

    A hit's score becomes the reranker's, with what the search adds for an entry that answers
    directly and takes off for an exercise. Ties keep the search's order.
    """
    pool = list(hits)
    scores = scores_of(reranker, query, [search_text(hit.chunk) for hit in pool])
    if scores is None:
        return tuple(pool[:k])
    total = [float(score) + adjustment(hit) for score, hit in zip(scores, pool, strict=True)]
    order = sorted(range(len(pool)), key=lambda place: -total[place])
    return tuple(replace(pool[place], score=total[place]) for place in order[:k])


def adjustment(hit: Hit) -> float:
    """What is added to the relevance of a hit for what it is."""
    if hit.chunk.kind is ChunkKind.FAQ and hit.similarity > FAQ_COSINE:
        return FAQ_BONUS
    return -EXERCISE_PENALTY if is_exercise(hit.chunk.section) else 0.0


def is_exercise(section: Sequence[str]) -> bool:
    return any(name in part.lower() for part in section[-2:] for name in EXERCISE_SECTIONS)


def blended(own: Sequence[int], scores: npt.NDArray[np.float32], *, damping: int = 10) -> list[int]:
    """Places `own` (best first) in one order with the reranker's `scores` of the same places.

    By reciprocal rank: the search of the kernel knows the call graph, which the words that a
    cross-encoder reads do not show, so neither order replaces the other.
    """
    by_score = sorted(range(len(own)), key=lambda place: -float(scores[place]))
    total = {place: 1 / (damping + place) for place in range(len(own))}
    for rank, place in enumerate(by_score):
        total[place] += 1 / (damping + rank)
    return [own[place] for place in sorted(total, key=lambda place: -total[place])]
