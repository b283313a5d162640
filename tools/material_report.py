"""How well each kind of file is read, on real texts that other programs turned into that kind.

    python tools/material_report.py --work /tmp/files TEXT.rst NOTES.md …

Each text is written by pandoc as Word, slides, EPUB, HTML and notebook, printed to PDF by LibreOffice, and its first
pages are drawn at 200 dpi by poppler and kept as pictures only. What osrag reads is held against pandoc's own plain
text (poppler's text for a scan):

text      share of the letters and digits that are found: as a bag, since tables and notes may stand elsewhere; of a
          scan in their order
added     letters found that the text has not, as a share of the text
headings  share of pandoc's headings (of a slide: its title) that are headings; `path`: at the right depth too,
          where the file's usual shift of levels is granted (a title takes the first level or not)
place     share of the paragraphs of 30 letters and more whose slide or page is right, as the XML of the slides or
          poppler says it, among those that were found
"""

import argparse
import json
import re
import subprocess
import sys
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from extraction_report import poppler
from lxml import etree
from PIL import Image

from osrag.book.document import BlockKind
from osrag.book.read import Material, read_material
from osrag.errors import BadDocument
from osrag.text import folded

WRITTEN = ("docx", "pptx", "epub", "html", "ipynb")
DPI = 200
LEAST_LETTERS = 30
NO_PICTURES = Path(__file__).with_suffix(".lua")


@dataclass(frozen=True)
class Truth:
    text: str  # folded
    headings: tuple[tuple[int, str], ...] = ()  # level and folded text
    pages: Mapping[int, str] | None = None  # folded text of each slide or page


@dataclass(frozen=True)
class Figures:
    name: str
    kind: str
    units: int  # slides, pages, or parts of 2,500 characters
    seconds: float
    text: float
    added: float
    headings: float | None
    path: float | None
    place: float | None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for the files that are made")
    parser.add_argument("--scanned", type=int, default=2, help="pages of each text that are scanned")
    args = parser.parse_args()
    rows: list[Figures] = []
    for text in args.texts:
        folder = args.work / text.stem
        folder.mkdir(parents=True, exist_ok=True)
        rows += measured(text, folder, args.scanned)
    print("\n| kind | files | pages | text | added | headings | path | place | s a page |\n|---|" + "---|" * 8)
    by_kind: dict[str, list[Figures]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    for kind, some in by_kind.items():
        units = sum(row.units for row in some)
        means = [mean([getattr(row, name) for row in some]) for name in ("text", "added", "headings", "path", "place")]
        print(f"| {kind} | {len(some)} | {units} | {' | '.join(means)} | {sum(r.seconds for r in some) / units:.2f} |")
    return 0


def measured(text: Path, folder: Path, scanned: int) -> list[Figures]:
    words = folded(pandoc(text, "-t", "plain", "--wrap=none"))
    outline = headings(json.loads(pandoc(text, "-t", "json"))["blocks"])
    rows = []
    for suffix in WRITTEN:
        path = folder / f"{text.stem}.{suffix}"
        pandoc(text, "--standalone", "-o", str(path))
        rows.append(figures(path, suffix, slide_truth(path, words) if suffix == "pptx" else Truth(words, outline)))
    office = [
        "soffice",
        "--headless",
        "--convert-to",
        "pdf",
        "--outdir",
        str(folder),
        str(folder / f"{text.stem}.docx"),
    ]
    subprocess.run(office, check=True, capture_output=True)
    printed = folder / f"{text.stem}.pdf"
    pages = {page: folded(said) for page, said in enumerate(poppler(printed), start=1)}
    rows.append(figures(printed, "pdf", Truth(words, outline, pages)))
    scan = folder / f"{text.stem}-scan.pdf"
    scan_of(printed, scan, scanned)
    drawn = {page: said for page, said in pages.items() if page <= scanned}
    rows.append(figures(scan, "scan", Truth("".join(drawn.values()), pages=drawn)))
    return [row for row in rows if row is not None]


def figures(path: Path, kind: str, truth: Truth) -> Figures | None:
    started = time.perf_counter()
    try:
        material = read_material(path)
    except BadDocument as error:
        print(f"{path.name}: {error.sentence()}")
        return None
    seconds = time.perf_counter() - started
    blocks = material.document.blocks
    found = folded(" ".join(block.text for block in blocks))
    right = in_order(truth.text, found) if kind == "scan" else (Counter(truth.text) & Counter(found)).total()
    seen = [(block.level, folded(block.text)) for block in blocks if block.kind is BlockKind.HEADING]
    shifts = [[at - level for at, one in seen if named(words, one)] for level, words in truth.headings]
    usual = Counter(shift for some in shifts for shift in some).most_common(1)
    row = Figures(
        path.name,
        kind,
        material.document.pages or max(1, material.document.chars // 2500),
        seconds,
        right / len(truth.text),
        (Counter(found) - Counter(truth.text)).total() / len(truth.text),
        share([bool(some) for some in shifts]),
        share([bool(usual) and usual[0][0] in some for some in shifts]),
        share(places(material, truth.pages)) if truth.pages else None,
    )
    print(row)
    return row


def in_order(text: str, found: str) -> int:
    """Letters of `text` that stand in `found` in the same order."""
    return sum(block.size for block in SequenceMatcher(None, text, found, autojunk=False).get_matching_blocks())


def named(words: str, heading: str) -> bool:
    """A heading may have lost its number, or got one."""
    return bool(words) and words in heading and len(heading) <= len(words) + 6


def places(material: Material, pages: Mapping[int, str]) -> list[bool]:
    """Of each paragraph that stands on one page only and in some passage: whether the passage names that page."""
    out = []
    chunks = [(chunk.where, folded(chunk.text)) for chunk in material.chunks]
    for block in material.document.blocks:
        words = folded(block.text)[:60]
        at = [page for page, text in pages.items() if words in text]
        holding = [where for where, text in chunks if words in text]
        if len(words) >= LEAST_LETTERS and len(at) == 1 and holding:
            out.append(any(where.first <= at[0] <= where.last for where in holding))
    return out


def pandoc(path: Path, *options: str) -> str:
    """Without pictures: pandoc would fetch those that lie elsewhere."""
    command = ["pandoc", str(path), "--lua-filter", str(NO_PICTURES), "--metadata", f"title={path.stem}", *options]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


def headings(blocks: Sequence[Mapping[str, object]]) -> tuple[tuple[int, str], ...]:
    found = [block["c"] for block in blocks if block["t"] == "Header"]
    return tuple((level, folded(plain(words))) for level, _, words in found)  # type: ignore[misc]


def plain(inlines: object) -> str:
    """The words of pandoc's syntax tree."""
    if isinstance(inlines, list):
        return "".join(map(plain, inlines))
    if isinstance(inlines, dict):
        content = inlines.get("c", "")
        return " " if inlines["t"] == "Space" else plain(content[-1] if inlines["t"] == "Code" else content)
    return inlines if isinstance(inlines, str) else ""


def slides_of(path: Path) -> Iterator[tuple[int, Any]]:
    """The number of each slide, and its XML."""
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if number := re.fullmatch(r"ppt/slides/slide(\d+)\.xml", name):
                yield int(number[1]), etree.fromstring(package.read(name))


def slide_truth(path: Path, words: str) -> Truth:
    """The title of each slide that has one, and what stands on each."""
    titles, pages = [], {}
    for number, slide in slides_of(path):
        pages[number] = folded("".join(slide.itertext("{*}t")))
        for shape in slide.iter("{*}sp"):
            holder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
            if holder is not None and holder.get("type") in ("title", "ctrTitle"):
                titles.append((1, folded("".join(shape.itertext("{*}t")))))
    return Truth(words, tuple(one for one in titles if one[1]), pages)


def scan_of(printed: Path, scan: Path, pages: int) -> None:
    """The first pages as grey pictures in a PDF without text."""
    stem = scan.with_suffix("")
    command = ["pdftoppm", "-gray", "-r", str(DPI), "-l", str(pages), str(printed), str(stem)]
    subprocess.run(command, check=True)
    pictures = [Image.open(path) for path in sorted(stem.parent.glob(f"{stem.name}-*.pgm"))]
    pictures[0].save(scan, save_all=True, append_images=pictures[1:], resolution=DPI)


def share(right: Sequence[bool]) -> float | None:
    return sum(right) / len(right) if right else None


def mean(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{sum(known) / len(known):.3f}" if known else "–"


if __name__ == "__main__":
    sys.exit(main())
