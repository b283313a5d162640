"""The material that a visitor brings for a session: a tab, and beside the question of the chat."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any, Literal, get_args

import gradio as gr

from osrag.app.parts import Parts
from osrag.book.desk import Brought, Desk, Quota
from osrag.types import Language
from osrag.ui.admission import RateLimit, address_of
from osrag.ui.words import QUIET, Update, Words, choices
from osrag.wording import in_language, say

Reach = Literal["beside", "alone", "without"]  # what of a visitor's material a question is put to
UPLOAD = "upload"  # the line in which uploads wait
AT_ONCE = 8  # uploads that are watched; one file is read at a time


class Material:
    """The components and what their events do. Make `beside_question` in the chat and `tab` inside `gr.Tab`."""

    def __init__(self, parts: Parts, words: Words, language: gr.State, limit: RateLimit) -> None:
        self._parts, self._words, self._language, self._limit = parts, words, language, limit

    def beside_question(self) -> None:
        """A button, a line on how far the reading is, and what a question is put to."""
        add: dict[str, Any] = {"file_count": "multiple", "size": "sm", "scale": 0, "min_width": 110}
        add |= {"elem_id": "om-add-chat", "visible": self._parts.desks.most > 0}
        reach = {"choices": choices("own_reach", get_args(Reach)), "label": "own_reach"}
        with gr.Row(elem_id="om-row"):
            self.add = self._words.make(gr.UploadButton, {"label": "own_add"}, **add)
            self.reach = self._words.make(
                gr.Radio, reach, value="beside", container=False, visible=False, elem_id="om-reach"
            )
        self.line = gr.HTML("", visible=False, elem_id="om-line")

    def tab(self) -> None:
        """What may be brought, the files and how far each is."""
        quota = self._parts.desks.quota
        self._words.make(gr.HTML, {"value": lambda code: before_html(quota, self._parts.desks.idle_s, code)})
        with gr.Row():
            small: dict[str, Any] = {"min_width": 110, "scale": 0}
            add = {"file_count": "multiple", "variant": "primary", "elem_id": "om-add", **small}
            self.add_here = self._words.make(gr.UploadButton, {"label": "own_add"}, **add)
            self.stop = self._words.make(
                gr.Button, {"value": "own_stop"}, variant="stop", visible=False, elem_id="om-stop", **small
            )
            self.forget = self._words.make(
                gr.Button, {"value": "own_forget"}, visible=False, elem_id="om-forget", **small
            )
        self.list = gr.HTML("", elem_id="om-list")

    def wire(self, page: gr.Blocks) -> None:
        """The events, after both were made."""
        self.shown = [self.line, self.reach, self.list, self.stop, self.forget]
        for add in (self.add, self.add_here):
            add.upload(
                self.added,
                [add, self._language],
                self.shown,
                api_visibility="private",
                show_progress="hidden",
                concurrency_id=UPLOAD,
                concurrency_limit=AT_ONCE,
            )
        self.stop.click(self.stopped, None, None, **QUIET)
        self.forget.click(self.forgotten, self._language, self.shown, **QUIET)
        page.unload(self.gone)

    def added(self, paths: Sequence[str] | None, code: Language, request: gr.Request) -> Iterator[Update]:
        """Files that were uploaded: how far their reading is, again and again."""
        if not paths:
            yield {self.line: gr.skip()}
            return
        refusal = self._limit.refusal(request, code)
        desk = None if refusal else self._parts.desks.open(request.session_hash or "", address_of(request))
        if desk is None:
            gr.Warning(refusal or say("own_no_room", code))
            yield {self.line: gr.skip()}
            return
        uploaded = [Path(path) for path in paths]
        before: tuple[Brought, ...] = ()
        desk.also += uploaded
        with closing(desk.bring(uploaded)) as steps:
            for files in steps:
                self._parts.desks.busy(request.session_hash or "")
                # An update without a change too: there Gradio notices who has gone.
                yield self.update(desk, code) if files != before else {self.line: gr.skip()}
                before = files

    def update(self, desk: Desk | None, code: Language) -> Update:
        """What the page shows of a desk."""
        files = desk.files if desk and not desk.closed else ()
        reading = any(one.state in ("waiting", "reading", "embedding") for one in files)
        return {
            self.line: gr.update(value=line_html(files, code), visible=bool(files)),
            self.reach: gr.update(visible=bool(desk and desk.pages)),
            self.list: list_html(files, self._parts.desks.quota, code),
            self.stop: gr.update(visible=reading),
            self.forget: gr.update(visible=bool(files)),
        }

    def of(self, request: gr.Request, code: Language) -> Update:
        """What the page shows of the desk of a visitor."""
        return self.update(self._parts.desks.of(request.session_hash or ""), code)

    def stopped(self, request: gr.Request) -> None:
        """End the reading; what can be searched stays."""
        desk = self._parts.desks.of(request.session_hash or "")
        if desk is not None:
            desk.stop()

    def forgotten(self, code: Language, request: gr.Request) -> Update:
        """Delete all files."""
        self._parts.desks.close(request.session_hash or "")
        return self.update(None, code)

    def gone(self, request: gr.Request) -> None:
        """The page went away."""
        self._parts.desks.gone(request.session_hash or "")

    def parts_for(self, reach: Reach, request: gr.Request) -> Parts | None:
        """The parts that answer a visitor; None where a question is for files that are not here any more."""
        desk = self._parts.desks.of(request.session_hash or "")
        if reach == "without" or desk is None or not desk.passages:
            return None if reach == "alone" else self._parts
        return self._parts.with_desk(desk, alone=reach == "alone")


def before_html(quota: Quota, idle_s: float, code: Language) -> str:
    """What may be brought, and how long it stays."""
    limits = say(
        "own_limits",
        code,
        files=quota.files,
        mb=quota.bytes // 1_000_000,
        pages=f"{quota.pages:,}",
        minutes=f"{quota.read_s / 60:g}",
    )
    keeps = say("own_keeps", code, minutes=f"{idle_s / 60:g}")
    lines = "".join(f"<p>{escape(line)}</p>" for line in (say("own_about", code), limits, keeps))
    return f'<div class="om-about">{lines}</div>'


def line_html(files: Sequence[Brought], code: Language) -> str:
    """One line: how much can be searched, and what is being read."""
    pages = sum(one.pages for one in files)
    kept = [one for one in files if one.pages or one.state != "failed"]
    parts = [say("own_line", code, files=len(kept), pages=pages)]
    if now := next((one for one in files if one.state in ("reading", "embedding")), None):
        parts.append(f"{now.name}: {state_text(now, code)}")
    if failed := [one.name for one in files if one.state == "failed"]:
        parts.append(say("own_line_failed", code, names=("、" if code == "zh" else ", ").join(failed)))
    return f'<div class="om-line" role="status">{escape(" · ".join(parts))}</div>'


def list_html(files: Sequence[Brought], quota: Quota, code: Language) -> str:
    """The files, each with its state; what is used of the limits."""
    if not files:
        return f'<p class="om-none">{escape(say("own_none", code))}</p>'
    rows = []
    for one in files:
        busy = one.state in ("reading", "embedding")
        bar = f'<progress max="{max(1, one.total)}" value="{one.done}"></progress>' if busy else ""
        said = (in_language(line, code).removeprefix(one.name).lstrip(":： ") for line in one.told)  # its name is there
        lines = "".join(f"<p>{escape(line)}</p>" for line in said)
        rows.append(
            f'<li class="om-file is-{one.state}"><b>{escape(one.name)}</b>'
            f"<span>{escape(state_text(one, code))}</span>{bar}{lines}</li>"
        )
    used = say(
        "own_used",
        code,
        pages=f"{sum(one.pages for one in files):,}",
        most_pages=f"{quota.pages:,}",
        mb=f"{sum(one.bytes for one in files) / 1e6:.1f}",
        most_mb=quota.bytes // 1_000_000,
    )
    return f'<ul class="om-files" role="list">{"".join(rows)}</ul><p class="om-used">{escape(used)}</p>'


def state_text(one: Brought, code: Language) -> str:
    """How far one file is, as a sentence."""
    if one.state == "failed":
        told = say(f"own_why_{one.why}", code)
        return f"{told} {say('own_partly', code, pages=one.pages)}" if one.pages else told
    state = "opening" if one.state == "reading" and not one.total else one.state
    text = say(f"own_state_{state}", code, done=one.done, total=one.total, pages=one.pages)
    return f"{text} {say('own_partly', code, pages=one.pages)}" if one.pages and one.state != "ready" else text
