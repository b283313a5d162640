"""What stands beside a computed exercise: the page of the course book that teaches it, and where Linux does it."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from osrag.app.parts import Parts
from osrag.book.sections import course_book, first_of
from osrag.errors import BadIndex
from osrag.kernel.store import KernelStore
from osrag.lab.kind import Kind
from osrag.lab.words import table
from osrag.types import Chunk, CodeChunk, Language

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Voices:
    """The book and the kernel on one kind of exercise, as far as the index has them."""

    page: Chunk | None = None
    linux: str = ""  # a sentence on where Linux does it, or what it does in its place
    functions: tuple[CodeChunk, ...] = ()
    version: str = ""  # of the kernel


def voices(parts: Parts, kind: Kind[Any], language: Language) -> Voices:
    """Look both up. A missing index makes one voice less, not an error."""
    page: Chunk | None = None
    try:
        page = first_of(course_book(parts.textbook.collection), kind.section, language)
    except BadIndex as error:
        log.warning("no page for %s: %s", kind.name, error.sentence())
    linux = table()["linux"][kind.name]
    try:
        store = parts.kernel.store
    except BadIndex as error:
        log.warning("no code for %s: %s", kind.name, error.sentence())
        return Voices(page)
    return Voices(page, linux[language], definitions(store, linux.get("functions", "").split()), store.version)


def definitions(store: KernelStore, names: Iterable[str]) -> tuple[CodeChunk, ...]:
    """The functions of these names that the index has, in that order."""
    rows = [store.functions_named(name) for name in names]
    return tuple(store.chunk(found[0]) for found in rows if found)
