"""T1: what to search for. By rule in `fast`, by the model in `deep`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from osrag.glossary import load_glossary
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import ask
from osrag.prompts import render
from osrag.text import clip, language_of, tokens, unique
from osrag.types import Turn

MAX_QUERIES = 5

_POINTS_BACK_ZH = re.compile(
    r"它|这个|这种|这些|这样|该(?!怎|如何)|那个|那种|那些|那(?=么|呢|它|为什么)|前者|后者|上述|刚才|上面|此(?:时|外)|为什么呢|^为什么？?$|举个?例|还有(?:呢|吗|哪)|呢[？?]?$"
)
_POINTS_BACK_EN = re.compile(
    r"\b(it|its|this|that|these|those|they|them|their|the former|the latter|such|same|one|ones|above)\b"
    r"|^(why|how|and|but|so|what about|how about|for example|really|then|examples?)\b[^a-z]*\w*\W*$"
    r"|^(and|but|so|what about|how about|then)\b",
    re.I,
)


class Suggestion(BaseModel, extra="ignore"):
    """What the model proposes to search (T1)."""

    reasoning: str = ""
    standalone: str
    intent: str = "concept"
    confidence: float = Field(default=0.5, ge=0, le=1)
    search_keywords: list[str] = Field(default_factory=list, max_length=8)
    suggested_queries: list[str] = Field(default_factory=list, max_length=8)


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """Queries of round one; the first is the question as it stands alone."""

    standalone: str
    queries: tuple[str, ...]
    intent: str = ""
    confidence: float = 1.0


def plan_by_rule(question: str, history: Sequence[Turn]) -> SearchPlan:
    """One query. A follow-up borrows the topic of the questions before it."""
    standalone = question
    if history and points_back(question):
        topic = topic_of(history)
        if topic:
            standalone = f"{question.rstrip('？?')} ({topic})"
    return SearchPlan(standalone, (standalone,))


def points_back(question: str) -> bool:
    """Whether a question needs the one before it to be understood."""
    pattern = _POINTS_BACK_ZH if language_of(question) == "zh" else _POINTS_BACK_EN
    bare = len(set(tokens(question))) <= 1 and not load_glossary().find(question)
    return bare or bool(pattern.search(question.strip()))


def topic_of(history: Sequence[Turn]) -> str:
    """What the conversation is about: the terms of the last question that named any."""
    for turn in reversed(history):
        if points_back(turn.question) and len(history) > 1 and turn is not history[0]:
            continue
        terms = load_glossary().find(turn.question)
        if terms:
            names = [term.zh[0] if language_of(turn.question) == "zh" else term.en[0] for term in terms[:3]]
            return ", ".join(names)
        return clip(turn.question, 120)
    return ""


def plan_by_model(question: str, history: Sequence[Turn], model: ChatModel) -> SearchPlan:
    """The model's plan (T1). Raises ModelFailed when the model cannot be asked or read."""
    language = language_of(question)
    speaker = "学生：" if language == "zh" else "Student: "
    past = "\n".join(f"{speaker}{clip(turn.question, 200)}" for turn in history[-3:])
    messages = [
        Message("system", render("suggest", language)),
        Message("user", render("conversation", language, history=past or "-", question=clip(question, 1500))),
    ]
    options = ChatOptions(max_tokens=260, temperature=0.2, purpose="suggest")
    found = ask(model, messages, Suggestion, options)
    # The rule's reading stays the first query: what the student wrote is never lost.
    by_rule = plan_by_rule(question, history).standalone
    standalone = found.standalone.strip() or by_rule
    queries = unique([by_rule, standalone, *(clip(query, 200) for query in found.suggested_queries)])
    return SearchPlan(standalone, tuple(queries[:MAX_QUERIES]), found.intent, found.confidence)
