"""How sure the mark of a text is, from what its judges said. A first estimate; see docs/experiments-quiz.md.

The verdict on a choice needs no such estimate: the model's own chance serves (`vote.py`).
"""

from collections.abc import Sequence

# An answer that earns less while the model hears its points may say them in words that encoder and words do not know:
# it was seen with right answers of one line. A teacher should look (below 0.6), whatever else is clear.
NEXT_TO_NOTHING, HEARD, DOUBT = 0.15, 0.5, 0.5


def text_confidence(fractions: Sequence[float], votes: Sequence[float], *, grounded: bool) -> float:
    """0-1, that the score is within a fifth of full marks of a teacher's.

    Points that are clearly met or clearly missing are sure; one in the middle, or one on which
    the model differs, is not. Points that were taken from the book rather than given are less sure.
    """
    if not fractions:
        return 0.0
    clear = [abs(2 * fraction - 1) for fraction in fractions]
    apart = [abs(fraction - vote) for fraction, vote in zip(fractions, votes, strict=False)]
    value = 0.6 + 0.3 * sum(clear) / len(clear) - 0.15 * (sum(apart) / len(apart) if apart else 0.3)
    value -= 0.0 if grounded else 0.2
    if sum(fractions) / len(fractions) < NEXT_TO_NOTHING and votes and sum(votes) / len(votes) >= HEARD:
        value = min(value, DOUBT)
    return max(0.05, min(0.95, value))
