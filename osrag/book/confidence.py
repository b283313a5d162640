"""How likely it is that the hits answer the question: the base of an honest refusal (T7, T8).

A logistic model over three signals of the search, fitted by `bench/fit_confidence.py` on
questions the course material answers and questions it does not.
"""

import math
from dataclasses import dataclass

# Below REFUSE nothing relevant was found; above SURE no second look is needed.
REFUSE = 0.5
SURE = 0.8

BIAS, COSINE, COVERAGE, TERM = -68.2, 75.4, 6.4, 1.2
UNKNOWN_COSINE = 0.88  # where nothing can tell: the words of the question decide
MOST_TERMS = 3  # more terms than this say nothing more


@dataclass(frozen=True, slots=True)
class Signals:
    cosine: float  # of the best chunk with the question
    coverage: float  # 0-1, share of the question's keyword weight that the best chunk holds
    terms: int  # terms of the glossary that the question names


def confidence(signals: Signals) -> float:
    """0-1, that the best hits answer the question."""
    terms = min(signals.terms, MOST_TERMS)
    x = BIAS + COSINE * signals.cosine + COVERAGE * signals.coverage + TERM * terms
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))
