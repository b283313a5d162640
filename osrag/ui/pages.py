"""The picture of a page with a passage marked on it."""

import base64
import functools
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osrag.book.locate import findable, spans
from osrag.errors import BadDocument
from osrag.types import Chunk, PageRef

DPI = 120  # sharp at the width of the panel, still readable when zoomed
MARK = (242, 193, 78, 90)  # amber, as a text marker


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    box: tuple[float, float, float, float]  # x0, top, x1, bottom in points


@dataclass(frozen=True, slots=True)
class PagePicture:
    page: int  # 1-based place in the file
    data_url: str
    marked: int  # words marked


def find_document(name: str, folders: Sequence[Path]) -> Path | None:
    """The file of a document, in the first folder that has it. A name never leads out of them."""
    if Path(name).name != name:
        return None
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def page_pictures(chunk: Chunk, path: Path) -> list[PagePicture]:
    """The pages of `chunk`, at most two, its words marked."""
    where = chunk.where
    if not isinstance(where, PageRef):
        return []
    last = min(where.last, where.first + 1)
    return [_picture(str(path), path.stat().st_mtime_ns, page, chunk.text) for page in range(where.first, last + 1)]


@functools.lru_cache(maxsize=64)
def _picture(path: str, _changed: int, number: int, passage: str) -> PagePicture:
    import pdfplumber

    try:
        with pdfplumber.open(path, pages=[number]) as pdf:
            page = pdf.pages[0]
            words = [
                Word(word["text"], (word["x0"], word["top"], word["x1"], word["bottom"]))
                for word in page.extract_words(use_text_flow=True, keep_blank_chars=False)
            ]
            boxes = [word.box for word in marked_words(words, passage)]
            image = page.to_image(resolution=DPI, antialias=True)
            image.draw_rects(boxes, fill=MARK, stroke=None, stroke_width=0)
            return PagePicture(number, _data_url(image.annotated), len(boxes))
    except (OSError, ValueError, IndexError) as error:
        raise BadDocument(f"page {number} of {Path(path).name} cannot be drawn: {error}") from error


def _data_url(image: Any) -> str:
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "WEBP", quality=82)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def marked_words(words: Sequence[Word], passage: str) -> list[Word]:
    """The words of a page that the passage holds, found by its sentences, whole or in pieces."""
    page, owners = _joined(words)
    hits = {owners[at] for start, end in spans(page, passage) for at in range(start, end)}
    return [words[index] for index in sorted(hits)]


def _joined(words: Sequence[Word]) -> tuple[str, list[int]]:
    """The findable text of a page, and for each of its characters the word it belongs to."""
    text: list[str] = []
    owners: list[int] = []
    for index, word in enumerate(words):
        part = findable(word.text)
        text.append(part)
        owners.extend([index] * len(part))
    return "".join(text), owners
