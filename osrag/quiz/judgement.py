"""What a judge says of one answer, whole or still growing, and how it is told to others."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from osrag.quiz.key import read_truth
from osrag.quiz.types import Option, QuizItem
from osrag.types import Language, Passage
from osrag.wording import say

DecidedBy = Literal["key", "model", "rubric", "fallback"]
PASS = 0.6  # of full marks: from here on a text answer counts as correct
LOW_CONFIDENCE = 0.6  # below it a teacher should look
_QUALITY = ((0.85, "excellent"), (0.7, "good"), (0.5, "fair"), (0.0, "poor"))


@dataclass(frozen=True, slots=True)
class PointResult:
    """One rubric point: what it is worth, what was earned, and why."""

    point: str
    points: float
    earned: float
    said: str  # the student's words that meet it, verbatim; "" when none do
    proof: str = ""  # the sentence of the book that shows it
    passage: int | None = None  # number of the passage it stands in
    model: str = ""  # what the model says: "yes", "partly", "no"; "" when it was not asked


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reasons. Immutable; a stream sends ever fuller ones."""

    item: QuizItem
    student_answer: str
    is_correct: bool
    confidence: float
    decided_by: DecidedBy
    read_as: tuple[str, ...] = ()  # how the answer was read: keys, T/F, blanks
    correct_answer: str = ""
    right_keys: tuple[str, ...] = ()  # of a choice: what `correct_answer` says, as keys
    reasoning: str = ""
    analysis: str = ""
    knowledge_point: str = ""
    option_analysis: tuple[tuple[str, str], ...] = ()
    points: tuple[PointResult, ...] = ()
    blanks: tuple[bool, ...] = ()
    suggestions: str = ""
    model_answer: str = ""  # the model's own, found without the key
    model_correct: bool | None = None  # the verdict that follows from it
    fallback: str = ""  # why the model's reply was not used; "" when it was
    preliminary: bool = False  # the model has not been heard yet
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def language(self) -> Language:
        return self.item.language

    @property
    def full_marks(self) -> float:
        return sum(point.points for point in self.points) if self.points else 1.0

    @property
    def score(self) -> float:
        """Points earned; arithmetic over the items, never a number of the model's."""
        if self.points:
            return sum(point.earned for point in self.points)
        if self.blanks:
            return sum(self.blanks) / len(self.blanks)
        return float(self.is_correct)

    @property
    def share(self) -> float:
        return self.score / self.full_marks if self.full_marks else 0.0

    @property
    def quality(self) -> str:
        """ "excellent", "good", "fair" or "poor"."""
        return next(name for least, name in _QUALITY if self.share >= least - 1e-9)

    @property
    def needs_teacher(self) -> bool:
        return self.confidence < LOW_CONFIDENCE and not self.preliminary

    @property
    def disagrees(self) -> bool:
        """The key and the model's own answer lead to different verdicts."""
        return self.decided_by == "key" and self.model_correct is not None and self.model_correct != self.is_correct

    def is_right(self, option: Option) -> bool:
        """Whether an option belongs to the right answer. The options of a statement may be words for true and false."""
        return option.key in self.right_keys or (
            self.item.type == "true_false" and read_truth(option.text) in self.right_keys
        )

    def with_seconds(self, **seconds: float) -> "Judgement":
        return replace(self, seconds={**self.seconds, **{name: round(value, 3) for name, value in seconds.items()}})


def as_json(judgement: Judgement, passages: tuple[Passage, ...] = ()) -> dict[str, Any]:
    """The result with the field names of the requirements."""
    from osrag.answer.view import passage_json

    item, language = judgement.item, judgement.language
    value: dict[str, Any] = {
        "questionId": item.id,
        "type": item.type,
        "isCorrect": judgement.is_correct,
        "confidence": round(judgement.confidence, 3),
        "reasoning": judgement.reasoning,
        "correctAnswer": judgement.correct_answer,
        "analysis": judgement.analysis,
        "knowledgePoint": judgement.knowledge_point,
        "score": round(judgement.score, 2),
        "fullMarks": round(judgement.full_marks, 2),
        "decidedBy": judgement.decided_by,
        "readAs": list(judgement.read_as),
        "modelAnswer": judgement.model_answer,
        "modelIsCorrect": judgement.model_correct,
        "disagreement": judgement.disagrees,
        "fallback": bool(judgement.fallback),
        "fallbackReason": judgement.fallback,
        "needsTeacher": judgement.needs_teacher,
        "note": note(judgement),
    }
    if item.is_choice:
        value["optionAnalysis"] = [{"key": key, "text": text} for key, text in judgement.option_analysis]
    else:
        value |= {
            "answerQuality": say(f"quality_{judgement.quality}", language),
            "improvementSuggestions": judgement.suggestions,
            "points": [
                {
                    "point": point.point,
                    "points": point.points,
                    "earned": round(point.earned, 2),
                    "studentWords": point.said,
                    "proof": point.proof,
                    "passage": point.passage,
                    "model": point.model,
                }
                for point in judgement.points
            ],
        }
    if judgement.blanks:
        value["blanks"] = list(judgement.blanks)
    value["evidence"] = [passage_json(passage) for passage in passages]
    value["seconds"] = judgement.seconds
    return value


def note(judgement: Judgement) -> str:
    """What the reader must know about how this verdict came about; "" when nothing is unusual."""
    language = judgement.language
    lines = []
    if judgement.fallback:
        kind = "choice" if judgement.item.is_choice else "text"
        keyed = "key" if judgement.item.has_key else "free"
        if kind == "text" and keyed == "free" and judgement.decided_by != "fallback":
            keyed = "alone"  # no model took part, so none failed, and the confidence is the grader's own
        lines.append(say(f"fallback_{kind}_{keyed}", language, reason=judgement.fallback))
    if judgement.disagrees:
        lines.append(say("judge_disagrees", language, model=judgement.model_answer))
    if judgement.needs_teacher:
        lines.append(say("ask_teacher", language))
    return " ".join(lines)
