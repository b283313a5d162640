"""What the chat tab shows of a run: a frozen view that each event moves on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import assert_never

from osrag.answer.events import Called, Done, Event, Failed, How, Retrieved, SourceDone, Token, Waiting
from osrag.answer.view import place_of, source_url
from osrag.kernel.code import place
from osrag.text import language_of
from osrag.types import CodeChunk, Language, Passage, SourceChoice, SourceName, Turn
from osrag.ui.evidence import bare, calls_html, empty, linked, marked, outside_code, panel
from osrag.ui.folded import fold, folded
from osrag.wording import say

_URL = re.compile(r"https://\S+")
_LINK = r'<a href="\g<0>" target="_blank" rel="noopener noreferrer">\g<0></a>'


@dataclass(frozen=True, slots=True)
class View:
    """The reply and the evidence of one run so far."""

    language: Language
    source: SourceChoice = "textbook"
    calls: tuple[Called, ...] = ()  # of tools
    found: Mapping[SourceName, Retrieved] = field(default_factory=dict)  # the last of each source
    draft: str = ""  # Markdown of the reply so far
    cited: tuple[int, ...] = ()  # numbers of passages
    how: Mapping[SourceName, How] = field(default_factory=dict)  # how the parts that are whole came about
    further: tuple[str, ...] = ()  # questions to ask next
    error: str = ""
    busy: bool = True

    @property
    def evidence(self) -> str:
        """HTML of the evidence panel: the kernel's part, the book's, or both under headings."""
        parts = {
            source: panel(found, self.language, self.cited)
            for source, found in self.found.items()
            if found.thought or found.passages
        }
        calls = calls_html(self.calls, self.language)
        if len(parts) < 2:
            return "".join([calls, *parts.values()]) or empty("evidence_empty", self.language)
        code = say("kernel_code_evidence", self.language, version=self.found["kernel"].version)
        book = say("kernel_book_evidence", self.language)
        heading = '<h3 class="ev-part">{}</h3>'.format
        return "\n".join([calls, heading(escape(code)), parts["kernel"], heading(escape(book)), parts["textbook"]])

    @property
    def sources(self) -> tuple[str, ...]:
        """A line for each passage that is cited, with where it stands."""
        versions = {one.chunk.id: found.version for found in self.found.values() for one in found.passages}
        passages = {one.number: one for found in self.found.values() for one in found.passages}
        cited = (passages[number] for number in sorted(self.cited) if number in passages)
        return tuple(source_line(one, versions[one.chunk.id], self.language) for one in cited)

    @property
    def below(self) -> str:
        """Markdown below a whole reply: how each part came about, and links to the other sources."""
        return f"{self.told}{self._others}"

    @property
    def told(self) -> str:
        """Markdown of how each part of a whole reply came about."""
        words = [say(f"how_{how}", self.language) for how in self.how.values()]
        if len(set(words)) == 1 and (self.source != "auto" or "computed" in self.how.values()):
            words = words[:1]
        elif words:
            sources = (say(f"kernel_source_{source}", self.language) for source in self.how)
            words = [
                say("how_of", self.language, source=source, how=how) for source, how in zip(sources, words, strict=True)
            ]
        return f'\n\n<small class="how">{escape(" · ".join(words))}</small>' if words and not self.busy else ""

    @property
    def _others(self) -> str:
        """Links that put the question to the other sources, where it was left open which one answers."""
        if self.source != "auto" or self.busy or not self.how or "computed" in self.how.values():
            return ""
        answered = "both" if len(self.how) > 1 else next(iter(self.how))
        others = [source for source in ("textbook", "kernel", "both") if source != answered]
        links = (f"[{say(f'kernel_source_{source}', self.language)}](#ask-{source})" for source in others)
        return f"\n\n{say('source_instead', self.language)} {' · '.join(links)}"

    @property
    def reply(self) -> str:
        """The reply for the chat: citations as links to their cards, marks as such."""
        draft = outside_code(self.draft, lambda part: linked(marked(bare(part))))
        text = folded(f"{draft}{self.below}", self.language)
        if self.busy:
            waiting = "kernel_thinking" if self.source in ("kernel", "both") else "thinking"
            read = any(found.passages for found in self.found.values())
            words = escape(say("working" if self.draft else "reading" if read else waiting, self.language))
            text = f'{text}\n\n<span class="os-working" role="status">{words}</span>'.lstrip()
        return f"{text}\n\n{self.error}".strip() if self.error else text


def past(turn: Turn) -> str:
    """The reply of an earlier turn for the chat. Its cards are gone, so it lists what it cites and leads nowhere."""
    language = language_of(turn.question)
    answer = outside_code(turn.answer, lambda part: marked(bare(part)))
    text = folded(f"{answer}{turn.below}", language)
    if not turn.sources:
        return text
    rows = "".join(f"<li>{_URL.sub(_LINK, escape(line))}</li>" for line in turn.sources)
    return f"{text}\n\n{fold(say('evidence', language), f'<ul>{rows}</ul>')}"


def source_line(passage: Passage, version: str, language: Language) -> str:
    """`[3] Book · section · p. 40`, or `[9] do_exit · kernel/exit.c:806 · address`."""
    chunk = passage.chunk
    if isinstance(chunk, CodeChunk):
        return (
            f"[{passage.number}] {chunk.name} · {place(chunk)} · {source_url(chunk.source, chunk.where.first, version)}"
        )
    where = place_of(chunk, language)
    return " · ".join(filter(None, [f"[{passage.number}] {chunk.title or chunk.source}", chunk.section_path, where]))


def show(event: Event, view: View) -> View:
    """The view after an event; the same view where nothing changes."""
    match event:
        case Retrieved():
            queries = event.queries or _found(view, event.source).queries
            return replace(view, found={**view.found, event.source: replace(event, queries=queries)})
        case Called():
            return replace(view, calls=(*view.calls, event))
        case Token():
            return replace(view, draft=view.draft + event.text)
        case SourceDone():
            found = replace(_found(view, event.source), stages=event.stages)
            cited = tuple(dict.fromkeys((*view.cited, *event.cited)))
            how = {**view.how, event.source: event.how}
            further = (*view.further, *event.further)
            return replace(view, found={**view.found, event.source: found}, cited=cited, how=how, further=further)
        case Done():
            return replace(view, busy=False)
        case Failed():
            error = f"**{say('error_title', view.language)}** {bare(f'{event.message} {event.hint}')}".strip()
            return replace(view, error=error, busy=False)
        case Waiting():
            return view
        case _:
            assert_never(event)


def _found(view: View, source: SourceName) -> Retrieved:
    return view.found.get(source, Retrieved(source, (), ""))
