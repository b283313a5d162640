"""K3: the model suggests terms and names of code, says whether the functions suffice, and searches once more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from osrag.answer.clock import Clock
from osrag.answer.deep import KEYWORDS, NEW_PASSAGES, RESULTS_EACH, SUFFICIENCY_CHARS, Sufficiency
from osrag.answer.plan import plan_by_rule
from osrag.errors import ModelFailed
from osrag.kernel.code import key_lines, one_line
from osrag.kernel.rounds import suggest_code
from osrag.kernel.search import KernelSearch
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import ask
from osrag.prompts import render
from osrag.text import clip, identifiers, language_of, unique
from osrag.types import CodeChunk, CodeHit, Passage, Turn
from osrag.wording import say


@dataclass(frozen=True, slots=True)
class CodePlan:
    """The question as it stands alone, and what the model adds to its search."""

    standalone: str
    extra: tuple[str, ...] = ()  # English terms and identifiers
    queries: tuple[str, ...] = ()  # further searches


def code_plan_by_rule(question: str, history: Sequence[Turn]) -> CodePlan:
    """A follow-up borrows the topic and the identifiers of the question before it."""
    standalone = plan_by_rule(question, history).standalone
    if standalone != question and not identifiers(question):
        before = [name for turn in history[-1:] for name in identifiers(turn.question)]
        missing = [name for name in before if name not in standalone]
        if missing:
            standalone = f"{standalone} {' '.join(missing)}"
    return CodePlan(standalone)


def code_plan_by_model(question: str, history: Sequence[Turn], chat: ChatModel) -> CodePlan:
    """The model's plan. Raises ModelFailed when the model cannot be asked or read."""
    found = suggest_code(question, history, chat)
    by_rule = code_plan_by_rule(question, history).standalone
    standalone = by_rule if not history else found.standalone.strip() or by_rule
    return CodePlan(standalone, found.extra, tuple(clip(query, 200) for query in found.suggested_queries[:3]))


@dataclass(frozen=True, slots=True)
class MoreCode:
    passages: tuple[Passage, ...]
    thought: str
    keywords: tuple[str, ...]


def more_code(
    chat: ChatModel, search: KernelSearch, question: str, found: Sequence[Passage], clock: Clock
) -> Iterator[MoreCode]:
    """Round two where the model finds the functions insufficient; nothing new is yielded where they suffice."""
    language = language_of(question)
    verdict = code_sufficient(chat, question, found)
    clock.mark("sufficiency", verdict.reasoning)
    keywords = unique(verdict.new_keywords)[:KEYWORDS]
    if verdict.is_sufficient or not keywords:
        return
    known = {passage.chunk.id for passage in found}
    new: dict[str, CodeHit] = {}
    for word in keywords:
        for hit in search.search(word, k=RESULTS_EACH).hits:
            if hit.chunk.id not in known:
                new.setdefault(hit.chunk.id, hit)
    next_number = max((passage.number for passage in found), default=0) + 1
    more = [
        Passage(next_number + n, hit.chunk, hit.score, hit.similarity)
        for n, hit in enumerate(list(new.values())[:NEW_PASSAGES])
    ]
    clock.mark("round_two", ", ".join(keywords))
    kept = (*found, *more)
    thought = say("kernel_thought_round_two", language, keywords=", ".join(keywords), kept=len(kept))
    yield MoreCode(kept, thought, tuple(keywords))


def code_sufficient(chat: ChatModel, question: str, passages: Sequence[Passage]) -> Sufficiency:
    """When the model cannot be read, what there is has to do."""
    language = language_of(question)
    shown = "\n".join(
        f"[{passage.number}] {_brief(passage.chunk, question)}"
        for passage in passages
        if isinstance(passage.chunk, CodeChunk)
    )
    messages = [
        Message("system", render("kernel_sufficiency", language)),
        Message("user", render("kernel_question", language, functions=shown or "-", history="", question=question)),
    ]
    try:
        return ask(chat, messages, Sufficiency, ChatOptions(max_tokens=120, temperature=0.0, purpose="sufficiency"))
    except ModelFailed:
        return Sufficiency(is_sufficient=True)


def _brief(chunk: CodeChunk, question: str) -> str:
    about = one_line(chunk, language_of(question))
    code = " ".join(line.text.strip() for line in key_lines(chunk, question, chars=SUFFICIENCY_CHARS - 100, most=4))
    return clip(f"{chunk.name}: {about} {code}", SUFFICIENCY_CHARS)
