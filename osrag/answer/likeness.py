"""What speaks for a prepared answer being the one that a question wants, beside meaning and the pair encoder.

Words and terms tell what an encoder blurs: a question that names a thing the answer never names, or leaves out the
thing it is about, or wants another kind of answer, is a near miss however near it lies.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from osrag.answer.kinds import kinds_of, wants_amount
from osrag.glossary import Term, load_glossary
from osrag.text import tokens
from osrag.types import Language

# Things in a row, three at least, and what stands between two of them.
_ROW = re.compile(
    r"[^，,。？?、；;]{1,12}(?:、[^，,。？?、；;]{1,12}?)+(?:和|与|跟|以及|、)[^，,。？?、；;]"
    r"|\b[\w-]+(?: [\w-]+){0,3}(?:, [\w-]+(?: [\w-]+){0,3})+,? (?:and|or) "
)
_BETWEEN = re.compile(r"、|和|与|跟|以及|,? (?:and|or) |, ")
Key = tuple[str, Language]


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer in one language, as words, terms and kinds."""

    wordings: tuple[frozenset[str], ...]  # words of each of its questions
    words: frozenset[str]  # of its questions and statements
    asked: tuple[frozenset[Term], ...]  # terms of each question
    core: frozenset[Term]  # terms of half of its questions
    terms: frozenset[Term]  # of its questions and statements
    kinds: frozenset[str]
    amount: bool
    compared: int  # things in a row, at most, in one of its questions


class Likeness:
    """The questions and statements of prepared answers. Safe to call from several threads."""

    def __init__(self, questions: Mapping[Key, Sequence[str]], told: Mapping[str, str]) -> None:
        self._questions = questions
        self._told = told
        self._read: dict[Key, _Answer] = {}

    @cached_property
    def _often(self) -> Counter[str]:
        """In how many questions each word stands."""
        return Counter(word for own in self._questions.values() for text in own for word in set(tokens(text)))

    @cached_property
    def _total(self) -> int:
        return sum(map(len, self._questions.values()))

    def signals(self, text: str, keys: Sequence[Key]) -> list[dict[str, float]]:
        """What speaks for or against each of these answers. Shares are by how rare a word is."""
        words, terms, kinds = frozenset(tokens(text)), frozenset(load_glossary().find(text)), set(kinds_of(text))
        amount, compared = wants_amount(text), in_a_row(text) if "compare" in kinds else 0
        return [self._signals(words, terms, kinds, key, amount=amount, compared=compared) for key in keys]

    def _signals(
        self,
        words: frozenset[str],
        terms: frozenset[Term],
        kinds: set[str],
        key: Key,
        *,
        amount: bool,
        compared: int,
    ) -> dict[str, float]:
        answer = self._read.get(key) or self._read.setdefault(key, self._answer(key))
        nearest = max(answer.wordings, key=lambda own: self._share(words, own) + self._share(own, words))
        strange = words.difference(*answer.wordings)
        return {
            "said": self._share(words, nearest),
            "kept": self._share(nearest, words),
            "told": self._share(words, answer.words),
            "strange": max(map(self._rare, strange), default=0.0),
            "terms_told": len(terms & answer.terms) / len(terms) if terms else 1.0,
            "terms_strange": float(len(terms - answer.terms)),
            "terms_missing": float(len(answer.core - terms)),
            "terms_apart": float(min(len(terms ^ own) for own in answer.asked)),
            "kinds_strange": float(len(kinds - answer.kinds)),
            "kind_open": float(not kinds),
            "amount": float(amount and not answer.amount),
            "uncompared": float(max(0, compared - answer.compared)),
            "length": float(np.log1p(len(words))),
        }

    def _answer(self, key: Key) -> _Answer:
        questions, told, find = self._questions[key], self._told.get(key[0], ""), load_glossary().find
        wordings = tuple(frozenset(tokens(text)) for text in questions)
        asked = tuple(frozenset(find(text)) for text in questions)
        count = Counter(term for own in asked for term in own)
        return _Answer(
            wordings,
            frozenset(tokens(told)).union(*wordings),
            asked,
            frozenset(term for term, times in count.items() if 2 * times >= len(questions)),
            frozenset(find(told)).union(*asked),
            frozenset(kind for text in questions for kind in kinds_of(text)),
            any(wants_amount(text) for text in questions),
            max(map(in_a_row, questions)),
        )

    def _rare(self, word: str) -> float:
        return float(np.log((self._total + 1) / (self._often[word] + 0.5)))

    def _share(self, part: frozenset[str], whole: frozenset[str]) -> float:
        """The share of the words of `part` that are in `whole`; 1 of none."""
        total = sum(map(self._rare, part))
        return sum(map(self._rare, part & whole)) / total if total else 1.0


def in_a_row(text: str) -> int:
    """How many things a text lists, "A, B and C"; 0 of fewer than three."""
    return max((len(_BETWEEN.findall(row.group())) + 1 for row in _ROW.finditer(text)), default=0)
