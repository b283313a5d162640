"""T1: what to search for. By rule in `fast`, by the model in `deep`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from osrag.errors import ModelFailed
from osrag.glossary import load_glossary
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import ask
from osrag.prompts import render
from osrag.text import clip, identifiers, language_of, tokens, unique
from osrag.types import SourceName, Turn

MAX_QUERIES = 5
MAX_TERMS = 5  # terms, and names of code, that are used of what the model proposes
TERM_CHARS = 60  # a longer term is a sentence

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
    """What the model proposes to search for (T1)."""

    reasoning: str = ""
    standalone: str = ""  # the question without what it leaves to the one before
    intent: str = "concept"
    confidence: float = Field(default=0.5, ge=0, le=1)
    search_keywords: list[str] = Field(default_factory=list, max_length=8)  # of the kernel: English terms
    suggested_queries: list[str] = Field(default_factory=list, max_length=8)


class CodeSuggestion(Suggestion):
    """The same for the kernel, with likely names (K3). A small model invents names; the search drops those."""

    identifiers: list[str] = Field(default_factory=list, max_length=8)

    @property
    def terms(self) -> tuple[str, ...]:
        """English terms, and names as `name()`."""
        names = unique(name.strip("`() ") for name in self.identifiers)[:MAX_TERMS]
        terms = unique(term for term in self.search_keywords if len(term) <= TERM_CHARS)[:MAX_TERMS]
        return (*terms, *(f"{name}()" for name in names if name))


@dataclass(frozen=True, slots=True)
class Plan:
    """What to search for in round one."""

    standalone: str  # the question as it stands alone
    queries: tuple[str, ...]  # the question as a rule reads it, then what the model adds
    terms: tuple[str, ...] = ()  # English terms and names of code that the model adds


def plan(source: SourceName, question: str, history: Sequence[Turn], chat: ChatModel | None) -> Plan:
    """The model's plan; the rule's where there is no `chat`, or where it cannot be asked or read."""
    by_rule = plan_by_rule(question, history)
    if chat is None or not question.strip():
        return by_rule
    language = language_of(question)
    speaker = "学生：" if language == "zh" else "Student: "
    past = "\n".join(f"{speaker}{clip(turn.question, 200)}" for turn in history[-3:])
    messages = [
        Message("system", render(f"{source}_suggest", language)),
        Message("user", render("conversation", language, history=past or "-", question=clip(question, 1500))),
    ]
    wanted = CodeSuggestion if source == "kernel" else Suggestion
    try:
        found = ask(chat, messages, wanted, ChatOptions(max_tokens=260, temperature=0.2, purpose="suggest"))
    except ModelFailed:
        return by_rule
    # What the student wrote stays the first query: it is never lost.
    first = by_rule.standalone
    reworded = found.standalone.strip() or first
    queries = unique([first, reworded, *(clip(query, 200) for query in found.suggested_queries)])[:MAX_QUERIES]
    terms = found.terms if isinstance(found, CodeSuggestion) else ()
    return Plan(reworded if history else first, tuple(queries), terms)


def plan_by_rule(question: str, history: Sequence[Turn]) -> Plan:
    """One query. A follow-up borrows the topic and the names of code of the questions before it."""
    standalone = question
    if history and points_back(question):
        topic = topic_of(history)
        if topic:
            standalone = f"{question.rstrip('？?')} ({topic})"
        if topic and not identifiers(question):
            missing = [name for name in identifiers(history[-1].question) if name not in standalone]
            standalone = " ".join([standalone, *missing])
    return Plan(standalone, (standalone,))


def points_back(question: str) -> bool:
    """Whether a question needs the one before it to be understood."""
    pattern = _POINTS_BACK_ZH if language_of(question) == "zh" else _POINTS_BACK_EN
    bare = len(set(tokens(question))) <= 1 and not load_glossary().find(question)
    return bare or bool(pattern.search(question.strip()))


def topic_of(history: Sequence[Turn]) -> str:
    """What the conversation is about: the terms of the last question that named any."""
    for turn in reversed(history):
        if turn is not history[0] and points_back(turn.question):
            continue
        terms = load_glossary().find(turn.question)
        if terms:
            names = [term.zh[0] if language_of(turn.question) == "zh" else term.en[0] for term in terms[:3]]
            return ", ".join(names)
        return clip(turn.question, 120)
    return ""
