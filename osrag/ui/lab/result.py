"""A solved exercise as HTML: the answer, the drawing with its player, the steps, the other results, the voices."""

from collections.abc import Sequence
from html import escape
from typing import Any

from osrag.app.voices import Voices
from osrag.lab.kind import Cell, Solution, Step
from osrag.lab.solve import Solved, result_name, sentence, shown
from osrag.lab.svg import svg
from osrag.lab.words import word
from osrag.types import Language
from osrag.ui.evidence import card
from osrag.wording import say

MOST_ROWS = 400  # of a trace on the page; a longer one is whole in the Markdown table and over the API
ICONS = {  # paths in a box of 16 × 16
    "first": ("M3 3h2v10H3zM13 3v10L6 8z",),
    "back": ("M10 2l2 2-4 4 4 4-2 2-6-6z",),
    "play": ("M4 3v10l9-5z", "M4 3h3v10H4zM9 3h3v10H9z"),
    "next": ("M6 2L4 4l4 4-4 4 2 2 6-6z",),
    "last": ("M11 3h2v10h-2zM3 3v10l7-5z",),
}


def result(solved: Solved, language: Language) -> str:
    """Everything that changes with the form. Empty while something is missing or wrong."""
    if solved.solution is None or solved.parameters is None:
        return ""
    return answer(solved, language) + figure(solved.solution, language) + steps(solved.solution, language)


def answer(solved: Solved, language: Language) -> str:
    """The result that is asked for, large, and the others in small."""
    if solved.solution is None or solved.parameters is None or solved.answer is None:
        return ""
    given = solved.parameters.model_dump()
    asked = str(given.get("ask", next(iter(solved.solution.results))))
    head = f"<span>{escape(result_name(asked, given, language))}</span>"
    value = escape(shown(solved.answer.value, solved.answer.unit, language))
    others = "".join(
        f"<div><dt>{escape(result_name(key, given, language))}</dt>"
        f"<dd>{escape(shown(one.value, one.unit, language))}</dd></div>"
        for key, one in solved.solution.results.items()
        if key != asked
    )
    rest = f'<dl class="lb-others">{others}</dl>' if others else ""
    return f'<section class="lb-answer" aria-live="polite">{head}<strong>{value}</strong></section>{rest}'


def figure(solution: Solution, language: Language) -> str:
    """The drawing over its player; without a drawing, the player of the sentences alone."""
    count = min(len(solution.steps), MOST_ROWS)
    drawn = f'<div class="lb-canvas">{svg(solution.figure(language))}</div>' if solution.figure else ""
    buttons = "".join(
        f'<button type="button" data-play="{name}" title="{escape(say(f"lab_{name}", language), quote=True)}" '
        f'aria-label="{escape(say(f"lab_{name}", language), quote=True)}">{_icon(name)}</button>'
        for name in ICONS
    )
    slider = (
        f'<input type="range" min="0" max="{count}" value="{count}" aria-label="{escape(say("lab_step", language))}">'
        f"<output>{count} / {count}</output>"
    )
    saves = [("svg", "SVG"), ("png", "PNG")] if drawn else []
    tools = "".join(_tool(name, text) for name, text in [*saves, ("markdown", say("lab_copy_table", language))])
    return (
        f'<figure class="lb-figure" tabindex="0" data-steps="{count}" '
        f'aria-label="{escape(say("lab_figure", language), quote=True)}">{drawn}'
        f'<p class="lb-say" aria-live="polite"></p><div class="lb-player">{buttons}{slider}</div>'
        f'<div class="lb-tools" data-done="{escape(say("lab_copied", language), quote=True)}">{tools}</div></figure>'
    )


def _icon(name: str) -> str:
    """The sign of a button; that of the play button has a second one, shown while it plays."""
    classes = ("is-play", "is-pause")
    return "".join(
        f'<svg viewBox="0 0 16 16" aria-hidden="true" class="{css}"><path d="{path}"/></svg>'
        for css, path in zip(classes, ICONS[name], strict=False)
    ).replace(' class="is-play"', "" if len(ICONS[name]) == 1 else ' class="is-play"')


def _tool(name: str, text: str) -> str:
    return f'<button type="button" class="lb-small" data-tool="{name}">{escape(text)}</button>'


def steps(solution: Solution, language: Language) -> str:
    """The trace as a table whose last column says why; where there is no table, the sentences alone."""
    head = [word("columns", key, language) for key in solution.columns]
    rows = "".join(_row(place, step, len(head), language) for place, step in enumerate(solution.steps[:MOST_ROWS], 1))
    left_out = len(solution.steps) - MOST_ROWS
    more = (
        f'<p class="lb-note">{escape(say("lab_rows_left_out", language, count=left_out))}</p>' if left_out > 0 else ""
    )
    why = say("lab_why", language)
    heads = "".join(f'<span role="columnheader">{escape(text)}</span>' for text in [*head, why])
    return (
        f'<div class="lb-scroll"><div class="lb-steps" role="table" style="--cols:{len(head)}" '
        f'aria-label="{escape(say("lab_steps", language), quote=True)}"><div role="row">{heads}</div>{rows}</div></div>'
        f"{more}"
    )


def _row(place: int, step: Step, columns: int, language: Language) -> str:
    cells: Sequence[Cell] = step.row
    inside = "".join(f'<span role="cell">{escape(shown(cell, "", language))}</span>' for cell in cells)
    told = "" if cells else " is-told"
    why = f'<span role="cell" class="lb-why{told}">{escape(sentence(step, language))}</span>'
    return f'<div role="row" data-at="{place}">{inside if cells else ""}{why}</div>'


def voices_html(found: Voices, language: Language) -> str:
    """The page of the book and the functions of Linux, as cards of the evidence panel."""
    parts: list[str] = []
    if found.page is not None:
        parts += [_heading("lab_voice_book", language), card(found.page, "", language)]
    if found.linux:
        parts += [_heading("lab_voice_kernel", language, version=found.version), f"<p>{escape(found.linux)}</p>"]
        parts += [card(chunk, found.version, language) for chunk in found.functions]
    return "".join(parts)


def _heading(key: str, language: Language, **values: Any) -> str:
    return f'<h3 class="ev-part">{escape(say(key, language, **values))}</h3>'
