"""A textbook answer as a stream of events: search, judge the evidence, quote, explain, check.

`fast` makes one model call; relevance and sufficiency come from calibrated search scores.
`deep` lets the model plan the search and judge what was found (T1-T4).
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from osrag.answer.citations import CitationWriter
from osrag.answer.clock import Clock
from osrag.answer.deep import judge_evidence
from osrag.answer.events import AnswerChunk, Event, Failed, Retrieval, TextbookDone, Waiting
from osrag.answer.evidence import Evidence, Sentence
from osrag.answer.plan import SearchPlan, plan_by_model, plan_by_rule
from osrag.answer.prompt import answer_prompt, fixed_part
from osrag.answer.stream import checked
from osrag.answer.support import check
from osrag.book.confidence import REFUSE
from osrag.book.search import SearchResult, TextbookSearch, merge
from osrag.errors import ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions, Encoder, Message
from osrag.text import language_of, tokens
from osrag.types import Effort, Hit, Language, Passage, Turn
from osrag.wording import say

KEY_SENTENCES = 2  # quoted at the head of a reply
EXTRACTS = 5  # quoted when no model explains
PROMPT_TOKENS = 300  # of passages in a `fast` prompt on a model that reads slowly
PROMPT_TOKENS_LARGE = 2400  # on one that does not


@dataclass(frozen=True, slots=True)
class Question:
    """What one visitor asks, with what was said before."""

    text: str
    history: tuple[Turn, ...] = ()
    effort: Effort = "fast"
    threshold: float = 0.0
    passages: int = 8
    max_tokens: int = 3000
    temperature: float = 0.7
    first_token_s: float = 60.0

    @property
    def language(self) -> Language:
        return language_of(self.text)


@dataclass(frozen=True, slots=True)
class TextbookAnswerer:
    """Answers from one search; `chat` is None where no model runs (profile `retrieval`)."""

    search: TextbookSearch
    encoder: Encoder
    chat: ChatModel | None

    def answer(self, question: Question) -> Iterator[Event]:
        """Events of one run, `TextbookDone` last; `Failed` after it when the model broke."""
        clock = Clock()
        plan = self._plan(question, clock)
        results = [self.search.search(query, k=question.passages, reader=question.language) for query in plan.queries]
        merged = self.search.merge(plan.standalone, results, k=question.passages)
        found = number(_above(merged, question.threshold))
        clock.mark("search")
        yield Retrieval(
            found,
            say("thought_search", question.language, queries=len(plan.queries), kept=len(found)),
            plan.queries,
            clock.stages,
        )
        sure = max(result.confidence for result in results)
        if found and question.effort == "deep" and self.chat is not None:
            for step in judge_evidence(self.chat, self.search, plan.standalone, found, question, clock):
                found, sure = step.passages, 1.0 if step.passages else 0.0
                yield Retrieval(found, step.thought, step.queries, clock.stages)
        if not found or sure < REFUSE:
            yield from self._refuse(question, results, clock)
            return
        yield from self._explain(question, plan, found, clock)

    def warm_up(self) -> None:
        """Run each part once, so that the first visitor finds code paged in and the prompt cache filled."""
        for text in ("什么是操作系统？", "What is an operating system?"):
            Evidence(number(self.search.search(text, k=1).hits), self.encoder)
            if self.chat is not None:
                self.chat.prepare(fixed_part(language_of(text)))

    def _plan(self, question: Question, clock: Clock) -> SearchPlan:
        """The model's plan in `deep`; the rule's when there is no model or it cannot be read."""
        if question.effort == "deep" and self.chat is not None:
            try:
                plan = plan_by_model(question.text, question.history, self.chat)
            except ModelFailed:
                plan = plan_by_rule(question.text, question.history)
            clock.mark("suggest", ", ".join(plan.queries[1:]))
            return plan
        return plan_by_rule(question.text, question.history)

    def _refuse(self, question: Question, results: Sequence[SearchResult], clock: Clock) -> Iterator[Event]:
        nearest = merge(results, k=3)
        yield Retrieval((), say("thought_refused", question.language), stages=clock.stages)
        text = refusal(question, nearest)
        yield AnswerChunk(text)
        yield TextbookDone(text, (), 0, True, clock.stages)

    def _explain(
        self, question: Question, plan: SearchPlan, found: tuple[Passage, ...], clock: Clock
    ) -> Iterator[Event]:
        """Quote, then let the model explain, each sentence bound to a passage or marked."""
        evidence = Evidence(found, self.encoder)
        query = self.encoder.queries([plan.standalone])[0]
        worth = evidence.worth(query, tuple(dict.fromkeys(tokens(plan.standalone))), language=question.language)
        clock.mark("select")
        if self.chat is None:
            keys = evidence.key_sentences(worth, count=EXTRACTS)
            text = quotes(keys, question.language)
            yield AnswerChunk(text)
            yield TextbookDone(text, _cited(keys), 0, False, clock.stages)
            return
        reply = _Reply()
        slow = not self.chat.abilities.chain
        keys = evidence.key_sentences(worth, count=KEY_SENTENCES) if slow else []
        if keys:
            yield reply.add(f"{quotes(keys, question.language)}\n{say('explanation', question.language)}\n\n")
        writer = CitationWriter(
            check=lambda text, claimed: check(text, evidence, question=question.text, claimed=claimed),
            mark=say("unverified", question.language),
        )
        prompt = answer_prompt(
            question.text,
            question.history,
            evidence,
            worth,
            budget=PROMPT_TOKENS if slow else PROMPT_TOKENS_LARGE,
            count_tokens=self.chat.count_tokens,
            standalone=plan.standalone,
        )
        failure: ModelFailed | None = None
        try:
            yield from self._generate(self.chat, prompt, question, writer, reply, clock)
        except ModelFailed as error:
            failure = error
            more = quotes(evidence.key_sentences(worth, count=EXTRACTS), question.language)
            yield reply.add(f"{writer.finish()}\n\n{say('model_failed', question.language)}\n\n{more}")
        clock.mark("generate")
        cited = tuple(dict.fromkeys((*_cited(keys), *writer.cited)))
        yield TextbookDone(reply.text, cited, writer.unsupported, False, clock.stages)
        if failure:
            yield Failed(str(failure), failure.hint)

    @staticmethod
    def _generate(
        chat: ChatModel,
        prompt: Sequence[Message],
        question: Question,
        writer: CitationWriter,
        reply: "_Reply",
        clock: Clock,
    ) -> Iterator[Event]:
        """The model's pieces through the citation check, as they come."""
        options = ChatOptions(
            max_tokens=question.max_tokens, temperature=question.temperature, first_token_s=question.first_token_s
        )
        pieces = checked(chat, prompt, options, feed=writer.feed, finish=writer.finish, clock=clock)
        with closing(pieces):  # a reader who leaves frees the model at once
            for text in pieces:
                yield reply.add(text) if text else Waiting()


class _Reply:
    """What was sent so far. Text once sent never changes."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, text: str) -> AnswerChunk:
        self.text += text
        return AnswerChunk(text)


def number(hits: Sequence[Hit]) -> tuple[Passage, ...]:
    """Hits as an answer cites them: [1], [2], …"""
    return tuple(Passage(n, hit.chunk, hit.score, hit.similarity) for n, hit in enumerate(hits, start=1))


def _above(hits: Sequence[Hit], threshold: float) -> list[Hit]:
    return [hit for hit in hits if hit.similarity >= threshold]


def _cited(keys: Sequence[Sentence]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(sentence.passage for sentence in keys))


def quotes(keys: Sequence[Sentence], language: Language) -> str:
    """Key sentences, word for word and cited, as Markdown; in the order of the passages."""
    if not keys:
        return ""
    ordered = sorted(keys, key=lambda sentence: sentence.index)
    lines = [f"> {_escape(sentence.text)} [{sentence.passage}]\n" for sentence in ordered]
    return f"{say('from_the_book', language)}\n\n" + ">\n".join(lines) + "\n"


def _escape(text: str) -> str:
    """The words of the book are not Markdown."""
    for char in "\\`*_#<$":
        text = text.replace(char, "\\" + char)
    return text


def refusal(question: Question, nearest: Sequence[Hit]) -> str:
    """The fixed, honest reply (T7), with the nearest sections and the way out."""
    language = question.language
    lines = [say("refusal", language)]
    best = max((hit.similarity for hit in nearest), default=0.0)
    if nearest and best < question.threshold:
        lines.append(say("refusal_threshold", language, threshold=question.threshold, best=best))
    else:
        lines.append(say("refusal_rephrase", language))
    sections = dict.fromkeys(
        f"- {hit.chunk.title or hit.chunk.source}: {hit.chunk.section_path}" for hit in nearest if hit.chunk.section
    )
    if sections:
        lines += [say("nearest_sections", language), "\n".join(sections)]
    return "\n\n".join(lines)
