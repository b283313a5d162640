"""The evidence panel as HTML: pure functions of what a run has told so far."""

from collections.abc import Collection, Sequence
from html import escape

from osrag.text import clip
from osrag.types import Chunk, Language, PageRef, Passage, Stage
from osrag.wording import say

EXCERPT = 260  # characters shown before the reader asks for all


def panel(
    passages: Sequence[Passage],
    *,
    language: Language,
    thought: str = "",
    queries: Sequence[str] = (),
    stages: Sequence[Stage] = (),
    cited: Collection[int] = (),
    between: str = "",
) -> str:
    """The whole panel; an empty state that says what to do when nothing was asked yet.

    `between` is HTML of further cards.
    """
    if not passages and not stages and not thought:
        return f'<div class="ev-empty">{escape(say("evidence_empty", language))}</div>'
    parts = [f'<p class="ev-thought">{escape(thought)}</p>'] if thought else []
    parts += [card(passage, language=language, cited=passage.number in cited) for passage in passages]
    if between:
        parts.append(between)
    if queries:
        items = "".join(f"<li>{escape(query)}</li>" for query in queries)
        parts.append(f'<div class="ev-queries"><b>{escape(say("searched_for", language))}</b><ul>{items}</ul></div>')
    if stages:
        parts.append(times(stages, language=language))
    return "\n".join(parts)


def card(passage: Passage, *, language: Language, cited: bool = False) -> str:
    """One passage: where it stands, how near it is, its words, and the button for its page."""
    chunk = passage.chunk
    title = chunk.title if isinstance(chunk, Chunk) and chunk.title else chunk.source
    section = chunk.section_path if isinstance(chunk, Chunk) else ""
    text = " ".join(chunk.text.split())
    mark = f'<span class="ev-cited">{escape(say("cited_here", language))}</span>' if cited else ""
    return (
        f'<article class="ev-card{" is-cited" if cited else ""}" id="ev-{passage.number}" '
        f'data-chunk="{escape(chunk.id, quote=True)}">'
        f'<header><span class="ev-number">{passage.number}</span>'
        f'<div class="ev-place"><div class="ev-title">{escape(title)}</div>'
        f'<div class="ev-section">{escape(section)}</div>'
        f'<div class="ev-where">{escape(where(passage, language))}{mark}</div></div>'
        f'<span class="ev-score" title="{escape(say("similarity", language))}">{passage.similarity:.2f}</span></header>'
        f'<p class="ev-text">{escape(clip(text, EXCERPT))}</p>{_rest(chunk.text, text, language)}'
        f"{_page_button(passage, language)}"
        '<div class="ev-picture" hidden></div></article>'
    )


def where(passage: Passage, language: Language) -> str:
    """`p. 21 (page 41 of the file)`, or lines."""
    place = passage.chunk.where
    if not isinstance(place, PageRef):
        return say("line_label", language, first=place.first, last=place.last)
    label = say("page_label", language, label=place.label)
    if place.label == str(place.first):
        return label
    return f"{label} · {say('file_page', language, page=place.first)}"


def _rest(whole: str, flat: str, language: Language) -> str:
    if len(flat) <= EXCERPT:
        return ""
    return f"<details><summary>{escape(say('read_all', language))}</summary><pre>{escape(whole)}</pre></details>"


def _page_button(passage: Passage, language: Language) -> str:
    if not isinstance(passage.chunk.where, PageRef):
        return ""
    return (
        f'<button type="button" class="ev-page" data-show="{escape(say("show_page", language))}" '
        f'data-hide="{escape(say("hide_page", language))}" data-wait="{escape(say("loading_page", language))}" '
        f'aria-expanded="false">{escape(say("show_page", language))}</button>'
    )


def times(stages: Sequence[Stage], *, language: Language) -> str:
    """`search 0.09 s · choose sentences 0.21 s · …`, with a note where a stage left one."""
    items = []
    for stage in stages:
        note = f' title="{escape(stage.note)}"' if stage.note else ""
        name = escape(say(f"stage_{stage.name}", language))
        items.append(f"<span{note}>{name} <b>{stage.seconds:.2f} s</b></span>")
    return f'<div class="ev-times"><b>{escape(say("times", language))}</b> {" · ".join(items)}</div>'
