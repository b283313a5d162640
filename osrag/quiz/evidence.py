"""Evidence for one exercise: the passages that a search finds, and the sentences in them that decide.

What the model writes is checked like an answer in the chat (`answer/claims.py`). A sentence that repeats the key, its
explanation or the reference is the teacher's own and stays as it is, one that the book supports gets the number of
its passage, and any other sentence is marked.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from osrag.answer.citations import CitationWriter
from osrag.answer.claims import Support, check
from osrag.answer.statements import Evidence, Statement
from osrag.book.asked import NearFacts
from osrag.book.search import SearchResult, TextbookSearch
from osrag.models.protocols import Encoder, Vectors
from osrag.quiz.exercise import Exercise, Reason
from osrag.text import clip, folded, sentences, share_of, squeeze, tokens
from osrag.types import Chunk, Hit, Language, PageRef, Passage
from osrag.wording import say

PASSAGES = 4  # of the book with each exercise
QUERY_CHARS = 500
DEPTH = 8  # hits of each of the two searches that are merged
FACTS = 12  # facts near the exercise that are looked at
FACT_WEIGHT = 0.6  # of a fact beside the meaning of a sentence; fitted on the bank (docs/experiments/quiz.md)
# Added to the cosine of a sentence that has all words of the text, and of a whole statement (bench/ablation).
WORD_BONUS, STATEMENT_BONUS = 0.15, 0.03
# A sentence is quoted as a reason from the cosine NEAR on, and from NEAR_WITH_WORDS on if it has the share SHARED of
# the words. If they are too low, sentences that prove nothing are shown as reasons.
NEAR, NEAR_WITH_WORDS, SHARED = 0.84, 0.8, 0.3
LEAST_QUOTE = 8  # characters without blanks of a quote that tells its page
LEAST_PART = 10  # characters; a sentence with a shorter part between semicolons lists no statements
BANK = 0  # the number of the passage that holds the bank's own words
_BANK_NUMBER = re.compile(rf"\s*\[{BANK}\]")
_PARTS = re.compile(r"[；;]\s*")


@dataclass(frozen=True)
class Proof:
    """Numbered passages for an exercise, and how much their sentences say about it."""

    exercise: Exercise
    passages: tuple[Passage, ...]
    encoder: Encoder
    confidence: float  # of the search, 0-1
    near: NearFacts | None = None  # facts of the book that the exercise may ask about

    @cached_property
    def evidence(self) -> Evidence:
        """The statements of the passages, with their vectors."""
        return Evidence(self.passages, self.encoder)

    @cached_property
    def scores(self) -> Vectors:
        """(sentences,) how much each sentence says about the exercise; higher is better."""
        text = query_of(self.exercise)
        words = tuple(dict.fromkeys(tokens(text)))
        return self.evidence.scores(self.encoder.queries([text])[0], words, language=self.exercise.language)

    @cached_property
    def option_scores(self) -> Vectors:
        """(sentences,) how likely each decides the exercise; higher is better.

        The sentence that decides tends to name only one option, so only the nearest option counts. A sentence counts
        more if it states a fact whose question and answer resemble the exercise with an option.
        """
        if not self.evidence.statements:
            return self.scores
        cosines = (self.evidence.vectors @ self.encoder.queries(texts_of(self.exercise)).T).max(axis=1)
        meaning = (cosines - cosines.mean()) / (float(cosines.std()) or 1.0)
        return np.asarray(meaning + FACT_WEIGHT * self._facts_in(self.evidence.statements), dtype=np.float32)

    def _facts_in(self, sentences: Sequence[Statement]) -> Vectors:
        """(sentences,) how near the nearest fact is that each states; 0 for none."""
        near = np.zeros(len(sentences), dtype=np.float32)
        if self.near is None:
            return near
        texts = [folded(sentence.text) for sentence in sentences]
        for fact, value in zip(self.near.facts, self.near.near, strict=True):
            for quote in map(folded, fact.quotes):
                for place, text in enumerate(texts):
                    if quote in text or (text in quote and sentences[place].quotable):
                        near[place] = max(near[place], value)
        return near

    def deciding(self, count: int) -> list[Statement]:
        """The `count` statements that are most likely to decide the exercise, the best one first."""
        return self.evidence.best(self.option_scores, count=count)

    def excerpt(self, budget: int, count_tokens: Callable[[str], int]) -> str:
        """The best sentences as `[1] …` lines, at most `budget` tokens."""
        return self.evidence.excerpt(self.option_scores, budget=budget, count_tokens=count_tokens)

    def best(self, text: str) -> Statement | None:
        """The statement of the book nearest to `text`, by meaning and words; None when none is near."""
        sentences = self.evidence.statements
        if not sentences:
            return None
        cosines = self.evidence.vectors @ self.encoder.queries([text])[0]
        words = tuple(dict.fromkeys(tokens(text)))
        shares = np.array([share_of(words, one.tokens) for one in sentences])
        whole = np.array([one.quotable for one in sentences])
        place = int(np.argmax(cosines + WORD_BONUS * shares + STATEMENT_BONUS * whole))
        near = NEAR_WITH_WORDS if shares[place] >= SHARED else NEAR
        return sentences[place] if cosines[place] >= near else None

    def cited(self, text: str) -> str:
        """The statement of the book nearest to `text` with its number, as `… [2]`; "" when none is near."""
        near = self.best(text)
        return f"{near.text} [{near.passage}]" if near else ""

    def cited_part(self, text: str) -> str:
        """As `cited`, but of a sentence that lists several statements only the one nearest to `text`."""
        near = self.best(text)
        if near is None:
            return ""
        parts = [part.strip(" ;；。.") for part in _PARTS.split(near.text)]
        if len(parts) == 1 or min(map(len, parts)) < LEAST_PART:
            return f"{near.text} [{near.passage}]"
        words = tuple(dict.fromkeys(tokens(text)))
        cosines = self.encoder.passages(parts) @ self.encoder.queries([text])[0]
        scores = [float(cosine) + share_of(words, tokens(part)) for cosine, part in zip(cosines, parts, strict=True)]
        stop = near.text[-1] if near.text[-1] in "。." else ""
        return f"{parts[int(np.argmax(scores))]}{stop} [{near.passage}]"

    def prepared(self, reason: Reason) -> str:
        """A prepared sentence with the number of the passage that bears it out."""
        wanted = squeeze(reason.quote)
        numbers = (passage.number for passage in self.passages if wanted in squeeze(passage.chunk.text))
        number = next(numbers, None)
        return f"{reason.text} [{number}]" if number else reason.text

    @property
    def section(self) -> str:
        """The innermost heading of the first passage: a knowledge point where the exercise names none."""
        section = getattr(self.passages[0].chunk, "section", ()) if self.passages else ()
        return str(section[-1]) if section else ""


def query_of(exercise: Exercise) -> str:
    """What to search for: the question, and for a choice the words of its options."""
    options = " ".join(clip(option.text, 60) for option in exercise.options[:8])
    return clip(f"{exercise.question} {options if exercise.is_choice else ''}".strip(), QUERY_CHARS)


def texts_of(exercise: Exercise) -> list[str]:
    """The exercise with each of its options; a statement, or a question without options, as it stands."""
    if not exercise.options or exercise.type == "true_false":
        return [query_of(exercise)]
    return [f"{clip(exercise.question, QUERY_CHARS)} {clip(option.text, 120)}" for option in exercise.options]


class ProofFinder:
    """Finds evidence in the course book. Safe to call from several threads."""

    def __init__(self, search: TextbookSearch) -> None:
        self._search = search

    def find(self, exercise: Exercise) -> Proof:
        """At most `PASSAGES` passages: of a search for the question, and those of the facts near a choice.

        The page of the bank's own quote comes first. Pages in the language of the exercise are of more use to student
        and model than their twins in the other.
        """
        search, query = self._search, query_of(exercise)
        near = None
        if search.asked is not None and exercise.is_choice:
            near = search.asked.nearest(search.encoder.queries(texts_of(exercise)), exercise.language, k=FACTS)
        here: Language | None = exercise.language if exercise.language in self._languages else None
        result = search.search(query, k=DEPTH, language=here)
        ids = [id_ for fact in near.facts for id_ in fact.chunk_ids] if near else []
        by_facts = SearchResult(query, search.hits_at(query, ids, language=here)[:DEPTH], result.confidence, {})
        hits = list(search.merge(query, [result, by_facts], k=PASSAGES))
        own = self.pages_of(exercise)
        if own:
            cosines = search.checker.passages([chunk.text for chunk in own]) @ search.checker.queries([query])[0]
            quoted = [Hit(chunk, 1.0, float(cosine), "quote") for chunk, cosine in zip(own, cosines, strict=True)]
            ids = [chunk.id for chunk in own]
            hits = [*quoted, *(hit for hit in hits if hit.chunk.id not in ids)]
        numbered = enumerate(hits[: max(PASSAGES, len(own))], start=1)
        passages = tuple(Passage(n, hit.chunk, hit.score, hit.similarity) for n, hit in numbered)
        return Proof(exercise, passages, search.checker, result.confidence, near)

    def pages_of(self, exercise: Exercise) -> list[Chunk]:
        """The passages that hold the bank's quotes, that of its key first; a quote too short to tell has none."""
        rows: dict[int, None] = {}
        for quote in (exercise.page_quote, *(reason.quote for reason in exercise.reasons)):
            if (row := self._row_of(quote, rows)) is not None:
                rows[row] = None
        return [self._search.collection.chunk(row) for row in rows]

    def _row_of(self, quote: str, first: Iterable[int]) -> int | None:
        """The row of the passage with this quote, one of `first` where possible."""
        wanted = squeeze(quote)
        every = (*first, *range(len(self._texts))) if len(wanted) >= LEAST_QUOTE else ()
        return next((row for row in every if wanted in self._texts[row]), None)

    @cached_property
    def _texts(self) -> list[str]:
        """The squeezed text of every chunk, by row."""
        return [squeeze(chunk.text) for chunk in self._search.collection.searched()]

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset(chunk.language for chunk in self._search.collection.searched())


class Binder:
    """Adds citations and marks to what the model writes on one exercise; a sentence is checked only once."""

    def __init__(self, exercise: Exercise, proof: Proof, right: str) -> None:
        self._exercise = exercise
        self._proof = proof
        self._bank = _bank_evidence(exercise, right, proof.encoder)
        self._known: dict[str, Support] = {}

    def bind(self, text: str, *, whole: bool = True) -> str:
        """`text` with a citation or a mark after each sentence; the last one is left open unless `whole`."""
        writer = CitationWriter(
            check=lambda sentence, claimed: self.support(sentence),
            mark=say("textbook_unverified", self._exercise.language),
        )
        out = writer.feed(text) + (writer.finish() if whole else "")
        return _BANK_NUMBER.sub("", out)

    def supported(self, text: str) -> str:
        """The sentences of `text` that have a source, bound; "" when none has."""
        return " ".join(self.bind(one) for one in sentences(text) if self.support(one).passage is not None)

    def support(self, sentence: str) -> Support:
        """By the bank (passage `BANK`), else by the book, else by nothing."""
        if sentence not in self._known:
            question = self._exercise.question
            found = check(sentence, self._bank, question=question)
            if found.passage is None:
                found = check(sentence, self._proof.evidence, question=question)
            self._known[sentence] = found
        return self._known[sentence]


def _bank_evidence(exercise: Exercise, right: str, encoder: Encoder) -> Evidence:
    """The teacher's own words on this exercise, as a passage."""
    statement = f"{exercise.question} {right}" if right else ""
    texts = [statement, exercise.explanation, exercise.reference, *(point.point for point in exercise.rubric)]
    text = "\n\n".join(text for text in texts if text.strip())
    if not text:
        return Evidence((), encoder)
    chunk = Chunk("bank", text, "", PageRef(1, 1, ""), 0, (), exercise.language)
    return Evidence((Passage(BANK, chunk, 1.0, 1.0),), encoder)
