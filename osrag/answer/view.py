"""Passages as plain data, for the command line, the API and the page."""

from typing import Any

from osrag.types import Chunk, Language, PageRef, Passage
from osrag.wording import say

BROWSER = "https://elixir.bootlin.com/linux/v{version}/source/{file}#L{line}"


# What a place of a file without pages counts, by the end of its name; a text file has lines.
PLACES = {
    "paragraph_label": (".docx", ".docm", ".dotx", ".html", ".htm", ".xhtml", ".epub"),
    "cell_label": (".ipynb",),
}
SLIDES = (".pptx", ".pptm", ".ppsx", ".potx")


def place_of(chunk: Chunk, language: Language) -> str:
    """Where a chunk stands: `p. 40`, `slide 7`, `paragraphs 12–14`."""
    at, name = chunk.where, chunk.source.lower()
    if isinstance(at, PageRef):
        return say("slide_label" if name.endswith(SLIDES) else "page_label", language, label=at.label)
    key = next((key for key, ends in PLACES.items() if name.endswith(ends)), "line_label")
    return say(key, language, first=at.first, last=at.last)


def source_url(file: str, line: int, version: str) -> str:
    """The line in a public source browser, at the version that is indexed (K4)."""
    return BROWSER.format(version=version, file=file, line=line)


def passage_json(passage: Passage, *, kernel_version: str = "") -> dict[str, Any]:
    """One passage as an answer cites it; code with its link at `kernel_version`."""
    chunk = passage.chunk
    common = {
        "number": passage.number,
        "chunk_id": chunk.id,
        "file_name": chunk.source,
        "score": round(passage.score, 4),
        "similarity": round(passage.similarity, 4),
        "text": chunk.text,
    }
    if not isinstance(chunk, Chunk):
        return {
            **common,
            "function_name": chunk.name,
            "kind": chunk.kind.value,
            "start_line": chunk.where.first,
            "end_line": chunk.where.last,
            "description": chunk.description,
            "url": source_url(chunk.source, chunk.where.first, kernel_version) if kernel_version else "",
        }
    where = chunk.where
    page = where if isinstance(where, PageRef) else None
    return {
        **common,
        "title": chunk.title,
        "section": chunk.section_path,
        "first_page": page and page.first,
        "last_page": page and page.last,
        "page_label": page and page.label,
        "first_line": None if page else where.first,
        "last_line": None if page else where.last,
        "recognised": round(chunk.recognised, 3) or None,
        "language": chunk.language,
        "kind": chunk.kind.value,
        "version": chunk.version,
        "url": chunk.url,
    }
