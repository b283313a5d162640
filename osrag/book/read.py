"""Course material to chunks: PDF, Markdown, an FAQ or an API reference. The kind is detected, or named."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from osrag.book.chunking import chunk_document, language_in, new_chunk
from osrag.book.document import Document, DocumentKind
from osrag.book.entries import Entry, api_entries, faq_entries, headed_parts, is_entry
from osrag.book.markdown import Source, blocks_of, read_markdown, read_text, split_front, title_of
from osrag.book.pdf.file import Progress
from osrag.book.pdf.read import read_pdf
from osrag.errors import BadDocument
from osrag.types import Chunk, ChunkKind, Language, LineRef

_TEXT_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".txt", ".text"})
_OFFICE = {".docx": "a Word file", ".doc": "a Word file", ".pptx": "a PowerPoint file", ".ppt": "a PowerPoint file"}
CATEGORY: dict[DocumentKind, str] = {"pdf": "textbook", "markdown": "notes", "faq": "faq", "api": "api"}


@dataclass(frozen=True, slots=True)
class Material:
    """A file after reading and cutting."""

    document: Document
    chunks: tuple[Chunk, ...]


def read_material(
    path: Path,
    *,
    kind: DocumentKind | None = None,
    language: Language | None = None,
    category: str = "",
    workers: int = 1,
    progress: Progress | None = None,
) -> Material:
    """Read `path` as `kind` (detected when None). Raises BadDocument, saying what was seen and what to do."""
    kind = kind or detect(path)
    entries: list[Entry] = []
    if kind == "pdf":
        document = read_pdf(path, language=language, workers=workers, progress=progress)
    elif kind == "markdown":
        document = read_markdown(path, language=language)
    else:
        document, entries = _of_entries(split_front(path.name, read_text(path)), kind, language)
    document = replace(document, category=category or document.category or CATEGORY[kind])
    chunks = [_entry_chunk(document, entry, at) for at, entry in enumerate(entries)] or chunk_document(document)
    if not chunks:
        raise BadDocument(f"{document.name}: no text was found in it", hint="is it a scan, or a file of pictures?")
    return Material(document, tuple(chunks))


def detect(path: Path) -> DocumentKind:
    """PDF by name or first bytes; FAQ and API reference by their headings; else Markdown."""
    suffix = path.suffix.lower()
    if not path.exists():
        raise BadDocument(f"{path.name}: there is no such file", hint="check the path")
    if path.is_dir():
        raise BadDocument(f"{path.name}: this is a folder", hint="name the files in it")
    if suffix == ".pdf":
        return "pdf"
    with path.open("rb") as file:
        if b"%PDF-" in file.read(1024):
            return "pdf"
    if suffix in _OFFICE:
        raise BadDocument(f"{path.name}: {_OFFICE[suffix]} cannot be indexed", hint="export it as PDF and add that")
    if suffix and suffix not in _TEXT_SUFFIXES:
        raise BadDocument(f"{path.name}: {suffix} is no kind of document that is read", hint="add PDF or Markdown")
    return detect_text(split_front(path.name, read_text(path)))


def detect_text(source: Source) -> DocumentKind:
    """By what most headings are: functions with a signature, questions, or neither."""
    parts = [part for part in headed_parts(source.text) if part.title and part.text.strip()]
    api = [part for part in parts if is_entry(part)]
    if len(api) > 1 and len(api) >= 0.5 * sum(part.level == api[0].level for part in parts):
        return "api"
    asked = [part for part in parts if part.title.rstrip('*"”’)） ')[-1:] in ("?", "？")]
    if len(asked) > 1 and len(asked) >= 0.6 * len([part for part in parts if part.level > 1]):
        return "faq"
    pairs = len(re.findall(r"^\s*(?:\*\*)?(?:A|Answer|答)\s*\d*\s*[:：]", source.text, re.MULTILINE))
    return "faq" if pairs > 1 and len(list(faq_entries(source))) > 1 and not asked else "markdown"


def _of_entries(source: Source, kind: DocumentKind, language: Language | None) -> tuple[Document, list[Entry]]:
    """An FAQ or an API reference and its entries. Raises BadDocument when it has none."""
    entries = list(api_entries(source) if kind == "api" else faq_entries(source, named=True))
    if not entries:
        what = "function with a signature" if kind == "api" else "question with an answer"
        raise BadDocument(f"{source.name}: no {what} was found", hint="leave out --kind to have it read as Markdown")
    title, _ = title_of(source, list(blocks_of(source.text)))
    document = source.document(kind, title, " ".join(entry.text for entry in entries), language)
    if outside := _outside(source, entries):
        what = "an entry" if kind == "api" else "a question"
        document = replace(document, warnings=(f"{len(outside)} parts without {what}: {', '.join(outside)}",))
    return document, entries


def _outside(source: Source, entries: Sequence[Entry]) -> list[str]:
    """Headings whose text went into no entry, short introductions aside."""
    taken = [(entry.first, entry.last) for entry in entries]
    return [
        part.title
        for part in headed_parts(source.text)
        if len(part.text) > 400 and not any(first <= part.first <= last for first, last in taken)
    ]


def _entry_chunk(document: Document, entry: Entry, position: int) -> Chunk:
    """The entry whole. A question is part of the text; a function is part of the section path."""
    api = document.kind == "api"
    above = tuple(name for name in entry.path if name != document.title)
    prose = re.sub(r"```.*?```", "", entry.text, flags=re.DOTALL)
    return new_chunk(
        document,
        entry.text if api else f"{entry.title}\n\n{entry.text}",
        LineRef(entry.first, entry.last),
        position,
        (*above, entry.title) if api else above,
        language_in(prose if api else f"{entry.title} {prose}", document.language, least=8),
        kind=ChunkKind.API if api else ChunkKind.FAQ,
    )
