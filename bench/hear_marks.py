"""How much the chat model adds to encoder and words on short answers with human marks.

    python bench/hear_marks.py MARKS.csv --ask CHANCES.jsonl [--each 14] [--minutes 4]
        asks the model about answers to every question; goes on where it stopped
    python bench/hear_marks.py MARKS.csv --fit CHANCES.jsonl
        writes the blend into osrag/data/grader.json
    python bench/hear_marks.py MARKS.csv --final CHANCES.jsonl
        what was set aside and five halvings by question, with the model and without

MARKS.csv and the halves are those of `fit_grader.py`. The blend (four numbers) is fitted on the training half of the
answers, beside fractions of encoder and words that were fitted without the question at hand.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from fit_grader import SEEDS, answers_to_others, fitted, halves, words_and_background

from bench.remembering import Remembering
from osrag.evaluate.measures import agreement
from osrag.evaluate.quiz import Marked, chances_of, graded, mark_of, matches_of, read_marked, set_aside
from osrag.models.load import load_chat, load_encoder
from osrag.quiz.bank import shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.grader import PATH, Grader, blended
from osrag.settings import load_settings

FOLDS = 7
FEW = 40  # answers to another question that say too little
BESIDE_WEIGHT = 0.4  # of one of them in the fit of the blend
BESIDE = 2  # answers to another question that are tried, a question
Chances = dict[tuple[str, str], dict[int, float]]


def picked(rows: Sequence[Marked], each: int) -> list[Marked]:
    """At most `each` answers a question, the same ones every time."""
    by_question: dict[str, list[Marked]] = {}
    for row in rows:
        by_question.setdefault(row.question_id, []).append(row)
    return [row for name, group in by_question.items() for row in random.Random(name).sample(group, len(group))[:each]]


def beside(rows: Sequence[Marked], each: int) -> list[Marked]:
    """Answers to another question of the set, worth nothing here."""
    return [replace(row, answer=answers_to_others(row, rows, 1, "measure")[0], mark=0.0) for row in picked(rows, each)]


def ask(rows: Sequence[Marked], out: Path, minutes: float) -> None:
    settings = load_settings()
    chat, grader = load_chat(settings), Grader(load_encoder(settings))
    assert chat is not None
    known, end = read(out) if out.exists() else {}, time.monotonic() + 60 * minutes
    with out.open("a", encoding="utf-8") as file:
        for row in rows:
            if (row.question_id, row.answer) in known:
                continue
            if time.monotonic() > end:
                break
            found = chances_of(row, matches_of(row, grader), grader, chat)
            file.write(json.dumps([row.question_id, row.answer, found], ensure_ascii=False) + "\n")
            file.flush()
    chat.close()
    print(json.dumps({"wanted": len(rows), "known": len(read(out))}))


def read(path: Path) -> Chances:
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {(name, answer): {int(n): chance for n, chance in found.items()} for name, answer, found in lines}


def fit_blend(
    rows: Sequence[Marked], chances: Chances, bank: Sequence[Exercise], encoder: Remembering
) -> dict[str, Any]:
    """Weights of the columns of `blended`, by least squares; answers to another question weigh less and are worth 0."""
    data = words_and_background()
    training, _ = set_aside(rows)
    ids = sorted({row.question_id for row in training})
    every = [*training, *beside(training, BESIDE)]
    asked = [row for row in every if chances.get((row.question_id, row.answer))]
    x, y, weight = [], [], []
    for n in range(FOLDS):
        inside = [row for row in training if ids.index(row.question_id) % FOLDS != n]
        outside = [row for row in asked if ids.index(row.question_id) % FOLDS == n]
        marks = graded(outside, fitted(inside, bank, encoder, data))
        for mark, row in zip(marks, outside, strict=True):
            x.append(blended(mark, float(np.mean(list(chances[row.question_id, row.answer].values())))))
            y.append(row.mark)
            weight.append(1.0 if row in training else BESIDE_WEIGHT)
    root = np.sqrt(weight)
    found = np.linalg.lstsq(np.array(x) * root[:, None], np.array(y) * root, rcond=None)[0]
    return {"weights": found.round(3).tolist(), "answers": len(y)}


def final(rows: Sequence[Marked], chances: Chances, bank: Sequence[Exercise], encoder: Remembering) -> None:
    blend = json.loads(PATH.read_text("utf-8"))["model"]
    told = [compared("set aside", set_aside(rows)[1], chances, Grader(encoder))]
    for seed in SEEDS:
        training, other = halves(rows, seed)
        grader = fitted(training, bank, encoder, words_and_background() | {"model": blend})
        told.append(compared(f"by question, {seed}", other, chances, grader))
    for name in ("pearson", "mae", "pearson_without", "mae_without"):
        print(f"{name}: mean of the halvings by question {np.mean([one[name] for one in told[1:]]):.4f}")


def compared(name: str, rows: Sequence[Marked], chances: Chances, grader: Grader) -> dict[str, Any]:
    """Agreement on the answers that the model was asked about; prints it."""
    asked = [row for row in rows if (row.question_id, row.answer) in chances]
    human = [row.mark for row in asked]
    matches = [matches_of(row, grader) for row in asked]
    alone = agreement([mark_of(found, grader) for found in matches], human)
    heard = [chances[row.question_id, row.answer] for row in asked]
    both = agreement([mark_of(found, grader, said) for found, said in zip(matches, heard, strict=True)], human)
    wrong = [row for row in beside(rows, BESIDE) if (row.question_id, row.answer) in chances]
    given = [mark_of(matches_of(row, grader), grader, chances[row.question_id, row.answer]) for row in wrong]
    found = {
        "half": name,
        **{key: both[key] for key in ("answers", "pearson", "mae", "mae_of_median")},
        **{f"{key}_without": alone[key] for key in ("pearson", "mae")},
        "to_another_question": round(float(np.mean(given)), 3) if len(given) > FEW else None,
    }
    print(json.dumps(found), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marks", type=Path)
    parser.add_argument("--ask", type=Path)
    parser.add_argument("--fit", type=Path)
    parser.add_argument("--final", type=Path)
    parser.add_argument("--each", type=int, default=14)
    parser.add_argument("--minutes", type=float, default=60.0)
    args = parser.parse_args()
    rows = read_marked(args.marks)
    if args.ask:
        wrong = [row for half in set_aside(rows) for row in beside(half, BESIDE)]
        ask([*picked(rows, args.each), *wrong], args.ask, args.minutes)
        return
    encoder = Remembering(load_encoder(load_settings()))
    bank = [item for item in shipped_bank().exercises() if item.type == "short_answer"]
    if args.fit:
        data = json.loads(PATH.read_text("utf-8"))
        data["model"] = fit_blend(rows, read(args.fit), bank, encoder)
        PATH.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(data["model"]))
    if args.final:
        final(rows, read(args.final), bank, encoder)


if __name__ == "__main__":
    main()
