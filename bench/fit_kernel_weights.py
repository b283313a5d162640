"""Learns the weights of kernel search on questions with known functions.

    python bench/fit_kernel_weights.py --index index [--without-notes SOURCE] [--write] QUESTIONS.jsonl ...

The loss is the likelihood of a right function among the pool (a softmax over its chunks),
with a small penalty on large weights; weights of the ways of searching stay positive.
`--without-notes` also builds an index of this source without `kernel_notes.tsv`: learning on both
keeps the weights good for functions that no note describes. Figures are by 3-fold cross-validation.
Never run it on the held-out questions.
Needs torch, which requirements-dev.txt brings.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.evaluate.kernel import KernelQuestion, read_questions  # noqa: E402
from osrag.evaluate.measures import hit_rate, mean_reciprocal_rank  # noqa: E402
from osrag.kernel.build import build_kernel  # noqa: E402
from osrag.kernel.describe import load_lore  # noqa: E402
from osrag.kernel.query import read_question  # noqa: E402
from osrag.kernel.rank import FEATURES, WEIGHTS, Ranker  # noqa: E402
from osrag.kernel.search import KernelSearch, current_names  # noqa: E402
from osrag.models.load import load_encoder  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

FREE_SIGN = {"calls", "lines"}
# Eight of the development questions name a function, hardly one asks who calls whom, and no model adds names to them.
# A name weighs as much as the best keyword; more costs the questions that name a function in passing.
FIXED = {"named": 3.0, "neighbour": 12.0, "suggested": 1.0}
PENALTY = 0.004
CANDIDATES = 500


@dataclass(frozen=True)
class Asked:
    question: KernelQuestion
    features: np.ndarray  # (pool, FEATURES)
    names: list[str]

    @property
    def right(self) -> np.ndarray:
        return np.array([name in self.question.functions for name in self.names])


def build_without_notes(out: Path, source: Path) -> Path:
    settings = load_settings()
    names = ["kernel", "mm"]
    build_kernel(
        out,
        source,
        names,
        load_encoder(settings),
        cache_dir=settings.cache_dir,
        lore=replace(load_lore(), notes={}),
    )
    return out


def ask(index: Path, questions: Sequence[KernelQuestion]) -> list[Asked]:
    search = KernelSearch(index, load_encoder(load_settings()))
    ranker = Ranker(search.store)
    out = []
    for question in questions:
        read = read_question(current_names(question.question, search.store))
        ranked = ranker.rank(read, *search.embed(read))
        out.append(Asked(question, ranked.features, [search.store.names[row] for row in ranked.rows]))
    return out


def learn(asked: Sequence[Asked], steps: int = 250) -> np.ndarray:
    import torch

    pairs = []
    for one in asked:
        right = one.right
        if right.any():
            keep = np.arange(len(right)) < CANDIDATES
            keep |= right
            pairs.append((torch.tensor(one.features[keep]), torch.tensor(right[keep])))
    weights = torch.tensor([FIXED.get(name, 0.3) for name in FEATURES], requires_grad=True)
    free = torch.tensor([0.0 if name in FIXED else 1.0 for name in FEATURES])
    positive = [FEATURES.index(name) for name in FEATURES if name not in FREE_SIGN]
    optimiser = torch.optim.Adam([weights], lr=0.06)
    for _ in range(steps):
        loss = PENALTY * (weights**2).sum()
        for features, right in pairs:
            scores = features @ weights
            loss = loss + (torch.logsumexp(scores, 0) - torch.logsumexp(scores[right], 0)) / len(pairs)
        optimiser.zero_grad()
        loss.backward()
        weights.grad *= free
        optimiser.step()
        with torch.no_grad():
            weights[positive] = weights[positive].clamp(min=0)
    return weights.detach().numpy()


def rank_of(one: Asked, weights: np.ndarray) -> int | None:
    order = np.argsort(-(one.features @ weights), kind="stable")
    names = dict.fromkeys(one.names[place] for place in order)
    return next((rank for rank, name in enumerate(names, start=1) if name in one.question.functions), None)


def figures(asked: Sequence[Asked], ranks: Sequence[int | None]) -> str:
    out = []
    for group in ("", "zh", "en"):
        own = [rank for one, rank in zip(asked, ranks, strict=True) if group in ("", one.question.language)]
        rate, mrr = hit_rate(own, 10), mean_reciprocal_rank(own)
        out.append(f"{group or 'all'} {len(own)}: @1 {hit_rate(own, 1):.3f} @10 {rate:.3f} mrr {mrr:.3f}")
    return "; ".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, default=Path("index"))
    parser.add_argument("--without-notes", type=Path, metavar="SOURCE")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        indexes = [args.index, *([build_without_notes(Path(folder), args.without_notes)] if args.without_notes else [])]
        held = {path: [ask(index, read_questions(path)) for index in indexes] for path in args.files}
    for path in args.files:
        folds = range(3)
        for place, index in enumerate(indexes):
            ranks: list[int | None] = [None] * len(held[path][place])
            for fold in folds:
                train = [
                    one
                    for other, runs in held.items()
                    for run in runs
                    for number, one in enumerate(run)
                    if other != path or number % 3 != fold
                ]
                weights = learn(train, steps=150)
                for number, one in enumerate(held[path][place]):
                    if number % 3 == fold:
                        ranks[number] = rank_of(one, weights)
            print(f"{path.name} on {index}: {figures(held[path][place], ranks)}")
    weights = learn([one for runs in held.values() for run in runs for one in run])
    made = {name: round(float(weight), 3) for name, weight in zip(FEATURES, weights, strict=True)}
    print(json.dumps(made))
    if args.write:
        WEIGHTS.write_text(json.dumps(made) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
