"""How well PDFs are read: characters lost and added per page, and word order, against poppler's pdftotext.

    python tools/extraction_report.py BOOK.pdf … [--anchors page_anchors.jsonl] [--worst 20]

Lost: characters that `pdftotext -layout` has and osrag has not (running heads, feet and page
numbers counted apart: they are dropped on purpose). Added: the other way round. Both as bags,
after NFKC, without blanks and hyphens. Order: the share of osrag's neighbouring words that are
neighbours in `pdftotext` too (its reading order without -layout, which mixes columns less).
"""

import argparse
import json
import re
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.book.chunking import chunk_document
from osrag.book.document import BlockKind, Document
from osrag.book.pdf.file import PdfFile, read_pdf_file
from osrag.book.pdf.furniture import body_size, strip_furniture
from osrag.book.pdf.read import layout, page_warnings
from osrag.errors import BadDocument
from osrag.text import squeeze
from osrag.types import PageRef

# Bullets and leaders are shapes in one reader and characters in the other, and mean nothing.
_IGNORED = str.maketrans("", "", "-\u2010\u00ad•∗·◦▪■▶|.")
_WORD = re.compile(r"[A-Za-z0-9_]+|[\u3400-\u9fff]")


@dataclass(frozen=True)
class PageFigures:
    page: int
    characters: int  # in pdftotext, without heads
    lost: int
    added: int
    order: float  # 0-1
    sample_lost: str


def poppler(path: Path, *options: str) -> list[str]:
    """The text of each page."""
    command = ["pdftotext", *options, "-enc", "UTF-8", str(path), "-"]
    out = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    return out.split("\f")[:-1]


def letters(text: str) -> Counter[str]:
    flat = re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).translate(_IGNORED)
    return Counter(char for char in flat if char.isprintable() and unicodedata.category(char) != "Co")


def pairs(text: str) -> Counter[tuple[str, str]]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    return Counter(pairwise(words))


def page_texts(document: Document, count: int) -> list[str]:
    """What osrag has of each page, in its order."""
    out = [""] * count
    for block in document.blocks:
        starts = [(0, block.first), *block.turns]
        ends = [offset for offset, _ in block.turns] + [len(block.text)]
        for (start, page), end in zip(starts, ends, strict=True):
            out[page - 1] += block.text[start:end] + "\n"
    return out


def heads(file: PdfFile) -> list[str]:
    """Running heads, feet and page numbers of each page: what is dropped on purpose."""
    kept, _ = strip_furniture(file.pages, file.labels, body_size(file.pages))
    return [
        " ".join(run.text for run in before.runs if id(run) not in {id(one) for one in after.runs})
        for before, after in zip(file.pages, kept, strict=True)
    ]


def compare(path: Path, file: PdfFile, document: Document) -> Iterator[PageFigures]:
    ours = page_texts(document, len(file.pages))
    columns = zip(ours, heads(file), poppler(path, "-layout"), poppler(path), strict=False)
    for number, (text, head, laid_out, plain) in enumerate(columns, start=1):
        reference = letters(laid_out) - letters(head)
        lost, added = reference - letters(text), letters(text) - reference
        mine, theirs = pairs(text), pairs(plain) | pairs(laid_out)
        same = (mine & theirs).total()
        order = same / mine.total() if mine else 1.0
        sample = "".join(lost.elements())[:40]
        yield PageFigures(number, reference.total(), lost.total(), added.total(), order, sample)


def report(path: Path, *, worst: int) -> Document | None:
    started = time.perf_counter()
    file = read_pdf_file(path, workers=1)
    if not any(page.runs for page in file.pages):
        print(f"{path.name}: {'; '.join(page_warnings(file.pages))}")
        return None
    document = layout(file, page_warnings(file.pages))
    seconds = time.perf_counter() - started
    figures = list(compare(path, file, document))
    total = sum(page.characters for page in figures)
    chunks = chunk_document(document)
    kinds = Counter(block.kind.value for block in document.blocks)
    print(f"{path.name}: {len(file.pages)} pages, {seconds:.1f} s, {total} characters, {len(chunks)} chunks")
    print(f"  lost {share(figures, 'lost', total)}, added {share(figures, 'added', total)}")
    ordered = sorted(page.order for page in figures)
    print(f"  word order: mean {sum(ordered) / len(ordered):.4f}, worst page {ordered[0]:.3f}")
    print(f"  blocks: {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}")
    headings = Counter(block.level for block in document.blocks if block.kind is BlockKind.HEADING)
    print(f"  headings by level: {dict(sorted(headings.items()))}; outline entries: {len(file.outline)}")
    spans = Counter(chunk.where.last - chunk.where.first + 1 for chunk in chunks if isinstance(chunk.where, PageRef))
    print(f"  pages a chunk: {dict(sorted(spans.items()))}; warnings: {list(document.warnings)}")
    for page in sorted(figures, key=lambda page: -(page.lost + page.added))[:worst]:
        print(
            f"    page {page.page}: {page.characters} characters, lost {page.lost}, added {page.added}, "
            f"order {page.order:.2f}, lost {page.sample_lost!r}"
        )
    return document


def share(figures: Sequence[PageFigures], name: str, total: int) -> str:
    values = sorted(getattr(page, name) for page in figures)
    median, clean = values[len(values) // 2], sum(value == 0 for value in values)
    return f"{sum(values)} ({sum(values) / max(1, total):.3%}; median page {median}, {clean} pages none)"


def check_anchors(path: Path, documents: dict[str, Document]) -> int:
    """Whether every snippet is in a chunk that names its page, and the page has the label. Returns the misses."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    known = [row for row in rows if row["pdf"] in documents]
    missed = 0
    for row in known:
        document, place = documents[row["pdf"]], row["page_index_1based"]
        found = [chunk for chunk in chunk_document(document) if squeeze(row["snippet"]) in squeeze(chunk.text)]
        on_page = [chunk for chunk in found if chunk.where.first <= place <= chunk.where.last]
        label = row["page_label"] in (None, document.labels[place - 1])
        if not on_page or not label:
            missed += 1
            seen = [(chunk.where.first, chunk.where.last) for chunk in found]
            print(
                f"  {row['pdf']} page {place} {row['page_label']!r}: found on {seen}, label "
                f"{document.labels[place - 1]!r}, {row['pages_total']} pages expected: {row['snippet']!r}"
            )
    print(f"anchors: {len(known) - missed} of {len(known)} on their page with their label")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", nargs="+", type=Path)
    parser.add_argument("--anchors", type=Path, help="JSON Lines with pdf, page_index_1based, page_label, snippet")
    parser.add_argument("--worst", type=int, default=5, help="pages to show of each book")
    args = parser.parse_args()
    documents: dict[str, Document] = {}
    for path in args.books:
        try:
            document = report(path, worst=args.worst)
        except BadDocument as error:
            print(error.sentence())
            continue
        if document:
            documents[path.name] = document
    if args.anchors:
        check_anchors(args.anchors, documents)
    return 0


if __name__ == "__main__":
    sys.exit(main())
