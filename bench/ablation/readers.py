"""Rules of the PDF reader, on documents that they were not written for.

`sh bench/ablation/readers_corpus.sh FOLDER` makes the documents; OSRAG_READER_PDFS=FOLDER names them here:

made    the project's own Markdown, set by four other programs: the source says what each block is
found   manuals from Debian packages, with sentences on which poppler and PDFium agree (found/anchors.jsonl)

The books that the rules were developed on, with their anchors, are measured as well where ../shared/eval/books exists.
"""

import json
import os
import pickle
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.ablation import OUTSIDE, Area, Rule, Score
from osrag.book.chunking import chunk_document, sections
from osrag.book.document import Block, BlockKind, Document
from osrag.book.markdown import blocks_of
from osrag.book.pdf.file import PdfFile, _outline, open_pdf
from osrag.book.pdf.page import Frame, read_page
from osrag.book.pdf.read import layout
from osrag.text import sentences, squeeze

CORPUS = Path(os.environ.get("OSRAG_READER_PDFS", "/nonexistent"))
BOOKS = OUTSIDE / "books"
PAGES = 24  # read of each document that was found
ANCHORS = 24  # drawn from each document that was found
_KEYS = ("text", "fontname", "size", "x0", "x1", "y0", "top", "bottom", "matrix", "upright", "object_type")
_SAME = str.maketrans("‘’“”–—−‐", "''\"\"----", "•·∗")


def plain(text: str) -> str:
    """What two typesetters agree on: no blanks, one kind of quotation mark and dash, no bullets."""
    return re.sub(r"-+", "-", squeeze(text).translate(_SAME))


# ---------------------------------------------------------------- files


@dataclass(frozen=True, slots=True)
class Raw:
    """A pdfplumber page without what the reader never looks at, so that it can be kept on disk."""

    objects: Mapping[str, list[dict[str, Any]]]
    width: float
    height: float
    frames: tuple[Frame, ...]

    def find_tables(self, _: object) -> list[Any]:
        return []


def _raw_page(page: Any, number: int) -> Raw:
    objects = {
        kind: [{key: one[key] for key in _KEYS if key in one} for one in found] for kind, found in page.objects.items()
    }
    return Raw(objects, float(page.width), float(page.height), read_page(page, number).frames)


@cache
def _raw(path: Path) -> tuple[PdfFile, tuple[Path, ...]]:
    """The file without its pages, and the pages as pdfplumber gives them, on disk."""
    folder, many = CORPUS / "raw" / path.stem, PAGES if path.parent.name == "found" else None
    kept = folder / "file.pkl"
    if not kept.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with open_pdf(path) as pdf:
            for place, page in enumerate(pdf.pages[:many]):
                (folder / f"{place:04}.pkl").write_bytes(pickle.dumps(_raw_page(page, place + 1)))
                page.close()
            labels, outline = tuple(str(page.page_obj.label or "") for page in pdf.pages), _outline(path, pdf.pages)
        kept.write_bytes(pickle.dumps((path.name, "", labels, outline)))
    name, title, labels, outline = pickle.loads(kept.read_bytes())
    pages = tuple(sorted(folder.glob("[0-9]*.pkl"))[:many])
    outline = tuple(entry for entry in outline if entry.page <= len(pages))
    return PdfFile(name, title, (), labels[: len(pages)], outline), pages


_read: dict[Path, PdfFile] = {}


def file_of(path: Path) -> PdfFile:
    """The pages read by the rules as they are now; kept while no rule of a page is switched off."""
    usual = all(getattr(owner, name) is value for owner, name, value in _PAGE_RULES)
    if usual and path in _read:
        return _read[path]
    file, raw = _raw(path)
    pages = []
    for at, one in enumerate(raw, start=1):
        page = pickle.loads(one.read_bytes())
        pages.append(replace(read_page(page, at), frames=page.frames))
    file = replace(file, pages=tuple(pages))
    if usual:
        _read[path] = file
    return file


# ---------------------------------------------------------------- documents with a source


def source_of(pdf: Path) -> Path:
    """The Markdown that was set: `o-labs.zh.pdf` comes from labs.zh.md, what LaTeX set from a file without Unicode."""
    name = pdf.stem[2:] + ".md"
    return pdf.with_name(f"l-{name}" if pdf.stem[0] in "kl" else name)


@cache
def truth(source: Path) -> tuple[Block, ...]:
    return tuple(blocks_of(source.read_text(encoding="utf-8")))


def _under(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """Paragraphs with the heading they stand under."""
    for section in sections(blocks):
        for block in section.blocks:
            if block.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM) and len(plain(block.text)) >= 20:
                yield re.sub(r"^[\d.]+", "", plain(section.path[-1] if section.path else "")), plain(block.text)


def _rows(blocks: Sequence[Block], kind: BlockKind) -> list[str]:
    found = [block.text for block in blocks if block.kind is kind]
    if kind is BlockKind.TABLE:
        return [plain(row) for text in found for row in text.split("\n")]
    return [line.strip() for text in found for line in text.split("\n") if line.strip()]


def measure_made() -> dict[str, Score]:
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()

    def count(name: str, mine: Sequence[Any], theirs: Sequence[Any]) -> None:
        right[name] += (Counter(mine) & Counter(theirs)).total()
        asked[name] += len(theirs)

    for pdf in sorted((CORPUS / "made").glob("*.pdf")):
        mine, theirs = layout(file_of(pdf)).blocks, truth(source_of(pdf))
        paragraphs, wanted = list(_under(mine)), list(_under(theirs))
        count("paragraphs whole", [text for _, text in paragraphs], [text for _, text in wanted])
        heads = {text: head for head, text in wanted}
        known = [(head, text) for head, text in paragraphs if text in heads]
        right["sections"] += sum(heads[text] == head for head, text in known)
        asked["sections"] += len(known)
        count("table rows", _rows(mine, BlockKind.TABLE), _rows(theirs, BlockKind.TABLE))
        if pdf.name[0] not in "kl":  # pandoc's LaTeX leaves out indentation
            count("listings", _rows(mine, BlockKind.CODE), _rows(theirs, BlockKind.CODE))
        whole = plain(source_of(pdf).read_text(encoding="utf-8").replace("`", "").replace("*", "").replace("\\", ""))
        prose = [plain(block.text) for block in mine if block.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM)]
        right["no foreign words"] += sum(text in whole for text in prose)
        asked["no foreign words"] += len(prose)
    return {name: (1000 * right[name] / asked[name], 1000) for name in asked}


# ---------------------------------------------------------------- documents without a source


def draw_anchors() -> list[dict[str, Any]]:
    """Sentences on which poppler and PDFium agree, the same at every run."""
    import pypdfium2

    rows = []
    for pdf in sorted((CORPUS / "found").glob("*.pdf")):
        command = ["pdftotext", "-l", str(PAGES), "-enc", "UTF-8", str(pdf), "-"]
        out = subprocess.run(command, capture_output=True, check=True)
        pages = out.stdout.decode("utf-8", "replace").split("\f")[:-1]
        other = [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf)]
        found = []
        for number, (text, second) in enumerate(zip(pages, other, strict=False), start=1):
            squeezed = plain(second.replace("\ufffe", "").replace("\x02", ""))
            for paragraph in text.split("\n\n"):
                whole = [plain(sentence) for sentence in sentences(paragraph)[1:] if sentence[-1] in ".。?"]
                agreed = [sentence for sentence in whole if 30 <= len(sentence) <= 300 and sentence in squeezed]
                found += [{"pdf": pdf.name, "page": number, "snippet": sentence} for sentence in agreed]
        random.Random(7).shuffle(found)
        rows += found[:ANCHORS]
    return rows


@cache
def anchors() -> tuple[dict[str, Any], ...]:
    kept = CORPUS / "found/anchors.jsonl"
    if not kept.is_file():
        rows = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in draw_anchors())
        kept.write_text(rows, encoding="utf-8")
    return tuple(json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines())


def _on_page(document: Document, rows: Sequence[tuple[str, int]]) -> int:
    """How many of the snippets are in a chunk that names their page."""
    texts = [(plain(chunk.text), chunk.where) for chunk in chunk_document(document)]
    return sum(any(snippet in text and at.first <= page <= at.last for text, at in texts) for snippet, page in rows)


def measure_found() -> dict[str, Score]:
    right = heads = labels = pages = 0.0
    entries = 0
    for pdf in sorted((CORPUS / "found").glob("*.pdf")):
        file = file_of(pdf)
        right += _on_page(layout(file), [(row["snippet"], row["page"]) for row in anchors() if row["pdf"] == pdf.name])
        if len(file.outline) <= 5 and not any(file.labels):
            continue
        bare = layout(replace(file, outline=(), labels=("",) * len(file.labels)))
        if len(file.outline) > 5:
            named = Counter((bare_title(entry.title), entry.page) for entry in file.outline)
            seen = Counter((bare_title(b.text), b.first) for b in bare.blocks if b.kind is BlockKind.HEADING)
            both = (named & seen).total()
            entries += 1
            heads += 2 * both / (named.total() + max(1, seen.total()))
        if any(file.labels):
            labels += sum(a == b for a, b in zip(file.labels, bare.labels, strict=True))
            pages += len(file.labels)
    return {
        "sentences": (right, len(anchors())),
        "headings by type": (1000 * heads / entries, 1000),
        "labels": (labels, int(pages)),
    }


def bare_title(title: str) -> str:
    return re.sub(r"^(chapter|appendix|part)?[\da-z]?[\d.]*", "", plain(title))


def measure_books() -> dict[str, Score]:
    rows = [json.loads(line) for line in (BOOKS / "page_anchors.jsonl").read_text(encoding="utf-8").splitlines()]
    right = 0
    for name in {row["pdf"] for row in rows}:
        document = layout(file_of(BOOKS / name))
        here = [
            (plain(row["snippet"]), row["page_index_1based"])
            for row in rows
            if row["pdf"] == name and row["page_label"] in (None, document.labels[row["page_index_1based"] - 1])
        ]
        right += _on_page(document, here)
    return {"anchors of the books": (right, len(rows))}


def measure() -> Mapping[str, Score]:
    if not (CORPUS / "made").is_dir():
        raise SystemExit(
            f"no documents in {CORPUS}: sh bench/ablation/readers_corpus.sh FOLDER; OSRAG_READER_PDFS=FOLDER"
        )
    return {**(measure_books() if BOOKS.is_dir() else {}), **measure_found(), **measure_made()}


# ---------------------------------------------------------------- rules

_NEVER = re.compile(r"(?!)")


def _no(*_: Any, **__: Any) -> bool:
    return False


def _yes(*_: Any, **__: Any) -> bool:
    return True


def _none(*_: Any, **__: Any) -> tuple[Any, ...]:
    return ()


def _same(value: Any, *_: Any, **__: Any) -> Any:
    return value


def _rule(name: str, *off: tuple[str, Any]) -> Rule:
    return Rule(name, tuple((f"osrag.book.{target}", value) for target, value in off))


RULES = (
    _rule("furniture", ("pdf.read.strip_furniture", lambda pages, labels: (list(pages), list(labels)))),
    _rule("furniture: numbers alone", ("pdf.furniture._only_number", _no)),
    _rule("furniture: repeated rows", ("pdf.furniture._repeated", lambda *_: [])),
    _rule("furniture: usual heights", ("pdf.furniture._levels", lambda *_: set())),
    _rule("furniture: dense", ("pdf.furniture._dense", lambda places, need: len(places) >= need)),
    _rule("hyphens", ("pdf.lines._without_hyphen", lambda before, _tail, after, _words: before + after)),
    _rule("hyphens: words of the document", ("pdf.read.count_words", lambda _: Counter())),
    _rule("joints: no space after", ("pdf.lines.NO_SPACE_AFTER", "")),
    _rule("columns", ("pdf.read.page_gutters", lambda pages: [None] * len(pages))),
    _rule("columns: of the document", ("pdf.columns._divides_page", _no)),
    _rule("raised", ("pdf.lines.raised", _same)),
    _rule("lowered", ("pdf.lines.lowered", _same)),
    _rule("small signs join a line", ("pdf.lines.SMALL", 0.0)),
    _rule("enumerator", ("pdf.lines._ENUMERATOR", _NEVER)),
    _rule("drawings: words", ("pdf.blocks._is_drawing", _no)),
    _rule("listings: by punctuation", ("pdf.blocks._CODE_END", _NEVER)),
    _rule("captions", ("pdf.blocks.CAPTION", _NEVER)),
    _rule("captions stand apart", ("pdf.blocks._stands_apart", _no)),
    _rule("items: numbers", ("pdf.blocks._NUMBERED", _NEVER)),
    _rule("gappy", ("pdf.blocks._gappy", _no)),
    _rule("bullets drawn", ("pdf.read._with_bullets", _same)),
    _rule("bullets", ("pdf.blocks.starts_with_bullet", _no)),
    _rule("paragraphs by indent and short lines", ("pdf.blocks._new_paragraph", _no)),
    _rule("paragraphs overleaf", ("pdf.read._continuation", lambda *_: None)),
    _rule("paragraphs overleaf: goes on", ("pdf.read._goes_on", _yes)),
    _rule("headings: set like named ones", ("pdf.headings._set_like", _none)),
    _rule("headings: contents pages", ("pdf.read.is_contents", _no)),
    _rule("headings: spaced number", ("pdf.headings.spaced_number", _same)),
    _rule("headings: printed number", ("pdf.headings._title", lambda _, named: named)),
    _rule("tables", ("pdf.read.find_tables", lambda _: [])),
    _rule("tables: full", ("pdf.tables._full", _yes)),
    _rule("page: drawn underscores", ("pdf.page.underscores_of", lambda *_: [])),
    _rule("page: accents", ("pdf.page.accented", lambda *_: "")),
    _rule("page: cell borders", ("pdf.page._Pen.crosses", _no)),
    _rule("glyphs", ("pdf.page.readable", lambda text, font="": text)),
    _rule("glyphs: ligatures", ("glyphs._LIGATURES", {})),
    _rule("glyphs: radicals", ("glyphs._RADICALS", {})),
    _rule("glyphs: symbols of TeX", ("glyphs._CMSY", {})),
    _rule("glyphs: letters of TeX", ("glyphs._CMMI", {})),
)


def _owner(target: str) -> tuple[Any, str]:
    path, name = target.rsplit(".", 1)
    return (import_module("osrag.book.pdf.page")._Pen, name) if path.endswith("._Pen") else (import_module(path), name)


_PAGE_RULES = [
    (*_owner(target), getattr(*_owner(target)))
    for rule in RULES
    for target, _ in rule.off
    if ".page." in target or ".glyphs." in target
]
AREA = Area("readers", RULES, measure)
