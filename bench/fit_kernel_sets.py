"""Fit which functions belong to an answer (osrag/kernel/grow.py) and which of their lines decide (deciding.py).

    python bench/fit_kernel_sets.py [--index FOLDER] [--sets FILE] [--write]

Fitted on the walk-throughs: each of their questions and titles with the functions of the steps, and the lines that the
steps quote. The stages of the functions are fitted on chances that come from walks left out (three folds). Reported on
the development half of the questions with sets, which are not fitted on; never on the half that is held out.
`--write` puts the numbers into osrag/data/kernel_sets.json.
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

from bench.fit_confidence import fit  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.evaluate.kernel_sets import SHOWN, read_sets  # noqa: E402
from osrag.kernel.code import code_lines  # noqa: E402
from osrag.kernel.deciding import features  # noqa: E402
from osrag.kernel.grow import WEIGHTS, Candidates, candidates, linked, sigmoid  # noqa: E402
from osrag.kernel.query import read_question  # noqa: E402
from osrag.kernel.search import KernelSearch, current_names  # noqa: E402
from osrag.kernel.walk_match import open_walks  # noqa: E402
from osrag.kernel.walks import Walk, bind  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

FOLDS, STAGES = 3, 3
MOST = 6  # lines of a function that count, before the conditions around them


@dataclass(frozen=True)
class Asked:
    """A question with its candidates, and which of them answer it."""

    fold: int
    found: Candidates
    wanted: frozenset[str]

    @property
    def right(self) -> np.ndarray:
        return np.array([name in self.wanted for name in self.found.names], dtype=float)


def ask(search: KernelSearch, text: str, wanted: frozenset[str], fold: int = -1) -> Asked:
    question = read_question(current_names(text, search.store))
    ranked = search.ranker.rank(question, *search.embed(question))
    return Asked(fold, candidates(ranked, search.graph), wanted)


def asked_of_walks(search: KernelSearch, walks: Sequence[Walk]) -> list[Asked]:
    rows = []
    for number, walk in enumerate(walks):
        wanted = frozenset(step.function for step in walk.step)
        texts = (*walk.questions.zh, *walk.questions.en, walk.title.zh, walk.title.en)
        rows += [ask(search, text, wanted, number % FOLDS) for text in texts]
    return rows


def stages_of(asked: Sequence[Asked], check: Sequence[Asked]) -> list[dict[str, Any]]:
    """The stages, each on the chances of the one before."""
    held: list[dict[str, Any]] = []
    before: list[np.ndarray | None] = [None] * len(asked)
    checked: list[np.ndarray | None] = [None] * len(check)
    for _ in range(STAGES):
        x = [_features(one, p) for one, p in zip(asked, before, strict=True)]
        now = list(before)
        for fold in range(FOLDS):
            model = _fitted([(x[at], one.right) for at, one in enumerate(asked) if one.fold != fold])
            for at, one in enumerate(asked):
                if one.fold == fold:
                    now[at] = _chances(model, x[at])
        model = _fitted([(x[at], one.right) for at, one in enumerate(asked)])
        held.append(model)
        checked = [_chances(model, _features(one, p)) for one, p in zip(check, checked, strict=True)]
        before = now
        told = {"left out": _share(asked, before), "sets, development": _share(check, checked)}
        print(json.dumps({"stage": len(held), **{name: round(value, 3) for name, value in told.items()}}), flush=True)
    return held


def _features(one: Asked, chances: np.ndarray | None) -> np.ndarray:
    own = one.found.own
    return own if chances is None else np.concatenate([own, linked(one.found, chances)], axis=1)


def _fitted(rows: Sequence[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    x, y = np.concatenate([x for x, _ in rows]).astype(float), np.concatenate([y for _, y in rows])
    varied = x.std(0) > 1e-6
    weights = np.zeros(x.shape[1])
    weights[varied], bias = fit(x[:, varied], y, balanced=False)
    return {"bias": round(bias, 3), "weights": [round(float(one), 4) for one in weights]}


def _chances(model: dict[str, Any], x: np.ndarray) -> np.ndarray:
    return sigmoid(x @ np.array(model["weights"]) + model["bias"])


def _share(asked: Sequence[Asked], chances: Sequence[np.ndarray | None]) -> float:
    """Mean share of the wanted functions among the ten likeliest."""
    shares = []
    for one, p in zip(asked, chances, strict=True):
        assert p is not None
        best = list(dict.fromkeys(one.found.names[at] for at in np.argsort(-p, kind="stable")))[:SHOWN]
        shares.append(len(one.wanted.intersection(best)) / len(one.wanted))
    return float(np.mean(shares))


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
    search, walks = parts.kernel, open_walks(args.index, parts.encoder_id)
    assert walks is not None, "the index has no walk-throughs"
    check = [ask(search, one.question, frozenset(one.functions)) for one in read_sets(args.sets) if not one.held_out]
    made = {"lines": lines_of(search, walks.walks)}
    made = {"functions": stages_of(asked_of_walks(search, walks.walks), check), **made}
    if args.write:
        WEIGHTS.write_text(json.dumps(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
