"""One run from a visitor's request to its events: limits first, then the source asked for."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from osrag.answer.events import (
    AnswerChunk,
    CodeDescriptionChunk,
    CodeDone,
    CodeRetrieval,
    Done,
    Event,
    Failed,
    TextbookDone,
)
from osrag.app.both import answer_both, separator
from osrag.app.parts import Parts
from osrag.book.answer import Question
from osrag.errors import BadIndex, BadInput, OsragError
from osrag.kernel.logs.answer import LogAnswerer
from osrag.kernel.logs.read import ErrorLog, read_log
from osrag.text import language_of
from osrag.types import Effort, Language, Source, Stage, Turn
from osrag.wording import say

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """What a visitor asks for; None takes the operator's setting."""

    question: str
    source: Source = "textbook"
    effort: Effort | None = None
    threshold: float | None = None
    history: tuple[Turn, ...] = ()
    language: Language | None = None  # of a reply to a bare log; None: English


def answer(parts: Parts, request: Request) -> Iterator[Event]:
    """Events in the order of U7, `Done` or `Failed` last. Raises nothing that a visitor can cause."""
    shown: list[str] = []
    stages: tuple[Stage, ...] = ()
    try:
        question = checked(parts, request)
        for event in _events(parts, request, question):
            if isinstance(event, AnswerChunk | CodeDescriptionChunk):
                shown.append(event.text)
            if isinstance(event, TextbookDone | CodeDone):
                stages = (*stages, *event.stages)
            yield event
            if isinstance(event, Failed):
                return
    except OsragError as error:
        log.warning("run failed: %s", error.sentence())
        yield Failed(str(error), error.hint)
        return
    yield Done("".join(shown), stages)


def checked(parts: Parts, request: Request) -> Question:
    """The question within the limits (O3). Raises BadInput with what was seen."""
    settings = parts.settings
    text = request.question.strip()
    language = language_of(request.question)
    if not text:
        raise BadInput(f"{say('empty_question', 'zh')} {say('empty_question', 'en')}")
    limit = settings.max_question_chars
    if len(text) > limit and len(text) <= settings.max_log_chars and read_log(text) is not None:
        limit = settings.max_log_chars
    if len(text) > limit:
        raise BadInput(say("long_question", language, seen=len(text), limit=limit))
    chat = parts.chat
    chain = chat is not None and chat.abilities.chain
    return Question(
        text,
        history=request.history[-settings.history_turns :] if settings.history_turns else (),
        effort=request.effort or settings.effort_for(chain=chain),
        threshold=settings.threshold if request.threshold is None else request.threshold,
        passages=settings.passages,
        max_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
        first_token_s=settings.first_token_s,
    )


def _events(parts: Parts, request: Request, question: Question) -> Iterator[Event]:
    log_read = read_log(question.text)
    if log_read is not None:
        yield from _log_events(parts, request, question, log_read)
        return
    if request.source == "textbook":
        yield from parts.textbook_answerer.answer(question)
        return
    try:
        kernel = parts.kernel_answerer
    except BadIndex as error:
        yield from _without_kernel(parts, request, question, error)
        return
    if request.source == "kernel":
        yield from kernel.answer(question)
    else:
        yield from answer_both(parts.textbook_answerer, kernel, question)


def _log_events(parts: Parts, request: Request, question: Question, found: ErrorLog) -> Iterator[Event]:
    """A pasted log goes to the log reader whatever source is set (K7); without a kernel index it quotes no code."""
    try:
        search = parts.kernel
    except BadIndex as error:
        log.warning("no kernel index: %s", error.sentence())
        search = None
    language = language_of(found.asked) if found.asked else request.language or "en"
    yield from LogAnswerer(search, parts.chat).answer(found, question, language)


def _without_kernel(parts: Parts, request: Request, question: Question, error: BadIndex) -> Iterator[Event]:
    """What is left to say where there is no kernel index: the book's part, and how to get one."""
    if request.source == "both":
        yield from parts.textbook_answerer.answer(question)
    log.warning("no kernel index: %s", error.sentence())
    none = say("kernel_none", question.language)
    text = f"{none}\n\n{error}\n\n`{error.hint.removeprefix('build one: ')}`"
    yield CodeRetrieval((), none)
    if request.source == "both":
        yield CodeDescriptionChunk(separator(question))
    yield CodeDescriptionChunk(text)
    yield CodeDone(text, (), True, ())
