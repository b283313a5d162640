"""Questions that were written for the passages of a book: those of students, and those of examiners with an answer.

A student who does not know the term for a thing shares few words with the page that explains it, and often even the
encoder does not bridge the two. A question that was written for that page in everyday words does. An exercise, in turn,
names the fact that decides it in words of its own; an examiner's question about the same fact, with its answer, is
nearer to the exercise with its right option than the sentence of the book.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from osrag.book.rank import Floats, Rows, standardised
from osrag.index.collection import Collection
from osrag.index.keyword import scaled
from osrag.models.protocols import Vectors
from osrag.types import Ask, Chunk, Language

KEYWORD_WEIGHT = 0.6  # of BM25 beside the cosine, as in the search of the text
UNASKED = 0.3  # passages without students' questions are scored by their own text once more, at so much less


@dataclass(frozen=True, slots=True)
class NearFacts:
    """The facts nearest to an exercise, the nearest first."""

    facts: tuple[Ask, ...]
    near: Floats  # (facts,) standard deviations above an arbitrary fact


@dataclass(frozen=True, slots=True)
class _Asks:
    """The questions in one language, and the pairs of a question and a row of the text that it leads to."""

    numbers: Rows  # (questions,) in the collection of questions
    vectors: Vectors  # (questions, dim)
    facts: Rows  # (facts,) places in `numbers` of those that have an answer
    places: Rows  # (pairs,) places in `numbers`
    rows: Rows  # (pairs,) rows of the text


class Asked:
    """What questions say about the passages of one collection. Safe to call from several threads."""

    def __init__(self, text: Collection[Chunk], asks: Collection[Ask]) -> None:
        self.version = asks.manifest.corpus_hash
        self._collection = asks
        self._asks: dict[Language, _Asks] = {}
        questions = asks.searched()
        vectors = asks.dense.vectors()
        for language in ("zh", "en"):
            numbers = np.array([n for n, one in enumerate(questions) if one.language == language], dtype=np.int64)
            pairs = _pairs(text, [questions[n] for n in numbers])
            facts = np.array([place for place, n in enumerate(numbers) if questions[n].answer], dtype=np.int64)
            if len(pairs):
                self._asks[language] = _Asks(numbers, vectors[numbers], facts, *pairs.T)

    def scores(self, language: Language, vector: Floats, words: Sequence[str], own: Floats) -> Floats:
        """(rows,) to add to the scores of the text, for a question in `language` with its `vector` (dim,).

        `own` (rows,) are the scores of the passages' own text. They stand in for the questions where nobody wrote
        any, so that both kinds stay on one scale. Zero everywhere without questions in the language.
        """
        asks = self._asks.get(language)
        if asks is None:
            return np.zeros_like(own)
        meaning = standardised(asks.vectors @ vector)  # (questions,)
        keyword = scaled(self._collection.keywords.scores(words)[asks.numbers])  # (questions,)
        total = own - UNASKED
        total[asks.rows] = -np.inf
        np.maximum.at(total, asks.rows, (meaning + KEYWORD_WEIGHT * keyword)[asks.places])
        return np.asarray(total, dtype=np.float32)

    def nearest(self, options: Vectors, language: Language, *, k: int) -> NearFacts | None:
        """The `k` facts nearest to an exercise; None without facts in its language.

        `options` (options, dim): the exercise with each of its options.
        """
        asks = self._asks.get(language)
        if asks is None or not len(asks.facts):
            return None
        best = (options @ asks.vectors.T).max(axis=0)[asks.facts]  # (facts,)
        order = np.argsort(-best)[:k]
        near = (best - best.mean()) / (float(best.std()) or 1.0)
        facts = tuple(self._collection.chunk(int(number)) for number in asks.numbers[asks.facts[order]])
        return NearFacts(facts, np.asarray(near[order], dtype=np.float32))


def _pairs(text: Collection[Chunk], asks: Sequence[Ask]) -> Rows:
    """(pairs, 2) place of a question and row that it leads to; rows that are not searched are left out."""
    found = ((place, text.row_of(id_)) for place, ask in enumerate(asks) for id_ in ask.chunk_ids)
    pairs = [(place, row) for place, row in found if row is not None and row < text.searchable]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
