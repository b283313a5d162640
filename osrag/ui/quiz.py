"""The quiz tab: pick or write a question, answer it, see the verdict, its reasons and its pages."""

import logging
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from osrag.errors import BadInput, OsragError
from osrag.parts import Parts
from osrag.quiz.bank import Bank, shipped_bank
from osrag.quiz.explain import explain
from osrag.quiz.rows import read_row
from osrag.quiz.types import TYPES, QuizItem
from osrag.types import Language
from osrag.ui.chat import MODEL, _page_server, label
from osrag.ui.evidence import panel
from osrag.ui.quiz_view import (
    KEPT_RESULTS,
    QuizState,
    Result,
    choices,
    mistake_html,
    question_html,
    tally,
    titles,
    verdict_html,
)
from osrag.ui.state import RateLimit
from osrag.ui.theme import SCRIPT
from osrag.wording import say

log = logging.getLogger(__name__)
Update = dict[Any, Any]
FILTERS = ("chapter", "type", "difficulty", "knowledge_point")
OWN_FIELDS = ("type", "question", "options", "answer", "reference", "rubric")


@dataclass(frozen=True, slots=True)
class QuizTab:
    """The components of the tab that others change or read."""

    filters: dict[str, gr.Dropdown]
    pick: gr.Dropdown
    random: gr.Button
    own: gr.Accordion
    own_fields: dict[str, Any]
    own_use: gr.Button
    question: gr.HTML
    radio: gr.Radio
    boxes: gr.CheckboxGroup
    blank: gr.Textbox
    text: gr.Textbox
    grade: gr.Button
    explain: gr.Button
    stop: gr.Button
    verdict: gr.HTML
    explanation: gr.Markdown
    evidence_label: gr.HTML
    evidence: gr.HTML
    mistakes_label: gr.HTML
    tally: gr.HTML
    state: gr.State

    @property
    def answers(self) -> list[Any]:
        return [self.radio, self.boxes, self.blank, self.text]

    @property
    def worded(self) -> list[Any]:
        """Everything that changes with the language of the page."""
        return [
            *self.filters.values(), self.pick, self.random, self.own, *self.own_fields.values(), self.own_use,
            self.question, *self.answers, self.grade, self.explain, self.stop, self.verdict, self.explanation,
            self.evidence_label, self.evidence, self.mistakes_label, self.tally, self.state,
        ]  # fmt: skip


def build(parts: Parts, language: gr.State, limit: RateLimit) -> QuizTab:
    """Lay the tab out and wire it. Call inside `gr.Tab`."""
    bank = shipped_bank()
    tab = _lay_out(parts, bank)
    _wire_picking(tab, bank, language)
    _wire_judging(tab, parts, language, limit)
    _wire_mistakes(tab, bank, language)
    return tab


def _lay_out(parts: Parts, bank: Bank) -> QuizTab:
    with gr.Row(equal_height=False):
        with gr.Column(scale=6, min_width=320):
            with gr.Row(elem_id="qz-filters"):
                filters = {
                    name: gr.Dropdown(choices(bank, name, "zh"), value="", label=say(f"quiz_by_{name}_label", "zh"),
                                      min_width=130, elem_id=f"qz-{name}")
                    for name in FILTERS
                }  # fmt: skip
            with gr.Row(elem_id="qz-pick-row"):
                pick = gr.Dropdown(titles(bank, bank.find("zh")), value=None, label=say("quiz_pick", "zh"), scale=5,
                                   min_width=200, elem_id="qz-pick")  # fmt: skip
                random = gr.Button(say("quiz_random", "zh"), scale=1, min_width=110, elem_id="qz-random")
            with gr.Accordion(say("quiz_own", "zh"), open=False, elem_id="qz-own") as own:
                own_fields = _own_fields()
                own_use = gr.Button(say("quiz_use", "zh"), size="sm", elem_id="qz-use")
            question = gr.HTML(question_html(None, "zh"), elem_id="qz-question")
            radio = gr.Radio([], label=say("quiz_your_answer", "zh"), visible=False, elem_id="qz-radio")
            boxes = gr.CheckboxGroup([], label=say("quiz_your_answer", "zh"), visible=False, elem_id="qz-boxes")
            blank = gr.Textbox(label=say("quiz_your_answer", "zh"), visible=False, max_lines=4, elem_id="qz-blank")
            text = gr.Textbox(label=say("quiz_your_answer", "zh"), visible=False, lines=5, max_lines=16,
                              elem_id="qz-text")  # fmt: skip
            with gr.Row(elem_id="qz-buttons"):
                grade = gr.Button(say("quiz_grade", "zh"), variant="primary", min_width=110, elem_id="qz-grade")
                explain_button = gr.Button(say("quiz_explain", "zh"), min_width=110, elem_id="qz-explain")
                stop = gr.Button(say("stop", "zh"), variant="stop", min_width=90, visible=False, elem_id="qz-stop")
            verdict = gr.HTML("", elem_id="qz-verdict")
            explanation = gr.Markdown("", elem_id="qz-explanation", latex_delimiters=[])
        with gr.Column(scale=5, min_width=320):
            evidence_label = gr.HTML(label("evidence", "zh"))
            evidence = gr.HTML(
                _no_evidence("zh"),
                elem_id="qz-evidence",
                js_on_load=SCRIPT.read_text(encoding="utf-8"),
                server_functions=[_page_server(parts)],
            )
    mistakes_label = gr.HTML(label("quiz_mistakes", "zh"), elem_id="qz-mistakes")
    tally_html = gr.HTML(tally(QuizState(), "zh"), elem_id="qz-tally")
    return QuizTab(
        filters, pick, random, own, own_fields, own_use, question, radio, boxes, blank, text, grade, explain_button,
        stop, verdict, explanation, evidence_label, evidence, mistakes_label, tally_html, gr.State(QuizState()),
    )  # fmt: skip


def _own_fields() -> dict[str, Any]:
    kinds = [(say(f"quiz_type_{name}", "zh"), name) for name in TYPES if name != "programming"]
    fields: dict[str, Any] = {"type": gr.Dropdown(kinds, value="single_choice", label=say("quiz_by_type_label", "zh"))}
    for name in OWN_FIELDS[1:]:
        fields[name] = gr.Textbox(
            label=say(f"quiz_own_{name}", "zh"),
            lines=1 if name == "answer" else 2,
            max_lines=8,
            elem_id=f"qz-own-{name}",
        )
    return fields


def _no_evidence(language: Language) -> str:
    return f'<div class="ev-empty">{say("quiz_no_evidence", language)}</div>'


# -- picking a question ---------------------------------------------------------------------------


def _wire_picking(tab: QuizTab, bank: Bank, language: gr.State) -> None:
    private: dict[str, Any] = {"api_visibility": "private", "queue": False, "show_progress": "hidden"}
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
        one.input(narrowed, [language, *filters], tab.pick, **private)
    tab.pick.input(picked, [tab.pick, language, tab.state], shown, **private)
    tab.random.click(at_random, [language, tab.state, *filters], shown, **private)
    tab.own_use.click(own, [language, tab.state, *tab.own_fields.values()], shown, **private)


def show_item(tab: QuizTab, item: QuizItem | None, state: QuizState, code: Language) -> Update:
    """The question with the answer input that fits it; what stood there before is gone."""
    kind = item.type if item else ""
    options = [(f"{option.key}. {option.text}", option.key) for option in item.options] if item else []
    if kind == "true_false":
        options = [(say("quiz_true", code), "T"), (say("quiz_false", code), "F")]
    single, several = kind in ("single_choice", "true_false"), kind == "multiple_choice"
    return {
        tab.question: question_html(item, code),
        tab.radio: gr.Radio(options if single else [], value=None, visible=single, label=say("quiz_your_answer", code)),
        tab.boxes: gr.CheckboxGroup(
            options if several else [], value=[], visible=several, label=say("quiz_your_answer", code)
        ),
        tab.blank: gr.Textbox(
            value="", visible=kind == "fill_blank", label=say("quiz_your_blanks", code), placeholder=""
        ),
        tab.text: gr.Textbox(
            value="", visible=kind in ("short_answer", "programming"), label=say("quiz_your_answer", code)
        ),
        tab.verdict: "",
        tab.explanation: "",
        tab.evidence: _no_evidence(code),
        tab.state: replace(state, item=item),
    }


def answer_of(item: QuizItem, radio: str | None, boxes: list[str] | None, blank: str, text: str) -> str:
    """What the visitor answered, from the input that fits the question."""
    if item.type in ("single_choice", "true_false"):
        return radio or ""
    if item.type == "multiple_choice":
        return ",".join(boxes or [])
    return blank if item.type == "fill_blank" else text


# -- judging --------------------------------------------------------------------------------------


def _wire_judging(tab: QuizTab, parts: Parts, language: gr.State, limit: RateLimit) -> None:
    shown = [tab.verdict, tab.explanation, tab.evidence, tab.tally, tab.state, tab.grade, tab.stop]
    inputs = [tab.state, language, *tab.answers]

    def guarded(run: Callable[[QuizState, Language, str], Iterator[Update]]) -> Callable[..., Iterator[Update]]:
        """The limits first, the buttons around it, and a sentence for every failure."""

        def handler(
            state: QuizState,
            code: Language,
            radio: str | None,
            boxes: list[str] | None,
            blank: str,
            text: str,
            request: gr.Request,
        ) -> Iterator[Update]:
            if state.item is None:
                gr.Info(say("quiz_empty", code))
                yield {tab.state: gr.skip()}
                return
            wait = limit.wait_s(request.session_hash or "")
            if wait:
                gr.Warning(say("too_often", code, limit=limit.per_minute, seconds=round(wait)))
                yield {tab.state: gr.skip()}
                return
            yield {tab.grade: gr.Button(visible=False), tab.stop: gr.Button(visible=True)}
            try:
                yield from run(state, code, answer_of(state.item, radio, boxes, blank, text))
            except OsragError as error:
                log.warning("quiz failed: %s", error.sentence())
                gr.Warning(error.sentence())
            yield {tab.grade: gr.Button(visible=True), tab.stop: gr.Button(visible=False)}

        return handler

    def grade(state: QuizState, code: Language, answer: str) -> Iterator[Update]:
        assert state.item is not None
        before: tuple[Any, ...] = ()
        with closing(parts.judge.judge(state.item, answer)) as steps:
            for step in steps:
                done = step.stage == "done"
                update: Update = {tab.verdict: verdict_html(step.judgement, busy=not done)}
                cited = {point.passage for point in step.judgement.points if point.passage}
                if (step.passages, cited) != before and step.passages:
                    update[tab.evidence] = panel(
                        step.passages, language=state.item.language, cited={n for n in cited if n}
                    )
                    before = (step.passages, cited)
                if done:
                    judged = step.judgement
                    result = Result(
                        state.item, answer, judged.is_correct, judged.score, judged.full_marks, judged.confidence,
                        judged.correct_answer, judged.knowledge_point, step.passages[0] if step.passages else None,
                    )  # fmt: skip
                    state = replace(state, results=(*state.results, result)[-KEPT_RESULTS:])
                    update |= {tab.state: state, tab.tally: tally(state, code)}
                yield update

    def explain_it(state: QuizState, code: Language, answer: str) -> Iterator[Update]:
        assert state.item is not None
        shown_panel = False
        with closing(explain(parts.judge, state.item, answer)) as growing:
            for found in growing:
                update: Update = {tab.explanation: explanation_markdown(found.text)}
                if not shown_panel:
                    update[tab.evidence] = panel(found.passages, language=state.item.language)
                    shown_panel = True
                yield update

    common: dict[str, Any] = {
        "concurrency_id": MODEL,
        "concurrency_limit": parts.settings.slots,
        "api_visibility": "private",
        "show_progress": "hidden",
    }
    runs = [
        tab.grade.click(guarded(grade), inputs, shown, **common),
        tab.explain.click(guarded(explain_it), inputs, shown, **common),
        tab.blank.submit(guarded(grade), inputs, shown, **common),
    ]
    tab.stop.click(
        lambda: {tab.grade: gr.Button(visible=True), tab.stop: gr.Button(visible=False)},
        None,
        [tab.grade, tab.stop],
        cancels=runs,
        api_visibility="private",
        queue=False,
    )


def explanation_markdown(text: str) -> str:
    """`[1]` as a link to the card of its passage; the words of the model are not HTML."""
    import re

    plain = text.replace("<", "&lt;")
    return re.sub(r"\[(\d{1,2})\](?!\()", r"[\[\1\]](#ev-\1)", plain)


# -- mistakes -------------------------------------------------------------------------------------


def _wire_mistakes(tab: QuizTab, bank: Bank, language: gr.State) -> None:
    """One row a mistake with two buttons: read its page, try another on its point."""
    shown = [tab.question, *tab.answers, tab.verdict, tab.explanation, tab.evidence, tab.state]
    private: dict[str, Any] = {"api_visibility": "private", "queue": False, "show_progress": "hidden"}

    @gr.render(inputs=[tab.state, language], triggers=[tab.tally.change], queue=False)  # type: ignore[untyped-decorator]
    def rows(state: QuizState, code: Language) -> None:
        for result in state.mistakes[:12]:
            with gr.Group(elem_classes="qz-mistake-row"):
                gr.HTML(mistake_html(result, code))
                with gr.Row():
                    read = gr.Button(say("quiz_read_page", code), size="sm", min_width=110, elem_classes="qz-read")
                    more = gr.Button(say("quiz_another", code), size="sm", min_width=110, elem_classes="qz-more")
                read.click(_page_of(result, code), None, tab.evidence, **private)
                more.click(_another(tab, bank, result, code), tab.state, shown, **private)


def _page_of(result: Result, code: Language) -> Callable[[], str]:
    found = (result.passage,) if result.passage else ()
    return lambda: panel(found, language=code) if found else _no_evidence(code)


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
