"""hit@k and MRR of textbook search on questions with known pages."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.errors import BadInput
from osrag.evaluate.measures import hit_rate, mean_reciprocal_rank
from osrag.index.collection import Collection
from osrag.retrieve.textbook import TextbookSearch
from osrag.text import squeeze
from osrag.types import Chunk, Hit, PageRef

CUTS = (1, 3, 5, 8, 10)


class PageQuestion(BaseModel, extra="allow"):
    """A question and the pages (places in the file) that answer it, or a quote that stands on them."""

    question: str
    gold_pages: list[int] = Field(default_factory=list)
    quote: str = ""
    book: str = ""
    language: str = ""
    book_language: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    figures: dict[str, Any]
    misses: tuple[dict[str, Any], ...]


def read_questions(path: Path) -> list[PageQuestion]:
    """Raises BadInput, naming the line, for a row that is no question."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"cannot read {str(path)!r}: {error.strerror}", hint="check the path") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append(PageQuestion.model_validate(json.loads(line)))
        except ValueError as error:  # pydantic's is one too
            raise BadInput(f"{path} line {number}: {error}", hint="a row needs question and gold_pages") from error
    return rows


def evaluate(search: TextbookSearch, questions: Sequence[PageQuestion], *, k: int = 10) -> Report:
    """Figures for all questions and for each pair of languages (question to book)."""
    asked = located(search.collection, questions)
    ranks: dict[str, list[int | None]] = defaultdict(list)
    misses, times = [], []
    for question in asked:
        result = search.search(question.question, k=max(k, *CUTS))
        times.append(result.timings_ms["total"])
        rank = _rank(result.hits, question)
        ranks["all"].append(rank)
        ranks[f"{question.language}->{question.book_language}"].append(rank)
        if rank is None or rank > 5:
            misses.append(_miss(question, rank, result.hits))
    figures = {
        "questions": len(asked),
        "left_out": len(questions) - len(asked),  # their book is not in this index
        **{name: _figures(found) for name, found in sorted(ranks.items())},
        "median_ms": round(sorted(times)[len(times) // 2], 1) if times else None,
    }
    return Report(figures, tuple(misses))


def located(collection: Collection[Chunk], questions: Sequence[PageQuestion]) -> list[PageQuestion]:
    """The questions whose book and pages are in the collection; a quote is looked up for its pages.

    A quote counts as found in a PDF only, and when page breaks or tables cut it, by its first half.
    """
    held = {document.name for document in collection.manifest.documents}
    texts: list[tuple[Chunk, str]] = []
    found = []
    for question in questions:
        if question.gold_pages:
            if not question.book or question.book in held:
                found.append(question)
            continue
        if not texts:
            chunks = [chunk for chunk in collection.table.chunks() if isinstance(chunk.where, PageRef)]
            texts = [(chunk, _folded(chunk.text)) for chunk in chunks]
        wanted = _folded(question.quote)
        places = [chunk for chunk, text in texts if wanted in text]
        places = places or [chunk for chunk, text in texts if wanted[: len(wanted) // 2] in text]
        if wanted and places:
            pages = sorted({page for c in places for page in range(c.where.first, c.where.last + 1)})
            found.append(question.model_copy(update={"gold_pages": pages, "book": places[0].source}))
    return found


def _folded(text: str) -> str:
    """Letters and digits only: quotation marks and dashes are set in many ways."""
    return "".join(char for char in squeeze(text) if char.isalnum())


def _figures(ranks: Sequence[int | None]) -> dict[str, float]:
    values = {f"hit@{cut}": round(hit_rate(ranks, cut), 4) for cut in CUTS}
    return {"n": len(ranks), **values, "mrr": round(mean_reciprocal_rank(ranks), 4)}


def _rank(hits: Sequence[Hit], question: PageQuestion) -> int | None:
    gold = set(question.gold_pages)
    for rank, hit in enumerate(hits, start=1):
        where = hit.chunk.where
        if question.book and hit.chunk.source != question.book:
            continue
        if isinstance(where, PageRef) and gold & set(range(where.first, where.last + 1)):
            return rank
    return None


def _miss(question: PageQuestion, rank: int | None, hits: Sequence[Hit]) -> dict[str, Any]:
    found = [f"{hit.chunk.source} {hit.chunk.where.first}-{hit.chunk.where.last}" for hit in hits[:5]]
    return {
        "miss": question.id,
        "question": question.question,
        "gold": question.gold_pages,
        "rank": rank,
        "found": found,
    }
