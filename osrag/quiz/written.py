"""Written answers: encoder, shared words and the model judge each point, and the points are added up.

What a small model says about a point hardly agrees with human marks (r 0.2). The chance that it gives to Yes agrees
better (0.54) and adds to what encoder and words know, so only that chance is used (docs/experiments/quiz.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.structured import weigh
from osrag.quiz.evidence import Binder, Proof
from osrag.quiz.exercise import Exercise, RubricPoint
from osrag.quiz.grader import Grader, PointMatch, key_points, text_confidence
from osrag.quiz.judgement import APART, PASS, Judgement, PointResult, Step
from osrag.quiz.orders import without_orders
from osrag.quiz.prompt import MOST_POINTS, TextAnalysis, advice_task, growing, point_task, text_prompts
from osrag.wording import say

TEXT_TOKENS = 300  # of the advice
BELIEVED = 0.25  # share of full marks from which on the model's words about the answer are shown
MET = 0.6  # share of a point from which on it counts as made
SHOWN = 0.3  # share of a point from which on the student's words that meet it are shown
BENEFIT = 0.4  # share of full marks that passes where the model failed: the student has the benefit of the doubt


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
    """The verdict of encoder and words first, then the model on each point, then its advice."""
    marking = Marking(exercise, answer, proof, grader)
    first = marking.judged({})
    yield Step("verdict", replace(first, preliminary=chat is not None and bool(answer.strip())), proof.passages)
    final = first
    if not without_orders(answer):  # no points, and no doubt about it
        said = say("quiz_orders_only" if answer.strip() else "quiz_empty_answer", exercise.language)
        final = replace(first, confidence=0.95, analysis=said, suggestions=by_name(first)[1])
    elif chat is None:
        final = replace(first, fallback=say("quiz_no_model", exercise.language))
    else:
        for final in _with_model(marking, first, chat, options):
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

    def judged(self, chances: Mapping[int, float]) -> Judgement:
        """The verdict after the model gave `chances` to points, by their place."""
        fractions = self._grader.with_model(self.matches, chances, rubric=bool(self.exercise.rubric))
        results = tuple(
            self._result(point, match, fraction, chances.get(place))
            for place, (point, match, fraction) in enumerate(zip(self.points, self.matches, fractions, strict=True))
        )
        # A small model says Yes to an answer about the weather too. It is not heard on what is beside the question.
        heard_of = chances if any(match.near for match in self.matches) else {}
        votes = [heard_of.get(place, fraction) for place, fraction in enumerate(fractions)]
        sure, doubt = text_confidence(self.matches, votes, grounded=self._grounded)
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

    def _result(self, point: RubricPoint, match: PointMatch, fraction: float, chance: float | None) -> PointResult:
        near = self.proof.best(point.point)
        return PointResult(
            point.point,
            point.points,
            earned=earned(fraction, point.points),
            said=match.said if fraction >= SHOWN else "",
            proof=near.text if near else "",
            passage=near.passage if near else None,
            model="" if chance is None else vote_word(chance),
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


def chances(
    chat: ChatModel,
    exercise: Exercise,
    points: Sequence[str],
    fractions: Sequence[float],
    answer: str,
    options: ChatOptions,
) -> Iterator[tuple[int, float]]:
    """(place of a point, chance that the answer makes it), one after the other. Raises ModelFailed, ModelBusy.

    Of more than `MOST_POINTS` points those that encoder and words are least sure of are asked about.
    """
    unsure_first = sorted(range(len(points)), key=lambda place: abs(fractions[place] - 0.5))
    places = sorted(unsure_first[:MOST_POINTS])
    tasks = [point_task(exercise, points[place]) for place in places]
    words = (say("quiz_yes", exercise.language), say("quiz_no", exercise.language))
    options = replace(options, purpose="quiz_point")
    for place, prompt in zip(places, text_prompts(exercise, answer, tasks, points, chat.count_tokens), strict=True):
        yield place, weigh(chat, prompt, words, options)[0]


def vote_word(chance: float) -> str:
    """ "yes", "partly" or "no", for those who read the result."""
    return "yes" if chance >= 0.6 else "partly" if chance >= 0.3 else "no"


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


def _with_model(marking: Marking, first: Judgement, chat: ChatModel, options: ChatOptions) -> Iterator[Judgement]:
    """The judgement after the model was heard on every point, then with its advice; without them where it fails.

    It reads what counts of the answer and nothing else: an order in the rest cannot talk it round. Of its advice, what
    bank or book support is shown. Praise for an answer that earned next to nothing would contradict the marks beside
    it, so it is left out.
    """
    exercise, answer = marking.exercise, marking.counted
    points, fractions = [point.point for point in marking.points], [match.fraction for match in marking.matches]
    binder = Binder(exercise, marking.proof, "")
    heard: dict[int, float] = {}
    settled = first
    try:
        for place, chance in chances(chat, exercise, points, fractions, answer, options):
            heard[place] = chance
            yield replace(first, preliminary=True)
        settled = marking.judged(heard)
        if exercise.reasons:
            yield replace(settled, analysis=worked(exercise, marking.proof), suggestions=by_name(settled)[1])
            return
        yield settled
        task = advice_task(exercise, *made_and_missing(settled))
        (prompt,) = text_prompts(exercise, answer, [task], points, chat.count_tokens)
        options = replace(options, max_tokens=TEXT_TOKENS, temperature=0.2, purpose="quiz_text")
        for reply, _ in growing(chat, prompt, TextAnalysis, options):
            if reply is None:
                yield settled
                continue
            praise = binder.supported(reply.analysis) if settled.share >= BELIEVED else ""
            advice = binder.supported(reply.improvementSuggestions)
            said, missing = by_name(settled)
            yield replace(settled, analysis=praise or said, suggestions=advice or missing)
    except (ModelFailed, ModelBusy) as error:  # encoder and words stand; the student has the benefit of the doubt
        said, missing = by_name(settled)
        yield replace(
            settled,
            confidence=0.5,
            decided_by="fallback",
            is_correct=settled.is_correct or settled.share >= BENEFIT,
            analysis=said,
            suggestions=missing,
            fallback=str(error),
            preliminary=False,
        )


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
