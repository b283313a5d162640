"""Train the selector (osrag/book/selector.py) on the prepared answers of the course, and say how well it chooses.

    python -m bench.fit_selector [--write] [--keep FILE]

Every prepared answer is asked for with two of its questions. Of the passages that the search finds, the lines that a
quote of the answer stands in are right, the others are not. Every fourth chapter is left out and reported on; then the
network is trained on all of them. A copy of every third question is asked in the other language, with the same
passages, so that it learns what to do where a book exists in one language only. `--keep` keeps the lines between runs.
"""

import argparse
import json
import pickle
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from osrag.answer.judge import number
from osrag.answer.plan import plan_by_rule
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.book.lines import lines_of
from osrag.book.selector import FAR, PATH, Array, Selector, signals
from osrag.models.protocols import Encoder
from osrag.settings import load_settings
from osrag.text import folded

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = ROOT / "examples" / "textbook" / "answers"
LEFT_OUT = ("ch03", "ch06", "ch08", "ch11")  # chapters for validation
LEAST_LETTERS = 6  # of a line that stands inside a quote
HIDDEN, EPOCHS, BATCH, RATE, DECAY, DROPOUT = 32, 16, 2048, 2e-3, 1e-2, 0.2


@dataclass(frozen=True, slots=True)
class Case:
    """The quotable lines for one question."""

    chapter: str
    seen: Array  # (lines, signals)
    right: Array  # (lines,) 1 where a quote of the answer stands


def cases(parts: Parts) -> Iterator[Case]:
    """Two questions of each answer in each language, and every third in the other language."""
    source, encoder = parts.book_source, Remembering(parts.book_source.encoder)
    chance = random.Random(1)
    for path in sorted(ANSWERS.glob("*.jsonl")):
        print(path.name, flush=True)
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            for language, other in (("zh", "en"), ("en", "zh")):
                if language not in row:
                    continue
                quotes = [folded(one["quote"]) for one in row[language]["answer"]]
                asked = row[language]["questions"]
                for text in [asked[0], *chance.sample(asked[1:], min(1, len(asked) - 1))]:
                    question, plan = Question(text), plan_by_rule(text, ())
                    found = source.search(plan, question)
                    passages = number(source.usable(found, question, judged=True))
                    lines = lines_of(passages)
                    if not lines:
                        continue
                    vectors = encoder.passages([one.text for one in lines])
                    right = np.array([_quoted(folded(one.text), quotes) for one in lines], np.float32)
                    usable = np.array([one.quotable for one in lines])
                    if not right[usable].any():
                        continue
                    spoken = [text]
                    if other in row and chance.random() < 1 / 3:
                        spoken.append(row[other]["questions"][0])
                    for said in spoken:
                        seen = signals(said, encoder.query(said), lines, vectors, passages)
                        yield Case(path.name[:4], seen[usable], right[usable])


def _quoted(line: str, quotes: Sequence[str]) -> bool:
    return any((len(line) >= LEAST_LETTERS and line in quote) or quote in line for quote in quotes)


class Remembering:
    """An encoder that embeds a text once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._known = encoder, dict[str, Array]()

    def passages(self, texts: Sequence[str]) -> Array:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            self._known.update(zip(fresh, self._encoder.passages(fresh), strict=True))
        return np.array([self._known[text] for text in texts])

    def query(self, text: str) -> Array:
        return np.asarray(self._encoder.queries([text])[0])


def train(chosen: Sequence[Case]) -> dict[str, Array]:
    """The weights of a `Selector`."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    seen = np.concatenate([case.seen for case in chosen])
    mean, deviation = seen.mean(axis=0), seen.std(axis=0) + 1e-6
    inputs = torch.tensor(np.clip((seen - mean) / deviation, -FAR, FAR))
    right = torch.tensor(np.concatenate([case.right for case in chosen]))
    first, last = nn.Linear(inputs.shape[1], HIDDEN), nn.Linear(HIDDEN, 1)
    net = nn.Sequential(first, nn.ReLU(), nn.Dropout(DROPOUT), last)
    adam = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(right)).split(BATCH):
            adam.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(net(inputs[batch])[:, 0], right[batch]).backward()
            adam.step()
    weights = {
        "in": first.weight.T,
        "in_bias": first.bias,
        "out": last.weight[0],
        "out_bias": last.bias,
    }
    return {"mean": mean, "deviation": deviation} | {name: one.detach().numpy() for name, one in weights.items()}


def report(selector: Selector, held: Sequence[Case]) -> str:
    """Mean average precision, and the share of right lines among the five best."""
    precisions, recalls = [], []
    for case in held:
        right = case.right[np.argsort(-selector.scores(case.seen))]
        so_far = np.cumsum(right) / np.arange(1, len(right) + 1)
        precisions.append(float((so_far * right).sum() / right.sum()))
        recalls.append(float(right[:5].sum() / min(5, right.sum())))
    return f"average precision {np.mean(precisions):.3f}, right among the best five {np.mean(recalls):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {PATH.relative_to(ROOT)}")
    parser.add_argument("--keep", type=Path, help="file that keeps the lines between runs")
    args = parser.parse_args()
    if args.keep and args.keep.is_file():
        found = pickle.loads(args.keep.read_bytes())  # our own file
    else:
        found = list(cases(Parts(load_settings())))
        if args.keep:
            args.keep.write_bytes(pickle.dumps(found))
    held = [case for case in found if case.chapter in LEFT_OUT]
    rest = [case for case in found if case.chapter not in LEFT_OUT]
    print(f"{len(rest)} questions to train on, {len(held)} left out: {report(Selector(train(rest)), held)}")
    if args.write:
        np.savez_compressed(PATH, **{name: one.astype(np.float32) for name, one in train(found).items()})
        print(f"wrote {PATH.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
