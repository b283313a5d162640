"""The marks of an answer in C, point by point: what a parser sees first, then what the tests say.

A point that neither of them can tell is left open, and a teacher should look; it neither earns nor loses anything.
Names, layout and order of the code have no part in any of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from osrag.quiz.exercise import Exercise, RubricPoint
from osrag.quiz.programs.code import Code
from osrag.quiz.programs.program import Mistake, NeedKind, Program
from osrag.quiz.programs.same import form_of
from osrag.quiz.programs.structure import Finding, findings
from osrag.quiz.programs.trial import LEAK, MEMORY, Trial
from osrag.types import Language
from osrag.wording import say

Verdict = Literal["met", "missed", "open"]
# What a parser sees of these decides a point by itself: of 77 such findings in wrong solutions one was too kind. A call
# that is there, or comes first, says less: 21 of 135.
STRONG: frozenset[NeedKind] = frozenset(("paired", "loop_around", "checks"))
MOST_NAMED = 3  # failing cases that are named for a point


@dataclass(frozen=True, slots=True)
class Mark:
    """The verdict on one point of the rubric."""

    verdict: Verdict
    why: str = ""  # in the language of the exercise
    line: int = 0  # of the answer, from 1; 0 where no line shows it


@dataclass(frozen=True, slots=True)
class Marks:
    """The verdict on all points, and what else is to be said."""

    points: tuple[Mark, ...]
    tested: bool = False  # whether the tests had a part in it
    known: Mistake | None = None  # the answer is this mistake in other words


def mark(exercise: Exercise, program: Program, code: Code, trial: Trial | None) -> Marks:
    """The marks of a program; without a trial by its structure alone."""
    language, points = exercise.language, exercise.rubric
    everyone = tuple(range(1, len(points) + 1))
    if not code.functions or code.deep:
        why = say("code_too_deep" if code.deep else "code_none", language)
        return Marks(tuple(Mark("open" if code.deep else "missed", why) for _ in points))
    form = form_of(code)
    if program.starter and form == form_of(Code(program.starter)):
        return Marks(tuple(Mark("missed", say("code_starter", language)) for _ in points))
    tested = trial is not None and trial.state in ("ran", "stopped")
    if not (tested and trial is not None and trial.failed) and _is_one_of(form, program.solutions):
        return Marks(tuple(Mark("met", say("code_known_right", language)) for _ in points), tested)
    seen = {point: [one for one in findings(code, program.needs) if one.need.point == point] for point in everyone}
    by_code = {point: _by_structure(found, language) for point, found in seen.items()}
    known = next((mistake for mistake in program.mistakes if form == form_of(Code(mistake.code))), None)
    marks = by_code if trial is None or not tested else _by_tests(program, trial, seen, by_code, points, language)
    if known is not None:
        for point in everyone:
            verdict: Verdict = "missed" if point in known.fails else "met"
            if marks[point].verdict != verdict or not marks[point].why:
                key = "code_known_wrong" if verdict == "missed" else "code_known_rest"
                marks[point] = Mark(verdict, say(key, language))
    return Marks(tuple(marks[point] for point in everyone), tested, known)


def _is_one_of(form: object, programs: Sequence[str]) -> bool:
    return any(form == form_of(Code(one)) for one in programs)


# -- by structure


def _by_structure(found: Sequence[Finding], language: Language) -> Mark:
    """Missed where a need is broken or nowhere to be seen, met where what was seen is enough."""
    wrong = next((one for one in found if one.seen == "broken"), None)
    wrong = wrong or next((one for one in found if one.seen == "absent"), None)
    if wrong is not None:
        return Mark("missed", told(wrong, language), wrong.line)
    if any(one.seen == "unclear" for one in found) or not found:
        return Mark("open", say("code_cannot_tell", language))
    shown = next((one for one in found if one.need.kind in STRONG), found[0])
    enough = shown.need.kind in STRONG
    why = told(shown, language)
    return Mark("met" if enough else "open", why if enough else f"{why} {say('code_not_enough', language)}", shown.line)


def told(found: Finding, language: Language) -> str:
    """A finding as a sentence."""
    need = found.need
    key = f"code_{need.kind}_{found.seen}" if found.seen != "absent" else "code_absent"
    return say(key, language, line=found.line, first=need.first, second=need.second)


# -- by tests


def _by_tests(
    program: Program,
    trial: Trial,
    seen: Mapping[int, Sequence[Finding]],
    by_code: Mapping[int, Mark],
    points: Sequence[RubricPoint],
    language: Language,
) -> dict[int, Mark]:
    """The marks that tests and structure give together.

    Code that surely does the opposite of a point has missed it, whatever the tests say: a test does not show every
    race. A failing case costs the fewest points that explain all failing cases. A point is met if a case that speaks
    for it passed and none counts against it.
    """
    speaks = dict(program.cases)
    broken = {point for point, found in seen.items() if any(one.seen == "broken" for one in found)}
    sure = {point for point, one in by_code.items() if one.verdict == "met"} - broken
    failed = {name: speaks[name] for name, _ in trial.failed if name in speaks}
    missed = broken | blamed(list(failed.values()), spared=sure, explained=broken)
    said = dict(trial.failed)
    marks: dict[int, Mark] = {}
    for point in range(1, len(points) + 1):
        passed = [name for name in trial.passed if point in speaks.get(name, ())]
        against = [name for name, ones in failed.items() if point in ones]
        if point in broken:
            marks[point] = by_code[point]
        elif point in missed:
            named = " ".join(_case(name, said[name], trial, language) for name in against[:MOST_NAMED])
            marks[point] = Mark("missed", named, trial.line if {MEMORY, LEAK} & set(against) else 0)
        elif by_code[point].verdict == "missed":  # the call is not there, and no test minds
            marks[point] = Mark("open", f"{by_code[point].why} {say('code_but_passes', language)}")
        elif passed or point in sure or (trial.whole and seen[point]):
            why = by_code[point].why if point in sure else ""
            passes = say("code_passes", language, count=len(passed)) if passed else ""
            marks[point] = Mark("met", " ".join(filter(None, (why, passes))), by_code[point].line)
        else:
            marks[point] = replace(by_code[point], verdict="open", why=say("code_not_reached", language))
    if trial.failed and not missed:  # something is wrong, and nothing says with what
        marks = {point: replace(one, verdict="open") for point, one in marks.items()}
    return marks


def blamed(failed: Sequence[Sequence[int]], *, spared: set[int], explained: set[int]) -> set[int]:
    """The fewest points that explain all failing cases, of several sets the one that the cases name first.

    Each case lists points in the order of suspicion. Those in `spared` are taken only where a case has no other, and a
    case that one of `explained` explains needs no more.
    """
    left = [tuple(one for one in case if one not in spared) or tuple(case) for case in failed]
    left = [case for case in left if case and not explained & set(case)]
    suspects = sorted({point for case in left for point in case})
    for size in range(len(suspects) + 1):
        sets = [set(one) for one in combinations(suspects, size) if all(set(one) & set(case) for case in left)]
        if sets:
            return min(sets, key=lambda one: sum(min(case.index(point) for point in one & set(case)) for case in left))
    return set()


def _case(name: str, said: str, trial: Trial, language: Language) -> str:
    """A failing case as a sentence."""
    if name in (MEMORY, LEAK):
        return say("code_sanitizer", language, what=said, line=trial.line) if trial.line else f"{said}."
    if not said:
        return say("code_case_ended", language, case=name, how=ending(trial, language))
    return say("code_case_failed", language, case=name, said=said)


def ending(trial: Trial, language: Language) -> str:
    """How a run that did not come to its end ended."""
    return say(f"code_ended_{trial.ended}", language)
