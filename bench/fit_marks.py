"""Train and fit what tells how much of a point an answer says (osrag/quiz/grader.py), and measure it.

    python bench/fit_marks.py train FOLDER [--start ADAPTER] [--marks MARKS.csv] [--epochs 1] [--seconds 480]
    python bench/fit_marks.py weigh ADAPTER [--marks MARKS.csv] [--write]

`train` goes on where the last run in FOLDER stopped, and writes FOLDER/adapter.safetensors. It learns from
examples/eval/quiz/marked/*.jsonl and the labelled answers to the bank: each answer beside each point of its rubric, and
beside its model answer for the mark as a whole; the same with answers to other questions, with something else before or
behind it, with the question and the model answer as answers, and with the bare words of a rubric; and from the marks of
MARKS.csv, which has the columns id, question, desired_answer, student_answer, score_avg (0-5), as the data of Mohler,
Bunescu and Mihalcea (ACL 2011). One question in eight, by its hash, teaches nothing. On those, and on `ablation.jsonl`,
`weigh` fits the model of marks and its confidence, and reports it by folds of questions; `--write` keeps the three.
"""

import argparse
import json
import random
import shutil
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

from bench.fit_confidence import as_entry, fit, write_entry  # noqa: E402
from bench.fit_prepared import go_on  # noqa: E402
from bench.remembering import Remembering  # noqa: E402
from osrag.evaluate.measures import FAIRLY_NEAR, PASS, agreement  # noqa: E402
from osrag.evaluate.quiz import read_marked, set_aside  # noqa: E402
from osrag.models.e5 import E5Encoder  # noqa: E402
from osrag.models.load import SAID_POINT, load_encoder, load_pairs  # noqa: E402
from osrag.quiz.bank import shipped_bank  # noqa: E402
from osrag.quiz.exercise import Exercise, RubricPoint  # noqa: E402
from osrag.quiz.figures import content_words, has_figure  # noqa: E402
from osrag.quiz.grader import (  # noqa: E402
    COLUMNS,
    PATH,
    Grader,
    beside,
    fractions_of,
    key_points,
    signals,
    with_figures,
)
from osrag.quiz.judgement import LOW_CONFIDENCE  # noqa: E402
from osrag.settings import load_settings  # noqa: E402
from osrag.text import tokens  # noqa: E402

QUIZ = ROOT / "examples" / "eval" / "quiz"
MARKED = QUIZ / "marked"
CHOOSE = 8  # one question in so many is for choosing
READ_TOKENS = 320
SENTENCE = 4  # words of a point that asks for more than to be named
FOLDS = 8
RIDGE = 30.0  # penalty on the weights of standardised columns
BANK_WEIGHT = 3.0  # of a point of a labelled answer to the bank, of which there are few, against that of the others
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


def marked_rows() -> list[Row]:
    """The questions with answers of students, and those of the bank with the answers that are labelled, if any."""
    return [
        *({**row, "source": "marked"} for row in rows_of(sorted(MARKED.glob("*.jsonl")))),
        *of_bank("points", "turned"),
    ]


def of_bank(*names: str) -> list[Row]:
    """The exercises of the bank with the labelled answers of some files; none that is held out."""
    labels = [one for one in rows_of([QUIZ / f"{name}.jsonl" for name in names]) if not one.get("held_out")]
    found: list[Row] = []
    for item in shipped_bank().exercises():
        if item.rubric and item.reference and not item.program:
            own = [one for one in labels if (one["id"], one["language"]) == (item.id, item.language)]
            answers = [{"kind": one.get("kind", "own"), "text": one["answer"], "said": one["said"]} for one in own]
            rubric = [{"point": point.point, "points": point.points} for point in item.rubric]
            found.append({"source": "bank", "language": item.language, "question": item.question,
                          "reference": item.reference, "rubric": rubric, "answers": answers})  # fmt: skip
    return found


def of_teachers(path: Path) -> list[Row]:
    """Questions whose answers have a mark for the whole: that half of the answers on which anything was ever fitted."""
    fitted, _ = set_aside(read_marked(path))
    told: dict[str, Row] = {}
    for one in fitted:
        exercise = one.exercise
        row = {"language": exercise.language, "question": exercise.question, "reference": exercise.reference}
        row = told.setdefault(one.question_id, {**row, "source": "teachers", "rubric": [], "answers": []})
        row["answers"].append({"kind": "teachers", "text": one.answer, "said": [], "mark": one.mark})
    return list(told.values())


def for_choosing(row: Row) -> bool:
    return zlib.crc32(row["question"].encode()) % CHOOSE == 0


def share(row: Row, said: Sequence[float], mark: float = 0.0) -> float:
    """Of full marks: what the points are worth that are said; without a rubric the `mark` that was given."""
    if not row["rubric"]:
        return mark
    worth = [point["points"] for point in row["rubric"]]
    return sum(w * s for w, s in zip(worth, said, strict=True)) / sum(worth)


def examples(rows: Sequence[Row]) -> Iterator[Example]:
    """Each answer beside each point and the model answer, and answers made up: of another question, with what is beside
    the question around them, the question, the model answer, and the bare words of the rubric."""
    pick = random.Random(3)
    for row in rows:
        points = [beside(row["question"], one["point"]) for one in row["rubric"]]
        model = beside(row["question"], row["reference"])
        same = [one for one in rows if one["language"] == row["language"] and one["answers"] and one is not row]

        def other(same: Sequence[Row] = same) -> str:
            return str(pick.choice(pick.choice(same)["answers"])["text"])

        padded = pick.sample(row["answers"], min(2, len(row["answers"])))
        more = [{**one, "text": "\n".join(pick.sample([one["text"], other()], 2))} for one in padded]
        for answer in [*row["answers"], *more]:
            for point, said in zip(points, answer["said"], strict=True):
                yield Example(answer["text"], point, said)
            yield Example(answer["text"], model, share(row, answer["said"], answer.get("mark", 0.0)), WHOLE)
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


def train(folder: Path, seconds: float, *, begin: Path | None, epochs: float, marks: Path | None) -> None:
    start, encoder = time.monotonic(), load_encoder(load_settings())
    assert isinstance(encoder, E5Encoder)
    torch.manual_seed(0)
    encoder.tokenizer.enable_truncation(READ_TOKENS)
    rows = [*marked_rows(), *(of_teachers(marks) if marks else ())]
    told = list(examples([row for row in rows if not for_choosing(row)]))
    random.Random(5).shuffle(told)
    print(f"{len(told)} examples", flush=True)
    asked = [(one.answer, one.asked) for one in told]
    said, weights = torch.tensor([one.said for one in told]), torch.tensor([one.weight for one in told])
    go_on(
        folder, encoder, asked, said, weights, begin=begin, epochs=epochs, seconds=seconds - (time.monotonic() - start)
    )


# -- the model of marks -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer as the model of marks reads it."""

    row: Row
    kind: str
    columns: np.ndarray  # (points, columns)
    labels: np.ndarray  # (points,) how much of each is said; for answers with a mark for the whole that mark
    points: tuple[str, ...]
    counted: str

    def mark(self, fractions: Sequence[float]) -> float:
        return share(self.row, fractions, float(np.mean(fractions)))


def judged(rows: Sequence[Row], adapter: Path) -> list[Judged]:
    """All answers; texts are embedded many at a time."""
    encoder = load_encoder(load_settings())
    remembering = Remembering(encoder)
    silent, grader = Grader(remembering, None), Grader(remembering, load_pairs(encoder, adapter))

    def read(row: Row, answer: Row, grader: Grader) -> Judged:
        points = tuple(point["point"] for point in row["rubric"]) or tuple(key_points(row["reference"]))
        rubric = tuple(RubricPoint(point["point"], point["points"]) for point in row["rubric"])
        item = Exercise("short_answer", row["language"], row["question"], reference=row["reference"], rubric=rubric)
        counted = grader.counted(item, points, answer["text"])
        labels = np.array(answer["said"] or [answer.get("mark", 0.0)] * len(points), float)
        columns = grader.columns(item, points, counted)[0] if tokens(counted) else np.zeros((0, len(COLUMNS)))
        return Judged(row, answer["kind"], columns, labels, points, counted)

    answers = [(row, answer) for row in rows for answer in row["answers"]]
    remembering.foresee(lambda: [read(*one, silent) for one in answers])
    return [read(*one, grader) for one in answers]


def given(one: Judged, fractions: np.ndarray) -> list[float]:
    """(points,) as the grader gives them."""
    if not len(one.columns):
        return [0.0] * len(one.points)
    return with_figures(fractions, one.row["question"], one.points, one.counted).tolist()


def weigh(adapter: Path, marks: Path | None, *, write: bool) -> None:
    """Fit the model of marks and its confidence, on questions from which the pair encoder has learned nothing.

    Reported by folds of these questions; labelled answers to the bank (`ablation.jsonl`) and those with a teacher's
    mark are among them.
    """
    labelled = [row for row in of_bank("ablation") if row["answers"]]
    rows = [
        row for row in [*marked_rows(), *(of_teachers(marks) if marks else ())] if row["answers"] and for_choosing(row)
    ]
    told = judged([*rows, *labelled], adapter)
    weight = {
        id(one): BANK_WEIGHT if one.row in labelled else 1.0 if one.row["rubric"] else 1 / len(one.points)
        for one in told
    }
    fold = {id(one): zlib.crc32(f"fold {one.row['question']}".encode()) % FOLDS for one in told}
    full = [one for one in told if len(one.columns)]

    def fitted(some: Sequence[Judged]) -> dict[str, Any]:
        x, y = np.vstack([one.columns for one in some]), np.concatenate([one.labels for one in some])
        weights = np.concatenate([np.full(len(one.labels), weight[id(one)]) for one in some])
        mean, std = x.mean(0), x.std(0) + 1e-9
        found, bias = fit_weighted(np.clip((x - mean) / std, -3, 3), y, weights)
        return {"mean": mean.round(4).tolist(), "std": std.round(4).tolist(), "weights": found.round(4).tolist(),
                "bias": round(bias, 4)}  # fmt: skip

    fractions: dict[int, list[float]] = {}
    for place in range(FOLDS):
        model = fitted([one for one in full if fold[id(one)] != place])
        for one in (one for one in told if fold[id(one)] == place):
            fractions[id(one)] = given(one, fractions_of(one.columns, model))
    report(told, fractions)
    sure_of(full, fractions, write=write)
    if write:
        shutil.copyfile(adapter, SAID_POINT)
        data = json.loads(PATH.read_text("utf-8")) | {"mark": fitted(full)}
        lines = (f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in data.items())
        PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def fit_weighted(z: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights and bias of a ridge-penalised logistic regression on shares (0-1), by Newton's method."""
    x, penalty = np.c_[np.ones(len(z)), z], RIDGE * np.diag([0.0] + [1.0] * z.shape[1])
    w = np.zeros(x.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ w))
        step = np.linalg.solve(
            (x * (weights * p * (1 - p))[:, None]).T @ x + penalty, x.T @ (weights * (p - y)) + penalty @ w
        )
        w -= step
        if np.abs(step).max() < 1e-6:
            break
    return w[1:], float(w[0])


def sure_of(told: Sequence[Judged], fractions: dict[int, list[float]], *, write: bool) -> None:
    """Fit the chance that a mark is within a fifth of a teacher's."""
    seen = [signals(np.array(fractions[id(one)]), one.columns) for one in told]
    near = [abs(one.mark(fractions[id(one)]) - one.mark(one.labels.tolist())) <= FAIRLY_NEAR for one in told]
    x, names = np.array([list(one.values()) for one in seen]), tuple(seen[0])
    weights, bias = fit(x, np.array(near, float), balanced=False)
    chance = 1 / (1 + np.exp(-(x @ weights + bias)))
    alone = [one for one, sure in zip(told, chance, strict=True) if sure >= LOW_CONFIDENCE]
    print(json.dumps({"near": round(float(np.mean(near)), 3), "not sent": round(len(alone) / len(told), 3)}))
    report(alone, fractions)
    if write:
        write_entry("mark", as_entry(names, weights, bias))


def report(told: Sequence[Judged], fractions: dict[int, list[float]]) -> None:
    """Marks beside the labels, by source and by kind of answer."""
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in told:
        pair = one.mark(fractions[id(one)]), one.mark(one.labels.tolist())
        groups[one.row.get("source", "")].append(pair)
        groups[f"{one.row.get('source', '')} {one.kind}"].append(pair)
    for name, pairs in sorted(groups.items()):
        own, human = map(list, zip(*pairs, strict=True))
        both = agreement(own, human)
        passed = np.mean([(one >= PASS) == (other >= PASS) for one, other in pairs])
        print(json.dumps({"of": name, "answers": len(pairs), "r": both["pearson"], "error": both["mae"],
                          "pass": round(float(passed), 3), "given": round(float(np.mean(own)), 2),
                          "human": round(float(np.mean(human)), 2)}))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("train", "weigh"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--marks", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    if args.task == "train":
        train(args.path, args.seconds, begin=args.start, epochs=args.epochs, marks=args.marks)
    else:
        weigh(args.path, args.marks, write=args.write)


if __name__ == "__main__":
    main()
