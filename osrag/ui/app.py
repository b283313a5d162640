"""The page as a whole: head, tabs, language, endpoints."""

import logging
from html import escape
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.text import language_of
from osrag.types import Language
from osrag.ui import banner, chat, quiz
from osrag.ui.api import Endpoints
from osrag.ui.chat import ChatTab
from osrag.ui.evidence import panel
from osrag.ui.quiz_view import QuizState
from osrag.ui.state import Conversation, RateLimit
from osrag.ui.theme import LOGO, STYLES, theme
from osrag.wording import say

log = logging.getLogger(__name__)
# The page knows its language (for the evidence script and for screen readers).
SET_LANG = "(lang) => { document.documentElement.lang = lang === 'en' ? 'en' : 'zh'; return lang; }"
TOGGLE_DARK = (
    "() => { document.body.classList.toggle('dark'); document.body.style.background = 'var(--body-background-fill)'; }"
)
HEAD = '<meta name="viewport" content="width=device-width, initial-scale=1">'


def brand(language: Language) -> str:
    words = f"<div><h1>osrag</h1><p>{escape(say('tagline', language))}</p></div>"
    place = escape(say("queue_place", language, place="{place}", of="{of}"))  # filled in by osrag.js
    return f'<div class="os-brand" data-place="{place}">{LOGO.read_text(encoding="utf-8")}{words}</div>'


def foot(parts: Parts, language: Language) -> str:
    manifest = parts.textbook.collection.manifest
    model = parts.chat.name if parts.chat else say("model_none", language)
    line = say(
        "model_line",
        language,
        model=model,
        documents=len(manifest.documents),
        chunks=manifest.counts.get("chunks", 0),
    )
    return f'<div class="os-foot">{escape(line)}<br>{escape(say("copy_licence", language))}</div>'


def build(parts: Parts) -> gr.Blocks:
    """The whole page over `parts`."""
    limit = RateLimit(parts.settings.requests_per_minute)
    with gr.Blocks(title="osrag", analytics_enabled=False, fill_width=True) as page:
        language = gr.State("zh")
        with gr.Row(elem_id="os-head"):
            head = gr.HTML(brand("zh"), scale=1)
            switch = gr.Button(say("language_button", "zh"), size="sm", elem_classes="os-small", elem_id="os-language")
            dark = gr.Button(say("theme_button", "zh"), size="sm", elem_classes="os-small", elem_id="os-theme")
        notice, timer = banner.build(parts, language)
        with gr.Tabs():
            with gr.Tab(say("tab_chat", "zh"), id="chat") as chat_tab:
                tab = chat.build(parts, language, limit)
            with gr.Tab(say("tab_quiz", "zh"), id="quiz", elem_id="os-quiz") as quiz_tab:
                exercise = quiz.build(parts, language, limit)
        below = gr.HTML(foot(parts, "zh"))

        worded = [
            head, switch, dark, notice, chat_tab, below, tab.chatbot, tab.question, tab.send, tab.stop, tab.retry,
            tab.clear, tab.source, tab.options, tab.effort, tab.threshold, tab.evidence_label, quiz_tab,
            *exercise.worded,
        ]  # fmt: skip

        def reword(code: Language, quizzed: QuizState) -> dict[Any, Any]:
            return {
                head: brand(code),
                switch: say("language_button", code),
                dark: say("theme_button", code),
                **banner.update(parts, notice, code),
                chat_tab: gr.Tab(label=say("tab_chat", code)),
                below: foot(parts, code),
                **_reword_chat(tab, code),
                quiz_tab: gr.Tab(label=say("tab_quiz", code)),
                **quiz.reword(exercise, code, quizzed),
            }

        def greet(request: gr.Request) -> dict[Any, Any]:
            code = first_language(request)
            asked = str(request.query_params.get("q", ""))[: parts.settings.max_question_chars]
            return {
                language: code,
                **reword(code, QuizState()),
                timer: gr.Timer(active=banner.watching(parts)),
                tab.evidence: panel((), language=code),
                tab.question: _typed(asked, code),
            }

        def turn(code: Language, state: Conversation, quizzed: QuizState) -> dict[Any, Any]:
            new: Language = "en" if code == "zh" else "zh"
            update = {language: new, **reword(new, quizzed)}
            # An open panel belongs to an answer and stays in its language; an empty one is reworded.
            return update if state.turns else {**update, tab.evidence: panel((), language=new)}

        quiet: dict[str, Any] = {"api_visibility": "private", "queue": False, "show_progress": "hidden"}
        page.load(greet, None, [language, timer, tab.evidence, *worded], **quiet).then(
            None, language, language, js=SET_LANG
        )
        switch.click(turn, [language, tab.state, exercise.state], [language, tab.evidence, *worded], **quiet).then(
            None, language, language, js=SET_LANG
        )
        dark.click(None, None, None, js=TOGGLE_DARK)
        Endpoints(parts, limit).add()
    page.queue(max_size=parts.settings.queue_size, default_concurrency_limit=parts.settings.slots)
    return page


def _typed(text: str, code: Language) -> Any:
    return gr.Textbox(value=text, placeholder=say("question_placeholder", code), label=say("question_box", code))


def _reword_chat(tab: ChatTab, code: Language) -> dict[Any, Any]:
    return {
        tab.chatbot: gr.Chatbot(placeholder=chat.welcome(code), examples=chat.examples(code)),
        tab.question: gr.Textbox(placeholder=say("question_placeholder", code), label=say("question_box", code)),
        tab.send: say("send", code),
        tab.stop: say("stop", code),
        tab.retry: say("retry", code),
        tab.clear: say("clear", code),
        tab.source: gr.Radio(chat.source_choices(code), label=say("kernel_source", code)),
        tab.options: gr.Accordion(label=say("options", code)),
        tab.effort: gr.Radio(chat.effort_choices(code), label=say("effort", code)),
        tab.threshold: gr.Slider(label=say("threshold", code), info=say("threshold_info", code)),
        tab.evidence_label: chat.label("evidence", code),
    }


def first_language(request: gr.Request) -> Language:
    """`?lang=`, else the language of a `?q=` question, else what the browser prefers."""
    named = str(request.query_params.get("lang", ""))
    if named in ("zh", "en"):
        return "zh" if named == "zh" else "en"
    asked = str(request.query_params.get("q", ""))
    if asked:
        return language_of(asked)
    preferred = str(request.headers.get("accept-language", "zh")).lower()
    return "zh" if preferred.startswith("zh") else "en"


def launch(parts: Parts, *, share: bool | None = None, block: bool = True) -> gr.Blocks:
    """Serve the page on the port of the settings; returns it when `block` is false."""
    settings, page = parts.settings, build(parts)
    serve(page, settings.host, settings.port, share=settings.share if share is None else share, block=block)
    return page


def serve(page: gr.Blocks, host: str, port: int | None, *, share: bool = False, block: bool = True) -> None:
    """Serve a page with its API and its MCP endpoint. Without a port Gradio takes a free one from 7860 on."""
    page.launch(
        server_name=host,
        server_port=port,
        share=share,
        prevent_thread_lock=not block,
        theme=theme(),
        css_paths=[STYLES],
        head=HEAD,
        footer_links=["api"],
        run_history=False,
        ssr_mode=False,
        mcp_server=True,
        enable_monitoring=False,
        max_file_size="20mb",
        quiet=not block,
    )
