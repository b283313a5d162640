"""One exercise of the quiz, however it was written down."""

from dataclasses import dataclass
from typing import Literal

from osrag.quiz.programs.program import Program
from osrag.types import Language

ExerciseType = Literal["single_choice", "multiple_choice", "true_false", "fill_blank", "short_answer", "programming"]
CHOICE_TYPES: tuple[ExerciseType, ...] = ("single_choice", "multiple_choice", "true_false")
TYPES: tuple[ExerciseType, ...] = (*CHOICE_TYPES, "fill_blank", "short_answer", "programming")
TRUE, FALSE = "T", "F"


@dataclass(frozen=True, slots=True)
class Option:
    """What a choice offers: a letter and its text."""

    key: str  # "A"
    text: str


@dataclass(frozen=True, slots=True)
class RubricPoint:
    """One thing that a full answer says, and what it is worth."""

    point: str
    points: float


@dataclass(frozen=True, slots=True)
class Reason:
    """A prepared sentence of an explanation, and the words of the course book that bear it out."""

    text: str
    quote: str
    key: str = ""  # of the option that it explains, T or F of a statement; "" in a worked answer


@dataclass(frozen=True, slots=True)
class Hint:
    """Prepared help that leads to the answer and does not give it away."""

    ask: str  # a question back
    quote: str  # words of the course book to read
    # What one overlooks: by the letter of a wrong option (T or F of a statement), else by the number of the blank or
    # of the point of the rubric, from "1".
    points: tuple[tuple[str, str], ...]
    twin: str = ""  # the id of an exercise that is solved alike, or "lab:KIND"

    def point(self, key: str) -> str:
        """What is overlooked at `key`; empty where nothing is known."""
        return dict(self.points).get(key, "")


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise in one language. Empty fields are not known."""

    type: ExerciseType
    language: Language
    question: str
    options: tuple[Option, ...] = ()
    # For a choice the right keys, for true_false ("T",) or ("F",), for fill_blank one entry for each blank with the
    # accepted variants joined by "|". Empty where there is no key.
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
    reasons: tuple[Reason, ...] = ()  # prepared: one for each option, or the worked answer
    hint: Hint | None = None
    program: Program | None = None  # of a programming exercise in C: tests, known solutions, what a parser can see
    check: str = ""  # an expression over the lab that proves it: "lab('rr', jobs='P1 0 6; P2 1 4', quantum=2) == 9"

    @property
    def is_choice(self) -> bool:
        """Whether an answer picks from what is offered, true and false included."""
        return self.type in CHOICE_TYPES

    @property
    def has_key(self) -> bool:
        """Whether the key alone can decide."""
        return bool(self.answer) and (self.is_choice or self.type == "fill_blank")

    @property
    def name(self) -> str:
        """Unique in a bank: an exercise and its translation share `id`."""
        return f"{self.id}/{self.language}"

    def option(self, key: str) -> Option | None:
        """The option called `key`, if there is one."""
        return next((option for option in self.options if option.key == key), None)
