"""How sure a verdict is, from what its judges said. First estimates; docs/experiments-quiz.md says what is measured."""

from collections.abc import Sequence

from osrag.quiz.evidence import Proof
from osrag.quiz.types import QuizItem

# Expected share of right answers, by whether model and evidence agree; not fitted yet.
TRUTH = 0.6
AGREE, DIFFER, ALONE, BLIND = 0.8, 0.5, 0.55, 0.4
SEVERAL = 0.35  # a multiple choice is right only as a whole


def choice_confidence(item: QuizItem, voted: frozenset[str], shares: dict[str, float], proof: Proof | None) -> float:
    """0-1, that the answer found without a key is right."""
    if proof is None:
        return BLIND
    sure = 0.5 + 0.5 * proof.confidence  # evidence beside the question proves little
    if item.type == "true_false":
        return TRUTH * sure if voted else 0.0
    if item.type == "multiple_choice":
        return SEVERAL * sure
    if not shares:
        return ALONE * sure if voted else 0.0
    best = max(shares, key=shares.__getitem__)
    if not voted:
        return DIFFER * sure
    return (AGREE if best in voted else DIFFER) * sure


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
