"""Does a passage support a sentence? Encoder and words, then what turns a statement round.

The encoder alone cannot tell "too long" from "too short", so numbers, negations and
comparatives are compared apart (DESIGN.md, "What the small model gets wrong").
"""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from osrag.answer.statements import Evidence, Sentence
from osrag.glossary import load_glossary
from osrag.numbers import numbers_in
from osrag.text import folded, language_of, share_of, tokens

# Fixed on the sentences labelled in docs/experiments.md ("Is a sentence supported?").
MIN_COSINE = 0.86  # of the sentence with the nearest sentence of the book
MIN_WORDS = 0.75  # share of what it says beyond the question, in that sentence and its neighbours
CROSS_COSINE = 0.85  # between languages, where words cannot be compared directly …
CROSS_WORDS = 0.67  # … but the glossary's terms can, where there are two or more
MIN_PHRASES = (
    0.5  # share of its neighbouring words that stand near each other there: the same words may say another thing
)
FEW_NUMBERS = 3  # numbers of a sentence from which their order counts: a row of figures, not "4 KiB of 2 MiB"
SHORT = 5  # words of a sentence below which phrases tell nothing
NEAR_COPY = 0.95  # score from which a sentence is one of the book's, word for word or changed
COPY = 0.65  # share of phrases of one sentence from which its subject must be the same
CANDIDATES = 4  # nearest sentences that are looked at

_LEAD_IN = re.compile(
    r"^(?:教材|书中|课本|根据教材)[^，。：:]{0,6}[：:，,]|^(?:The book|According to the book)[^.:]{0,12}[:,]\s*", re.I
)
_NOT_EN = re.compile(
    r"\b(not|no|never|neither|nor|cannot|without|unable|impossible|hardly|rarely)\b|n't\b|\b(un|non)(?=safe|able|like|blocking)",
    re.I,
)
# 不 inside a word that does not negate the statement (不同, 不断, 不仅 …) is left out.
_NOT_ZH = re.compile(
    r"不(?!同|断|仅|但|过|只是|少|久|妨|管|论|如|得不|可分|变式)|没有|没法|无法|无需|无须|未(?!来)|并非|决不|绝不|避免|防止|禁止"
)
# A sentence that begins so speaks of what the one before it named.
_PRONOUN = re.compile(
    r"^(?:it|they|this|these|that|those|such|here|both|each|its|their|the latter)\b|^[它这该此其]", re.I
)
_TURNED = ("number", "negation", "opposite", "subject")
OPPOSITES = Path(__file__).parent.parent / "data" / "opposites.tsv"


@dataclass(frozen=True, slots=True)
class Support:
    """What the check found for one sentence."""

    passage: int | None  # number of the passage that supports it; None when none does
    score: float  # of the best candidate, supported or not
    reason: str  # why not: "meaning", "words", "reported", "order", "subject", "number", …; "" when supported


def check(text: str, evidence: Evidence, *, question: str = "", claimed: Sequence[int] = ()) -> Support:
    """The passage that supports `text`. A passage that the model `claimed` is preferred if it does."""
    if not evidence.sentences:
        return Support(None, 0.0, "meaning")
    text = _LEAD_IN.sub("", text, count=1)
    cosines = evidence.vectors @ evidence.encoder.queries([text])[0]
    words = tuple(dict.fromkeys(tokens(text)))
    asked = set(tokens(question))
    # What the question says already proves nothing; only a bare echo of it is judged by all its words.
    told = tuple(word for word in words if word not in asked)
    if len(told) < 2:
        told = words
    nearest = np.argsort(-(cosines + 0.1 * _word_shares(words, evidence.sentences)))
    in_claimed = [int(i) for i in nearest if evidence.sentences[int(i)].passage in claimed]
    candidates = [*in_claimed[:2], *(int(i) for i in nearest[:CANDIDATES])]
    good: Support | None = None
    bad = Support(None, 0.0, "meaning")
    for index in candidates:
        found = _judge(text, told, evidence, index, float(cosines[index]), question)
        if found.score == 1.0 and found.passage is not None:
            return found  # word for word
        if found.passage is not None:
            good = good or found
        elif found.score > bad.score:
            bad = found
        # A sentence of the book that was changed on the way: what stands near it elsewhere does not save it.
        turned = found.reason in _TURNED if good is None else found.reason == "number"
        if turned and found.score >= NEAR_COPY:
            return found
    return good or bad


def _word_shares(words: Sequence[str], sentences: Iterable[Sentence]) -> np.ndarray:
    return np.array([share_of(words, sentence.tokens) for sentence in sentences], dtype=np.float32)


def _judge(text: str, told: Sequence[str], evidence: Evidence, index: int, cosine: float, question: str) -> Support:
    sentence = evidence.sentences[index]
    if not sentence.asserted:
        return Support(None, 0.0, "reported")
    window = _window(evidence, index)
    window_text = " ".join(near.asserted for near in window)
    if folded(text) in folded(window_text):
        return Support(sentence.passage, 1.0, "")  # word for word
    around = [token for near in window for token in _asserted_tokens(near)]
    share = share_of(told, set(around))
    if language_of(text) != language_of(sentence.text):
        share = max(share, _translated_share(text, window_text))
        meant = cosine >= CROSS_COSINE and share >= CROSS_WORDS
    else:
        meant = cosine >= MIN_COSINE and share >= MIN_WORDS
    score = 0.5 * cosine + 0.5 * share
    if not meant:
        return Support(None, score, "words" if cosine >= MIN_COSINE else "meaning")
    reason = _other_order(text, around, sentence) or contradiction(
        text, window_text, nearest=sentence.asserted, question=question
    )
    return Support(None if reason else sentence.passage, score, reason)


def _asserted_tokens(sentence: Sentence) -> Sequence[str]:
    return sentence.tokens if sentence.asserted == sentence.text else tokens(sentence.asserted)


def _other_order(text: str, around: Sequence[str], nearest: Sentence) -> str:
    """ "order" when `text` puts the book's words together in another way, "subject" or "number" when it
    says a sentence of the book of another thing or with another figure, else ""."""
    if language_of(text) != language_of(nearest.text):
        return ""
    words = tokens(text)
    if len(words) < SHORT:
        return ""
    if _phrase_share(words, around) < MIN_PHRASES:
        return "order"
    own = _asserted_tokens(nearest)
    copied = _phrase_share(words, own) >= COPY
    if copied and not set(numbers_in(text)) <= set(numbers_in(nearest.asserted)):
        return "number"  # of the sentence beside it
    if words[0] in own or _PRONOUN.search(nearest.text):
        return ""
    # Its subject is another sentence's: "an interrupt" with what the book says of exceptions.
    return "subject" if copied or words[0] in around else ""


def _phrase_share(words: Sequence[str], there: Sequence[str]) -> float:
    """Share of the neighbouring pairs of `words` that stand in `there` with at most one word between."""
    pairs = list(pairwise(words))
    near = {*pairwise(there), *zip(there, there[2:], strict=False)}
    return sum(pair in near for pair in pairs) / len(pairs)


def _window(evidence: Evidence, index: int) -> list[Sentence]:
    """A sentence with its neighbours in the same passage: a claim may join two of them."""
    passage = evidence.sentences[index].passage
    near = evidence.sentences[max(0, index - 1) : index + 2]
    return [sentence for sentence in near if sentence.passage == passage]


def _translated_share(text: str, other: str) -> float:
    """Share of the glossary terms of `text` that `other`, in the other language, names too."""
    terms = load_glossary().find(text)
    there = set(load_glossary().find(other))
    return sum(term in there for term in terms) / len(terms) if len(terms) > 1 else 0.0


def contradiction(text: str, window: str, *, nearest: str, question: str = "") -> str:
    """What turns `text` against the book's words: "number", "negation", "opposite", or ""."""
    numbers, there = numbers_in(text), numbers_in(window)
    allowed = set(there) | set(numbers_in(question))
    if any(number not in allowed for number in numbers):
        return "number"
    same_row = numbers_in(nearest)
    if len(numbers) >= FEW_NUMBERS and not _in_order(numbers, same_row if set(numbers) <= set(same_row) else there):
        return "number"
    if negated(text) != negated(nearest):
        return "negation"
    if _turned_round(text, window):
        return "opposite"
    return ""


def _in_order(some: Sequence[str], there: Sequence[str]) -> bool:
    """Whether `some` stand in `there` in this order: 20, 2, 20 is no part of 2, 2, 20."""
    rest = iter(there)
    return all(any(number == other for other in rest) for number in some)


def negated(text: str) -> bool:
    return bool(_NOT_ZH.search(text) if language_of(text) == "zh" else _NOT_EN.search(text))


def _turned_round(text: str, window: str) -> bool:
    """Whether `text` names one side of a pair of opposites where `window` has only the other."""
    if language_of(text) != language_of(window):
        return False
    return any(
        (one.search(text) and not other.search(text) and other.search(window) and not one.search(window))
        or (other.search(text) and not one.search(text) and one.search(window) and not other.search(window))
        for one, other in _opposites()
    )


@functools.cache
def _opposites() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    rows = (line.split("\t") for line in OPPOSITES.read_text(encoding="utf-8").splitlines() if line.strip())
    return tuple((_any_of(one), _any_of(other)) for one, other in rows)


def _any_of(names: str) -> re.Pattern[str]:
    parts = sorted(names.split("|"), key=len, reverse=True)
    return re.compile("|".join(rf"\b{re.escape(p)}\b" if p.isascii() else re.escape(p) for p in parts), re.I)
