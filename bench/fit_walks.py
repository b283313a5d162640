"""Fit when a walk-through answers a question (osrag/kernel/walk_index.py), and say how often it is the right one.

    python bench/fit_walks.py [--index FOLDER] [--unseen FILE …] [--show] [--write]

Fitted on two kinds of questions. Of the development questions a walk is right where it has a function that the question
names as its answer. Of the walks' own questions, one in each language, with that question left out of the index, only
the walk itself is right: this teaches to choose between walks that share functions. Reported for the development
questions and for the files of `--unseen`, on which nothing was tuned. `--write` puts the numbers into
osrag/data/confidence.json.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.fit_confidence import EVAL, fit  # noqa: E402
from osrag.answer.plan import plan_by_rule  # noqa: E402
from osrag.answer.source import Question  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.index.confidence import PATH, Confidence  # noqa: E402
from osrag.kernel.source import KernelSource  # noqa: E402
from osrag.kernel.walk_index import SURE, Walks, open_walks  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

FITTED = [
    *(EVAL / "kernel" / f"{name}.jsonl" for name in ("dev", "ablation", "absent")),
    EVAL / "textbook" / "off_topic.jsonl",
]
UNSEEN = [EVAL / "kernel" / "held_out.jsonl"]
CUTS = (0.4, 0.5, SURE, 0.7, 0.8)


@dataclass(frozen=True)
class Row:
    """One question, and what speaks for each walk that may answer it."""

    text: str
    functions: frozenset[str]  # any of them answers
    covered: bool  # some walk has one of them
    candidates: Mapping[str, tuple[Mapping[str, float], bool]]  # walk -> its signals, and whether it is right


def measured(parts: Parts, walks: Walks, files: Sequence[Path]) -> list[Row]:
    """The questions of files that the search does not refuse; those that it refuses get no walk."""
    source = KernelSource(parts.kernel)
    names = [{step.function for step in walk.step} for walk in walks.walks]
    rows = []
    for line in (line for path in files for line in path.read_text("utf-8").split("\n") if line.strip()):
        value = json.loads(line)
        gold = frozenset([*value.get("gold_functions", ()), *value.get("also_accept_functions", ())])
        asked = Question(value["question"])
        found = source.search(plan_by_rule(asked.text, ()), asked)
        candidates = {}
        if source.usable(found, asked, judged=False):
            cosines = walks.cosines(parts.encoder.queries([found.query])[0])
            for place, signals in walks.candidates(cosines, found.hits).items():
                candidates[walks.walks[place].id] = signals, bool(gold & names[place])
        rows.append(Row(asked.text, gold, any(gold & own for own in names), candidates))
    return rows


def of_the_walks(parts: Parts, walks: Walks) -> list[Row]:
    """The first question of each walk in each language, as if the index did not have it."""
    source, rows = KernelSource(parts.kernel), []
    for walk in walks.walks:
        for text in (walk.questions.zh[0], walk.questions.en[0]):
            found = source.search(plan_by_rule(text, ()), Question(text))
            cosines = walks.cosines(parts.encoder.queries([text])[0])
            cosines[[row.text == text for row in walks.texts]] = -1.0
            signals = walks.candidates(cosines, found.hits)
            candidates = {walks.walks[place].id: (one, walks.walks[place] is walk) for place, one in signals.items()}
            rows.append(Row(text, frozenset(), True, candidates))
    return rows


def chosen(row: Row, model: Confidence) -> tuple[float, str, bool]:
    """The surest walk for a question: its confidence, its name, whether it is right."""
    return max(
        ((model(signals), name, right) for name, (signals, right) in row.candidates.items()), default=(0.0, "", False)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index")
    parser.add_argument("--unseen", type=Path, nargs="*", default=UNSEEN)
    parser.add_argument("--show", action="store_true", help="the development questions with another walk, or with none")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    parts = Parts(load_settings(index_dir=args.index, index_repo="", profile="retrieval"))
    walks = open_walks(parts.kernel.root, parts.encoder_id)
    assert walks is not None, "the index has no walk-throughs"
    rows = measured(parts, walks, FITTED)
    pairs = [pair for row in (*rows, *of_the_walks(parts, walks)) for pair in row.candidates.values()]
    names = list(pairs[0][0])
    x = np.array([[signals[name] for name in names] for signals, _ in pairs])
    weights, bias = fit(x, np.array([float(right) for _, right in pairs]), balanced=False)
    held = {
        "bias": round(bias, 2),
        "weights": {name: round(float(one), 2) for name, one in zip(names, weights, strict=True)},
    }
    print(json.dumps({"walks": held}))
    model = Confidence(held["bias"], held["weights"])
    for label, some in (("fitted", rows), *((path.stem, measured(parts, walks, [path])) for path in args.unseen)):
        found = [(chosen(row, model), row) for row in some]
        for cut in CUTS:
            taken = [right for (sure, _, right), _ in found if sure >= cut]
            told = {"walks": len(taken), "right": round(sum(taken) / max(1, len(taken)), 3)}
            print(
                json.dumps(
                    {"set": label, "n": len(some), "covered": sum(row.covered for row in some), "cut": cut, **told}
                )
            )
        if args.show and label == "fitted":
            for (sure, name, right), row in sorted(found, key=lambda one: -one[0][0]):
                if (sure >= SURE) != row.covered or (sure >= SURE and not right):
                    print(f"{sure:.2f} {'right' if right else 'wrong'} {name}: {row.text} {sorted(row.functions)[:4]}")
    if args.write:
        fitted = {**json.loads(PATH.read_text(encoding="utf-8")), "walks": held}
        lines = [f'  "{name}": {json.dumps(one)}' for name, one in fitted.items()]
        PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
