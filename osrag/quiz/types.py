"""Exercises as values: what a question is, whoever wrote it down and however."""

from dataclasses import dataclass
from typing import Literal

from osrag.types import Language

QuestionType = Literal["single_choice", "multiple_choice", "true_false", "fill_blank", "short_answer", "programming"]
Difficulty = Literal["easy", "medium", "hard"]
CHOICE_TYPES: tuple[QuestionType, ...] = ("single_choice", "multiple_choice", "true_false")
TYPES: tuple[QuestionType, ...] = (*CHOICE_TYPES, "fill_blank", "short_answer", "programming")
TRUE, FALSE = "T", "F"


@dataclass(frozen=True, slots=True)
class Option:
    key: str  # "A"
    text: str


@dataclass(frozen=True, slots=True)
class RubricPoint:
    """One thing that a full answer says, and what it is worth."""

    point: str
    points: float


@dataclass(frozen=True, slots=True)
class QuizItem:
    """One question in one language. Empty fields are not known."""

    type: QuestionType
    language: Language
    question: str
    options: tuple[Option, ...] = ()
    # Choice: the keys. true_false: ("T",) or ("F",). fill_blank: one entry a blank, the accepted
    # variants joined by "|". Empty where there is no key.
    answer: tuple[str, ...] = ()
    reference: str = ""  # a model answer
    rubric: tuple[RubricPoint, ...] = ()
    id: str = ""
    chapter: str = ""
    section: str = ""
    difficulty: str = ""
    knowledge_point: str = ""
    explanation: str = ""
    page_quote: str = ""  # a sentence of the book that proves the key

    @property
    def is_choice(self) -> bool:
        return self.type in CHOICE_TYPES

    @property
    def has_key(self) -> bool:
        return bool(self.answer) and (self.is_choice or self.type == "fill_blank")

    @property
    def name(self) -> str:
        """Unique in a bank: a question and its translation share `id`."""
        return f"{self.id}/{self.language}"

    def option(self, key: str) -> Option | None:
        return next((option for option in self.options if option.key == key), None)
