"""Fit the confidence of a search (osrag/book/confidence.py) and say how well it refuses.

    python bench/fit_confidence.py

Answerable: the development questions of the course book (their quote tells that the book answers them).
Not answerable: examples/eval/textbook/off_topic.jsonl. Half of each is fitted on, the other half reported.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.app.parts import Parts
from osrag.book.confidence import MOST_TERMS, Signals
from osrag.settings import load_settings

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "eval" / "textbook"
RIDGE = 0.5


def rows(pattern: str) -> list[str]:
    lines = [line for path in sorted(FOLDER.glob(pattern)) for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line)["question"] for line in lines if line.strip()]


def features(signals: Signals) -> list[float]:
    return [signals.cosine, signals.coverage, min(signals.terms, MOST_TERMS)]


def main() -> None:
    search = Parts(load_settings()).textbook
    good = np.array([features(search.signals(question)) for question in rows("ch*.jsonl")])
    bad = np.array([features(search.signals(question)) for question in rows("off_topic.jsonl")])
    x, y = np.vstack([good[::2], bad[::2]]), np.r_[np.ones(len(good[::2])), np.zeros(len(bad[::2]))]
    coefficients, bias = fit(x, y)
    print(json.dumps({"BIAS": round(bias, 2), "COSINE, COVERAGE, TERM": [round(c, 2) for c in coefficients]}))
    for name, part in (("fitted", 0), ("held out", 1)):
        kept, held = good[part::2] @ coefficients + bias, bad[part::2] @ coefficients + bias
        for cut in (0.3, 0.5, 0.7):
            limit = np.log(cut / (1 - cut))
            print(
                json.dumps(
                    {
                        "half": name,
                        "cut": cut,
                        "answered": round(float((kept >= limit).mean()), 3),
                        "refused": round(float((held < limit).mean()), 3),
                    }
                )
            )


def fit(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Ridge-penalised logistic regression by Newton's method; both classes weigh the same."""
    mean, spread = x.mean(0), x.std(0)
    z = np.c_[np.ones(len(x)), (x - mean) / spread]
    weight = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    w, penalty = np.zeros(z.shape[1]), RIDGE * np.diag([0.0] + [1.0] * x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-z @ w))
        gradient = z.T @ (weight * (p - y)) + penalty @ w
        w -= np.linalg.solve((z * (weight * p * (1 - p))[:, None]).T @ z + penalty, gradient)
    coefficients = w[1:] / spread
    return coefficients, float(w[0] - (coefficients * mean).sum())


if __name__ == "__main__":
    main()
