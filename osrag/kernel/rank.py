"""The order of kernel chunks for a question: what each way of searching says, weighed and added.

Two stages in one sum: the score of a file's summary is added to those of its chunks, and
the best files bring their chunks into the pool; but no chunk is lost because its file was
not among them. The weights were learned on the development questions
(`bench/fit_kernel_weights.py`); docs/experiments-kernel.md has the variants.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from osrag.kernel.describe import BODY, WORDS
from osrag.kernel.query import REVERSED_WEIGHT, KernelQuestion, Relation
from osrag.kernel.store import Floats, Ints, KernelStore, NameParts
from osrag.models.protocols import Vectors

# Code that watches, tests or extends the kernel: seldom what a course question is about.
_PERIPHERAL = re.compile(
    r"test|torture|debug|/kdb/|/damon/|/kcsan/|/kmsan/|/gcov/|/trace/|/bpf/|/livepatch/"
    r"|nommu|tiny"
)
STUB_LINES = 3


def structure(store: KernelStore) -> Mapping[str, Floats]:
    """Columns (rows,) about each chunk, standardised over the index."""
    import pyarrow as pa
    import pyarrow.compute as pc

    calls = store.column("calls")
    names = pa.array(store.names, type=pa.string())
    counted = pc.value_counts(pc.list_flatten(calls))
    place = pc.index_in(names, value_set=counted.field("values"))
    degree = pc.fill_null(pc.take(counted.field("counts"), place), 0).to_numpy(zero_copy_only=False)
    callees = pc.list_value_length(calls).to_numpy(zero_copy_only=False)
    first, last = (store.column(name).to_numpy() for name in ("start_line", "end_line"))
    lines = (last - first + 1).astype(np.float32)
    is_function = pc.equal(store.column("kind"), "function").to_numpy(zero_copy_only=False)
    content = store.pieces("content")  # the largest column
    told = pc.or_(pc.starts_with(content, "/*"), pc.starts_with(content, "//")).to_numpy()
    header = np.array([file.endswith(".h") for file in store.files])[store.file_of]
    aside = np.array([is_aside(file) for file in store.files])[store.file_of]
    columns = {
        "callers": np.log1p(degree),
        "callees": np.log1p(callees),
        "told": told,
        "length": np.log(lines),
        "function": is_function,
        "header": header,
        "peripheral": aside,
        "stub": is_function & (lines <= STUB_LINES),
        "system_call": np.array([name.startswith("sys_") for name in store.names]),
    }
    return {name: standardised(np.asarray(column, dtype=np.float32)) for name, column in columns.items()}


def is_aside(file: str) -> bool:
    """Whether a file watches, tests or extends the kernel."""
    return bool(_PERIPHERAL.search(file))


def standardised(values: Floats) -> Floats:
    """Mean 0, deviation 1; zeros where all values are the same."""
    spread = float(values.std()) if len(values) else 0.0
    if spread < 1e-9:
        return np.zeros_like(values)
    out: Floats = ((values - values.mean()) / spread).astype(np.float32)
    return out


WEIGHTS = Path(__file__).parent.parent / "data" / "kernel_weights.json"
POOL = 400  # chunks that each way of searching brings into the pool
TOP_FILES = 12  # best files, whose chunks all join the pool
PER_DOMAIN_FILES = 8  # of these at most so many of one subsystem
ASKED = 4.0  # times the weight of a neighbour, where the question says which side it asks for
FEATURES = (
    "dense", "dense_bridge", "words", "chinese", "body", "body_words", "name", "name_terms",
    "file_words", "file_chinese", "file_dense", "file_bridge", "named", "callee", "caller", "suggested",
    "callers", "callees", "told", "length", "function", "header", "peripheral", "stub", "system_call",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked:
    """The pool, best first."""

    rows: Ints
    scores: Floats
    cosines: Floats  # with the question itself
    file_cosines: Floats  # (files,) of their summaries; NaN without a file index
    named: tuple[int, ...]  # chunks that the question names
    features: Floats  # (pool, FEATURES)


@cache
def weights() -> Mapping[str, float]:
    """Weight of each feature."""
    held: dict[str, float] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return held


class Ranker:
    """Ranks the chunks of one store. Read-only, safe for several threads."""

    def __init__(self, store: KernelStore) -> None:
        self.store = store
        self.prior = structure(store)
        self.parts = NameParts(store.names)

    def rank(
        self, question: KernelQuestion, vector: Vectors, bridge: Vectors, *, weight: Mapping[str, float] | None = None
    ) -> Ranked:
        """Order the pool for a question. `vector` and `bridge` embed its text and its English."""
        use = weights() if weight is None else weight
        store = self.store
        fields = self._keyword_fields(question)
        file_columns, file_cosines = self._file_columns(question, vector, bridge)
        named = self._named(question)
        suggested = [row for name in question.suggested for row in store.named(name)]
        near = [
            row for side in self._neighbours(question, named) for name in side for row in store.functions_named(name)
        ]
        pool = self._pool(fields, file_columns, vector, bridge, [*named, *suggested, *near], use)
        columns = {name: column[pool] for name, column in fields.items()}
        columns |= {name: column[store.file_of[pool]] for name, column in file_columns.items()}
        columns |= {name: column[pool] for name, column in self.prior.items()}
        vectors = store.vectors(pool)
        cosines = (vectors @ vector).astype(np.float32)
        columns["dense"] = self._standard(vector, cosines)
        columns["dense_bridge"] = self._standard(bridge, vectors @ bridge)
        columns |= self._related(question, named, pool)
        columns["suggested"] = np.isin(pool, np.array(suggested, dtype=np.int64)).astype(np.float32)
        features = np.stack([columns[name].astype(np.float32) for name in FEATURES], axis=1)
        scores = features @ np.array([use.get(name, 0.0) for name in FEATURES], dtype=np.float32)
        order = np.argsort(-scores, kind="stable")
        return Ranked(pool[order], scores[order], cosines[order], file_cosines, tuple(named), features[order])

    def _keyword_fields(self, question: KernelQuestion) -> dict[str, Floats]:
        store = self.store
        boosts = dict.fromkeys([*question.guessed, *question.synonyms], REVERSED_WEIGHT)
        bare = [word.removeprefix(WORDS) for word in question.words]
        guessed = [word.removeprefix(WORDS) for word in question.guessed]
        return {
            "words": _relative(store.keyword_scores([*question.words, *question.guessed], boosts)),
            "chinese": _relative(store.keyword_scores([*question.chinese, *question.synonyms], boosts)),
            "body": _relative(store.keyword_scores(question.idents)),
            "body_words": _relative(store.keyword_scores([BODY + word for word in bare])),
            "name": self.parts.covered([*bare, *guessed]),
            "name_terms": self.parts.covered([*bare, *question.ident_parts]),
        }

    def _file_columns(
        self, question: KernelQuestion, vector: Vectors, bridge: Vectors
    ) -> tuple[dict[str, Floats], Floats]:
        """Stage one: (files,) columns about the file summaries."""
        store = self.store
        cosines = store.file_cosines(vector)
        return {
            "file_words": _relative(store.file_keyword_scores(question.words)),
            "file_chinese": _relative(store.file_keyword_scores(question.chinese)),
            "file_dense": _known(cosines),
            "file_bridge": _known(store.file_cosines(bridge)),
        }, cosines

    def _named(self, question: KernelQuestion) -> list[int]:
        found = [row for name in question.names for row in self.store.named(name)]
        return list(dict.fromkeys(found))

    def _pool(
        self,
        fields: Mapping[str, Floats],
        file_columns: Mapping[str, Floats],
        vector: Vectors,
        bridge: Vectors,
        named: list[int],
        use: Mapping[str, float],
    ) -> Ints:
        """Chunks worth a look: the best of each way, all of the best files, and what is named."""
        store = self.store
        parts: list[Ints] = [np.array(named, dtype=np.int64)]
        joint = self._weighed(vector, use.get("dense", 1.0)) + self._weighed(bridge, use.get("dense_bridge", 1.0))
        parts.append(np.array(store.nearest(joint.astype(np.float32), POOL, most=2 * POOL), dtype=np.int64))
        parts += [_best(column, POOL) for column in fields.values()]
        stage_one = np.sum([use.get(name, 0.0) * column for name, column in file_columns.items()], axis=0)
        files = self._best_files(stage_one) if store.two_stages else np.zeros(0, dtype=np.int64)
        parts.append(np.flatnonzero(np.isin(store.file_of, files)))
        return np.unique(np.concatenate(parts))

    def _best_files(self, scores: Floats) -> Ints:
        """The best TOP_FILES, at most PER_DOMAIN_FILES of one subsystem."""
        taken: dict[int, int] = {}
        out: list[int] = []
        for file in np.argsort(-scores, kind="stable")[: 8 * TOP_FILES]:
            domain = int(self.store.domain_of[file])
            if taken.get(domain, 0) < PER_DOMAIN_FILES and len(out) < TOP_FILES:
                taken[domain] = taken.get(domain, 0) + 1
                out.append(int(file))
        return np.array(out, dtype=np.int64)

    def _spread(self, vector: Vectors) -> tuple[float, float]:
        sample = self.store.sample @ vector
        return float(sample.mean()), max(float(sample.std()), 1e-6)

    def _weighed(self, vector: Vectors, weight: float) -> Vectors:
        return vector * (weight / self._spread(vector)[1])

    def _standard(self, vector: Vectors, cosines: Floats) -> Floats:
        """How far above what an arbitrary chunk gets from this question."""
        mean, spread = self._spread(vector)
        return ((cosines - mean) / spread).astype(np.float32)

    def _related(self, question: KernelQuestion, named: list[int], pool: Ints) -> dict[str, Floats]:
        """What the question names; and, where it asks who calls whom, the neighbours of that."""
        store = self.store
        names = np.array([store.names[row] for row in pool], dtype=object)
        callees, callers = self._neighbours(question, named)
        loose = {word for word in question.loose if len(word) > 3}
        exact = np.isin(pool, np.array(named, dtype=np.int64)).astype(np.float32)
        soft = np.array([name in loose for name in names], dtype=np.float32)
        return {
            "named": np.maximum(exact, 0.3 * soft),
            "callee": _asked_for(question, "callees") * np.isin(names, callees),
            "caller": _asked_for(question, "callers") * np.isin(names, callers),
        }

    def _neighbours(self, question: KernelQuestion, named: list[int]) -> tuple[list[str], list[str]]:
        """Names of what the named functions call and of what calls them, where the question asks for them."""
        callees: dict[str, None] = {}
        callers: dict[str, None] = {}
        for row in named[:8] if question.relation else ():
            chunk = self.store.chunk(row)
            callees.update(dict.fromkeys(chunk.calls))
            callers.update(dict.fromkeys(chunk.called_by))
        return list(callees), list(callers)


def _asked_for(question: KernelQuestion, side: Relation) -> float:
    """How much it counts to be a neighbour on this side of a function that the question names."""
    if question.relation in ("", "either"):
        return 1.0
    return ASKED if question.relation == side else 0.0


def _relative(scores: Floats) -> Floats:
    """Scores as a share of the best one."""
    top = float(scores.max()) if len(scores) else 0.0
    return scores / top if top > 0 else scores


def _known(cosines: Floats) -> Floats:
    """Standardised cosines; a file without a summary counts as an average one."""
    known = ~np.isnan(cosines)
    out = np.zeros_like(cosines)
    if known.any():
        out[known] = standardised(cosines[known])
    return out


def _best(scores: Floats, k: int) -> Ints:
    """Rows of the `k` highest positive scores, in no order."""
    rows = np.flatnonzero(scores > 0)
    if len(rows) <= k:
        return rows
    return rows[np.argpartition(-scores[rows], k)[:k]]
