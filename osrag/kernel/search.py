"""Kernel search: from a question to functions (K1, K2, H5)."""

import itertools
import re
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from osrag.index.confidence import load_confidence
from osrag.index.dense import DenseIndex, VectorIndex
from osrag.index.manifest import id_of
from osrag.index.rerank import POOL, blended, scores_of
from osrag.index.tables import release_unused
from osrag.kernel.describe import BODY, WORDS, described
from osrag.kernel.graph import Graph
from osrag.kernel.grow import grown
from osrag.kernel.near_walks import NOTHING, NearWalks
from osrag.kernel.query import (
    MOST_MISSING,
    KernelQuestion,
    Missing,
    find_missing,
    folders,
    missing_note,
    other_version,
    read_question,
    renamed,
)
from osrag.kernel.rank import FEATURES, Ranked, Ranker
from osrag.kernel.store import KernelStore, open_store, stamp_of
from osrag.kernel.walk_match import FoundWalk, Told, Walks, open_walks
from osrag.kernel.walks import Walk
from osrag.models.protocols import Encoder, PairEncoder, Reranker, Vectors
from osrag.recent import Recent
from osrag.text import clip, language_of, normalise, share_of, tokens
from osrag.types import CodeChunk, CodeHit, Language
from osrag.wording import say

READ_CHARS = 1200  # of a chunk that a reranker reads: name, description and the head of the code
WORDS_CHARS = 6000  # of a chunk's code that are searched for the words of the question
SET = 10  # functions of an answer
GROWN = 40  # functions of a set that is grown; beside a walk-through and for the edges of the path more than SET count
HELPED = 3  # functions that a helper of a header may stand for
TOP = 3  # hits that the confidence looks at


@dataclass(frozen=True, slots=True)
class FileHits:
    """A source file and its chunks among the hits, best first."""

    source_file: str
    summary: str
    similarity: float  # cosine of the summary with the question; 0 without a file index
    hits: tuple[CodeHit, ...]


@dataclass(frozen=True, slots=True)
class KernelResult:
    """What a search found, and what it has to say about it."""

    query: str
    timestamp: str  # ISO 8601, UTC
    files: tuple[FileHits, ...]  # the file of the best chunk first
    hits: tuple[CodeHit, ...]  # best first, over all files
    confidence: float  # probability that these hits answer the question
    signals: Mapping[str, float]  # what the confidence is computed from
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]  # sentences for the student: what is not there, another version, a missing file index
    version: str  # of the kernel, "6.1.192"
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    grown: tuple[CodeHit, ...] = ()  # the likeliest functions for the answer, best first
    walk: FoundWalk | None = None  # the walk-through that answers the question; looked for by `with_walk`

    def to_dict(self) -> dict[str, Any]:
        """The result as K2 has it, for JSON."""
        return {
            "query": self.query,
            "timestamp": self.timestamp,
            "retrieved_files": [
                {
                    "source_file": one.source_file,
                    "md_summary": one.summary,
                    "similarity": round(one.similarity, 4),
                    "chunks": [chunk_dict(hit) for hit in one.hits],
                }
                for one in self.files
            ],
            "kernel_version": self.version,
            "confidence": round(self.confidence, 3),
            "missing": [asdict(one) for one in self.missing],
            "notes": list(self.notes),
            "timings_ms": {name: round(value, 1) for name, value in self.timings_ms.items()},
        }


def chunk_dict(hit: CodeHit) -> dict[str, Any]:
    """A hit as K2 has it, for JSON."""
    chunk = hit.chunk
    return {
        "chunk_id": chunk.id,
        "function_name": chunk.name,
        "kind": chunk.kind.value,
        "start_line": chunk.where.first,
        "end_line": chunk.where.last,
        "description": chunk.description,
        "score": round(hit.score, 4),
        "similarity": round(hit.similarity, 4),
        "content": chunk.text,
    }


class KernelSearch:
    """Searches all kernel subsystems under one folder. Safe to call from several threads.

    An index that changes on disk is read again before the next search; results are cached.
    """

    def __init__(
        self,
        root: Path,
        encoder: Encoder,
        *,
        reranker: Reranker | None = None,
        pairs: PairEncoder | None = None,
        vectors: Callable[[Path], VectorIndex] = DenseIndex.load,
    ) -> None:
        self.root = root
        self.encoder = encoder
        self.reranker = reranker
        self.pairs = pairs
        self._vectors = vectors  # opens those of the chunks
        self._lock = Lock()
        self._recent: Recent[KernelResult] = Recent()
        self.ranker, self.walks, self.near, self.graph = self._load()

    @property
    def version(self) -> str:
        """The version of the indexed kernel: "6.1.192"."""
        return self.store.version

    @property
    def store(self) -> KernelStore:
        """The columns of the index."""
        return self.ranker.store

    def search(self, query: str, *, k: int = 10, extra: Sequence[str] = ()) -> KernelResult:
        """The `k` best chunks, grouped by file. A function that the question names is always among them.

        `extra` holds English terms or identifiers that a language model adds (K3).
        """
        ranker = self._fresh()
        key = (normalise(query).lower(), k, tuple(extra), ranker.store.stamp)
        held = self._recent.get(key)
        if held is not None:
            return replace(held, query=query, timestamp=_now(), timings_ms={"total": 0.0})
        result = self._search(ranker, query, k, extra)
        self._recent.put(key, result)
        return result

    def _search(self, ranker: Ranker, query: str, k: int, extra: Sequence[str]) -> KernelResult:
        """A search that is not in the cache."""
        start = time.perf_counter()
        store = ranker.store
        question = read_question(current_names(query, store), extra=extra)
        read = time.perf_counter()
        vector, bridge = self.embed(question)
        embedded = time.perf_counter()
        ranked = self._reranked(ranker.rank(question, vector, bridge), question, store)
        places = choose(ranked, store, k)
        hits = tuple(_hit(ranked, store, place) for place in places)
        near = self.near.near(vector) if self.near else NOTHING
        likely = grown(ranked, self.graph, near, k=GROWN)
        written = read_question(query)  # with the old names: a renamed function is worth a note
        missing = [one for one in find_missing(written, store) if one.where or not self._speak_of(one.what)]
        told = signals(ranked, store, question, hits)
        done = time.perf_counter()
        return KernelResult(
            query=query,
            timestamp=_now(),
            files=_by_file(hits, store, ranked),
            hits=hits,
            confidence=load_confidence("kernel")(told),
            signals=told,
            missing=tuple(missing),
            notes=_notes(store, written, missing),
            version=store.version,
            grown=tuple(_of_set(row, chance, vector, ranked, store) for row, chance in likely),
            timings_ms={
                "embed": 1000 * (embedded - read),
                "search": 1000 * (done - embedded + read - start),
                "total": 1000 * (done - start),
            },
        )

    def _reranked(self, ranked: Ranked, question: KernelQuestion, store: KernelStore) -> Ranked:
        """The pool, its head reordered with the help of the reranker if there is one."""
        chunks = [store.chunk(int(row)) for row in ranked.rows[:POOL]] if self.reranker else []
        texts = [clip(f"{chunk.name}: {described(chunk)}\n{chunk.text}", READ_CHARS) for chunk in chunks]
        scores = scores_of(self.reranker, question.bridge, texts)
        if scores is None:
            return ranked
        head = blended(range(len(chunks)), scores)
        order = np.array([*head, *range(len(chunks), len(ranked.rows))], dtype=np.int64)
        # The scores stay where they are: they only say that an earlier chunk is the better one.
        rows, cosines, features = ranked.rows[order], ranked.cosines[order], ranked.features[order]
        return replace(ranked, rows=rows, cosines=cosines, features=features)

    def embed(self, question: KernelQuestion) -> tuple[Vectors, Vectors]:
        """The vectors of the question and of its English, in one batch; one vector for both if they are the same."""
        if question.bridge == question.text:
            vector = self.encoder.queries([question.text])[0]
            return vector, vector
        both = self.encoder.queries([question.text, question.bridge])
        return both[0], both[1]

    def callees(self, chunk: CodeChunk) -> list[CodeChunk]:
        """Definitions of what a chunk calls, in the order of the calls; the one in the same file if there is one."""
        return [self.store.chunk(row) for row in self.store.definitions(chunk.calls, chunk.source)]

    def with_walk(self, found: KernelResult) -> KernelResult:
        """The result with the walk-through that answers its question, if one does."""
        if self.walks is None:
            return found
        vector = self.encoder.queries([found.query])[0]
        return replace(found, walk=self.walks.find(found.query, vector, found.hits, self.store))

    def chance_of_walk(self, found: KernelResult) -> float:
        """0-1, that a walk-through answers the question of a result."""
        if self.walks is None:
            return 0.0
        return self.walks.chance(found.query, self.encoder.queries([found.query])[0], found.hits)

    def told(self, query: str, names: AbstractSet[str], language: Language) -> dict[str, Told]:
        """What steps of walk-throughs say of functions, of several the one nearest to the question."""
        return self.walks.told(names, self.encoder.queries([query])[0], language) if self.walks else {}

    def near_walk(self, found: KernelResult) -> Walk | None:
        """The walk-through that is nearest to a question that none answers."""
        if self.walks is None:
            return None
        return self.walks.near(found.query, self.encoder.queries([found.query])[0], found.hits)

    def _speak_of(self, name: str) -> bool:
        """Whether a walk-through speaks of a name that no code has: a file of /proc stands in a string."""
        return self.walks is not None and self.walks.mentions(name)

    def _load(self) -> tuple[Ranker, Walks | None, NearWalks | None, Graph]:
        """Read the index on disk."""
        encoder = id_of(self.encoder)
        ranker = Ranker(open_store(self.root, encoder, vectors=self._vectors))
        walks = open_walks(self.root, encoder, self.pairs)
        release_unused()
        graph = Graph(ranker.store, walks.walks if walks else ())
        return ranker, walks, NearWalks(walks, ranker.store) if walks else None, graph

    def _fresh(self) -> Ranker:
        """The loaded index; read again if the one on disk has changed."""
        with self._lock:
            if stamp_of(self.root) != self.store.stamp:
                self.ranker, self.walks, self.near, self.graph = self._load()
            return self.ranker


def signals(ranked: Ranked, store: KernelStore, question: KernelQuestion, hits: Sequence[CodeHit]) -> dict[str, float]:
    """What the confidence of a search rests on.

    `dense`: standard deviations of the best hits above an arbitrary chunk, for the question or its English.
    `words`: the share of the question's words, in English, that the best hits hold.
    `known`: the share of them that the index has at all.
    """
    if not hits:
        return {"dense": 0.0, "words": 0.0, "known": 0.0}
    columns = [FEATURES.index(name) for name in ("dense", "dense_bridge")]
    dense = float(ranked.features[:TOP, columns].max())
    texts = (f"{described(hit.chunk)} {hit.chunk.text[:WORDS_CHARS]}" for hit in hits[:TOP])
    held = {token for text in texts for token in tokens(text)}
    known = [word for word in question.words if store.knows(WORDS + word) or store.knows(BODY + word)]
    return {"dense": dense, "words": share_of(question.words, held), "known": share_of(question.words, known)}


def _notes(store: KernelStore, question: KernelQuestion, missing: Sequence[Missing]) -> tuple[str, ...]:
    """Sentences about what is not there, in the language of the question."""
    version, language = store.version, language_of(question.text)
    notes = [missing_note(one, version, store.subsystem_names, language) for one in missing]
    if question.about_type:
        places = folders(store.subsystem_names, language)
        used = [name for name in question.certain if not store.named(name) and store.mentions(name)]
        notes += [say("kernel_type_elsewhere", language, name=name, version=version, folders=places) for name in used]
    other = other_version(question.text, version)
    if other:
        notes.append(say("kernel_other_version", language, other=other, version=version))
    return (*notes, *store.missing)


def current_names(query: str, store: KernelStore) -> str:
    """The question with the present name put behind every name of another kernel version.

    A name that the index does not have may be a helper of a header; the functions named after it are put behind all.
    """
    for old, (new, _) in renamed().items():
        if old not in query or store.functions_named(old):
            continue
        whole = rf"(?<!\w){re.escape(old)}(?!\w)(?:\(\))?"
        query = re.sub(whole, rf"\g<0> ({new})", query, count=1)
    missing = (name for name in read_question(query).certain if not store.named(name) and not store.mentions(name))
    for name in itertools.islice((name for name in missing if name not in renamed()), MOST_MISSING):
        query += "".join(f" ({longer})" for longer in store.named_after(name)[:HELPED])
    return query


def choose(ranked: Ranked, store: KernelStore, k: int) -> list[int]:
    """Places in the pool to show, best first: each name once; what the question names is always among them."""
    places: dict[str, int] = {}
    for place, row in enumerate(ranked.rows.tolist()):
        places.setdefault(store.names[row], place)
    named = [place for place, row in enumerate(ranked.rows.tolist()) if row in ranked.named][:k]
    best = [place for place in places.values() if place not in named][: k - len(named)]
    return sorted([*named, *best])


def _hit(ranked: Ranked, store: KernelStore, place: int) -> CodeHit:
    """The hit at a place in the pool."""
    row = int(ranked.rows[place])
    found_by = "name" if row in ranked.named else "fusion"
    return CodeHit(store.chunk(row), float(ranked.scores[place]), float(ranked.cosines[place]), found_by)


def _of_set(row: int, chance: float, vector: Vectors, ranked: Ranked, store: KernelStore) -> CodeHit:
    """A function of a set; its score is the chance that it belongs to the answer."""
    similarity = float((store.vectors(np.array([row])) @ vector)[0])
    return CodeHit(store.chunk(row), chance, similarity, "name" if row in ranked.named else "graph")


def _by_file(hits: Sequence[CodeHit], store: KernelStore, ranked: Ranked) -> tuple[FileHits, ...]:
    """The hits of each file, with the summary of the file."""
    groups: dict[str, list[CodeHit]] = {}
    for hit in hits:
        groups.setdefault(hit.chunk.source, []).append(hit)
    cosines = np.nan_to_num(ranked.file_cosines)
    return tuple(
        FileHits(file, store.summary(file), float(cosines[store.file_number[file]]), tuple(found))
        for file, found in groups.items()
    )


def _now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
