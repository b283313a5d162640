"""How likely it is that kernel hits answer the question: the base of an honest refusal (T7, T8).

A logistic model over signals of the search, fitted by `bench/fit_kernel_confidence.py` on the
development questions and on questions about code that is not in the index.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from osrag.kernel.describe import BODY, described
from osrag.kernel.describe import WORDS as WORD_FIELD
from osrag.kernel.query import KernelQuestion
from osrag.kernel.rank import FEATURES, Ranked
from osrag.kernel.store import KernelStore
from osrag.text import share_of, tokens
from osrag.types import CodeChunk, CodeHit

REFUSE = 0.5  # below it nothing in the index answers
TEXT_CHARS = 6000  # of a chunk, searched for words
TOP = 3  # hits that may carry the answer
BIAS, DENSE, WORDS, KNOWN = -12.94, 1.08, 4.92, 5.25


@dataclass(frozen=True, slots=True)
class Signals:
    dense: float  # of the best hits: deviations above an arbitrary chunk, question or its English
    words: float  # 0-1, share of the question's words, in English, that the best hits hold
    known: float  # 0-1, share of the question's Latin words that the index has at all


def signals(ranked: Ranked, store: KernelStore, question: KernelQuestion, hits: Sequence[CodeHit]) -> Signals:
    if not hits or not len(ranked.rows):
        return Signals(0.0, 0.0, 0.0)
    columns = [FEATURES.index(name) for name in ("dense", "dense_bridge")]
    dense = float(ranked.features[:TOP, columns].max())
    words = [word.removeprefix(WORD_FIELD) for word in question.words]
    held = {token for hit in hits[:TOP] for token in _held(hit.chunk)}
    known = [store.knows(WORD_FIELD + word) or store.knows(BODY + word) for word in words]
    return Signals(dense, share_of(words, held), sum(known) / len(known) if known else 0.0)


def _held(chunk: CodeChunk) -> set[str]:
    """Words that a chunk has anywhere."""
    return set(tokens(f"{described(chunk)} {chunk.text[:TEXT_CHARS]}"))


def confidence(found: Signals) -> float:
    """0-1, that the best hits answer the question."""
    x = BIAS + DENSE * found.dense + WORDS * found.words + KNOWN * found.known
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))
