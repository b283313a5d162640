"""One run from a visitor's question to its events: limits first, then the sources asked for."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from osrag.answer import workflow
from osrag.answer.events import Done, Event, Failed, How, Retrieved, SourceDone, Token
from osrag.answer.plan import Plan, plan_by_rule
from osrag.answer.source import Question, Source, asked
from osrag.app.computed import answer_exercise, missing_note, read_on
from osrag.app.locked import answer_locked, locked_exercise
from osrag.app.metrics import counted
from osrag.app.parts import Parts
from osrag.app.route import Router, router, signs_in
from osrag.app.tutor import tutored
from osrag.errors import BadIndex, BadInput, OsragError
from osrag.kernel.logs.answer import answer_log
from osrag.kernel.logs.read import language_asked, read_log
from osrag.kernel.source import KernelSource
from osrag.lab.reading import Reading, read
from osrag.quiz.computed import readings
from osrag.text import identifiers
from osrag.wording import say

log = logging.getLogger(__name__)


@counted
def answer(parts: Parts, question: Question) -> Iterator[Event]:
    """Events in the order of U7, `Done` or `Failed` last. Raises nothing that a visitor can cause."""
    shown: list[str] = []
    done: list[SourceDone] = []
    try:
        settled = within_limits(parts, question)
        for event in workflow.in_turn(_runs(parts, settled), settled.reply_language):
            if isinstance(event, Retrieved) and event.source == "textbook":
                event = replace(event, in_linux=parts.in_linux(event.passages, settled))
            if isinstance(event, Token):
                shown.append(event.text)
            if isinstance(event, SourceDone):
                done.append(event)
            yield event
            if isinstance(event, Failed):
                return
    except OsragError as error:
        if not isinstance(error, BadInput):  # such a sentence quotes what the visitor wrote
            log.warning("run failed: %s", error.sentence())
        yield Failed(str(error), error.hint)
        return
    yield whole("".join(shown), done)


def whole(text: str, done: Sequence[SourceDone]) -> Done:
    """The end of a run of one or more sources."""
    how: How = next((part.how for part in done if not part.refused), "refused")
    stages = tuple(stage for part in done for stage in part.stages)
    said = tuple(said for part in done for said in part.statements)
    return Done(text, stages, how, said, tuple(question for part in done for question in part.further))


def within_limits(parts: Parts, question: Question) -> Question:
    """The question with the operator's settings. Raises BadInput where it is empty or too long (O3)."""
    settings = parts.settings
    limit = settings.max_question_chars
    if limit < len(question.text) <= settings.max_log_chars and read_log(question.text) is not None:
        limit = settings.max_log_chars
    text = asked(question.text, limit, question.language)
    language = language_asked(text, question.language or "en")
    chain = parts.chat is not None and parts.chat.abilities.chain
    return replace(
        question,
        text=text,
        history=question.history[-settings.history_turns :] if settings.history_turns else (),
        effort=question.effort or settings.effort_for(chain=chain),
        threshold=settings.threshold if question.threshold is None else question.threshold,
        language=language,
        passages=settings.passages,
        rounds=settings.rounds,
        max_tokens=settings.max_new_tokens,
        temperature=settings.temperature,
        first_token_s=settings.first_token_s,
    )


def _runs(parts: Parts, question: Question) -> list[workflow.Run]:
    """What answers, in order. A pasted log goes to the log reader whatever source is set (K7)."""
    if (kept := locked_exercise(question.text, parts.limits, parts.banks)) is not None:
        return [lambda _: answer_locked(kept, parts)]
    found = read_log(question.text)
    reading = read(question.text, parts.checker) if found is None and question.source != "kernel" else None
    if reading is not None and (computed := readings(reading)):
        return [lambda _: answer_exercise(computed, reading.unused, parts, question.reply_language)]
    kernel: KernelSource | None = None
    missing, asked_for = BadIndex(""), question.source
    chosen = routed(parts, question) if found is None else question
    if found is not None or chosen.source != "textbook":
        try:
            kernel = parts.kernel_source
        except BadIndex as error:
            log.warning("no kernel index: %s", error.sentence())
            missing = error
    if found is not None:
        return [lambda _: answer_log(found, question, kernel, parts.chat, parts.settings.log_keywords)]
    if kernel is None and question.source == "auto":
        chosen = replace(chosen, source="textbook")
    question = chosen
    runs: list[workflow.Run] = []
    if question.source != "kernel":
        silent = next((one for one in (reading, *reading.also) if one.solved().missing), None) if reading else None
        book = partial(workflow.answer, parts.book_source, question, None if silent else parts.chat)
        runs.append(partial(_behind_a_note, silent, parts, question, book) if silent else book)
    if question.source != "textbook":
        with_code = partial(workflow.answer, kernel, question, parts.chat) if kernel else None
        planned = plan_by_rule(question.text, question.history)
        open_to_code = asked_for == "auto" and bool(runs) and bool(signs_in(planned.standalone))
        written = open_to_code and kernel is not None and kernel.walked(planned, question)
        first = written and parts.book_source.prepared(planned, question) is None
        runs.insert(0 if first else len(runs), with_code or (lambda _: _without_kernel(question, missing)))
    return runs if question.effort != "tutor" else [tutored(parts, replace(question, source=asked_for), runs)]


def routed(parts: Parts, question: Question, by: Router | None = None) -> Question:
    """The question with the source that it is for, where the visitor left that open; a follow-up as it stands alone.

    `by` is another router than the shipped one, to be measured.
    """
    if question.source != "auto":
        return question
    planned = plan_by_rule(question.text, question.history)

    def walked() -> float:
        try:
            return parts.kernel_source.chance_of_prepared(planned, replace(question, source="kernel"))
        except BadIndex:
            return 0.0

    def silent() -> bool:
        code = replace(question, source="kernel")
        try:
            return not _finds(parts.book_source, planned, question) and _finds(parts.kernel_source, planned, code)
        except BadIndex:
            return False

    def only_in_the_book() -> bool:
        """Whether the book answers what the kernel would refuse: a question that names code of the book, or none."""
        names, code = identifiers(planned.standalone), replace(question, source="kernel")
        if not names and signs_in(planned.standalone):
            return False
        try:
            if _finds(parts.kernel_source, planned, code) or parts.kernel_source.prepared(planned, code):
                return False
        except BadIndex:
            return False
        found = parts.book_source.search(planned, question)
        usable = parts.book_source.usable(found, question, judged=False)
        told = " ".join(hit.chunk.text for hit in usable)
        return bool(usable) and all(name in told for name in names)

    source = (by or router()).choose(
        planned.standalone,
        parts.book_source.encoder,
        prepared=lambda: parts.book_source.chance_of_prepared(planned, question),
        walked=walked,
        silent=silent,
    )
    if source == "kernel" and only_in_the_book():
        source = "textbook"
    # A question for the kernel may be for the visitor's own material as well.
    return replace(question, source="both" if source == "kernel" and parts.desk is not None else source)


def _finds(source: Source[Any], plan: Plan, question: Question) -> bool:
    """Whether a source has passages that it would answer with."""
    return bool(source.usable(source.search(plan, question), question, judged=False))


def _behind_a_note(
    reading: Reading, parts: Parts, question: Question, run: workflow.Run, first_number: int
) -> Iterator[Event]:
    """A run behind a note that asks for what an exercise leaves out."""
    note = missing_note(reading, read_on(reading, question.text, parts), question.reply_language)
    yield Token("textbook", f"{note}\n\n")
    yield from run(first_number)


def _without_kernel(question: Question, missing: BadIndex) -> Iterator[Event]:
    """The kernel's part where there is no kernel index: how to get one."""
    none = say("kernel_none", question.reply_language)
    text = f"{none}\n\n{missing}\n\n`{missing.hint.removeprefix('build one: ')}`"
    yield Retrieved("kernel", (), none)
    yield Token("kernel", text)
    yield SourceDone("kernel", text, (), "refused", ())
