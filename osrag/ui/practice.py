"""What a visitor has practised, on the quiz tab: progress, today's review, export, import, an Anki deck of mistakes.

The deck lies in the visitor's browser (`gr.BrowserState`); nothing of it stays on the server.
"""

import json
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.quiz.bank import Bank
from osrag.quiz.exchange.anki import anki_deck, page_of
from osrag.study.repetition import Deck, exercises_on, read_deck, today
from osrag.types import Language
from osrag.ui.download import SAVE, as_file
from osrag.ui.quiz_view import QuizState
from osrag.ui.words import QUIET, TELLING, Words
from osrag.wording import say

MAX_FILE = 2_000_000  # bytes of an imported deck


def kept_in_browser() -> gr.BrowserState:
    """The entry in the browser's own store. Make it outside the tabs: in one it would be read only when that opens,
    over what an answer had brought meanwhile. The secret hides nothing; it keeps the entry readable for the next start.
    """
    return gr.BrowserState({}, storage_key="osrag-practice", secret="osrag-practice")


class Practising:
    """The components, and what their events do. Make it below the quiz."""

    def __init__(self, parts: Parts, words: Words, language: gr.State, deck: gr.BrowserState) -> None:
        self._parts = parts
        self._language = language
        self.deck = deck
        self.progress = gr.HTML("", elem_id="qz-progress")
        small: dict[str, Any] = {"size": "sm", "min_width": 120}
        with gr.Row(elem_id="qz-practice"):
            self._export = words.make(gr.Button, {"value": "practice_export"}, **small)
            load = {"file_types": [".json"], "file_count": "single", "elem_id": "qz-import", **small}
            self._import = words.make(gr.UploadButton, {"label": "practice_import"}, **load)
            self._anki = words.make(gr.Button, {"value": "practice_anki"}, elem_id="qz-anki", **small)
        self._file = gr.Textbox("", elem_classes="os-hidden", container=False)

    @property
    def _bank(self) -> Bank:
        return self._parts.banks.now

    def wire(self, state: gr.State) -> None:
        """The events; `state` is the visitor's."""
        both = [self.deck, self._language]
        self.deck.change(self.told, both, self.progress, **QUIET)
        save = {"fn": None, "inputs": self._file, "outputs": None, "js": SAVE}
        self._export.click(self.exported, both, self._file, **QUIET).then(**save)
        self._anki.click(self.for_anki, [state, self._language], self._file, **TELLING).then(**save)
        self._import.upload(self.imported, [self._import, *both], self.deck, **TELLING)

    def after(self, state: QuizState, kept: Any) -> tuple[QuizState, Any]:
        """The state, and the deck with what the state has and the deck not yet."""
        deck, _ = read_deck(kept)
        for judged, hinted in state.unkept:
            deck = deck.after(judged.exercise, judged, self._bank, today(), hinted=hinted)
        return replace(state, unkept=()), written(deck, kept) if state.unkept else gr.skip()

    def told(self, kept: Any, code: Language) -> str:
        """HTML of the progress."""
        deck, dropped = read_deck(kept)
        unread = f'<p role="alert">{escape(say("practice_unread", code, count=dropped))}</p>' if dropped else ""
        return unread + progress_html(deck, self._bank, code)

    def next_name(self, deck: Deck, code: Language, state: QuizState) -> str | None:
        """An exercise on the point that is due for longest: one that was not answered yet, where there is one."""
        for point in deck.due(today()):
            names = [one.name for one in exercises_on(point, self._bank) if one.language == code]
            if name := self._bank.pick(names, not_=state.answered):
                return name
        return None

    def exported(self, kept: Any, code: Language) -> str:
        """The deck as a file that the browser saves."""
        deck, _ = read_deck(kept)
        return as_file(
            "osrag-practice.json", "application/json", json.dumps(deck.as_data(), ensure_ascii=False).encode()
        )

    def imported(self, path: str | None, kept: Any, code: Language) -> Any:
        """The deck of a file; what it has of a point replaces what was there."""
        try:
            file = Path(path or "")
            data = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size <= MAX_FILE else "too large"
        except (OSError, ValueError, RecursionError):
            data = "not readable"
        deck, dropped = read_deck(data)
        if not deck.points:
            gr.Warning(say("practice_bad_file", code))
            return gr.skip()
        gr.Info(say("practice_imported", code, count=len(deck.points), dropped=dropped))
        before, _ = read_deck(kept)
        return Deck({**before.points, **deck.points}).as_data()

    def for_anki(self, state: QuizState, code: Language) -> str:
        """The mistakes of this session as a file for Anki."""
        mistakes = [one for one in state.mistakes if one.judgement.exercise.name not in state.closed]
        if not mistakes:
            gr.Info(say("quiz_locked" if state.mistakes else "practice_no_mistakes", code))
            return ""
        deck = anki_deck(say("anki_deck", code), [(one.judgement.exercise, page_of(one)) for one in mistakes])
        return as_file("osrag-mistakes.apkg", "application/octet-stream", deck)

    def none_due(self, deck: Deck, code: Language) -> str:
        """Why there is nothing to review now."""
        return next_line(deck, code) if deck.points else say("practice_nothing_yet", code)


def written(deck: Deck, kept: Any) -> dict[str, Any]:
    """The entry for the browser; what of the one before could not be read stays in it, for a version that can."""
    data = deck.as_data()
    if read_deck(kept)[1]:
        return {**data, "unread": kept}
    return {**data, "unread": kept["unread"]} if isinstance(kept, dict) and "unread" in kept else data


def next_line(deck: Deck, language: Language) -> str:
    """When the next point comes; empty for an empty deck."""
    day, now = deck.next_day(), today()
    if day is None:
        return ""
    minutes = max(1, round((day - now).total_seconds() / 60))
    soon = minutes <= 60
    return (
        say("practice_soon", language, count=minutes) if soon else say("practice_next", language, day=f"{day:%Y-%m-%d}")
    )


def progress_html(deck: Deck, bank: Bank, language: Language) -> str:
    """What is due, how questions after a mistake went, and a bar for each chapter; empty before the first answer."""
    if not deck.points:
        return ""
    now, (right, retried) = today(), deck.mended()
    due = len(deck.due(now))
    lines = [say("practice_due", language, count=due) if due else next_line(deck, language)]
    if retried:
        lines.append(say("practice_mended", language, right=right, count=retried))
    bars = []
    for chapter, (known, met, there) in deck.mastery(bank, now).items():
        if met:
            label = say("quiz_chapter", language, number=chapter)
            said = say("practice_chapter", language, known=known, met=met, there=there)
            bars.append(
                f'<li><span>{escape(label)}</span><meter min="0" max="{there}" value="{known}">{known}/{there}</meter>'
                f"<small>{escape(said)}</small></li>"
            )
    head = escape(" ".join(lines))
    return f'<div class="qz-progress"><p>{head}</p><ul>{"".join(bars)}</ul></div>'
