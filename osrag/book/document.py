"""A document as it was read: blocks in reading order, each with its place."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, get_args

from osrag.errors import BadDocument
from osrag.types import Language
from osrag.wording import Said

DocumentKind = Literal["pdf", "markdown", "faq", "api", "word", "slides", "picture", "html", "epub", "notebook"]
KINDS: tuple[DocumentKind, ...] = get_args(DocumentKind)


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
    level: int = 0  # of a heading: 1 is a chapter; of an item: how many lists its own lies in
    turns: tuple[tuple[int, int], ...] = ()

    def places(self, start: int, end: int) -> tuple[int, int]:
        """First and last page of the characters `start` to `end`; those of the whole block if it has no turns."""
        if not self.turns:
            return self.first, self.last
        offsets = [offset for offset, _ in self.turns]
        pages = [self.first, *(page for _, page in self.turns)]
        return pages[bisect_right(offsets, start)], pages[bisect_right(offsets, max(start, end - 1))]


@dataclass(frozen=True, slots=True)
class SeenLine:
    """A line as text recognition read it, with its box in points from the top left corner of the page."""

    text: str
    score: float  # 0-1, as the recogniser says it
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read."""

    name: str
    kind: DocumentKind
    title: str
    language: Language
    blocks: tuple[Block, ...]
    labels: tuple[str, ...] = ()  # printed page labels, by place in the file; empty for a text file
    seen: Mapping[int, tuple[SeenLine, ...]] = field(default_factory=dict)  # by page, of those read by their looks
    warnings: tuple[str, ...] = ()
    category: str = ""
    subcategory: str = ""
    version: str = ""
    url: str = ""

    @property
    def pages(self) -> int:
        return len(self.labels)

    def confidence(self, page: int) -> float:
        """How sure text recognition is of a page: the mean over its characters; 0 for a page with text of its own."""
        lines = self.seen.get(page, ())
        count = sum(len(line.text) for line in lines)
        return sum(line.score * len(line.text) for line in lines) / count if count else 0.0

    @property
    def chars(self) -> int:
        return sum(len(block.text) for block in self.blocks)


def check_pages(name: str, seen: int, most: int | None) -> None:
    """Raises BadDocument where a file has more pages than are read."""
    if most is not None and seen > most:
        pages = Said("doc_pages", name=name, seen=f"{seen:,}", most=f"{most:,}")
        raise BadDocument(pages, hint=Said("doc_do_fewer"), fault="pages")


def ranges(numbers: Sequence[int]) -> str:
    """`1, 2, 3, 7` as `1-3, 7`; two neighbours stay apart: `1, 2`."""
    groups: list[list[int]] = []
    for number in sorted(set(numbers)):
        if groups and number == groups[-1][-1] + 1:
            groups[-1].append(number)
        else:
            groups.append([number])
    return ", ".join(f"{group[0]}-{group[-1]}" if len(group) > 2 else ", ".join(map(str, group)) for group in groups)
