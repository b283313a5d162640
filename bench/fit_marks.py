"""Train a pair encoder that tells how much of a point an answer says. Not in use: docs/experiments/quiz.md.

    python bench/fit_marks.py train FOLDER [--start ADAPTER] [--epochs 1] [--seconds 480]
    python bench/fit_marks.py measure ADAPTER [FILES]   bench/said_point.safetensors is what one epoch gave

`train` goes on where the last run in FOLDER stopped, and writes FOLDER/adapter.safetensors. It learns from
examples/eval/quiz/marked/*.jsonl: each answer beside each point of its rubric, and beside its model answer for the mark
as a whole; the same with answers to other questions, with something else before or behind it, with the question and the
model answer as answers, and with the bare words of a rubric. One question in eight, by its hash, teaches nothing;
`measure` reports those unless FILES of the same form are named.
"""

import argparse
import json
import random
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from bench.fit_prepared import go_on  # noqa: E402
from osrag.evaluate.measures import PASS, agreement  # noqa: E402
from osrag.models.e5 import E5Encoder  # noqa: E402
from osrag.models.e5_pairs import E5Pairs  # noqa: E402
from osrag.models.load import load_encoder  # noqa: E402
from osrag.quiz.features import content_words, has_figure  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

MARKED = ROOT / "examples" / "eval" / "quiz" / "marked"
CHOOSE = 8  # one question in so many is for choosing
READ_TOKENS = 320
SENTENCE = 4  # words of a point that asks for more than to be named
WHOLE = 0.5  # weight of a mark for the whole, and of an answer that is made up, against that of a point
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """An answer beside a point or a model answer, and how much of it the answer says."""

    answer: str
    asked: str
    said: float
    weight: float = 1.0


def rows_of(paths: Sequence[Path]) -> list[Row]:
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines() if line.strip()]


def for_choosing(row: Row) -> bool:
    return zlib.crc32(row["question"].encode()) % CHOOSE == 0


def beside(question: str, text: str) -> str:
    """What an answer is read beside: a point or a model answer, behind the question that it belongs to."""
    return f"{question}\n{text}"


def share(row: Row, said: Sequence[float]) -> float:
    worth = [point["points"] for point in row["rubric"]]
    return sum(w * s for w, s in zip(worth, said, strict=True)) / sum(worth)


def examples(rows: Sequence[Row]) -> Iterator[Example]:
    """Each answer beside each point and the model answer, and answers made up: of another question, with what is beside
    the question around them, the question, the model answer, and the bare words of the rubric."""
    pick = random.Random(3)
    for row in rows:
        points = [beside(row["question"], one["point"]) for one in row["rubric"]]
        model = beside(row["question"], row["reference"])
        same = [one for one in rows if one["language"] == row["language"] and one is not row]

        def other(same: Sequence[Row] = same) -> str:
            return str(pick.choice(pick.choice(same)["answers"])["text"])

        padded = pick.sample(row["answers"], 2)
        more = [{**one, "text": "\n".join(pick.sample([one["text"], other()], 2))} for one in padded]
        for answer in [*row["answers"], *more]:
            for point, said in zip(points, answer["said"], strict=True):
                yield Example(answer["text"], point, said)
            yield Example(answer["text"], model, share(row, answer["said"]), WHOLE)
        for text in (other(), row["question"]):
            for point in [*points, model]:
                yield Example(text, point, 0.0, WHOLE)
        for point in [*points, model]:
            yield Example(row["reference"], point, 1.0, WHOLE)
        words = [content_words(one["point"]) for one in row["rubric"]]
        listed = ", ".join(dict.fromkeys(word for own in words for word in own))
        for point, own in zip(points, words, strict=True):
            if len(own) >= SENTENCE and not has_figure(" ".join(own)):
                yield Example(listed, point, 0.0, WHOLE)


def train(folder: Path, seconds: float, *, begin: Path | None, epochs: float) -> None:
    start, encoder = time.monotonic(), load_encoder(load_settings())
    assert isinstance(encoder, E5Encoder)
    torch.manual_seed(0)
    encoder.tokenizer.enable_truncation(READ_TOKENS)
    rows = rows_of(sorted(MARKED.glob("*.jsonl")))
    told = list(examples([row for row in rows if not for_choosing(row)]))
    random.Random(5).shuffle(told)
    print(f"{len(told)} examples", flush=True)
    asked = [(one.answer, one.asked) for one in told]
    said, weights = torch.tensor([one.said for one in told]), torch.tensor([one.weight for one in told])
    go_on(
        folder, encoder, asked, said, weights, begin=begin, epochs=epochs, seconds=seconds - (time.monotonic() - start)
    )


def measure(adapter: Path, paths: Sequence[Path]) -> None:
    """Points and marks beside the labels, by rubric and by model answer; and both by kind of answer."""
    encoder = load_encoder(load_settings())
    assert isinstance(encoder, E5Encoder)
    pairs, rows = E5Pairs(encoder, adapter), rows_of(paths or sorted(MARKED.glob("*.jsonl")))
    said, given, human = [], [], []
    marks: dict[str, list[float]] = {"rubric": [], "model answer": []}
    kinds: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for row in rows if paths else filter(for_choosing, rows):
        texts = [*(one["point"] for one in row["rubric"]), row["reference"]]
        for answer in row["answers"]:
            odds = pairs.scores(answer["text"], [beside(row["question"], text) for text in texts])
            *points, whole = (1 / (1 + np.exp(-odds))).tolist()
            said += answer["said"]
            given += points
            marks["rubric"].append(share(row, points))
            marks["model answer"].append(whole)
            human.append(share(row, answer["said"]))
            kinds[answer["kind"]].append((marks["rubric"][-1], whole, human[-1]))
    for name, own in marks.items():
        both = agreement(own, human)
        passed = np.mean([(one >= PASS) == (other >= PASS) for one, other in zip(own, human, strict=True)])
        print(json.dumps({"by": name, "answers": len(own), "r": both["pearson"], "error": both["mae"],
                          "pass": round(float(passed), 3)}))  # fmt: skip
    labels, chances = np.array(said), np.array(given)
    print(json.dumps({f"said {one:g}": round(float(chances[labels == one].mean()), 3) for one in (1, 0.5, 0)}))
    print(json.dumps({kind: np.round(np.mean(own, axis=0), 2).tolist() for kind, own in sorted(kinds.items())}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("train", "measure"))
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    first, *others = args.paths
    if args.task == "train":
        train(first, args.seconds, begin=args.start, epochs=args.epochs)
    else:
        measure(first, others)


if __name__ == "__main__":
    main()
