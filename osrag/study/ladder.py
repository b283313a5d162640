"""The ladder of hints of an exercise, run by the server: a question back, the page, what is missed, a twin, the answer.

Hints that give little before they give more cost no learning; answers handed out do (Bastani et al., PNAS 2025).
A student climbs one rung at a time, after an attempt. Hints of the bank are prepared; those of an exercise that a
student typed in are composed of its page and of what its key or its points leave open.
"""

import zlib
from collections import deque
from dataclasses import dataclass, replace
from typing import Literal, get_args

from osrag.lab.catalog import KINDS
from osrag.lab.exercise import exercise as made_by_lab
from osrag.lab.solve import as_markdown, shown
from osrag.lab.solve import link as lab_link
from osrag.quiz.bank import Bank
from osrag.quiz.evidence import Proof
from osrag.quiz.exercise import Exercise
from osrag.quiz.explain import explain, prepared
from osrag.quiz.judge import Judge, checked
from osrag.quiz.judgement import by_key, right_answer
from osrag.quiz.programs.blocks import as_markdown as text_as_markdown
from osrag.quiz.programs.steps import is_program, program_steps
from osrag.quiz.written import MET, Marking
from osrag.text import squeeze
from osrag.types import Passage
from osrag.wording import say

Rung = Literal["ask", "page", "point", "twin", "solution"]
RUNGS: tuple[Rung, ...] = get_args(Rung)


@dataclass(frozen=True, slots=True)
class Help:
    """What a rung says, in Markdown, and the pages it rests on."""

    rung: Rung
    text: str
    passages: tuple[Passage, ...] = ()
    lab: tuple[tuple[str, str], ...] = ()  # the query of a link that plays the twin in the lab


def next_rung(climbed: tuple[Rung, ...], top: Rung | None) -> Rung | None:
    """The rung above those climbed, as far as `top` lets go; None at the top or where there is no help."""
    allowed = RUNGS[: RUNGS.index(top) + 1] if top else ()
    return next((rung for rung in allowed if rung not in climbed), None)


def climb(judge: Judge, bank: Bank, exercise: Exercise, answer: str, rung: Rung) -> Help:
    """The help of a rung for this attempt. Raises BadInput for an exercise or an answer out of bounds."""
    checked(exercise, answer)
    match rung:
        case "ask":
            return _ask(judge, exercise)
        case "page":
            return _page(judge, exercise)
        case "point":
            return _point(judge, exercise, answer)
        case "twin":
            return _twin(judge, bank, exercise)
        case "solution":
            whole = deque(explain(judge, exercise, answer), maxlen=1).pop()
            return Help(rung, whole.text, whole.passages)


def _ask(judge: Judge, exercise: Exercise) -> Help:
    if exercise.hint:
        return Help("ask", exercise.hint.ask)
    return Help("ask", say("hint_ask", exercise.language, section=judge.find(exercise).section))


def _page(judge: Judge, exercise: Exercise) -> Help:
    """The words of the book to read, with their page."""
    language = exercise.language
    if exercise.hint:
        quoted = replace(exercise, page_quote=exercise.hint.quote, reasons=())
        passages = _holding(judge.find(quoted), exercise.hint.quote)
        return Help("page", say("hint_page", language, quote=exercise.hint.quote), passages)
    proof = judge.find(exercise)
    return Help("page", say("hint_page_own", language, section=proof.section), proof.passages[:1])


def _holding(proof: Proof, quote: str) -> tuple[Passage, ...]:
    """The passage with these words as number 1, else the first one."""
    wanted = squeeze(quote)
    found = [passage for passage in proof.passages if wanted in squeeze(passage.chunk.text)] or [*proof.passages]
    return tuple(replace(passage, number=1) for passage in found[:1])


def _point(judge: Judge, exercise: Exercise, answer: str) -> Help:
    """The first thing that the attempt misses."""
    language = exercise.language
    if is_program(exercise, answer):
        return _point_of_program(judge, exercise, answer)
    key = missed(judge, exercise, answer)
    if key is None:
        return Help("point", say("hint_nothing_missed", language))
    if exercise.hint and (told := exercise.hint.point(key)):
        return Help("point", told)
    kind = "option" if exercise.is_choice else "blank" if exercise.type == "fill_blank" else "point"
    return Help("point", say(f"hint_missed_{kind}", language, place=key))


def _point_of_program(judge: Judge, exercise: Exercise, answer: str) -> Help:
    """The first point that a program misses, with what was seen of it and where."""
    language = exercise.language
    steps = program_steps(exercise, answer, judge.find(exercise), judge.grader, runs=judge.runs)
    points = enumerate(deque(steps, maxlen=1).pop().judgement.points, start=1)
    place, point = next(((n, one) for n, one in points if not one.earned and not one.open), (0, None))
    if point is None:
        return Help("point", say("hint_nothing_missed", language))
    told = exercise.hint.point(str(place)) if exercise.hint else ""
    seen = say("code_hint", language, seen=point.why) if point.why else ""
    return Help("point", "\n\n".join(filter(None, [told or say("hint_missed_point", language, place=place), seen])))


def missed(judge: Judge, exercise: Exercise, answer: str) -> str | None:
    """Where an attempt first goes wrong: a letter that is wrong or left out, else the number of a blank or a point.

    None where nothing is missed. A written answer is held against its points by the grader alone.
    """
    keyed = by_key(exercise, answer)
    if keyed is not None and exercise.is_choice:
        picked, right = set(keyed.read_as), set(keyed.right_keys)
        if exercise.type != "multiple_choice":
            return next((key for key in keyed.read_as if key not in right), None)
        wrong = [option.key for option in exercise.options if (option.key in picked) != (option.key in right)]
        return next((key for key in wrong if key in picked), wrong[0] if wrong else None)
    if keyed is not None:
        return next((str(number) for number, right in enumerate(keyed.blanks, start=1) if not right), None)
    if exercise.is_choice:
        return None
    found = Marking(exercise, answer, judge.find(exercise), judge.grader).judged()
    points = enumerate(found.points, start=1)
    return next((str(number) for number, point in points if point.earned < MET * point.points), None)


def _twin(judge: Judge, bank: Bank, exercise: Exercise) -> Help:
    """Another exercise that is solved alike, with its solution."""
    language, named = exercise.language, exercise.hint.twin if exercise.hint else ""
    if named.startswith("lab:"):
        return _lab_twin(named.removeprefix("lab:"), exercise)
    twin = bank.get(f"{named}/{language}") if named else _alike(bank, exercise)
    if twin is None:
        return Help("twin", say("hint_no_twin", language))
    proof = judge.find(twin)
    told = "\n\n".join(
        [f"**{say('quiz_right_label', language)}** {_shown(right_answer(twin))}", *prepared(twin, "", proof)]
    )
    options = "\n".join(f"- {option.key}. {option.text}" for option in twin.options)
    text = "\n\n".join(filter(None, [text_as_markdown(twin.question), options, told]))
    return Help("twin", text, proof.passages)


def _shown(answer: str) -> str:
    """An answer in Markdown; a program begins below what stands before it."""
    shown = text_as_markdown(answer)
    return f"\n\n{shown}" if shown.startswith("```") else shown


def _alike(bank: Bank, exercise: Exercise) -> Exercise | None:
    """Another one of the bank on the same knowledge point, else of the same section; of a program another program."""
    kind = {"type": "programming"} if exercise.type == "programming" else {}
    for field in ("knowledge_point", "section", *(["chapter"] if kind else [])):
        if wanted := getattr(exercise, field):
            found = bank.find(exercise.language, **{field: wanted}, **kind)
            others = [name for name in found if name != exercise.name]
            if others:
                return bank.get(others[0])
    return None


def _lab_twin(kind: str, exercise: Exercise) -> Help:
    """An exercise of the lab with other numbers, computed; the same one each time that it is asked for."""
    language = exercise.language
    made = made_by_lab(KINDS[kind], zlib.crc32(exercise.id.encode()), "easy")
    answer = shown(made.answer.value, made.answer.unit, language)
    table = as_markdown(made.kind.solve(made.parameters), language)
    told = f"**{say('quiz_right_label', language)}** {answer}"
    text = "\n\n".join([made.question(language), table, told])
    return Help("twin", text, lab=tuple(lab_link(made.kind, made.parameters).items()))
