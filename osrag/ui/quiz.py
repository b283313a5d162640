"""The quiz tab: pick or write a question, answer it, see the verdict, its reasons and its pages."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.errors import BadInput
from osrag.quiz.bank import Bank, shipped_bank
from osrag.quiz.exercise import TYPES
from osrag.quiz.rows import read_row
from osrag.types import Language
from osrag.ui.chat import label
from osrag.ui.evidence import panel
from osrag.ui.quiz_layout import FILTERS, OWN_FIELDS, PRIVATE, QuizTab, Update, lay_out, no_evidence, show_item
from osrag.ui.quiz_run import wire_judging
from osrag.ui.quiz_view import QuizState, Result, choices, mistake_html, tally, titles
from osrag.ui.state import RateLimit
from osrag.wording import say


def build(parts: Parts, language: gr.State, limit: RateLimit) -> QuizTab:
    """Lay the tab out and wire it. Call inside `gr.Tab`."""
    bank = shipped_bank()
    tab = lay_out(parts, bank)
    _wire_picking(tab, bank, language)
    wire_judging(tab, parts, language, limit)
    _wire_mistakes(tab, bank, language)
    return tab


def _wire_picking(tab: QuizTab, bank: Bank, language: gr.State) -> None:
    filters = list(tab.filters.values())
    shown = [tab.question, *tab.answers, tab.verdict, tab.explanation, tab.evidence, tab.state]

    def narrowed(code: Language, *wanted: str) -> Any:
        names = bank.find(code, **dict(zip(FILTERS, wanted, strict=True)))
        return gr.Dropdown(titles(bank, names), value=None)

    def picked(name: str | None, code: Language, state: QuizState) -> Update:
        item = bank.get(name) if name else None
        return show_item(tab, item, state, code) if item else {tab.state: gr.skip()}

    def at_random(code: Language, state: QuizState, *wanted: str) -> Update:
        names = bank.find(code, **dict(zip(FILTERS, wanted, strict=True)))
        done = [result.item.name for result in state.results] + ([state.item.name] if state.item else [])
        name = bank.pick(names, not_=done)
        if name is None:
            gr.Info(say("quiz_none_left", code))
            return {tab.state: gr.skip()}
        return show_item(tab, bank.get(name), state, code)

    def own(code: Language, state: QuizState, *fields: str) -> Update:
        row = {name: value for name, value in zip(OWN_FIELDS, fields, strict=True) if value and value.strip()}
        try:
            (item,) = read_row(row)
        except BadInput as error:
            gr.Warning(error.sentence())
            return {tab.state: gr.skip()}
        if item.type in ("single_choice", "multiple_choice") and not item.options:
            gr.Warning(say("quiz_no_options", code))
            return {tab.state: gr.skip()}
        return show_item(tab, item, state, code)

    for one in filters:
        one.input(narrowed, [language, *filters], tab.pick, **PRIVATE)
    tab.pick.input(picked, [tab.pick, language, tab.state], shown, **PRIVATE)
    tab.random.click(at_random, [language, tab.state, *filters], shown, **PRIVATE)
    tab.own_use.click(own, [language, tab.state, *tab.own_fields.values()], shown, **PRIVATE)


def _wire_mistakes(tab: QuizTab, bank: Bank, language: gr.State) -> None:
    """One row a mistake with two buttons: read its page, try another on its point."""
    shown = [tab.question, *tab.answers, tab.verdict, tab.explanation, tab.evidence, tab.state]

    @gr.render(inputs=[tab.state, language], triggers=[tab.tally.change], queue=False)  # type: ignore[untyped-decorator]
    def rows(state: QuizState, code: Language) -> None:
        for result in state.mistakes[:12]:
            with gr.Group(elem_classes="qz-mistake-row"):
                gr.HTML(mistake_html(result, code))
                with gr.Row():
                    read = gr.Button(say("quiz_read_page", code), size="sm", min_width=110, elem_classes="qz-read")
                    more = gr.Button(say("quiz_another", code), size="sm", min_width=110, elem_classes="qz-more")
                read.click(_page_of(result, code), None, tab.evidence, **PRIVATE)
                more.click(_another(tab, bank, result, code), tab.state, shown, **PRIVATE)


def _page_of(result: Result, code: Language) -> Callable[[], str]:
    found = (result.passage,) if result.passage else ()
    return lambda: panel(found, language=code) if found else no_evidence(code)


def _another(tab: QuizTab, bank: Bank, result: Result, code: Language) -> Callable[[QuizState], Update]:
    """Another question on the same knowledge point, else on the same section, else on the chapter."""

    def show(state: QuizState) -> Update:
        item = result.item
        done = [one.item.name for one in state.results]
        for wish in ({"knowledge_point": item.knowledge_point}, {"section": item.section}, {"chapter": item.chapter}):
            wanted = {field: value for field, value in wish.items() if value}
            names = [name for name in bank.find(item.language, **wanted) if name not in done] if wanted else []
            if names:
                return show_item(tab, bank.get(str(bank.pick(names))), state, code)
        gr.Info(say("quiz_none_left", code))
        return {tab.state: gr.skip()}

    return show


def reword(tab: QuizTab, code: Language, state: QuizState) -> Update:
    """The tab in another language; the question of the bank changes with it."""
    bank = shipped_bank()
    item = state.item
    if item is not None and item.id and item.language != code:
        item = bank.get(f"{item.id}/{code}") or item
    update = show_item(tab, item, state, code) if item is not state.item or item is None else {}
    kinds = [(say(f"quiz_type_{name}", code), name) for name in TYPES if name != "programming"]
    own: dict[Any, Any] = {tab.own_fields["type"]: gr.Dropdown(kinds, label=say("quiz_by_type_label", code))}
    own |= {tab.own_fields[name]: gr.Textbox(label=say(f"quiz_own_{name}", code)) for name in OWN_FIELDS[1:]}
    return {
        **update,
        **own,
        **{
            box: gr.Dropdown(choices(bank, name, code), value="", label=say(f"quiz_by_{name}_label", code))
            for name, box in tab.filters.items()
        },
        tab.pick: gr.Dropdown(titles(bank, bank.find(code)), value=None, label=say("quiz_pick", code)),
        tab.random: say("quiz_random", code),
        tab.own: gr.Accordion(label=say("quiz_own", code)),
        tab.own_use: say("quiz_use", code),
        tab.grade: say("quiz_grade", code),
        tab.explain: say("quiz_explain", code),
        tab.stop: say("stop", code),
        tab.evidence_label: label("evidence", code),
        tab.mistakes_label: label("quiz_mistakes", code),
        tab.tally: tally(state, code),
    }
