"""Prepared hints of bank questions: a question back, words of the book to read, what one overlooks, a twin.

A file `hints/chNN.hints.jsonl` beside a bank has a line for each exercise:

    {"id": "ch05-001", "twin": "ch05-004", "zh": {"ask": "…？", "quote": "…", "points": {"A": "…"}}, "en": {…}}

A hint leads; it never says the key (`gives_away`).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from osrag.quiz.beside import TwoSided, attached
from osrag.quiz.exercise import FALSE, TRUE, Exercise, Hint
from osrag.quiz.programs.program import Program
from osrag.text import folded, squeeze

SHORTEST = 4  # letters of an option or a point that are told apart from common words
CODE = 8  # characters of a line of C without blanks; shorter ones stand in every program
_LETTER = r"(?:选|选项|答案是?|option|choose|pick|answer is)\s*[(（]?{}(?![a-z])"
_VERDICT = {
    TRUE: re.compile(r"(?:说法|陈述|这句话)是?(?:正确|对)的|statement is (?:true|right|correct)", re.I),
    FALSE: re.compile(
        r"(?:说法|陈述|这句话)是?(?:错误?的|不正确|不对|不成立)|statement is (?:false|wrong|incorrect|not true)", re.I
    ),
}


class Side(BaseModel):
    """A hint in one language."""

    model_config = ConfigDict(extra="forbid", str_min_length=1)
    ask: str
    quote: str
    points: dict[str, str]


class HintLine(TwoSided):
    """One line of a file."""

    twin: str = ""
    zh: Side | None = None
    en: Side | None = None


def with_hints(exercises: Sequence[Exercise], folder: Path) -> tuple[list[Exercise], list[str]]:
    """The exercises with their hints; a hint that does not fit, or gives the key away, is left out and named."""
    return attached(
        exercises,
        folder,
        "hints",
        HintLine,
        field="hint",
        twice="has two hints",
        made=lambda line, side: Hint(side.ask, side.quote, tuple(side.points.items()), line.twin),
        unfit=unfit,
    )


def unfit(exercise: Exercise, hint: Hint) -> str:
    """Why this hint cannot be that of the exercise; empty where it can."""
    keys, wanted = [key for key, _ in hint.points], wanted_points(exercise)
    if keys != wanted:
        return f"points for {', '.join(keys) or 'nothing'}; wanted: {', '.join(wanted)}"
    told = (hint.ask, hint.quote, *(text for _, text in hint.points))
    return next(
        (f"{text[:40]!r} gives the key away: {what}" for text in told for what in gives_away(exercise, text)), ""
    )


def wanted_points(exercise: Exercise) -> list[str]:
    """What a hint has points for: the wrong options, of a choice with several answers the right ones too; else the
    blanks or the points of the rubric, by number.
    """
    if exercise.type == "true_false":
        return [key for key in (TRUE, FALSE) if key not in exercise.answer]
    if exercise.is_choice:
        keys = [option.key for option in exercise.options]
        return keys if exercise.type == "multiple_choice" else [key for key in keys if key not in exercise.answer]
    many = len(exercise.answer) if exercise.type == "fill_blank" else max(1, len(exercise.rubric))
    return [str(number) for number in range(1, many + 1)]


def gives_away(exercise: Exercise, text: str) -> Iterator[str]:
    """What of the key stands in a text and not in the question."""
    plain, asked = folded(text), folded(exercise.question)
    for answer in _keys(exercise):
        key = folded(answer)
        if key and key not in asked and _stands(key, text, plain):
            yield answer
    if exercise.type == "true_false":
        yield from (match[0] for key in exercise.answer if (match := _VERDICT[key].search(text)))
    elif exercise.is_choice:
        letters = (re.search(_LETTER.format(key), text, re.I) for key in exercise.answer)
        yield from (match[0] for match in letters if match)
    elif exercise.type == "programming":
        yield from _code(exercise, text)


def _code(exercise: Exercise, text: str) -> Iterator[str]:
    """Lines of a solution, and calls that a point of the rubric asks for, which the student has not been given."""
    program = exercise.program or Program()
    given, told = f"{exercise.question} {exercise.knowledge_point} {program.starter}", squeeze(text)
    for solution in program.solutions or (exercise.reference,):
        lines = (line.strip().rstrip(" {;") for line in solution.splitlines())
        yield from (line for line in lines if len(code := squeeze(line)) >= CODE and code in told and line not in given)
    asked = {call for need in program.needs for call in (need.first, need.second) if call and call not in given}
    yield from sorted(call for call in asked if re.search(rf"\b{call}\b", text, re.A))


def _keys(exercise: Exercise) -> Iterator[str]:
    if exercise.type == "fill_blank":
        for blank in exercise.answer:
            yield from blank.split("|")
    elif exercise.type == "single_choice":
        yield from (option.text for option in exercise.options if option.key in exercise.answer)
    for point in exercise.rubric:
        yield re.split(r"[:：]", point.point, maxsplit=1)[-1]


def _stands(key: str, text: str, plain: str) -> bool:
    if key.isdigit():  # a number by itself, not within another
        return key in re.findall(r"\d+", text.replace(",", "").replace(" ", ""))
    if key.isascii() and len(key) < SHORTEST:
        return key in re.findall(r"[a-z]+", text.lower())
    return len(key) > 1 and key in plain
