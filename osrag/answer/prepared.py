"""Is a question a prepared one in other words? (T11)

    question -> the same words, or the same normal form -> that answer
             -> nearest prepared answers by meaning and words -> pair encoder, words, terms -> fitted chance
             -> the best, or none

Cosine and words find the answers that a question may want, but cannot tell "why" from "when" or "is" from "is not":
near misses are as near as rewordings. So a pair encoder reads the question together with those of an answer. It was
trained on the questions of the course, on questions turned round by a program, and on pairs written as traps. A
logistic model weighs what it says with the cosine and with words and terms (`bench/fit_prepared.py` trains both).
Numbers are compared apart: no encoder tells 4 from 8.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from osrag.answer.likeness import Key, Likeness
from osrag.answer.normal_form import normal_form
from osrag.index.confidence import load_confidence
from osrag.index.keyword import scaled
from osrag.models.protocols import Encoder, PairEncoder, Vectors
from osrag.numbers import numbers_in
from osrag.recent import Recent
from osrag.text import folded
from osrag.types import Language

# Nearest answers that are weighed. Of 1,200 wordings of students the right one is among four for .61 by the cosine and
# for .78 with words (docs/experiments/answers.md, "Found by words too"); a pair to read takes 0.16 s on a laptop.
CANDIDATES = 4
WORDS = 2.0  # standard deviations of the cosine that the best match in words is worth; 1 finds .72 of them, 3 finds .79
READ = 6  # questions of one answer that it reads, the nearest first
JOINED = " / "  # between them, as in training
SURE = 0.92  # chance from which an answer is given: of those held out 20 in 1,000 are wrong, from .9 on 25
DENIED = -2.0  # log odds of the pair encoder below which nothing else that speaks for an answer counts
LEAD = 0.1  # of a cosine; more is seen among a few answers only, and says no more
UNREAD = -10.0  # log odds where no pair encoder reads: below `DENIED`
REMEMBERED = 64  # questions: one is weighed to choose a source, to look for its answer, and to compose one
Signals = list[tuple[str, dict[str, float]]]  # the nearest answers, each with what speaks for it
LONGEST = 300  # characters of a question; a longer one tells a story of its own


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prepared answer that a question may want."""

    id: str
    chance: float  # 0-1, that it is the one


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """One way to ask for a prepared answer."""

    text: str
    language: Language
    answer: str  # id of the answer


class PreparedQuestions:
    """Finds the prepared answer that a question wants. Safe to call from several threads.

    `vectors` (questions, dim) are of `encoder`. `answers` are the texts of the answers by id. `keywords` gives the
    (questions,) BM25 scores of a text, where the first question of an answer counts as its whole text; without it
    meaning alone finds what is near. Without `pairs` only a question in the words of a prepared one, or in their normal
    form, is recognised.
    """

    def __init__(
        self,
        questions: Sequence[PreparedQuestion],
        vectors: Vectors,
        encoder: Encoder,
        pairs: PairEncoder | None,
        *,
        answers: Mapping[str, str],
        keywords: Callable[[str], Vectors] | None = None,
    ) -> None:
        self._questions = tuple(questions)
        self._vectors = vectors
        self._encoder = encoder
        self._pairs = pairs
        self._keywords = keywords
        self._same = {(one.language, _words(one.text)): one.answer for one in questions}
        forms: dict[tuple[Language, tuple[str, ...]], set[str]] = defaultdict(set)
        for one in questions:
            forms[one.language, normal_form(one.text)].add(one.answer)
        self._forms = {key: answers.pop() for key, answers in forms.items() if key[1] and len(answers) == 1}
        ids = {answer: number for number, answer in enumerate(dict.fromkeys(one.answer for one in questions))}
        self._ids = tuple(ids)
        self._answer_of = np.array([ids[one.answer] for one in questions], dtype=np.int64)  # (questions,)
        languages = np.array([one.language for one in questions])
        # (questions,) those in a language, and (answers,) those that nobody asks for in it.
        self._own = {one: languages == one for one in set(languages.tolist())}
        self._unasked = {one: ~np.isin(np.arange(len(ids)), self._answer_of[own]) for one, own in self._own.items()}
        # (answers,) the first question of each in a language; of one that nobody asks for in it, any.
        self._opening = {one: np.zeros(len(ids), dtype=np.int64) for one in self._own}
        for number, one in reversed([*enumerate(questions)]):
            self._opening[one.language][ids[one.answer]] = number
        self._numbers = {answer: set(numbers_in(text)) for answer, text in answers.items()}
        for one in questions:
            self._numbers.setdefault(one.answer, set()).update(numbers_in(one.text))
        own: dict[Key, list[str]] = defaultdict(list)
        for one in questions:
            own[one.answer, one.language].append(one.text)
        self._likeness = Likeness(own, answers)
        self._recent: Recent[Signals] = Recent(REMEMBERED)

    def match(self, text: str, language: Language) -> str | None:
        """The id of the answer, which exists in `language`; None where no prepared question is surely this one."""
        exact = self._in_words(text, language)
        if exact is not None or self._pairs is None or language not in self._own or len(text) > LONGEST:
            return exact
        best = self.best(text, language)
        return best.id if best and best.chance >= SURE else None

    def chance(self, text: str, language: Language) -> float:
        """0-1, that some prepared question is this one."""
        if self._in_words(text, language):
            return 1.0
        best = self.best(text, language) if self._pairs and len(text) <= LONGEST else None
        return best.chance if best else 0.0

    def covers(self, text: str, language: Language) -> float | None:
        """0-1, that the answers in `language` speak of what `text` asks, whole or in part; None where that is unknown.

        By the nearest of them; a course has an answer near to nearly all that it teaches, so what is near to none asks
        for something else, however like a page it sounds.
        """
        if self._pairs is None or language not in self._own or len(text) > LONGEST:
            return None
        if self._in_words(text, language):
            return 1.0
        return load_confidence("covered")(self.nearest(text, language))

    def nearest(self, text: str, language: Language) -> dict[str, float]:
        """The most that the pair encoder and the cosine say for any answer; `covers` rests on it."""
        found = self._evidence(text, language)
        return {name: max(seen[name] for _, seen in found) for name in ("same", "cosine")}

    def _in_words(self, text: str, language: Language) -> str | None:
        """The answer that has `text` among its questions, in the same words or the same normal form."""
        return self._same.get((language, _words(text))) or self._forms.get((language, normal_form(text)))

    def best(self, text: str, language: Language) -> Candidate | None:
        """The answer that `text` most likely wants; None where none is in `language`."""
        return max(self._candidates(text, language), key=lambda one: one.chance, default=None)

    def near(self, texts: Sequence[str], language: Language) -> list[tuple[str, tuple[float, ...], tuple[float, ...]]]:
        """The answers nearest to each text, each once, with the cosines of its nearest question with all texts.

        And with the chances that it is the one that each text wants; 0 where it is not among the nearest.
        """
        best = self._best(self._vectors @ self._encoder.queries(texts).T, language)  # (answers, texts)
        chances = [{one.id: one.chance for one in self._candidates(text, language)} for text in texts]
        return [
            (id_, tuple(map(float, best[self._ids.index(id_)])), tuple(own.get(id_, 0.0) for own in chances))
            for id_ in dict.fromkeys(chain.from_iterable(chances))
        ]

    def _candidates(self, text: str, language: Language) -> tuple[Candidate, ...]:
        """The nearest answers, each with its chance: 0 where a number or something else denies it."""
        sure, asked = load_confidence("prepared"), set(numbers_in(text))
        return tuple(
            Candidate(id_, 0.0 if _denied(signals) or not self._numbers[id_] >= asked else sure(signals))
            for id_, signals in self._evidence(text, language)
        )

    def _evidence(self, text: str, language: Language) -> Signals:
        kept = self._recent.get((text, language))
        if kept is None:
            kept = self.evidence(text, language)
            self._recent.put((text, language), kept)
        return kept

    def evidence(self, text: str, language: Language) -> Signals:
        """The nearest answers, each with what speaks for it.

        `cosine`: of its nearest question, and how far that is `ahead` of the other answers; `same`: what the pair
        encoder says; the others are words and terms.
        """
        cosines = self._vectors @ self._encoder.queries([text])[0]  # (questions,)
        best = self._best(cosines, language)
        answers = _first_of(best + self._alike_in_words(text, best, language), CANDIDATES)
        asked = [self._asked(answer, language, cosines) for answer in answers]
        same = self._pairs.scores(text, asked) if self._pairs else [UNREAD] * len(answers)
        alike = self._likeness.signals(text, [(self._ids[answer], language) for answer in answers])
        near = best[answers]
        out: Signals = []
        for place, (answer, score, likeness) in enumerate(zip(answers, same, alike, strict=True)):
            rival = np.delete(near, place).max(initial=-1.0)
            ahead = min(float(near[place] - rival), LEAD)
            signals = {"cosine": float(near[place]), "ahead": ahead, "same": float(score)}
            out.append((self._ids[answer], signals | likeness))
        return out

    def _alike_in_words(self, text: str, best: Vectors, language: Language) -> Vectors:
        """(answers,) to add to the `best` cosines (answers,): how well questions and texts match in words."""
        found = np.isfinite(best)
        if self._keywords is None or not found.any():
            return np.zeros_like(best)
        scores = self._keywords(text)  # (questions,)
        asked, told = self._best(scores, language), scores[self._opening[language]]
        matched = sum(scaled(np.where(found, one, 0.0)) for one in (asked, told))
        return np.asarray(WORDS * best[found].std() * matched, np.float32)

    def others(self, answer: str, language: Language, count: int) -> list[str]:
        """The first questions of the `count` answers nearest to `answer`, in `language`, the nearest first."""
        own = (self._answer_of == self._ids.index(answer)) & self._own[language]
        middle = self._vectors[own].mean(axis=0)
        cosines = np.where(self._answer_of == self._ids.index(answer), -np.inf, self._vectors @ middle)
        return [self._first(near, language) for near in _first_of(self._best(cosines, language), count)]

    def _best(self, cosines: Vectors, language: Language) -> Vectors:
        """(answers, …) the best of the `cosines` (questions, …) of each; minus infinity if not asked in `language`."""
        best = np.full((len(self._ids), *cosines.shape[1:]), -np.inf, np.float32)
        np.maximum.at(best, self._answer_of, cosines)
        best[self._unasked.get(language, ...)] = -np.inf
        return best

    def _asked(self, answer: int, language: Language, cosines: Vectors) -> str:
        """The questions of an answer as the pair encoder reads them."""
        (own,) = np.nonzero((self._answer_of == answer) & self._own[language])
        nearest = own[np.argsort(-cosines[own], kind="stable")[:READ]]
        return JOINED.join(self._questions[number].text for number in nearest)

    def _first(self, answer: int, language: Language) -> str:
        return self._questions[int(self._opening[language][answer])].text


def _words(text: str) -> str:
    """What two texts share that differ in blanks, signs and capitals only."""
    return folded(text).lower()


def _denied(signals: Mapping[str, float]) -> bool:
    """Whether nothing else counts: the two ask for different things, or one compares more of them."""
    return signals["same"] < DENIED or signals["uncompared"] > 0


def _first_of(values: Vectors, count: int) -> list[int]:
    """Places of the `count` highest values that are finite, the highest first."""
    order = np.argsort(-values, kind="stable")[:count]
    return [int(place) for place in order if np.isfinite(values[place])]
