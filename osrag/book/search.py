"""Search of the course material: dense and keyword, each language of the corpus apart, one order.

e5 prefers text in the question's own language, so cosines of two languages do not
compare. They are standardised by language (how far above what this question gets from an
arbitrary page of that language), and then they do.

A text that the index holds in both languages is given in the language of the reader.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np
import numpy.typing as npt

from osrag.book.asked import Asked
from osrag.book.checked import CHECKED, Checker
from osrag.book.confidence import UNKNOWN_COSINE, Signals, confidence
from osrag.book.editions import find_editions
from osrag.book.everyday import Meaning, load_words
from osrag.book.facts import Facts
from osrag.book.rank import EXERCISE_PENALTY, about_exercises, pages_apart, penalties, traits, with_section
from osrag.glossary import load_glossary
from osrag.index.collection import Collection
from osrag.index.rerank import FAQ_BONUS, FAQ_COSINE, POOL, rerank
from osrag.models.protocols import Encoder, Reranker, Vectors
from osrag.text import language_of, normalise, squeeze, tokens
from osrag.types import Ask, Chunk, ChunkKind, Hit, Language

Floats = npt.NDArray[np.float32]

# Fixed on the development questions; the variants are in docs/experiments.md.
KEYWORD_WEIGHT = {"same": 0.6, "cross": 0.65}
EVERYDAY_WEIGHT = {"same": 0.5, "cross": 0.8}  # of an everyday word that stands for one of the question
COVERAGE_WEIGHT = 0.25  # of how much of the question's words a language's best page holds
HEAD = 5  # hits that nearly every reader looks at …
OTHER_IN_HEAD = 2  # … of which so many are in the other language, where it has any
DAMPING = 60
CACHE_SIZE = 512


@dataclass(frozen=True, slots=True)
class SearchResult:
    query: str
    hits: tuple[Hit, ...]  # best first
    confidence: float  # 0-1, that these hits answer the query
    timings_ms: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    language: Language
    vector: Floats  # (dim,)
    words: tuple[str, ...]
    translated: tuple[str, ...]  # tokens of the glossary's names in the other language
    terms: int  # glossary terms that the question names
    meanings: tuple[Meaning, ...]  # its everyday words


class TextbookSearch:
    """Searches one collection. Safe to call from several threads; results are cached (H5).

    The confidence was fitted on cosines of one encoder: `fitted` says that `encoder` is that one,
    `checker` is that one beside another. Without both the words of the question decide. Without
    `dense` the vectors are of an encoder that is not here: keywords alone. `asks` are readers' questions
    bound to `collection`, with vectors of `encoder`.
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
    ) -> None:
        self.collection = collection
        self.encoder = encoder
        self.reranker = reranker
        self._dense = dense
        self._fitted = fitted and dense
        self._checker = Checker(checker) if checker is not None else None
        vectors = collection.dense.vectors()  # (rows, dim)
        self._vectors: Vectors = vectors if dense else np.zeros((collection.searchable, 0), np.float32)
        self._editions = find_editions(collection, vectors)  # whichever encoder made them
        self._twin = self._editions.has_twin(collection.searchable)
        self._masks: dict[Language, npt.NDArray[np.bool_]] = {
            language: collection.mask_where(language=language)
            for language in ("zh", "en")
            if language in collection.values("language")
        }
        self._faq = collection.mask_where(kind="faq")
        self._traits = traits(collection)
        self._asked = Asked(collection, asks) if asks is not None and dense else None
        self._asks = asks if dense else None
        self._cache: OrderedDict[tuple[str, int, str, str], SearchResult] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def facts(self) -> Facts | None:
        """Facts that examiners ask for, read when the first exercise comes; None without any."""
        return Facts(self._asks) if self._asks is not None else None

    @property
    def checker(self) -> Encoder:
        """The encoder that thresholds were fitted on, for whoever compares sentences beside the search."""
        return self._checker.encoder if self._checker else self.encoder

    @property
    def version(self) -> str:
        """Changes with the corpus, its readers' questions and the encoder."""
        asked = f":{self._asked.version}" if self._asked else ""
        return f"{self.collection.manifest.corpus_hash}:{self.encoder.revision}{asked}"

    def search(
        self, query: str, *, k: int = 8, language: Language | None = None, reader: Language | None = None
    ) -> SearchResult:
        """The `k` best chunks, best first; only chunks in `language` where it is named.

        `reader` is the language of who asks: that of `query` unless named. Of two editions the reader's is given.
        """
        reader = language or reader or language_of(query)
        key = (normalise(query).lower(), k, language or "", reader)
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return replace(self._cache[key], query=query)
        result = self._search(query, k, language, reader)
        with self._lock:
            self._cache[key] = result
            while len(self._cache) > CACHE_SIZE:
                self._cache.popitem(last=False)
        return result

    def _search(self, query: str, k: int, language: Language | None, reader: Language) -> SearchResult:
        start = time.perf_counter()
        question = self._read(query)
        embedded = time.perf_counter()
        scores, cosines, signals = self._score(question, language)
        order = pages_apart(np.argsort(-scores, kind="stable"), self._traits.page)
        order = self._mixed(order, question.language, signals)
        order = self._readers(order, reader)  # last: a place kept for the other language may be a twin's
        depth = max(k, POOL if self.reranker else 0, CHECKED if self._checker else 0)
        pool = self._hits(order, scores, cosines, depth)
        signals, pool = self._checked(question, signals, pool)
        hits = rerank(self.reranker, query, pool, k=k)
        done = time.perf_counter()
        timings = {
            "embed": 1000 * (embedded - start),
            "search": 1000 * (done - embedded),
            "total": 1000 * (done - start),
        }
        return SearchResult(query, hits, confidence(strongest(signals)), timings)

    def merge(self, question: str, results: Sequence[SearchResult], *, k: int) -> tuple[Hit, ...]:
        """Best hits of several queries for one question, in one order; by the reranker where there is one."""
        if self.reranker is None or len(results) < 2:
            return merge(results, k=k)
        return rerank(self.reranker, question, merge(results, k=max(k, POOL)), k=k)

    def hits_at(self, query: str, chunk_ids: Sequence[str], *, language: Language | None) -> tuple[Hit, ...]:
        """The chunks named, in that order, as hits for `query`; only those in `language` where it is named."""
        rows = [row for row in map(self.collection.row_of, dict.fromkeys(chunk_ids)) if row is not None]
        vector = self._read(query).vector
        hits = (Hit(self.collection.chunk(row), 0.0, float(self._vectors[row] @ vector), "fact") for row in rows)
        return tuple(hit for hit in hits if language in (None, hit.chunk.language))

    def signals(self, query: str) -> Signals:
        """What the confidence of a search for `query` rests on."""
        return strongest(self._score(self._read(query), None)[2])

    def _read(self, query: str) -> _Question:
        language = language_of(query)
        terms = load_glossary().find(query)
        names = [name for term in terms for name in (term.en if language == "zh" else term.zh)]
        return _Question(
            text=query,
            language=language,
            vector=self.encoder.queries([query])[0] if self._dense else np.zeros(0, np.float32),
            words=tuple(dict.fromkeys(tokens(query))),
            translated=tuple(dict.fromkeys(token for name in names for token in tokens(name))),
            terms=len(terms),
            meanings=load_words().find(query),
        )

    def _score(self, question: _Question, only: Language | None) -> tuple[Floats, Floats, dict[Language, Signals]]:
        """(rows,) fused scores, (rows,) cosines, and by language what the confidence rests on."""
        cosines = np.asarray(self._vectors @ question.vector, dtype=np.float32)
        total = np.full(len(cosines), -np.inf, dtype=np.float32)
        own = np.zeros_like(total), np.zeros_like(total)  # meaning and keywords of the text
        signals: dict[Language, Signals] = {}
        for language, mask in self._masks.items():
            if only and language != only:
                continue
            same = language == question.language
            words = question.words if same else (*question.translated, *_latin(question.words))
            keyword, coverage = self._keyword(words, question.meanings, mask, same=same)
            lift = cosines[mask] - cosines[mask].mean()
            spread = float(cosines[mask].std()) or 1.0
            # Cosines to about 0-1: five standard deviations above an arbitrary page is a sure find.
            meaning = lift / (5 * spread)
            weight = KEYWORD_WEIGHT["same" if same else "cross"]
            fused = with_section(meaning + weight * keyword[mask], self._traits.section[mask])
            total[mask] = fused + COVERAGE_WEIGHT * coverage
            own[0][mask], own[1][mask] = meaning, keyword[mask]
            signals[language] = Signals(float(cosines[mask].max()), coverage, question.terms)
        if self._asked and not about_exercises(question.text):
            total += self._asked.scores(question.language, question.vector, question.words, own)
            total -= EXERCISE_PENALTY * self._traits.exercise  # its own text has counted twice
        total -= penalties(self._traits, question.text)
        if only is None:
            blended = self._editions.blended(total)
            # A question that somebody did ask loses nothing to a translation that fits less well.
            total = np.where(self._faq, np.maximum(total, blended), blended)
        total[self._faq & (cosines > FAQ_COSINE)] += FAQ_BONUS
        return total, cosines, signals

    def _checked(
        self, question: _Question, signals: dict[Language, Signals], hits: tuple[Hit, ...]
    ) -> tuple[dict[Language, Signals], tuple[Hit, ...]]:
        """Signals on the scale that the confidence knows; without vectors also what the hits show."""
        if self._checker is None:
            if self._fitted:
                return signals, hits
            return {name: replace(one, cosine=UNKNOWN_COSINE) for name, one in signals.items()}, hits
        head = hits[:CHECKED]
        cosines = self._checker.cosines(question.text, [hit.chunk for hit in head])
        best: dict[Language, float] = {}
        for hit, cosine in zip(head, cosines, strict=True):
            best[hit.chunk.language] = max(cosine, best.get(hit.chunk.language, 0.0))
        if not self._dense:
            shown = tuple(replace(hit, similarity=cosine) for hit, cosine in zip(head, cosines, strict=True))
            hits = (*shown, *hits[CHECKED:])
        return {name: replace(one, cosine=best.get(name, 0.0)) for name, one in signals.items()}, hits

    def _keyword(
        self, words: Sequence[str], meanings: Sequence[Meaning], mask: npt.NDArray[np.bool_], *, same: bool
    ) -> tuple[Floats, float]:
        """(rows,) BM25 scaled to 0-1 by the best row of this language, and the coverage of the best row.

        Everyday words raise rows; the coverage counts the question's own words and terms only.
        """
        scores = self.collection.keywords.scores(words)
        best = float(scores[mask].max()) if mask.any() else 0.0
        known = [word for word in words if word in self.collection.keywords]
        ceiling = sum(self._rarity(word) for word in known) + 6.0 * (len(words) - len(known))
        coverage = min(1.0, best / ceiling) if best > 0 and ceiling else 0.0
        for meaning in meanings:
            spare = self._in_the_books_words(meaning, words) if same else meaning.other
            rows = [self.collection.keywords.scores([word]) for word in spare if word not in words]
            if rows:
                scores = scores + EVERYDAY_WEIGHT["same" if same else "cross"] * np.max(rows, axis=0)
        best = float(scores[mask].max()) if mask.any() else 0.0
        return np.asarray(scores / best if best > 0 else np.zeros_like(scores), dtype=np.float32), coverage

    def _in_the_books_words(self, meaning: Meaning, words: Sequence[str]) -> list[str]:
        """Other names of `meaning` that the book uses more often than the question's own."""
        uses = {word: int((self.collection.keywords.scores([word]) > 0).sum()) for word in meaning.own}
        asked = max((count for word, count in uses.items() if word in words), default=0)
        return [word for word, count in uses.items() if count > asked]

    def _rarity(self, word: str) -> float:
        """The highest BM25 that `word` alone gives any row."""
        return float(self.collection.keywords.scores([word]).max())

    def _mixed(
        self, order: npt.NDArray[np.int64], own: Language, signals: dict[Language, Signals]
    ) -> npt.NDArray[np.int64]:
        """`order` with the other language's best in the head.

        The page that answers may be in the other language only, and no score tells for sure. Where
        the own language holds twice as many of the question's words, one place is kept for it, not two.
        """
        other: Language = "en" if own == "zh" else "zh"
        if own not in signals or other not in signals or len(order) <= HEAD:
            return order
        clear = signals[own].coverage > 2 * signals[other].coverage
        wanted = OTHER_IN_HEAD - 1 if clear else OTHER_IN_HEAD
        foreign = self._masks[other][order]
        missing = wanted - int(foreign[:HEAD].sum())
        if missing <= 0:
            return order
        promoted = np.flatnonzero(foreign)[wanted - missing : wanted]
        stay = np.flatnonzero(~foreign[:HEAD])[-missing:]  # the last of the own language make room
        head = np.setdiff1d(np.arange(HEAD), stay)
        rest = np.setdiff1d(np.arange(HEAD, len(order)), promoted)
        return order[np.concatenate([head, promoted, stay, rest]).astype(np.int64)]

    def _readers(self, order: npt.NDArray[np.int64], reader: Language) -> npt.NDArray[np.int64]:
        """`order` without what the reader's own edition says."""
        if not self._twin.any():
            return order
        kept = order[~self._twin[order] | self._masks[reader][order]]
        return pages_apart(kept, self._traits.page)

    def _hits(self, order: npt.NDArray[np.int64], scores: Floats, cosines: Floats, k: int) -> tuple[Hit, ...]:
        """The best `k` rows whose text is not that of a better one."""
        hits: list[Hit] = []
        seen: set[str] = set()
        for row in order:
            if len(hits) == k or not np.isfinite(scores[row]):
                break
            chunk = self.collection.chunk(int(row))
            text = squeeze(chunk.text)
            if text in seen:
                continue
            seen.add(text)
            found_by = "faq" if chunk.kind is ChunkKind.FAQ else "fusion"
            hits.append(Hit(chunk, float(scores[row]), float(cosines[row]), found_by))
        return tuple(hits)


def merge(results: Sequence[SearchResult], *, k: int) -> tuple[Hit, ...]:
    """Best hits of several queries in one order (T2), by reciprocal rank; same text kept once.

    Ranks rather than scores: a score has no scale of its own (Cormack et al., SIGIR 2009).
    """
    total: dict[str, float] = {}
    best: dict[str, Hit] = {}
    for result in results:
        for rank, hit in enumerate(result.hits, start=1):
            key = squeeze(hit.chunk.text)
            total[key] = total.get(key, 0.0) + 1 / (DAMPING + rank)
            if key not in best or hit.similarity > best[key].similarity:
                best[key] = hit
    return tuple(best[key] for key in sorted(total, key=total.__getitem__, reverse=True)[:k])


def strongest(signals: dict[Language, Signals]) -> Signals:
    """Those of the language that answers best; the book need not answer in both."""
    return max(signals.values(), key=confidence, default=Signals(0.0, 0.0, 0))


def _latin(words: Iterable[str]) -> list[str]:
    """The words of a Chinese question that an English page holds as they are: TLB, fork, 4."""
    return [word for word in words if word.isascii()]
