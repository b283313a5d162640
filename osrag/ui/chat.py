"""The chat tab: a question, its streamed answer, the evidence beside it."""

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any, cast, get_args

import gradio as gr

from osrag.answer.citations import FENCE
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.app.run import answer
from osrag.kernel.logs.read import language_asked, read_log
from osrag.settings import ROOT
from osrag.text import language_of
from osrag.types import Language, SourceChoice, Turn
from osrag.ui.evidence import panel
from osrag.ui.pages import page_server
from osrag.ui.state import MODEL, Conversation, RateLimit
from osrag.ui.theme import SCRIPT
from osrag.ui.view import View, show
from osrag.wording import say

EXAMPLES = ROOT / "examples" / "questions.json"
Update = dict[Any, Any]


@dataclass(frozen=True, slots=True)
class ChatTab:
    """The components of the tab that others change or read."""

    chatbot: gr.Chatbot
    question: gr.Textbox
    send: gr.Button
    stop: gr.Button
    retry: gr.Button
    clear: gr.Button
    evidence: gr.HTML
    evidence_label: gr.HTML
    source: gr.Radio
    options: gr.Accordion
    effort: gr.Radio
    threshold: gr.Slider
    state: gr.State


def examples(language: Language) -> list[dict[str, str]]:
    """Questions to start from; they stand in the empty conversation."""
    return [{"text": text} for text, _ in _example_rows()[language]]


@functools.cache
def _example_rows() -> dict[Language, list[tuple[str, SourceChoice]]]:
    """Example questions with the source that answers them, by language."""
    rows: dict[Language, list[tuple[str, SourceChoice]]] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return rows


def welcome(language: Language) -> str:
    title, body = (escape(say(key, language)) for key in ("chat_empty_title", "chat_empty_body"))
    return f'<div class="os-welcome"><h2>{title}</h2><p>{body}</p></div>'


def label(key: str, language: Language) -> str:
    return f'<div class="os-label">{escape(say(key, language))}</div>'


def effort_choices(language: Language) -> list[tuple[str, str]]:
    return [(say(f"effort_{name}", language), name) for name in ("fast", "deep")]


def source_choices(language: Language) -> list[tuple[str, str]]:
    return [(say(f"kernel_source_{name}", language), name) for name in ("textbook", "kernel", "both")]


def build(parts: Parts, language_state: gr.State, limit: RateLimit) -> ChatTab:
    """Lay the tab out and wire it. Call inside `gr.Blocks`."""
    tab = _lay_out(parts)
    asked = [tab.question, tab.state, tab.source, tab.effort, tab.threshold, language_state]
    shown = [tab.chatbot, tab.evidence, tab.question, tab.state, tab.send, tab.stop]

    def ask(
        question: str,
        state: Conversation,
        source: str,
        effort: str,
        threshold: float,
        language: Language,
        request: gr.Request,
    ) -> Iterator[Update]:
        run = _request(question, state, source, effort, threshold, language)
        yield from _run(parts, tab, limit, request, run, state)

    def again(
        state: Conversation, source: str, effort: str, threshold: float, language: Language, request: gr.Request
    ) -> Iterator[Update]:
        if not state.turns:
            gr.Info(say("nothing_to_retry", language))
            yield {tab.question: gr.skip()}
            return
        kept = state.without_last()
        run = _request(state.turns[-1].question, kept, source, effort, threshold, language)
        yield from _run(parts, tab, limit, request, run, kept)

    common: dict[str, Any] = {
        "concurrency_id": MODEL,
        "concurrency_limit": parts.settings.slots,
        "api_visibility": "private",
    }
    quiet: dict[str, Any] = {"api_visibility": "private", "queue": False}
    picked = tab.chatbot.example_select(_picked, None, [tab.question, tab.source], **quiet)
    runs = [
        tab.question.submit(ask, asked, shown, show_progress_on=[tab.chatbot], **common),
        tab.send.click(ask, asked, shown, show_progress_on=[tab.chatbot], **common),
        tab.retry.click(again, asked[1:], shown, show_progress_on=[tab.chatbot], **common),
        picked.then(ask, asked, shown, show_progress_on=[tab.chatbot], **common),
    ]
    tab.stop.click(
        lambda: {tab.send: gr.Button(visible=True), tab.stop: gr.Button(visible=False)},
        None,
        [tab.send, tab.stop],
        cancels=runs,
        **quiet,
    )
    tab.clear.click(
        lambda language: {
            tab.chatbot: [],
            tab.evidence: panel((), language=language),
            tab.state: Conversation(),
            tab.send: gr.Button(visible=True),
            tab.stop: gr.Button(visible=False),
        },
        language_state,
        [tab.chatbot, tab.evidence, tab.state, tab.send, tab.stop],
        cancels=runs,
        **quiet,
    )
    return tab


def _lay_out(parts: Parts) -> ChatTab:
    state = gr.State(Conversation())
    with gr.Row(equal_height=False):
        with gr.Column(scale=6, min_width=320):
            chatbot = gr.Chatbot(
                elem_id="os-chat",
                show_label=False,
                height="calc(100vh - 300px)",
                min_height=340,
                layout="panel",
                buttons=["copy"],
                feedback_options=None,
                placeholder=welcome("zh"),
                examples=examples("zh"),
                latex_delimiters=[],
                allow_tags=False,
            )
            source = gr.Radio(
                source_choices("zh"),
                value="textbook",
                label=say("kernel_source", "zh"),
                container=False,
                elem_id="os-source",
            )
            with gr.Row(elem_id="os-ask-row"):
                question = gr.Textbox(
                    show_label=False,
                    label=say("question_box", "zh"),
                    placeholder=say("question_placeholder", "zh"),
                    lines=1,
                    max_lines=6,
                    scale=6,
                    min_width=180,
                    autofocus=True,
                    elem_id="os-question",
                )
                send = gr.Button(say("send", "zh"), variant="primary", scale=1, min_width=88, elem_id="os-send")
                stop = gr.Button(
                    say("stop", "zh"), variant="stop", scale=1, min_width=88, visible=False, elem_id="os-stop"
                )
            with gr.Row(elem_id="os-again-row"):
                retry = gr.Button(say("retry", "zh"), size="sm", variant="secondary", min_width=80, elem_id="os-retry")
                clear = gr.Button(say("clear", "zh"), size="sm", variant="secondary", min_width=80, elem_id="os-clear")
            with gr.Accordion(say("options", "zh"), open=False, elem_id="os-options") as options:
                effort = gr.Radio(effort_choices("zh"), value=_effort(parts), label=say("effort", "zh"))
                threshold = gr.Slider(
                    0, 1, value=parts.settings.threshold, step=0.01, label=say("threshold", "zh"),
                    info=say("threshold_info", "zh"),
                )  # fmt: skip
        with gr.Column(scale=5, min_width=320):
            evidence_label = gr.HTML(label("evidence", "zh"))
            evidence = gr.HTML(
                panel((), language="zh"),
                elem_id="os-evidence",
                js_on_load=SCRIPT.read_text(encoding="utf-8"),
                server_functions=[page_server(parts)],
            )
    return ChatTab(
        chatbot,
        question,
        send,
        stop,
        retry,
        clear,
        evidence,
        evidence_label,
        source,
        options,
        effort,
        threshold,
        state,
    )


def _picked(picked: gr.SelectData) -> tuple[str, SourceChoice]:
    """The question of the example that was clicked, and the source that it is put to."""
    text = str(picked.value["text"])
    sources: dict[str, SourceChoice] = {one: source for rows in _example_rows().values() for one, source in rows}
    return text, sources.get(text, "textbook")


def _effort(parts: Parts) -> str:
    chat = parts.chat
    return parts.settings.effort_for(chain=chat is not None and chat.abilities.chain)


def _request(
    question: str, state: Conversation, source: str, effort: str, threshold: float, language: Language
) -> Question:
    """What the controls ask for."""
    return Question(
        question,
        source=cast("SourceChoice", source if source in get_args(SourceChoice) else "textbook"),
        effort="deep" if effort == "deep" else "fast",
        threshold=threshold,
        history=state.turns,
        language=language,
    )


def _run(
    parts: Parts, tab: ChatTab, limit: RateLimit, request: gr.Request, run: Question, state: Conversation
) -> Iterator[Update]:
    """One question to updates of the tab. What was shown stays, whatever happens."""
    question, language = run.text, run.language or "zh"
    wait = limit.wait_s(request.session_hash or "")
    if wait:
        gr.Warning(say("too_often", language, limit=limit.per_minute, seconds=round(wait)))
        yield {tab.question: gr.skip()}
        return
    spoken = language_asked(question, language)
    view = View(spoken, source=run.source)
    before = messages(state.turns)
    asked = {"role": "user", "content": escape_user(question)}
    shown = {"role": "assistant", "content": view.reply}
    yield {
        tab.chatbot: [*before, asked, shown],
        tab.question: "",
        tab.state: state.with_turn(question, say("stopped", spoken)),
        tab.send: gr.Button(visible=False),
        tab.stop: gr.Button(visible=True),
    }
    for event in answer(parts, run):
        fresh = show(event, view)
        if fresh is view:
            yield {tab.question: gr.skip()}
            continue
        update: Update = {tab.chatbot: [*before, asked, {**shown, "content": fresh.reply}]}
        if fresh.evidence_key != view.evidence_key:
            update[tab.evidence] = fresh.evidence
        view = fresh
        # The turn is kept from the start, so that a stopped question stays in the conversation; one
        # that failed before its first word is no turn.
        said = view.draft or say("stopped", spoken)
        update[tab.state] = state.with_turn(question, said) if view.draft or view.busy else state
        yield update
    yield {tab.send: gr.Button(visible=True), tab.stop: gr.Button(visible=False)}


def messages(turns: tuple[Turn, ...]) -> list[dict[str, str]]:
    """Finished turns as the chat shows them."""
    rows = []
    for turn in turns:
        reply = replace(View(language_of(turn.question)), draft=turn.answer, busy=False).reply
        rows += [
            {"role": "user", "content": escape_user(turn.question)},
            {"role": "assistant", "content": reply},
        ]
    return rows


def escape_user(text: str) -> str:
    """A visitor's words are shown as they are, never as Markdown or HTML; a log keeps its lines."""
    if "\n" in text and read_log(text) is not None:
        return "\n".join([f"{FENCE}text", text.replace(FENCE, "'''"), FENCE])
    for char in "\\`*_#<>[]|~$":
        text = text.replace(char, "\\" + char)
    return text
