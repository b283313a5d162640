"""What the chat tab shows of a run: a frozen view that each event moves on."""

import re
from dataclasses import dataclass, replace
from html import escape
from typing import assert_never

from osrag.answer.events import (
    AnswerChunk,
    CodeDescriptionChunk,
    CodeDone,
    CodeRetrieval,
    Done,
    Event,
    Failed,
    Retrieval,
    TextbookDone,
    Waiting,
)
from osrag.types import Language, Passage, Stage
from osrag.ui.evidence import panel
from osrag.wording import say

_CITATION = re.compile(r"\[(\d{1,2})\](?!\()")


@dataclass(frozen=True, slots=True)
class View:
    language: Language
    draft: str = ""  # Markdown of the reply so far
    passages: tuple[Passage, ...] = ()
    thought: str = ""
    queries: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    cited: tuple[int, ...] = ()
    error: str = ""
    busy: bool = True

    @property
    def evidence(self) -> str:
        """HTML of the evidence panel."""
        return panel(
            self.passages,
            language=self.language,
            thought=self.thought,
            queries=self.queries,
            stages=self.stages,
            cited=self.cited,
        )

    @property
    def reply(self) -> str:
        """The reply for the chat: citations as links to their cards, marks as such."""
        text = self.draft or (say("thinking", self.language) if self.busy else "")
        for language in ("zh", "en"):
            mark = say("unverified", language)
            text = text.replace(mark, f'<span class="unverified">{escape(mark)}</span>')
        text = _CITATION.sub(r"[\[\1\]](#ev-\1)", text)
        return f"{text}\n\n{self.error}".strip() if self.error else text


def show(event: Event, view: View) -> View:
    match event:
        case Retrieval() | CodeRetrieval():
            queries = event.queries or view.queries
            return replace(view, passages=event.passages, thought=event.thought, queries=queries, stages=event.stages)
        case AnswerChunk() | CodeDescriptionChunk():
            return replace(view, draft=view.draft + event.text)
        case TextbookDone() | CodeDone():
            cited = tuple(dict.fromkeys((*view.cited, *event.cited)))
            return replace(view, cited=cited, stages=event.stages)
        case Done():
            return replace(view, busy=False)
        case Failed():
            error = f"**{say('error_title', view.language)}** {event.message} {event.hint}".strip()
            return replace(view, error=error, busy=False)
        case Waiting():
            return view
        case _:
            assert_never(event)
