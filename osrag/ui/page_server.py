"""What the evidence panel asks the server for: pictures of the pages of a passage."""

import logging
from pathlib import Path
from typing import Any

from osrag.app.parts import Parts
from osrag.book.build import document_file
from osrag.errors import BadDocument
from osrag.types import Chunk, Language, PageRef
from osrag.ui.pages import find_document, page_pictures
from osrag.wording import say

log = logging.getLogger(__name__)


def page_server(parts: Parts) -> Any:
    def page_of(asked: dict[str, str]) -> dict[str, Any]:
        """Pictures of the pages of a chunk, for the evidence panel (a browser sends one argument only)."""
        return page_answer(parts, str(asked.get("chunk", "")), "en" if asked.get("lang") == "en" else "zh")

    return page_of


def page_answer(parts: Parts, chunk_id: str, language: Language) -> dict[str, Any]:
    """`{"pages": [{"src", "alt"}], "message"}`; the message says why when there is no picture."""
    collection = parts.textbook.collection
    row = collection.row_of(chunk_id)
    chunk = collection.chunk(row) if row is not None else None
    if not isinstance(chunk, Chunk) or not isinstance(chunk.where, PageRef):
        return {"pages": [], "message": say("no_page", language)}
    path = document_of(parts, chunk.source)
    if path is None:
        return {"pages": [], "message": say("no_file", language, name=chunk.source, folder=parts.textbook_folder)}
    try:
        pictures = page_pictures(chunk, path)
    except BadDocument as error:
        log.warning("%s", error.sentence())
        return {"pages": [], "message": str(error)}
    title = chunk.title or chunk.source
    pages = [{"src": p.data_url, "alt": f"{title}, {say('file_page', language, page=p.page)}"} for p in pictures]
    return {"pages": pages, "message": ""}


def document_of(parts: Parts, name: str) -> Path | None:
    """The file of a document: where it was when it was read, else beside the index."""
    folder = parts.textbook_folder
    for entry in parts.textbook.collection.manifest.documents:
        if entry.name == name:
            return document_file(folder, entry) or find_document(name, [folder, folder / "documents"])
    return None
