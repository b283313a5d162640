"""Editions: documents of the index that are one text in two languages.

A student reads the edition in the language of the question; the other one would say the same again. Nobody has
to name editions: they have the same sections in the same order, and the vectors see which section says what.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from osrag.index.collection import Collection
from osrag.models.protocols import Vectors
from osrag.types import Chunk, Language

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

# Fixed on the course material; the figures are in docs/experiments/book-search.md.
LEAST_SECTIONS = 5  # two documents of fewer may agree by chance
AGREEING = 0.7  # share of the sections that are nearest to the section at the same place


@dataclass(frozen=True, slots=True)
class Editions:
    """Which rows of one edition stand where which rows of the other stand."""

    rows: Rows  # (pairs,) a row …
    twins: Rows  # (pairs,) … and one of the other edition at the same place; each pair in both directions

    def has_twin(self, count: int) -> npt.NDArray[np.bool_]:
        """(count,) true for the rows that are there in the other language too."""
        mask = np.zeros(count, dtype=np.bool_)
        mask[self.rows] = True
        return mask

    def twins_of(self, rows: Sequence[int]) -> list[int]:
        """The rows of the other edition that stand where `rows` stand."""
        return [int(row) for row in np.unique(self.twins[np.isin(self.rows, rows)])]


def find_editions(collection: Collection[Chunk], vectors: Vectors) -> Editions:
    """The editions among the documents of `collection`; `vectors` (rows, dim) are those of its rows."""
    documents = _sections(collection)
    pairs: list[tuple[int, int]] = []
    for zh in documents["zh"]:
        for en in documents["en"]:
            if _same_text(zh, en, vectors):
                pairs += [pair for one, other in zip(zh, en, strict=True) for pair in _same_place(one, other)]
    rows, twins = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Editions(np.concatenate([rows, twins]), np.concatenate([twins, rows]))


def _sections(collection: Collection[Chunk]) -> dict[Language, list[list[list[int]]]]:
    """By language: the documents, each as the rows of its sections, in the order of the document."""
    found: dict[Language, dict[str, dict[tuple[str, ...], list[int]]]] = {"zh": {}, "en": {}}
    for row, chunk in enumerate(collection.searched()):
        document = found[chunk.language].setdefault(chunk.source, defaultdict(list))
        document[chunk.section].append(row)
    return {language: [list(one.values()) for one in documents.values()] for language, documents in found.items()}


def _same_text(zh: Sequence[Sequence[int]], en: Sequence[Sequence[int]], vectors: Vectors) -> bool:
    """Whether two documents, each as the rows of its sections, are editions of one text."""
    if len(zh) != len(en) or len(zh) < LEAST_SECTIONS:
        return False
    near = _means(zh, vectors) @ _means(en, vectors).T  # (sections, sections) cosines
    return float((near.argmax(axis=1) == np.arange(len(zh))).mean()) >= AGREEING


def _means(sections: Sequence[Sequence[int]], vectors: Vectors) -> Vectors:
    """(sections, dim) unit rows."""
    means = np.array([vectors[list(rows)].mean(axis=0) for rows in sections], dtype=np.float32)
    return np.asarray(means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def _same_place(one: Sequence[int], other: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Rows of one section that overlap when both editions are laid side by side, stretched to one length."""
    for here, row in enumerate(one):
        for there, twin in enumerate(other):
            if here * len(other) < (there + 1) * len(one) and there * len(one) < (here + 1) * len(other):
                yield row, twin
