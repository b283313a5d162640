"""The order of kernel chunks for a question: a weighted sum of what each way of searching says.

A chunk gets the score of its file's summary beside its own, so that a good file lifts its functions and none is lost
because its file was not found. bench/fit_kernel_weights.py fits the weights on the development questions;
bench/ablation/kernel.py tells what each feature is worth on other questions.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from osrag.kernel.describe import BODY, DATA, WORDS
from osrag.kernel.query import KernelQuestion
from osrag.kernel.store import Floats, Ints, KernelStore
from osrag.models.protocols import Vectors

WEIGHTS = DATA / "kernel_weights.json"
POOL = 400  # chunks that each way of searching brings into the pool
NAMED_ROWS = 3  # chunks of one name in the question
UNSURE_SIDE = 0.25  # share of a neighbour's weight if a question about calls does not say which side it means
FEATURES = (
    "dense", "dense_bridge", "words", "chinese", "body", "file_dense", "file_bridge",
    "named", "neighbour", "suggested", "calls", "lines",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked:
    """The pool, best first."""

    rows: Ints  # (pool,) chunks
    scores: Floats  # (pool,)
    cosines: Floats  # (pool,) with the question itself
    file_cosines: Floats  # (files,) of their summaries; NaN without a file index
    named: tuple[int, ...]  # chunks that the question names
    features: Floats  # (pool, FEATURES)
    features_of: Callable[[Ints], Floats]  # (rows, FEATURES) of chunks outside the pool too


@cache
def weights() -> Mapping[str, float]:
    """Weight of each feature."""
    held: dict[str, float] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return held


def factors() -> Floats:
    """(FEATURES,) the weights as a vector."""
    return np.array([weights()[name] for name in FEATURES], dtype=np.float32)


class Ranker:
    """Ranks the chunks of one store. Read-only, safe for several threads."""

    def __init__(self, store: KernelStore) -> None:
        self.store = store
        first, last = (store.column(name).to_numpy() for name in ("start_line", "end_line"))
        calls = store.column("calls").value_lengths().to_numpy(zero_copy_only=False)
        # A long function with many calls does the work that a question is about. (rows,)
        self._calls = _standardised(np.log1p(calls).astype(np.float32))
        self._lines = _standardised(np.log(last - first + 1).astype(np.float32))

    def rank(self, question: KernelQuestion, vector: Vectors, bridge: Vectors) -> Ranked:
        """Order the pool for a question. `vector` and `bridge` embed its text and its English."""
        store = self.store
        fields = {
            "words": _relative(store.keyword_scores(WORDS + word for word in (*question.words, *question.guessed))),
            "chinese": _relative(store.keyword_scores(question.chinese)),
            "body": _relative(store.keyword_scores(BODY + ident for ident in question.idents)),
        }
        file_cosines = store.file_cosines(vector)
        named = self._named(question)
        suggested = [row for name in question.suggested for row in store.named(name)]
        near = self._neighbours(question, named)
        pool = self._pool(fields, vector, bridge, [*named, *suggested, *near])
        side = UNSURE_SIDE if question.relation == "either" else 1.0
        files = {"file_dense": _standardised(file_cosines), "file_bridge": _standardised(store.file_cosines(bridge))}

        def features_of(rows: Ints) -> Floats:
            """(rows, FEATURES) of any chunks."""
            vectors = store.vectors(rows)
            columns = {
                "dense": self._standard(vector, vectors @ vector),
                "dense_bridge": self._standard(bridge, vectors @ bridge),
                **{name: column[rows] for name, column in fields.items()},
                **{name: column[store.file_of[rows]] for name, column in files.items()},
                "named": np.isin(rows, named),
                "neighbour": np.isin(rows, near) * side,
                "suggested": np.isin(rows, suggested),
                "calls": self._calls[rows],
                "lines": self._lines[rows],
            }
            return np.stack([columns[name].astype(np.float32) for name in FEATURES], axis=1)

        features = features_of(pool)
        scores = features @ factors()
        order = np.argsort(-scores, kind="stable")
        pool = pool[order]
        cosines = (store.vectors(pool) @ vector).astype(np.float32)
        return Ranked(pool, scores[order], cosines, file_cosines, tuple(named), features[order], features_of)

    def _named(self, question: KernelQuestion) -> list[int]:
        """Chunks that the question names: structures if it is about one, else functions; failing those, any."""
        found: list[int] = []
        for name in question.names:
            rows = self.store.named(name)
            wanted = [row for row in rows if self.store.is_function(row) != question.about_type]
            found += (wanted or rows)[:NAMED_ROWS]
        return list(dict.fromkeys(found))

    def _neighbours(self, question: KernelQuestion, named: list[int]) -> list[int]:
        """Callers or callees of the named chunks, on the side that the question is about."""
        names: dict[str, None] = {}
        for row in named if question.relation else ():
            chunk = self.store.chunk(row)
            names |= dict.fromkeys(chunk.calls if question.relation != "callers" else ())
            names |= dict.fromkeys(chunk.called_by if question.relation != "callees" else ())
        return [row for name in names for row in self.store.functions_named(name)]

    def _pool(self, fields: Mapping[str, Floats], vector: Vectors, bridge: Vectors, more: list[int]) -> Ints:
        """Chunks to rank: the best of each way of searching, and `more`."""
        # Both cosines in one search, each with its weight in the ranking.
        joint = weights()["dense"] / self._spread(vector)[1] * vector
        joint = joint + weights()["dense_bridge"] / self._spread(bridge)[1] * bridge
        near = self.store.nearest(joint.astype(np.float32), POOL, most=2 * POOL)
        parts = [np.array([*more, *near], dtype=np.int64), *(_best(column, POOL) for column in fields.values())]
        return np.unique(np.concatenate(parts))

    def _spread(self, vector: Vectors) -> tuple[float, float]:
        """Mean and deviation of the cosine that an arbitrary chunk has with a question."""
        sample = self.store.sample @ vector
        return float(sample.mean()), max(float(sample.std()), 1e-6)

    def _standard(self, vector: Vectors, cosines: Floats) -> Floats:
        """Cosines in standard deviations above that of an arbitrary chunk with this question."""
        mean, spread = self._spread(vector)
        return ((cosines - mean) / spread).astype(np.float32)


def _standardised(values: Floats) -> Floats:
    """Mean 0, deviation 1. NaN counts as an average value; zeros if all values are the same."""
    known = values[~np.isnan(values)]
    spread = float(known.std()) if len(known) else 0.0
    return np.nan_to_num((values - known.mean()) / spread) if spread > 1e-9 else np.zeros_like(values)


def _relative(scores: Floats) -> Floats:
    """Scores as a share of the best one."""
    top = float(scores.max()) if len(scores) else 0.0
    return scores / top if top > 0 else scores


def _best(scores: Floats, k: int) -> Ints:
    """Rows of the `k` highest positive scores, in no order."""
    rows = np.flatnonzero(scores > 0)
    return rows if len(rows) <= k else rows[np.argpartition(-scores[rows], k)[:k]]
