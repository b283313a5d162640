"""T3 and T4: the model judges each passage, then whether they suffice, and searches once more."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, Field

from osrag.answer.clock import Clock
from osrag.book.search import TextbookSearch
from osrag.errors import ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import ask
from osrag.prompts import render
from osrag.text import clip, language_of, squeeze, unique
from osrag.types import Passage
from osrag.wording import say

RELEVANCE_CHARS = 500
SUFFICIENCY_CHARS = 300
KEYWORDS, RESULTS_EACH, NEW_PASSAGES = 3, 3, 5


class Relevance(BaseModel, extra="ignore"):
    reason: str = ""  # first, so the model argues before it decides
    is_relevant: bool


class Sufficiency(BaseModel, extra="ignore"):
    reasoning: str = ""
    is_sufficient: bool
    new_keywords: list[str] = Field(default_factory=list, max_length=6)


class Asked(Protocol):
    """The part of a question that matters here."""

    @property
    def threshold(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Judged:
    passages: tuple[Passage, ...]
    thought: str
    queries: tuple[str, ...] = ()


def judge_evidence(
    chat: ChatModel,
    search: TextbookSearch,
    question: str,
    found: Sequence[Passage],
    asked: Asked,
    clock: Clock,
) -> Iterator[Judged]:
    """What is kept after each step. A reply that cannot be read keeps all."""
    language = language_of(question)
    kept = relevant(chat, question, found)
    clock.mark("relevance", say("thought_relevance", language, total=len(found), kept=len(kept)))
    yield Judged(kept, say("thought_relevance", language, total=len(found), kept=len(kept)))
    verdict = sufficient(chat, question, kept)
    clock.mark("sufficiency", verdict.reasoning)
    keywords = unique(verdict.new_keywords)[:KEYWORDS]
    if verdict.is_sufficient or not keywords:
        return
    known = {squeeze(passage.chunk.text) for passage in found}
    results = [search.search(word, k=RESULTS_EACH, reader=language) for word in keywords]
    hits = search.merge(question, results, k=KEYWORDS * RESULTS_EACH)
    new = [hit for hit in hits if squeeze(hit.chunk.text) not in known and hit.similarity >= asked.threshold]
    next_number = max(passage.number for passage in found) + 1
    more = tuple(
        Passage(next_number + n, hit.chunk, hit.score, hit.similarity) for n, hit in enumerate(new[:NEW_PASSAGES])
    )
    kept = (*kept, *relevant(chat, question, more))
    clock.mark("round_two", ", ".join(keywords))
    thought = say("thought_round_two", language, keywords=", ".join(keywords), kept=len(kept))
    yield Judged(kept, thought, tuple(keywords))


def relevant(chat: ChatModel, question: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages that the model finds helpful (T3): one short call each, several at once."""
    if not passages:
        return ()
    with ThreadPoolExecutor(max_workers=min(chat.abilities.slots, len(passages))) as pool:
        verdicts = list(pool.map(lambda passage: _is_relevant(chat, question, passage), passages))
    return tuple(passage for passage, keep in zip(passages, verdicts, strict=True) if keep)


def _is_relevant(chat: ChatModel, question: str, passage: Passage) -> bool:
    language = language_of(question)
    text = " ".join(passage.chunk.text[:RELEVANCE_CHARS].split())
    messages = [
        Message("system", render("relevance", language)),
        Message("user", render("one_passage", language, question=clip(question, 400), passage=text)),
    ]
    try:
        found = ask(chat, messages, Relevance, ChatOptions(max_tokens=60, temperature=0.0, purpose="relevance"))
    except ModelFailed:
        return True  # what cannot be judged is kept
    return found.is_relevant


def sufficient(chat: ChatModel, question: str, passages: Sequence[Passage]) -> Sufficiency:
    """T4. When the model cannot be read, what there is has to do."""
    language = language_of(question)
    shown = "\n".join(f"[{p.number}] {' '.join(p.chunk.text[:SUFFICIENCY_CHARS].split())}" for p in passages)
    messages = [
        Message("system", render("sufficiency", language)),
        Message("user", render("question", language, passages=shown or "-", history="", question=question)),
    ]
    try:
        return ask(chat, messages, Sufficiency, ChatOptions(max_tokens=120, temperature=0.0, purpose="sufficiency"))
    except ModelFailed:
        return Sufficiency(is_sufficient=True)
