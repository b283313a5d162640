"""Fit the confidence of both searches (osrag/index/confidence.py) and say how well it refuses.

    python bench/fit_confidence.py textbook|kernel|covered [--index FOLDER] [--write]

Answerable are the development questions of a source: the course book and the kernel have what answers them. Not
answerable are questions about anything but operating systems and, for the kernel, about code that is not in the
index. The course book is read three times, whole and as a book in Chinese or English alone: most books have one
language. `covered` is the chance that the prepared answers speak of what is asked; it learns from questions about
operating systems, too, whose answers somebody read when the course did not have the answers that were written after
them: give it the index of that time (43c339a). Half of each is fitted on, the other half is reported. `--write` puts
the numbers into osrag/data/confidence.json. Never run it on the held-out questions.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.app.parts import Parts  # noqa: E402
from osrag.index.confidence import PATH  # noqa: E402
from osrag.settings import load_settings  # noqa: E402
from osrag.text import language_of  # noqa: E402
from osrag.types import Language  # noqa: E402

EVAL = ROOT / "examples" / "eval"
RIDGE = 0.5  # penalty on the weights of standardised signals
CUTS = (0.3, 0.5, 0.7)
LANGUAGES: tuple[Language | None, ...] = (None, "zh", "en")  # in which the book is read; the kernel has the first only


@dataclass(frozen=True, slots=True)
class Questions:
    """Files of questions that a source answers, and of those that it does not."""

    answerable: tuple[str, ...]
    absent: tuple[str, ...]
    balanced: bool  # both classes weigh the same; otherwise every question does


SETS = {
    # There are three times as many answerable ones, so a wrong refusal costs more: a student asks in everyday words.
    "textbook": Questions(("textbook/ch*",), ("textbook/off_topic",), balanced=False),
    "covered": Questions(
        ("textbook/ch*", "textbook/answered"),
        ("textbook/off_topic", "textbook/unanswered"),
        balanced=False,
    ),
    "kernel": Questions(("kernel/dev",), ("kernel/absent", "textbook/off_topic"), balanced=True),
}


def rows_of(*patterns: str) -> list[dict[str, Any]]:
    """The rows of all files of questions, in the order of their names; patterns are without the ending."""
    paths = [path for one in patterns for path in sorted(EVAL.glob(f"{one}.jsonl"))]
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").split("\n") if line.strip()]


def questions_of(*patterns: str) -> list[str]:
    """The questions alone."""
    return [row["question"] for row in rows_of(*patterns)]


def balanced(y: np.ndarray) -> np.ndarray:
    """(rows,) weights with which the rows of both kinds, 0 and 1, count the same together."""
    return np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))


def fit(
    x: np.ndarray, y: np.ndarray, *, weight: np.ndarray | float = 1.0, ridge: float = RIDGE
) -> tuple[np.ndarray, float]:
    """Weights and bias of a ridge-penalised logistic regression, by Newton's method.

    `x` (rows, signals), `y` (rows,) 1 for answerable, or a share; `weight` (rows,) how much each counts.
    """
    mean, spread = x.mean(0), x.std(0)
    z = np.c_[np.ones(len(x)), (x - mean) / spread]
    weight = np.broadcast_to(weight, y.shape)
    w, penalty = np.zeros(z.shape[1]), ridge * np.diag([0.0] + [1.0] * x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-z @ w))
        gradient = z.T @ (weight * (p - y)) + penalty @ w
        step = np.linalg.solve((z * (weight * p * (1 - p))[:, None]).T @ z + penalty, gradient)
        w -= step
        if np.abs(step).max() < 1e-6:
            break
    weights = w[1:] / spread
    return weights, float(w[0] - (weights * mean).sum())


def as_entry(names: Sequence[str], weights: np.ndarray, bias: float, *, digits: int = 2) -> dict[str, Any]:
    """A fitted model as it stands in confidence.json."""
    rounded = {name: round(float(weight), digits) for name, weight in zip(names, weights, strict=True)}
    return {"bias": round(bias, 2), "weights": rounded}


def write_entry(name: str, entry: Mapping[str, Any]) -> None:
    """Put a fitted model into confidence.json, a line for each."""
    fitted = {**json.loads(PATH.read_text(encoding="utf-8")), name: entry}
    lines = (f'  "{name}": {json.dumps(one)}' for name, one in fitted.items())
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def measured(
    search: Callable[[str], Mapping[str, float]], questions: Sequence[str], names: Sequence[str]
) -> np.ndarray:
    """(questions, signals)"""
    return np.array([[signals[name] for name in names] for signals in map(search, questions)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", choices=tuple(SETS))
    parser.add_argument("--index", type=Path, default=ROOT / "index")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    parts, sets = Parts(load_settings(index_dir=args.index, index_repo="")), SETS[args.source]
    searches: list[Callable[[str], Mapping[str, float]]] = [lambda text: parts.kernel.search(text).signals]
    answers = parts.textbook.answers if args.source == "covered" else None
    if answers:
        searches = [lambda text: answers.nearest(text, language_of(text))]
    if args.source == "textbook":
        searches = [partial(parts.textbook.signals, language=language) for language in LANGUAGES]
    names = list(json.loads(PATH.read_text(encoding="utf-8"))[args.source]["weights"])
    pairs = [[measured(one, questions_of(*own), names) for own in (sets.answerable, sets.absent)] for one in searches]
    x = np.vstack([rows[::2] for pair in pairs for rows in pair])
    y = np.concatenate(
        [np.full(len(rows[::2]), answered) for pair in pairs for rows, answered in zip(pair, (1.0, 0.0), strict=True)]
    )
    weights, bias = fit(x, y, weight=balanced(y) if sets.balanced else 1.0)
    entry = as_entry(names, weights, bias)
    print(json.dumps({args.source: entry}))
    for half, part in (("fitted", 0), ("held out", 1)):
        for language, (good, bad) in zip(LANGUAGES, pairs, strict=False):
            kept, held = good[part::2] @ weights + bias, bad[part::2] @ weights + bias
            for cut in CUTS:
                limit = np.log(cut / (1 - cut))
                answered, refused = round(float((kept >= limit).mean()), 3), round(float((held < limit).mean()), 3)
                row = {"half": half, "language": language, "cut": cut, "answered": answered, "refused": refused}
                print(json.dumps(row))
    if args.write:
        write_entry(args.source, entry)


if __name__ == "__main__":
    main()
