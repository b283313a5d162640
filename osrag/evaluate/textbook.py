"""hit@k and MRR of textbook search on questions with known pages."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.book.search import TextbookSearch
from osrag.evaluate.measures import hit_rate, mean_reciprocal_rank
from osrag.evaluate.questions import read_rows
from osrag.index.collection import Collection
from osrag.text import folded
from osrag.types import Chunk, Hit, PageRef

CUTS = (1, 3, 5, 8, 10)


class PageQuestion(BaseModel, extra="allow"):
    """A question and the pages (places in the file) that answer it, or a quote that stands on them.

    `also` are quotes from further pages, of this or another book, each of which answers alone.
    """

    question: str
    gold_pages: list[int] = Field(default_factory=list)
    quote: str = ""
    also: list[str] = Field(default_factory=list)
    book: str = ""
    language: str = ""
    book_language: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    figures: dict[str, Any]
    misses: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that the collection can answer, and where."""

    question: PageQuestion
    gold: frozenset[tuple[str, int]]  # book ("" for any) and page


def read_questions(path: Path) -> list[PageQuestion]:
    """Raises BadInput, naming the line, for a row that is no question."""
    return read_rows(path, PageQuestion, needs="question and gold_pages")


def evaluate(search: TextbookSearch, questions: Sequence[PageQuestion], *, k: int = 10) -> Report:
    """Figures for all questions and for each pair of languages (question to book)."""
    asked = located(search.collection, questions)
    ranks: dict[str, list[int | None]] = defaultdict(list)
    misses, times = [], []
    for one in asked:
        question = one.question
        result = search.search(question.question, k=max(k, *CUTS))
        times.append(result.timings_ms["total"])
        rank = _rank(result.hits, one)
        ranks["all"].append(rank)
        ranks[f"{question.language}->{question.book_language}"].append(rank)
        if rank is None or rank > 3:
            misses.append(_miss(one, rank, result.hits))
    figures = {
        "questions": len(asked),
        "left_out": len(questions) - len(asked),  # their book is not in this index
        **{name: _figures(found) for name, found in sorted(ranks.items())},
        "median_ms": round(sorted(times)[len(times) // 2], 1) if times else None,
    }
    return Report(figures, tuple(misses))


def located(collection: Collection[Chunk], questions: Sequence[PageQuestion]) -> list[Asked]:
    """The questions whose book and pages are in the collection; quotes are looked up for their pages.

    A quote counts as found in a PDF only, and when page breaks or tables cut it, by its first half.
    """
    held = {document.name for document in collection.manifest.documents}
    texts: list[tuple[Chunk, str]] = []
    found = []
    for question in questions:
        if question.gold_pages:
            if not question.book or question.book in held:
                found.append(Asked(question, frozenset((question.book, page) for page in question.gold_pages)))
            continue
        if not texts:
            chunks = [chunk for chunk in collection.table.chunks() if isinstance(chunk.where, PageRef)]
            texts = [(chunk, folded(chunk.text)) for chunk in chunks]
        gold = _pages_with(question.quote, texts)
        if gold:
            found.append(Asked(question, gold.union(*(_pages_with(quote, texts) for quote in question.also))))
    return found


def _pages_with(quote: str, texts: Sequence[tuple[Chunk, str]]) -> frozenset[tuple[str, int]]:
    wanted = folded(quote)
    if not wanted:
        return frozenset()
    places = [chunk for chunk, text in texts if wanted in text]
    places = places or [chunk for chunk, text in texts if wanted[: len(wanted) // 2] in text]
    return frozenset(
        (chunk.source, page)
        for chunk in places
        if isinstance(chunk.where, PageRef)
        for page in range(chunk.where.first, chunk.where.last + 1)
    )


def _figures(ranks: Sequence[int | None]) -> dict[str, float]:
    values = {f"hit@{cut}": round(hit_rate(ranks, cut), 4) for cut in CUTS}
    return {"n": len(ranks), **values, "mrr": round(mean_reciprocal_rank(ranks), 4)}


def _rank(hits: Sequence[Hit], asked: Asked) -> int | None:
    for rank, hit in enumerate(hits, start=1):
        where = hit.chunk.where
        if not isinstance(where, PageRef):
            continue
        pages = range(where.first, where.last + 1)
        if any((book, page) in asked.gold for book in (hit.chunk.source, "") for page in pages):
            return rank
    return None


def _miss(asked: Asked, rank: int | None, hits: Sequence[Hit]) -> dict[str, Any]:
    found = [f"{hit.chunk.source} {hit.chunk.where.first}-{hit.chunk.where.last}" for hit in hits[:5]]
    return {
        "miss": asked.question.id,
        "question": asked.question.question,
        "gold": sorted(f"{book} {page}".strip() for book, page in asked.gold),
        "rank": rank,
        "found": found,
    }
