"""Pages of a PDF that are read by their looks: scanned ones, and those whose text is nonsense."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from osrag.book.document import SeenLine
from osrag.book.ocr import (
    DPI,
    MOST_SIDE,
    page_of,
    recognise,
)
from osrag.book.pdf.file import PdfFile, Progress
from osrag.book.pdf.page import Page
from osrag.text import squeeze
from osrag.types import HAN
from osrag.wording import Said

FEW = 60  # characters: less than this on a page that is one picture is a stamp of the scanner
COVERED = 0.5  # share of a page under pictures
# Text whose fonts name the wrong letters. The signs only raise the suspicion; a page that is read by its looks decides.
LEAST_LETTERS = 200
COMMON = re.compile(r"\b(the|of|and|to|in|is|for|that|with|as|by|an?|on|are|this|be|or|it)\b", re.IGNORECASE)
COMMON_HAN = re.compile(
    "[的一是在不了有和人这中大为上个国以要他时来用们生到作地于出分对成会可主发年动同工也能下过子说产种面而方后多定行学]"
)
ALIKE = 0.5  # share of the pairs of characters that the text and the recognised page share


def with_scans(
    file: PdfFile, path: Path, progress: Progress | None
) -> tuple[PdfFile, dict[int, tuple[SeenLine, ...]], tuple[str, ...]]:
    """The file with its scanned pages read, the lines of each of them by number, and a remark on nonsense."""
    wanted = [page for page in file.pages if is_scan(page)]
    texts = [page for page in file.pages if page not in wanted]
    nonsense = suspicious(texts) and not _as_it_looks(texts, path)
    if nonsense:
        wanted = [page for page in file.pages if page.runs or page.drawn]
    seen: dict[int, tuple[SeenLine, ...]] = {}
    for done, page in enumerate(wanted, start=1):
        if lines := page_lines(path, page.number, page.width, page.height):
            seen[page.number] = lines
        if progress:
            progress(len(file.pages) + done, len(file.pages) + len(wanted))
    pages = tuple(
        page_of(seen[page.number], page.number, page.width, page.height) if page.number in seen else page
        for page in file.pages
    )
    return replace(file, pages=pages), seen, (Said("remark_nonsense"),) if nonsense else ()


def is_scan(page: Page) -> bool:
    """Whether a page shows something and has no text, or only a stamp on a picture."""
    letters = sum(len(run.text) for run in page.runs)
    return not page.problem and ((not letters and page.drawn) or (letters < FEW and page.covered > COVERED))


def suspicious(pages: Sequence[Page]) -> bool:
    """Whether the text of these pages is perhaps not what they show: signs without meaning, or no common word."""
    text = " ".join(run.text for page in pages for run in page.runs if not run.mono)
    if len(squeeze(text)) < LEAST_LETTERS:
        return False
    lost = len(re.findall(r"\(cid:\d+\)|[\ue000-\uf8ff\ufffd\x00-\x08]", text))
    words, han = re.findall(r"[^\W\d_]+", text), re.findall(f"[{HAN}]", text)
    latin = [word for word in words if not re.search(f"[{HAN}]", word)]
    if lost > 0.1 * (len(words) + len(han)):
        return True
    if len(han) > len(latin):
        return len(COMMON_HAN.findall(text)) < 0.05 * len(han)
    return len(COMMON.findall(text)) < 0.04 * len(latin)


def _as_it_looks(pages: Sequence[Page], path: Path) -> bool:
    """Whether the page with most text says what can be read on its picture."""
    page = max(pages, key=lambda one: sum(len(run.text) for run in one.runs))
    text = " ".join(run.text for run in page.runs)
    seen = " ".join(line.text for line in page_lines(path, page.number, page.width, page.height))
    return len(squeeze(seen)) < FEW or alike(text, seen) >= ALIKE


def alike(one: str, other: str) -> float:
    """The share of neighbouring characters that two texts have in common, whatever their order."""
    first, second = (Counter(itertools.pairwise(text)) for text in (squeeze(one), squeeze(other)))
    return sum((first & second).values()) / max(1, min(sum(first.values()), sum(second.values())))


def page_lines(path: Path, number: int, width: float, height: float) -> tuple[SeenLine, ...]:
    """What can be read on a page of a PDF as it is drawn; nothing where it cannot be drawn."""
    import numpy as np
    import pypdfium2

    scale = min(DPI / 72, MOST_SIDE / max(width, height, 1.0))
    try:
        with pypdfium2.PdfDocument(path) as pdf:
            drawn = pdf[number - 1].render(scale=scale, rev_byteorder=False)
            image = np.ascontiguousarray(drawn.to_numpy()[:, :, :3])
    except (pypdfium2.PdfiumError, IndexError, ValueError):
        return ()
    return recognise(image, 1 / scale)
