"""Fit which walk-through answers a question (osrag/kernel/walk_match.py), and say how often it is the right one.

    python bench/fit_walks.py [--index FOLDER] [--held-out] [--show] [--write]

Two models. The *order* learns to put the right walk first: from the development questions of
examples/eval/kernel/walks.jsonl, walks_students.jsonl and walks_asked.jsonl, which name the walks that answer them,
whole or in part. The *confidence* learns whether the first walk answers: from the same, but for those that it answers
in part, and from questions that no walk answers. For the report each half of the development questions is left out of
it in turn; `--held-out` adds those on which nothing was tuned. `--write` puts the numbers into
osrag/data/walk_weights.json and osrag/data/confidence.json.
Needs the package scipy, which FlagEmbedding of requirements-dev.txt brings.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.fit_confidence import fit, rows_of, write_entry  # noqa: E402
from osrag.answer.plan import plan_by_rule  # noqa: E402
from osrag.answer.source import Question  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.index.confidence import Confidence  # noqa: E402
from osrag.kernel.source import KernelSource  # noqa: E402
from osrag.kernel.walk_match import SIGNALS, SURE, WEIGHTS, Walks, open_walks  # noqa: E402
from osrag.settings import load_settings  # noqa: E402
from osrag.types import CodeHit  # noqa: E402

LABELLED = ("kernel/walks", "kernel/walks_students", "kernel/walks_asked")
FUNCTIONS = ("kernel/dev", "kernel/ablation")  # with functions instead of walks
NOTHING = ("kernel/absent", "textbook/off_topic")  # no walk answers them
RIDGE = 0.02  # penalty on the weights of the order, for standardised signals
CUTS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8)


@dataclass(frozen=True)
class Row:
    """One question with what speaks for each walk."""

    text: str
    right: npt.NDArray[np.bool_]  # (walks,) which of them answer it
    part: npt.NDArray[np.bool_]  # (walks,) which do in part
    signals: npt.NDArray[np.float32]  # (walks, SIGNALS)
    hits: Sequence[CodeHit]
    cosines: npt.NDArray[np.float32]  # (texts,)


class Reader:
    """Asks the index."""

    def __init__(self, parts: Parts, walks: Walks) -> None:
        self.parts, self.walks = parts, walks
        self.source = KernelSource(parts.kernel)
        self.number = {walk.id: place for place, walk in enumerate(walks.walks)}

    def row(self, text: str, right: Iterable[str], part: Iterable[str] = ()) -> Row:
        """A question, and the walks that answer it, whole or in part."""
        found = self.source.search(plan_by_rule(text, ()), Question(text))
        cosines = self.walks.cosines(self.parts.encoder.queries([found.query])[0])
        signals = self.walks.signals(found.query, cosines, found.hits)
        return Row(text, self._those(right), self._those(part), signals, found.hits, cosines)

    def _those(self, ids: Iterable[str]) -> npt.NDArray[np.bool_]:
        """(walks,) which walks have these ids; raises KeyError where none has one."""
        mask = np.zeros(len(self.walks.walks), dtype=bool)
        mask[[self.number[id_] for id_ in ids]] = True
        return mask

    def labelled(self, *, held_out: bool) -> list[Row]:
        """Questions with the walks that answer them."""
        asked = [one for one in rows_of(*LABELLED) if one["held_out"] == held_out]
        return [self.row(one["question"], one["walks"], one.get("in_part", ())) for one in asked]

    def unanswered(self) -> list[Row]:
        """Questions that no walk answers."""
        known = {step.function for walk in self.walks.walks for step in walk.step}
        asked = [
            one
            for one in rows_of(*FUNCTIONS)
            if not known & {*one["gold_functions"], *one.get("also_accept_functions", ())}
        ]
        return [self.row(one["question"], ()) for one in (*asked, *rows_of(*NOTHING))]


def fit_order(rows: Sequence[Row]) -> npt.NDArray[np.float64]:
    """(SIGNALS,) the weights under which the right walks are the likeliest of all (a softmax over the walks)."""
    from scipy.optimize import minimize

    rows = [row for row in rows if row.right.any()]
    spread = np.concatenate([row.signals for row in rows]).std(0)
    signals = [(row.signals / spread).astype(np.float64) for row in rows]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for row, x in zip(rows, signals, strict=True):
            scores = x @ weights
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            right = float(shares[row.right].sum()) + 1e-12
            value -= 1 / len(rows) * np.log(right)
            gradient = gradient + 1 / len(rows) * (x.T @ (shares - np.where(row.right, shares / right, 0.0)))
        return value, gradient

    return minimize(loss, np.ones(len(SIGNALS)), jac=True, method="L-BFGS-B").x / spread


Pair = tuple[dict[str, float], int]  # what speaks for the first walk of a question, and that walk


def firsts(rows: Iterable[Row], order: np.ndarray, walks: Walks) -> list[Pair]:
    """The first walk of each question."""
    found = []
    for row in rows:
        scores = row.signals @ order
        same = walks.same(row.text, scores, row.cosines)
        found.append((dict(walks.evidence(scores, same, row.hits)), int(np.argmax(scores))))
    return found


def fit_sure(rows: Sequence[Row], found: Sequence[Pair]) -> Confidence:
    """How likely it is that the first walk answers."""
    names = list(found[0][0])
    taught = [(row, seen, place) for row, (seen, place) in zip(rows, found, strict=True) if not row.part[place]]
    x = np.array([[seen[name] for name in names] for _, seen, _ in taught])
    y = np.array([float(row.right[place]) for row, _, place in taught])
    weights, bias = fit(x, y)
    return Confidence(round(bias, 3), {name: round(float(one), 3) for name, one in zip(names, weights, strict=True)})


def told(label: str, rows: Sequence[Row], found: Sequence[tuple[float, int]]) -> None:
    """Print how many of the questions get a walk at each cut, and how many of these walks answer."""
    covered = sum(bool(row.right.any()) for row in rows)
    first = sum(bool(row.right[place]) for row, (_, place) in zip(rows, found, strict=True))
    for cut in CUTS:
        given = [(row, place) for row, (sure, place) in zip(rows, found, strict=True) if sure >= cut]
        right, part = (sum(bool(row.right[at]) for row, at in given), sum(bool(row.part[at]) for row, at in given))
        recall = round(right / max(1, covered), 3)
        head = {"set": label, "n": len(rows), "covered": covered, "first": first, "cut": cut}
        shares = {"precision": round(right / max(1, len(given)), 3), "recall": recall}
        print(json.dumps({**head, "walks": len(given), "right": right, "in_part": part, **shares}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--show", action="store_true", help="questions with a wrong walk, or without one")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    parts = Parts(load_settings(index_dir=args.index, index_repo="", profile="retrieval"))
    walks = open_walks(parts.kernel.root, parts.encoder_id, parts.pairs)
    assert walks is not None, "the index has no walk-throughs"
    reader = Reader(parts, walks)
    asked, more = reader.labelled(held_out=False), reader.unanswered()
    order = np.array([round(float(one), 2) for one in fit_order(asked)])
    of_asked, of_more = firsts(asked, order, walks), firsts(more, order, walks)
    sure = fit_sure([*asked, *more], [*of_asked, *of_more])
    halves = [fit_sure([*asked[1 - at :: 2], *more], [*of_asked[1 - at :: 2], *of_more]) for at in (0, 1)]
    sets = {
        "development": (asked, [(halves[n % 2](signs), place) for n, (signs, place) in enumerate(of_asked)]),
        "unanswered": (more, [(sure(signs), place) for signs, place in of_more]),
    }
    if args.held_out:
        rows = reader.labelled(held_out=True)
        sets["held out"] = rows, [(sure(signs), place) for signs, place in firsts(rows, order, walks)]
    for label, (rows, found) in sets.items():
        told(label, rows, found)
        shown = zip(found, rows, strict=True) if args.show else ()
        for (chance, place), row in sorted(shown, key=lambda one: -one[0][0]):
            if row.right[place] != (chance >= SURE):
                wanted = [walks.walks[one].id for one in np.flatnonzero(row.right)]
                print(f"{chance:.2f} {row.text} -> {walks.walks[place].id}, wanted {wanted}")
    weights = {name: float(one) for name, one in zip(SIGNALS, order, strict=True)}
    held = {"bias": sure.bias, "weights": dict(sure.weights)}
    print(json.dumps({"order": weights, "walks": held}))
    if args.write:
        WEIGHTS.write_text(json.dumps(weights) + "\n", encoding="utf-8")
        write_entry("walks", held)


if __name__ == "__main__":
    main()
