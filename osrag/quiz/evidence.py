"""Evidence for one exercise: the page that proves the key, what a search finds, and the sentences that matter."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from osrag.answer.evidence import Evidence, Sentence, stretched
from osrag.answer.prompt import select_passages
from osrag.models.protocols import Encoder, Vectors
from osrag.quiz.types import Option, QuizItem
from osrag.retrieve.textbook import TextbookSearch
from osrag.text import clip, share_of, squeeze, tokens
from osrag.types import Chunk, Hit, Language, Passage

PASSAGES = 4
QUERY_CHARS = 500
MOST_OPTIONS = 6  # that are searched for one by one
DEPTH = 8  # hits of each of the searches that are merged
CLEARLY = 0.1  # so much surer must a search of both languages be to leave that of the question


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
        sentences = self.evidence.sentences
        options = self.item.options[:MOST_OPTIONS] if self.item.type != "true_false" else ()
        if not options or not sentences:
            return self.worth
        texts = [query_of(self.item), *(with_option(self.item, option) for option in options)]
        cosines = self.evidence.vectors @ self.encoder.queries(texts).T  # (sentences, texts)
        asked = tuple(dict.fromkeys(tokens(self.item.question)))
        own = [[word for word in dict.fromkeys(tokens(option.text)) if word not in asked] for option in options]
        shares = [
            0.6 * share_of(asked, s.tokens) + 0.3 * max(share_of(words, s.tokens) for words in own) for s in sentences
        ]
        meaning = stretched(cosines[:, 0]) + stretched(cosines[:, 1:].max(axis=1))
        return np.asarray(meaning + np.array(shares) - self.evidence.foreign(self.item.language), dtype=np.float32)

    def deciding(self, count: int) -> list[Sentence]:
        """The `count` statements that are most likely to decide the exercise, the best one first."""
        return self.evidence.key_sentences(self.worth_by_option, count=count)

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


def queries_of(item: QuizItem) -> list[str]:
    """What else to search for in a choice: the question alone, and with each of its options."""
    if not item.is_choice or item.type == "true_false":
        return []
    question = clip(item.question, QUERY_CHARS)
    return [question, *(with_option(item, option) for option in item.options[:MOST_OPTIONS])]


def with_option(item: QuizItem, option: Option) -> str:
    return f"{clip(item.question, QUERY_CHARS)} {clip(option.text, 120)}"


class ProofFinder:
    """Finds evidence in the course book. Safe to call from several threads."""

    def __init__(self, search: TextbookSearch) -> None:
        self._search = search
        self._flat: list[tuple[str, int]] | None = None  # squeezed text and row of every chunk

    def find(self, item: QuizItem, *, k: int = PASSAGES) -> Proof:
        """At most `k` passages; the page of the bank's own quote comes first."""
        own = self.page_of(item)
        found, confidence = self._found(item, k)
        hits = [hit for hit in found if own is None or hit.chunk.id != own.id]
        if own is not None:
            hits = [Hit(own, 1.0, self._similarity(item, own), "quote"), *hits]
        passages = tuple(Passage(n, hit.chunk, hit.score, hit.similarity) for n, hit in enumerate(hits[:k], start=1))
        return Proof(item, passages, self._search.checker, confidence)

    def _found(self, item: QuizItem, k: int) -> tuple[tuple[Hit, ...], float]:
        """The `k` best hits and how sure the search is of them.

        The page that decides often speaks of one option only, so each is searched for. Pages in the language
        of the question are of more use to student and model than twins in the other.
        """
        here: Language | None = item.language if item.language in self._languages else None
        whole = query_of(item)
        result = self._search.search(whole, k=DEPTH, language=here)
        if here is not None:
            anywhere = self._search.search(whole, k=DEPTH)
            if anywhere.confidence > result.confidence + CLEARLY:
                here, result = None, anywhere
        further = [self._search.search(query, k=DEPTH, language=here) for query in queries_of(item)]
        return self._search.merge(whole, [result, *further], k=k), result.confidence

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset(self._search.collection.values("language"))

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
