"""Sections of the course book by their numbers, which the lab and the kernel's walk-throughs name."""

import functools
from collections.abc import Sequence
from typing import Any

from osrag.types import Chunk, Language

COURSE_BOOK = "os-course"  # its files begin so; the sections of another book have other numbers


@functools.lru_cache(maxsize=1)  # reading all chunks takes a few hundredths of a second
def course_book(collection: Any) -> tuple[Chunk, ...]:
    """The chunks of the course book in a textbook collection."""
    return tuple(chunk for chunk in collection.chunks() if chunk.source.startswith(COURSE_BOOK))


def first_of(chunks: Sequence[Chunk], section: str, language: Language) -> Chunk | None:
    """The first chunk under the heading with the number `section`, or under the heading above it.

    In `language` where there is one, else in the other.
    """
    parts = section.split(".")
    for number in (".".join(parts[:length]) for length in range(len(parts), 1, -1)):
        found = [chunk for chunk in chunks if number in numbers_of(chunk)]
        if found:
            own = [chunk for chunk in found if chunk.language == language]
            return min(own or found, key=lambda chunk: chunk.position)
    return None


def numbers_of(chunk: Chunk) -> list[str]:
    """The numbers of the headings above a chunk: "7", "7.7", "7.7.1"."""
    return [heading.split(" ")[0] for heading in chunk.section]
