"""What the answers of the book say of what they should: key points that a program can find, repetitions, seconds."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from pydantic import BaseModel, Field

from osrag.answer.events import Done, Event, Failed, Token
from osrag.answer.source import Question
from osrag.evaluate.measures import Report, quantile
from osrag.models.protocols import Encoder
from osrag.text import language_of, share_of, tokens
from osrag.types import Turn

SAME_COSINE, SAME_WORDS = 0.95, 0.75  # from which two statements say the same: across languages, and in one
NEAR = 0.84  # cosine below which a statement is beside every point; a hint for who reads, not a verdict


class Point(BaseModel, extra="ignore"):
    """What a whole answer says: each group of `words` has one of its words in the answer."""

    text: str
    words: list[list[str]]

    def said_in(self, answer: str) -> bool:
        """Whether Markdown says it; the backslashes before its signs are no words."""
        answer = answer.replace("\\", "")
        return all(any(word.lower() in answer.lower() for word in group) for group in self.words)


class KeyPoints(BaseModel, extra="ignore"):
    """A line of the file."""

    id: str
    question: str
    language: str
    points: list[Point] = Field(min_length=1)
    kind: str = ""
    set: str = "dev"
    history: list[str] = Field(default_factory=list)  # questions before this one


@dataclass(frozen=True, slots=True)
class Marked:
    """One answer, counted."""

    row: KeyPoints
    how: str
    missing: tuple[str, ...]
    statements: int
    repeated: int
    beside: int
    first_s: float  # until the first words
    whole_s: float
    text: str


def evaluate(
    rows: Sequence[KeyPoints],
    ask: Callable[[Question], Iterator[Event]],
    encoder: Encoder,
    *,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Figures for all answers, and by language, by kind of question and by how the answer came about."""
    groups: dict[str, list[Marked]] = defaultdict(list)
    misses = []
    for done, row in enumerate(rows, start=1):
        marked = _marked(row, ask, encoder)
        for group in ("all", row.language, row.kind, marked.how):
            groups[group].append(marked)
        if marked.missing:
            misses.append({"id": row.id, "question": row.question, "missing": marked.missing, "said": marked.text})
        tell(done, len(rows))
    figures: dict[str, Any] = {group: _figures(found) for group, found in groups.items()}
    return {**figures, "how": dict(Counter(one.how for one in groups["all"]))}, misses


def _marked(row: KeyPoints, ask: Callable[[Question], Iterator[Event]], encoder: Encoder) -> Marked:
    start = time.perf_counter()
    first, text, how, statements = 0.0, "", "failed", list[str]()
    for event in ask(Question(row.question, history=tuple(Turn(one, "") for one in row.history))):
        match event:
            case Token():
                first = first or time.perf_counter() - start
                text += event.text
            case Done():
                how, statements = event.how, [said.text for said in event.statements]
            case Failed():
                text += f"\n{event.message}"
            case _:
                pass
    whole = time.perf_counter() - start
    repeated = beside = 0
    if statements:
        own = encoder.passages(statements)
        points = encoder.passages([point.text for point in row.points])
        alike = own @ own.T
        repeated = sum(
            any(_same(statements[at], statements[other], alike[at, other]) for other in range(at))
            for at in range(len(own))
        )
        beside = int(((own @ points.T).max(axis=1) < NEAR).sum())
    missing = tuple(point.text for point in row.points if not point.said_in(text))
    return Marked(row, how, missing, len(statements), repeated, beside, first, whole, text)


def _same(one: str, other: str, cosine: float) -> bool:
    """Whether two statements say the same; the steps of one calculation are near in meaning and are not the same."""
    if language_of(one) != language_of(other):
        return cosine > SAME_COSINE
    return share_of(tokens(one), tokens(other)) > SAME_WORDS


def _figures(found: Sequence[Marked]) -> dict[str, Any]:
    points = sum(len(one.row.points) for one in found)
    statements = sum(one.statements for one in found) or 1
    return {
        "n": len(found),
        "points_said": round(1 - sum(len(one.missing) for one in found) / points, 3),
        "all_points": round(mean(not one.missing for one in found), 3),
        "statements": round(mean(one.statements for one in found), 1),
        "repeated": round(sum(one.repeated for one in found) / statements, 3),
        "near_no_point": round(sum(one.beside for one in found) / statements, 3),
        "first_s": quantile([one.first_s for one in found], 0.5),
        "whole_s": quantile([one.whole_s for one in found], 0.5),
    }
