"""Pictures of pages: a photograph, a scan, a TIFF of several pages."""

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

from osrag.book.document import Document, SeenLine
from osrag.book.ocr import DPI, MOST_SIDE, page_of, recognise, with_seen
from osrag.book.pdf.file import PdfFile, Progress
from osrag.book.pdf.page import Page
from osrag.book.pdf.read import layout, page_warnings
from osrag.errors import BadDocument
from osrag.types import Language
from osrag.wording import Said

MOST_PIXELS = 60_000_000  # of one picture
# What Pillow raises inside for a damaged file, such as a TIFF whose second page has no width.
BROKEN = (ValueError, SyntaxError, TypeError, LookupError, ArithmeticError, EOFError, struct.error)


def read_picture(path: Path, *, language: Language | None = None, progress: Progress | None = None) -> Document:
    """Read a photograph or a scan; a TIFF may have several pages. Raises BadDocument where no text is found."""
    seen: dict[int, tuple[SeenLine, ...]] = {}
    pages: list[Page] = []
    frames = picture_pages(path)
    for number, frame in enumerate(frames, start=1):
        scale = 72 / DPI
        lines = recognise(frame, scale)
        high, wide = frame.shape[:2]
        pages.append(page_of(lines, number, wide * scale, high * scale))
        if lines:
            seen[number] = lines
        if progress:
            progress(number, len(frames))
    if not seen:
        raise BadDocument(Said("doc_picture_bare", name=path.name), hint=Said("doc_do_scan"), fault="empty")
    labels = tuple(str(number) for number in range(1, len(pages) + 1))
    document = layout(PdfFile(path.name, "", tuple(pages), labels, ()), page_warnings(pages), language)
    return with_seen(replace(document, kind="picture"), seen)


def picture_pages(path: Path) -> list[Any]:
    """The frames of a picture as arrays (height, width, 3; BGR). Raises BadDocument for one too large, or broken."""
    import numpy as np
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    limits = {"side": f"{MOST_SIDE:,}", "most": MOST_PIXELS // 1_000_000}
    try:
        with Image.open(path) as image:
            wide, high = image.size
            if max(wide, high) > MOST_SIDE or wide * high > MOST_PIXELS:
                size = Said("doc_picture_large", name=path.name, wide=f"{wide:,}", high=f"{high:,}", **limits)
                raise BadDocument(size, hint=Said("doc_do_cut"), fault="large")
            frames = [ImageOps.exif_transpose(frame).convert("RGB") for frame in ImageSequence.Iterator(image)]
    except Image.DecompressionBombError:
        raise BadDocument(
            Said("doc_picture_huge", name=path.name, **limits), hint=Said("doc_do_cut"), fault="large"
        ) from None
    except (UnidentifiedImageError, OSError, *BROKEN) as error:
        raise BadDocument(
            Said("doc_picture_damaged", name=path.name, why=str(error)), hint=Said("doc_do_again"), fault="damaged"
        ) from error
    return [np.ascontiguousarray(np.asarray(frame)[:, :, ::-1]) for frame in frames]
