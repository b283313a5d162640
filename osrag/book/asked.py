"""Readers' questions beside the text: a question is compared with those that were written for a passage.

Who does not know the term of a thing shares few words with the page that explains it, and often even the
encoder does not bridge the two. A question that was written for that page in everyday words does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from osrag.index.collection import Collection
from osrag.models.protocols import Vectors
from osrag.types import Ask, Chunk, Language

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

# Fixed on the development questions; the variants are in docs/experiments.md.
MEANING_WEIGHT = 1.0
KEYWORD_WEIGHT = 0.6
UNASKED = 0.3  # less for a passage whose own text stands in the place of questions: it has been counted before


@dataclass(frozen=True, slots=True)
class _Asks:
    """The questions in one language."""

    numbers: Rows  # of the questions, in the collection of questions
    vectors: Vectors  # (questions, dim)
    pairs: Rows  # a question, as a place in `numbers` …
    rows: Rows  # … and a row of the text that it leads to
    asked: Rows  # the rows, each once


class Asked:
    """What the questions of readers say about the passages of one collection. Safe to call from several threads."""

    def __init__(self, text: Collection[Chunk], asks: Collection[Ask]) -> None:
        self.count = asks.manifest.counts.get("bound", 0)
        self.version = asks.manifest.corpus_hash
        self._keywords = asks.keywords
        self._asks: dict[Language, _Asks] = {}
        questions = asks.table.chunks()[: asks.searchable]
        vectors = asks.dense.vectors()
        for language in ("zh", "en"):
            numbers = np.array([n for n, one in enumerate(questions) if one.language == language], dtype=np.int64)
            pairs = _pairs(text, [questions[n] for n in numbers])
            if len(pairs):
                places, rows = pairs.T
                self._asks[language] = _Asks(numbers, vectors[numbers], places, rows, np.unique(rows))

    def scores(self, language: Language, vector: Floats, words: Sequence[str], own: tuple[Floats, Floats]) -> Floats:
        """(rows,) to add to the scores of the text for a question in `language`.

        `own` are meaning and keywords of the passages' own text. They stand in for the questions where nobody
        wrote any, so that both stay on one scale. Zero everywhere without questions in the language.
        """
        asks = self._asks.get(language)
        meaning, keyword = own[0].copy(), own[1].copy()
        if asks is None:
            return np.zeros_like(meaning)
        cosines = asks.vectors @ vector
        spread = 5 * (float(cosines.std()) or 1.0)
        found = self._keywords.scores(words)[asks.numbers]
        best = float(found.max())
        meaning[asks.asked], keyword[asks.asked] = -np.inf, 0.0
        np.maximum.at(meaning, asks.rows, ((cosines - cosines.mean()) / spread)[asks.pairs])
        np.maximum.at(keyword, asks.rows, (found / best if best > 0 else found)[asks.pairs])
        total = MEANING_WEIGHT * meaning + KEYWORD_WEIGHT * keyword - UNASKED
        total[asks.asked] += UNASKED
        return np.asarray(total, dtype=np.float32)


def _pairs(text: Collection[Chunk], asks: Sequence[Ask]) -> Rows:
    """(pairs, 2) place of a question and row that it leads to; rows that are not searched are left out."""
    found = ((place, text.row_of(id_)) for place, ask in enumerate(asks) for id_ in ask.chunk_ids)
    pairs = [(place, row) for place, row in found if row is not None and row < text.searchable]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
