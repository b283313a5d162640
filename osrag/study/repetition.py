"""What a student has practised: a card for each knowledge point, and the day on which it comes again.

The dates are those of FSRS with its default parameters (Ye et al., KDD 2022; `fsrs` 6). The deck lives in the visitor's
browser and travels as a file; the server keeps nothing. What comes from there may be of another version or edited by
hand, so every part is checked, and what cannot be used is left out and told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fsrs import Card, Rating, Scheduler, State
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from osrag.quiz.bank import Bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.judgement import Judgement

VERSION = 1
MOST_POINTS = 1000  # kept of one student; the shipped bank has some 300
KNOWN = 0.9  # the chance of recall from which on a point counts as known; what FSRS aims at by default
GOOD = 0.85  # share of full marks from which on a written answer is a good one
_SCHEDULER = Scheduler(enable_fuzzing=False)


def _in_reach(day: datetime) -> datetime:
    if not 2000 <= day.year <= 2200:
        raise ValueError("a day out of reach")
    return day


Day = Annotated[AwareDatetime, AfterValidator(_in_reach)]


class Memory(BaseModel):
    """An FSRS card: stability in days, difficulty 1 to 10; both None before the first review."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)
    state: Literal[1, 2, 3] = 1  # learning, review, relearning
    step: int | None = Field(default=0, ge=0, le=1)
    stability: float | None = Field(default=None, ge=0.001, le=36_500)
    difficulty: float | None = Field(default=None, ge=1, le=10)
    due: Day
    last_review: Day | None = None

    @model_validator(mode="after")
    def _belongs_together(self) -> "Memory":
        reviewed = {value is not None for value in (self.stability, self.difficulty, self.last_review)}
        if len(reviewed) > 1 or (self.state == 2) != (self.step is None) or (self.state > 1 and reviewed == {False}):
            raise ValueError("fields of different cards")
        return self

    @classmethod
    def of(cls, card: Card) -> "Memory":
        """What is kept of a card."""
        return cls.model_validate(card.to_dict())

    @property
    def card(self) -> Card:
        """As FSRS has it."""
        return Card(0, State(self.state), self.step, self.stability, self.difficulty, self.due, self.last_review)


class Practice(BaseModel):
    """One knowledge point as it is kept: how often, how it went, and what FSRS knows of it."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    section: str = Field(default="", max_length=40)
    asked: int = Field(default=0, ge=0, le=100_000)
    right: bool = False  # the last time
    missed: int = Field(default=0, ge=0, le=100_000)
    mended: int = Field(default=0, ge=0, le=100_000)  # how often the question after a missed one was right
    retried: int = Field(default=0, ge=0, le=100_000)  # how often there was one
    memory: Memory


@dataclass(frozen=True, slots=True)
class Deck:
    """Practice by knowledge point. Immutable."""

    points: Mapping[str, Practice]

    def after(self, exercise: Exercise, judgement: Judgement, bank: Bank, now: datetime, *, hinted: bool) -> "Deck":
        """The deck after one more answer; unchanged by one without a verdict, or on no point of the bank."""
        point = "" if judgement.undecided else point_of(exercise, bank)
        if not point or (point not in self.points and len(self.points) >= MOST_POINTS):
            return self
        before = self.points.get(point, Practice(section=exercise.section, memory=Memory(due=now)))
        card, _ = _SCHEDULER.review_card(before.memory.card, rating(judgement, hinted=hinted), now)
        ok, again = judgement.is_correct, before.asked > 0 and not before.right
        found = before.model_copy(
            update={
                "asked": before.asked + 1,
                "right": ok,
                "missed": before.missed + (not ok),
                "retried": before.retried + again,
                "mended": before.mended + (again and ok),
                "memory": Memory.of(card),
            }
        )
        return replace(self, points={**self.points, point: found})

    def due(self, now: datetime) -> list[str]:
        """The points whose day has come, the one that is longest due first."""
        dates = {point: kept.memory.due for point, kept in self.points.items()}
        return sorted((point for point, date in dates.items() if date <= now), key=lambda point: dates[point])

    def next_day(self) -> datetime | None:
        """When the next point is due; None for an empty deck."""
        return min((kept.memory.due for kept in self.points.values()), default=None)

    def mended(self) -> tuple[int, int]:
        """(how often the question after a missed one was right, how often there was one)."""
        kept = self.points.values()
        return sum(one.mended for one in kept), sum(one.retried for one in kept)

    def mastery(self, bank: Bank, now: datetime) -> dict[str, tuple[int, int, int]]:
        """By chapter: (points known, points practised, points that the bank has), in the order of the bank."""
        out: dict[str, tuple[int, int, int]] = {}
        for chapter, points in points_by_chapter(bank).items():
            met = [self.points[point] for point in points if point in self.points]
            known = sum(one.right and _SCHEDULER.get_card_retrievability(one.memory.card, now) >= KNOWN for one in met)
            out[chapter] = known, len(met), len(points)
        return out

    def as_data(self) -> dict[str, Any]:
        """As JSON values, for the browser and for a file."""
        return {
            "osrag": "practice",
            "version": VERSION,
            "points": {k: v.model_dump(mode="json") for k, v in self.points.items()},
        }


EMPTY = Deck({})


def read_deck(data: Any) -> tuple[Deck, int]:
    """(deck, how many entries could not be used) of what a browser or a file gives; another version counts as one."""
    if data in (None, "", {}):
        return EMPTY, 0
    if not isinstance(data, Mapping) or data.get("version") != VERSION or not isinstance(data.get("points"), Mapping):
        return EMPTY, 1
    points: dict[str, Practice] = {}
    dropped = max(0, len(data["points"]) - MOST_POINTS)
    for point, raw in list(data["points"].items())[:MOST_POINTS]:
        try:
            points[str(point)[:200]] = Practice.model_validate(raw)
        except ValidationError:
            dropped += 1
    return Deck(points), dropped


def rating(judgement: Judgement, *, hinted: bool) -> Rating:
    """Again for a wrong answer, Hard for one that needed a hint or is right in part, else Good."""
    if not judgement.is_correct:
        return Rating.Again
    return Rating.Hard if hinted or judgement.share < GOOD else Rating.Good


def point_of(exercise: Exercise, bank: Bank) -> str:
    """The knowledge point of an exercise of the bank, one name for both languages; empty for a typed-in one."""
    if not exercise.id or bank.get(exercise.name) is None:
        return ""
    english = bank.get(f"{exercise.id}/en") or exercise
    return english.knowledge_point or english.section


def points_by_chapter(bank: Bank) -> dict[str, list[str]]:
    """The knowledge points of each chapter, each once, in the order of the bank."""
    out: dict[str, dict[str, None]] = {}
    for exercise in bank.exercises():
        if point := point_of(exercise, bank):
            out.setdefault(exercise.chapter, {})[point] = None
    return {chapter: list(points) for chapter, points in out.items()}


def exercises_on(point: str, bank: Bank) -> Iterator[Exercise]:
    """The exercises of the bank on a knowledge point, in both languages."""
    return (exercise for exercise in bank.exercises() if point_of(exercise, bank) == point)


def today() -> datetime:
    """Now, with its zone, as FSRS wants it."""
    return datetime.now(UTC)
