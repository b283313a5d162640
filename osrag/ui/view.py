"""What the chat tab shows of a run: a frozen view that each event moves on."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import assert_never

from osrag.answer.events import NO_PATH, CallPath, Done, Event, Failed, Retrieved, SourceDone, Token, Waiting
from osrag.types import Language, Passage, SourceChoice, Stage
from osrag.ui.code_evidence import code_panel
from osrag.ui.evidence import panel
from osrag.wording import say

_CITATION = re.compile(r"(?<![A-Za-z0-9_\]])\[(\d{1,2})\](?!\()")  # not the index of `fd[0]`
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.S)  # where `[1]` is an index, not a citation
MARKS = ("textbook_unverified", "kernel_unverified")


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
    source: SourceChoice = "textbook"
    code: tuple[Passage, ...] = ()  # functions of the kernel
    version: str = ""  # of that kernel
    path: CallPath = NO_PATH
    marked: tuple[tuple[int, tuple[int, ...]], ...] = ()
    code_thought: str = ""
    code_queries: tuple[str, ...] = ()
    code_stages: tuple[Stage, ...] = ()

    @property
    def evidence(self) -> str:
        """HTML of the evidence panel: the book's part, the kernel's, or both under headings."""
        code = self._code_evidence() if self.code_thought else ""
        if code and not self.thought:
            return code
        book = panel(
            self.passages,
            language=self.language,
            thought=self.thought,
            queries=self.queries,
            stages=self.stages,
            cited=self.cited,
        )
        if not code:
            return book
        heading = '<h3 class="ev-part">{}</h3>'.format
        return "\n".join(
            [
                heading(escape(say("kernel_code_evidence", self.language, version=self.version))),
                code,
                heading(escape(say("kernel_book_evidence", self.language))),
                book,
            ]
        )

    def _code_evidence(self) -> str:
        cards = code_panel(
            self.code,
            language=self.language,
            version=self.version,
            path=self.path,
            marked=dict(self.marked),
            cited=self.cited,
        )
        return panel(
            (),
            language=self.language,
            thought=self.code_thought,
            queries=self.code_queries,
            stages=self.code_stages,
            between=cards,
        )

    @property
    def evidence_key(self) -> tuple[object, ...]:
        """Changes when the evidence panel does."""
        return self.passages, self.stages, self.cited, self.code, self.code_stages, self.path, self.marked

    @property
    def reply(self) -> str:
        """The reply for the chat: citations as links to their cards, marks as such."""
        waiting = "thinking" if self.source == "textbook" else "kernel_thinking"
        text = self.draft or (say(waiting, self.language) if self.busy else "")
        text = _outside_code(text, _linked)
        return f"{text}\n\n{self.error}".strip() if self.error else text


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    return "".join(part if at % 2 else change(part) for at, part in enumerate(_CODE.split(text)))


def _linked(text: str) -> str:
    for key in MARKS:
        for language in ("zh", "en"):
            mark = say(key, language)
            text = text.replace(mark, f'<span class="unverified">{escape(mark)}</span>')
    return _CITATION.sub(r"[\[\1\]](#ev-\1)", text)


def show(event: Event, view: View) -> View:
    match event:
        case Retrieved(source="textbook"):
            queries = event.queries or view.queries
            return replace(view, passages=event.passages, thought=event.thought, queries=queries, stages=event.stages)
        case Retrieved():
            return replace(
                view,
                code=event.passages,
                version=event.version,
                path=event.path,
                marked=event.marked,
                code_thought=event.thought,
                code_queries=event.queries or view.code_queries,
                code_stages=event.stages,
            )
        case Token():
            return replace(view, draft=view.draft + event.text)
        case SourceDone(source="textbook"):
            return replace(view, cited=_joined(view, event.cited), stages=event.stages)
        case SourceDone():
            return replace(view, cited=_joined(view, event.cited), code_stages=event.stages)
        case Done():
            return replace(view, busy=False)
        case Failed():
            error = f"**{say('error_title', view.language)}** {event.message} {event.hint}".strip()
            return replace(view, error=error, busy=False)
        case Waiting():
            return view
        case _:
            assert_never(event)


def _joined(view: View, cited: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys((*view.cited, *cited)))
