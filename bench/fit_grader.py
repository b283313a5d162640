"""Fit `osrag/data/grader.json` on human marks and measure it on questions it has not seen.

    python bench/fit_grader.py MARKS.csv            fits, writes, prints figures of both halves
    python bench/fit_grader.py MARKS.csv --measure  only measures the file that is there

MARKS.csv has the columns id, question, desired_answer, student_answer, score_avg (0-5), as the
data of Mohler, Bunescu and Mihalcea (ACL 2011). Questions are split by the parity of the SHA-256
of their id; the odd half is never used for fitting.
"""

import argparse
import csv
import hashlib
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from osrag.models.load import load_encoder
from osrag.models.protocols import Encoder, Vectors
from osrag.quiz.bank import from_row, shipped_bank
from osrag.quiz.grader import NAMES, PATH, Grader, _scaled, _terms, key_points
from osrag.settings import load_settings
from osrag.text import tokens

RIDGE = 200.0
OFF_TOPIC = (
    "I do not know.",
    "不知道",
    "This is a very important concept and it is used a lot in computer science.",
    "这个概念非常重要，在计算机中应用广泛，需要认真掌握。",
    "Please see the textbook for the answer, everything is explained there in detail.",
    "详见教材，书上讲得很清楚。",
)


class Cached:
    """An encoder that embeds each text once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Any] = {}
        self.name, self.revision, self.dim = encoder.name, encoder.revision, encoder.dim

    def queries(self, texts: list[str]) -> Vectors:
        fresh = list(dict.fromkeys(text for text in texts if text not in self._known))
        if fresh:
            self._known.update(zip(fresh, self._encoder.queries(fresh), strict=True))
        return np.stack([self._known[text] for text in texts])

    passages = queries


def is_training(question_id: str) -> bool:
    return int(hashlib.sha256(question_id.encode()).hexdigest(), 16) % 2 == 0


def words_and_background() -> dict[str, Any]:
    """Rarity of common words, and sentences on many matters, from the shipped bank."""
    bank = [from_row(row) for row in shipped_bank().rows]
    texts = [f"{item.question} {item.explanation} {item.reference}" for item in bank]
    counts = Counter(word for text in texts for word in set(tokens(text)))
    rare = math.log(1 + len(texts) / 2.5)
    common = {word: round(math.log(1 + len(texts) / (n + 0.5)), 3) for word, n in counts.items() if n >= 3}
    background = {}
    for language in ("zh", "en"):
        lines = [item.explanation.split("。")[0].split(". ")[0] for item in bank if item.language == language]
        background[language] = [line for line in lines if 15 <= len(line) <= 140][::11][:24]
    return {"common": dict(sorted(common.items())), "rare": round(rare, 3), "background": background}


def ridge(x: np.ndarray, y: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    mean = y.mean()
    weights = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ (y - mean))
    return weights, float(mean - (x.mean(0) @ weights) + x.mean(0) @ weights)


def logistic(x: np.ndarray, y: np.ndarray, penalty: float = 1.0, steps: int = 60) -> tuple[np.ndarray, float]:
    """Newton's method; positives and negatives weigh the same."""
    a = np.c_[x, np.ones(len(x))]
    w = np.zeros(a.shape[1])
    weight = np.where(y > 0, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(a @ w, -30, 30)))
        gradient = a.T @ (weight * (p - y)) + penalty * np.r_[w[:-1], 0]
        hessian = (a * (weight * p * (1 - p))[:, None]).T @ a + penalty * np.eye(a.shape[1])
        w -= np.linalg.solve(hessian, gradient)
    return w[:-1], float(w[-1])


def scale(x: np.ndarray) -> dict[str, Any]:
    return {"mean": x.mean(0).round(5).tolist(), "std": np.maximum(x.std(0), 1e-3).round(5).tolist()}


def off_topic(rows: list[dict[str, str]], grader: Grader, seed: int = 7) -> np.ndarray:
    """Features of answers that say nothing to their question: those of other questions, the question itself."""
    pick = random.Random(seed)
    out = []
    for row in rows:
        other = pick.choice([one for one in rows if one["id"] != row["id"]])
        for text in (other["student_answer"], pick.choice(OFF_TOPIC), row["question"]):
            out += list(grader.features(row["question"], [row["desired_answer"]], text)[0])
    bank = [from_row(row) for row in shipped_bank().rows if row["type"] == "short_answer"]
    for item in bank:
        other = pick.choice([one for one in bank if one.language == item.language and one.id != item.id])
        for text in (other.reference, item.question, pick.choice(OFF_TOPIC)):
            out += list(grader.features(item.question, [p.point for p in item.rubric], text)[0])
    return np.array(out)


def on_topic(rows: list[dict[str, str]], x: np.ndarray, grader: Grader) -> np.ndarray:
    """Features of answers that a marker gave something, and of model answers to the points of their rubric."""
    marked = x[[float(row["score_avg"]) >= 2.5 for row in rows]]
    bank = [from_row(row) for row in shipped_bank().rows if row["type"] == "short_answer"]
    own = [grader.features(item.question, [p.point for p in item.rubric], item.reference)[0] for item in bank]
    return np.vstack([marked, *own])


def fit(rows: list[dict[str, str]], encoder: Cached, penalty: float = RIDGE) -> dict[str, Any]:
    data: dict[str, Any] = words_and_background()
    grader = Grader(encoder, data)
    x = np.array(
        [grader.features(r["question"], [r["desired_answer"]], r["student_answer"] or "-")[0][0] for r in rows]
    )
    y = np.array([float(row["score_avg"]) / 5 for row in rows])
    negative = off_topic(rows, grader)
    positive = on_topic(rows, x, grader)
    topic = scale(np.vstack([positive, negative]))
    z = _scaled(np.vstack([positive, negative]), topic)
    weights, bias = logistic(z, np.r_[np.ones(len(positive)), np.zeros(len(negative))])
    topic |= {"weights": weights.round(4).tolist(), "bias": round(bias, 4)}
    quality = scale(x)
    terms = _terms(_scaled(x, quality))
    weights, bias = ridge(terms, y, penalty)
    quality |= {"weights": weights.round(5).tolist(), "bias": round(bias, 5)}
    return {"features": list(NAMES), "quality": quality, "topic": topic, **data}


def scores(rows: list[dict[str, str]], grader: Grader) -> np.ndarray:
    """The mark of each answer as the judge gives it without a rubric: the mean over the key points."""
    out = []
    for row in rows:
        found = grader.points(row["question"], key_points(row["desired_answer"]), row["student_answer"])
        out.append(float(np.mean([match.fraction for match in found])))
    return np.array(out)


def figures(rows: list[dict[str, str]], grader: Grader) -> dict[str, float]:
    mark = scores(rows, grader)
    y = np.array([float(row["score_avg"]) / 5 for row in rows])
    return {
        "answers": len(rows),
        "questions": len({row["id"] for row in rows}),
        "pearson": round(float(np.corrcoef(mark, y)[0, 1]), 4),
        "mae": round(float(np.abs(mark - y).mean()), 4),
        "mae_of_median": round(float(np.abs(np.median(y) - y).mean()), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("marks", type=Path)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--cv", action="store_true", help="five folds of the training half, by question")
    args = parser.parse_args()
    with args.marks.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    training = [row for row in rows if is_training(row["id"])]
    encoder = Cached(load_encoder(load_settings()))
    if args.cv:
        ids = sorted({row["id"] for row in training})
        for penalty in (30, 100, 300, 1000):
            mark, truth = [], []
            for fold in range(5):
                inside = [row for row in training if ids.index(row["id"]) % 5 != fold]
                outside = [row for row in training if ids.index(row["id"]) % 5 == fold]
                mark += list(scores(outside, Grader(encoder, fit(inside, encoder, penalty))))
                truth += [float(row["score_avg"]) / 5 for row in outside]
            error = np.abs(np.array(mark) - np.array(truth)).mean()
            print(penalty, f"r {np.corrcoef(mark, truth)[0, 1]:.4f} mae {error:.4f}", flush=True)
        return
    if not args.measure:
        data = fit(training, encoder)
        PATH.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    grader = Grader(encoder)
    print("training half", figures(training, grader))
    print("set-aside half", figures([row for row in rows if not is_training(row["id"])], grader))


if __name__ == "__main__":
    main()
