"""Readers' questions beside the text: a question is compared with those that were written for a passage.

Who does not know the term of a thing shares few words with the page that explains it, and often even the
encoder does not bridge the two. A question that was written for that page in everyday words does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from osrag.book.rank import Floats, Rows, scaled, standardised
from osrag.index.collection import Collection
from osrag.models.protocols import Vectors
from osrag.types import Ask, Chunk, Language

KEYWORD_WEIGHT = 0.6  # of BM25 beside the cosine, as in the search of the text
UNASKED = 0.3  # passages without readers' questions are scored by their own text once more, at so much less


@dataclass(frozen=True, slots=True)
class _Asks:
    """The questions in one language, and the pairs of a question and a row of the text that it leads to."""

    numbers: Rows  # (questions,) in the collection of questions
    vectors: Vectors  # (questions, dim)
    places: Rows  # (pairs,) places in `numbers`
    rows: Rows  # (pairs,) rows of the text


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
                self._asks[language] = _Asks(numbers, vectors[numbers], *pairs.T)

    def scores(self, language: Language, vector: Floats, words: Sequence[str], own: Floats) -> Floats:
        """(rows,) to add to the scores of the text, for a question in `language` with its `vector` (dim,).

        `own` (rows,) are the scores of the passages' own text. They stand in for the questions where nobody wrote
        any, so that both kinds stay on one scale. Zero everywhere without questions in the language.
        """
        asks = self._asks.get(language)
        if asks is None:
            return np.zeros_like(own)
        meaning = standardised(asks.vectors @ vector)  # (questions,)
        keyword = scaled(self._keywords.scores(words)[asks.numbers])  # (questions,)
        total = own - UNASKED
        total[asks.rows] = -np.inf
        np.maximum.at(total, asks.rows, (meaning + KEYWORD_WEIGHT * keyword)[asks.places])
        return np.asarray(total, dtype=np.float32)


def _pairs(text: Collection[Chunk], asks: Sequence[Ask]) -> Rows:
    """(pairs, 2) place of a question and row that it leads to; rows that are not searched are left out."""
    found = ((place, text.row_of(id_)) for place, ask in enumerate(asks) for id_ in ask.chunk_ids)
    pairs = [(place, row) for place, row in found if row is not None and row < text.searchable]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
