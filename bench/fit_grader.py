"""Fit `osrag/data/grader.json` on human marks and measure it on questions it has not seen.

    python bench/fit_grader.py MARKS.csv --folds     seven folds by question, for choosing
    python bench/fit_grader.py MARKS.csv             fits on half of the answers and writes the file
    python bench/fit_grader.py MARKS.csv --final     the other half of the answers; then five halvings by question
    python bench/fit_grader.py MARKS.csv --labels    labelled answers to the bank, each fitted without its question
    python bench/fit_grader.py --whole [--write]     only the two models of a whole answer, by folds of questions

MARKS.csv has the columns id, question, desired_answer, student_answer, score_avg (0-5), as the data of Mohler,
Bunescu and Mihalcea (ACL 2011). The shipped file has seen half of the answers to every question, for a grader that
has seen twice as many questions does better on new ones; the other half is set aside. How it does on questions
that it has not seen at all is what the halvings by question say. The model of points has also seen the answers of
examples/eval/quiz/points.jsonl, with a label for every point: the marked ones are all in English, and what is made up
of a rubric's own words does not show how students say it.

The two models of a whole answer, whether it is made of sentences and whether its mark is near a teacher's, are fitted
last, on the marks that the others give: to labelled answers, to answers that are turned round, and to bare lists of the
words of a rubric.
"""

import argparse
import json
import math
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from quiz_points import Judged, figures

from bench.remembering import Remembering
from osrag.evaluate.measures import FAIRLY_NEAR, PASS, agreement
from osrag.evaluate.quiz import Marked, graded, read_marked, set_aside, share_earned
from osrag.models.load import load_encoder
from osrag.quiz.bank import shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.features import NAMES, Features, content_words, has_figure
from osrag.quiz.grader import (
    IN_SENTENCES_BY,
    PATH,
    SURE_BY,
    Grader,
    any_point,
    columns_for,
    key_points,
    scaled,
    terms,
)
from osrag.quiz.orders import without_orders
from osrag.settings import load_settings
from osrag.text import tokens

SEEDS = (101, 102, 103, 104, 105)  # of the halvings by question; fixed before anything was measured on them
RIDGE = 300.0
OFF_WEIGHT = 0.02  # of an answer beside the point against a marked one; there are five times as many
MODEL_WEIGHT = 0.5  # of a model answer
SOME_WEIGHT = 0.3  # of a point where an answer made up of the rubric says some points and not the others
LABEL_WEIGHT = 3.0  # of a point of a labelled answer
WHOLE_PENALTY = 3.0
SENT = 0.6  # confidence below which an answer goes to a teacher
LABELS = Path(__file__).resolve().parent.parent / "examples" / "eval" / "quiz" / "points.jsonl"
GATE_PENALTY = 2.0
CROSS = 3  # answers to other questions a marked answer
FULL = 0.95  # what a model answer is worth; the markers seldom gave more
OFF_TOPIC = (
    "I do not know.",
    "不知道",
    "This is a very important concept and it is used a lot in computer science.",
    "这个概念非常重要，在计算机中应用广泛，需要认真掌握。",
    "Please see the textbook for the answer, everything is explained there in detail.",
    "详见教材，书上讲得很清楚。",
)


# In "switching: user level is fast, kernel level is slow" the name before the colon is said of both sides.
_OF_BOTH = re.compile(r"^([^:：;；,，]{1,40}[:：])\s*(?=\S)")
_SIDES = re.compile(r"\s*[;；]\s*|，\s*|,\s+|\b(?:while|whereas|but)\b|而(?!且|言)|但是?(?!凡)")
_COMMA = "，,"
_ALTERNATIVE = re.compile(r"\s*(?:or\b|或)", re.I)
ALONE = 3  # words; a shorter side says nothing by itself and stays with its neighbour


def sides(point: str) -> list[str]:
    """What a point says, side by side, where each side stands alone; else the point itself.

    A point that compares two things is half said by an answer about one of them.
    """
    named = _OF_BOTH.match(point)
    first = named.end() if named else 0
    cuts = [cut for cut in _SIDES.finditer(point, first) if not _ALTERNATIVE.match(point, cut.end())]
    starts, ends = [first, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), len(point)]
    out: list[tuple[int, int]] = []
    for start, end in zip(starts, ends, strict=True):
        one, other = (_words(point[slice(*out[-1])]) if out else set()), _words(point[start:end])
        listed = point[:start].rstrip()[-1:] in _COMMA and not one & other  # a comma alone compares nothing
        if out and (listed or min(len(one), len(other)) < ALONE):
            out[-1] = (out[-1][0], end)  # no side of its own: it stays with its neighbour
        else:
            out.append((start, end))
    name = f"{named[1]} " if named else ""
    return [name + point[start:end].strip() for start, end in out] if len(out) > 1 else [point]


def _words(text: str) -> set[str]:
    return {word for word in content_words(text) if not word[0].isdigit()}


# The columns of an answer with each side of each point, and how much of each point it says (0-1).
Told = tuple[list[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Rows:
    """Everything that is learnt from, as columns a point; each list has one entry an answer."""

    marked: list[np.ndarray]
    marks: np.ndarray
    beside: list[np.ndarray]  # answers to another question, phrases, the question itself
    models: list[np.ndarray]  # model answers beside their own rubric
    some: list[Told]  # made up of some sides of the points
    labelled: list[Told]  # in a student's own words


def halves(rows: Sequence[Marked], seed: int) -> tuple[list[Marked], list[Marked]]:
    """The training half and the other, by question."""
    ids = sorted({row.question_id for row in rows})
    random.Random(seed).shuffle(ids)
    chosen = set(ids[: (len(ids) + 1) // 2])
    return [r for r in rows if r.question_id in chosen], [r for r in rows if r.question_id not in chosen]


def labelled_answers() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]


@dataclass(frozen=True)
class Whole:
    """An answer as the models of a whole answer read it."""

    item: Exercise
    kind: str  # "own", "half", "turned"; "words" of a bare list
    told: dict[str, float]  # its columns
    given: float  # the mark by the points alone
    human: float


def whole_answers(bank: Sequence[Exercise], grader: Grader) -> list[Whole]:
    """Labelled answers that are not held out, and two lists of words for every question of theirs."""
    items = {(item.id, item.language): item for item in bank}
    rows = [json.loads(line) for name in ("points", "ablation", "turned")
            for line in (LABELS.parent / f"{name}.jsonl").read_text("utf-8").splitlines()]  # fmt: skip
    rows = [row for row in rows if not row.get("held_out")]
    pick, out = random.Random(5), []
    for item in [items[key] for key in sorted({(row["id"], row["language"]) for row in rows})]:
        words = list(dict.fromkeys(word for point in item.rubric for word in content_words(point.point)))
        some = pick.sample(words, max(3, 2 * len(words) // 3)) if len(words) > 3 else words
        for listed in (words, some):
            text = ("、" if item.language == "zh" else ", ").join(listed)
            rows.append({"id": item.id, "language": item.language, "kind": "words", "answer": text,
                         "said": [0] * len(item.rubric)})  # fmt: skip
    for row in rows:
        item = items[row["id"], row["language"]]
        points = [point.point for point in item.rubric]
        if (read := grader.read(item, points, row["answer"])) is not None:
            mark, human = share_earned(item, list(read.fractions)), share_earned(item, row["said"])
            out.append(Whole(item, row.get("kind", "own"), read.columns, mark, human))
    return out


def fit_whole(answers: Sequence[Whole]) -> dict[str, Any]:
    """Both models. A list of words gets no mark after the first, so the second need not know it."""

    def model(some: Sequence[Whole], columns: Sequence[str], labels: Sequence[bool]) -> dict[str, Any]:
        x, y = np.array([[one.told[name] for name in columns] for one in some]), np.array(labels, dtype=float)
        spread = scale(x)
        return spread | logistic(scaled(x, spread), y, WHOLE_PENALTY, even=False)

    sentences = [one for one in answers if one.kind != "words"]
    near = [abs(one.given - one.human) <= FAIRLY_NEAR for one in sentences]
    return {
        "sentences": model(answers, IN_SENTENCES_BY, [one.kind != "words" for one in answers]),
        "sure": model(sentences, SURE_BY, near),
    }


def whole(bank: Sequence[Exercise], encoder: Remembering, data: dict[str, Any], k: int = 7) -> dict[str, Any]:
    """The models fitted on all answers, after figures by folds of questions are printed."""
    encoder.foresee(lambda: whole_answers(bank, Grader(encoder, data)))
    answers = whole_answers(bank, Grader(encoder, data))
    names = sorted({one.item.id for one in answers})
    found: list[tuple[Whole, float, float]] = []  # with the mark that is given then, and the confidence
    for n in range(k):
        held = set(names[n::k])
        grader = Grader(encoder, {**data, **fit_whole([one for one in answers if one.item.id not in held])})
        for one in (one for one in answers if one.item.id in held):
            figures = any(has_figure(point.point) for point in one.item.rubric)
            mark = one.given if figures else one.given * grader.in_sentences(one.told)
            found.append((one, mark, grader.sure(one.told)))
    for kind in ("own", "half", "turned", "words", "own and half"):
        mine = [row for row in found if row[0].kind in kind.split(" and ")]
        kept = [row for row in mine if row[2] >= SENT]
        told = {"answers": len(mine), "pass": np.mean([mark >= PASS for _, mark, _ in mine]),
                "sent": np.mean([sure < SENT for _, _, sure in mine]),
                "pass and kept": np.mean([mark >= PASS and sure >= SENT for _, mark, sure in mine])}  # fmt: skip
        if "own" in kind:
            both = agreement([mark for _, mark, _ in kept], [one.human for one, _, _ in kept])
            told |= {"pearson of those kept": both["pearson"], "mae of those kept": both["mae"]}
        print(json.dumps({"kind": kind, **{name: round(float(value), 3) for name, value in told.items()}}))
    return fit_whole(answers)


def words_and_background() -> dict[str, Any]:
    """Rarity of common words, and sentences on many matters, from the shipped bank."""
    bank = shipped_bank().exercises()
    texts = [f"{item.question} {item.explanation} {item.reference}" for item in bank]
    counts = Counter(word for text in texts for word in set(tokens(text)))
    rare = math.log(1 + len(texts) / 2.5)
    common = {word: round(math.log(1 + len(texts) / (n + 0.5)), 3) for word, n in counts.items() if n >= 3}
    background, spread = {}, []
    for language in ("zh", "en"):
        lines = [item.explanation.split("。")[0].split(". ")[0] for item in bank if item.language == language]
        fit = [line for line in lines if 15 <= len(line) <= 140]
        background[language] = fit[:: max(1, len(fit) // 64)][:64]
        spread += [word for line in fit[::11][:24] for word in content_words(line)]
    words = list(dict.fromkeys(spread))[:240]
    return {"words": words, "common": dict(sorted(common.items())), "rare": round(rare, 3), "background": background}


def answers_to_others(row: Marked, rows: Sequence[Marked], count: int, salt: str) -> list[str]:
    """Answers of `rows` to other questions; the same ones whatever else is in `rows`."""
    by_question: dict[str, list[str]] = {}
    for one in rows:
        by_question.setdefault(one.question_id, []).append(one.answer)

    def place(question_id: str) -> int:
        return zlib.crc32(f"{salt}|{row.question_id}|{row.answer}|{question_id}".encode())

    chosen = sorted((name for name in by_question if name != row.question_id), key=place)[:count]
    return [by_question[name][place(name) % len(by_question[name])] for name in chosen]


def collect(rows: Sequence[Marked], bank: Sequence[Exercise], features: Features, seed: int = 7) -> Rows:
    """Columns of the marked answers, and of answers made up from them and from the bank."""
    pick = random.Random(seed)

    def columns(question: str, points: Sequence[str], answer: str) -> np.ndarray:
        read = features.on_the_matter(question, points, without_orders(answer))  # as the grader reads it
        return features.rows(question, points, read or "-")[0]

    def with_sides(item: Exercise, answer: str) -> list[np.ndarray]:
        split = [sides(point.point) for point in item.rubric]
        rows = columns(item.question, [side for one in split for side in one], answer)
        return np.split(rows, np.cumsum([len(one) for one in split])[:-1])

    marked, beside, models, some = [], [], [], []
    for row in rows:
        points = key_points(row.reference)
        marked.append(columns(row.question, points, row.answer))
        beside += [columns(row.question, points, text) for text in answers_to_others(row, rows, CROSS, "fit")]
    for row in {row.question_id: row for row in rows}.values():
        beside += [columns(row.question, key_points(row.reference), text) for text in (*OFF_TOPIC, row.question)]
    for item in bank:
        models.append(np.vstack(with_sides(item, item.reference)))
        rest = [one.reference for one in bank if one.language == item.language and one.id != item.id]
        others = (*pick.sample(rest, 8), *OFF_TOPIC, item.question)
        beside += [np.vstack(with_sides(item, text)) for text in others]
        split = [(place, side) for place, point in enumerate(item.rubric) for side in sides(point.point)]
        for _ in range(3):
            said = pick.sample(range(len(split)), max(1, len(split) // 2))
            text = ("。" if item.language == "zh" else ". ").join(split[n][1] for n in sorted(said))
            of = np.array([place for place, _ in split])
            share = [np.isin(np.flatnonzero(of == place), said).mean() * FULL for place in range(len(item.rubric))]
            some.append((with_sides(item, text), np.array(share)))
    items = {(item.id, item.language): item for item in bank}
    told = labelled_answers()
    known = [(items[one["id"], one["language"]], one) for one in told if (one["id"], one["language"]) in items]
    labelled = [(with_sides(item, one["answer"]), np.array(one["said"], dtype=float)) for item, one in known]
    return Rows(marked, np.array([row.mark for row in rows]), beside, models, some, labelled)


def ridge(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> dict[str, Any]:
    """Weighted least squares; the constant is not penalised."""
    root = np.sqrt(weight)
    a = np.c_[x, np.ones(len(x))] * root[:, None]
    shrink = penalty * np.eye(a.shape[1])
    shrink[-1, -1] = 0
    w = np.linalg.solve(a.T @ a + shrink, a.T @ (y * root))
    return {"weights": w[:-1].round(5).tolist(), "bias": round(float(w[-1]), 5)}


def logistic(x: np.ndarray, y: np.ndarray, penalty: float, *, even: bool = True) -> dict[str, Any]:
    """Newton's method; positives and negatives weigh the same where it shall be `even`."""
    a = np.c_[x, np.ones(len(x))]
    w = np.zeros(a.shape[1])
    weight = np.where(y > 0, 0.5 / y.mean(), 0.5 / (1 - y.mean())) if even else np.ones(len(y))
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(a @ w, -30, 30)))
        gradient = a.T @ (weight * (p - y)) + penalty * np.r_[w[:-1], 0]
        hessian = (a * (weight * p * (1 - p))[:, None]).T @ a + penalty * np.eye(a.shape[1])
        step = np.linalg.solve(hessian, gradient)
        w -= step
        if np.abs(step).max() < 1e-4:
            break
    return {"weights": w[:-1].round(4).tolist(), "bias": round(float(w[-1]), 4)}


def scale(x: np.ndarray) -> dict[str, Any]:
    return {"mean": x.mean(0).round(5).tolist(), "std": np.maximum(x.std(0), 1e-3).round(5).tolist()}


def fit(rows: Rows, data: dict[str, Any]) -> dict[str, Any]:
    """Both models and the gate."""
    spread = scale(np.vstack(rows.marked))

    def means(answers: Iterable[np.ndarray], name: str = "points") -> np.ndarray:
        return np.array([terms(columns_for(name, scaled(one, spread))).mean(axis=0) for one in answers])

    x, whole = (
        np.vstack([means(group, name) for group in (rows.marked, rows.beside, rows.models)])
        for name in ("points", "whole")
    )
    y = np.r_[rows.marks, np.zeros(len(rows.beside)), np.full(len(rows.models), FULL)]
    weight = np.r_[
        np.ones(len(rows.marked)), np.full(len(rows.beside), OFF_WEIGHT), np.full(len(rows.models), MODEL_WEIGHT)
    ]
    told = [*rows.some, *rows.labelled]
    points = np.vstack([means(one) for one, _ in told])
    said = np.concatenate([said for _, said in told])
    counts = [sum(len(said) for _, said in group) for group in (rows.some, rows.labelled)]
    on = np.array([any_point(one) for one, mark in zip(rows.marked, rows.marks, strict=True) if mark >= 0.3])
    on = np.vstack([on, *(any_point(one)[None] for one in rows.models)])
    off = np.array([any_point(one) for one in rows.beside])
    topic = scale(np.vstack([on, off]))
    labels = np.r_[np.ones(len(on)), np.zeros(len(off))]
    return {
        "features": list(NAMES),
        "scale": spread,
        "whole": ridge(whole, y, weight, RIDGE),
        "points": ridge(
            np.vstack([x, points]), np.r_[y, said], np.r_[weight, np.repeat((SOME_WEIGHT, LABEL_WEIGHT), counts)], RIDGE
        ),
        "topic": topic | logistic(terms(scaled(np.vstack([on, off]), topic)), labels, GATE_PENALTY),
        **data,
    }  # fmt: skip


def fitted(rows: Sequence[Marked], bank: Sequence[Exercise], encoder: Remembering, data: dict[str, Any]) -> Grader:
    encoder.foresee(lambda: collect(rows, bank, Features(encoder, data)))
    return Grader(encoder, fit(collect(rows, bank, Features(encoder, data)), data))


def measured(rows: Sequence[Marked], grader: Grader) -> dict[str, float]:
    """Agreement with the markers, and what an answer to another of these questions earns."""
    swapped = [replace(row, answer=answers_to_others(row, rows, 1, "measure")[0], mark=0.0) for row in rows]
    found = agreement(graded(rows, grader), [row.mark for row in rows])
    wrong = graded(swapped, grader)
    return {
        "questions": len({row.question_id for row in rows}),
        **{name: found[name] for name in ("answers", "pearson", "mae", "mae_of_median")},
        "to_another_question": round(float(np.mean(wrong)), 3),
    }


def on_bank(bank: Sequence[Exercise], grader: Grader) -> dict[str, float]:
    """The bank's own short answers: the reference, its first half, another's reference."""
    out: dict[str, list[float]] = {}
    pick = random.Random(4)
    for item in bank:
        other = pick.choice([one for one in bank if one.language == item.language and one.id != item.id])
        texts = {
            "own": item.reference,
            "half": item.reference[: len(item.reference) // 2],
            "another's": other.reference,
        }
        for name, text in texts.items():
            found = grader.matches(item, [p.point for p in item.rubric], text)
            worth = [p.points for p in item.rubric]
            out.setdefault(f"{name} {item.language}", []).append(
                sum(m.fraction * w for m, w in zip(found, worth, strict=True)) / sum(worth)
            )
    return {name: round(float(np.mean(values)), 3) for name, values in sorted(out.items())}


def folds(
    rows: Sequence[Marked], bank: Sequence[Exercise], encoder: Remembering, data: dict[str, Any], k: int = 7
) -> None:
    """By question; the bank is folded too."""
    ids, names = sorted({row.question_id for row in rows}), sorted({item.id for item in bank})
    given: list[float] = []
    truth: list[float] = []
    for n in range(k):
        outside = [row for row in rows if ids.index(row.question_id) % k == n]
        held = [item for item in bank if names.index(item.id) % k == n]
        inside = [row for row in rows if ids.index(row.question_id) % k != n]
        grader = fitted(inside, [item for item in bank if item not in held], encoder, data)
        given += graded(outside, grader)
        truth += [row.mark for row in outside]
        print(json.dumps({"fold": n, **measured(outside, grader), **on_bank(held, grader)}, ensure_ascii=False))
    print(json.dumps({"all folds": agreement(given, truth)}))


def labels(
    rows: Sequence[Marked], bank: Sequence[Exercise], encoder: Remembering, data: dict[str, Any], k: int = 7
) -> None:
    """The labelled answers, each by a grader that has not seen its question; the ends of the scale as they are."""
    items = {(item.id, item.language): item for item in bank}
    told = labelled_answers()
    names = sorted({one["id"] for one in told})
    found: list[Judged] = []
    for n in range(k):
        held = set(names[n::k])
        grader = fitted(rows, [item for item in bank if item.id not in held], encoder, data)
        for one in told:
            if one["id"] in held:
                item = items[one["id"], one["language"]]
                points = [point.point for point in item.rubric]
                matches = grader.matches(item, points, one["answer"])
                found.append((item, one["said"], [match.fraction for match in matches]))
    for language in ("zh", "en"):
        mine = [one for one in found if one[0].language == language]
        print(json.dumps({"language": language, **figures(mine)}))


def write(data: dict[str, Any]) -> None:
    PATH.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marks", type=Path, nargs="?")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--final", action="store_true")
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--labels", action="store_true")
    args = parser.parse_args()
    encoder = Remembering(load_encoder(load_settings()))
    data = words_and_background()
    bank = [item for item in shipped_bank().exercises() if item.type == "short_answer"]
    if args.whole:
        shipped = json.loads(PATH.read_text("utf-8"))
        shipped |= whole(bank, encoder, shipped)
        if args.write:
            write(shipped)
        return
    rows = read_marked(args.marks)
    if args.folds:
        folds(halves(rows, SEEDS[0])[0], bank, encoder, data)
        return
    if args.labels:
        labels(set_aside(rows)[0], bank, encoder, data)
        return
    if not args.final:
        training = set_aside(rows)[0]
        encoder.foresee(lambda: collect(training, bank, Features(encoder, data)))
        found = fit(collect(training, bank, Features(encoder, data)), data)
        found["model"] = json.loads(PATH.read_text("utf-8"))["model"]  # fitted by hear_marks.py, on this fit
        write(found | whole(bank, encoder, found))
        print(json.dumps(on_bank(bank, Grader(encoder)), ensure_ascii=False))
        return
    print(json.dumps({"set aside": measured(set_aside(rows)[1], Grader(encoder))}), flush=True)
    told = []
    for seed in SEEDS:
        training, other = halves(rows, seed)
        told.append(measured(other, fitted(training, bank, encoder, data)))
        print(json.dumps({"seed": seed, **told[-1]}), flush=True)
    for name in ("pearson", "mae", "to_another_question"):
        values = [one[name] for one in told]
        print(f"{name}: mean {np.mean(values):.4f}, standard deviation {np.std(values, ddof=1):.4f}")


if __name__ == "__main__":
    main()
