"""What an instructor with the key does on the quiz tab: how much help the class gets, questions in and out."""

import secrets
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.errors import OsragError
from osrag.quiz.bank import BankFile
from osrag.quiz.exchange.write import FORMS
from osrag.study.limits import MODES
from osrag.types import Language
from osrag.ui.admission import QUIZ, QUIZ_AT_ONCE, RateLimit
from osrag.ui.board import BoardView
from osrag.ui.download import SAVE, as_file
from osrag.ui.words import QUIET, Words, choices, heading, told
from osrag.wording import in_language, say

MOST_LINES = 300  # of a report on the page


class Classroom:
    """The components, and what their events do; nothing of it shows before the key was given."""

    def __init__(self, parts: Parts, words: Words, language: gr.State, limit: RateLimit) -> None:
        self._parts, self._limit, self._language = parts, limit, language
        self._open = gr.State(False)  # lives on the server, so that nobody opens it by hand
        small: dict[str, Any] = {"size": "sm", "min_width": 120}
        with words.make(gr.Accordion, {"label": "class_label"}, open=False, elem_id="qz-class"):
            with gr.Row() as self._gate:
                self._key = words.make(gr.Textbox, {"label": "class_key"}, type="password", max_length=200)
                self._enter = words.make(gr.Button, {"value": "class_open"}, **small)
            with gr.Column(visible=False, elem_id="qz-class-inside") as self._inside:
                with gr.Row():
                    modes = {"label": "class_mode", "choices": choices("class_mode", MODES)}
                    self._mode = words.make(gr.Radio, modes, value=parts.limits.mode, scale=3)
                    self._switch = words.make(gr.Button, {"value": "class_switch"}, **small)
                words.make(gr.HTML, {"value": heading("class_bank")})
                with gr.Row():
                    load = {"file_count": "single", "elem_id": "qz-bank-in", **small}
                    self._upload = words.make(gr.UploadButton, {"label": "class_upload"}, **load)
                    self._clear = words.make(gr.Button, {"value": "class_clear"}, elem_id="qz-bank-clear", **small)
                with gr.Row():
                    forms = {"label": "class_form", "choices": choices("class_form", FORMS)}
                    self._form = words.make(gr.Dropdown, forms, value="moodle", min_width=130)
                    chapters = {"label": "quiz_by_chapter_label", "choices": self._chapters, "value": lambda code: ""}
                    self._chapter = words.make(gr.Dropdown, chapters, min_width=130)
                    self._give = words.make(gr.Button, {"value": "class_download"}, elem_id="qz-bank-out", **small)
                self._report = gr.HTML("", elem_id="qz-bank-report")
                self._board = BoardView(parts, parts.board, words, language, self._open) if parts.board else None
        self._file = gr.Textbox("", elem_classes="os-hidden", container=False)

    def wire(self, offered: Callable[[Language], list[Any]], pickers: list[Any]) -> None:
        """The events; `offered` gives what the `pickers` of questions show after the bank has changed."""
        inside, private = [self._open, self._language], {"api_visibility": "private"}
        line = {"concurrency_id": QUIZ, "concurrency_limit": QUIZ_AT_ONCE * self._parts.settings.slots}
        work: dict[str, Any] = {**line, "show_progress_on": [self._report], **private}
        opened = [self._open, self._gate, self._inside, self._key, self._mode]
        for enter in (self._enter.click, self._key.submit):
            enter(self.entered, [self._key, self._language], opened, **private)
        self._switch.click(self.switched, [*inside, self._mode], self._mode, **private)
        refreshed = {"fn": offered, "inputs": self._language, "outputs": pickers, **QUIET}
        self._upload.upload(self.taken, [*inside, self._upload], [self._report, self._chapter], **work).then(
            **refreshed
        )
        self._clear.click(self.cleared, inside, [self._report, self._chapter], **work).then(**refreshed)
        given = self._give.click(self.given, [*inside, self._form, self._chapter], [self._file, self._report], **work)
        given.then(None, self._file, None, js=SAVE)
        if self._board is not None:
            self._board.wire()

    def _chapters(self, code: Language) -> list[tuple[str, str]]:
        found = self._parts.banks.now.values("chapter", code)
        named = [(say("quiz_chapter", code, number=chapter), chapter) for chapter in found]
        return [(say("quiz_any", code), ""), *named]

    def entered(self, key: str, code: Language, request: gr.Request) -> list[Any]:
        """The instructor's part, for whoever knows the key; guesses count as questions do."""
        expected = self._parts.settings.instructor_key.get_secret_value().encode()
        refusal = self._limit.refusal(request, code)
        right = not refusal and secrets.compare_digest(key.encode(), expected)
        if not right:
            gr.Warning(refusal or say("class_wrong_key", code))
        return [right, gr.update(visible=not right), gr.update(visible=right), "", self._parts.limits.mode]

    def switched(self, open_: bool, code: Language, mode: str) -> str:
        """The class in another mode."""
        limits, wanted = self._parts.limits, next((one for one in MODES if one == mode), None)
        if open_ and wanted is not None:
            limits.switch(wanted)
            gr.Info(say("class_switched", code, mode=say(f"class_mode_{wanted}", code)))
        return limits.mode

    def taken(self, open_: bool, code: Language, path: str) -> list[Any]:
        """The questions of an uploaded file, beside those that are there; what was read and what was not."""
        if not open_:
            return [gr.skip(), gr.skip()]
        try:
            report = taken_html(self._parts.banks.add(Path(path)), code)
        except OsragError as error:
            report = f'<p class="qz-report" role="alert">{escape(told(error, code))}</p>'
        return [report, gr.update(choices=self._chapters(code), value="")]

    def cleared(self, open_: bool, code: Language) -> list[Any]:
        """The bank without what was uploaded."""
        if not open_:
            return [gr.skip(), gr.skip()]
        count = self._parts.banks.clear()
        report = f'<p class="qz-report">{escape(say("class_cleared", code, count=count))}</p>'
        return [report, gr.update(choices=self._chapters(code), value="")]

    def given(self, open_: bool, code: Language, form: str, chapter: str) -> list[Any]:
        """The questions of a chapter, in the language of the page, as a file; and what it could not hold."""
        wanted = FORMS.get(form)
        if not open_ or wanted is None:
            return [gr.skip(), gr.skip()]
        bank = self._parts.banks.now
        names = bank.find(code, chapter=chapter or "")
        exercises = [exercise for exercise in bank.exercises() if exercise.name in set(names)]
        try:
            written = wanted.write(exercises, say("course_name", code))
        except OsragError as error:
            return ["", f'<p class="qz-report" role="alert">{escape(told(error, code))}</p>']
        lines = listed("class_lost", written.lost, code)
        head = escape(say("class_given", code, count=len(exercises)))
        return [
            as_file(f"osrag{wanted.suffix}", wanted.media, written.data),
            f'<div class="qz-report"><p>{head}</p>{lines}</div>',
        ]


def taken_html(read: BankFile, language: Language) -> str:
    """What an uploaded file gave, what was left out and why, and what may not be meant so, by row."""
    kinds = "、" if language == "zh" else ", "
    types = kinds.join(f"{say(f'quiz_type_{name}', language)} {count}" for name, count in read.types.items())
    head = escape(say("class_taken", language, count=sum(read.types.values()), types=types))
    left = listed("class_left_out", read.slips, language)
    return f'<div class="qz-report"><p>{head}</p>{left}{listed("class_doubts", read.doubts, language)}</div>'


def listed(key: str, lines: Sequence[str], language: Language) -> str:
    """Lines behind a heading that counts them; empty for none."""
    if not lines:
        return ""
    rows = "".join(f"<li>{escape(in_language(line, language))}</li>" for line in lines[:MOST_LINES])
    more = f"<li>… +{len(lines) - MOST_LINES}</li>" if len(lines) > MOST_LINES else ""
    head = escape(say(key, language, count=len(lines)))
    return f"<details><summary>{head}</summary><ul>{rows}{more}</ul></details>"
