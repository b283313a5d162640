"""Evidence for one exercise: the page that proves the key, what a search finds, and the sentences that matter."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from osrag.answer.evidence import Evidence, Sentence
from osrag.answer.prompt import select_passages
from osrag.models.protocols import Encoder, Vectors
from osrag.quiz.types import QuizItem
from osrag.retrieve.textbook import SearchResult, TextbookSearch
from osrag.text import clip, share_of, squeeze, tokens
from osrag.types import Chunk, Hit, Passage

PASSAGES = 4
QUERY_CHARS = 500
MOST_OPTIONS = 6  # that are searched for one by one


@dataclass(frozen=True)
class Proof:
    """Passages for an exercise, numbered, with their sentences and what each is worth to it."""

    item: QuizItem
    passages: tuple[Passage, ...]
    encoder: Encoder
    confidence: float  # of the search, 0-1

    @cached_property
    def evidence(self) -> Evidence:
        return Evidence(self.passages, self.encoder)

    @cached_property
    def worth(self) -> Vectors:
        """(sentences,) what each sentence says about the exercise; higher is better."""
        text = query_of(self.item)
        words = tuple(dict.fromkeys(tokens(text)))
        return self.evidence.worth(self.encoder.queries([text])[0], words, language=self.item.language)

    @cached_property
    def worth_by_option(self) -> Vectors:
        """(sentences,) the same, a sentence that speaks of one option counting as much as one that speaks of all.

        The sentence that decides tends to name one option only, and the words of the others hide it.
        """
        options = self.item.options[:MOST_OPTIONS] if self.item.type != "true_false" else ()
        if not options:
            return self.worth
        texts = [f"{self.item.question} {clip(option.text, 120)}" for option in options]
        vectors = self.encoder.queries(texts)
        asked = set(tokens(self.item.question))
        best = np.full(len(self.worth), -np.inf, dtype=np.float32)
        for option, vector in zip(options, vectors, strict=True):
            own = tuple(word for word in dict.fromkeys(tokens(option.text)) if word not in asked)
            found = self.evidence.worth(vector, own, language=self.item.language)
            best = np.maximum(best, found)
        return np.asarray(0.5 * self.worth + 0.5 * best, dtype=np.float32)

    def excerpt(self, budget: int, count_tokens: Callable[[str], int]) -> str:
        """The best sentences as `[1] …` lines, at most `budget` tokens."""
        return select_passages(self.evidence, self.worth_by_option, budget=budget, count_tokens=count_tokens)

    def best(self, text: str) -> Sentence | None:
        """The statement of the book nearest to `text`, by meaning and words; None when none is near."""
        if not self.evidence.sentences:
            return None
        cosines = self.evidence.vectors @ self.encoder.queries([text])[0]
        words = tuple(dict.fromkeys(tokens(text)))
        shares = np.array([share_of(words, s.tokens) for s in self.evidence.sentences], dtype=np.float32)
        quotable = np.array([s.quotable for s in self.evidence.sentences], dtype=np.float32)
        place = int(np.argmax(cosines + 0.15 * shares + 0.03 * quotable))
        near = cosines[place] >= 0.84 or (cosines[place] >= 0.8 and shares[place] >= 0.3)
        return self.evidence.sentences[place] if near else None

    def key_points(self, count: int = 3) -> list[str]:
        """What a full answer should say, in the words of the book."""
        return [sentence.text for sentence in self.evidence.key_sentences(self.worth, count=count)]


def query_of(item: QuizItem) -> str:
    """What to search for: the question, and for a choice the words of its options."""
    options = " ".join(clip(option.text, 60) for option in item.options[:8])
    return clip(f"{item.question} {options if item.is_choice else ''}".strip(), QUERY_CHARS)


class ProofFinder:
    """Finds evidence in the course book. Safe to call from several threads."""

    def __init__(self, search: TextbookSearch) -> None:
        self._search = search
        self._flat: list[tuple[str, int]] | None = None  # squeezed text and row of every chunk

    def find(self, item: QuizItem, *, k: int = PASSAGES) -> Proof:
        """At most `k` passages; the page of the bank's own quote comes first."""
        own = self.page_of(item)
        result: SearchResult = self._search.search(query_of(item), k=k)
        hits = [hit for hit in result.hits if own is None or hit.chunk.id != own.id]
        if own is not None:
            hits = [Hit(own, 1.0, self._similarity(item, own), "quote"), *hits]
        passages = tuple(Passage(n, hit.chunk, hit.score, hit.similarity) for n, hit in enumerate(hits[:k], start=1))
        return Proof(item, passages, self._search.checker, result.confidence)

    def page_of(self, item: QuizItem) -> Chunk | None:
        """The passage that holds the bank's quote, in the question's language where there are two."""
        wanted = squeeze(item.page_quote)
        if len(wanted) < 8:
            return None
        collection = self._search.collection
        if self._flat is None:
            rows = range(collection.searchable)
            self._flat = [(squeeze(collection.chunk(row).text), row) for row in rows]
        for text, row in self._flat:
            if wanted in text:
                return collection.chunk(row)
        return None

    def _similarity(self, item: QuizItem, chunk: Chunk) -> float:
        one = self._search.checker.queries([query_of(item)])[0]
        return float(one @ self._search.checker.passages([chunk.text])[0])
