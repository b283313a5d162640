"""How likely it is that the hits of a search answer the question: the base of an honest refusal (T7, T8).

Each search names its signals. A logistic model turns them into a probability; `bench/fit_confidence.py` fits it on
questions that the source answers and on questions that it does not, and writes `osrag/data/confidence.json`.
"""

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).resolve().parent.parent / "data" / "confidence.json"
REFUSE = 0.5  # below it the source does not answer; higher, and more questions that it answers are refused


@dataclass(frozen=True, slots=True)
class Confidence:
    """A fitted logistic model: a bias, and a weight for each signal."""

    bias: float
    weights: Mapping[str, float]

    def __call__(self, signals: Mapping[str, float]) -> float:
        """0-1, that the best hits answer the question. Raises KeyError for a signal that is missing."""
        x = self.bias + sum(weight * signals[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, x))))  # exp overflows far outside


@functools.cache
def load_confidence(source: str) -> Confidence:
    """The model that was fitted for a source: "textbook" or "kernel"."""
    fitted = json.loads(PATH.read_text(encoding="utf-8"))[source]
    return Confidence(fitted["bias"], fitted["weights"])
