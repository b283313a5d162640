"""How likely it is that the hits answer the question: the base of an honest refusal (T7, T8).

A logistic model over four signals of the search, fitted by `bench/fit_confidence.py` on
questions the course material answers and questions it does not.
"""

import math
from dataclasses import dataclass

# Below REFUSE nothing relevant was found; above SURE no second look is needed.
REFUSE = 0.5
SURE = 0.8

BIAS = -30.0
COSINE, LIFT, COVERAGE = 26.0, 1.0, 6.0


@dataclass(frozen=True, slots=True)
class Signals:
    cosine: float  # of the best chunk with the question
    lift: float  # of the same, in standard deviations above an arbitrary chunk of its language
    coverage: float  # 0-1, share of the question's keyword weight that the best chunk holds
    words: int  # content words of the question


def confidence(signals: Signals) -> float:
    """0-1, that the best hits answer the question."""
    x = BIAS + COSINE * signals.cosine + LIFT * signals.lift + COVERAGE * signals.coverage
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))
