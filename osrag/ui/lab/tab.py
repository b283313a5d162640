"""The lab tab: one component, whose script sends what the visitor changes and shows what comes back.

Every function here answers from its argument alone, so nothing of a visitor is kept on the server; all but
`lab_read_on` in a few milliseconds and without a model.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any, get_args

import gradio as gr

from osrag.app.computed import read_exercise
from osrag.app.parts import Parts
from osrag.app.voices import voices
from osrag.lab.catalog import KINDS, kind_named
from osrag.lab.exercise import Exercise, exercise, rows_of
from osrag.lab.kind import Kind, Level
from osrag.lab.reading import Reading, read
from osrag.lab.reading.by_model import doubtful
from osrag.lab.solve import Solved, as_markdown, link, solve
from osrag.types import Language
from osrag.ui.evidence import panel_functions
from osrag.ui.lab.form import form, picker
from osrag.ui.lab.page import page, readings_html
from osrag.ui.lab.practice import Reply, exercise_html, judge, verdict_html
from osrag.ui.lab.result import result, voices_html
from osrag.ui.scripts import Scripts
from osrag.ui.theme import LAB_SCRIPT, SCRIPT
from osrag.wording import say

Asked = dict[str, Any]  # what the script sends
FIRST = "lru"  # of the kinds, on an empty visit
PAGE_KEYS = ("lab", "lang", "q", "exercise", "__theme")  # of a link; they are no parameters
MOST_CHARS = 120_000  # of all fields together: room for 10,000 references of ten digits


class LabTab:
    """The component of the tab. Make it inside `gr.Tab`."""

    def __init__(self, parts: Parts, scripts: Scripts) -> None:
        self._parts = parts
        own = [
            scripts.behind(one, scripts.model if one.__name__ == "lab_read_on" else scripts.quick)
            for one in self.functions()
        ]
        script = "\n".join(path.read_text(encoding="utf-8") for path in (SCRIPT, LAB_SCRIPT))
        self.panel = gr.HTML(
            '<div class="lb"></div>',
            elem_id="os-lab",
            js_on_load=script,
            server_functions=[*panel_functions(parts, scripts), *own],
        )

    def functions(self) -> list[Callable[[Asked], Any]]:
        """What the script may call; a browser sends one argument only."""
        parts = self._parts

        def lab_voices(asked: Asked) -> Asked:
            """The page of the book and the functions of Linux for a kind."""
            language = language_of(asked)
            return {"html": voices_html(voices(parts, kind_of(asked), language), language)}

        def lab_grade(asked: Asked) -> Asked:
            """The verdict on a reply to the exercise of a seed, and the first wrong cell."""
            language, made = language_of(asked), exercise_of(asked)
            verdict = judge(made, reply_of(asked, made))
            found = voices(parts, made.kind, language)
            place: Asked = {"row": None, "column": None}
            if verdict.trace is not None and verdict.trace.step is not None:
                columns = made.kind.solve(made.parameters).columns
                place = {"row": verdict.trace.right, "column": columns.index(verdict.trace.column)}
            return {"html": verdict_html(made, verdict, found, language), **place}

        def lab_read(asked: Asked) -> Asked:
            """How a pasted text reads: `readings`, each with what opens it in the form, and HTML that offers them.

            `doubtful` tells that `lab_read_on` may find more.
            """
            language = language_of(asked)
            found = read(str(asked.get("text", ""))[:MOST_CHARS], parts.checker)
            more = found is not None and doubtful(found)
            waiting = f'<p class="lb-note" role="status">{escape(say("lab_reading_on", language))}</p>' if more else ""
            told_so_far = pasted(found, language)
            return {**told_so_far, "html": told_so_far["html"] + waiting, "doubtful": more}

        def lab_read_on(asked: Asked) -> Asked:
            """As `lab_read`, with what the model makes of a text that is in doubt."""
            return pasted(read_exercise(str(asked.get("text", ""))[:MOST_CHARS], parts), language_of(asked))

        return [lab_page, lab_solve, lab_read, lab_read_on, lab_exercise, lab_grade, lab_voices]


def lab_page(asked: Asked) -> Asked:
    """The whole tab for a kind, with the form filled with `values`, or with an easy example where there are none.

    `link` tells that the values come from a link.
    """
    language, kind = language_of(asked), kind_of(asked)
    values = {name: text for name, text in values_of(asked).items() if name not in PAGE_KEYS}
    filled = needing(solve(kind, values), asked) if values else example(kind, seed_of(asked))
    shown_values = filled.given if filled.parameters is None else filled.parameters.model_dump()
    named = str(asked.get("kind", ""))
    notice = say("lab_unknown", language, name=named[:40]) if named and named not in KINDS else ""
    html = page(picker(kind, language), form(kind, shown_values, language), notice, language)
    return {"html": html, "kind": kind.name, **told(filled, language)}


def lab_solve(asked: Asked) -> Asked:
    """What changes with the form: the result, or what is wrong at which field."""
    return told(needing(solve(kind_of(asked), values_of(asked)), asked), language_of(asked))


def pasted(found: Reading | None, language: Language) -> Asked:
    """The readings of a pasted text: what opens each in the form, and HTML that offers them."""
    readings = (found, *found.also) if found is not None else ()
    opens = [{"kind": one.kind.name, "values": one.values, "needs": list(one.solved().missing)} for one in readings]
    return {"readings": opens, "html": readings_html(readings, language)}


def lab_exercise(asked: Asked) -> Asked:
    """The exercise of a kind, a level and a seed; `solve` adds its solution and the values that open it in the form."""
    language, made = language_of(asked), exercise_of(asked)
    if not asked.get("solve"):
        return {"html": exercise_html(made, level_of(asked), language)}
    solved = Solved(made.kind, {}, made.parameters, solution=made.kind.solve(made.parameters))
    return {"values": made.parameters.model_dump(mode="json"), **told(solved, language)}


def told(solved: Solved, language: Language) -> Asked:
    """`{result, faults, link, markdown}`; an empty result keeps the old one on the page."""
    faults = {fault.field: fault.sentence(language) for fault in reversed(solved.faults)}
    faults |= {name: say("lab_missing", language) for name in solved.missing}
    made = solved.parameters is not None and solved.solution is not None
    return {
        "result": result(solved, language),
        "faults": faults,
        "link": link(solved.kind, solved.parameters) if solved.parameters is not None else {},
        "markdown": as_markdown(solved.solution, language) if made and solved.solution is not None else "",
    }


def example(kind: Kind[Any], seed: int) -> Solved:
    """An easy exercise to begin with."""
    parameters = exercise(kind, seed, "easy").parameters
    return Solved(kind, {}, parameters, solution=kind.solve(parameters))


def needing(solved: Solved, asked: Mapping[str, Any]) -> Solved:
    """The same, with the fields that a pasted text must give, gave not, and nobody filled in since, as missing."""
    named = asked.get("needs")
    fields = solved.kind.parameters.model_fields
    needs = [name for name in named if name in fields] if isinstance(named, list) else []
    absent = tuple(name for name in needs if name not in solved.given and name not in solved.missing)
    if not absent:
        return solved
    return replace(solved, missing=(*solved.missing, *absent), parameters=None, solution=None)


def language_of(asked: Mapping[str, Any]) -> Language:
    """The language of the page."""
    return "en" if asked.get("lang") == "en" else "zh"


def kind_of(asked: Mapping[str, Any]) -> Kind[Any]:
    """The kind that is asked for; the first one where there is none of that name."""
    return kind_named(name if (name := str(asked.get("kind", ""))) in KINDS else FIRST)


def level_of(asked: Mapping[str, Any]) -> Level:
    """The level that is asked for, else the easy one."""
    levels: dict[str, Level] = {level: level for level in get_args(Level)}
    return levels.get(str(asked.get("level")), "easy")


def seed_of(asked: Mapping[str, Any]) -> int:
    """The seed that is asked for, else 1."""
    text = str(asked.get("seed", "1"))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 1


def exercise_of(asked: Mapping[str, Any]) -> Exercise:
    """The exercise of the kind, the level and the seed."""
    return exercise(kind_of(asked), seed_of(asked), level_of(asked))


def values_of(asked: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the fields. A form that is too long is cut, and then no longer reads as what it was."""
    given = asked.get("values")
    pairs = {str(name)[:40]: str(value) for name, value in given.items()} if isinstance(given, dict) else {}
    if sum(map(len, pairs.values())) > MOST_CHARS:
        return dict.fromkeys(pairs, "…")
    return pairs


def reply_of(asked: Mapping[str, Any], made: Exercise) -> Reply:
    """What the student handed in; the text of a trace counts where there is one, else the cells."""
    text = str(asked.get("text", ""))[:MOST_CHARS]
    rows: Any = rows_of(text) if text.strip() else asked.get("rows", ())
    cells = tuple(tuple(str(cell)[:200] for cell in row) for row in rows[:20_000] if isinstance(row, list | tuple))
    choice = asked.get("choice")
    chosen = choice if isinstance(choice, int) and 0 <= choice < len(made.options) else None
    return Reply(cells, str(asked.get("answer", ""))[:2000], chosen)
