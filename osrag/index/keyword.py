"""Keyword search: BM25 over `osrag.text.tokens`, kept as one compressed file."""

import json
import logging
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
        self._vocabulary = vocabulary  # token -> its number
        self._starts = starts  # (tokens + 1,) where the postings of a token begin
        self._rows = rows  # (postings,)
        self._weights = weights  # (postings,)
        self._count = count

    @classmethod
    def build(cls, texts: Sequence[Sequence[str]]) -> "KeywordIndex":
        """`texts` are the token lists of the rows."""
        import bm25s

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG
        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(token, len(vocabulary)) for token in text] for text in texts]
        if not vocabulary:
            return cls({}, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), len(texts))
        engine = bm25s.BM25(method="lucene", k1=K1, b=B)
        engine.index((ids, vocabulary), show_progress=False, create_empty_token=False)
        starts, rows, weights = (np.asarray(engine.scores[name]) for name in ("indptr", "indices", "data"))
        return cls(vocabulary, starts.astype(np.int64), rows.astype(np.int32), weights.astype(np.float32), len(texts))

    @classmethod
    def load(cls, path: Path) -> "KeywordIndex":
        """Raises BadIndex when the file cannot be read."""
        try:
            with np.load(path, allow_pickle=False) as data:
                vocabulary = json.loads(bytes(data["vocabulary"]))
                parts = data["starts"], data["rows"].astype(np.int32), data["weights"].astype(np.float32)
                count = int(data["count"])
        except (OSError, ValueError, KeyError) as error:
            raise BadIndex(f"{path} is no readable keyword index", hint="build the index again") from error
        return cls({token: number for number, token in enumerate(vocabulary)}, *parts, count)

    def save(self, path: Path) -> None:
        """Write the file; weights keep 16 bits."""
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
        return np.sort(self._rows[self._postings(token)]).astype(np.int64)

    def scores(self, query: str | Sequence[str]) -> Scores:
        """(rows,) BM25 of `query` (text, or tokens already made) with every row. A repeated token counts once."""
        out = np.zeros(self._count, dtype=np.float32)
        for word in dict.fromkeys(tokens(query) if isinstance(query, str) else query):
            span = self._postings(word)
            out[self._rows[span]] += self._weights[span]  # a token has a row once
        return out

    def _postings(self, token: str) -> slice:
        """Where the rows and weights of a token lie; nowhere for a token that no row has."""
        number = self._vocabulary.get(token)
        return slice(0, 0) if number is None else slice(int(self._starts[number]), int(self._starts[number + 1]))


def scaled(scores: Scores) -> Scores:
    """(rows,) BM25 scores divided by the best one; zeros where no word was found."""
    best = float(scores.max(initial=0.0))
    return np.asarray(scores / best if best > 0 else np.zeros_like(scores), dtype=np.float32)
