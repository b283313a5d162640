"""Does a passage support a claim? Meaning and words first, then what turns a statement round.

An encoder cannot tell "has" from "has not", or 4 from 8, so numbers and negations are compared apart. What each rule
is worth stands in docs/experiments/ablation.md (`python -m bench.ablation --area claims`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from osrag.answer.statements import Evidence, Statement
from osrag.numbers import numbers_in
from osrag.text import folded, language_of, share_of, tokens

# Fixed on generated sentences that were labelled by hand; too low lets inventions pass, too high marks paraphrases.
MIN_WORDS = 0.75  # share of what a claim says beyond the question, in one statement and its neighbours
CROSS_COSINE = 0.85  # between languages, where words cannot be compared
SHORT = 5  # words of a claim below which its subject is not looked at
COPY = 0.65  # share of neighbouring words in one statement from which the claim must be about the same subject
CANDIDATES = 4  # nearest statements that are looked at

# "教材指出：…", as the example in the prompt begins.
_LEAD_IN = re.compile(
    r"^(?:教材|书中|课本|根据教材)[^，。：:]{0,6}[：:，,]|^(?:The book|According to the book)[^.:]{0,12}[:,]\s*", re.I
)
# What joins a sentence to the one before it; the subject stands behind it.
_JOINS = re.compile(
    r"^(?:这是)?(?:因此|所以|因为|由于|例如|但是?|不过|原因是|而且)[，,：:]?"
    r"|^(?:therefore|hence|thus|so|however|but|and|because|for example|for instance)\b,?\s*",
    re.I,
)
_NOT_EN = re.compile(
    r"\b(not|no|never|neither|nor|cannot|without|unable|impossible|hardly|rarely)\b|n't\b|\b(un|non)(?=safe|able|like|blocking)",
    re.I,
)
# 不 inside a word that does not negate the statement (不同, 不断, 不仅 …) is left out.
_NOT_ZH = re.compile(
    r"不(?!同|断|仅|但|过|只是|少|久|妨|管|论|如|得不|可分|变式)|没有|没法|无法|无需|无须|未(?!来)|并非|决不|绝不|避免|防止|禁止"
)


@dataclass(frozen=True, slots=True)
class Support:
    """The verdict on one claim."""

    passage: int | None  # number of the passage that supports it; None when none does
    score: float  # 0-1, of the best candidate, supported or not
    reason: str  # why not: "meaning", "words", "reported", "subject", "number", "negation", …; "" when supported


def check(text: str, evidence: Evidence, *, question: str = "", claimed: Sequence[int] = ()) -> Support:
    """The passage that supports the claim `text`: the nearest statement that says so much of it decides.

    Statements of a passage that the model `claimed` for it are looked at first.
    """
    if not evidence.statements:
        return Support(None, 0.0, "meaning")
    text = _JOINS.sub("", _LEAD_IN.sub("", text))
    cosines = evidence.vectors @ evidence.encoder.queries([text])[0]
    words = tuple(dict.fromkeys(tokens(text)))
    asked = set(tokens(question))
    # What the question says already proves nothing; only a bare echo of it is judged by all its words.
    told = tuple(word for word in words if word not in asked)
    if len(told) < 2:
        told = words
    shares = np.array([share_of(words, statement.tokens) for statement in evidence.statements], dtype=np.float32)
    nearest = [int(index) for index in np.argsort(-(cosines + 0.1 * shares))]
    in_claimed = [index for index in nearest if evidence.statements[index].passage in claimed]
    nothing = Support(None, 0.0, "meaning")
    for index in (*in_claimed[:2], *nearest[:CANDIDATES]):
        found = _judge(text, told, evidence, index, float(cosines[index]), question)
        if found.reason not in ("words", "reported"):
            return found  # what stands near it elsewhere does not save a statement that was turned round
        nothing = max(nothing, found, key=lambda support: support.score)
    return nothing


def _judge(text: str, told: Sequence[str], evidence: Evidence, index: int, cosine: float, question: str) -> Support:
    """The claim held against one statement and its neighbours in the same passage: a claim may join two of them."""
    statement = evidence.statements[index]
    if not statement.asserted:
        return Support(None, 0.0, "reported")
    near = evidence.statements[max(0, index - 1) : index + 2]
    window = [one for one in near if one.passage == statement.passage and one.asserted]
    window_text = " ".join(one.text for one in window)
    if folded(text) in folded(window_text):
        return Support(statement.passage, 1.0, "")
    around = [token for one in window for token in one.tokens]
    share = share_of(told, around)
    if language_of(text) == language_of(statement.text):
        score, meant = 0.5 * cosine + 0.5 * share, share >= MIN_WORDS
    else:
        score, meant = cosine, cosine >= CROSS_COSINE
    if not meant:
        return Support(None, score, "words")
    reason = _another_subject(text, around, statement) or contradiction(
        text, window_text, nearest=statement.text, question=question
    )
    return Support(None if reason else statement.passage, score, reason)


def _another_subject(text: str, around: Sequence[str], nearest: Statement) -> str:
    """ "subject" or "number" when `text` says a statement of the book of another thing or with another figure."""
    words = tokens(text)
    if len(words) < SHORT or language_of(text) != language_of(nearest.text):
        return ""
    pairs = [*pairwise(words)]
    there = {*pairwise(nearest.tokens), *zip(nearest.tokens, nearest.tokens[2:], strict=False)}
    copied = sum(pair in there for pair in pairs) >= COPY * len(pairs)
    if copied and not set(numbers_in(text)) <= set(numbers_in(nearest.text)):
        return "number"  # of the statement beside it
    # "An interrupt …" with what the book says of exceptions: the subject is that of another statement.
    borrowed = words[0] not in nearest.tokens and (copied or words[0] in around)
    return "subject" if borrowed else ""


def contradiction(text: str, window: str, *, nearest: str, question: str = "") -> str:
    """What turns `text` against the source: a "number" that is neither there nor in the question, or a "negation"."""
    if not set(numbers_in(text)) <= {*numbers_in(window), *numbers_in(question)}:
        return "number"
    return "negation" if negated(text) != negated(nearest) else ""


def negated(text: str) -> bool:
    """Whether a sentence denies something."""
    return bool(_NOT_ZH.search(text) if language_of(text) == "zh" else _NOT_EN.search(text))
