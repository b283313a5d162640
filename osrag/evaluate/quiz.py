"""`eval quiz`: a set of questions through the judge.

Choice: the model's own answer with and without evidence against the key. Text: the reference
of a question against itself and against another question's, or human marks where there are any.
"""

import csv
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel

from osrag.errors import BadInput, ModelBusy, ModelFailed
from osrag.evaluate.measures import agreement, ece, read_rows, reliability_svg, share
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.quiz.bank import read_file
from osrag.quiz.choice import TURNS, own_answer
from osrag.quiz.exercise import Exercise
from osrag.quiz.grader import Grader, PointMatch, key_points
from osrag.quiz.judge import Judge
from osrag.quiz.judgement import by_key
from osrag.quiz.orders import without_orders
from osrag.quiz.written import chances
from osrag.text import language_of

Tell = Callable[[int, int], None]  # how many questions are done, of how many
Row = dict[str, Any]
One = TypeVar("One")
COLUMNS = ("question", "desired_answer", "student_answer", "score_avg")
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


def choice_figures(rows: Sequence[Row]) -> dict[str, Any]:
    """How often the model was right, and whether its confidence says so, from the rows of `evaluate_choice`."""
    if not rows:
        return {"choice_questions": 0}
    return {
        "choice_questions": len(rows),
        "model_without_evidence": share(row["bare"] for row in rows),
        "model_with_evidence": share(row["model"] for row in rows),
        "fallbacks": sum(bool(row["problem"]) for row in rows),
        "ece": round(ece([row["confidence"] for row in rows], [row["model"] for row in rows]), 4),
    }


def evaluate_choice(judge: Judge, items: Sequence[Exercise], *, least: float, turns: int, tell: Tell) -> Iterator[Row]:
    """The model's own answer with evidence and without, asked `turns` times each.

    `least` keeps only questions that the course material covers, by the confidence of the search.
    """
    for place, item in enumerate(items, start=1):
        tell(place, len(items))
        proof = judge.find(item)
        if proof.confidence < least:
            continue
        key = frozenset(item.answer)
        own, bare = (own_answer(item, read, judge.chat, judge.options, turns=turns) for read in (proof, None))
        yield {
            "id": item.name,
            "type": item.type,
            "key": sorted(key),
            "answer": sorted(own.keys),
            "bare": bare.keys == key,
            "model": own.keys == key,
            "confidence": own.sure,
            "covered": proof.confidence,
            "problem": own.problem or bare.problem,
        }


def evaluate_keys(items: Sequence[Exercise]) -> dict[str, Any]:
    """The key as an answer must be right, and a changed key wrong: no model is asked."""
    right = wrong = 0
    for item in items:
        found = by_key(item, "; ".join(part.split("|")[0] for part in item.answer))
        right += bool(found and found.is_correct)
        spoiled = by_key(item, _other_answer(item))
        wrong += bool(spoiled and not spoiled.is_correct)
    return {"keyed_questions": len(items), "key_is_right": right, "another_answer_is_wrong": wrong}


def _other_answer(item: Exercise) -> str:
    """An answer that is not the key."""
    if item.type == "true_false":
        return "F" if item.answer == ("T",) else "T"
    if item.is_choice:
        return next((option.key for option in item.options if option.key not in item.answer), item.answer[0])
    return "; ".join("zzz" for _ in item.answer)


def evaluate_text(judge: Judge, items: Sequence[Exercise]) -> dict[str, Any]:
    """A reference judged against its own question must be high, another question's low. `items` holds one at least."""
    pick = random.Random(1)
    own: list[float] = []
    others: list[float] = []
    for item in items:
        points = [point.point for point in item.rubric] or key_points(item.reference)
        weights = [point.points for point in item.rubric] or [1.0] * len(points)
        others_of = [one.reference for one in items if one.id != item.id and one.language == item.language]
        for text, out in ((item.reference, own), (pick.choice(others_of) if others_of else "", others)):
            matched = judge.grader.matches(item, points, text)
            out.append(float(np.average([match.fraction for match in matched], weights=weights)))
    return {
        "text_questions": len(items),
        "own_reference": round(sum(own) / len(items), 4),
        "other_reference": round(sum(others) / len(items), 4),
        "own_above_other": share(a > b for a, b in zip(own, others, strict=True)),
    }


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


def graded(rows: Iterable[Marked], grader: Grader) -> list[float]:
    """The share of full marks for each answer, by encoder and words, points of the reference weighing the same."""
    return [mark_of(matches_of(row, grader), grader) for row in rows]


def matches_of(row: Marked, grader: Grader) -> list[PointMatch]:
    """What each sentence of the reference finds in the answer, by encoder and words."""
    return grader.matches(row.exercise, key_points(row.reference), row.answer)


def mark_of(matches: Sequence[PointMatch], grader: Grader, heard: Mapping[int, float] | None = None) -> float:
    """The share of full marks for an answer, with the chances that the model gave where it was `heard`."""
    return float(np.mean(grader.with_model(matches, heard or {}, rubric=False)))


def chances_of(row: Marked, matches: Sequence[PointMatch], chat: ChatModel) -> dict[int, float]:
    """The model's chance for every sentence of the reference, by its place. Raises ModelFailed, ModelBusy."""
    points, fractions = key_points(row.reference), [match.fraction for match in matches]
    answer = without_orders(row.answer)
    return dict(chances(chat, row.exercise, points, fractions, answer, ChatOptions())) if answer else {}


def evaluate_marked(
    judge: Judge, rows: Sequence[Marked], *, tell: Tell, each: Callable[[Row], None]
) -> tuple[dict[str, Any], list[Row]]:
    """Agreement with human marks, as judged; where there is a model also without it."""
    human = [row.mark for row in rows]
    matches = [matches_of(row, judge.grader) for row in rows]
    without = agreement([mark_of(found, judge.grader) for found in matches], human)
    if judge.chat is None:
        return without, []
    lines: list[Row] = []
    for place, (row, found) in enumerate(zip(rows, matches, strict=True), start=1):
        tell(place, len(rows))
        problem, heard = "", dict[int, float]()
        try:
            heard = chances_of(row, found, judge.chat)
        except (ModelFailed, ModelBusy) as error:
            problem = str(error)
        mark = mark_of(found, judge.grader, heard)
        lines.append({"question": row.question_id, "human": row.mark, "mark": round(mark, 4), "problem": problem})
        each(lines[-1])
    figures = {
        **agreement([line["mark"] for line in lines], human),
        **{f"{name}_without_model": without[name] for name in ("pearson", "mae")},
        "fallbacks": sum(bool(line["problem"]) for line in lines),
    }
    return figures, lines


def evaluate(
    judge: Judge,
    path: Path,
    *,
    sample: int = 0,
    least: float = 0.0,
    covered: Path | None = None,
    turns: int = TURNS,
    picture: Path | None = None,
    tell: Tell,
    each: Callable[[Row], None] = lambda row: None,
) -> tuple[dict[str, Any], list[Row]]:
    """Figures of a file and a row a question, told as it comes. Marked answers are compared with their marks.

    Choice questions can be narrowed: to those whose search is `least` sure, to those that `covered` says are stated.
    """
    if is_marked(path):
        return evaluate_marked(judge, _sample(read_marked(path), sample), tell=tell, each=each)
    read = read_file(path)
    kept = stated(path, covered) if covered else None
    choice = [
        item
        for place, item in enumerate(read.exercises)
        if item.is_choice and item.answer and (kept is None or f"{path.stem}:{place}" in kept)
    ]
    found: list[Row] = []
    if judge.chat:
        for row in evaluate_choice(judge, _sample(choice, sample), least=least, turns=turns, tell=tell):
            each(row)
            found.append(row)
    if picture and found:
        svg = reliability_svg([row["confidence"] for row in found], [row["model"] for row in found])
        picture.write_text(svg, encoding="utf-8")
    texts = [item for item in read.exercises if not item.is_choice and item.reference]
    figures = {
        "file": path.name,
        "broken_rows": len(read.slips),
        **evaluate_keys([item for item in read.exercises if item.has_key]),
        **choice_figures(found),
        **(evaluate_text(judge, texts) if texts else {}),
    }
    return figures, found


def _sample(rows: list[One], count: int) -> list[One]:
    """As many of the rows, always the same ones; all of them for a count of 0."""
    return random.Random(7).sample(rows, count) if 0 < count < len(rows) else rows
