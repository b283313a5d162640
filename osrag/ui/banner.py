"""A quiet line under the head: which model was replaced by which, and how far a new index is."""

from html import escape

import gradio as gr

from osrag.app.parts import Parts
from osrag.types import Language
from osrag.ui.words import QUIET, Update

EVERY_S = 2.0  # between two looks at an index that is being made


def banner(parts: Parts, language: Language) -> str:
    """HTML: one line, which opens to the reasons and remedies; empty when all is as it was set."""
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


def build(parts: Parts, language: gr.State) -> tuple[gr.HTML, gr.Timer]:
    """The line, and the timer that keeps it true while an index is being made. Call inside `gr.Blocks`."""
    text = banner(parts, "zh")
    line = gr.HTML(text, visible=bool(text), elem_id="os-notice")
    timer = gr.Timer(EVERY_S, active=parts.renewing)

    def look(code: Language) -> Update:
        return {**update(parts, line, code), timer: gr.Timer(active=parts.renewing)}

    timer.tick(look, language, [line, timer], **QUIET)
    return line, timer


def update(parts: Parts, line: gr.HTML, language: Language) -> Update:
    """The line in a language."""
    text = banner(parts, language)
    return {line: gr.update(value=text, visible=bool(text))}
