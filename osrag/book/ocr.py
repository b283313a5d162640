"""Text recognition: a picture of a page to lines with their places, and these to a page as a PDF has them.

RapidOCR runs PP-OCR, Chinese and English, on onnxruntime; its wheel carries the weights. A line that it reads
becomes a run of text, so that columns, headings and paragraphs are found as in any other PDF.
"""

import functools
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from osrag.book.document import Document, SeenLine, ranges
from osrag.book.pdf.page import Page, Run
from osrag.types import HAN
from osrag.wording import Said

DPI = 200  # of a page that is drawn to be read: small type has 20 pixels
MOST_SIDE = 10_000  # pixels of a picture; A3 at 400 dpi has 6,600
SNAP = 0.3  # heights of boxes that differ by less are one size of type: a box hugs the letters that it has
TYPE = 0.74  # size of the type as a share of the height of its box
THREADS = 2
EDGE, EDGES, ROWS = 24, 6, 6  # grey levels of a change, changes in a row of pixels, rows that have so many
UNSURE = 0.8  # a page below this is named in a warning


@functools.cache
def engine() -> Any:
    """The recogniser, loaded once a process."""
    from rapidocr import RapidOCR

    return RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,  # it tells lines that stand on their head, which scans of books have not
            "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
        }
    )


def recognise(image: Any, scale: float) -> tuple[SeenLine, ...]:
    """The lines of a picture (height, width, 3; BGR); `scale` is points a pixel."""
    if not has_writing(image):
        return ()
    found = engine()(image)
    if found.boxes is None or found.txts is None:
        return ()
    lines = []
    for quad, text, score in zip(found.boxes.tolist(), found.txts, found.scores, strict=True):
        # A line that stands aslant: its ends by its corners, its height by its two sides.
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = quad
        middle, high = (ay + by + cy + dy) / 4, (abs(dy - ay) + abs(cy - by)) / 2
        words = _punctuated(" ".join(text.split()))
        if words:
            ends = min(ax, dx), middle - high / 2, max(bx, cx), middle + high / 2
            lines.append(SeenLine(words, float(score), *(scale * one for one in ends)))
    return tuple(lines)


def has_writing(image: Any) -> bool:
    """Whether rows of pixels change between dark and light often, as they do in writing and not in a blank page."""
    import numpy as np

    grey = image.mean(axis=2)
    changes = (np.abs(np.diff(grey, axis=1)) > EDGE).sum(axis=1)  # (rows,)
    return bool((changes >= EDGES).sum() >= ROWS)


def _punctuated(text: str) -> str:
    """The line with Chinese signs behind Chinese words, and a dot in the place of the circle before an item."""
    text = re.sub(f"(?<=[{HAN}])[,:;?!]", lambda sign: "，：；？！"[",:;?!".index(sign[0])], text)
    return re.sub(r"^[。○●◦](?=\s*\S)", "• ", text)


def page_of(lines: Sequence[SeenLine], number: int, width: float, height: float) -> Page:
    """The lines as a page of a PDF. Sizes that are nearly the usual one are the usual one."""
    usual = statistics.median(line.y1 - line.y0 for line in lines) if lines else 0.0
    runs = []
    for line in lines:
        high = line.y1 - line.y0
        high = usual if abs(high - usual) < SNAP * usual else high
        base = (line.y0 + line.y1) / 2 + 0.27 * high
        runs.append(Run(line.text, line.x0, line.x1, base, TYPE * high, "recognised"))
    return Page(number, width, height, tuple(runs), drawn=True)


def with_seen(document: Document, seen: Mapping[int, tuple[SeenLine, ...]]) -> Document:
    """The document with the pages that were read by their looks, and a sentence on how surely."""
    read = replace(document, seen=seen)
    sure = {number: score for number in seen if (score := read.confidence(number))}
    if not sure:
        return document
    mean = sum(sure.values()) / len(sure)
    said = [Said("remark_recognised", sure=f"{mean:.2f}", pages=ranges([*sure]))]
    poor = [number for number, score in sure.items() if score < UNSURE]
    said += [Said("remark_unsure", pages=ranges(poor))] if poor else []
    return replace(read, warnings=(*document.warnings, *said))
