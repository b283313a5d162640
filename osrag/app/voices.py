"""What stands beside a computed exercise: the page of the course book that teaches it, and where Linux does it."""

import functools
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from osrag.app.parts import Parts
from osrag.errors import BadIndex
from osrag.kernel.store import KernelStore
from osrag.lab.kind import Kind
from osrag.types import Chunk, CodeChunk, Language

log = logging.getLogger(__name__)
COURSE_BOOK = "os-course"  # its files begin so; the sections of another book have other numbers


@dataclass(frozen=True, slots=True)
class Voices:
    """The book and the kernel on one kind of exercise, as far as the index has them."""

    page: Chunk | None = None
    functions: tuple[CodeChunk, ...] = ()
    version: str = ""  # of the kernel


def voices(parts: Parts, kind: Kind[Any], language: Language) -> Voices:
    """Look both up. A missing index makes one voice less, not an error."""
    page: Chunk | None = None
    try:
        page = first_of(_course_book(parts.textbook.collection), kind.section, language)
    except BadIndex as error:
        log.warning("no page for %s: %s", kind.name, error.sentence())
    if not kind.functions:
        return Voices(page)
    try:
        store = parts.kernel.store
    except BadIndex as error:
        log.warning("no code for %s: %s", kind.name, error.sentence())
        return Voices(page)
    return Voices(page, definitions(store, kind.functions), store.version)


def first_of(chunks: Sequence[Chunk], section: str, language: Language) -> Chunk | None:
    """The first chunk under the heading with the number `section`, or under the heading above it.

    In `language` where there is one, else in the other.
    """
    parts = section.split(".")
    for number in (".".join(parts[:length]) for length in range(len(parts), 1, -1)):
        found = [chunk for chunk in chunks if number in (heading.split(" ")[0] for heading in chunk.section)]
        if found:
            own = [chunk for chunk in found if chunk.language == language]
            return min(own or found, key=lambda chunk: chunk.position)
    return None


def definitions(store: KernelStore, names: Iterable[str]) -> tuple[CodeChunk, ...]:
    """The functions of these names that the index has, in that order."""
    rows = [store.functions_named(name) for name in names]
    return tuple(store.chunk(found[0]) for found in rows if found)


@functools.lru_cache(maxsize=1)  # reading all chunks takes a few hundredths of a second
def _course_book(collection: Any) -> tuple[Chunk, ...]:
    return tuple(chunk for chunk in collection.chunks() if chunk.source.startswith(COURSE_BOOK))
