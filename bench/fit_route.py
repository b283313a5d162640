"""Fit the choice of a source (osrag/app/route.py), and say how often it is right.

    python bench/fit_route.py [--write]

How a question sounds is fitted on prepared questions of the course book and how students word them, on the questions of
the walk-throughs of the kernel, and on the development questions of both. What decides is fitted on the development
questions alone, each with how likely a prepared answer or a walk-through is what it asks for, and sounding as to a
model that did not see it. A question for both counts half for either. Reported on the questions held out: a choice is
wrong where the source that a question was written for does not answer; where both answer, it is counted apart.
`--write` writes osrag/data/route.json. Needs the package scipy, which FlagEmbedding of requirements-dev.txt brings.
"""

import argparse
import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.fit_confidence import rows_of  # noqa: E402
from osrag.answer.plan import plan_by_rule  # noqa: E402
from osrag.answer.source import Question  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.app.route import PATH, SIGNS, Router, features  # noqa: E402
from osrag.evaluate import routing  # noqa: E402
from osrag.evaluate.figures import plain  # noqa: E402
from osrag.evaluate.routing import PlacedQuestion, placed  # noqa: E402
from osrag.settings import load_settings  # noqa: E402
from osrag.types import SourceName  # noqa: E402

Array = npt.NDArray[np.float64]
PENALTY, DECISION_PENALTY = 10.0, 1.0
FOLDS = 5
WRITTEN = 12.0  # weight of a development question beside a prepared one: they are fewer, and as students ask
WALKED = 2.0  # weight of a question of a walk-through beside one of a prepared answer, of which there are more
HELD_OUT: dict[str, tuple[SourceName, str]] = {
    "course, held out": ("textbook", "textbook/held_out"),
    "course, key points held out": ("textbook", "textbook/key_points"),
    "kernel, held out": ("kernel", "kernel/held_out"),
    "kernel, sets held out": ("kernel", "kernel/sets"),
}


def asked(pattern: str, *, held: bool | None = None) -> list[str]:
    """The questions of files; of a file with both parts, the held-out part or the other."""
    is_held = [(row["question"], row.get("held_out", row.get("set") == "held_out")) for row in rows_of(pattern)]
    return [question for question, own in is_held if held is None or own == held]


def prepared() -> list[str]:
    """Every prepared question of the course book."""
    paths = sorted((ROOT / "examples" / "textbook" / "answers").glob("*.jsonl"))
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    return [text for row in rows for side in ("zh", "en") for text in row[side]["questions"]]


def walked() -> list[str]:
    """Every question of the walk-throughs."""
    paths = sorted((ROOT / "examples" / "kernel" / "walks").glob("*.toml"))
    walks = [walk for path in paths for walk in tomllib.loads(path.read_text("utf-8"))["walk"]]
    return [text for walk in walks for side in ("zh", "en") for text in walk["questions"][side]]


def fit(x: Array, y: Array, weight: Array, penalty: float = PENALTY) -> Array:
    """Weights and, last, the bias of a ridge-penalised logistic regression; `y` is 1 or -1."""
    from scipy.optimize import minimize

    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)

    def loss(p: Array) -> tuple[float, Array]:
        margin = y * (x @ p)
        penalised = np.r_[p[:-1], 0.0]
        slope = x.T @ (-y * weight / (1 + np.exp(margin))) + 2 * penalty * penalised
        return float(np.sum(weight * np.logaddexp(0, -margin)) + penalty * penalised @ penalised), slope

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x)


def students(source: str) -> list[str]:
    """The development questions that students would ask, those for one source or for both."""
    return [row["question"] for row in rows_of("routing") if row["source"] == source and not row["held_out"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write osrag/data/route.json")
    args = parser.parse_args()
    parts = Parts(load_settings(chat_backend="none"))
    encoder = parts.book_source.encoder
    book = [*asked("textbook/ch*"), *asked("textbook/key_points", held=False), *students("textbook")]
    code = [*asked("kernel/dev"), *asked("kernel/sets", held=False), *students("kernel")]
    either = students("both")
    dev = [(1.0, -1.0, book), (1.0, 1.0, code), (0.5, -1.0, either), (0.5, 1.0, either)]
    more = [(1.0, -1.0, asked("textbook/ablation")), (1.0, 1.0, asked("kernel/ablation"))]
    written = [(WRITTEN * share, side, part) for share, side, part in (*dev, *more)]
    groups = [*written, (1.0, -1.0, [*prepared(), *asked("textbook/wordings")]), (WALKED, 1.0, walked())]
    texts = [text for _, _, part in groups for text in part]
    weight = np.array([each for each, _, part in groups for _ in part])
    y = np.array([side for _, side, part in groups for _ in part])
    x = features(texts, encoder)
    found = fit(x, y, weight)
    own = sum(len(part) for _, _, part in dev)
    decides = decision(parts, texts[:own], sounds(x, y, weight, texts[:own]), y[:own], weight[:own] / WRITTEN)
    model = Router(encoder.name, found[:-1], float(found[-1]), decides)
    print(json.dumps(decides))
    sets = {name: placed(asked(pattern, held=held_of(pattern)), side) for name, (side, pattern) in HELD_OUT.items()}
    sets["students, held out"] = [PlacedQuestion(**row) for row in rows_of("routing") if row["held_out"]]
    for name, questions in sets.items():
        print(json.dumps({name: plain(routing.rows(parts, questions, by=model))}), flush=True)
    if args.write:
        numbers = {
            "encoder": model.encoder,
            "decision": decides,
            "bias": round(model.bias, 4),
            "weights": [round(w, 4) for w in found[:-1]],
        }
        PATH.write_text(json.dumps(numbers) + "\n", encoding="utf-8")


def sounds(x: Array, y: Array, weight: Array, own: list[str]) -> Array:
    """(own,) how the first questions sound to a model that was fitted without them."""
    fold_of = {
        text: number % FOLDS for number, text in enumerate(np.random.default_rng(0).permutation([*dict.fromkeys(own)]))
    }
    fold = np.full(len(y), -1)
    fold[: len(own)] = [fold_of[text] for text in own]
    out = np.zeros(len(own))
    for part in range(FOLDS):
        weights = fit(x[fold != part], y[fold != part], weight[fold != part])
        out[fold[: len(own)] == part] = x[fold == part] @ weights[:-1] + weights[-1]
    return out


def decision(parts: Parts, texts: list[str], sound: Array, y: Array, share: Array) -> dict[str, float]:
    """What decides, fitted on questions of which both sides count the same."""
    rows = []
    for text, own in zip(texts, sound, strict=True):
        question, planned = Question(text), plan_by_rule(text, ())
        told = parts.book_source.chance_of_prepared(planned, question)
        covered = parts.kernel_source.chance_of_prepared(planned, question)
        rows.append([own, *(bool(sign.search(text)) for sign in SIGNS.values()), told, covered])
    balanced = share * np.where(y > 0, len(y) / (2 * np.sum(y > 0)), len(y) / (2 * np.sum(y < 0)))
    weights = fit(np.array(rows, float), y, balanced, DECISION_PENALTY)
    names = ("sound", *SIGNS, "prepared", "walked", "bias")
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def held_of(pattern: str) -> bool | None:
    """Files of one part only are asked whole."""
    return True if "key_points" in pattern or "sets" in pattern else None


if __name__ == "__main__":
    main()
