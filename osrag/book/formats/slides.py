"""PowerPoint files through python-pptx: a slide is a page, its title a heading, its notes belong to it.

Shapes are read from top to bottom and from left to right, whatever the order in which they were drawn.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from osrag.book.document import Block, BlockKind, Document, check_pages
from osrag.book.formats.package import cleaned, look_over, opened, xml
from osrag.book.formats.word import M, linear
from osrag.book.pdf.file import Progress
from osrag.errors import BadDocument
from osrag.text import language_of
from osrag.types import Language
from osrag.wording import Said

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
ROW = 0.06  # of the slide's height: shapes that overlap and whose tops are nearer than this stand side by side
TOUCH = 0.02  # of the slide: frames of shapes may overlap by this though their words do not
LONG = 90  # characters of a first line that is no title
NOTES = {"zh": "备注：", "en": "Notes: "}


@dataclass(frozen=True, slots=True)
class Piece:
    """A shape with its place on the slide, in shares of the slide's width and height."""

    x: float
    y: float
    w: float
    h: float
    shape: Any


def read_slides(
    path: Path, *, language: Language | None = None, progress: Progress | None = None, most_pages: int | None = None
) -> Document:
    """Read a .pptx. Raises BadDocument where it is none, or cannot be read safely."""
    warnings = look_over(path).warnings
    deck = open_deck(path)
    check_pages(path.name, len(deck.slides), most_pages)
    slides = list(deck.slides)
    blocks: list[Block] = []
    equations = pictures = 0
    for number, slide in enumerate(slides, start=1):
        own = list(_slide(slide, number, deck))
        equations += sum(1 for _ in slide.element.iter(f"{M}oMath"))
        bare = not any(block.kind is not BlockKind.HEADING for block in own)
        pictures += bare and any(True for _ in slide.element.iter(f"{A}blip"))
        blocks += own
        if progress:
            progress(number, len(slides))
    if not any(block.text.strip() for block in blocks):
        raise BadDocument(
            Said("doc_slides_bare", name=path.name, count=len(slides)), hint=Said("doc_do_pictures"), fault="empty"
        )
    if equations:
        warnings = (*warnings, Said("remark_equations", count=equations))
    if pictures:
        warnings = (*warnings, Said("remark_pictures", count=pictures))
    said = language or language_of(" ".join(block.text for block in blocks))
    blocks = [_told(block, said) for block in blocks]
    title = (deck.core_properties.title or "").strip()
    first = next((block.text for block in blocks if block.kind is BlockKind.HEADING), "")
    if title.lower() in ("", "powerpoint presentation", "powerpoint 演示文稿", "presentation"):
        title = first or Path(path.name).stem
    labels = tuple(str(number) for number in range(1, len(slides) + 1))
    return Document(path.name, "slides", title, said, tuple(blocks), labels=labels, warnings=warnings)


def frames_of(path: Path, number: int) -> tuple[list[tuple[float, float, float, str]], float]:
    """The words of slide `number` with their place (left, top, width, in shares of the slide), and height to width."""
    deck = open_deck(path)
    slide = deck.slides[number - 1]
    texts = [
        (piece.x, piece.y, piece.w, "\n".join(block.text for block in _of_shape(piece.shape, number)))
        for piece in pieces(slide, deck)
    ]
    return [one for one in texts if one[3]], (deck.slide_height or 3) / (deck.slide_width or 4)


def open_deck(path: Path) -> Any:
    """The presentation without its media. Raises BadDocument where python-pptx cannot read it."""
    import pptx

    try:
        deck = pptx.Presentation(_without_lost(path))
        for slide in deck.slides:
            _choose(slide.element)
        return deck
    except (KeyError, ValueError, AttributeError, pptx.exc.PythonPptxError) as error:
        damaged = Said("doc_slides_damaged", name=path.name, why=type(error).__name__)
        raise BadDocument(damaged, hint=Said("doc_do_again"), fault="damaged") from error


def _choose(slide: Any) -> None:
    """Put the first choice in the place of alternatives, so a shape with an equation, which has two, is a shape."""
    for alternatives in list(slide.iter(f"{MC}AlternateContent")):
        for shape in next(alternatives.iterchildren(f"{MC}Choice"), ()):
            alternatives.addprevious(shape)
        alternatives.getparent().remove(alternatives)


def _without_lost(path: Path) -> io.BytesIO:
    """The cleaned archive without relations to the media that are no longer in it, which python-pptx would miss."""
    with opened(path) as archive:
        kept = {name for name in archive.namelist() if name.lower().endswith((".xml", ".rels"))}
    relation = re.compile(rb'<Relationship\b[^>]*?Target="([^"]*)"[^>]*?(?:/>|>\s*</Relationship>)', re.DOTALL)

    def change(inside: str, data: bytes) -> bytes:
        if not inside.endswith(".rels"):
            return data
        folder = Path("/" + inside).parent.parent

        def there(match: re.Match[bytes]) -> bytes:
            target = (folder / match[1].decode("utf-8", "replace")).as_posix()
            parts: list[str] = []
            for one in target.split("/"):
                parts = parts[:-1] if one == ".." else [*parts, one]
            outside = b"about:blank" in match[1]
            return match[0] if outside or "/".join(parts).lstrip("/") in kept else b""

        return relation.sub(there, data)

    return cleaned(path, change)


def _slide(slide: Any, number: int, deck: Any) -> Iterator[Block]:
    """The blocks of one slide: its title, what stands on it in the order of reading, its notes."""
    title = slide.shapes.title
    named = " ".join(text_of(title.text_frame).split()) if title is not None and title.has_text_frame else ""
    own = list(
        chain.from_iterable(
            _of_shape(piece.shape, number) for piece in pieces(slide, deck) if title is None or piece.shape != title
        )
    )
    if not named:
        first = own[0] if own else None
        short = first is not None and first.kind is BlockKind.PARAGRAPH and len(first.text) <= LONG
        named = first.text if first is not None and short else f"{number}"
        own = own[1:] if short and len(own) > 1 else own
    yield Block(BlockKind.HEADING, named, number, number, level=1)
    yield from own
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        for words in filter(None, (" ".join(one.split()) for one in text_of(frame).split("\n"))):
            yield Block(BlockKind.CAPTION, words, number, number)


def _told(block: Block, language: Language) -> Block:
    """A line of the notes says what it is."""
    if block.kind is not BlockKind.CAPTION:
        return block
    return Block(BlockKind.PARAGRAPH, NOTES[language] + block.text, block.first, block.last)


def pieces(slide: Any, deck: Any) -> list[Piece]:
    """The shapes of a slide, groups opened, in the order of reading."""
    wide, high = deck.slide_width or 1, deck.slide_height or 1
    found = [
        Piece(x / wide, y / high, w / wide, h / high, shape)
        for x, y, w, h, shape in _shapes(slide.shapes, 0.0, 0.0, 1.0, 1.0)
    ]
    return in_order(found)


def in_order(found: Sequence[Piece]) -> list[Piece]:
    """Columns first, each with at least two shapes, then rows: a recursive cut where no shape stands across."""
    if len(found) < 2:
        return list(found)
    left, right = _cut(sorted(found, key=lambda one: one.x), lambda one: one.x, lambda one: one.x + one.w)
    if min(len(left), len(right)) > 1:
        return in_order(left) + in_order(right)
    above, below = _cut(sorted(found, key=lambda one: one.y), lambda one: one.y, lambda one: one.y + one.h)
    if above and below:
        return in_order(above) + in_order(below)
    return sorted(found, key=lambda one: (round(one.y / ROW), one.x))


def _cut(
    found: Sequence[Piece], start: Callable[[Piece], float], end: Callable[[Piece], float]
) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """The shapes before and behind the first gap; all and none where there is no gap."""
    reached = end(found[0])
    for at, one in enumerate(found[1:], start=1):
        if start(one) >= reached - TOUCH:
            return found[:at], found[at:]
        reached = max(reached, end(one))
    return found, ()


def _shapes(shapes: Any, x: float, y: float, sx: float, sy: float) -> Iterator[tuple[float, float, float, float, Any]]:
    """Place, size and shape; those of a group on the scale of the slide."""
    for shape in shapes:
        left, top = float(shape.left or 0), float(shape.top or 0)
        width, height = float(shape.width or 0), float(shape.height or 0)
        at = x + sx * left, y + sy * top
        if shape.shape_type == 6:  # a group
            frame = shape.element.find(f"{{*}}grpSpPr/{A}xfrm")
            inner = None if frame is None else frame.find(f"{A}chOff")
            extent = None if frame is None else frame.find(f"{A}chExt")
            if inner is None or extent is None:
                yield from _shapes(shape.shapes, x, y, sx, sy)
                continue
            wide = sx * width / max(1.0, float(extent.get("cx", 1)))
            high = sy * height / max(1.0, float(extent.get("cy", 1)))
            origin = at[0] - wide * float(inner.get("x", 0)), at[1] - high * float(inner.get("y", 0))
            yield from _shapes(shape.shapes, *origin, wide, high)
        else:
            yield *at, sx * width, sy * height, shape


def _of_shape(shape: Any, number: int) -> Iterator[Block]:
    """Paragraphs of a text, rows of a table, words of a diagram."""
    if shape.has_text_frame:
        if shape.is_placeholder and shape.placeholder_format.type in (13, 15, 16):  # slide number, footer, date
            return
        for paragraph in shape.text_frame._txBody.iterchildren(f"{A}p"):
            lines = [" ".join(line.split()) for line in _words(paragraph).split("\v")]
            if words := " ".join(filter(None, lines)):
                properties = paragraph.find(f"{A}pPr")
                level = 0 if properties is None else int(properties.get("lvl", 0))
                if level > 0:
                    yield Block(BlockKind.ITEM, f"• {words}", number, number, level - 1)
                else:
                    yield Block(BlockKind.PARAGRAPH, words, number, number)
    elif getattr(shape, "has_table", False) and shape.has_table:
        rows = [[" ".join(text_of(cell.text_frame).split()) for cell in row.cells] for row in shape.table.rows]
        if text := "\n".join(" | ".join(row) for row in rows if any(row)):
            yield Block(BlockKind.TABLE, text, number, number)
    else:
        for words in _diagram(shape):
            yield Block(BlockKind.ITEM, f"• {words}", number, number)


def _diagram(shape: Any) -> Iterator[str]:
    """The words of SmartArt, which lie in a part of their own."""
    for ids in shape.element.iter("{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"):
        related = ids.get("{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm")
        if related in shape.part.rels:
            root = xml(shape.part.rels[related].target_part.blob, "diagram")
            for paragraph in root.iter(f"{A}p"):
                if words := " ".join(_words(paragraph).split()):
                    yield words


def text_of(frame: Any) -> str:
    """The text of a frame, a paragraph a line."""
    return "\n".join(_words(paragraph) for paragraph in frame._txBody.iterchildren(f"{A}p"))


def _words(paragraph: Any) -> str:
    """The runs of a paragraph in order, equations in one line."""
    words: list[str] = []
    for node in paragraph.iter():
        if node.tag == f"{A}t" and not any(above.tag == f"{M}oMath" for above in node.iterancestors()):
            words.append(node.text or "")
        elif node.tag == f"{A}br":
            words.append("\v")
        elif node.tag == f"{M}oMath":
            words.append(f" {linear(node)} ")
    return "".join(words)
