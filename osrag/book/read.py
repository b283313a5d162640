"""Course material to chunks: one table of readers, for the index of a course and for what a visitor brings.

The kind of a file is found by what is in it, or named.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from osrag.book.chunking import USUAL, Cut, chunk_document, language_in, new_chunk
from osrag.book.document import Document, DocumentKind, check_pages
from osrag.book.entries import Entry, api_entries, faq_entries, headed_parts, is_entry
from osrag.book.formats.epub import read_epub
from osrag.book.formats.html import read_html
from osrag.book.formats.notebook import read_notebook
from osrag.book.formats.package import look_over, refuse_ole
from osrag.book.formats.picture import read_picture
from osrag.book.formats.slides import read_slides
from osrag.book.formats.word import read_word
from osrag.book.markdown import Source, blocks_of, read_markdown, read_text, split_front, title_of
from osrag.book.pdf.file import Progress
from osrag.book.pdf.read import read_pdf
from osrag.errors import BadDocument
from osrag.types import Chunk, ChunkKind, Language, LineRef
from osrag.wording import Said

MOST_BYTES = 1 << 30  # of a file; a scanned book in colour has some hundred megabytes


PAGE_CHARS = 2500  # of a file without pages, where pages are limited


@dataclass(frozen=True, slots=True)
class How:
    """What a reader is told beside the file."""

    language: Language | None  # detected when None
    workers: int  # processes that read one PDF
    progress: Progress | None
    most_pages: int | None
    first_pages: int | None  # of a PDF: only so many are read, so that they can be searched while the rest is read


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of file is read, what it is taken for, and the names by which it is known."""

    read: Callable[[Path, How], Document]
    category: str
    suffixes: tuple[str, ...]


_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"BM", b"II*\0", b"MM\0*", b"RIFF")


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
    version: str = "",
    url: str = "",
    workers: int = 1,
    progress: Progress | None = None,
    most_pages: int | None = None,
    cut: Cut = USUAL,
    first_pages: int | None = None,
) -> Material:
    """Read `path` as `kind` (detected when None). Raises BadDocument, saying what was seen and what to do."""
    kind = kind or detect(path)
    entries: list[Entry] = []
    reader = readers().get(kind)
    if reader is not None:
        document = reader.read(path, How(language, workers, progress, most_pages, first_pages))
    else:
        document, entries = _of_entries(split_front(path.name, read_text(path)), kind, language)
    check_pages(document.name, document.pages or document.chars // PAGE_CHARS, most_pages)
    document = replace(
        document,
        category=category or document.category or (reader.category if reader else kind),
        version=document.version or version,
        url=document.url or url,
    )
    chunks = [_entry_chunk(document, entry, at) for at, entry in enumerate(entries)] or chunk_document(document, cut)
    if not chunks:
        raise BadDocument(Said("doc_no_text", name=document.name), hint=Said("doc_do_pictures"), fault="empty")
    return Material(document, tuple(chunks))


@functools.cache
def readers() -> Mapping[DocumentKind, Reader]:
    """The table; an FAQ and an API reference are Markdown that is cut by its entries."""
    return {
        "pdf": Reader(
            lambda path, how: read_pdf(
                path,
                language=how.language,
                workers=how.workers,
                progress=how.progress,
                most_pages=how.most_pages,
                first_pages=how.first_pages,
            ),
            "textbook",
            (".pdf",),
        ),
        "word": Reader(lambda path, how: read_word(path, language=how.language), "notes", (".docx", ".docm", ".dotx")),
        "slides": Reader(
            lambda path, how: read_slides(
                path, language=how.language, progress=how.progress, most_pages=how.most_pages
            ),
            "slides",
            (".pptx", ".pptm", ".ppsx", ".potx"),
        ),
        "picture": Reader(
            lambda path, how: read_picture(path, language=how.language, progress=how.progress),
            "notes",
            (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff"),
        ),
        "html": Reader(lambda path, how: read_html(path, language=how.language), "notes", (".html", ".htm", ".xhtml")),
        "epub": Reader(lambda path, how: read_epub(path, language=how.language), "textbook", (".epub",)),
        "notebook": Reader(lambda path, how: read_notebook(path, language=how.language), "notes", (".ipynb",)),
        "markdown": Reader(
            lambda path, how: read_markdown(path, language=how.language),
            "notes",
            (".md", ".markdown", ".mdown", ".txt", ".text"),
        ),
    }


@functools.cache
def kind_named(suffix: str) -> DocumentKind | None:
    """The kind of file that a name ends so; None for an unknown end."""
    return next((kind for kind, one in readers().items() if suffix in one.suffixes), None)


def detect(path: Path) -> DocumentKind:
    """By the first bytes, else by name; FAQ and API reference by their headings; else Markdown."""
    if not path.exists():
        raise BadDocument(Said("doc_not_there", name=path.name), hint=Said("doc_do_path"))
    if path.is_dir():
        raise BadDocument(Said("doc_folder", name=path.name), hint=Said("doc_do_files"))
    suffix, size = path.suffix.lower(), path.stat().st_size
    if size > MOST_BYTES:
        large = Said("doc_large", name=path.name, mb=f"{size / 1e6:,.0f}", most=f"{MOST_BYTES / 1e6:,.0f}")
        raise BadDocument(large, hint=Said("doc_do_split"), fault="large")
    with path.open("rb") as file:
        head = file.read(1024)
    named = kind_named(suffix)
    if named == "pdf" or b"%PDF-" in head:
        return "pdf"
    refuse_ole(path, head)
    if head.startswith(b"PK\x03\x04"):
        return look_over(path).kind
    if named in ("word", "slides", "epub"):
        raise BadDocument(
            Said("doc_not_inside", name=path.name, suffix=suffix), hint=Said("doc_do_again"), fault="kind"
        )
    if named == "picture" or head.startswith(_PICTURES):
        return "picture"
    if named == "html" or re.match(rb"(\xef\xbb\xbf)?\s*<(!doctype html|html)", head, re.IGNORECASE):
        return "html"
    if named == "notebook":
        return "notebook"
    if suffix and named is None:
        raise BadDocument(Said("doc_suffix", name=path.name, suffix=suffix), hint=Said("doc_do_kinds"), fault="kind")
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
        what = "doc_no_function" if kind == "api" else "doc_no_question"
        raise BadDocument(Said(what, name=source.name), hint=Said("doc_do_markdown"))
    title, _ = title_of(source, list(blocks_of(source.text)))
    document = source.document(kind, title, " ".join(entry.text for entry in entries), language)
    if outside := _outside(source, entries):
        document = replace(document, warnings=(Said("remark_outside", parts=", ".join(outside)),))
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
