"""The page as a whole: head, tabs, language, endpoints."""

from html import escape
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from osrag.app.metrics import Metrics
from osrag.app.parts import Parts
from osrag.quiz.exercise import Exercise
from osrag.settings import Settings
from osrag.text import language_of
from osrag.types import Language
from osrag.ui.admission import RateLimit, first_language, line_up
from osrag.ui.api import Endpoints
from osrag.ui.arguments import Page
from osrag.ui.chat import ChatTab
from osrag.ui.evidence import empty
from osrag.ui.guard import HANDLERS, KEPT_S, guards, speak_directly_to_itself, upload_mb
from osrag.ui.lab.tab import LabTab
from osrag.ui.material import Material
from osrag.ui.measured import measured_html
from osrag.ui.operate import Operation, Probes
from osrag.ui.practice import kept_in_browser
from osrag.ui.quiz import QuizTab
from osrag.ui.quiz_view import QuizState
from osrag.ui.scripts import Scripts
from osrag.ui.state import Conversation, keep_sessions_small
from osrag.ui.theme import LOGO, STYLES, theme
from osrag.ui.words import QUIET, Update, Words
from osrag.wording import say

# The page knows its language (for the scripts of the panels and for screen readers). A `gr.State` never reaches the
# browser, so the script reads it off the button that names the other language.
SET_LANG = (
    f"(other) => {{ document.documentElement.lang = other === '{say('language_button', 'en')}' ? 'en' : 'zh'; "
    "document.documentElement.classList.remove('os-waits'); }"
)
# What a visitor chose stays in the browser; without a choice the page follows the system.
DARK = "document.body.classList.toggle('dark', dark); document.body.style.background = 'var(--body-background-fill)';"
TOGGLE_DARK = (
    f"() => {{ const dark = !document.body.classList.contains('dark'); {DARK} "
    "try { localStorage.setItem('osrag-dark', dark ? '1' : ''); } catch {} }"
)
KEEP_DARK = (
    "() => { let kept = null; try { kept = localStorage.getItem('osrag-dark'); } catch {} "
    f"if (kept !== null) {{ const dark = kept === '1'; {DARK} }} }}"
)
EVERY_S = 2.0  # between two looks at an index that is being made
# A page is made in Chinese; one that will not be shown so is hidden until it has its words.
HEAD = """<meta name="viewport" content="width=device-width, initial-scale=1">
<script>
if (!(new URLSearchParams(location.search).get('lang') || navigator.language).startsWith('zh'))
  document.documentElement.classList.add('os-waits');
</script>"""


def brand(language: Language) -> str:
    """The logo and the name of the page."""
    words = f"<div><h1>osrag</h1><p>{escape(say('tagline', language))}</p></div>"
    # In the place of what Gradio says itself, by osrag.js.
    said = {
        "place": say("queue_place", language, place="{place}", of="{of}"),
        "large": say("too_large", language, limit="{limit}"),
        "back": say("back_to_answer", language),
        **{kind: say(f"toast_{kind}", language) for kind in ("info", "warning", "error")},
        **{kind: say(f"label_{kind}", language) for kind in ("copy", "flag", "reset", "close", "talk")},
    }
    data = " ".join(f'data-{name}="{escape(text)}"' for name, text in said.items())
    return f'<div class="os-brand" {data}>{LOGO.read_text(encoding="utf-8")}{words}</div>'


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


def banner(parts: Parts, language: Language) -> str:
    """HTML of a quiet line: which model was replaced by which, and how far a new index is. Empty when all is as set.

    The line opens to the reasons and remedies.
    """
    steps = {notice.step for notice in parts.notices}
    # Where the small model cannot be had either, only the last step is true.
    last = [one for one in parts.notices if not (one.step == "small_chat" and "no_chat" in steps)]
    short = [*(notice.short(language) for notice in last), *parts.stale_lines(language)]
    if not short:
        return ""
    line = escape(" ".join(short))
    reasons = dict.fromkeys(notice.why(language) for notice in parts.notices)
    if not reasons:
        return f'<div class="os-notice" role="status">{line}</div>'
    inside = "".join(f"<p>{escape(reason)}</p>" for reason in reasons)
    return f'<details class="os-notice" role="status"><summary>{line}</summary>{inside}</details>'


def build(parts: Parts) -> gr.Blocks:
    """The whole page over `parts`."""
    keep_sessions_small()
    settings = parts.settings
    most = settings.requests_per_minute, settings.visitors_per_address
    limit, words = RateLimit(*most, refused=parts.metrics.refused("too_often")), Words()
    with Page(title="osrag", analytics_enabled=False, fill_width=True, delete_cache=(KEPT_S, KEPT_S)) as page:
        language, deck = gr.State("zh"), kept_in_browser()
        with gr.Row(elem_id="os-head"):
            words.make(gr.HTML, {"value": brand}, scale=1)
            small: dict[str, Any] = {"size": "sm", "elem_classes": "os-small"}
            switch = words.make(gr.Button, {"value": "language_button"}, elem_id="os-language", **small)
            dark = words.make(gr.Button, {"value": "theme_button"}, elem_id="os-theme", **small)
        text = banner(parts, "zh")
        notice = gr.HTML(text, visible=bool(text), elem_id="os-notice")
        timer = gr.Timer(EVERY_S, active=parts.renewing)
        material = Material(parts, words, language, limit)
        scripts = Scripts(limit, settings.visitors_per_address)
        with gr.Tabs() as tabs:
            with words.make(gr.Tab, {"label": "tab_chat"}, id="chat"):
                chat = ChatTab(parts, words, language, limit, material, scripts)
            with words.make(gr.Tab, {"label": "tab_quiz"}, id="quiz", elem_id="os-quiz"):
                quiz = QuizTab(parts, words, language, limit, deck, scripts)
            if chat.next is not None:
                chat.next.wire([*chat.runs, *quiz.runs], chat.state, quiz.state)
            with words.make(gr.Tab, {"label": "tab_lab"}, id="lab", elem_id="os-lab-tab"):
                LabTab(parts, scripts)
            with words.make(gr.Tab, {"label": "tab_material"}, id="material", visible=bool(parts.desks.most)):
                material.tab()
            with words.make(gr.Tab, {"label": "tab_measured"}, id="measured"):
                words.make(gr.HTML, {"value": measured_html})
        words.make(gr.HTML, {"value": lambda code: foot(parts, code)})

        def look(code: Language) -> Update:
            """The banner and its timer, which keeps it true while an index is being made."""
            text = banner(parts, code)
            return {notice: gr.update(value=text, visible=bool(text)), timer: gr.Timer(active=parts.renewing)}

        def greet(request: gr.Request) -> Update:
            """A visitor has come: the language that fits, the question of a `?q=` link, the tab that a link names."""
            code = page_language(request)
            asked = str(request.query_params.get("q", ""))[: parts.settings.max_question_chars]
            wanted = str(request.query_params.get("quiz", ""))
            changed = {**look(code), **quiz.reword(code, None, QuizState()), **quiz.first(code, wanted)}
            changed |= material.of(request, code)
            changed[chat.evidence] = empty("evidence_empty", code)
            if asked:  # else the field may hold what a quick visitor has typed already
                changed[chat.question] = gr.update(value=asked)
            if tab := next((one for one in ("lab", "quiz", "material", "measured") if one in request.query_params), ""):
                changed[tabs] = gr.Tabs(selected=tab)
            return {language: code, **words.update(code, changed)}

        def turn(
            code: Language, state: Conversation, item: Exercise | None, quizzed: QuizState, request: gr.Request
        ) -> Update:
            """The page in its other language."""
            new: Language = "en" if code == "zh" else "zh"
            changed = {**look(new), **quiz.reword(new, item, quizzed), **material.of(request, new)}
            if not state.turns:  # a panel that belongs to an answer stays in the language of that answer
                changed[chat.evidence] = empty("evidence_empty", new)
            return {language: new, **words.update(new, changed)}

        timer.tick(look, language, [notice, timer], **QUIET)
        material.wire(page)
        own = [one for one in material.shown if one not in words.components]
        shown = [language, notice, timer, chat.evidence, *words.components, *own, *quiz.shown, quiz.tally]
        greeted = page.load(greet, None, [tabs, *shown], **QUIET)
        turned = switch.click(turn, [language, chat.state, quiz.item, quiz.state], shown, cancels=quiz.runs, **QUIET)
        if chat.next is not None:
            chat.next.after(turned)
        for done in (greeted, turned):
            done.then(None, switch, None, js=SET_LANG)
        dark.click(None, None, None, js=TOGGLE_DARK)
        page.load(None, None, None, js=KEEP_DARK)
        Endpoints(parts, limit).add(page)
    # Closed to Gradio's `/run`: a call there waits in no line, and is none of those that a stop lets end.
    page.queue(default_concurrency_limit=settings.slots, api_open=False)
    line_up(page, settings.queue_size, parts.metrics.refused("queue_full"))
    return page


def page_language(request: gr.Request) -> Language:
    """`?lang=`, else the language of a `?q=` question, else what the browser prefers."""
    named = str(request.query_params.get("lang", ""))
    if named in ("zh", "en"):
        return "zh" if named == "zh" else "en"
    asked = str(request.query_params.get("q", ""))
    return language_of(asked) if asked else first_language(request.headers)


def serve(page: gr.Blocks, settings: Settings, metrics: Metrics, *, block: bool = True) -> Operation:
    """Serve a page with its API, its MCP endpoint and its probes, at the address of the settings.

    Returns when the page has stopped, or at once without `block`.
    """
    speak_directly_to_itself()
    operation = Operation(page, metrics, public=settings.metrics)
    if block:
        operation.stop_on_sigterm(settings.stop_s)
    page.launch(
        server_name=settings.host,
        server_port=settings.port,
        share=settings.share,
        prevent_thread_lock=not block,
        theme=theme(),
        css_paths=[STYLES],
        head=HEAD,
        footer_links=["api"],
        run_history=False,
        ssr_mode=False,
        mcp_server=True,
        show_error=True,  # what Gradio says of a call that it cannot pass on; ours are sentences already
        enable_monitoring=False,
        max_file_size=f"{upload_mb(settings)}mb",
        app_kwargs={"middleware": [Middleware(Probes, operation), *guards(settings)], "exception_handlers": HANDLERS},
        quiet=not block,
        # Gradio has reached the page by now. With its second look it gives up for good where a busy machine needs
        # more than three seconds for it.
        _frontend=False,
    )
    return operation
