"""How sure a verdict is, from what its judges said. First estimates; docs/experiments-quiz.md says what is measured."""

from collections.abc import Sequence

from osrag.quiz.evidence import Proof
from osrag.quiz.types import QuizItem

# Share of right answers by how many of the turns agree; by type where there is one turn only.
AGREED, SPLIT = 0.7, 0.45
TRUTH, SEVERAL, BLIND = 0.6, 0.35, 0.4


def choice_confidence(item: QuizItem, agreement: float, proof: Proof | None) -> float:
    """0-1, that the answer found without a key is right; `agreement` is the share of turns that gave it."""
    if not agreement:
        return 0.0
    if proof is None:
        return BLIND
    sure = 0.5 + 0.5 * proof.confidence  # evidence beside the question proves little
    if item.type == "true_false":
        return TRUTH * sure
    if item.type == "multiple_choice":
        return SEVERAL * sure
    return (AGREED if agreement == 1 else SPLIT) * sure


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
    return max(0.05, min(0.95, value - (0.0 if grounded else 0.2)))
