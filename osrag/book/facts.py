"""Facts of a book as examiners ask about them: question, answer, and the stretch of the text that states each.

An exercise names the fact that decides it in words of its own, and the sentence of the book often shares few of
them. A question of an examiner about the same fact, with its answer, is nearer to the exercise with its right option.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from osrag.index.collection import Collection
from osrag.models.protocols import Vectors
from osrag.types import Ask, Language

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class NearFacts:
    """The facts nearest to an exercise, the nearest first."""

    facts: tuple[Ask, ...]
    near: Floats  # (facts,) standard deviations above an arbitrary fact


class Facts:
    """The questions of one collection that have an answer. Safe to call from several threads."""

    def __init__(self, asks: Collection[Ask]) -> None:
        rows = asks.table.chunks()[: asks.searchable]
        vectors = asks.dense.vectors()
        self._facts: dict[Language, tuple[tuple[Ask, ...], Vectors]] = {}
        for language in ("zh", "en"):
            own = [row for row, ask in enumerate(rows) if ask.answer and ask.language == language]
            if own:
                self._facts[language] = tuple(rows[row] for row in own), vectors[own]

    def nearest(self, options: Vectors, language: Language, *, k: int) -> NearFacts | None:
        """`options` (options, dim): the exercise with each of its options. None without facts in the language."""
        if language not in self._facts:
            return None
        facts, vectors = self._facts[language]
        best = (options @ vectors.T).max(axis=0)  # (facts,)
        order = np.argsort(-best)[:k]
        near = (best - best.mean()) / (float(best.std()) or 1.0)
        return NearFacts(tuple(facts[place] for place in order), np.asarray(near[order], dtype=np.float32))
