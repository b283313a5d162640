"""A kernel answer as a stream of events: search, quote the code, let the model explain, check, order by calls.

What is quoted comes from the index and stands whatever the model does; each generated sentence
is held against the functions shown. `deep` lets the model plan the search and ask for more (K3).
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from osrag.answer.citations import CitationWriter
from osrag.answer.clock import Clock
from osrag.answer.events import CallPath, CodeDescriptionChunk, CodeDone, CodeRetrieval, Event, Failed, Waiting
from osrag.answer.no_code import NoCode
from osrag.answer.stream import checked
from osrag.book.answer import Question
from osrag.errors import ModelFailed
from osrag.kernel.confidence import REFUSE
from osrag.kernel.deep import CodePlan, code_plan_by_model, code_plan_by_rule, more_code
from osrag.kernel.parts import (
    code_of,
    lead,
    main_functions,
    nearest_code,
    notes_text,
    path_text,
    quoted,
    refusal_text,
    to_explain,
)
from osrag.kernel.prompt import kernel_fixed_part, kernel_prompt, steps_of
from osrag.kernel.query import folders
from osrag.kernel.reading_path import reading_path
from osrag.kernel.search import KernelResult, KernelSearch
from osrag.kernel.support import CodeCheck, CodeEvidence
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.types import CodeHit, Language, Passage
from osrag.wording import say

MAIN, MAIN_LARGE = 2, 4  # functions whose code is quoted and explained
UNSURE = 0.25  # confidence below which nothing is explained; up to REFUSE the reply warns
EXPLANATION_TOKENS = 360  # generated at most on a model that writes slowly
TEMPERATURE = 0.3  # an explanation of code repeats; invention only costs marks


@dataclass(frozen=True, slots=True)
class KernelAnswerer:
    """Answers from the kernel index; `chat` is None where no model runs."""

    search: KernelSearch
    chat: ChatModel | None

    def answer(self, question: Question, *, first_number: int = 1) -> Iterator[Event]:
        """Events of one run, `CodeDone` last; `Failed` after it when the model broke.

        Passages are numbered from `first_number`, so that a reply which has cited the book goes on counting.
        """
        clock = Clock()
        plan = self._plan(question, clock)
        result = self.search.search(
            plan.standalone, k=question.passages, effort=question.effort, extra=(*plan.extra, *plan.queries)
        )
        found = number_code(result.hits, first_number)
        clock.mark("search")
        files = len({passage.chunk.source for passage in found})
        thought = say(
            "kernel_thought",
            question.language,
            subsystems=folders(self.search.subsystems, question.language),
            kept=len(found),
            files=files,
        )
        shown = CodeRetrieval(found, thought, (plan.standalone, *plan.extra), clock.stages, result.version)
        if refuses(result):
            yield from self._refuse(question, result, shown, clock)
            return
        yield shown
        if question.effort == "deep" and self.chat is not None:
            for more in more_code(self.chat, self.search, plan.standalone, found, clock):
                found = more.passages
                shown = replace(shown, passages=found, thought=more.thought, queries=more.keywords, stages=clock.stages)
                yield shown
        yield from self._explain(question, plan, result, shown, clock)

    def warm_up(self) -> None:
        """Search once and read the fixed prompts, so that the first visitor does not wait."""
        self.search.search("schedule", k=1)
        if self.chat is not None:
            for language in ("zh", "en"):
                self.chat.prepare(kernel_fixed_part(language, large=self.chat.abilities.chain))

    def _plan(self, question: Question, clock: Clock) -> CodePlan:
        if question.effort == "deep" and self.chat is not None:
            try:
                plan = code_plan_by_model(question.text, question.history, self.chat)
            except ModelFailed:
                plan = code_plan_by_rule(question.text, question.history)
            clock.mark("suggest", ", ".join(plan.extra))
            return plan
        return code_plan_by_rule(question.text, question.history)

    def _refuse(self, question: Question, result: KernelResult, shown: CodeRetrieval, clock: Clock) -> Iterator[Event]:
        yield replace(shown, passages=(), thought=say("kernel_thought_refused", question.language))
        text = refusal_text(result, nearest_code(self.search, result), question.language)
        yield CodeDescriptionChunk(text)
        yield CodeDone(text, (), True, clock.stages)

    def _explain(
        self, question: Question, plan: CodePlan, result: KernelResult, shown: CodeRetrieval, clock: Clock
    ) -> Iterator[Event]:
        """Quote, explain, then the way through the calls."""
        language = question.language
        large = self.chat is not None and self.chat.abilities.chain
        path = reading_path(shown.passages, self.search.callees)
        named = {hit.chunk.name for hit in result.hits if hit.found_by == "name"}
        mains = main_functions(shown.passages, named, path, count=MAIN_LARGE if large else MAIN)
        lines = quoted(mains, plan.standalone)
        ordered = (*mains, *(passage for passage in shown.passages if passage not in mains))
        clock.mark("select_code")
        marked = tuple((number, tuple(line.number for line in rows)) for number, rows in lines.items())
        yield replace(shown, path=path, marked=marked, stages=clock.stages)
        reply = CodeReply()
        unsure = (say("kernel_unsure", language),) if result.confidence < REFUSE else ()
        yield reply.add(notes_text((*unsure, *result.notes)) + lead(mains, lines, result.version, language))
        task = Task(question, plan.standalone, mains, to_explain(mains, shown.passages), language)
        yield from explain(self.search, self.chat, task, reply, clock)
        way = path_text(path, ordered, result.version, language)
        if way:
            yield reply.add(f"\n\n{way}")
        yield from task.done(reply, path, clock)


class CodeReply:
    """What was sent so far. Text once sent never changes."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, text: str) -> CodeDescriptionChunk:
        self.text += text
        return CodeDescriptionChunk(text)


def refuses(result: KernelResult) -> bool:
    """Whether the hits cannot answer: too unsure, or what is asked for by name or subject lies elsewhere.

    A name of another version that is indexed under its new name is answered, with the note; so is a
    question that mentions a name of no function (MemAvailable) beside what it asks.
    """
    if not result.hits or result.confidence < UNSURE:
        return True
    found = {hit.chunk.name for hit in result.hits if hit.found_by == "name"}
    fatal = [one for one in result.missing if one.where or "_" in one.what]
    return bool(fatal) and not found


def number_code(hits: Sequence[CodeHit], first: int) -> tuple[Passage, ...]:
    return tuple(Passage(n, hit.chunk, hit.score, hit.similarity) for n, hit in enumerate(hits, start=first))


def code_writer(evidence: CodeEvidence, question: str, language: Language) -> CitationWriter:
    """Binds each generated sentence to a function, or marks it."""
    check = CodeCheck(evidence, question)
    return CitationWriter(check=lambda text, _claimed: check(text), mark=say("kernel_unverified", language))


def generate(
    chat: ChatModel,
    prompt: Sequence[Message],
    question: Question,
    writer: CitationWriter,
    reply: CodeReply,
    clock: Clock,
) -> Iterator[Event]:
    """The model's pieces without code blocks, through the check, as they come."""
    large = chat.abilities.chain
    options = ChatOptions(
        max_tokens=question.max_tokens if large else min(EXPLANATION_TOKENS, question.max_tokens),
        temperature=min(TEMPERATURE, question.temperature),
        first_token_s=question.first_token_s,
    )
    prose = NoCode()
    pieces = checked(
        chat,
        prompt,
        options,
        feed=lambda piece: writer.feed(prose.feed(piece)),
        finish=lambda: writer.feed(prose.finish()) + writer.finish(),
        clock=clock,
    )
    with closing(pieces):  # a reader who leaves frees the model at once
        for text in pieces:
            yield reply.add(text) if text else Waiting()


@dataclass(slots=True)
class Task:
    """One explanation: what is asked of which functions, and how it went."""

    question: Question
    standalone: str
    mains: Sequence[Passage]  # explained
    passages: Sequence[Passage]  # all, the explained ones first
    language: Language
    writer: CitationWriter | None = None
    failure: ModelFailed | None = None

    def done(self, reply: CodeReply, path: CallPath, clock: Clock) -> Iterator[Event]:
        """The last events of the run. A number that the reading path cites has its entry like any other."""
        cited = self.writer.cited if self.writer else ()
        shown = (*(passage.number for passage in self.mains), *(step.number for step in path.steps))
        numbers = tuple(dict.fromkeys((*shown, *cited)))
        unsupported = self.writer.unsupported if self.writer else 0
        yield CodeDone(reply.text, numbers, False, clock.stages, unsupported)
        if self.failure:
            yield Failed(str(self.failure), self.failure.hint)


def explain(
    search: KernelSearch, chat: ChatModel | None, task: Task, reply: CodeReply, clock: Clock
) -> Iterator[Event]:
    """The model's explanation of the main functions, checked. Nothing without a model."""
    if chat is None:
        return
    question, language = task.question, task.language
    callees = {callee.name: callee for passage in task.mains for callee in search.callees(code_of(passage))}
    steps = {
        code_of(passage).id: steps_of(code_of(passage), task.standalone, list(callees.values()), language)
        for passage in task.mains
    }
    told = [*(code_of(passage).name for passage in task.mains), *(step.name for row in steps.values() for step in row)]
    task.writer = code_writer(CodeEvidence(task.passages, callees, told), question.text, language)
    yield reply.add(f"\n{say('kernel_explanation', language)}\n\n")
    prompt = kernel_prompt(
        question.text,
        question.history,
        task.passages,
        main=len(task.mains),
        large=chat.abilities.chain,
        steps=lambda chunk: steps.get(chunk.id, ()),
        count_tokens=chat.count_tokens,
        standalone=task.standalone,
        language=language,
    )
    try:
        yield from generate(chat, prompt, question, task.writer, reply, clock)
        if task.writer.sentences and task.writer.unsupported == len(task.writer.sentences):
            yield reply.add(f"\n\n{say('kernel_all_unverified', language)}")
    except ModelFailed as error:
        task.failure = error
        yield reply.add(f"{task.writer.finish()}\n\n{say('kernel_model_failed', language)}")
    clock.mark("generate")
