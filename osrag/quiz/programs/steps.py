"""An answer in C, judged: the structure at once, then the tests where the operator lets programs run."""

from collections.abc import Iterator
from dataclasses import replace

from osrag.quiz.evidence import Proof
from osrag.quiz.exercise import Exercise, RubricPoint
from osrag.quiz.grader import Grader
from osrag.quiz.judgement import APART, PASS, Judgement, PointResult, Step
from osrag.quiz.programs.code import Code, code_in, is_code, prose_in
from osrag.quiz.programs.marking import Mark, Marks, ending, mark
from osrag.quiz.programs.program import Program
from osrag.quiz.programs.trial import Trial, attempt
from osrag.quiz.written import MET
from osrag.types import Language
from osrag.wording import say

MOST_WARNINGS = 5  # of the compiler that are shown
SURE, BY_CODE, UNSURE = 0.95, 0.8, 0.5  # confidence: by tests, by structure, with points left open


def is_program(exercise: Exercise, answer: str) -> bool:
    """Whether an answer is judged as a program: the exercise is one in C, and so is the answer, or nothing is."""
    if exercise.type != "programming":
        return False
    if exercise.program is not None and exercise.program.tests:
        return True
    return (exercise.program is not None or is_code(exercise.reference)) and is_code(answer)


def program_steps(exercise: Exercise, answer: str, proof: Proof, grader: Grader, *, runs: bool) -> Iterator[Step]:
    """The verdict of the structure first, then that of the tests."""
    exercise = with_points(exercise)
    program = exercise.program or Program()
    if not program.solutions:
        program = replace(program, solutions=(code_in(exercise.reference),))
    code = Code(code_in(answer))
    trial: Trial | None = None
    said = _said(exercise, program, answer, grader)
    first = _judged(exercise, answer, code, mark(exercise, program, code, None), said, proof, None, runs=runs)
    testing = runs and bool(program.tests) and bool(code.functions) and not code.deep
    yield Step("verdict", replace(first, preliminary=testing), proof.passages)
    if testing:
        trial = attempt(program, code.source)
        first = _judged(exercise, answer, code, mark(exercise, program, code, trial), said, proof, trial, runs=runs)
    yield Step("done", first, proof.passages)


def with_points(exercise: Exercise) -> Exercise:
    """The exercise with a rubric: without one, that the program does what is asked is its one point."""
    if exercise.rubric:
        return exercise
    return replace(exercise, rubric=(RubricPoint(say("code_whole", exercise.language), 1.0),))


def _said(exercise: Exercise, program: Program, answer: str, grader: Grader) -> dict[int, Mark]:
    """The points that words decide, by the words beside the code."""
    places = [need.point for need in program.needs if need.kind == "says"]
    prose = prose_in(answer)
    if not places or not prose:
        return {point: Mark("missed", say("code_unsaid", exercise.language)) for point in places}
    matches = grader.matches(exercise, [exercise.rubric[point - 1].point for point in places], prose)
    return {
        point: Mark("met" if match.fraction >= MET else "missed", match.said)
        for point, match in zip(places, matches, strict=True)
    }


def _judged(
    exercise: Exercise,
    answer: str,
    code: Code,
    marks: Marks,
    said: dict[int, Mark],
    proof: Proof,
    trial: Trial | None,
    *,
    runs: bool,
) -> Judgement:
    """The judgement that follows from marks; what the points add up to, and no more."""
    language = exercise.language
    every = [said.get(place, one) for place, one in enumerate(marks.points, start=1)]
    points = []
    for point, one in zip(exercise.rubric, every, strict=True):
        near = proof.best(point.point)
        points.append(
            PointResult(
                point.point,
                point.points,
                earned=point.points if one.verdict == "met" else 0.0,
                said=code.line(one.line),
                proof=near.text if near else "",
                passage=near.passage if near else None,
                why=f"{say('code_line', language, line=one.line)} {one.why}" if one.line else one.why,
                open=one.verdict == "open",
            )
        )
    found = Judgement(
        exercise,
        answer,
        is_correct=False,
        confidence=UNSURE if any(one.open for one in points) else SURE if marks.tested else BY_CODE,
        decided_by="tests" if marks.tested else "code",
        correct_answer=exercise.reference,
        knowledge_point=exercise.knowledge_point or proof.section,
        points=tuple(points),
    )
    found = replace(found, is_correct=found.share >= PASS)
    why = [marks.known.why] if marks.known and marks.known.why else []
    return replace(
        found,
        reasoning=_line(found),
        analysis="\n".join([*why, *_run(trial, language, tests=_tested(exercise), runs=runs)]),
        suggestions=_next(found),
    )


def _next(judgement: Judgement) -> str:
    """The points that are missed, by name."""
    missing = [point.point for point in judgement.points if not point.earned and not point.open]
    if missing:
        return say("quiz_missing", judgement.language, points=APART[judgement.language].join(missing))
    return "" if any(point.open for point in judgement.points) else say("quiz_all_met", judgement.language)


def _tested(exercise: Exercise) -> bool:
    return exercise.program is not None and bool(exercise.program.tests)


def _line(judgement: Judgement) -> str:
    """How many points are met and how many are open, in one sentence."""
    met = sum(point.earned > 0 for point in judgement.points)
    open_ = sum(point.open for point in judgement.points)
    score, full = f"{judgement.score:g}", f"{judgement.full_marks:g}"
    key = "code_points_open" if open_ else "quiz_points_line"
    return say(key, judgement.language, met=met, count=len(judgement.points), open=open_, score=score, full=full)


def _run(trial: Trial | None, language: Language, *, tests: bool, runs: bool) -> list[str]:
    """What compiler and tests said, a sentence each."""
    if trial is None:
        return [say("code_waits" if runs else "code_not_run", language)] if tests else []
    lines = []
    match trial.state:
        case "ran" | "stopped":
            count = len(trial.passed)
            lines.append(say("code_tests", language, passed=count, count=count + len(trial.failed)))
            if trial.state == "stopped":
                lines.append(say("code_stopped", language, how=ending(trial, language)))
        case "not_compiled" if trial.line:
            lines.append(say("code_not_compiled", language, line=trial.line, told=trial.told))
        case "not_compiled" if trial.ended != "exit":
            lines.append(say("code_compiling_ended", language, how=ending(trial, language)))
        case "not_compiled":
            lines.append(say("code_not_linked", language, name=trial.told))
        case "suspect":
            lines.append(say("code_suspect", language, word=trial.told))
        case "not_run":
            lines.append(say("code_busy" if trial.told == "busy" else "code_too_long", language))
    for number, words in trial.warnings[:MOST_WARNINGS]:
        lines.append(say("code_warning", language, line=number, told=words))
    return lines
