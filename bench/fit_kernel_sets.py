"""Fit which functions belong to an answer (osrag/kernel/grow.py) and which of their lines decide (deciding.py).

    python bench/fit_kernel_sets.py [--index FOLDER] [--sets FILE] [--write]

The lines, and three stages of the functions, are fitted on the walk-throughs: the lines that their steps quote, and a
question in each language with the functions of the steps. The development half of the questions with sets, which
another hand wrote, counts three times beside them. The last stage, which sees what walk-throughs say, is fitted on that
half alone: a walk knows too much of its own questions. Each stage is fitted on chances of questions left out (three
folds), and they are what is reported; the half that is held out is never read. `--write` puts the numbers into
osrag/data/kernel_sets.json.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.fit_confidence import RIDGE, fit  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.evaluate.kernel_sets import SHOWN, read_sets  # noqa: E402
from osrag.kernel.code import code_lines  # noqa: E402
from osrag.kernel.deciding import features  # noqa: E402
from osrag.kernel.grow import WEIGHTS, Candidates, candidates, linked, of_walks, sigmoid  # noqa: E402
from osrag.kernel.near_walks import NOTHING, Near  # noqa: E402
from osrag.kernel.query import read_question  # noqa: E402
from osrag.kernel.search import KernelSearch, current_names  # noqa: E402
from osrag.kernel.walks import Walk, bind  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

FOLDS, STAGES = 3, 3
OTHERS = 3  # weight of a question that is of no walk
RIDGE_WALKS = 5.0  # on the few weights of the last stage, which has 60 questions


@dataclass(frozen=True)
class Asked:
    """A question with its candidates, and which of them answer it."""

    fold: int
    found: Candidates
    wanted: frozenset[str]
    weight: int
    near: Near = NOTHING

    @property
    def right(self) -> np.ndarray:
        return np.array([name in self.wanted for name in self.found.names], dtype=float)


def ask(search: KernelSearch, text: str, wanted: frozenset[str], fold: int, *, of_walk: bool) -> Asked:
    question = read_question(current_names(text, search.store))
    vector, bridge = search.embed(question)
    ranked = search.ranker.rank(question, vector, bridge)
    near = NOTHING if of_walk or search.near is None else search.near.near(vector)
    found = candidates(ranked, search.graph, near.rows)
    return Asked(fold, found, wanted, 1 if of_walk else OTHERS, near)


def asked_of_walks(search: KernelSearch, walks: Sequence[Walk]) -> list[Asked]:
    rows = []
    for number, walk in enumerate(walks):
        wanted = frozenset(step.function for step in walk.step)
        texts = (walk.questions.zh[0], walk.questions.en[1])
        rows += [ask(search, text, wanted, number % FOLDS, of_walk=True) for text in texts]
    return rows


def stages_of(asked: Sequence[Asked]) -> dict[str, Any]:
    """The stages, each on the chances of the one before."""
    held: list[dict[str, Any]] = []
    before: list[np.ndarray | None] = [None] * len(asked)
    for _ in range(STAGES):
        model, before = _left_out(asked, [_features(one, p) for one, p in zip(asked, before, strict=True)])
        held.append(model)
        _report(f"stage {len(held)}", asked, before)
    others = [(one, p) for one, p in zip(asked, before, strict=True) if one.near is not NOTHING]
    kept = [one for one, _ in others]
    model, after = _left_out(kept, [of_walks(one.found, p, one.near) for one, p in others], ridge=RIDGE_WALKS)
    _report("with walks", kept, after)
    return {"functions": held, "walks": model}


def _left_out(
    asked: Sequence[Asked], x: Sequence[np.ndarray], ridge: float | None = None
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The model of all questions, and for each question the chances by a model of the other folds."""

    def rows(without: int) -> list[tuple[np.ndarray, np.ndarray]]:
        kept = [(one, of) for one, of in zip(asked, x, strict=True) if one.fold != without]
        return [(of, one.right) for one, of in kept for _ in range(one.weight)]

    models = [_fitted(rows(fold), ridge) for fold in range(FOLDS)]
    return _fitted(rows(-1), ridge), [_chances(models[one.fold], of) for one, of in zip(asked, x, strict=True)]


def _report(stage: str, asked: Sequence[Asked], chances: Sequence[np.ndarray | None]) -> None:
    shares: dict[str, list[float]] = {"walks": [], "sets, development": []}
    for one, p in zip(asked, chances, strict=True):
        assert p is not None
        best = list(dict.fromkeys(one.found.names[at] for at in np.argsort(-p, kind="stable")))[:SHOWN]
        name = "walks" if one.near is NOTHING else "sets, development"
        shares[name].append(len(one.wanted.intersection(best)) / len(one.wanted))
    told = {name: round(float(np.mean(some)), 3) for name, some in shares.items() if some}
    print(json.dumps({"stage": stage, "left out": told}), flush=True)


def _features(one: Asked, chances: np.ndarray | None) -> np.ndarray:
    own = one.found.own
    return own if chances is None else np.concatenate([own, linked(one.found, chances)], axis=1)


def _fitted(rows: Sequence[tuple[np.ndarray, np.ndarray]], ridge: float | None = None) -> dict[str, Any]:
    x, y = np.concatenate([x for x, _ in rows]).astype(float), np.concatenate([y for _, y in rows])
    varied = x.std(0) > 1e-6
    weights = np.zeros(x.shape[1])
    weights[varied], bias = fit(x[:, varied], y, ridge=ridge or RIDGE)
    return {"bias": round(bias, 3), "weights": [round(float(one), 4) for one in weights]}


def _chances(model: dict[str, Any], x: np.ndarray) -> np.ndarray:
    return sigmoid(x @ np.array(model["weights"]) + model["bias"])


def lines_of(search: KernelSearch, walks: Sequence[Walk]) -> dict[str, Any]:
    """The model of the lines, on the lines that the steps quote."""
    rows = []
    for walk in walks:
        bound, _ = bind(walk, search.store)
        if bound is None:
            continue
        names = set(bound.functions)
        for text in (walk.questions.zh[0], walk.questions.en[1]):
            for step in bound.steps:
                code = code_lines(step.chunk)
                x = features(step.chunk, code, text, names - {step.name}, search.store)
                rows.append((x, np.array([line.number in step.lines for line in code], dtype=float)))
    return _fitted(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index")
    parser.add_argument("--sets", type=Path, default=ROOT / "examples" / "eval" / "kernel" / "sets.jsonl")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    parts = Parts(load_settings(index_dir=args.index, index_repo="", profile="retrieval"))
    search = parts.kernel
    assert search.walks is not None, "the index has no walk-throughs"
    walks = search.walks.walks
    others = [one for one in read_sets(args.sets) if not one.held_out]
    asked = [
        ask(search, one.question, frozenset(one.functions), at % FOLDS, of_walk=False) for at, one in enumerate(others)
    ]
    made = stages_of([*asked_of_walks(search, walks), *asked]) | {"lines": lines_of(search, walks)}
    if args.write:
        WEIGHTS.write_text(json.dumps(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
