"""The evidence panel: pages of the course book and functions of the kernel, as a run has told of them so far."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from html import escape
from itertools import islice
from typing import get_args

import gradio as gr

from osrag.answer.events import Called, CallPath, Retrieved
from osrag.answer.view import place_of, source_url
from osrag.app.parts import Parts
from osrag.book.desk import SOURCE as UPLOADED
from osrag.book.entries import ApiFields, api_fields
from osrag.errors import BadIndex
from osrag.kernel.code import SourceLine, all_lines, fields, one_line, place
from osrag.kernel.expand import Reached, Relation, definition, reached, relations
from osrag.text import clip
from osrag.types import AnyChunk, Chunk, ChunkKind, CodeChunk, Language, PageRef, Stage
from osrag.ui.pages import has_page, page_server
from osrag.ui.scripts import Scripts, Served
from osrag.ui.theme import SCRIPT
from osrag.wording import say

CALL_CHARS = 4000  # of what a tool returned
EXCERPT = 260  # characters of a passage that are shown before the student asks for all
MOST_LINES = 700  # of one function on the page; the few longer ones of the kernel are cut there
# Code as Markdown reads it, and nothing that it would not: what is taken for code is not escaped.
_CODE = re.compile(r"(^ {0,3}```[^`\n]*\n.*?(?:^ {0,3}```|\Z)|(?<![`\\])`[^`\n]+`(?!`))", re.S | re.M)
CITATION = re.compile(r"(?<![A-Za-z0-9_\]])\[(\d{1,2})\](?!\()")  # not the index of `fd[0]`
MARKS = ("textbook_unverified", "kernel_unverified")  # of claims that nothing supports
PICTURE = '<div class="ev-picture" hidden></div>'  # filled in by osrag.js
MARKDOWN = re.compile(r"```\w*|\*\*|\|(?:-+\|)*")  # left out of an excerpt
ROW, STEP, HEIGHT = 34, 22, 24  # pixels of the diagram: between rows, for each level, of a box
CHAR = 7.3  # width of a letter of the 12 px fixed font
MOST_ROWS = 22  # of the diagram
TIP = (
    '<defs><marker id="cd-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" class="cd-tip"/></marker></defs>'
)


def evidence_panel(parts: Parts, scripts: Scripts, html: str, elem_id: str) -> gr.HTML:
    """The component, with the script that opens the pages of its cards."""
    return gr.HTML(
        html,
        elem_id=elem_id,
        js_on_load=SCRIPT.read_text(encoding="utf-8"),
        server_functions=panel_functions(parts, scripts),
    )


def panel_functions(parts: Parts, scripts: Scripts) -> list[Served]:
    """What the script of the panel may call."""
    return [
        scripts.behind(page_server(parts), scripts.pages),
        scripts.behind(expand_server(parts), scripts.quick),
    ]


def expand_server(parts: Parts) -> Callable[[dict[str, str]], dict[str, str]]:
    """The function that the script of the panel calls as `server.reached_from`."""

    def reached_from(asked: dict[str, str]) -> dict[str, str]:
        """`{"html"}`: what stands in a relation to a piece of code, `{name, file, relation, field, lang}`."""
        language: Language = "en" if asked.get("lang") == "en" else "zh"
        relation = next((one for one in get_args(Relation) if one == asked.get("relation")), None)
        try:
            store = parts.kernel.store
        except BadIndex as error:
            return {"html": f'<p class="ev-text">{escape(error.sentence())}</p>'}
        chunks = definition(store, str(asked.get("name", "")), str(asked.get("file", "")))
        found = reached(store, chunks[0], relation, str(asked.get("field", ""))) if chunks and relation else ()
        return {"html": reached_html(found, store.version, language)}

    return reached_from


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Markdown with its words changed; in code `[1]` is an index, and `<` stands for itself."""
    return "".join(part if place % 2 else change(part) for place, part in enumerate(_CODE.split(text)))


def bare(text: str) -> str:
    """Markdown without HTML and pictures: what a model or a document wrote of them stands there as it was written."""
    return text.replace("<", "&lt;").replace("![", "!\\[")


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


def empty(key: str, language: Language) -> str:
    """HTML that stands where there is nothing yet, and says what to do."""
    return f'<div class="ev-empty">{escape(say(key, language))}</div>'


def panel(found: Retrieved, language: Language, cited: Collection[int] = ()) -> str:
    """HTML of what one source found: a line about the search, a card for each passage, the queries, the times.

    A panel of the kernel begins with the diagram of the calls, then the functions whose code is quoted.
    """
    parts = [f'<p class="ev-thought">{escape(found.thought)}</p>'] if found.thought else []
    passages, lines, in_linux = found.passages, dict(found.marked), dict(found.in_linux)
    if found.source == "kernel":
        passages = tuple(sorted(passages, key=lambda one: (one.number not in lines, one.number not in cited)))
        parts.append(diagram(found.path, language))
    for passage in passages:
        if isinstance(passage.chunk, CodeChunk):
            place, body = code_card(passage.chunk, found.version, lines.get(passage.number, ()), language)
        else:
            place, body = _book_card(passage.chunk, language)
            body += _walk_button(in_linux.get(passage.number, ""), language)
        mark = f'<span class="ev-cited">{escape(say("cited_here", language))}</span>' if passage.number in cited else ""
        kind = f"{' ev-code' if found.source == 'kernel' else ''}{' is-cited' if mark else ''}"
        title = escape(say("similarity", language))
        score = f'<span class="ev-score" title="{title}">{passage.similarity:.2f}</span>' if passage.similarity else ""
        parts.append(
            f'<article class="ev-card{kind}" id="ev-{passage.number}" '
            f'data-chunk="{escape(passage.chunk.id, quote=True)}">'
            f'<header><span class="ev-number">{passage.number}</span><div class="ev-place">{place}{mark}</div></div>'
            f"{score}</header>{body}</article>"
        )
    if found.queries:
        items = "".join(f"<li>{escape(query)}</li>" for query in found.queries)
        parts.append(f'<div class="ev-queries"><b>{escape(say("searched_for", language))}</b><ul>{items}</ul></div>')
    if found.stages:
        parts.append(_times(found.stages, language))
    return "\n".join(filter(None, parts))


def calls_html(calls: Sequence[Called], language: Language) -> str:
    """The calls of tools, folded: what was asked, how much came of it, and what that was. Empty without any."""
    if not calls:
        return ""
    rows = []
    for one in calls:
        given = ", ".join(str(value) for value in one.arguments.values() if value not in ("", None))
        count = next((len(rows) for rows in one.result.values() if isinstance(rows, list)), None)
        told = say("tool_failed", language) if "error" in one.result else "" if count is None else f"→ {count}"
        result = escape(clip(json.dumps(one.result, ensure_ascii=False, indent=1), CALL_CHARS))
        line = f"<code>{escape(one.name)}</code> {escape(clip(given, 80))} <span>{escape(told)}</span>"
        rows.append(f"<details><summary>{line} <b>{one.seconds:.2f} s</b></summary><pre>{result}</pre></details>")
    return f'<div class="ev-calls"><b>{escape(say("tool_calls", language))}</b>{"".join(rows)}</div>'


def card(chunk: AnyChunk, version: str, language: Language) -> str:
    """HTML of one passage that no search found: without a number and a score."""
    code = isinstance(chunk, CodeChunk)
    place, body = (
        code_card(chunk, version, (), language) if isinstance(chunk, CodeChunk) else _book_card(chunk, language)
    )
    return (
        f'<article class="ev-card{" ev-code" if code else ""}" data-chunk="{escape(chunk.id, quote=True)}">'
        f'<header><div class="ev-place">{place}</div></div></header>{body}</article>'
    )


def _book_card(chunk: Chunk, language: Language) -> tuple[str, str]:
    """HTML of where a passage of the book stands, and of its words with the button for its page."""
    text = re.sub(r"\n\s*\n", "\n", chunk.text.strip())  # a listing keeps its lines
    excerpt = " ".join(MARKDOWN.sub(" ", text).split()) if chunk.kind is ChunkKind.API else text
    whole = button = ""
    if len(text) > EXCERPT:
        more = escape(say("read_all", language))
        whole = f"<details><summary>{more}</summary><pre>{escape(chunk.text)}</pre></details>"
    at, where = chunk.where, place_of(chunk, language)
    if isinstance(at, PageRef) and at.label != str(at.first):
        where = f"{where} · {say('file_page', language, page=at.first)}"
    if chunk.source.startswith(UPLOADED):
        where = f"{where} · {say('own_badge', language)}"
    if chunk.recognised:
        where = f"{where} · {say('recognised', language, percent=round(100 * chunk.recognised))}"
    if has_page(chunk):
        show, hide, wait = (escape(say(key, language)) for key in ("show_page", "hide_page", "loading_page"))
        button = (
            f'<button type="button" class="ev-page" data-show="{show}" data-hide="{hide}" data-wait="{wait}" '
            f'aria-expanded="false">{show}</button>'
        )
    if chunk.version:
        where = f"{where} · {chunk.version}"
    title = escape(chunk.title or chunk.source)
    if chunk.url.startswith(("https://", "http://")):  # a document may say anything of itself
        title = f'<a href="{escape(chunk.url, quote=True)}" target="_blank" rel="noopener noreferrer">{title}</a>'
    place = (
        f'<div class="ev-title">{title}</div>'
        f'<div class="ev-section">{escape(chunk.section_path)}</div><div class="ev-where">{escape(where)}'
    )
    shown = f'<p class="ev-text">{escape(clip(excerpt, EXCERPT))}</p>'
    if chunk.kind is ChunkKind.API:
        shown = _api_html(api_fields(chunk.text), language) or shown
    return place, f"{shown}{whole}{button}{PICTURE}"


def _api_html(entry: ApiFields, language: Language) -> str:
    """An entry of an API reference by its parts; empty where it has no signature."""
    if not entry.signature:
        return ""
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in entry.parameters)
    told = [
        ("api_parameters", f"<table>{rows}</table>" if rows else ""),
        ("api_returns", escape(entry.returns)),
        ("api_errors", ", ".join(f"<code>{escape(name)}</code>" for name in entry.errors)),
    ]
    parts = "".join(f"<dt>{escape(say(key, language))}</dt><dd>{value}</dd>" for key, value in told if value)
    about = escape(clip(entry.description, EXCERPT))
    return f'<div class="ev-api"><code>{escape(entry.signature)}</code><p>{about}</p><dl>{parts}</dl></div>'


def _walk_button(title: str, language: Language) -> str:
    """HTML of the button that asks the kernel for the walk-through of this name; empty without one."""
    if not title:
        return ""
    said = escape(say("walk_in_linux", language, title=title))
    return f'<button type="button" class="ev-walk" data-ask="{escape(title, quote=True)}">{said}</button>'


def code_card(chunk: CodeChunk, version: str, marked: Collection[int], language: Language) -> tuple[str, str]:
    """HTML of where a function stands, and of what it is for, its `marked` lines, and all of it on request."""
    lines = all_lines(chunk)
    excerpt = _code([line for line in lines if line.number in marked], (), language) if marked else ""
    url = escape(source_url(chunk.source, chunk.where.first, version), quote=True)
    title = escape(say("kernel_open", language), quote=True)
    link = f'<a class="cd-link" href="{url}" target="_blank" rel="noopener noreferrer" title="{title}">'
    whole = escape(say("kernel_show_all", language, count=len(lines)))
    return (
        f'<div class="ev-title cd-name">{escape(chunk.name)}</div>'
        f'<div class="ev-where">{link}{escape(place(chunk))}</a>',
        f'<p class="ev-text">{escape(one_line(chunk, language))}</p>{excerpt}'
        f'<details class="cd-all"><summary>{whole}</summary>{_code(lines[:MOST_LINES], marked, language)}</details>'
        f"{_expanding(chunk, language)}",
    )


def _expanding(chunk: CodeChunk, language: Language) -> str:
    """Buttons for what is reached from a piece of code, and room for what they bring; a structure asks for a field."""
    asked = relations(chunk)
    names = fields(chunk) if chunk.kind is ChunkKind.STRUCT else ()
    if not asked or (chunk.kind is ChunkKind.STRUCT and not names):
        return ""
    options = "".join(f"<option>{escape(name)}</option>" for name in names)
    label = escape(say("expand_field", language), quote=True)
    pick = f'<select class="cd-field" aria-label="{label}">{options}</select>' if names else ""
    buttons = "".join(
        f'<button type="button" class="cd-reach" data-relation="{one}" aria-expanded="false">'
        f"{escape(say(f'expand_{one}', language))}</button>"
        for one in asked
    )
    at = f'data-name="{escape(chunk.name, quote=True)}" data-file="{escape(chunk.source, quote=True)}"'
    return f'<div class="cd-expand" {at}>{pick}{buttons}<div class="cd-reached" aria-live="polite" hidden></div></div>'


def reached_html(found: Sequence[Reached], version: str, language: Language) -> str:
    """Pieces of code with the lines that lead to them; each can be opened again."""
    if not found:
        return f'<p class="ev-text">{escape(say("expand_none", language))}</p>'
    rows = []
    for one in found:
        where, body = code_card(one.chunk, version, (), language)
        pointer = f'<span class="cd-pointer">{escape(say("expand_pointer", language))}</span>' if one.indirect else ""
        lines = _code(one.lines, (), language) if one.lines else ""
        rows.append(f'<article class="cd-one">{where}{pointer}</div>{lines}{body}</article>')
    return "".join(rows)


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


def _times(stages: Sequence[Stage], language: Language) -> str:
    """`search 0.09 s · choose sentences 0.21 s · …`, with a note where a stage left one."""
    items = []
    for stage in stages:
        note = f' title="{escape(stage.note)}"' if stage.note else ""
        name = escape(say(f"stage_{stage.name}", language))
        items.append(f"<span{note}>{name} <b>{stage.seconds:.2f} s</b></span>")
    return f'<div class="ev-times"><b>{escape(say("times", language))}</b> {" · ".join(items)}</div>'


def diagram(path: CallPath, language: Language) -> str:
    """Boxes and arrows; a box with a number leads to the card of that function. Empty without calls.

    An arrow leaves a caller at its lower left; a call of a row above goes round on the right.
    """
    if not path.edges:
        return ""
    numbers = {step.name: f"[{step.number}]" for step in path.steps}
    boxes: list[str] = []
    place: dict[str, tuple[int, int, float]] = {}  # of each function: left, top and right of its box, in pixels
    for row, (name, level) in enumerate(islice(_shown(path, numbers).items(), MOST_ROWS)):
        number, x, y = numbers.get(name, ""), 4 + STEP * level, ROW * row + 2
        width = CHAR * len(f"{number} {name}".strip()) + 16
        place[name] = x, y, x + width
        label = f'<tspan class="cd-no">{number}</tspan> {escape(name)}' if number else escape(name)
        box = (
            f'<g class="cd-node{"" if number else " is-between"}"><rect x="{x}" y="{y}" width="{width:.0f}" '
            f'height="{HEIGHT}" rx="6"/><text x="{x + 8}" y="{y + 16}">{label}</text></g>'
        )
        boxes.append(f'<a href="#ev-{number[1:-1]}">{box}</a>' if number else box)
    kinds = {(caller, callee): say(f"edge_{kind}", language) for caller, callee, kind in path.indirect}
    notes: list[str] = []  # beside a box, how it is reached where no call leads to it
    end = max(right for _, _, right in place.values()) + 8
    arrows: list[str] = []
    edges = [edge for edge in path.edges if place.keys() >= {*edge}]
    for caller, callee in edges:
        (x, y, right), (to_x, to_y, to_right) = place[caller], place[callee]
        middle, reached = to_y + HEIGHT // 2, kinds.get((caller, callee), "")
        kind = f"cd-arrow{' is-indirect' if reached else ''}"
        if reached:
            notes.append(f'<text class="cd-kind" x="{to_right + 6:.0f}" y="{to_y + 16}">⇠ {escape(reached)}</text>')
            end = max(end, to_right + 20 + 1.5 * CHAR * len(reached))
        way = f"M{x + 9} {y + HEIGHT}V{middle}H{to_x}"
        if to_y <= y:
            kind += " is-back"
            way = f"M{right:.0f} {y + HEIGHT // 2}H{end:.0f}V{middle}H{to_right:.0f}"
        arrows.append(f'<path class="{kind}" d="{way}" marker-end="url(#cd-tip)"/>')
    words = {pair: f" ({kind})" for pair, kind in kinds.items()}
    told = "; ".join(f"{caller} → {callee}{words.get((caller, callee), '')}" for caller, callee in edges)
    label = escape(say("kernel_diagram_alt", language, edges=told), quote=True)
    across, height = f"{end + 8:.0f}", ROW * len(place) + 4
    return (
        f'<figure class="cd-figure"><figcaption>{escape(say("kernel_diagram", language))}</figcaption>'
        f'<div class="cd-scroll" style="--wide:{across}px">'
        f'<svg role="img" aria-label="{label}" width="{across}" height="{height}" '
        f'viewBox="0 0 {across} {height}">{TIP}{"".join([*arrows, *boxes, *notes])}</svg></div></figure>'
    )


def _shown(path: CallPath, numbers: Collection[str]) -> dict[str, int]:
    """Names with their level. Of too many, those without a card that lead nowhere are left out, the last first."""
    levels, leading = _levels(path), dict(path.edges)
    ends = [name for name in levels if name not in numbers and name not in leading]
    left_out = ends[::-1][: max(0, len(levels) - MOST_ROWS)]
    return {name: level for name, level in levels.items() if name not in left_out}


def _levels(path: CallPath) -> dict[str, int]:
    """Names with their level, depth first from those that nothing here calls."""
    called = {callee for _, callee in path.edges}
    roots = [step.name for step in path.steps if step.name not in called]
    levels: dict[str, int] = {}
    waiting = [(name, 0) for name in reversed([*roots, *dict(path.edges)])]
    while waiting:
        name, level = waiting.pop()
        if name not in levels:
            levels[name] = level
            waiting += [(callee, level + 1) for caller, callee in reversed(path.edges) if caller == name]
    return levels
