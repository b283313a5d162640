"""What stands on the quiz tab, and the question with the answer input that fits it."""

from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.quiz.bank import Bank
from osrag.quiz.exercise import TYPES, Exercise
from osrag.types import Language
from osrag.ui.chat import label
from osrag.ui.pages import page_server
from osrag.ui.quiz_view import QuizState, choices, question_html, tally, titles
from osrag.ui.theme import SCRIPT
from osrag.wording import say

Update = dict[Any, Any]
FILTERS = ("chapter", "type", "difficulty", "knowledge_point")
OWN_FIELDS = ("type", "question", "options", "answer", "reference", "rubric")
PRIVATE: dict[str, Any] = {"api_visibility": "private", "queue": False, "show_progress": "hidden"}


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


def lay_out(parts: Parts, bank: Bank) -> QuizTab:
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
                no_evidence("zh"),
                elem_id="qz-evidence",
                js_on_load=SCRIPT.read_text(encoding="utf-8"),
                server_functions=[page_server(parts)],
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


def no_evidence(language: Language) -> str:
    return f'<div class="ev-empty">{say("quiz_no_evidence", language)}</div>'


def show_item(tab: QuizTab, item: Exercise | None, state: QuizState, code: Language) -> Update:
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
        tab.evidence: no_evidence(code),
        tab.state: replace(state, item=item),
    }


def answer_of(item: Exercise, radio: str | None, boxes: list[str] | None, blank: str, text: str) -> str:
    """What the visitor answered, from the input that fits the question."""
    if item.type in ("single_choice", "true_false"):
        return radio or ""
    if item.type == "multiple_choice":
        return ",".join(boxes or [])
    return blank if item.type == "fill_blank" else text
