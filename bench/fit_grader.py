"""Fit `osrag/data/grader.json` on human marks and measure it on questions it has not seen.

    python bench/fit_grader.py MARKS.csv            fits, writes, prints figures of both halves
    python bench/fit_grader.py MARKS.csv --measure --final   measures both halves with the file that is there

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
from osrag.quiz.grader import NAMES, PATH, Grader, _scaled, _terms, content_words, key_points, without_orders
from osrag.settings import load_settings
from osrag.text import tokens

RIDGE = 100.0
OFF_WEIGHT = 0.04  # of an answer beside the point against a marked one; there are four times as many
MODEL_WEIGHT = 0.5  # of a model answer
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
    spread = [word for texts_ in background.values() for line in texts_ for word in content_words(line)]
    words = list(dict.fromkeys(spread))[:240]
    return {"words": words, "common": dict(sorted(common.items())), "rare": round(rare, 3), "background": background}


def ridge(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    """Weighted least squares; the constant is not penalised."""
    root = np.sqrt(weight)
    a = np.c_[x, np.ones(len(x))] * root[:, None]
    shrink = penalty * np.eye(a.shape[1])
    shrink[-1, -1] = 0
    w = np.linalg.solve(a.T @ a + shrink, a.T @ (y * root))
    return w[:-1], float(w[-1])


def logistic(x: np.ndarray, y: np.ndarray, penalty: float = 5.0, steps: int = 60) -> tuple[np.ndarray, float]:
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


def model_answers(grader: Grader) -> np.ndarray:
    """Features of model answers to the points of their own rubric, in both languages."""
    bank = [from_row(row) for row in shipped_bank().rows if row["type"] == "short_answer"]
    return np.vstack([grader.features(i.question, [p.point for p in i.rubric], i.reference)[0] for i in bank])


def fit(rows: list[dict[str, str]], encoder: Cached) -> dict[str, Any]:
    """Quality from human marks, with answers beside the point as nothing and model answers as nearly all."""
    data: dict[str, Any] = words_and_background()
    grader = Grader(encoder, data)
    texts = [without_orders(row["student_answer"]) or "-" for row in rows]
    pairs = zip(rows, texts, strict=True)
    x = np.array([grader.features(r["question"], [r["desired_answer"]], text)[0][0] for r, text in pairs])
    y = np.array([float(row["score_avg"]) / 5 for row in rows])
    beside, model = off_topic(rows, grader), model_answers(grader)

    quality = scale(x)
    everything = np.vstack([x, beside, model])
    target = np.r_[y, np.zeros(len(beside)), np.full(len(model), 0.95)]
    weight = np.r_[np.ones(len(x)), np.full(len(beside), OFF_WEIGHT), np.full(len(model), MODEL_WEIGHT)]
    weights, bias = ridge(_terms(_scaled(everything, quality)), target, weight, RIDGE)
    quality |= {"weights": weights.round(5).tolist(), "bias": round(bias, 5)}

    positive = np.vstack([x[y >= 0.5], model])
    topic = scale(np.vstack([positive, beside]))
    z = _terms(_scaled(np.vstack([positive, beside]), topic))
    weights, bias = logistic(z, np.r_[np.ones(len(positive)), np.zeros(len(beside))])
    topic |= {"weights": weights.round(4).tolist(), "bias": round(bias, 4)}
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
    parser.add_argument("--final", action="store_true", help="also measure the half that was set aside")
    parser.add_argument("--cv", action="store_true", help="seven folds of the training half, by question")
    args = parser.parse_args()
    with args.marks.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    training = [row for row in rows if is_training(row["id"])]
    encoder = Cached(load_encoder(load_settings()))
    if args.cv:
        ids = sorted({row["id"] for row in training})
        mark: list[float] = []
        truth: list[float] = []
        for fold in range(7):
            inside = [row for row in training if ids.index(row["id"]) % 7 != fold]
            outside = [row for row in training if ids.index(row["id"]) % 7 == fold]
            mark += scores(outside, Grader(encoder, fit(inside, encoder))).tolist()
            truth += [float(row["score_avg"]) / 5 for row in outside]
        print(f"r {np.corrcoef(mark, truth)[0, 1]:.4f}, mae {np.abs(np.array(mark) - np.array(truth)).mean():.4f}")
        return
    if not args.measure:
        data = fit(training, encoder)
        PATH.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    grader = Grader(encoder)
    print("training half", figures(training, grader))
    if args.final:
        print("set-aside half", figures([row for row in rows if not is_training(row["id"])], grader))


if __name__ == "__main__":
    main()
