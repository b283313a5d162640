"""T3 and T4: a model judges each passage, then whether they suffice, and asks for a second round."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, zip_longest

from pydantic import BaseModel, Field

from osrag.answer.clock import Clock
from osrag.answer.events import Retrieved
from osrag.answer.plan import Plan
from osrag.answer.source import FoundT, Question, Source
from osrag.errors import ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import ask
from osrag.prompts import render
from osrag.text import clip, squeeze, unique
from osrag.types import AnyHit, Language, Passage
from osrag.wording import say

RELEVANCE_CHARS = 500
SUFFICIENCY_CHARS = 300
KEYWORDS, RESULTS_EACH, NEW_PASSAGES = 3, 3, 5


class Relevance(BaseModel, extra="ignore"):
    """Whether one passage helps to answer (T3)."""

    reason: str = ""  # first, so the model argues before it decides
    is_relevant: bool


class Sufficiency(BaseModel, extra="ignore"):
    """Whether the passages suffice, and what to search for if not (T4)."""

    reasoning: str = ""
    is_sufficient: bool
    new_keywords: list[str] = Field(default_factory=list, max_length=6)


def number(hits: Sequence[AnyHit], first: int = 1) -> tuple[Passage, ...]:
    """Hits as an answer cites them: [1], [2], …"""
    return tuple(Passage(n, hit.chunk, hit.score, hit.similarity) for n, hit in enumerate(hits, start=first))


def judged(
    source: Source[FoundT], question: Question, plan: Plan, shown: Retrieved, chat: ChatModel, clock: Clock
) -> Iterator[Retrieved]:
    """`shown` after each step. A reply that cannot be read keeps every passage."""
    language = question.reply_language
    asked, found = plan.standalone, shown.passages
    if source.judges_passages:
        kept = _relevant(source, asked, found, chat, language)
        thought = say("thought_relevance", language, total=len(found), kept=len(kept))
        clock.mark("relevance", thought)
        shown = replace(shown, passages=kept, thought=thought, queries=(), stages=clock.stages)
        yield shown
    for _ in range(1, question.rounds):
        verdict = _sufficient(source, asked, shown.passages, chat, language)
        clock.mark("sufficiency", verdict.reasoning)
        keywords = unique(verdict.new_keywords)[:KEYWORDS]
        if verdict.is_sufficient or not keywords:
            return
        new = number(_further(source, question, keywords, found), max(passage.number for passage in found) + 1)
        found = (*found, *new)
        if source.judges_passages:
            new = _relevant(source, asked, new, chat, language)
        clock.mark("round_two", ", ".join(keywords))
        kept = (*shown.passages, *new)
        thought = say(f"{source.name}_thought_round_two", language, keywords=", ".join(keywords), kept=len(kept))
        shown = replace(shown, passages=kept, thought=thought, queries=tuple(keywords), stages=clock.stages)
        yield shown


def _further(
    source: Source[FoundT], question: Question, keywords: Sequence[str], found: Sequence[Passage]
) -> list[AnyHit]:
    """New hits for the keywords: the best of each, then the second best of each, …"""
    few = replace(question, passages=RESULTS_EACH, language=question.reply_language)
    results = [source.usable(source.search(Plan(word, (word,)), few), few, judged=True) for word in keywords]
    known = {squeeze(passage.chunk.text) for passage in found}
    new: dict[str, AnyHit] = {}
    for hit in chain.from_iterable(zip_longest(*results)):
        if hit is not None and squeeze(hit.chunk.text) not in known:
            new.setdefault(squeeze(hit.chunk.text), hit)
    return list(new.values())[:NEW_PASSAGES]


def _relevant(
    source: Source[FoundT], question: str, passages: Sequence[Passage], chat: ChatModel, language: Language
) -> tuple[Passage, ...]:
    """The passages that the model finds helpful: one short call each, several at once."""

    def is_relevant(passage: Passage) -> bool:
        """The verdict on one passage; a passage that cannot be judged is kept."""
        text = source.brief(passage, question, RELEVANCE_CHARS)
        messages = [
            Message("system", render(f"{source.name}_relevance", language)),
            Message("user", render("one_passage", language, question=clip(question, 400), passage=text)),
        ]
        options = ChatOptions(max_tokens=60, temperature=0.0, purpose="relevance")
        try:
            return ask(chat, messages, Relevance, options).is_relevant
        except ModelFailed:
            return True

    if not passages:
        return ()
    with ThreadPoolExecutor(max_workers=min(chat.abilities.slots, len(passages))) as pool:
        verdicts = list(pool.map(is_relevant, passages))
    return tuple(passage for passage, keep in zip(passages, verdicts, strict=True) if keep)


def _sufficient(
    source: Source[FoundT], question: str, passages: Sequence[Passage], chat: ChatModel, language: Language
) -> Sufficiency:
    """When the model cannot be read, what there is has to do."""
    briefs = (f"[{p.number}] {source.brief(p, question, SUFFICIENCY_CHARS)}" for p in passages)
    evidence = "\n".join(briefs) or "-"
    asked = render(f"{source.name}_question", language, evidence=evidence, history="", question=question)
    messages = [Message("system", render(f"{source.name}_sufficiency", language)), Message("user", asked)]
    try:
        return ask(chat, messages, Sufficiency, ChatOptions(max_tokens=120, temperature=0.0, purpose="sufficiency"))
    except ModelFailed:
        return Sufficiency(is_sufficient=True)
