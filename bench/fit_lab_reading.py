"""Fit what the reader of exercises knows of wordings (osrag/lab/reading/likely.py), and say how often it is right.

    python bench/fit_lab_reading.py [--write]

Fitted on bench/lab_wordings.toml, on the development questions of examples/eval/lab, and on questions to the course and
the kernel as texts that are no exercise. Reported by leaving out a tenth of the development questions at a time, in the
order of the file, so that questions of one hand are left out together. `--write` writes osrag/data/lab_reading.npz
instead, which takes a tenth of the time.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.fit_route import asked, prepared, walked  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.evaluate.lab import read_questions  # noqa: E402
from osrag.lab.catalog import KINDS  # noqa: E402
from osrag.lab.reading.likely import NONE, PATH, SCALE, wordings  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

QUESTIONS = ROOT / "examples" / "eval" / "lab" / "questions.jsonl"
WORDINGS = ROOT / "bench" / "lab_wordings.toml"
PENALTY = 0.05  # of a squared weight
PARTS = 10
EVERY = 4  # of the prepared questions, which are many, one in so many
Floats = npt.NDArray[np.float64]


def fit(x: Floats, names: Sequence[str]) -> tuple[list[str], Floats]:
    """The names in order, and (dim + 1, names) weights of a ridge-penalised softmax, the last row the bias."""
    from scipy.optimize import minimize

    known = sorted(set(names))
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    y = np.eye(len(known))[[known.index(name) for name in names]]

    def loss(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(x.shape[1], len(known))
        scores = x @ w
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        penalised = np.concatenate([w[:-1], np.zeros((1, len(known)))])
        slope = x.T @ (np.exp(logs) - y) + 2 * PENALTY * penalised
        return float(-(logs * y).sum() + PENALTY * (penalised**2).sum()), slope.ravel()

    start = np.zeros(x.shape[1] * len(known))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    return known, found.reshape(x.shape[1], len(known))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write osrag/data/lab_reading.npz")
    args = parser.parse_args()
    encoder = Parts(load_settings()).checker
    questions = [one for one in read_questions(QUESTIONS) if not one.held_out]
    written = tomllib.loads(WORDINGS.read_text(encoding="utf-8"))
    other = [*asked("textbook/*.jsonl"), *asked("kernel/*.jsonl"), *prepared()[::EVERY], *walked()[::EVERY]]

    def vectors(texts: Sequence[str]) -> Floats:
        return SCALE * encoder.queries(texts).astype(np.float64)

    more = [(text, kind) for kind, texts in written["kinds"].items() for text in texts]
    more += [(text, NONE) for text in dict.fromkeys(other)]
    clauses = [(text, ask) for group in written["asks"].values() for ask, texts in group.items() for text in texts]
    with_ask = [one for one in questions if "ask" in one.parameters]
    tasks = {
        "kinds": (
            [(wordings(one.text)[0], one.type or NONE) for one in questions],
            more,
            [[*KINDS, NONE] for _ in questions],
        ),
        "asks": (
            [(wordings(one.text)[1], one.parameters["ask"]) for one in with_ask],
            clauses,
            [get_args(KINDS[one.type].parameters.model_fields["ask"].annotation) for one in with_ask if one.type],
        ),
    }
    fitted: dict[str, npt.NDArray[np.generic]] = {"encoder": np.array(encoder.name)}
    for task, (own, extra, choices) in tasks.items():
        x = vectors([text for text, _ in own])
        x_more, names = vectors([text for text, _ in extra]), [name for _, name in own]
        names_more = [name for _, name in extra]
        right = 0
        for part in range(0 if args.write else PARTS):
            left_out = range(part * len(own) // PARTS, (part + 1) * len(own) // PARTS)
            rest = [place for place in range(len(own)) if place not in left_out]
            known, weights = fit(np.concatenate([x[rest], x_more]), [*(names[n] for n in rest), *names_more])
            scores = x[left_out] @ weights[:-1] + weights[-1]
            for place, row in zip(left_out, scores, strict=True):
                chance = dict(zip(known, row, strict=True))
                right += names[place] == max(choices[place], key=lambda name, of=chance: of.get(name, -np.inf))
        if not args.write:
            examples = len(own) + len(extra)
            print(json.dumps({"fitted": task, "examples": examples, "right_left_out": right / len(own)}))
            continue
        known, weights = fit(np.concatenate([x, x_more]), [*names, *names_more])
        fitted |= {task: weights.astype(np.float16), f"{task}_names": np.array(known)}
    if args.write:
        np.savez_compressed(PATH, **fitted)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
