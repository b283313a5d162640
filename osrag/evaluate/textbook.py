"""Ranks and refusals of textbook search on questions with known pages and on questions that no page answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.book.search import TextbookSearch
from osrag.evaluate.figures import Row, share_of_one, took
from osrag.evaluate.measures import Rank, first_right, ranked, read_rows
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


def rows(search: TextbookSearch, questions: Sequence[PageQuestion], *, k: int = 10) -> Iterator[Row]:
    """A row for each question, in groups by pair of languages (question to book).

    A question that the material does not answer must be refused; it is of the group "absent" and no rank. One whose
    book is not in this index is of the group "left_out" and has no score.
    """
    held = {id(one.question): one for one in located(search, [one for one in questions if one.is_answerable])}
    for question in questions:
        if not question.is_answerable:
            result = search.search(question.question)
            refused = result.confidence < REFUSE
            note = {} if refused else {"answered": question.question, "confidence": round(result.confidence, 3)}
            yield Row(("absent", question.language), {"refused": share_of_one(refused)}, note, alone=True)
        elif id(question) in held:
            yield _ranked(search, held[id(question)], k)
        else:
            yield Row(("left_out",), {}, alone=True)


def _ranked(search: TextbookSearch, asked: Located, k: int) -> Row:
    """Whether a right page is among the first, and how the pages are ordered; a page that comes again is left out."""
    question = asked.question
    result = search.search(question.question, k=max(k, *CUTS))
    rank = rank_of(asked, result.hits)
    pages = list(dict.fromkeys(place for hit in result.hits for place in _places(hit.chunk)))
    # The editions of a book say the same: what is to be found is what one of them has.
    wanted = max(Counter(book for book, _ in asked.gold).values())
    scores = {f"hit@{cut}": share_of_one(rank is not None and rank <= cut) for cut in CUTS}
    scores |= {"mrr": share_of_one(1 / rank if rank else 0), **ranked([page in asked.gold for page in pages], wanted)}
    scores |= {"refused_wrongly": share_of_one(result.confidence < REFUSE), **took(result.timings_ms["total"] / 1000)}
    note: dict[str, Any] = {}
    if rank is None or rank > MISS_RANK:
        found = [f"{hit.chunk.source} {hit.chunk.where.first}-{hit.chunk.where.last}" for hit in result.hits[:5]]
        gold = sorted(f"{book} {page}" for book, page in asked.gold)
        note = {"miss": question.id, "question": question.question, "gold": gold, "rank": rank, "found": found}
    return Row((f"{question.language}->{question.book_language}",), scores, note)


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
