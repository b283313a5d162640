"""From a question to the events of its answer, the same for every source.

Search, judge the evidence, show what the server itself can write, let the model explain it, check each claim.
`fast` makes one model call; `deep` lets the model plan the search and judge what was found (T1-T4).
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from osrag.answer.citations import CitationWriter
from osrag.answer.clock import Clock
from osrag.answer.events import Event, Failed, How, Retrieved, Said, SourceDone, Token, Waiting
from osrag.answer.judge import judged, number
from osrag.answer.plan import plan, plan_by_rule
from osrag.answer.source import Draft, Explanation, FoundT, Question, Source
from osrag.errors import ModelFailed
from osrag.models.discreet import discreet
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.prompts import render
from osrag.text import clip
from osrag.types import Language, SourceName
from osrag.wording import say

QUESTION_CHARS = 600  # of a long question, in the prompt; the search sees all of it
HISTORY_CHARS = 160  # of one earlier question
Run = Callable[[int], Iterator[Event]]  # the events of one source, its passages numbered from the argument on


def in_turn(runs: Sequence[Run], language: Language, first_number: int = 1) -> Iterator[Event]:
    """The events of several sources in one reply (K6).

    Passages are numbered on from one source to the next. Where a model breaks in one part, the next part still
    searches and quotes, and the failure is told at the end.
    """
    last, failed = first_number - 1, None
    for place, run in enumerate(runs):
        apart = place == 0  # whether a separator stands between this part and the one before
        for event in run(last + 1):
            if isinstance(event, Failed):
                failed = event
                continue
            yield event
            if isinstance(event, Retrieved):
                last = max([last, *(passage.number for passage in event.passages)])
                if not apart:
                    apart = True
                    yield Token(event.source, f"\n\n---\n\n### {say(f'{event.source}_related', language)}\n\n")
    if failed:
        yield failed


def answer(
    source: Source[FoundT], question: Question, chat: ChatModel | None, first_number: int = 1
) -> Iterator[Event]:
    """The events of one source, `SourceDone` last; `Failed` after it when the model broke.

    `chat` is None where no model runs. Passages are numbered from `first_number`.
    """
    clock = Clock()
    language = question.reply_language
    planned = plan_by_rule(question.text, question.history)
    prepared = source.prepared(planned, question)
    judge = chat if question.effort == "deep" and prepared is None else None
    if judge is not None:
        planned = plan(source.name, question.text, question.history, judge)
        clock.mark("suggest", ", ".join((*planned.queries[1:], *planned.terms)))
    found = source.search(planned, question) if prepared is None else prepared
    passages = number(source.usable(found, question, judged=judge is not None), first_number)
    clock.mark("search")
    thought = source.thought(planned, passages, language)
    queries = (*planned.queries, *planned.terms)
    shown = Retrieved(source.name, passages, thought, queries, clock.stages, source.version)
    if passages:
        yield shown
    if passages and judge is not None:
        for step in judged(source, question, planned, shown, judge, clock):
            shown = step
            yield step
    if not shown.passages:
        yield replace(shown, thought=say(f"{source.name}_thought_refused", language), queries=queries)
        text = source.refusal(found, question)
        yield Token(source.name, text)
        yield SourceDone(source.name, text, (), "refused", clock.stages)
        return
    draft = source.draft(question, planned, found, shown.passages, chat)
    clock.mark("select")
    if draft.path.steps or draft.marked or draft.added:
        passages = (*shown.passages, *draft.added)
        yield replace(shown, passages=passages, path=draft.path, marked=draft.marked, stages=clock.stages)
    yield from write(source, draft, question, planned.standalone, chat, clock)


def write(
    source: Source[FoundT], draft: Draft, question: Question, standalone: str, chat: ChatModel | None, clock: Clock
) -> Iterator[Event]:
    """The reply of a draft: what the server wrote, the model's explanation, the ending."""
    language = question.reply_language
    reply = _Reply(source.name)
    yield reply.add(draft.lead)
    writer, failure, explanation = None, None, draft.explanation
    if chat is not None and explanation is not None:
        if draft.lead:
            yield reply.add(f"\n{say(f'{source.name}_explanation', language)}\n\n")
        mark, said = say(f"{source.name}_unverified", language), ""
        writer = CitationWriter(explanation.check, mark, drops_code=source.name == "kernel")
        try:
            with closing(_explain(source, explanation, question, standalone, chat)) as pieces:
                for piece in pieces:
                    if piece:
                        clock.mark_once("first_token")
                    text = writer.feed(piece)
                    said += piece
                    yield reply.add(text) if text else Waiting()
            tail = writer.finish()
            if tail:
                yield reply.add(tail)
        except ModelFailed as error:
            failure = error
            told = say(f"{source.name}_model_failed", language)
            yield reply.add(f"{writer.finish()}\n\n{told}\n\n{explanation.fallback}".rstrip())
        else:
            if not writer.claims and not said.strip():  # a model may reply with nothing
                yield reply.add(explanation.fallback)
            if explanation.distrust and writer.claims and writer.unsupported == len(writer.claims):
                yield reply.add(f"\n\n{explanation.distrust}")
        clock.mark("generate")
    if draft.ending:
        yield reply.add(f"\n\n{draft.ending}")
    on_path = (step.number for step in draft.path.steps)
    cited = tuple(dict.fromkeys((*draft.cited, *on_path, *(writer.cited if writer else ()))))
    claims = writer.claims if writer else []
    checked = (Said(claim, () if held.passage is None else (held.passage,), False) for claim, held in claims)
    how: How = "generated" if claims else draft.how
    marked = writer.unsupported if writer else 0
    yield SourceDone(
        source.name, reply.text, cited, how, clock.stages, (*draft.statements, *checked), marked, draft.further
    )
    if failure:
        yield Failed(str(failure), failure.hint)


def _explain(
    source: Source[FoundT], explanation: Explanation, question: Question, standalone: str, chat: ChatModel
) -> Generator[str, None, None]:
    """The pieces of the model's explanation; closing them frees the model at once.

    The prompt is a fixed part that the prompt cache keeps, then as few new tokens as will do. The evidence in it is
    quoted data and not an order. Of the conversation the model sees the question before this one: enough to see what
    this one is about.
    """
    large, language = chat.abilities.chain, question.reply_language
    label = "之前的问题：" if language == "zh" else "Earlier question: "
    earlier = "".join(f"{label}{clip(turn.question, HISTORY_CHARS)}\n" for turn in question.history[-1:])
    asked = clip(standalone if question.history else question.text, QUESTION_CHARS)
    evidence = explanation.evidence(chat.count_tokens)
    case = render(f"{source.name}_question", language, evidence=evidence, history=earlier, question=asked)
    messages = [*source.fixed_part(language, large=large), Message("user", case)]
    options = ChatOptions(
        max_tokens=question.max_tokens if large else min(source.explanation_tokens, question.max_tokens),
        temperature=min(source.max_temperature, question.temperature),
        first_token_s=question.first_token_s,
    )
    return discreet(chat.stream(messages, options), messages)


class _Reply:
    """What was sent so far. Text once sent never changes."""

    def __init__(self, source: SourceName) -> None:
        self._source = source
        self.text = ""

    def add(self, text: str) -> Token:
        """Append to the reply; the event that shows the addition."""
        self.text += text
        return Token(self._source, text)


def warm_up(source: Source[FoundT], chat: ChatModel | None) -> None:
    """Answer once without a model and read the fixed prompts, so that the first visitor does not wait."""
    questions: dict[Language, str] = {"zh": "什么是操作系统的进程？", "en": "What is a process of an operating system?"}
    for language, text in questions.items():
        for _ in answer(source, Question(text, passages=1), None):
            pass
        fixed = source.fixed_part(language, large=chat.abilities.chain) if chat is not None else []
        if chat is not None and fixed:
            chat.prepare(fixed)
