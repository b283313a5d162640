"""Practice as HTML: an exercise in words, a table for the student's trace, and the grade up to the first wrong step."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from osrag.app.voices import Voices
from osrag.lab.exercise import Exercise, TraceGrade, answers, grade_trace, says
from osrag.lab.kind import Cell, Level, Result
from osrag.lab.solve import sentence, shown
from osrag.lab.words import table, word
from osrag.types import Language
from osrag.ui.evidence import card
from osrag.ui.lab.form import title, unit_html
from osrag.ui.quiz_view import lines
from osrag.wording import say

MOST_ROWS = 80  # of the table that a student fills in; the text box takes any number
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a student handed in: a trace, an answer, or both."""

    rows: Rows = ()
    answer: str = ""
    choice: int | None = None  # the place of an option


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is right of a reply; None for what was not handed in."""

    trace: TraceGrade | None
    answer: bool | None
    mistake: str = ""  # of words.mistakes: the wrong way that leads to the answer


def judge(exercise: Exercise, reply: Reply) -> Verdict:
    """Grade the parts that were handed in."""
    rows = list(reply.rows)
    while rows and not any(cell.strip() for cell in rows[-1]):
        rows.pop()
    trace = grade_trace(exercise.kind, exercise.parameters, rows) if rows else None
    if reply.choice is not None:
        option = exercise.options[reply.choice]
        return Verdict(trace, not option.mistake, option.mistake)
    if not reply.answer.strip():
        return Verdict(trace, None)
    right = answers(exercise.kind, exercise.parameters, reply.answer)
    wrong = (
        one.mistake
        for one in exercise.options
        if one.mistake and says(Result(one.value, exercise.answer.unit), reply.answer)
    )
    return Verdict(trace, right, "" if right else next(wrong, ""))


def exercise_html(exercise: Exercise, level: Level, language: Language) -> str:
    """The exercise and everything it is answered with."""
    tags = "".join(
        f"<span>{escape(text)}</span>"
        for text in (title(exercise.kind, language), say(f"quiz_level_{level}", language))
    )
    asked = f'<div class="qz-tags">{tags}</div><p>{lines(exercise.question(language))}</p>'
    text = f'<article class="qz-question">{asked}</article>'
    return text + _trace(exercise, language) + _answer(exercise, language) + _buttons(language)


def _trace(exercise: Exercise, language: Language) -> str:
    """A table with a cell for each cell of the computed trace; a pasted table fills it from the cell on."""
    solution = exercise.kind.solve(exercise.parameters)
    rows = [step.row for step in solution.steps if step.row][:MOST_ROWS]
    if not rows:
        return ""
    heads = "".join(f"<th>{escape(word('columns', key, language))}</th>" for key in solution.columns)
    kinds = [_hint([row[place] for row in rows], language) for place in range(len(solution.columns))]
    body = "".join(
        f"<tr><th>{number}</th>" + "".join(_cell(number, place, kinds[place]) for place in range(len(row))) + "</tr>"
        for number, row in enumerate(rows, 1)
    )
    head, hint, as_text = (escape(say(f"lab_{key}", language)) for key in ("your_trace", "trace_hint", "trace_text"))
    return (
        f'<h4 class="lb-head">{head}</h4><p class="lb-note">{hint}</p>'
        f'<div class="lb-scroll"><table class="lb-trace"><thead><tr><th></th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f'<details class="lb-fold"><summary>{as_text}</summary><div class="lb-field is-wide">'
        f'<textarea class="lb-trace-text" rows="4" spellcheck="false" aria-label="{as_text}"></textarea>'
        "</div></details>"
    )


def _cell(row: int, column: int, hint: str) -> str:
    said = f'aria-label="{row}/{column + 1}" placeholder="{escape(hint, quote=True)}"'
    return f'<td><input type="text" data-cell {said}></td>'


def _hint(cells: Sequence[Cell], language: Language) -> str:
    """How a cell of this column is written."""
    filled = [cell for cell in cells if cell is not None]
    if filled and all(isinstance(cell, bool) for cell in filled):
        return f"{word('units', 'yes', language)}/{word('units', 'no', language)}"
    return "a, b" if any(isinstance(cell, tuple) for cell in filled) else ""


def _answer(exercise: Exercise, language: Language) -> str:
    small = unit_html(exercise.answer.unit, language)
    box = (
        f'<label class="lb-field is-wide"><span>{escape(say("lab_your_answer", language))}{small}</span>'
        '<input type="text" class="lb-typed" spellcheck="false"></label>'
    )
    if len(exercise.options) < 2:
        return box
    choices = "".join(
        f'<label><input type="radio" name="lb-choice" value="{place}"> '
        f"<span>{escape(shown(option.value, exercise.answer.unit, language))}</span></label>"
        for place, option in enumerate(exercise.options)
    )
    head = escape(say("lab_choices", language))
    return f'{box}<details class="lb-fold lb-choices"><summary>{head}</summary><div>{choices}</div></details>'


def _buttons(language: Language) -> str:
    names = (("check", "lb-main"), ("twin", ""), ("solution", ""), ("take", ""), ("share", ""))
    made = "".join(
        f'<button type="button" class="lb-button {css}" data-act="{name}">'
        f"{escape(say(f'lab_{name}', language))}</button>"
        for name, css in names
    )
    done = escape(say("lab_copied", language), quote=True)
    below = '<div class="lb-verdict"></div><div class="lb-shown"></div>'
    return f'<div class="lb-buttons" data-done="{done}">{made}</div>{below}'


def verdict_html(exercise: Exercise, verdict: Verdict, found: Voices, language: Language) -> str:
    """How far the trace is right, what the first wrong cell should be and why, and whether the answer is right."""
    if verdict.trace is None and verdict.answer is None:
        return f'<p class="lb-note">{escape(say("lab_nothing_given", language))}</p>'
    parts: list[str] = []
    wrong = verdict.answer is False or (verdict.trace is not None and bool(verdict.trace.step))
    if verdict.trace is not None:
        parts += _trace_verdict(verdict.trace, language)
    if verdict.answer is not None:
        kind, key = ("right", "lab_answer_right") if verdict.answer else ("wrong", "lab_answer_wrong")
        parts.append(_head(kind, say(key, language)))
    if verdict.mistake:
        named = table()["mistakes"].get(verdict.mistake, {}).get(language, verdict.mistake)
        parts.append(f"<p>{escape(say('lab_mistake', language, mistake=named))}</p>")
    page = card(found.page, "", language) if wrong and found.page is not None else ""
    return f'<section class="qz-verdict" aria-live="polite">{"".join(parts)}</section>{page}'


def _trace_verdict(trace: TraceGrade, language: Language) -> list[str]:
    score = say("lab_trace_score", language, right=trace.right, total=trace.total, percent=f"{trace.score:.0%}")
    if trace.step is None:
        return [_head("right", score)]
    column = word("columns", trace.column, language)
    seen, expected = trace.seen.strip() or "–", shown(trace.expected, "", language)
    first = say("lab_first_wrong", language, row=trace.right + 1, column=column, seen=seen, expected=expected)
    told = [f"<p><b>{escape(first)}</b></p>", f"<p>{escape(sentence(trace.step, language))}</p>"]
    if trace.step.rule:
        values = {name: shown(value, "", language) for name, value in trace.step.values.items()}
        rule = word("rules", trace.step.rule, language, **values)
        told.append(f'<p class="qz-note">{escape(say("lab_rule", language, rule=rule))}</p>')
    return [_head("partly" if trace.right else "wrong", score), *told]


def _head(kind: str, text: str) -> str:
    return f'<header class="qz-head is-{kind}"><strong>{escape(text)}</strong></header>'
