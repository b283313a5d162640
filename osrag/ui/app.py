"""The page as a whole: head, tabs, language, endpoints."""

from html import escape
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.text import language_of
from osrag.types import Language
from osrag.ui import banner
from osrag.ui.api import Endpoints
from osrag.ui.chat import ChatTab
from osrag.ui.evidence import empty
from osrag.ui.quiz import QuizTab
from osrag.ui.quiz_view import QuizState
from osrag.ui.state import Conversation, RateLimit
from osrag.ui.theme import LOGO, STYLES, theme
from osrag.ui.words import QUIET, Update, Words
from osrag.wording import say

# The page knows its language (for the evidence script and for screen readers).
SET_LANG = "(lang) => { document.documentElement.lang = lang === 'en' ? 'en' : 'zh'; return lang; }"
TOGGLE_DARK = (
    "() => { document.body.classList.toggle('dark'); document.body.style.background = 'var(--body-background-fill)'; }"
)
HEAD = '<meta name="viewport" content="width=device-width, initial-scale=1">'


def brand(language: Language) -> str:
    """The logo and the name of the page."""
    words = f"<div><h1>osrag</h1><p>{escape(say('tagline', language))}</p></div>"
    place = escape(say("queue_place", language, place="{place}", of="{of}"))  # filled in by osrag.js
    return f'<div class="os-brand" data-place="{place}">{LOGO.read_text(encoding="utf-8")}{words}</div>'


def foot(parts: Parts, language: Language) -> str:
    """Model, size of the material, licences."""
    manifest = parts.textbook.collection.manifest
    line = say(
        "model_line",
        language,
        model=parts.chat.name if parts.chat else say("model_none", language),
        documents=len(manifest.documents),
        chunks=manifest.counts.get("chunks", 0),
    )
    return f'<div class="os-foot">{escape(line)}<br>{escape(say("copy_licence", language))}</div>'


def build(parts: Parts) -> gr.Blocks:
    """The whole page over `parts`."""
    limit, words = RateLimit(parts.settings.requests_per_minute), Words()
    with gr.Blocks(title="osrag", analytics_enabled=False, fill_width=True) as page:
        language = gr.State("zh")
        with gr.Row(elem_id="os-head"):
            words.make(gr.HTML, {"value": brand}, scale=1)
            small: dict[str, Any] = {"size": "sm", "elem_classes": "os-small"}
            switch = words.make(gr.Button, {"value": "language_button"}, elem_id="os-language", **small)
            dark = words.make(gr.Button, {"value": "theme_button"}, elem_id="os-theme", **small)
        notice, timer = banner.build(parts, language)
        with gr.Tabs():
            with words.make(gr.Tab, {"label": "tab_chat"}, id="chat"):
                chat = ChatTab(parts, words, language, limit)
            with words.make(gr.Tab, {"label": "tab_quiz"}, id="quiz", elem_id="os-quiz"):
                quiz = QuizTab(parts, words, language, limit)
        words.make(gr.HTML, {"value": lambda code: foot(parts, code)})

        def greet(request: gr.Request) -> Update:
            """A visitor has come: the language that fits, and the question of a `?q=` link."""
            code = first_language(request)
            asked = str(request.query_params.get("q", ""))[: parts.settings.max_question_chars]
            return {
                language: code,
                timer: gr.Timer(active=parts.renewing),
                **words.update(
                    code,
                    {
                        **banner.update(parts, notice, code),
                        **quiz.reword(code, QuizState()),
                        chat.evidence: empty("evidence_empty", code),
                        chat.question: gr.update(value=asked),
                    },
                ),
            }

        def turn(code: Language, state: Conversation, quizzed: QuizState) -> Update:
            """The page in its other language."""
            new: Language = "en" if code == "zh" else "zh"
            changed = {**banner.update(parts, notice, new), **quiz.reword(new, quizzed)}
            if not state.turns:  # a panel that belongs to an answer stays in the language of that answer
                changed[chat.evidence] = empty("evidence_empty", new)
            return {language: new, **words.update(new, changed)}

        shown = [language, notice, chat.evidence, *words.components, *quiz.reworded]
        page.load(greet, None, [timer, *shown], **QUIET).then(None, language, language, js=SET_LANG)
        switch.click(turn, [language, chat.state, quiz.state], shown, **QUIET).then(
            None, language, language, js=SET_LANG
        )
        dark.click(None, None, None, js=TOGGLE_DARK)
        Endpoints(parts, limit).add()
    page.queue(max_size=parts.settings.queue_size, default_concurrency_limit=parts.settings.slots)
    return page


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
