"""The judgement of one answer, the verdict that follows from the key alone, and the result as plain data."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from osrag.answer.view import passage_json
from osrag.quiz.blanks import judge_blanks, split_answer, variants
from osrag.quiz.exercise import TRUE, Exercise, Option
from osrag.quiz.keys import chosen, in_order, read_truth
from osrag.text import language_of
from osrag.types import Language, Passage
from osrag.wording import say

DecidedBy = Literal["key", "model", "lab", "rubric", "code", "tests", "fallback"]
PASS = 0.6  # share of full marks from which on a written answer counts as correct
APART: dict[Language, str] = {"zh": "；", "en": "; "}  # between the parts of a list in a sentence
LOW_CONFIDENCE = 0.6  # below it a teacher should look
_QUALITY = ((0.85, "excellent"), (0.7, "good"), (0.5, "fair"), (0.0, "poor"))  # least share of full marks


@dataclass(frozen=True, slots=True)
class PointResult:
    """One rubric point: what it is worth, what was earned, and why."""

    point: str
    points: float
    earned: float
    said: str  # the student's words that meet it, verbatim; "" when none do
    proof: str = ""  # the sentence of the book that shows it
    passage: int | None = None  # number of the passage it stands in
    why: str = ""  # of a program: what was seen
    open: bool = False  # of a program: nobody could tell, so it neither earns nor loses anything


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reasons. Immutable; a stream sends ever fuller ones."""

    exercise: Exercise
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
    doubt: str = ""  # why a teacher should look at a written answer: part of a key of the wording table
    fallback: str = ""  # why the model's reply was not used; "" when it was
    preliminary: bool = False  # the model has not been heard yet
    seconds: dict[str, float] = field(default_factory=dict)  # by stage, from the start to its first step

    @property
    def language(self) -> Language:
        """The language of the exercise."""
        return self.exercise.language

    @property
    def full_marks(self) -> float:
        """What the points are worth together; 1 where there are none."""
        return sum(point.points for point in self.points) if self.points else 1.0

    @property
    def score(self) -> float:
        """Points earned: the sum over the points or blanks, never a number of the model's."""
        if self.points:
            return sum(point.earned for point in self.points)
        if self.blanks:
            return sum(self.blanks) / len(self.blanks)
        return float(self.is_correct)

    @property
    def share(self) -> float:
        """The score as a share of full marks, 0-1."""
        return self.score / self.full_marks if self.full_marks else 0.0

    @property
    def undecided(self) -> bool:
        """Whether points that are left open decide between right and wrong."""
        open_ = sum(point.points for point in self.points if point.open)
        return not self.is_correct and open_ > 0 and self.score + open_ >= PASS * self.full_marks

    @property
    def quality(self) -> str:
        """ "excellent", "good", "fair" or "poor"."""
        return next(name for least, name in _QUALITY if self.share >= least - 1e-9)

    @property
    def needs_teacher(self) -> bool:
        """Whether the final confidence is so low that a teacher should look."""
        return self.confidence < LOW_CONFIDENCE and not self.preliminary

    @property
    def disagrees(self) -> bool:
        """Whether the key and the model's own answer lead to different verdicts."""
        return self.decided_by == "key" and self.model_correct is not None and self.model_correct != self.is_correct

    def is_right(self, option: Option) -> bool:
        """Whether an option belongs to the right answer. The options of a statement may be words for true and false."""
        return option.key in self.right_keys or (
            self.exercise.type == "true_false" and read_truth(option.text) in self.right_keys
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One moment of a run. `stage` is "verdict", "evidence", "analysis" or "done"."""

    stage: str
    judgement: Judgement
    passages: tuple[Passage, ...] = ()


def by_key(exercise: Exercise, answer: str) -> Judgement | None:
    """The verdict that the key alone decides; None for an exercise without a key."""
    if not exercise.has_key:
        return None
    found = Judgement(
        exercise,
        answer,
        is_correct=False,
        confidence=1.0,
        decided_by="key",
        correct_answer=right_answer(exercise),
        knowledge_point=exercise.knowledge_point,
    )
    if exercise.is_choice:
        picked = chosen(exercise, answer)
        read = in_order(picked, exercise.options)
        ok = picked == frozenset(exercise.answer)
        return replace(found, is_correct=ok, read_as=read, right_keys=exercise.answer)
    said = split_answer(answer, len(exercise.answer))
    blanks = judge_blanks(said, exercise.answer, exercise.question)
    return replace(found, is_correct=all(blanks), read_as=tuple(said), blanks=blanks)


def right_answer(exercise: Exercise) -> str:
    """The key as a student sees it: `B. long-term scheduling`, 对, for a blank the first variant in the language."""
    if not exercise.answer:
        return exercise.reference
    if exercise.type == "true_false":
        return say("quiz_true" if exercise.answer[0] == TRUE else "quiz_false", exercise.language)
    if exercise.is_choice:
        texts = {option.key: f"{option.key}. {option.text}" for option in exercise.options}
        return APART[exercise.language].join(texts.get(key, key) for key in exercise.answer)
    blanks = [variants(blank) or [blank] for blank in exercise.answer]
    return APART[exercise.language].join(
        next((form for form in forms if language_of(form) == exercise.language), forms[0]) for forms in blanks
    )


def as_json(judgement: Judgement, passages: tuple[Passage, ...] = ()) -> dict[str, Any]:
    """The result as plain data; the names of the fields are a promise to callers."""
    exercise, language = judgement.exercise, judgement.language
    value: dict[str, Any] = {
        "questionId": exercise.id,
        "type": exercise.type,
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
        "undecided": judgement.undecided,
        "note": note(judgement),
    }
    if exercise.is_choice:
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
                    "seen": point.why,
                    "open": point.open,
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
    """What the student must know about how this verdict came about; "" when nothing is unusual."""
    language, exercise = judgement.language, judgement.exercise
    lines = []
    if judgement.fallback:
        kind = "choice" if exercise.is_choice else "text"
        keyed = "key" if exercise.has_key else "free"
        lines.append(say(f"fallback_{kind}_{keyed}", language, reason=judgement.fallback))
    if judgement.disagrees:
        lines.append(say("judge_disagrees", language, model=judgement.model_answer))
    if judgement.needs_teacher:
        opened = any(point.open for point in judgement.points)
        lines.append(say("code_ask_teacher" if opened else "ask_teacher", language))
        if judgement.doubt and not opened:
            lines.append(say(f"unsure_{judgement.doubt}", language))
    return " ".join(lines)
