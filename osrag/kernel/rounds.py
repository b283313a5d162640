"""Kernel search at either effort: in `deep` the model says what else to look for (K3)."""

import time
from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from osrag.errors import ModelFailed
from osrag.kernel.search import KernelResult, KernelSearch
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import ask
from osrag.prompts import render
from osrag.text import clip, language_of, unique
from osrag.types import Turn

MOST = 5  # terms, and names, that are used of what the model says
TERM_CHARS = 60  # a longer one is a sentence, not a term


class CodeSuggestion(BaseModel, extra="ignore"):
    """What the model proposes to look for."""

    reasoning: str = ""
    standalone: str = ""  # the question without what it leaves to the one before
    english_terms: list[str] = Field(default_factory=list, max_length=8)
    identifiers: list[str] = Field(default_factory=list, max_length=8)
    suggested_queries: list[str] = Field(default_factory=list, max_length=6)

    @property
    def extra(self) -> tuple[str, ...]:
        """English terms and `name()`s, for `KernelSearch.search(extra=…)`.

        A small model invents names; the search drops those that the index does not have.
        """
        names = unique(name.strip("`() ") for name in self.identifiers)[:MOST]
        terms = unique(term for term in self.english_terms if len(term) <= TERM_CHARS)[:MOST]
        return (*terms, *(f"{name}()" for name in names if name))


def find_code(search: KernelSearch, question: str, *, k: int = 10, chat: ChatModel | None = None) -> KernelResult:
    """The `k` best chunks. With `chat`, what the model proposes is searched beside the question."""
    if chat is None or not question.strip():
        return search.search(question, k=k)
    start = time.perf_counter()
    try:
        extra = suggest_code(question, (), chat).extra
    except ModelFailed:
        return search.search(question, k=k)
    planned = 1000 * (time.perf_counter() - start)
    result = search.search(question, k=k, effort="deep", extra=extra)
    timings = {**result.timings_ms, "suggest": planned, "total": planned + result.timings_ms.get("total", 0.0)}
    return replace(result, timings_ms=timings)


def suggest_code(question: str, history: Sequence[Turn], chat: ChatModel) -> CodeSuggestion:
    """Raises ModelFailed when the model cannot be asked or read."""
    language = language_of(question)
    speaker = "学生：" if language == "zh" else "Student: "
    past = "\n".join(f"{speaker}{clip(turn.question, 200)}" for turn in history[-3:])
    messages = [
        Message("system", render("kernel_suggest", language)),
        Message("user", render("conversation", language, history=past or "-", question=clip(question, 1500))),
    ]
    return ask(chat, messages, CodeSuggestion, ChatOptions(max_tokens=220, temperature=0.2, purpose="suggest"))
