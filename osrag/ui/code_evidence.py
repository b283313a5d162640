"""The code panel as HTML: functions with line numbers, the lines a reply quotes marked, the calls drawn."""

from collections.abc import Collection, Mapping, Sequence
from html import escape

from osrag.answer.events import CallPath
from osrag.answer.view import source_url
from osrag.kernel.code import SourceLine, all_lines, one_line, place
from osrag.types import CodeChunk, Language, Passage
from osrag.ui.diagram import diagram
from osrag.wording import say

MOST_LINES = 700  # of one function on the page; the longest of the kernel are cut with a word


def code_panel(
    passages: Sequence[Passage],
    *,
    language: Language,
    version: str,
    path: CallPath,
    marked: Mapping[int, Collection[int]],
    cited: Collection[int],
) -> str:
    """The diagram, then a card a function: those whose code is quoted first."""
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


def code_card(
    passage: Passage, *, language: Language, version: str, marked: frozenset[int] = frozenset(), cited: bool = False
) -> str:
    """One function: what it is for, where it stands, its quoted lines, all of it on request."""
    chunk = passage.chunk
    assert isinstance(chunk, CodeChunk)
    lines = all_lines(chunk)
    mark = f'<span class="ev-cited">{escape(say("cited_here", language))}</span>' if cited else ""
    head = (
        f'<header><span class="ev-number">{passage.number}</span><div class="ev-place">'
        f'<div class="ev-title cd-name">{escape(chunk.name)}</div>'
        f'<div class="ev-where">{_link(chunk, version, language)}{mark}</div></div>'
        f'<span class="ev-score" title="{escape(say("similarity", language))}">{passage.similarity:.2f}</span></header>'
    )
    about = f'<p class="ev-text">{escape(one_line(chunk, language))}</p>'
    excerpt = _code([line for line in lines if line.number in marked], frozenset(), language) if marked else ""
    whole = (
        f'<details class="cd-all"><summary>{escape(say("kernel_show_all", language, count=len(lines)))}</summary>'
        f"{_code(lines[:MOST_LINES], marked, language)}</details>"
    )
    return (
        f'<article class="ev-card ev-code{" is-cited" if cited else ""}" id="ev-{passage.number}" '
        f'data-chunk="{escape(chunk.id, quote=True)}">{head}{about}{excerpt}{whole}</article>'
    )


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
