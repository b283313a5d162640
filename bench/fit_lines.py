"""Train the pair encoder that tells which lines answer a question (osrag/book/compose.py), and weigh it.

    python -m bench.fit_lines train FOLDER [--start ADAPTER] [--epochs 3] [--seconds 480]
    python -m bench.fit_lines weigh ADAPTER [--write]

The 15 best lines for each of 394 questions that no prepared answer surely fits were read one by one
(`examples/eval/textbook/lines_read.jsonl`): 2 is part of a good answer, 1 true background, 0 beside the question.
`train` learns from four questions in five; it goes on where the last run in FOLDER stopped, and writes
FOLDER/adapter.safetensors. On the fifth `weigh` fits what the selector and the pair encoder are worth together
("said_to" in osrag/data/confidence.json), and reports the area under the curve by folds.
Needs torch, which requirements-dev.txt brings.
"""

import argparse
import json
import random
import shutil
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.fit_confidence import as_entry, fit, rows_of, write_entry
from bench.fit_prepared import go_on
from osrag.answer.judge import number
from osrag.answer.plan import plan_by_rule
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.book.compose import Composer, behind, log_odds, read_as
from osrag.models.e5 import E5Encoder
from osrag.models.load import SAYS_ANSWER, load_encoder, load_pairs
from osrag.settings import load_settings

NAME, RIDGE, FOLDS = "said_to", 1.0, 6
WEIGHED = 5  # one question in so many trains nothing
READ_TOKENS = 192  # of a pair
SAID = {0: 0.0, 1: 0.3, 2: 1.0}  # what each label teaches


def weighed(question: str) -> bool:
    return zlib.crc32(question.encode()) % WEIGHED == 0


def read_lines() -> list[dict[str, Any]]:
    """Rows of a question with its lines: head, text and label."""
    return rows_of("textbook/lines_read")


def train(folder: Path, seconds: float, *, begin: Path | None, epochs: float) -> None:
    start, encoder = time.monotonic(), load_encoder(load_settings())
    assert isinstance(encoder, E5Encoder)
    torch.manual_seed(0)
    encoder.tokenizer.enable_truncation(READ_TOKENS)
    told = [
        (row["question"], behind(head, text), SAID[label])
        for row in read_lines()
        for head, text, label in row["lines"]
        if not weighed(row["question"])
    ]
    random.Random(5).shuffle(told)
    print(f"{len(told)} examples", flush=True)
    pairs, said = [(question, line) for question, line, _ in told], torch.tensor([one for *_, one in told])
    left = seconds - (time.monotonic() - start)
    go_on(folder, encoder, pairs, said, torch.ones_like(said), begin=begin, epochs=epochs, seconds=left)


def weigh(adapter: Path, *, write: bool) -> None:
    parts = Parts(load_settings(chat_backend="none"))
    source, pairs = parts.book_source, load_pairs(parts.checker, adapter)
    assert pairs is not None
    alone = Composer(parts.checker, source.composer.selector)
    seen, labels, of = [], [], []
    for place, row in enumerate(row for row in read_lines() if weighed(row["question"])):
        question = Question(row["question"])
        plan = plan_by_rule(question.text, ())
        passages = number(source.usable(source.search(plan, question), question, judged=True))
        near, cited = source.near(plan.standalone, passages, question.reply_language)
        choice = alone.choose(plan.standalone, passages, near, cited)
        read = {text: label for _, text, label in row["lines"]}
        found = [at for at, line in enumerate(choice.lines) if line.in_context in read and line.bridges]
        lines = [choice.lines[at] for at in found]
        odds = pairs.scores(plan.standalone, read_as(lines, (*passages, *cited), [one.answer for one in near]))
        seen += [*zip(log_odds(choice.scores[found]), odds, strict=True)]
        labels += [read[line.in_context] for line in lines]
        of += [place] * len(lines)
    x, y, folds = np.array(seen), np.array(labels) == max(SAID), np.array(of) % FOLDS
    print(f"{len(y)} lines of {len(set(of))} questions, {y.mean():.3f} answer")
    for name, columns in (("selector", [0]), ("pair encoder", [1]), ("both", [0, 1])):
        odds = np.zeros(len(y))
        for fold in range(FOLDS):
            weights, bias = fit(x[folds != fold][:, columns], y[folds != fold].astype(float), ridge=RIDGE)
            odds[folds == fold] = x[folds == fold][:, columns] @ weights + bias
        print(f"{name}: area {area(odds, y):.3f}")
    weights, bias = fit(x, y.astype(float), ridge=RIDGE)
    entry = as_entry(("selector", "pairs"), weights, bias)
    print(json.dumps(entry))
    if write:
        shutil.copyfile(adapter, SAYS_ANSWER)
        write_entry(NAME, entry)


def area(odds: np.ndarray, right: np.ndarray) -> float:
    """Chance that a right one has more than a wrong one."""
    return float((odds[right][:, None] > odds[~right][None]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("train", "weigh"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    if args.task == "train":
        train(args.path, args.seconds, begin=args.start, epochs=args.epochs)
    else:
        weigh(args.path, write=args.write)


if __name__ == "__main__":
    main()
