"""What an answer needs of a body of evidence. The course book and the kernel each implement `Source`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from osrag.answer.claims import Support
from osrag.answer.events import NO_PATH, CallPath, How, Said
from osrag.answer.plan import Plan
from osrag.errors import BadInput
from osrag.models.protocols import ChatModel, Message
from osrag.prompts import render
from osrag.text import blank, language_of
from osrag.types import (
    EVERYTHING,
    AnyHit,
    Effort,
    Language,
    Passage,
    SourceChoice,
    SourceName,
    Turn,
    Within,
)
from osrag.wording import say


@dataclass(frozen=True, slots=True)
class Question:
    """What a visitor asks. `app.run` replaces each None by the operator's setting."""

    text: str
    source: SourceChoice = "textbook"
    effort: Effort | None = None
    threshold: float | None = None  # cosine, 0-1, below which a passage of the book is not used
    history: tuple[Turn, ...] = ()
    language: Language | None = None  # of the page, for a text in no language such as a bare log; then of the reply
    within: Within = EVERYTHING  # of the course material
    passages: int = 8
    rounds: int = 2  # of searching in `deep`
    max_tokens: int = 3000
    temperature: float = 0.7
    first_token_s: float = 60.0

    @property
    def reply_language(self) -> Language:
        """The language of the reply: that of the text unless another is set."""
        return self.language or language_of(self.text)


def asked(text: str, limit: int, language: Language | None = None) -> str:
    """What was asked or searched for, without blanks around it. Raises BadInput where it is empty or too long (O3)."""
    if blank(text):
        raise BadInput(f"{say('empty_question', 'zh')} {say('empty_question', 'en')}")
    text = text.strip()
    if len(text) > limit:
        raise BadInput(say("long_question", language or language_of(text[:limit]), seen=len(text), limit=limit))
    return text


@dataclass(frozen=True, slots=True)
class Explanation:
    """What it takes to let a model explain a draft."""

    check: Callable[[str, tuple[int, ...]], Support]  # a claim, and the passages that the model claims for it
    evidence: Callable[[Callable[[str], int]], str]  # what the prompt holds, given a counter of tokens
    fallback: str = ""  # Markdown where the model broke
    distrust: str = ""  # a sentence for an explanation of which no claim is supported


@dataclass(frozen=True, slots=True)
class Draft:
    """The part of a reply that the server writes itself; the whole reply where there is nothing to explain."""

    lead: str  # Markdown: statements of the book, or lines of code, word for word
    cited: tuple[int, ...]  # passages that the lead cites
    statements: tuple[Said, ...] = ()  # of the lead
    how: How = "extracts"  # how the lead came about; with an explanation of a model the reply is "generated"
    explanation: Explanation | None = None  # None: no model adds to the lead
    ending: str = ""  # Markdown behind the explanation
    further: tuple[str, ...] = ()  # questions that have an answer too, to ask next
    path: CallPath = NO_PATH
    marked: tuple[tuple[int, tuple[int, ...]], ...] = ()
    added: tuple[Passage, ...] = ()  # that the lead cites beside those that were found


FoundT = TypeVar("FoundT")  # what a search of the source returns


class Source(Protocol[FoundT]):
    """A body of evidence that can be searched, quoted and explained. Safe to call from several threads."""

    @property
    def name(self) -> SourceName: ...

    @property
    def judges_passages(self) -> bool:
        """Whether `deep` asks the model about every passage (T3)."""
        ...

    @property
    def explanation_tokens(self) -> int:
        """Generated at most by a model that writes slowly."""
        ...

    @property
    def max_temperature(self) -> float: ...

    @property
    def version(self) -> str:
        """Of the evidence, where the student should know it: "6.1.192"; else empty."""
        ...

    def search(self, plan: Plan, question: Question) -> FoundT:
        """All queries of a plan, at most `question.passages` hits."""
        ...

    def prepared(self, plan: Plan, question: Question) -> FoundT | None:
        """What was written beforehand for this very question, as `usable` and `draft` take it; else None.

        It is answered without a search and without a model.
        """
        ...

    def usable(self, found: FoundT, question: Question, *, judged: bool) -> Sequence[AnyHit]:
        """The hits to answer from; none where a refusal is honest. `judged`: a model will judge each hit."""
        ...

    def thought(self, plan: Plan, passages: Sequence[Passage], language: Language) -> str:
        """One line for the visitor: what was searched, what was kept."""
        ...

    def refusal(self, found: FoundT, question: Question) -> str:
        """The honest reply where nothing answers (T7), with the nearest passages and the way out."""
        ...

    def brief(self, passage: Passage, question: str, chars: int) -> str:
        """A passage in at most `chars` characters, for a model that judges it."""
        ...

    def draft(
        self, question: Question, plan: Plan, found: FoundT, passages: Sequence[Passage], chat: ChatModel | None
    ) -> Draft: ...

    def fixed_part(self, language: Language, *, large: bool) -> list[Message]:
        """The part of the prompt that never changes and is kept in the prompt cache."""
        ...


def with_example(name: str, language: Language) -> list[Message]:
    """A task and one example: prompts `name`, `name_example_question` and `name_example_reply`.

    The task is to repeat what is given, not to answer: asked to answer, a small model falls back on what it half
    knows (docs/experiments/answers.md, "Answer prompts").
    """
    return [
        Message("system", render(name, language)),
        Message("user", render(f"{name}_example_question", language)),
        Message("assistant", render(f"{name}_example_reply", language)),
    ]
