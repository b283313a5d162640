"""Keyword search: BM25 over `osrag.text.tokens`, kept as one compressed file."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex
from osrag.text import tokens

# Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), use k1 1.2-2.0 and
# b 0.5-0.8; these are bm25s's defaults and no other pair was measurably better on our questions.
K1, B = 1.5, 0.75

Scores = npt.NDArray[np.float32]


class KeywordIndex:
    """Token -> (rows, weights), with BM25's weights computed when the index is built.

    bm25s computes the weights (Lü, 2024); the postings are stored in one .npz so that an
    index is a file, not a folder, and takes part in the manifest's atomic switch.
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        starts: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int32],
        weights: Scores,
        count: int,
    ) -> None:
        self._vocabulary = vocabulary
        self._starts = starts  # (tokens + 1,)
        self._rows = rows  # (postings,)
        self._weights = weights  # (postings,)
        self._count = count

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]]) -> "KeywordIndex":
        """`texts` are the token lists of the rows."""
        import logging

        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG
        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(token, len(vocabulary)) for token in text] for text in texts]
        if not vocabulary:
            empty = np.zeros(1, dtype=np.int64)
            return cls({}, empty, np.zeros(0, np.int32), np.zeros(0, np.float32), len(texts))
        engine = bm25s.BM25(method="lucene", k1=K1, b=B)
        engine.index((ids, vocabulary), show_progress=False, create_empty_token=False)
        scores = engine.scores
        return cls(
            vocabulary,
            np.asarray(scores["indptr"], dtype=np.int64),
            np.asarray(scores["indices"], dtype=np.int32),
            np.asarray(scores["data"], dtype=np.float32),
            len(texts),
        )

    @classmethod
    def load(cls, path: Path) -> "KeywordIndex":
        try:
            with np.load(path, allow_pickle=False) as data:
                vocabulary = json.loads(bytes(data["vocabulary"]))
                parts = data["starts"], data["rows"].astype(np.int32), data["weights"].astype(np.float32)
                count = int(data["count"])
        except (OSError, ValueError, KeyError) as error:
            raise BadIndex(f"{path} is no readable keyword index", hint="build the index again") from error
        return cls({token: number for number, token in enumerate(vocabulary)}, *parts, count)

    def save(self, path: Path) -> None:
        words = json.dumps(list(self._vocabulary), ensure_ascii=False, separators=(",", ":")).encode()
        np.savez_compressed(
            path,
            vocabulary=np.frombuffer(words, dtype=np.uint8),
            starts=self._starts,
            rows=self._rows,
            weights=self._weights.astype(np.float16),
            count=np.int64(self._count),
        )

    def __len__(self) -> int:
        return self._count

    def __contains__(self, token: str) -> bool:
        return token in self._vocabulary

    def rows_of(self, token: str) -> npt.NDArray[np.int64]:
        """Rows that have a token, ascending."""
        number = self._vocabulary.get(token)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        return np.sort(self._rows[self._starts[number] : self._starts[number + 1]]).astype(np.int64)

    def scores(self, query: str | Sequence[str], *, boosts: dict[str, float] | None = None) -> Scores:
        """(rows,) BM25 of `query` (text, or tokens already made) with every row.

        A repeated token counts once; `boosts` multiplies the weight of a token.
        """
        words = tokens(query) if isinstance(query, str) else query
        out = np.zeros(self._count, dtype=np.float32)
        for word in dict.fromkeys(words):
            number = self._vocabulary.get(word)
            if number is None:
                continue
            span = slice(int(self._starts[number]), int(self._starts[number + 1]))
            factor = 1.0 if boosts is None else boosts.get(word, 1.0)
            out[self._rows[span]] += factor * self._weights[span]  # rows of one token are distinct
        return out

    def search(
        self,
        query: str | Sequence[str],
        k: int,
        *,
        mask: npt.NDArray[np.bool_] | None = None,
        boosts: dict[str, float] | None = None,
    ) -> list[tuple[int, float]]:
        """The `k` best (row, BM25), best first, only rows that share a token; where `mask` is true."""
        scores = self.scores(query, boosts=boosts)
        if mask is not None:
            scores = np.where(mask, scores, 0.0).astype(np.float32)
        return best_rows(scores, k)


def best_rows(scores: Scores, k: int) -> list[tuple[int, float]]:
    """The `k` highest positive scores as (row, score), best first, ties by row."""
    if k < 1 or not len(scores):
        return []
    count = min(k, len(scores))
    top = np.argpartition(-scores, count - 1)[:count]
    top = top[np.lexsort((top, -scores[top]))]
    return [(int(row), float(scores[row])) for row in top if scores[row] > 0]
