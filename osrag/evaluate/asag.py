"""Short answers with human marks: how near the judge comes."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from osrag.errors import BadInput
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.quiz.exercise import Exercise
from osrag.quiz.grader import Grader, PointMatch, key_points
from osrag.quiz.orders import without_orders
from osrag.quiz.written import chances
from osrag.text import language_of

COLUMNS = ("question", "desired_answer", "student_answer", "score_avg")
FULL_MARKS = 5.0  # of a score_avg


@dataclass(frozen=True, slots=True)
class Marked:
    """A student's answer with the mark that people gave it."""

    question_id: str
    question: str
    reference: str
    answer: str
    mark: float  # share of full marks


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


def graded(rows: Iterable[Marked], grader: Grader) -> list[float]:
    """The share of full marks for each answer, by encoder and words, points of the reference weighing the same."""
    return [mark_of(matches_of(row, grader)) for row in rows]


def matches_of(row: Marked, grader: Grader) -> list[PointMatch]:
    """What each sentence of the reference finds in the answer, by encoder and words."""
    return grader.matches(row.question, key_points(row.reference), row.answer, rubric=False)


def mark_of(matches: Sequence[PointMatch]) -> float:
    """The share of full marks for an answer, before a model was asked."""
    return float(np.mean([match.fraction for match in matches]))


def chances_of(row: Marked, matches: Sequence[PointMatch], chat: ChatModel) -> dict[int, float]:
    """The model's chance for every sentence of the reference, by its place. Raises ModelFailed, ModelBusy."""
    points, fractions = key_points(row.reference), [match.fraction for match in matches]
    item = Exercise("short_answer", language_of(row.question), row.question, reference=row.reference)
    answer = without_orders(row.answer)
    return dict(chances(chat, item, points, fractions, answer, ChatOptions())) if answer else {}


def mark_with_model(matches: Sequence[PointMatch], grader: Grader, heard: Mapping[int, float]) -> float:
    """The share of full marks with the chances that the model gave."""
    return float(np.mean(grader.with_model(matches, heard, rubric=False)))
