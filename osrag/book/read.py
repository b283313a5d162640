"""Course material to chunks: PDF, Markdown, an FAQ or an API reference. The kind is detected, or named."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from osrag.book.chunking import chunk_document, language_in
from osrag.book.document import Document, DocumentKind
from osrag.book.entries import Entry, api_entries, faq_entries, headed_parts, is_entry
from osrag.book.markdown import Source, blocks_of, read_markdown, read_text, split_front, title_of
from osrag.book.pdf.file import Progress
from osrag.book.pdf.read import read_pdf
from osrag.errors import BadDocument
from osrag.text import language_of
from osrag.types import Chunk, ChunkKind, Language, LineRef

_TEXT_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".txt", ".text"})
_OFFICE = {".docx": "a Word file", ".doc": "a Word file", ".pptx": "a PowerPoint file", ".ppt": "a PowerPoint file"}
CATEGORY: dict[DocumentKind, str] = {"pdf": "textbook", "markdown": "notes", "faq": "faq", "api": "api"}


@dataclass(frozen=True, slots=True)
class Material:
    """A file after reading and cutting."""

    name: str
    kind: DocumentKind
    title: str
    language: Language
    category: str
    pages: int  # 0 for a text file
    warnings: tuple[str, ...]
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
    found = kind or detect(path)
    if found in ("pdf", "markdown"):
        document = (
            read_pdf(path, language=language, workers=workers, progress=progress)
            if found == "pdf"
            else read_markdown(path, language=language)
        )
        return _of_document(replace(document, category=category or document.category or CATEGORY[found]))
    return _of_entries(split_front(path.name, read_text(path)), found, language, category)


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


def _of_document(document: Document) -> Material:
    chunks = tuple(chunk_document(document))
    if not chunks:
        raise BadDocument(f"{document.name}: no text was found in it", hint="is it a scan, or a file of pictures?")
    return Material(
        document.name,
        document.kind,
        document.title,
        document.language,
        document.category,
        document.pages,
        document.warnings,
        chunks,
    )


def _of_entries(source: Source, kind: DocumentKind, language: Language | None, category: str) -> Material:
    entries = list(api_entries(source) if kind == "api" else faq_entries(source, named=True))
    if not entries:
        what = "function with a signature" if kind == "api" else "question with an answer"
        raise BadDocument(f"{source.name}: no {what} was found", hint="leave out --kind to have it read as Markdown")
    title, _ = title_of(source, list(blocks_of(source.text)))
    usual = language or language_of(" ".join(entry.text for entry in entries))
    chunks = tuple(_entry_chunks(source, entries, kind, title, usual, category))
    outside = _outside(source, entries)
    warnings = (f"{len(outside)} parts without {'an entry' if kind == 'api' else 'a question'}: {', '.join(outside)}",)
    return Material(source.name, kind, title, usual, chunks[0].category, 0, warnings if outside else (), chunks)


def _outside(source: Source, entries: Sequence[Entry]) -> list[str]:
    """Headings whose text went into no entry, short introductions aside."""
    taken = [(entry.first, entry.last) for entry in entries]
    return [
        part.title
        for part in headed_parts(source.text)
        if len(part.text) > 400 and not any(first <= part.first <= last for first, last in taken)
    ]


def _entry_chunks(
    source: Source, entries: Sequence[Entry], kind: DocumentKind, title: str, usual: Language, category: str
) -> Iterator[Chunk]:
    for position, entry in enumerate(entries):
        above = tuple(name for name in entry.path if name != title)
        api = kind == "api"
        yield Chunk(
            id=f"{source.name}#L{entry.first}-1",
            text=entry.text if api else f"{entry.title}\n\n{entry.text}",
            source=source.name,
            where=LineRef(entry.first, entry.last),
            position=position,
            section=(*above, entry.title) if api else above,
            language=_language(entry, usual, api=api),
            kind=ChunkKind.API if api else ChunkKind.FAQ,
            title=title,
            category=category or source.fields.get("category", "") or CATEGORY[kind],
            subcategory=source.fields.get("subcategory", ""),
            version=source.fields.get("version", ""),
            url=source.fields.get("url", ""),
        )


def _language(entry: Entry, usual: Language, *, api: bool) -> Language:
    prose = re.sub(r"```.*?```", "", entry.text, flags=re.DOTALL)
    return language_in(prose if api else f"{entry.title} {prose}", usual, least=8)
