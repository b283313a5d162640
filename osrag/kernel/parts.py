"""The pieces of a kernel reply that no model writes: quoted code, reading path, refusal."""

import re
from collections.abc import Mapping, Sequence

from osrag.answer.events import CallPath
from osrag.answer.view import source_url
from osrag.kernel.code import SourceLine, code_block, link, one_line
from osrag.kernel.query import without_nearest
from osrag.kernel.search import KernelResult
from osrag.kernel.store import KernelStore
from osrag.types import CodeChunk, Language, Passage
from osrag.wording import say

LEAD_CHARS = 620  # of code of one main function
NEAREST = 3


def code_of(passage: Passage) -> CodeChunk:
    """The chunk of a passage of the kernel."""
    assert isinstance(passage.chunk, CodeChunk)
    return passage.chunk


# Code that watches, tests or extends the kernel: seldom what a course question is about.
_ASIDE = re.compile(r"test|torture|debug|/kdb/|/damon/|/kcsan/|/kmsan/|/gcov/|/trace/|/bpf/|/livepatch/|nommu|tiny")


def to_explain(mains: Sequence[Passage], found: Sequence[Passage]) -> tuple[Passage, ...]:
    """What a model reads: the main functions, then the others; no tests and tracing unless one of these is main."""
    aside = any(_ASIDE.search(passage.chunk.source) for passage in mains)
    rest = (passage for passage in found if passage not in mains)
    return (*mains, *(passage for passage in rest if aside or not _ASIDE.search(passage.chunk.source)))


def lead(
    heading: str, passages: Sequence[Passage], lines: Mapping[int, list[SourceLine]], version: str, language: Language
) -> str:
    """Each main function with its description, its place and its key lines, word for word from the index.

    `heading` is the name of the text above them; it may mention the version.
    """
    parts = [say(heading, language, version=version)]
    for passage in passages:
        chunk = code_of(passage)
        parts.append(f"`{chunk.name}` [{passage.number}] {plain(one_line(chunk, language))}")
        parts.append(f"{link(chunk, version)}\n{code_block(chunk, lines[passage.number])}")
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """Text with its Markdown characters escaped."""
    for char in "\\`*_#<[]$~|":
        text = text.replace(char, "\\" + char)
    return text


def path_text(
    path: CallPath,
    passages: Sequence[Passage],
    version: str,
    language: Language,
    about: Mapping[int, str] | None = None,
) -> str:
    """The reading path as a nested list; empty if no call connects two functions.

    A function stands below one of its callers; the lines of its other callers name it behind an arrow. `about` says
    what the function of a passage is for; without it that is what was written of it.
    """
    if not path.steps:
        return ""
    about = about or {passage.number: one_line(code_of(passage), language) for passage in passages}
    below = {step.name: step.called_by for step in path.steps}
    kinds = {(caller, callee): kind for caller, callee, kind in path.indirect}
    rows = []
    for step in path.steps:
        mark = f"⇢ {say(f'edge_{step.kind}', language)} " if step.kind != "call" else ""
        told = say("kernel_path_via", language, names=" → ".join(f"`{name}`" for name in step.via)) if step.via else ""
        also = [name for caller, name in path.edges if caller == step.name and below.get(name, caller) != caller]
        told += "".join(f" {'⇢' if (step.name, name) in kinds else '→'} `{name}`" for name in also)
        url = source_url(step.file, step.line, version)
        rows.append(
            f"{'    ' * step.depth}- {mark}[`{step.name}`]({url}) [{step.number}]{told} {plain(about[step.number])}"
        )
    return f"{say('kernel_path', language)}\n\n" + "\n".join(rows) + "\n"


def notes_text(notes: Sequence[str]) -> str:
    """The notes of a search (another version, a name that is not there) as quotes above the answer."""
    return "".join(f"> {plain(note)}\n\n" for note in notes)


def refusal_text(result: KernelResult, store: KernelStore, language: Language) -> str:
    """The honest reply when nothing in the index answers.

    It points to the functions that are nearest to what is missing, else to the best hits.
    """
    rows = [row for one in result.missing for name in one.nearest for row in store.functions_named(name)[:1]]
    chunks = [store.chunk(row) for row in dict.fromkeys(rows)] or [hit.chunk for hit in result.hits]
    notes = [without_nearest(note) if chunks else note for note in result.notes]
    parts = [say("kernel_refusal", language), *(plain(note) for note in notes)]
    if not result.missing:
        parts.append(say("kernel_refusal_rephrase", language))
    lines = [f"`{chunk.name}` {link(chunk, result.version)} {plain(one_line(chunk, language))}" for chunk in chunks]
    if lines:
        parts += [say("kernel_nearest", language), "\n".join(f"- {line}" for line in lines[:NEAREST])]
    return "\n\n".join(parts)
