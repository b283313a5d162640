"""A question without an answer: where it was asked, told without the student's words, and a draft that answers it."""

from pathlib import Path

from osrag.app.parts import Parts
from osrag.book.prepare import Task, write_drafts
from osrag.book.sections import course_book, first_of
from osrag.errors import ModelNotFound
from osrag.glossary import load_glossary
from osrag.study.recommend import section_of
from osrag.types import Language, Passage

HITS = 8  # among which the course book is looked for
PASSAGES = 2  # that a draft is made of
SPLIT = "|"  # between the section and the term of a place


def places(parts: Parts, question: str) -> list[str]:
    """Where a question was asked: `6.6|TLB` for each term of the glossary in it, `6.6|` where it names none.

    The section is that of the nearest page of the course book; the terms are those of the glossary. So nothing of a
    place is the student's own wording, and questions that differ in their words meet in one place.
    """
    sections = (section_of(hit.chunk) for hit in parts.textbook.search(question, k=HITS).hits)
    section = next(filter(None, sections), "")
    terms = sorted({term.en[0] for term in load_glossary().find(question)})
    return [f"{section}{SPLIT}{term}" for term in terms or [""]]


def label(parts: Parts, place: str, language: Language) -> tuple[str, str]:
    """(term, heading of the section) of a place in a language; empty where it names none."""
    section, _, name = place.partition(SPLIT)
    term = next((term for term in load_glossary().terms if term.en[0] == name), None)
    page = first_of(course_book(parts.textbook.collection), section, language) if section else None
    headings = page.section if page is not None else ()
    heading = next((one for one in headings if one.split(" ")[0] == section), section)
    return (getattr(term, language)[0] if term is not None else ""), heading


def draft(parts: Parts, file: Path, question: str, place: str, language: Language) -> int:
    """Append a draft of a prepared answer to `file`, made of the pages of the place; how many were written.

    None is written where the file has one of this question already, and where the model finds nothing in these pages.
    Raises ModelNotFound where no model runs.
    """
    if parts.chat is None:
        raise ModelNotFound("a draft needs a chat model", hint="this machine runs none")
    section = place.partition(SPLIT)[0]
    hits = parts.textbook.search(question, k=HITS, language=language).hits
    near = sorted(hits, key=lambda hit: section_of(hit.chunk) != section)[:PASSAGES]
    passages = tuple(Passage(n, hit.chunk, hit.score, hit.similarity) for n, hit in enumerate(near, start=1))
    task = Task(question, language, section, passages)
    return write_drafts(file, [task], parts.chat, parts.checker)[0]
