"""The chat tab: a question, its streamed answer, the evidence beside it."""

import functools
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from html import escape
from typing import Any, Literal, get_args

import gradio as gr

from osrag.answer.citations import FENCE
from osrag.answer.events import Failed
from osrag.answer.source import Question
from osrag.app.feedback import Verdict, feedback_of
from osrag.app.locked import locked_exercise
from osrag.app.parts import Parts
from osrag.app.run import answer
from osrag.app.unanswered import places
from osrag.errors import OsragError
from osrag.index.manifest import read_manifest
from osrag.kernel.logs.read import language_asked, read_log
from osrag.settings import ROOT
from osrag.text import clip
from osrag.types import EVERYTHING, Effort, Language, SourceChoice, Turn, Within
from osrag.ui.admission import MODEL, RateLimit, answers_at_once
from osrag.ui.download import SAVE, as_file
from osrag.ui.evidence import empty, evidence_panel
from osrag.ui.material import Material, Reach
from osrag.ui.recommend import Recommending
from osrag.ui.scripts import Scripts
from osrag.ui.state import Conversation
from osrag.ui.view import View, past, show
from osrag.ui.words import QUIET, TELLING, Update, Words, choices, heading, told
from osrag.wording import say

log = logging.getLogger(__name__)
EXAMPLES = ROOT / "examples" / "questions.json"
KIND, FILE = "kind:", "file:"  # before the name of what a question is kept within
KINDS = frozenset({"textbook", "faq", "api", "notes", "slides"})  # categories that the page has a word for
WORDS: tuple[Verdict, ...] = ("wrong", "incomplete", "wrong_page")  # of an answer, beside the two thumbs
COPY_LINK = (
    "(question) => { if (!question) return; const link = new URL(location.href.split(/[?#]/)[0]); "
    "link.searchParams.set('q', question); navigator.clipboard?.writeText(link.href); }"
)
LOG_SHOWN = 20_000  # characters of a pasted log that stay on the page; a browser labours at megabytes


@functools.cache
def example_questions() -> dict[Language, list[tuple[str, SourceChoice]]]:
    """Questions to start from, with the source that answers them, by language."""
    rows: dict[Language, list[tuple[str, SourceChoice]]] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return rows


def welcome(language: Language) -> str:
    """HTML that stands in the empty conversation."""
    title, body = (escape(say(key, language)) for key in ("chat_empty_title", "chat_empty_body"))
    return f'<div class="os-welcome"><h2>{title}</h2><p>{body}</p></div>'


def part_of(within: str, edition: Language | Literal[""]) -> Within:
    """The part of the course material that the controls say."""
    category, file = (within.removeprefix(mark) if within.startswith(mark) else "" for mark in (KIND, FILE))
    return Within(category=category, file=file, language=edition)


def _kind_name(kind: str, language: Language) -> str:
    """What the page calls a category; an operator's own is called as it is."""
    return say(f"within_{kind}", language) if kind in KINDS else kind


class ChatTab:
    """The components of the tab, and what their events do. Make it inside `gr.Tab`."""

    def __init__(
        self, parts: Parts, words: Words, language: gr.State, limit: RateLimit, material: Material, scripts: Scripts
    ) -> None:
        self._parts = parts
        self._material = material
        self._limit = limit
        self._feedback = feedback_of(parts.settings)
        self.state = gr.State(Conversation())
        with gr.Row(equal_height=False):
            with gr.Column(scale=6, min_width=320):
                self._lay_out(words)
            with gr.Column(scale=5, min_width=320):
                words.make(gr.HTML, {"value": heading("evidence")})
                self.evidence = evidence_panel(parts, scripts, empty("evidence_empty", "zh"), "os-evidence")
                self.next = Recommending(parts, language, self.evidence) if parts.settings.recommend else None
        self._wire(language)

    def _lay_out(self, words: Words) -> None:
        """The conversation, and below it what a question is asked with."""
        examples = {"examples": lambda code: [{"text": text} for text, _ in example_questions()[code]]}
        self.chatbot = words.make(
            gr.Chatbot,
            {"placeholder": welcome, **examples, **self._asked_for()},
            elem_id="os-chat",
            show_label=False,
            height="calc(100vh - 296px)",
            min_height=340,
            layout="panel",
            buttons=["copy"],
            autoscroll=False,  # osrag.js keeps the question at the top instead
            latex_delimiters=[],
            allow_tags=False,
        )
        source = {"choices": choices("kernel_source", get_args(SourceChoice)), "label": "kernel_source"}
        with gr.Row(elem_id="os-beside"):
            self.source = words.make(gr.Radio, source, value="auto", container=False, elem_id="os-source")
            self._material.beside_question()
        with gr.Row(elem_id="os-ask-row"):
            self.question = words.make(
                gr.Textbox,
                {"label": "question_box", "placeholder": "question_placeholder"},
                show_label=False,
                container=False,
                lines=1,
                max_lines=6,
                scale=6,
                min_width=180,
                autofocus=True,
                elem_id="os-question",
            )
            button: dict[str, Any] = {"scale": 1, "min_width": 88}
            self.send = words.make(gr.Button, {"value": "send"}, variant="primary", elem_id="os-send", **button)
            button |= {"variant": "stop", "visible": False}
            self.stop = words.make(gr.Button, {"value": "stop"}, elem_id="os-stop", **button)
        with gr.Row(elem_id="os-again-row"):
            small: dict[str, Any] = {"size": "sm", "variant": "secondary", "min_width": 70}
            self.retry = words.make(gr.Button, {"value": "retry"}, elem_id="os-retry", **small)
            self.clear = words.make(gr.Button, {"value": "clear"}, elem_id="os-clear", **small)
            self.export = words.make(gr.Button, {"value": "export"}, elem_id="os-export", **small)
            self.link = words.make(gr.Button, {"value": "copy_link"}, elem_id="os-link", **small)
        self._file = gr.Textbox("", elem_classes="os-hidden", container=False)
        chat, settings = self._parts.chat, self._parts.settings
        with words.make(gr.Accordion, {"label": "options"}, open=False, elem_id="os-options"):
            effort = settings.effort_for(chain=chat is not None and chat.abilities.chain)
            efforts = {"choices": choices("effort", get_args(Effort)), "label": "effort"}
            self.effort = words.make(gr.Radio, efforts, value=effort)
            said = {"label": "threshold", "info": "threshold_info"}
            self.threshold = words.make(gr.Slider, said, minimum=0, maximum=1, value=settings.threshold, step=0.01)
            with gr.Row():
                held = {"choices": self._within, "label": "within"}
                self.within = words.make(gr.Dropdown, held, value="", min_width=240, elem_id="os-within")
                editions = {"choices": choices("within_language", ("", "zh", "en")), "label": "within_language"}
                self.edition = words.make(gr.Radio, editions, value="", min_width=240, elem_id="os-edition")

    def _within(self, language: Language) -> list[tuple[str, str]]:
        """What a question may be kept within: all, a kind of material, or a document."""
        try:
            documents = read_manifest(self._parts.textbook_folder).documents
        except OsragError as error:
            log.warning("no parts of the material to choose from: %s", error.sentence())
            documents = ()
        kinds = dict.fromkeys(document.category for document in documents)
        return [
            (say("within_all", language), ""),
            *((_kind_name(kind, language), f"{KIND}{kind}") for kind in kinds),
            *((document.title or document.name, f"{FILE}{document.name}") for document in documents),
        ]

    def _wire(self, language: gr.State) -> None:
        """Bind the events of the components; every one that asks shares the queue of the model."""
        part = [self.within, self.edition]
        controls = [self.state, self.source, self._material.reach, self.effort, self.threshold, *part, language]
        common: dict[str, Any] = {
            "outputs": [self.chatbot, self.evidence, self.question, self.state, self.send, self.stop],
            "show_progress_on": [self.chatbot],
            "concurrency_id": MODEL,
            "concurrency_limit": answers_at_once(self._parts.settings.slots, self._parts.chat),
            "api_visibility": "private",
        }
        asked = [self.question, *controls]
        picked = self.chatbot.example_select(_picked, None, [self.question, self.source], **QUIET)
        chosen = self.chatbot.option_select(_chosen, None, self.question, **QUIET)
        self.runs = runs = [
            self.question.submit(self.ask, asked, **common),
            self.send.click(self.ask, asked, **common),
            self.retry.click(self.ask_again, controls, **common),
            picked.then(self.ask, asked, **common),
            chosen.then(self.ask, asked, **common),
        ]
        saved = self.export.click(exported, [self.state, language], self._file, **TELLING)
        saved.then(None, self._file, None, js=SAVE)
        linked = self.link.click(last_question, [self.state, language], self._file, **TELLING)
        linked.then(None, self._file, None, js=COPY_LINK)
        if self._feedback is not None:
            self.chatbot.like(self.judged, [self.state, language], None, **TELLING)
        buttons = [self.send, self.stop]
        self.stop.click(self._at_rest, None, buttons, cancels=runs, **QUIET)
        cleared = [self.chatbot, self.evidence, self.state, *buttons]
        self.clear.click(self.forget, language, cleared, cancels=runs, **QUIET)

    def _asked_for(self) -> dict[str, Any]:
        """What a visitor may say of an answer: thumbs, and a word behind a flag; nothing where it is not kept."""
        if self._feedback is None:
            return {"feedback_options": lambda code: None}
        return {"feedback_options": lambda code: ["Like", "Dislike", *(say(f"feedback_{one}", code) for one in WORDS)]}

    def judged(self, state: Conversation, language: Language, said: gr.LikeData) -> None:
        """Keep what a visitor says of an answer; a thumb that is taken back says nothing."""
        place = said.index[0] if isinstance(said.index, tuple) else said.index
        turn = state.turns[place // 2] if 0 <= place // 2 < len(state.turns) else None
        named = {say(f"feedback_{one}", code): one for one in WORDS for code in ("zh", "en")}
        thumbs: dict[Any, Verdict] = {True: "good", "Like": "good", False: "bad", "Dislike": "bad"}
        verdict = named.get(str(said.liked)) or thumbs.get(said.liked)
        if turn is None or verdict is None or self._feedback is None:
            return
        # What is said of a visitor's own material is not kept: an answer quotes it.
        kept = not turn.own and self._feedback.take(turn, verdict)
        gr.Info(say("feedback_kept" if kept else "feedback_not_kept", language))

    def _at_rest(self) -> Update:
        return {self.send: gr.update(visible=True), self.stop: gr.update(visible=False)}

    def forget(self, language: Language) -> Update:
        """An empty conversation."""
        nothing = empty("evidence_empty", language)
        return {self.chatbot: [], self.evidence: nothing, self.state: Conversation(), **self._at_rest()}

    def ask_again(
        self,
        state: Conversation,
        source: Any,
        reach: Reach,
        effort: Any,
        threshold: float,
        within: str,
        edition: Literal["", "zh", "en"],
        language: Language,
        request: gr.Request,
    ) -> Iterator[Update]:
        """The last question once more, with what the controls say now."""
        if not state.turns:
            gr.Info(say("nothing_to_retry", language))
            yield {self.question: gr.skip()}
            return
        before = replace(state, turns=state.turns[:-1])
        asked = state.turns[-1].question
        yield from self.ask(asked, before, source, reach, effort, threshold, within, edition, language, request)

    def ask(
        self,
        question: str,
        state: Conversation,
        source: SourceChoice,
        reach: Reach,
        effort: Effort,
        threshold: float,
        within: str,
        edition: Literal["", "zh", "en"],
        language: Language,
        request: gr.Request,
    ) -> Iterator[Update]:
        """One question to updates of the tab. What was shown stays, whatever happens."""
        refusal = self._limit.refusal(request, language)
        parts = None if refusal else self._material.parts_for(reach, request)
        if parts is None:
            refusal = refusal or say("own_gone", language)
        if refusal or parts is None:
            gr.Warning(refusal)
            yield {self.question: gr.skip()}
            return
        if parts.desk is not None and reach == "alone":
            source, part = "textbook", EVERYTHING
        else:
            part = part_of(within, edition)
        if part != EVERYTHING and source == "auto":
            source = "textbook"  # the part is one of the course material
        run = Question(question, source, effort, threshold, history=state.turns, language=language, within=part)
        spoken = language_asked(question, language)
        before = [*messages(state.turns), {"role": "user", "content": escape_user(question)}]

        def conversation(view: View) -> Update:
            """The conversation with the reply so far.

            The turn is kept from the start, so that a stopped question stays in the conversation; one that failed
            before its first word is no turn.
            """
            own = parts.desk is not None
            turn = Turn(question, view.draft or say("stopped", spoken), view.told, view.sources, own)
            kept = state.with_turn(turn) if view.draft or view.busy else state
            next_ = [] if view.busy else [{"value": question} for question in view.further]
            reply = {"role": "assistant", "content": view.reply, "options": next_}
            return {self.chatbot: [*before, reply], self.state: kept}

        view = View(spoken, source=run.source)
        buttons = {self.send: gr.update(visible=False), self.stop: gr.update(visible=True)}
        # The cards of the question before go with its links to them.
        yield {**conversation(view), self.question: "", self.evidence: empty("evidence_empty", language), **buttons}
        try:
            for event in answer(parts, run):
                old, view = view, show(event, view)
                # A waiting run gives an update too: there Gradio notices who has gone.
                update = {self.question: gr.skip()} if view is old else conversation(view)
                if (view.found, view.cited, view.calls) != (old.found, old.cited, old.calls):
                    update[self.evidence] = view.evidence
                yield update
        except Exception as error:  # noqa: BLE001 - whatever broke, the student reads a sentence and goes on
            yield conversation(show(Failed(told(error, spoken), ""), view))
        yield self._at_rest()
        if view.how and set(view.how.values()) == {"refused"} and reach != "alone":
            self._left_open(question, request)

    def _left_open(self, question: str, request: gr.Request) -> None:
        """Count a question that found no answer, where that is wanted; one that an instructor locked has its hint."""
        board = self._parts.board
        if board is None or locked_exercise(question, self._parts.limits, self._parts.banks) is not None:
            return
        try:
            board.note(request.session_hash or "", [("open", place) for place in places(self._parts, question)])
        except OsragError as error:
            log.warning("not counted: %s", error.sentence())


def exported(state: Conversation, language: Language) -> str:
    """The conversation as a Markdown file, each answer with what it cites."""
    if not state.turns:
        gr.Info(say("nothing_to_export", language))
        return ""
    parts = [f"# osrag · {datetime.now():%Y-%m-%d %H:%M}"]
    for turn in state.turns:
        parts += [f"## {turn.question}", turn.answer, "\n".join(f"- {line}" for line in turn.sources)]
    return as_file("osrag.md", "text/markdown", "\n\n".join(filter(None, parts)).encode())


def last_question(state: Conversation, language: Language) -> str:
    """The question that a link is to open again, behind the sentence that says so."""
    if not state.turns:
        gr.Info(say("nothing_to_export", language))
        return ""
    gr.Info(say("link_copied", language))
    return state.turns[-1].question


def _picked(picked: gr.SelectData) -> tuple[str, SourceChoice]:
    """The question of the example that was clicked, and the source that it is put to."""
    text = str(picked.value["text"])
    sources: dict[str, SourceChoice] = {one: source for rows in example_questions().values() for one, source in rows}
    return text, sources.get(text, "textbook")


def _chosen(chosen: gr.SelectData) -> str:
    """The question below a reply that was clicked."""
    return str(chosen.value)


def messages(turns: tuple[Turn, ...]) -> list[dict[str, str]]:
    """Finished turns as the chat shows them."""
    pairs = ((escape_user(turn.question), past(turn)) for turn in turns)
    return [
        {"role": role, "content": text}
        for pair in pairs
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def escape_user(text: str) -> str:
    """A visitor's words are shown as they are, never as Markdown or HTML; a log keeps its lines."""
    if "\n" in text and read_log(text) is not None:
        return "\n".join([f"{FENCE}text", clip(text, LOG_SHOWN).replace(FENCE, "'''"), FENCE])
    return text.translate({ord(char): f"\\{char}" for char in "\\`*_#<>[]|~$"})
