"""Measures of a ranking, as pure functions of the ranks of right answers."""

from collections.abc import Sequence

Ranks = Sequence[int | None]  # 1-based rank of the first right hit of a question, None when missed


def hit_rate(ranks: Ranks, k: int) -> float:
    """Share of questions with a right hit among the first `k`; 0 for no questions."""
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


def mean_reciprocal_rank(ranks: Ranks) -> float:
    """Mean of 1/rank, a miss counting 0 (Voorhees, TREC-8 1999)."""
    return sum(1 / rank for rank in ranks if rank is not None) / len(ranks) if ranks else 0.0
