"""What to read next, below the evidence of the chat: computed after the answer, kept in the visitor's session."""

import functools
from html import escape
from typing import Any

import gradio as gr

from osrag.answer.events import Retrieved
from osrag.app.parts import Parts
from osrag.errors import OsragError
from osrag.study.recommend import (
    Interest,
    Profile,
    Recommended,
    Sections,
    Sign,
    exercise_for,
    recommend,
    section_of,
    sections_of,
)
from osrag.text import clip
from osrag.types import Language, Passage
from osrag.ui.evidence import panel
from osrag.ui.quiz_view import QuizState
from osrag.ui.state import Conversation
from osrag.ui.words import QUIET, log
from osrag.wording import say

READ = 3  # first hits of a question, which its answer showed


class Recommending:
    """The components, and what their events do. Make it below the evidence of the chat."""

    def __init__(self, parts: Parts, language: gr.State, evidence: gr.HTML) -> None:
        self._parts, self._language = parts, language
        self._profile = gr.State(Profile())
        self._exercises: gr.State = gr.State({})  # by section, the id of an exercise
        self._head = gr.HTML("", elem_id="os-next")

        @gr.render(inputs=[self._profile, self._exercises, language], triggers=[self._head.change], queue=False)  # type: ignore[untyped-decorator]
        def rows(profile: Profile, exercises: dict[str, str], code: Language) -> None:
            for one in recommend(profile, sections(parts, code)):
                with gr.Row(elem_classes="os-next-row"):
                    heading = next((part for part in one.page.section if part.startswith(f"{one.number} ")), one.number)
                    button = gr.Button(heading, size="sm", min_width=160, elem_classes="os-next-section")
                    gr.HTML(reason_html(one, exercises.get(one.number, ""), code))
                opened = functools.partial(self.opened, one, code)
                click = button.click(opened, self._profile, [evidence, self._profile], **QUIET)
                click.then(self.recommended, self._inputs, self._outputs, **QUIET)

    def wire(self, runs: list[Any], conversation: gr.State, quizzed: gr.State) -> None:
        """After each of these runs."""
        self._inputs = [self._profile, conversation, quizzed, self._language]
        self._outputs = [self._profile, self._exercises, self._head]
        for run in runs:
            self.after(run)

    def after(self, run: Any) -> None:
        """After one more event, such as a change of the language. Call it after `wire`."""
        run.then(self.recommended, self._inputs, self._outputs, **QUIET)

    def recommended(
        self, profile: Profile, conversation: Conversation, quizzed: QuizState, code: Language
    ) -> tuple[Profile, dict[str, str], str]:
        """The profile with what is new in the session; an exercise for each section; the heading."""
        try:
            for turn in conversation.turns[-1:]:
                if turn.sources and not profile.has("asked", turn.question):
                    profile = profile.after(self._sign("asked", turn.question))
            for result in quizzed.mistakes[:1]:
                if not profile.has("missed", result.judgement.exercise.question):
                    profile = profile.after(self._sign("missed", result.judgement.exercise.question))
            found = recommend(profile, sections(self._parts, code))
        except OsragError as error:
            log.warning("nothing is recommended: %s", error.sentence())
            return profile, {}, ""
        bank = self._parts.banks.now
        names = [(one.name, one.section) for one in bank.exercises() if one.language == code]
        exercises = {one.number: exercise_for(one.number, names, quizzed.answered).split("/")[0] for one in found}
        # The sections stand in the heading unseen, so that it changes with them and they are drawn anew.
        told = " ".join(f"{one.number} {one.because.text}" for one in found)
        head = f'<div class="os-label" data-next="{escape(told, quote=True)}">{escape(say("next_label", code))}</div>'
        return profile, exercises, head if found else ""

    def _sign(self, sign: Sign, text: str) -> Interest:
        search = self._parts.textbook
        read = (section_of(hit.chunk) for hit in search.search(text).hits[:READ]) if sign == "asked" else ()
        (vector,) = search.encoder.queries([text])
        return Interest(sign, text, tuple(map(float, vector)), tuple(filter(None, read)))

    def opened(self, one: Recommended, code: Language, profile: Profile) -> tuple[str, Profile]:
        """The page of a section among the evidence; a sign of interest."""
        shown = panel(Retrieved("textbook", (Passage(1, one.page, 1.0, 1.0),), ""), code)
        (vector,) = self._parts.textbook.encoder.queries([one.page.section_path])
        sign = Interest("opened", one.page.section[-1], tuple(map(float, vector)), (one.number,))
        return shown, profile.after(sign)


def sections(parts: Parts, language: Language) -> Sections:
    """The sections of the book, read once for each index."""
    return _sections(parts.textbook.collection, language)


@functools.lru_cache(maxsize=4)
def _sections(collection: Any, language: Language) -> Sections:
    return sections_of(collection, language)


def reason_html(one: Recommended, exercise: str, language: Language) -> str:
    """Why a section is recommended, and an exercise on it."""
    why = escape(say(f"next_{one.because.sign}", language, text=clip(one.because.text, 60)))
    link = (
        f' <a href="?quiz={escape(exercise, quote=True)}" target="_blank">{escape(say("next_exercise", language))}</a>'
    )
    return f'<p class="os-next">{why}{link if exercise else ""}</p>'
