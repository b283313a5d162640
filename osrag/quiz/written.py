"""Written answers: the grader judges each point, the points are added up, and the chat model gives advice.

What a small chat model says about a point hardly agrees with human marks (docs/experiments/quiz.md), so it has no part
in them.
"""

from collections.abc import Iterator
from dataclasses import replace

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.quiz.evidence import Binder, Proof
from osrag.quiz.exercise import Exercise, RubricPoint
from osrag.quiz.grader import Grader, PointMatch, key_points, text_confidence
from osrag.quiz.judgement import APART, PASS, Judgement, PointResult, Step
from osrag.quiz.orders import without_orders
from osrag.quiz.prompt import TextAnalysis, growing, text_prompt
from osrag.wording import say

TEXT_TOKENS = 300  # of the advice
BELIEVED = 0.25  # share of full marks from which on the model's words about the answer are shown
MET = 0.6  # share of a point from which on it counts as made
SHOWN = 0.3  # share of a point from which on the student's words that meet it are shown


def blank_steps(keyed: Judgement, proof: Proof) -> Iterator[Step]:
    """After the verdict of the key on a fill-in: the book's sentence and the bank's words say why, without a model."""
    prepared = worked(keyed.exercise, proof)
    proven = "" if prepared else proof.cited(f"{keyed.exercise.question} {keyed.correct_answer}")
    wrong = [str(n) for n, ok in enumerate(keyed.blanks, start=1) if not ok]
    final = replace(
        keyed,
        reasoning=proven,
        analysis=prepared or keyed.exercise.explanation or proven,
        knowledge_point=keyed.knowledge_point or proof.section,
        suggestions=say("quiz_blanks_wrong" if wrong else "quiz_all_met", keyed.language, blanks=", ".join(wrong)),
    )
    yield Step("evidence", final, proof.passages)
    yield Step("done", final, proof.passages)


def written_steps(
    exercise: Exercise, answer: str, proof: Proof, grader: Grader, chat: ChatModel | None, options: ChatOptions
) -> Iterator[Step]:
    """The verdict of the grader first, then the advice of the model."""
    marking = Marking(exercise, answer, proof, grader)
    first = marking.judged()
    yield Step("verdict", first, proof.passages)
    final = first
    if not without_orders(answer):  # no points, and no doubt about it
        said = say("quiz_orders_only" if answer.strip() else "quiz_empty_answer", exercise.language)
        final = replace(first, confidence=0.95, analysis=said, suggestions=by_name(first)[1])
    elif chat is None:
        final = replace(first, fallback=say("quiz_no_model", exercise.language))
    else:
        for final in _with_advice(marking, first, chat, options):
            yield Step("analysis", final, proof.passages)
    yield Step("done", replace(final, preliminary=False), proof.passages)


class Marking:
    """One answer beside the points it is judged by; what each finds in the answer is computed once."""

    def __init__(self, exercise: Exercise, answer: str, proof: Proof, grader: Grader) -> None:
        self.answer, self.proof, self._grader = answer, proof, grader
        self.exercise, self.points, self._grounded = read_as(exercise, proof, grader)
        wanted = [point.point for point in self.points]
        self.counted = grader.counted(exercise, wanted, answer)
        self.matches = grader.matches_of(exercise, wanted, self.counted)

    def judged(self) -> Judgement:
        """The verdict."""
        sure, doubt = text_confidence(self.matches, grounded=self._grounded)
        results = tuple(map(self._result, self.points, self.matches))
        found = Judgement(
            self.exercise,
            self.answer,
            is_correct=False,
            confidence=sure,
            doubt=doubt,
            decided_by="rubric",
            correct_answer=self.exercise.reference or "\n".join(point.point for point in self.points),
            knowledge_point=self.exercise.knowledge_point or self.proof.section,
            points=results,
        )
        return replace(found, is_correct=bool(results) and found.share >= PASS, reasoning=_reasoning(found))

    def _result(self, point: RubricPoint, match: PointMatch) -> PointResult:
        near = self.proof.best(point.point)
        return PointResult(
            point.point,
            point.points,
            earned=earned(match.fraction, point.points),
            said=match.said if match.fraction >= SHOWN else "",
            proof=near.text if near else "",
            passage=near.passage if near else None,
        )


def read_as(exercise: Exercise, proof: Proof, grader: Grader) -> tuple[Exercise, tuple[RubricPoint, ...], bool]:
    """The exercise as it is judged, with its points, and whether the teacher gave them.

    "First condition named" or "skips pinned frames" tell a person what to look for and say nothing that an answer, not
    even the model answer, could be compared with. So a rubric by which the model answer itself fails is left out: the
    sentences or lines of that answer take its place, and share its marks.
    """
    if exercise.rubric and exercise.program is None and not grader.readable(exercise):
        sentences = key_points(exercise.reference)
        each = sum(point.points for point in exercise.rubric) / len(sentences)
        return replace(exercise, rubric=()), tuple(RubricPoint(one, each) for one in sentences), True
    return exercise, *points_of(exercise, proof)


def points_of(exercise: Exercise, proof: Proof) -> tuple[tuple[RubricPoint, ...], bool]:
    """The points to judge by, and whether the teacher gave them: the rubric, else the reference, else the book."""
    if exercise.rubric:
        return exercise.rubric, True
    given = key_points(exercise.reference)
    of_book = [] if given else [statement.text for statement in proof.evidence.best(proof.scores, count=3)]
    return tuple(RubricPoint(text, 1.0) for text in given or of_book), bool(given)


def earned(fraction: float, points: float) -> float:
    """Points for a fraction: to the nearest quarter of a point, as a marker would give them."""
    step = 0.25 if points >= 1 else points / 4
    value = min(points, round(fraction * points / step) * step)
    return points if fraction >= 0.95 else value


def _reasoning(judgement: Judgement) -> str:
    """How many points are met, in one sentence; arithmetic, not the model's."""
    met = sum(point.earned >= 0.75 * point.points for point in judgement.points)
    score, full = f"{judgement.score:g}", f"{judgement.full_marks:g}"
    return say("quiz_points_line", judgement.language, met=met, count=len(judgement.points), score=score, full=full)


def _with_advice(marking: Marking, first: Judgement, chat: ChatModel, options: ChatOptions) -> Iterator[Judgement]:
    """The judgement with the advice of the model as it grows; with the points by name where it fails.

    It reads what counts of the answer and nothing else: an order in the rest cannot talk it round. Of its advice, what
    bank or book support is shown. Praise for an answer that earned next to nothing would contradict the marks beside
    it, so it is left out.
    """
    exercise, (said, missing) = marking.exercise, by_name(first)
    if exercise.reasons:
        yield replace(first, analysis=worked(exercise, marking.proof), suggestions=missing)
        return
    binder = Binder(exercise, marking.proof, "")
    named = replace(first, analysis=said, suggestions=missing)
    prompt = text_prompt(exercise, marking.counted, *made_and_missing(first), chat.count_tokens)
    options = replace(options, max_tokens=TEXT_TOKENS, temperature=0.2, purpose="quiz_text")
    try:
        for reply, _ in growing(chat, prompt, TextAnalysis, options):
            if reply is None:
                yield first
                continue
            praise = binder.supported(reply.analysis) if first.share >= BELIEVED else ""
            advice = binder.supported(reply.improvementSuggestions)
            yield replace(first, analysis=praise or said, suggestions=advice or missing)
    except (ModelFailed, ModelBusy) as error:  # the marks stand
        yield replace(named, fallback=str(error))


def worked(exercise: Exercise, proof: Proof) -> str:
    """The prepared way to the answer, a paragraph for each sentence; empty where there is none."""
    return "\n\n".join(map(proof.prepared, exercise.reasons))


def made_and_missing(judgement: Judgement) -> tuple[list[str], list[str]]:
    """The points that count as made, and the others, by name."""
    made = [point.point for point in judgement.points if point.earned >= MET * point.points]
    return made, [point.point for point in judgement.points if point.earned < MET * point.points]


def by_name(judgement: Judgement) -> tuple[str, str]:
    """A sentence that names the points that are made, and one that names those to add."""
    made, missing = made_and_missing(judgement)
    apart = APART[judgement.language]
    said = say("quiz_said" if made else "quiz_none_met", judgement.language, points=apart.join(made))
    return said, say("quiz_missing" if missing else "quiz_all_met", judgement.language, points=apart.join(missing))
