"""K6: the textbook answer, a separator, then the kernel explanation, in one reply."""

from collections.abc import Iterator

from osrag.answer.events import CodeDescriptionChunk, CodeRetrieval, Event, Failed, Retrieval
from osrag.book.answer import Question, TextbookAnswerer
from osrag.kernel.answer import KernelAnswerer
from osrag.wording import say


def answer_both(book: TextbookAnswerer, kernel: KernelAnswerer, question: Question) -> Iterator[Event]:
    """Events of the textbook answer, then those of the kernel answer, in the order of U7.

    Functions are numbered after the passages of the book. A model that broke in the first part is
    told at the end of it; the code is still searched and quoted.
    """
    last = 0
    broken: Failed | None = None
    for event in book.answer(question):
        if isinstance(event, Retrieval):
            last = max([last, *(passage.number for passage in event.passages)])
        if isinstance(event, Failed):
            broken = event
            continue
        yield event
    apart = False
    for event in kernel.answer(question, first_number=last + 1):
        if isinstance(event, Failed):
            broken = event
            continue
        yield event
        if isinstance(event, CodeRetrieval) and not apart:
            apart = True
            yield CodeDescriptionChunk(separator(question))
    if broken:
        yield broken


def separator(question: Question) -> str:
    """Between the two parts: 相关源代码 / "Related source code"."""
    return f"\n\n---\n\n### {say('related_code', question.language)}\n\n"
