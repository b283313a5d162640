"""The course book as plain text, read from its Typst sources."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
SOURCE = Path(__file__).resolve().parent.parent / "examples" / "textbook" / "src"


def straight(text: str) -> str:
    """Text without the differences that typesetting makes: quotes, dashes, blanks, widths."""
    for signs, plain in (('“”„"', '"'), ("‘’'", "'"), ("–—‑", "-")):
        text = re.sub(f"[{signs}]", plain, text)
    text = unicodedata.normalize("NFKC", text).replace("...", "…")
    text = re.sub(r"-{2,3}", "-", text)
    return re.sub(r"\s+", " ", text).strip()


def plain(paragraph: str) -> str:
    """A paragraph of Typst as it prints, as far as prose needs it."""
    parts = re.split(r"(`+)(.*?)\1", paragraph)
    out = [part if index % 3 == 2 else _unmark(part) for index, part in enumerate(parts) if index % 3 != 1]
    return straight("".join(out))  # every second of three parts are the backticks themselves


def _unmark(text: str) -> str:
    text = re.sub(r"#term\[([^]]*)\]\[([^]]*)\]", r"\1（\2）", text)
    text = re.sub(r"#(?:term|emph|strong|link\([^)]*\))\[([^]]*)\]", r"\1", text)
    text = re.sub(r"(?<![A-Za-z0-9\\])[_*]|(?<!\\)[_*](?![A-Za-z0-9])", "", text)
    return re.sub(r"\\([^\sA-Za-z0-9])", r"\1", text).replace("~", " ")


@cache
def paragraphs(chapter: int, language: Language) -> tuple[str, ...]:
    """The plain paragraphs of a chapter; empty when it does not exist."""
    found = sorted((SOURCE / language).glob(f"{chapter:02}-*.typ"))
    return _paragraphs(found[0]) if found else ()


@cache
def _paragraphs(path: Path) -> tuple[str, ...]:
    blocks = re.split(r"\n\s*\n|\n(?=\s*[+-] )", path.read_text("utf-8"))
    return tuple(plain(block) for block in blocks if block.strip())


def every_paragraph() -> Iterator[str]:
    """The plain paragraphs of all chapters and appendices of both editions."""
    for path in sorted(SOURCE.glob("*/*.typ")):
        yield from _paragraphs(path)


def is_anywhere(quote: str) -> bool:
    """Whether `quote` stands in one paragraph of a chapter or an appendix of either edition."""
    wanted = straight(quote)
    return any(wanted in paragraph for paragraph in every_paragraph())


def is_in_book(quote: str, chapter: int, language: Language) -> bool:
    """Whether `quote` stands in one paragraph of the chapter."""
    return any(straight(quote) in paragraph for paragraph in paragraphs(chapter, language))


@cache
def section_count(chapter: int, language: Language) -> int:
    """How many sections (`== `) the chapter has."""
    found = sorted((SOURCE / language).glob(f"{chapter:02}-*.typ"))
    return len(re.findall(r"^== ", found[0].read_text("utf-8"), re.M)) if found else 0
