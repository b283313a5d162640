"""The evidence panel: pages of the course book and functions of the kernel, as a run has told of them so far."""

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape

import gradio as gr

from osrag.answer.events import CallPath
from osrag.answer.view import source_url
from osrag.app.parts import Parts
from osrag.kernel.code import SourceLine, all_lines, one_line, place
from osrag.text import clip
from osrag.types import Chunk, ChunkKind, CodeChunk, Language, PageRef, Passage, Stage
from osrag.ui.diagram import diagram
from osrag.ui.pages import page_server
from osrag.ui.theme import SCRIPT
from osrag.wording import say

EXCERPT = 260  # characters of a passage that are shown before the reader asks for all
MOST_LINES = 700  # of one function on the page; the few longer ones of the kernel are cut there
CITATION = re.compile(r"(?<![A-Za-z0-9_\]])\[(\d{1,2})\](?!\()")  # not the index of `fd[0]`


MARKS = ("textbook_unverified", "kernel_unverified")  # of claims that nothing supports
PICTURE = '<div class="ev-picture" hidden></div>'  # filled in by osrag.js
MARKDOWN = re.compile(r"```\w*|\*\*|\|(?:-+\|)*")  # left out of an excerpt


def evidence_panel(parts: Parts, html: str, elem_id: str) -> gr.HTML:
    """The component, with the script that opens the pages of its cards."""
    return gr.HTML(
        html,
        elem_id=elem_id,
        js_on_load=SCRIPT.read_text(encoding="utf-8"),
        server_functions=[page_server(parts)],
    )


def linked(text: str) -> str:
    """Markdown whose citations `[1]` lead to the card of the passage."""
    return CITATION.sub(r"[\[\1\]](#ev-\1)", text)


def marked(text: str) -> str:
    """Text in which the marks of claims that nothing supports look like marks."""
    for key in MARKS:
        for language in ("zh", "en"):
            mark = say(key, language)
            text = text.replace(mark, f'<span class="unverified">{escape(mark)}</span>')
    return text


def panel(
    passages: Sequence[Passage],
    *,
    language: Language,
    thought: str = "",
    queries: Sequence[str] = (),
    stages: Sequence[Stage] = (),
    cited: Collection[int] = (),
    cards: str | None = None,
) -> str:
    """HTML of the whole panel; an empty state that says what to do when nothing was asked yet.

    `cards` stands in the place of the cards of `passages`.
    """
    if not passages and not stages and not thought:
        return f'<div class="ev-empty">{escape(say("evidence_empty", language))}</div>'
    if cards is None:
        cards = "\n".join(book_card(passage, language=language, cited=passage.number in cited) for passage in passages)
    parts = [f'<p class="ev-thought">{escape(thought)}</p>' if thought else "", cards]
    if queries:
        items = "".join(f"<li>{escape(query)}</li>" for query in queries)
        parts.append(f'<div class="ev-queries"><b>{escape(say("searched_for", language))}</b><ul>{items}</ul></div>')
    if stages:
        parts.append(times(stages, language=language))
    return "\n".join(filter(None, parts))


def code_cards(
    passages: Sequence[Passage],
    *,
    language: Language,
    version: str,
    path: CallPath,
    marked: Mapping[int, Collection[int]],
    cited: Collection[int],
) -> str:
    """The diagram of the calls, then a card for each function: those whose code is quoted first."""
    first = sorted(passages, key=lambda passage: (passage.number not in marked, passage.number not in cited))
    cards = [
        code_card(
            passage,
            language=language,
            version=version,
            marked=frozenset(marked.get(passage.number, ())),
            cited=passage.number in cited,
        )
        for passage in first
    ]
    return "\n".join([diagram(path, language), *cards])


def _card(passage: Passage, *, language: Language, cited: bool, kind: str, place: str, body: str) -> str:
    """The frame of every card: its number, the HTML of its `place`, the similarity, its `body`."""
    mark = f'<span class="ev-cited">{escape(say("cited_here", language))}</span>' if cited else ""
    return (
        f'<article class="ev-card{kind}{" is-cited" if cited else ""}" id="ev-{passage.number}" '
        f'data-chunk="{escape(passage.chunk.id, quote=True)}">'
        f'<header><span class="ev-number">{passage.number}</span><div class="ev-place">{place}{mark}</div></div>'
        f'<span class="ev-score" title="{escape(say("similarity", language))}">{passage.similarity:.2f}</span></header>'
        f"{body}</article>"
    )


def book_card(passage: Passage, *, language: Language, cited: bool = False) -> str:
    """A passage of the book: where it stands, how near it is, its words, and the button for its page."""
    chunk = passage.chunk
    title = chunk.title if isinstance(chunk, Chunk) and chunk.title else chunk.source
    section = chunk.section_path if isinstance(chunk, Chunk) else ""
    flat = " ".join(chunk.text.split())
    excerpt = " ".join(MARKDOWN.sub(" ", chunk.text).split()) if chunk.kind is ChunkKind.API else flat
    whole = button = ""
    if len(flat) > EXCERPT:
        more = escape(say("read_all", language))
        whole = f"<details><summary>{more}</summary><pre>{escape(chunk.text)}</pre></details>"
    if isinstance(chunk.where, PageRef):
        button = (
            f'<button type="button" class="ev-page" data-show="{escape(say("show_page", language))}" '
            f'data-hide="{escape(say("hide_page", language))}" data-wait="{escape(say("loading_page", language))}" '
            f'aria-expanded="false">{escape(say("show_page", language))}</button>'
        )
    return _card(
        passage,
        language=language,
        cited=cited,
        kind="",
        place=(
            f'<div class="ev-title">{escape(title)}</div><div class="ev-section">{escape(section)}</div>'
            f'<div class="ev-where">{escape(where(passage, language))}'
        ),
        body=(f'<p class="ev-text">{escape(clip(excerpt, EXCERPT))}</p>{whole}{button}{PICTURE}'),
    )


def code_card(
    passage: Passage, *, language: Language, version: str, marked: frozenset[int] = frozenset(), cited: bool = False
) -> str:
    """A function: where it stands, what it is for, its quoted lines, all of it on request."""
    chunk = passage.chunk
    assert isinstance(chunk, CodeChunk)
    lines = all_lines(chunk)
    excerpt = _code([line for line in lines if line.number in marked], frozenset(), language) if marked else ""
    all_of_it = escape(say("kernel_show_all", language, count=len(lines)))
    return _card(
        passage,
        language=language,
        cited=cited,
        kind=" ev-code",
        place=(
            f'<div class="ev-title cd-name">{escape(chunk.name)}</div>'
            f'<div class="ev-where">{_link(chunk, version, language)}'
        ),
        body=(
            f'<p class="ev-text">{escape(one_line(chunk, language))}</p>{excerpt}'
            f'<details class="cd-all"><summary>{all_of_it}</summary>'
            f"{_code(lines[:MOST_LINES], marked, language)}</details>"
        ),
    )


def where(passage: Passage, language: Language) -> str:
    """`p. 21 (page 41 of the file)`, or lines."""
    at = passage.chunk.where
    if not isinstance(at, PageRef):
        return say("line_label", language, first=at.first, last=at.last)
    label = say("page_label", language, label=at.label)
    return label if at.label == str(at.first) else f"{label} · {say('file_page', language, page=at.first)}"


def _link(chunk: CodeChunk, version: str, language: Language) -> str:
    if not version:
        return escape(place(chunk))
    url = escape(source_url(chunk.source, chunk.where.first, version), quote=True)
    title = escape(say("kernel_open", language), quote=True)
    opens = 'target="_blank" rel="noopener noreferrer"'
    return f'<a class="cd-link" href="{url}" {opens} title="{title}">{escape(place(chunk))}</a>'


def _code(lines: Sequence[SourceLine], marked: Collection[int], language: Language) -> str:
    """Lines with numbers that a copy leaves out; a gap where lines are left out."""
    rows: list[str] = []
    last = lines[0].number if lines else 0
    for line in lines:
        if line.number > last + 1:
            rows.append('<span class="cd-gap" aria-hidden="true">⋯</span>')
        kind = "cd-line is-marked" if line.number in marked else "cd-line"
        rows.append(f'<span class="{kind}" data-n="{line.number}">{escape(line.text) or " "}</span>')
        last = line.number
    copy = (
        f'<button type="button" class="cd-copy" data-done="{escape(say("kernel_copied", language), quote=True)}">'
        f"{escape(say('kernel_copy', language))}</button>"
    )
    return f'<div class="cd-box">{copy}<pre class="cd-code" tabindex="0"><code>{"".join(rows)}</code></pre></div>'


def times(stages: Sequence[Stage], *, language: Language) -> str:
    """`search 0.09 s · choose sentences 0.21 s · …`, with a note where a stage left one."""
    items = []
    for stage in stages:
        note = f' title="{escape(stage.note)}"' if stage.note else ""
        name = escape(say(f"stage_{stage.name}", language))
        items.append(f"<span{note}>{name} <b>{stage.seconds:.2f} s</b></span>")
    return f'<div class="ev-times"><b>{escape(say("times", language))}</b> {" · ".join(items)}</div>'
