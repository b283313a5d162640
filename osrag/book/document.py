"""A document as it was read: blocks in reading order, each with its place."""

from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from osrag.types import Language

DocumentKind = Literal["pdf", "markdown", "faq", "api"]
KINDS: tuple[DocumentKind, ...] = ("pdf", "markdown", "faq", "api")


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"  # of a list
    CODE = "code"  # lines as they are; never cut
    TABLE = "table"  # a row a line, cells between bars
    FIGURE = "figure"  # words inside a drawing
    CAPTION = "caption"


FLOATS = frozenset({BlockKind.TABLE, BlockKind.FIGURE, BlockKind.CAPTION})


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, listing or table.

    `turns` says where a block goes over to another page: from the character offset on, the text stands on that page.
    A block of a text file has lines instead of pages.
    """

    kind: BlockKind
    text: str
    first: int  # page or line, 1-based
    last: int  # inclusive
    level: int = 0  # of a heading: 1 is a chapter
    turns: tuple[tuple[int, int], ...] = ()

    def places(self, start: int, end: int) -> tuple[int, int]:
        """First and last page of the characters `start` to `end`; those of the whole block if it has no turns."""
        if not self.turns:
            return self.first, self.last
        offsets = [offset for offset, _ in self.turns]
        pages = [self.first, *(page for _, page in self.turns)]
        return pages[bisect_right(offsets, start)], pages[bisect_right(offsets, max(start, end - 1))]


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read."""

    name: str
    kind: DocumentKind
    title: str
    language: Language
    blocks: tuple[Block, ...]
    labels: tuple[str, ...] = ()  # printed page labels, by place in the file; empty for a text file
    warnings: tuple[str, ...] = ()
    category: str = ""
    subcategory: str = ""
    version: str = ""
    url: str = ""

    @property
    def pages(self) -> int:
        return len(self.labels)
