"""`eval quiz`: a set of questions through the judge.

Choice: the model's own answer with and without evidence against the key. Text: the reference
of a question against itself and against another question's, or human marks where there are any.
"""

import csv
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from pydantic import BaseModel

from osrag.errors import BadInput
from osrag.evaluate.figures import Row, compared, share_of_one
from osrag.evaluate.measures import read_rows, reliability_svg
from osrag.quiz.bank import read_file
from osrag.quiz.choice import TURNS, own_answer
from osrag.quiz.exercise import Exercise, RubricPoint
from osrag.quiz.grader import PointMatch, key_points, text_confidence
from osrag.quiz.judge import Judge
from osrag.quiz.judgement import LOW_CONFIDENCE, by_key
from osrag.quiz.written import earned
from osrag.text import language_of

One = TypeVar("One")
COLUMNS = ("question", "desired_answer", "student_answer", "score_avg")
FITTED_SEED = 106  # of the half of the marked answers that the shipped grader has seen
FULL_MARKS = 5.0  # of a score_avg


class Coverage(BaseModel, extra="allow"):
    """Whether the course book covers a question of a file, as somebody read it who saw no model's answer."""

    id: str  # "<name of the file without suffix>:<place of the question in it, from 0>"
    label: Literal["stated", "worked", "related", "absent"]  # "stated": the book says what decides


def stated(path: Path, covered: Path) -> frozenset[str]:
    """Ids of the questions of `path` that the book states. Raises BadInput where `covered` knows none of them."""
    rows = read_rows(covered, Coverage, needs="id and label")
    found = frozenset(row.id for row in rows if row.label == "stated" and row.id.rpartition(":")[0] == path.stem)
    if not found:
        raise BadInput(f"{covered} names no question of {path.name!r} as stated", hint="leave out --covered-by")
    return found


def choice_rows(judge: Judge, items: Iterable[Exercise], *, least: float = 0.0, turns: int = TURNS) -> Iterator[Row]:
    """The model's own answer with evidence and without, asked `turns` times each. `judge` must have a chat model.

    `least` leaves out questions that the course material does not cover, by the confidence of the search.
    """
    for item in items:
        proof = judge.find(item)
        if proof.confidence < least:
            yield Row(("left_out",), {}, alone=True)
            continue
        key = frozenset(item.answer)
        own, bare = (own_answer(item, read, judge.chat, judge.options, turns=turns) for read in (proof, None))
        right = own.keys == key
        scores = {"with_evidence": share_of_one(right), "without_evidence": share_of_one(bare.keys == key)}
        told = {
            "id": item.name,
            "type": item.type,
            "key": sorted(key),
            "answer": sorted(own.keys),
            "bare": bare.keys == key,
            "model": right,
            "confidence": own.sure,
            "covered": proof.confidence,
            "problem": own.problem or bare.problem,
        }
        problem = {"fallbacks": share_of_one(bool(told["problem"]))}
        yield Row((item.language, item.type), {**scores, "ece": (own.sure, float(right)), **problem}, told)


def key_rows(items: Iterable[Exercise]) -> Iterator[Row]:
    """The key as an answer must be right, and a changed key wrong: no model is asked."""
    for item in items:
        found = by_key(item, "; ".join(part.split("|")[0] for part in item.answer))
        spoiled = by_key(item, _other_answer(item))
        right, wrong = bool(found and found.is_correct), bool(spoiled and not spoiled.is_correct)
        note = {} if right and wrong else {"id": item.name, "question": item.question}
        yield Row((), {"key_is_right": share_of_one(right), "another_is_wrong": share_of_one(wrong)}, note)


def _other_answer(item: Exercise) -> str:
    """An answer that is not the key."""
    if item.type == "true_false":
        return "F" if item.answer == ("T",) else "T"
    if item.is_choice:
        return next((option.key for option in item.options if option.key not in item.answer), item.answer[0])
    return "; ".join("zzz" for _ in item.answer)


def reference_rows(judge: Judge, items: Sequence[Exercise]) -> Iterator[Row]:
    """A reference judged against its own question must be high, another question's low."""
    pick = random.Random(1)
    for item in items:
        points = [point.point for point in item.rubric] or key_points(item.reference)
        weights = [point.points for point in item.rubric] or [1.0] * len(points)
        others_of = [one.reference for one in items if one.id != item.id and one.language == item.language]
        own, other = (
            float(np.average([match.fraction for match in judge.grader.matches(item, points, text)], weights=weights))
            for text in (item.reference, pick.choice(others_of) if others_of else "")
        )
        shares = {"own_reference": own, "other_reference": other, "own_above_other": own > other}
        yield Row((), {name: share_of_one(value) for name, value in shares.items()})


@dataclass(frozen=True, slots=True)
class Marked:
    """A student's answer with the mark that people gave it."""

    question_id: str
    question: str
    reference: str
    answer: str
    mark: float  # share of full marks

    @property
    def exercise(self) -> Exercise:
        """The question with its reference, without a rubric."""
        return Exercise("short_answer", language_of(self.question), self.question, reference=self.reference)


def is_marked(path: Path) -> bool:
    """Whether a file is a table of marked answers."""
    if path.suffix.lower() != ".csv":
        return False
    with path.open(encoding="utf-8-sig", newline="") as file:
        return set(COLUMNS) <= set(next(csv.reader(file), []))


def read_marked(path: Path) -> list[Marked]:
    """Rows of a table of marked answers. Raises BadInput with the line of a mark that is none."""
    out = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            try:
                mark = float(row["score_avg"]) / FULL_MARKS
            except (TypeError, ValueError) as error:
                raise BadInput(f"{path.name}:{reader.line_num}: score_avg {row['score_avg']!r} is no number") from error
            question, reference, answer = (row[name] for name in COLUMNS[:3])
            out.append(Marked(row.get("id") or question, question, reference, answer, mark))
    return out


def set_aside(rows: Sequence[Marked]) -> tuple[list[Marked], list[Marked]]:
    """The half of marked answers that the shipped grader was fitted on, and the other; both have every question."""
    places = list(range(len(rows)))
    random.Random(FITTED_SEED).shuffle(places)
    chosen = set(places[: (len(rows) + 1) // 2])
    return [row for n, row in enumerate(rows) if n in chosen], [row for n, row in enumerate(rows) if n not in chosen]


def marked_rows(judge: Judge, rows: Iterable[Marked]) -> Iterator[Row]:
    """Marks beside human marks."""
    for row in rows:
        mark = mark_of(judge.grader.matches(row.exercise, key_points(row.reference), row.answer))
        scores = compared(mark, row.mark)
        yield Row((), scores, {"question": row.question_id, "human": row.mark, "mark": round(mark, 4)})


def mark_of(matches: Sequence[PointMatch]) -> float:
    """The share of full marks for an answer, points weighing the same."""
    return float(np.mean([match.fraction for match in matches]))


class LabelledAnswer(BaseModel, extra="forbid"):
    """A line of a file: an answer to an exercise of the bank, and how much of each point of the rubric it says."""

    id: str
    language: Literal["zh", "en"]
    answer: str
    said: list[float]  # 1, 0.5, 0
    kind: str = ""  # "own" words, "half" right, "turned" round
    held_out: bool = False


def point_rows(judge: Judge, answers: Iterable[LabelledAnswer], bank: Iterable[Exercise]) -> Iterator[Row]:
    """Marks beside the labels: of the whole answer, and of points said, half said and not said."""
    items = {(item.id, item.language): item for item in bank}
    for one in answers:
        item = items[one.id, one.language]
        yield _by_rubric(judge, item, one.answer, one.said, (one.language, one.kind))


class Point(BaseModel, extra="forbid"):
    """A line of a marking scheme."""

    point: str
    points: float


class Answered(BaseModel, extra="forbid"):
    """An answer, and how much of each point of the rubric it says: 1, 0.5 or 0."""

    text: str
    kind: str
    said: list[float]


class MarkedQuestion(BaseModel, extra="forbid"):
    """A line of a file: a question with its model answer and rubric, and the answers of a class."""

    id: str
    language: Literal["zh", "en"]
    question: str
    reference: str
    rubric: list[Point]
    answers: list[Answered]

    @property
    def exercise(self) -> Exercise:
        """The question with its rubric."""
        points = tuple(RubricPoint(one.point, one.points) for one in self.rubric)
        return Exercise("short_answer", self.language, self.question, reference=self.reference, rubric=points)


def class_rows(judge: Judge, questions: Iterable[MarkedQuestion]) -> Iterator[Row]:
    """Marks of a class beside the labels, by the rubric and by the model answer alone."""
    for one in questions:
        item = one.exercise
        bare = replace(item, rubric=())
        for answer in one.answers:
            yield _by_rubric(judge, item, answer.text, answer.said, (one.language, "rubric"))
            matches = judge.grader.matches(bare, key_points(item.reference), answer.text)
            mark, human = mark_of(matches), share_earned(item, answer.said)
            note = {"id": one.id, "mark": round(mark, 3), "human": round(human, 3)}
            yield Row(("model_answer",), compared(mark, human) | _sent(matches, mark, human), note, alone=True)


def _by_rubric(judge: Judge, item: Exercise, answer: str, said: Sequence[float], groups: tuple[str, ...]) -> Row:
    """The mark of one answer beside its labels."""
    matches = judge.grader.matches(item, [point.point for point in item.rubric], answer)
    given = [match.fraction for match in matches]
    mark, human = share_earned(item, given), share_earned(item, said)
    of = {name: [one for one, label in zip(given, said, strict=True) if label == value]
          for name, value in (("said", 1), ("half_said", 0.5), ("not_said", 0))}  # fmt: skip
    earns = {f"{name}_earns": (sum(some), float(len(some))) for name, some in of.items()}
    note = {"id": item.id, "language": item.language, "mark": round(mark, 3), "human": round(human, 3)}
    return Row(groups, {**compared(mark, human), **_sent(matches, mark, human), **earns}, note)


def _sent(matches: Sequence[PointMatch], mark: float, human: float) -> dict[str, tuple[float, float]]:
    """Whether a teacher would be asked; else the marks once more, among those that stand alone."""
    sent = text_confidence(matches, grounded=True)[0] < LOW_CONFIDENCE
    return {"sent": share_of_one(sent)} | ({} if sent else {"pearson_alone": (mark, human)})


def share_earned(item: Exercise, fractions: Sequence[float]) -> float:
    """Share of full marks, with the rounding that a student meets."""
    worth = [point.points for point in item.rubric]
    return sum(earned(one, points) for one, points in zip(fractions, worth, strict=True)) / sum(worth)


@dataclass(frozen=True, slots=True)
class Bank:
    """What of a file is measured."""

    choice: list[Exercise]
    keyed: list[Exercise]
    texts: list[Exercise]
    broken: int  # rows that are none


def read_bank(path: Path, *, covered: Path | None = None) -> Bank:
    """The exercises of a file; of the choice questions those that `covered` says are stated."""
    read = read_file(path)
    kept = stated(path, covered) if covered else None
    choice = [
        item
        for place, item in enumerate(read.exercises)
        if item.is_choice and item.answer and (kept is None or f"{path.stem}:{place}" in kept)
    ]
    texts = [item for item in read.exercises if not item.is_choice and item.reference]
    return Bank(choice, [item for item in read.exercises if item.has_key], texts, len(read.slips))


def picture(rows: Iterable[Row]) -> str:
    """The calibration of the model's answers as SVG."""
    pairs = [row.scores["ece"] for row in rows if "ece" in row.scores]
    return reliability_svg([sure for sure, _ in pairs], [bool(right) for _, right in pairs])


def sampled(rows: Sequence[One], count: int) -> list[One]:
    """As many of the rows, always the same ones, in their order; all of them for a count of 0."""
    if not 0 < count < len(rows):
        return list(rows)
    return [rows[place] for place in sorted(random.Random(7).sample(range(len(rows)), count))]
