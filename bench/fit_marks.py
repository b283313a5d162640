"""Train and fit what tells how much of a point an answer says (osrag/quiz/grader.py), and measure it.

    python bench/fit_marks.py train FOLDER [--start ADAPTER] [--marks MARKS.csv] [--epochs 1] [--seconds 480]
    python bench/fit_marks.py weigh ADAPTER [--marks MARKS.csv] [--write]
    python bench/fit_marks.py matter [--write]

`train` goes on where the last run in FOLDER stopped, and writes FOLDER/adapter.safetensors. It learns from
examples/eval/quiz/marked/*.jsonl and the labelled answers to the bank: each answer beside each point of its rubric, and
beside its model answer for the mark as a whole; the same with answers to other questions, with something else before or
behind it, with the question and the model answer as answers, and with the bare words of a rubric; and from the marks of
MARKS.csv, which has the columns id, question, desired_answer, student_answer, score_avg (0-5), as the data of Mohler,
Bunescu and Mihalcea (ACL 2011). One question in eight, by its hash, teaches nothing. On those, and on `ablation.jsonl`,
`weigh` fits the model of marks and its confidence, and reports it by folds of questions; `--write` keeps the three.

`matter` fits what tells whether a sentence belongs to an answer, by its meaning and by how near it is to some point: on
sentences of the marked answers, and on small talk, other subjects, filler and orders (`noise.jsonl`) beside the same
points. A third of the questions and of these texts, by hash, is for reporting; what is written is fitted on all.
Needs torch, which requirements-dev.txt brings.
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

from bench.fit_confidence import as_entry, balanced, fit, rows_of, write_entry  # noqa: E402
from bench.fit_prepared import go_on  # noqa: E402
from bench.remembering import Remembering  # noqa: E402
from osrag.evaluate.measures import FAIRLY_NEAR, PASS, agreement  # noqa: E402
from osrag.evaluate.quiz import read_marked, set_aside  # noqa: E402
from osrag.models.e5 import E5Encoder  # noqa: E402
from osrag.models.load import SAID_POINT, load_encoder, load_pairs  # noqa: E402
from osrag.quiz.bank import shipped_bank  # noqa: E402
from osrag.quiz.exercise import Exercise, RubricPoint  # noqa: E402
from osrag.quiz.features import BELONGS, Features  # noqa: E402
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
from osrag.text import sentences, tokens  # noqa: E402

CHOOSE = 8  # one question in so many is for choosing
READ_TOKENS = 320
SENTENCE = 4  # words of a point that asks for more than to be named
FOLDS = 8
RIDGE, MATTER_RIDGE = 30.0, 100.0  # penalty on the weights of standardised columns, and on those of `matter`
SAID, STRANGE = 8, 6  # sentences of a question's answers that `matter` reads, and texts that belong to none
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


def marked_rows() -> list[Row]:
    """The questions with answers of students, and those of the bank with the answers that are labelled, if any."""
    return [
        *({**row, "source": "marked"} for row in rows_of("quiz/marked/*")),
        *of_bank("points", "turned"),
    ]


def of_bank(*names: str) -> list[Row]:
    """The exercises of the bank with the labelled answers of some files; none that is held out."""
    labels = [one for one in rows_of(*(f"quiz/{name}" for name in names)) if not one.get("held_out")]
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


def without_rubric(row: Row) -> Row:
    """A question as a teacher often has it, with a model answer alone, and the marks that the rubric gave."""
    answers = [{**one, "said": [], "mark": share(row, one["said"])} for one in row["answers"]]
    return {**row, "source": f"{row['source']}, no rubric", "rubric": [], "answers": answers}


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
    weight: float  # of each of its points, in the fit
    columns: np.ndarray  # (points, columns)
    labels: np.ndarray  # (points,) how much of each is said; for answers with a mark for the whole that mark
    points: tuple[str, ...]
    counted: str

    @property
    def fold(self) -> int:
        """The same for all answers to a question."""
        return zlib.crc32(f"fold {self.row['question']}".encode()) % FOLDS

    def mark(self, fractions: Sequence[float]) -> float:
        return share(self.row, fractions, float(np.mean(fractions)))


Given = tuple[Judged, list[float]]  # an answer, and how much of each of its points the model of marks gives


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
        weight = row.get("weight", 1.0 if row["rubric"] else 1 / len(points))
        return Judged(row, answer["kind"], weight, columns, labels, points, counted)

    answers = [(row, answer) for row in rows for answer in row["answers"]]
    remembering.foresee(lambda: [read(*one, silent) for one in answers])
    return [read(*one, grader) for one in answers]


def matter(*, write: bool) -> None:
    """Fit which sentences belong to an answer."""
    encoder, pick = load_encoder(load_settings()), random.Random(1)
    remembering = Remembering(encoder)
    data = json.loads(PATH.read_text("utf-8"))
    silent, features = Features(remembering, data), Features(remembering, data)  # the first keeps what is only foreseen
    noise: dict[str, list[str]] = defaultdict(list)
    for one in rows_of("quiz/noise"):
        noise[one["language"]].append(one["text"])
    cases: list[tuple[Row, list[str], list[str]]] = []
    for row in (row for row in marked_rows() if row["answers"]):
        said = list(dict.fromkeys(part for one in row["answers"] for part in sentences(one["text"])))
        cases.append((row, pick.sample(said, min(SAID, len(said))), pick.sample(noise[row["language"]], STRANGE)))

    def read(row: Row, said: Sequence[str], strange: Sequence[str], by: Features = features) -> np.ndarray:
        return np.column_stack(by.nearness([one["point"] for one in row["rubric"]], [*said, *strange]))

    remembering.foresee(lambda: [read(*case, silent) for case in cases])
    x = np.vstack([read(*case) for case in cases])
    y = np.concatenate([[1.0] * len(said) + [0.0] * len(strange) for _, said, strange in cases])
    hashed = [text for row, said, strange in cases for text in [*[row["question"]] * len(said), *strange]]
    told = np.array([zlib.crc32(text.encode()) % 3 > 0 for text in hashed])
    weights, bias = fit(x[told], y[told], weight=balanced(y[told]), ridge=MATTER_RIDGE)
    right = (x @ weights + bias >= BELONGS) == (y > 0)
    for name, of in (("noise", y == 0), ("answers", y == 1)):
        learned, others = (round(float(right[of & rows].mean()), 3) for rows in (told, ~told))
        print(json.dumps({"of": name, "told": learned, "others": others, "count": int((of & ~told).sum())}))
    if write:
        weights, bias = fit(x, y, weight=balanced(y), ridge=MATTER_RIDGE)
        keep("matter", {"encoder": encoder.name, "weights": weights.round(2).tolist(), "bias": round(bias, 2)})


def keep(name: str, value: dict[str, Any]) -> None:
    """Put a part of the grader into its file, a line for each."""
    data = json.loads(PATH.read_text("utf-8")) | {name: value}
    lines = (f"  {json.dumps(key)}: {json.dumps(one, ensure_ascii=False)}" for key, one in data.items())
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def given(one: Judged, model: dict[str, Any]) -> list[float]:
    """(points,) as the grader gives them."""
    if not len(one.columns):
        return [0.0] * len(one.points)
    fractions = fractions_of(one.columns, model)
    return with_figures(fractions, one.row["question"], one.points, one.counted).tolist()


def fitted(some: Sequence[Judged]) -> dict[str, Any]:
    """The model of marks, of answers of which something counts."""
    x, y = np.vstack([one.columns for one in some]), np.concatenate([one.labels for one in some])
    weight = np.repeat([one.weight for one in some], [len(one.labels) for one in some])
    mean, std = x.mean(0), x.std(0) + 1e-9
    found, bias = fit(np.clip((x - mean) / std, -3, 3), y, weight=weight, ridge=RIDGE)
    return {"mean": mean.round(4).tolist(), "std": std.round(4).tolist(), "weights": found.round(4).tolist(),
            "bias": round(bias, 4)}  # fmt: skip


def weigh(adapter: Path, marks: Path | None, *, write: bool) -> None:
    """Fit the model of marks and its confidence, on questions from which the pair encoder has learned nothing.

    Reported by folds of these questions; labelled answers to the bank (`ablation.jsonl`) and those with a teacher's
    mark are among them.
    """
    labelled = [{**row, "weight": BANK_WEIGHT} for row in of_bank("ablation")]
    rows = [row for row in [*marked_rows(), *(of_teachers(marks) if marks else ())] if for_choosing(row)]
    bare = [without_rubric(row) for row in rows if row["rubric"]]
    told = judged([row for row in [*rows, *bare, *labelled] if row["answers"]], adapter)
    full = [one for one in told if len(one.columns)]
    models = [fitted([one for one in full if one.fold != place]) for place in range(FOLDS)]
    report([(one, given(one, models[one.fold])) for one in told])
    sure_of([(one, given(one, models[one.fold])) for one in full], write=write)
    if write:
        shutil.copyfile(adapter, SAID_POINT)
        keep("mark", fitted(full))


def sure_of(told: Sequence[Given], *, write: bool) -> None:
    """Fit the chance that a mark is within a fifth of a teacher's."""
    seen = [signals(np.array(fractions), one.columns) for one, fractions in told]
    near = [abs(one.mark(fractions) - one.mark(one.labels.tolist())) <= FAIRLY_NEAR for one, fractions in told]
    x, names = np.array([list(one.values()) for one in seen]), tuple(seen[0])
    weights, bias = fit(x, np.array(near, float))
    chance = 1 / (1 + np.exp(-(x @ weights + bias)))
    alone = [one for one, sure in zip(told, chance, strict=True) if sure >= LOW_CONFIDENCE]
    print(json.dumps({"near": round(float(np.mean(near)), 3), "not sent": round(len(alone) / len(told), 3)}))
    report(alone)
    if write:
        write_entry("mark", as_entry(names, weights, bias))


def report(told: Sequence[Given]) -> None:
    """Marks beside the labels, by source and by kind of answer."""
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one, fractions in told:
        pair = one.mark(fractions), one.mark(one.labels.tolist())
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
    parser.add_argument("task", choices=("train", "weigh", "matter"))
    parser.add_argument("path", type=Path, nargs="?")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--marks", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    if args.task == "train":
        train(args.path, args.seconds, begin=args.start, epochs=args.epochs, marks=args.marks)
    elif args.task == "matter":
        matter(write=args.write)
    else:
        weigh(args.path, args.marks, write=args.write)


if __name__ == "__main__":
    main()
