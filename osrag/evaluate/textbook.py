"""hit@k, MRR and refusals of textbook search on questions with known pages and on questions that no page answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.book.search import TextbookSearch
from osrag.evaluate.measures import Rank, RankTable, Report, first_right, quantile, read_rows, share
from osrag.index.confidence import REFUSE
from osrag.text import folded
from osrag.types import Chunk, Hit, PageRef

CUTS = (1, 3, 5, 8, 10)
MISS_RANK = 3  # a right page below this rank is listed as a miss


class PageQuestion(BaseModel, extra="allow"):
    """A question and the pages (places in the file) that answer it, or a quote that stands on them.

    `also` are quotes from further pages, of this or another book, each of which answers alone. A question with
    neither pages nor quote is one that the material does not answer.
    """

    question: str
    gold_pages: list[int] = Field(default_factory=list)
    quote: str = ""
    also: list[str] = Field(default_factory=list)
    book: str = ""
    language: str = ""
    book_language: str = ""
    id: str = ""

    @property
    def is_answerable(self) -> bool:
        """Whether the material answers the question."""
        return bool(self.gold_pages or self.quote)


@dataclass(frozen=True, slots=True)
class Located:
    """A question that the collection can answer, and the pages that answer it."""

    question: PageQuestion
    gold: frozenset[tuple[str, int]]  # book and place in the file


def read_questions(path: Path) -> list[PageQuestion]:
    """Raises BadInput, naming the line, for a row that is no question."""
    return read_rows(path, PageQuestion, needs="question and gold_pages")


def evaluate(search: TextbookSearch, questions: Sequence[PageQuestion], *, k: int = 10) -> Report:
    """Figures for all questions and for each pair of languages (question to book).

    A question that the material does not answer must be refused: it counts under "absent", not among the ranks.
    """
    answerable = [question for question in questions if question.is_answerable]
    asked = located(search, answerable)
    absent = [question for question in questions if not question.is_answerable]
    table = RankTable({"hit": CUTS})
    misses: list[dict[str, Any]] = []
    times: list[float] = []
    refused: list[bool] = []
    for one in asked:
        question = one.question
        result = search.search(question.question, k=max(k, *CUTS))
        times.append(result.timings_ms["total"])
        refused.append(result.confidence < REFUSE)
        rank = rank_of(one, result.hits)
        table.add(("all", f"{question.language}->{question.book_language}"), hit=rank)
        if rank is None or rank > MISS_RANK:
            found = [f"{hit.chunk.source} {hit.chunk.where.first}-{hit.chunk.where.last}" for hit in result.hits[:5]]
            gold = sorted(f"{book} {page}" for book, page in one.gold)
            about = {"miss": question.id, "question": question.question, "gold": gold}
            misses.append({**about, "rank": rank, "found": found})
    said_so: list[bool] = []
    for question in absent:
        result = search.search(question.question)
        said_so.append(result.confidence < REFUSE)
        if not said_so[-1]:
            misses.append({"answered": question.question, "confidence": round(result.confidence, 3)})
    figures: dict[str, Any] = {
        "questions": len(asked) + len(absent),
        "left_out": len(answerable) - len(asked),  # their book is not in this index
        **dict(sorted(table.figures().items())),
    }
    if asked:
        figures["refused_wrongly"] = share(refused)
    if absent:
        figures["absent"] = {"n": len(absent), "refused": share(said_so)}
    return {**figures, "median_ms": quantile(times, 0.5) if times else None}, misses


def rank_of(asked: Located, hits: Sequence[Hit]) -> Rank:
    """The rank of the first hit on a page that answers."""
    return first_right(not asked.gold.isdisjoint(_places(hit.chunk)) for hit in hits)


def located(search: TextbookSearch, questions: Sequence[PageQuestion]) -> list[Located]:
    """The questions whose book and pages are in the collection; quotes are looked up for their pages.

    The same place in the other edition of a book is right too: the search gives each student the edition in his
    language. Quotes are looked for in PDFs only; where a page break or a table cuts one, its first half is enough.
    """
    collection = search.collection
    held = {document.name for document in collection.manifest.documents}
    chunks = collection.chunks()
    texts = [folded(chunk.text) if isinstance(chunk.where, PageRef) else "" for chunk in chunks]

    def places_of(rows: Iterable[int]) -> set[tuple[str, int]]:
        return {place for row in rows for place in _places(chunks[row])}

    def places_with(quote: str) -> set[tuple[str, int]]:
        """The pages on which a quote stands, and those of the other edition."""
        wanted = folded(quote)
        if not wanted:
            return set()
        rows = [row for row, text in enumerate(texts) if wanted in text]
        rows = rows or [row for row, text in enumerate(texts) if wanted[: len(wanted) // 2] in text]
        return places_of([*rows, *search.editions.twins_of(rows)])

    found = []
    for question in questions:
        if question.gold_pages:
            books = {question.book} & held if question.book else held
            gold = {(book, page) for book in books for page in question.gold_pages}
            rows = [row for row, chunk in enumerate(chunks) if not gold.isdisjoint(_places(chunk))]
            gold |= places_of(search.editions.twins_of(rows))
        else:
            gold = places_with(question.quote)
            gold = gold and gold.union(*map(places_with, question.also))
        if gold:
            found.append(Located(question, frozenset(gold)))
    return found


def _places(chunk: Chunk) -> list[tuple[str, int]]:
    """The pages that a chunk stands on; none for one of a text file."""
    where = chunk.where
    return [(chunk.source, page) for page in range(where.first, where.last + 1)] if isinstance(where, PageRef) else []
