"""Search of the course material: by meaning and by keywords, each language of the corpus apart, in one order.

A text that the index holds in both languages is given in the language of the student.
"""

import functools
import re
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from osrag.book.answers import BookAnswers, PreparedAnswer
from osrag.book.asked import Asked
from osrag.book.chunking import search_text
from osrag.book.defining import names_of, said_in
from osrag.book.editions import find_editions
from osrag.book.rank import (
    Floats,
    Mask,
    Rows,
    pages_apart,
    standardised,
    taking_turns,
    with_other_language,
    with_section,
)
from osrag.book.ranker import ranker_of
from osrag.book.understood import lab_in, understand
from osrag.index.collection import Collection
from osrag.index.confidence import REFUSE, load_confidence
from osrag.index.keyword import scaled
from osrag.index.rerank import POOL, scores_of
from osrag.models.protocols import Encoder, Reranker, Vectors
from osrag.recent import Recent
from osrag.text import language_of, normalise, squeeze, tokens
from osrag.types import EVERYTHING, Ask, Chunk, ChunkKind, Hit, Language, Within

# Fixed on the development questions; what each is worth on others: `python -m bench.ablation --area book`.
MEANING_WEIGHT, KEYWORD_WEIGHT = 0.7, 0.6  # of the cosine and of BM25, both scaled to about 0-1
PREPARED_WEIGHT = 0.3  # of the likest question with a prepared answer that cites the passage
INTRODUCED_AMONG = 60  # the best passages, in which those that say what a thing is are looked for
SAID = 0.9  # least confidence where a question asks what a thing is and a passage says it
WANTED = 2.0  # for an entry of the reference, or a lab, that the question names: as much as a sure find by all others
DAMPING = 60  # of the rank fusion of several queries (Cormack et al., SIGIR 2009)
CACHED_VECTORS = 4096  # of passages that the encoder of the confidence has read
COMPARED = 8  # best hits that the encoder of the confidence reads, where another one searches
# Where no encoder of a known scale is at hand: just below the cosine at which a question without a term is answered.
UNKNOWN_COSINE = 0.87


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What one search found, and how sure it is."""

    query: str
    hits: tuple[Hit, ...]  # best first
    confidence: float  # 0-1, that these hits answer the query
    timings_ms: dict[str, float]
    prepared: PreparedAnswer | None = None  # to the query; its passages come first among the hits


@dataclass(frozen=True, slots=True)
class _Question:
    """A query as the search reads it."""

    text: str
    language: Language
    vector: Floats  # (dim,)
    words: tuple[str, ...]  # search tokens
    translated: tuple[str, ...]  # search tokens that a page in the other language may hold
    terms: int  # of the glossary that the question names, and what it wants by name
    wanted: Rows  # rows of entries and labs that it asks for by name


class TextbookSearch:
    """Searches one collection. Safe to call from several threads; results are cached (H5).

    The confidence was fitted on cosines of one encoder: `fitted` says that `encoder` is that one, `checker` is that
    one beside another. Without both the terms that the question names decide. Without `dense` the vectors are of an
    encoder that is not here: the search goes by keywords alone. `asks` are students' questions bound to `collection`,
    with vectors of `encoder`; `answers` are prepared from it.
    """

    def __init__(
        self,
        collection: Collection[Chunk],
        encoder: Encoder,
        *,
        checker: Encoder | None = None,
        reranker: Reranker | None = None,
        dense: bool = True,
        fitted: bool = True,
        asks: Collection[Ask] | None = None,
        answers: BookAnswers | None = None,
    ) -> None:
        self.collection = collection
        self.encoder = encoder
        self.reranker = reranker
        self.checker = checker or encoder  # for whoever compares sentences beside the search
        self.answers = answers
        vectors = collection.dense.vectors()  # (rows, dim)
        self.editions = find_editions(collection, vectors)  # whichever encoder made them
        self._compares = checker is not None
        self._dense = dense
        self._fitted = fitted and dense
        self._vectors: Vectors = vectors if dense else np.zeros((collection.searchable, 0), np.float32)
        self._has_twin = self.editions.has_twin(collection.searchable)
        chunks = collection.searched()
        self._languages = languages = np.array([chunk.language for chunk in chunks])
        self._categories = np.array([chunk.category for chunk in chunks])
        self._files = np.array([chunk.source for chunk in chunks])
        self._masks: dict[Language, Mask] = {
            language: languages == language for language in ("zh", "en") if language in languages
        }
        self._section = _numbered((chunk.source, chunk.section) for chunk in chunks)
        self._page = _numbered((chunk.source, chunk.where.first) for chunk in chunks)
        self.asked = Asked(collection, asks) if asks is not None and dense else None
        self._ranker = ranker_of(encoder.name) if dense else None
        self._second: Mask | None = None  # rows of a collection that stands behind the first
        self._alone = False  # only these
        leads = answers.leads if answers else {}
        self._leads = {language: _leads(collection, own) for language, own in leads.items()}
        self._entries = _entries(chunks)
        self._labs = np.array([lab_in(f"{chunk.source} {chunk.title}") or 0 for chunk in chunks])
        self._recent: Recent[SearchResult] = Recent()
        self._vector_of = functools.lru_cache(CACHED_VECTORS)(self._embedded)

    def with_second(self, collection: Collection[Chunk], *, alone: bool) -> "TextbookSearch":
        """This search with a second collection behind its own: `collection` holds the rows of both, in this order.

        The two take turns, because nobody wrote questions for the second; or it is searched `alone`. Its scores are
        told by their distance from those of the first, too: a few pages have no spread of their own.
        """
        search = TextbookSearch(
            collection,
            self.encoder,
            checker=self.checker if self._compares else None,
            reranker=self.reranker,
            dense=self._dense,
            fitted=self._fitted,
            answers=None if alone else self.answers,
        )
        search.asked = None if alone else self.asked
        search._second = np.arange(collection.searchable) >= self.collection.searchable
        search._alone = alone
        return search

    @property
    def version(self) -> str:
        """Changes with the corpus, its students' questions and the encoder."""
        asked = f":{self.asked.version}" if self.asked else ""
        return f"{self.collection.manifest.corpus_hash}:{self.encoder.revision}{asked}"

    @property
    def categories(self) -> tuple[str, ...]:
        """What a search may be kept within, in the order of the documents."""
        return tuple(dict.fromkeys(document.category for document in self.collection.manifest.documents))

    def search(
        self,
        query: str,
        *,
        k: int = 8,
        language: Language | None = None,
        reader: Language | None = None,
        within: Within = EVERYTHING,
    ) -> SearchResult:
        """The `k` best chunks, best first; only chunks in `language` where it is named, and only those `within`.

        `reader` is the language of the student: that of `query` unless named. Of two editions his own is given.
        """
        language = language or within.language or None
        reader = language or reader or language_of(query)
        key = (normalise(query).lower(), k, language, reader, within)
        found = self._recent.get(key)
        if found is None:
            found = self._search(query, k, language, reader, within)
            self._recent.put(key, found)
        return replace(found, query=query)

    def keyword_search(self, query: str, *, k: int = 8, within: Within = EVERYTHING) -> tuple[Hit, ...]:
        """The `k` chunks that hold the words of `query` themselves, by BM25 alone; the similarity is not computed."""
        scores = self.collection.keywords.scores(query)[: self.collection.searchable]
        scores[~self._allowed(within) | (scores <= 0)] = -np.inf
        order = np.argsort(-scores, kind="stable")[: int(np.isfinite(scores).sum())]
        hits = self._hits(order, scores, np.zeros_like(scores), k)
        return tuple(replace(hit, found_by="keyword") for hit in hits)

    def page(self, file: str, number: int) -> tuple[Chunk, ...]:
        """The chunks of a document that stand on a page of its file, or of a text file at a line, in their order."""
        rows = np.flatnonzero(self._files == file)
        chunks = (self.collection.chunk(int(row)) for row in rows)
        return tuple(chunk for chunk in chunks if chunk.where.first <= number <= chunk.where.last)

    def _allowed(self, within: Within) -> Mask:
        """(rows,) the chunks that a search may give."""
        allowed = np.ones(self.collection.searchable, dtype=np.bool_)
        if self._second is not None and self._alone:
            allowed &= self._second
        if within.category:
            allowed &= self._categories == within.category
        if within.file:
            allowed &= self._files == within.file
        if within.language:
            allowed &= self._masks.get(within.language, np.zeros_like(allowed))
        return allowed

    def _search(self, query: str, k: int, language: Language | None, reader: Language, within: Within) -> SearchResult:
        """`search` without the cache."""
        start = time.perf_counter()
        question = self._read(query)
        embedded = time.perf_counter()
        cosines = np.asarray(self._vectors @ question.vector, dtype=np.float32)  # (rows,)
        scores = self._scores(question, cosines, language)
        scores[question.wanted] += WANTED
        scores[~self._allowed(within)] = -np.inf
        depth = max(k, POOL if self.reranker else 0, COMPARED if self._compares else 0)
        order = self._order(scores, question.language, None if within.file else reader)
        names = names_of(query)
        order = self._with_introductions(order, names, k)
        if self._second is not None and not self._alone and self._may_answer(question, cosines, self._second):
            order = taking_turns(order, self._second)
        pool = self._hits(order, scores, cosines, depth)
        signals, pool = self._compared(question, np.where(np.isfinite(scores), cosines, -1), pool)
        hits = self._reranked(query, pool, k)
        done = time.perf_counter()
        timings = {
            "embed": 1000 * (embedded - start),
            "search": 1000 * (done - embedded),
            "total": 1000 * (done - start),
        }
        sure = load_confidence("textbook")(signals) if hits else 0.0
        if any(said_in(hit.chunk, names) for hit in hits):
            sure = max(sure, SAID)
        return SearchResult(query, hits, sure, timings)

    def _with_introductions(self, order: Rows, names: tuple[str, ...], k: int) -> Rows:
        """`order` with the next rows that say what a thing is in the last of the `k` places, where that is asked.

        They take a quarter of the places at most.
        """
        behind = order[k:INTRODUCED_AMONG] if names else ()
        said = (place for place, row in enumerate(behind, start=k) if said_in(self.collection.chunk(int(row)), names))
        found = np.array([*islice(said, k // 4)], dtype=np.int64)
        first = k - len(found)
        return np.concatenate([order[:first], order[found], np.delete(order[first:], found - first)])

    def _may_answer(self, question: _Question, cosines: Floats, second: Mask) -> bool:
        """Whether passages of the second collection answer the question, as far as that can be told of their encoder.

        A question is nearer to texts in its own language; by how much, the texts tell that the first has in both.
        """
        if not self._fitted:
            return True
        both = self._has_twin & ~second
        best = {language: float(cosines[mask & both].max(initial=0)) for language, mask in self._masks.items()}
        nearest = 0.0
        for language, mask in self._masks.items():
            ahead = best.get(question.language, 0.0) - best[language] if both.any() else 0.0
            nearest = max(nearest, float(cosines[mask & second].max(initial=-1)) + ahead)
        return load_confidence("textbook")(_signals(question, nearest, question.language)) >= REFUSE

    def merge(self, question: str, results: Sequence[SearchResult], *, k: int) -> tuple[Hit, ...]:
        """The best `k` hits of several queries for one question (T2); the same text is kept once.

        In the order of the reranker where there is one, else by reciprocal rank: a score has no scale of its own.
        """
        total: dict[str, float] = {}
        best: dict[str, Hit] = {}
        for result in results:
            for rank, hit in enumerate(result.hits, start=1):
                key = squeeze(hit.chunk.text)
                total[key] = total.get(key, 0.0) + 1 / (DAMPING + rank)
                if key not in best or hit.similarity > best[key].similarity:
                    best[key] = hit
        hits = [best[key] for key in sorted(total, key=total.__getitem__, reverse=True)]
        return tuple(hits[:k]) if len(results) < 2 else self._reranked(question, hits[: max(k, POOL)], k)

    def _reranked(self, query: str, hits: Sequence[Hit], k: int) -> tuple[Hit, ...]:
        """The best `k` hits for `query`, best first; the first `k` as they are without a reranker.

        A hit's score becomes the reranker's. Ties keep the order of the search.
        """
        scores = scores_of(self.reranker, query, [search_text(hit.chunk) for hit in hits])
        if scores is None:
            return tuple(hits[:k])
        order = np.argsort(-scores, kind="stable")[:k]
        return tuple(replace(hits[place], score=float(scores[place])) for place in order)

    def hits_at(self, query: str, chunk_ids: Sequence[str], *, language: Language | None) -> tuple[Hit, ...]:
        """The chunks named, in that order, as hits for `query`; only those in `language` where it is named."""
        rows = [row for row in map(self.collection.row_of, dict.fromkeys(chunk_ids)) if row is not None]
        vector = self._read(query).vector
        hits = (Hit(self.collection.chunk(row), 0.0, float(self._vectors[row] @ vector), "fact") for row in rows)
        return tuple(hit for hit in hits if language in (None, hit.chunk.language))

    def signals(self, query: str, *, language: Language | None = None) -> Mapping[str, float]:
        """What the confidence of a search for `query` rests on; only among chunks in `language` where it is named."""
        question = self._read(query)
        allowed = self._allowed(Within(language=language or ""))
        return self._nearest(question, np.where(allowed, self._vectors @ question.vector, -1))

    def _read(self, query: str) -> _Question:
        """The query with its vector, its words and its terms."""
        language = language_of(query)
        words = tuple(dict.fromkeys(tokens(query)))
        understood = understand(query, self._entries)
        wanted = [row for name in understood.calls for row in self._entries[name]]
        wanted += np.flatnonzero(self._labs == (understood.lab or -1)).tolist()
        names = [name for term in understood.terms for name in (term.en if language == "zh" else term.zh)]
        translated = dict.fromkeys(token for name in names for token in tokens(name))
        latin = (word for word in words if word.isascii())  # TLB, fork and 4 stand in pages of either language
        return _Question(
            text=query,
            language=language,
            vector=self.encoder.queries([query])[0] if self._dense else np.zeros(0, np.float32),
            words=words,
            translated=tuple(dict.fromkeys((*translated, *latin))),
            terms=len(understood.terms) + bool(len(wanted)),
            wanted=np.array(wanted, dtype=np.int64),
        )

    def _scores(self, question: _Question, cosines: Floats, only: Language | None) -> Floats:
        """(rows,) scores by meaning, keywords and written questions; -inf for other languages than `only`."""
        if self._ranker:
            cosines = np.asarray(self._vectors @ self._ranker.toward(question.vector), dtype=np.float32)
        own = np.full_like(cosines, -np.inf)  # of the passages' own text
        total = own.copy()
        for language, mask in self._masks.items():
            if only in (None, language):
                words = question.words if language == question.language else question.translated
                keyword = self.collection.keywords.scores(words)  # (rows,)
                meaning = MEANING_WEIGHT * standardised(cosines[mask])
                own[mask] = meaning + KEYWORD_WEIGHT * scaled(keyword[mask])
                total[mask] = with_section(own[mask], self._section[mask])
        if self.asked:
            total += self.asked.scores(question.language, question.vector, question.words, own)
        if self.answers and self._dense:
            total += PREPARED_WEIGHT * self._prepared(self.answers, question)
        return total

    def _prepared(self, answers: BookAnswers, question: _Question) -> Floats:
        """(rows,) how like the question is to those whose prepared answer cites the row; 0 where none is like it."""
        near = np.zeros(self.collection.searchable, dtype=np.float32)
        cosines = answers.cosines(question.vector, question.language)
        if cosines is not None:
            places, rows = self._leads[question.language]
            np.maximum.at(near, rows, standardised(cosines)[places])
        return near

    def _order(self, scores: Floats, asked_in: Language, reader: Language | None) -> Rows:
        """The rows that were scored, best first; of two editions only the one in the language `reader`, if any."""
        order = np.argsort(-scores, kind="stable")[: int(np.isfinite(scores).sum())]
        own = self._masks.get(reader) if reader else None
        if own is not None:
            order = order[~self._has_twin[order] | own[order]]
        other: Language = "en" if asked_in == "zh" else "zh"
        order = pages_apart(order, self._page)
        return with_other_language(order, self._masks[other]) if len(self._masks) > 1 else order

    def _hits(self, order: Rows, scores: Floats, cosines: Floats, k: int) -> tuple[Hit, ...]:
        """The best `k` rows whose text is not that of a better one."""
        hits: dict[str, Hit] = {}
        for row in order.tolist():
            if len(hits) == k:
                break
            chunk = self.collection.chunk(row)
            found_by = "faq" if chunk.kind is ChunkKind.FAQ else "fusion"
            hits.setdefault(squeeze(chunk.text), Hit(chunk, float(scores[row]), float(cosines[row]), found_by))
        return tuple(hits.values())

    def _nearest(self, question: _Question, cosines: Floats) -> dict[str, float]:
        """The signals of the confidence by the nearest row of all."""
        row = int(cosines.argmax())
        return _signals(question, float(cosines[row]), self._languages[row])

    def _compared(
        self, question: _Question, cosines: Floats, hits: tuple[Hit, ...]
    ) -> tuple[dict[str, float], tuple[Hit, ...]]:
        """The signals of the confidence on its scale, and the hits; without vectors they get a cosine to show.

        The cosines of multilingual-e5 lie between 0.75 and 0.95 for nearly all pairs. Another encoder spreads them
        differently, and every question would look unanswerable. So `checker` compares the few best hits once more.
        """
        if not hits:
            return {}, hits
        if not self._compares:
            known = self._nearest(question, cosines)
            return known if self._fitted else _signals(question, UNKNOWN_COSINE, question.language), hits
        vector = self.checker.queries([question.text])[0]
        head = [replace(hit, similarity=float(self._vector_of(hit.chunk) @ vector)) for hit in hits[:COMPARED]]
        best = max(head, key=lambda hit: hit.similarity)
        signals = _signals(question, best.similarity, best.chunk.language)
        return signals, hits if self._dense else (*head, *hits[COMPARED:])

    def _embedded(self, chunk: Chunk) -> Floats:
        """(dim,) vector of a chunk by the checker."""
        return np.asarray(self.checker.passages([search_text(chunk)])[0], dtype=np.float32)


def _signals(question: _Question, cosine: float, language: str) -> dict[str, float]:
    """`cosine` is that of the nearest passage; one in another `language` than the question lies further off."""
    return {"cosine": cosine, "foreign": language != question.language, "terms": question.terms}


def _leads(collection: Collection[Chunk], leads: Sequence[tuple[int, str]]) -> tuple[Rows, Rows]:
    """Places of prepared questions, and the searched row that the answer to each cites."""
    found = [(place, collection.row_of(id_)) for place, id_ in leads]
    pairs = [(place, row) for place, row in found if row is not None and row < collection.searchable]
    places, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return places, rows


def _entries(chunks: Sequence[Chunk]) -> dict[str, list[int]]:
    """The rows of the entries of each function that an API reference describes."""
    rows: dict[str, list[int]] = {}
    for row, chunk in enumerate(chunks):
        if chunk.kind is ChunkKind.API and chunk.section:
            for name in re.findall(r"[A-Za-z_]\w*", chunk.section[-1]):
                rows.setdefault(name, []).append(row)
    return rows


def _numbered(keys: Iterable[Hashable]) -> Rows:
    """(keys,) the number of each key, equal keys having the same one."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
