"""What each rule of grading is worth, without the chat model.

The sets: labelled answers to exercises of the bank that were set aside (points_held_out.jsonl) or written before any
rule was switched off (ablation.jsonl), 100 of Mohler's answers that the fit has not seen (skipped where they are not at
hand), answers to another question, which must earn nothing, and answers and orders to the marker (orders.jsonl). A
mark counts by how near it comes: 1 for the marker's own, 0 for one that is off by full marks.
"""

import functools
import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.ablation import Area, Rule, Score
from bench.remembering import Remembering
from osrag.evaluate.measures import agreement
from osrag.evaluate.quiz import Marked, graded, read_marked, set_aside
from osrag.models.load import load_encoder
from osrag.quiz import written
from osrag.quiz.bank import shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.grader import Grader, PointMatch, text_confidence
from osrag.quiz.orders import without_orders
from osrag.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
EVAL = ROOT / "examples" / "eval" / "quiz"
OUTSIDE = ROOT.parent / "shared" / "eval"
NEVER = re.compile(r"(?!)")
MARKED = 100  # of Mohler's answers that are taken, for time


@functools.cache
def _encoder() -> Remembering:
    encoder = Remembering(load_encoder(load_settings()))
    encoder.foresee(lambda: (_points(Grader(encoder)), _marks(Grader(encoder))))
    return encoder


@functools.cache
def _bank() -> dict[tuple[str, str], Exercise]:
    return {(one.id, one.language): one for one in shipped_bank().exercises()}


def _lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (EVAL / name).read_text("utf-8").splitlines()]


def measure() -> Mapping[str, Score]:
    """Every set, with a grader made anew."""
    grader = Grader(_encoder())
    return {**_points(grader), **_marks(grader), **_orders()}


def _points(grader: Grader) -> dict[str, Score]:
    """Labelled answers: points, whole marks and confidence; and the same answers beside another exercise."""
    out: dict[str, Score] = {}
    beside: list[float] = []
    sure: list[float] = []
    for name in ("points_held_out.jsonl", "ablation.jsonl"):
        points: list[float] = []
        marks: list[float] = []
        rows = _lines(name)
        for place, row in enumerate(rows):
            exercise = _bank()[str(row["id"]), str(row["language"])]
            said: list[float] = row["said"]  # type: ignore[assignment]
            matches, mark = _graded(grader, exercise, str(row["answer"]))
            fractions = [match.fraction for match in matches]
            label = _mark(exercise, said)
            points += [1 - abs(given - one) for given, one in zip(fractions, said, strict=True)]
            marks.append(1 - abs(mark - label))
            confidence, _ = text_confidence(matches, fractions, grounded=True)
            sure.append(1 - (confidence - (abs(mark - label) <= 0.2)) ** 2)
            other = next(
                one
                for shift in range(1, len(rows))
                if (one := rows[(place + shift) % len(rows)])["language"] == row["language"] and one["id"] != row["id"]
            )
            beside.append(1 - _graded(grader, exercise, str(other["answer"]))[1])
        out |= {f"{name.partition('.')[0]}: points": score(points), f"{name.partition('.')[0]}: marks": score(marks)}
    own = [_graded(grader, one, one.reference)[1] for one in _bank().values() if one.rubric]
    return out | {"beside": score(beside), "confidence": score(sure), "own reference": score(own)}


def _graded(grader: Grader, exercise: Exercise, answer: str) -> tuple[list[PointMatch], float]:
    matches = grader.matches(exercise, [point.point for point in exercise.rubric], answer)
    return matches, _mark(exercise, [match.fraction for match in matches])


def _mark(exercise: Exercise, fractions: Sequence[float]) -> float:
    worth = [point.points for point in exercise.rubric]
    return sum(written.earned(one, points) for one, points in zip(fractions, worth, strict=True)) / sum(worth)


def score(values: Sequence[float]) -> Score:
    return round(float(sum(values)), 2), len(values)


@functools.cache
def _marked() -> list[Marked]:
    path = OUTSIDE / "asag" / "mohler_dataset_edited.csv"
    rows = read_marked(path) if path.is_file() else []
    _, unseen = set_aside(rows)
    return random.Random(1).sample(unseen, min(MARKED, len(unseen)))


def _marks(grader: Grader) -> dict[str, Score]:
    """Mohler's answers: nearness to the marker, correlation, and the mark of an answer to another question."""
    rows = _marked()
    if not rows:
        return {}
    human = [row.mark for row in rows]
    given = graded(rows, grader)
    others = [
        Marked(row.question_id, row.question, row.reference, other.answer, 0.0)
        for row, other in zip(rows, rows[7:] + rows[:7], strict=True)
        if row.question_id != other.question_id
    ]
    return {
        "Mohler: marks": score([1 - abs(one - other) for one, other in zip(given, human, strict=True)]),
        "Mohler: r": (round(100 * agreement(given, human)["pearson"], 2), 100),
        "Mohler: beside": score([1 - mark for mark in graded(others, grader)]),
    }


def _orders() -> dict[str, Score]:
    rows = _lines("orders.jsonl")
    left = [(row["kind"], str(row["text"]), without_orders(str(row["text"])).strip()) for row in rows]
    return {
        "answers kept": score([left_ == text for kind, text, left_ in left if kind == "answer"]),
        "orders left out": score([not left_ for kind, _, left_ in left if kind == "order"]),
    }


def _rule(name: str, module: str, **off: object) -> Rule:
    return Rule(name, tuple((f"osrag.quiz.{module}.{key}", value) for key, value in off.items()))


AREA = Area(
    "quiz",
    (
        _rule("orders to the marker are left out", "orders", _ORDERS=NEVER),
        _rule("gate: answers beside the rubric", "grader", ON_RUBRIC=1e-9),
        _rule("gate: answers beside the model answer", "grader", ON_TOPIC=1e-9),
        _rule("ends of the scale of a rubric", "grader", UNSAID=0.0, SAID=1.0),
        _rule("a point is said by its sentence of the reference", "grader", _nearest_sentence=lambda *_: ""),
        _rule("points of a reference: lists, headings, verdicts", "grader", _BULLET=NEVER),
        _rule("column: figures that are missed", "features", figures_missed=lambda *_: 0.0),
        _rule("column: negation", "features", negated=lambda *_: False),
        _rule("column: this point's own piece", "features", _ahead=lambda *_: 0.0),
        _rule("clauses as windows", "features", windows=lambda text: [text.strip()] if text.strip() else []),
        _rule("marks in quarters of a point", "written", earned=lambda fraction, points: fraction * points),
    ),
    measure,
)
