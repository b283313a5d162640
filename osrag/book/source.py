"""The course book as a `Source`: its own statements first, then what a model makes of them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from osrag.answer.claims import check
from osrag.answer.events import Said
from osrag.answer.plan import Plan
from osrag.answer.source import Draft, Explanation, Question, with_example
from osrag.answer.statements import Evidence, Statement
from osrag.book.search import SearchResult, TextbookSearch
from osrag.index.confidence import REFUSE
from osrag.models.protocols import ChatModel, Encoder, Message
from osrag.text import tokens
from osrag.types import Hit, Language, Passage, SourceName
from osrag.wording import say

LEAD = 2  # statements that open a reply on a model that writes slowly
EXTRACTS = 5  # statements quoted when no model explains
NEAREST = 3  # sections that a refusal names
PROMPT_TOKENS = 300  # of passages in a prompt for a model that reads slowly
PROMPT_TOKENS_LARGE = 2400  # for one that does not


@dataclass(frozen=True, slots=True)
class BookSource:
    """Answers from one textbook search; `encoder` compares statements with questions and claims."""

    search_in: TextbookSearch
    encoder: Encoder
    name: SourceName = "textbook"
    judges_passages: bool = True
    explanation_tokens: int = 3000
    max_temperature: float = 1.0
    version: str = ""

    def search(self, plan: Plan, question: Question) -> SearchResult:
        """The best chunks for all queries, in one order; of two editions that of the reply's language is given."""
        start = time.perf_counter()
        k, reader = question.passages, question.reply_language  # a model asks in the other language too
        results = [self.search_in.search(query, k=k, reader=reader) for query in plan.queries]
        if len(results) == 1:
            return results[0]
        timings = {name: sum(result.timings_ms[name] for result in results) for name in ("embed", "search")}
        return SearchResult(
            plan.standalone,
            self.search_in.merge(plan.standalone, results, k=k),
            max(result.confidence for result in results),
            {**timings, "total": 1000 * (time.perf_counter() - start)},
        )

    def prepared(self, plan: Plan, question: Question) -> SearchResult | None:
        return None

    def usable(self, found: SearchResult, question: Question, *, judged: bool) -> list[Hit]:
        """The hits above the visitor's threshold, where the search or a judging model can trust them."""
        if not judged and found.confidence < REFUSE:
            return []
        return [hit for hit in found.hits if hit.similarity >= (question.threshold or 0.0)]

    def thought(self, plan: Plan, passages: Sequence[Passage], language: Language) -> str:
        return say("textbook_thought", language, queries=len(plan.queries), kept=len(passages))

    def refusal(self, found: SearchResult, question: Question) -> str:
        """The fixed reply, with the nearest sections; where the threshold is the reason it says so."""
        language, threshold = question.reply_language, question.threshold or 0.0
        lines = [say("textbook_refusal", language)]
        best = max((hit.similarity for hit in found.hits), default=0.0)
        if found.hits and best < threshold:
            lines.append(say("refusal_threshold", language, threshold=threshold, best=best))
        else:
            lines.append(say("textbook_refusal_rephrase", language))
        chunks = [hit.chunk for hit in found.hits[:NEAREST] if hit.chunk.section]
        sections = dict.fromkeys(f"- {chunk.title or chunk.source}: {chunk.section_path}" for chunk in chunks)
        if sections:
            lines += [say("nearest_sections", language), "\n".join(sections)]
        return "\n\n".join(lines)

    def brief(self, passage: Passage, question: str, chars: int) -> str:
        return " ".join(passage.chunk.text[:chars].split())

    def draft(
        self, question: Question, plan: Plan, found: SearchResult, passages: Sequence[Passage], chat: ChatModel | None
    ) -> Draft:
        """The statements that say most about the question; more of them where no model explains."""
        language = question.reply_language
        evidence = Evidence(passages, self.encoder)
        query = self.encoder.queries([plan.standalone])[0]
        scores = evidence.scores(query, tuple(dict.fromkeys(tokens(plan.standalone))), language=language)
        extracts = evidence.best(scores, count=EXTRACTS)
        large = chat is not None and chat.abilities.chain
        lead = [] if large else extracts if chat is None else extracts[:LEAD]
        budget = PROMPT_TOKENS_LARGE if large else PROMPT_TOKENS
        return Draft(
            lead=quotes(lead, language),
            cited=tuple(dict.fromkeys(statement.passage for statement in lead)),
            statements=tuple(Said(one.text, (one.passage,), True) for one in in_order(lead)),
            explanation=Explanation(
                check=lambda claim, named: check(claim, evidence, question=question.text, claimed=named),
                evidence=lambda count_tokens: evidence.excerpt(scores, budget=budget, count_tokens=count_tokens),
                fallback=quotes(extracts, language),
            ),
        )

    def fixed_part(self, language: Language, *, large: bool) -> list[Message]:
        return with_example("textbook", language)


def in_order(statements: Sequence[Statement]) -> list[Statement]:
    """Statements in the order of the passages."""
    return sorted(statements, key=lambda statement: statement.index)


def quotes(statements: Sequence[Statement], language: Language) -> str:
    """Statements, word for word and cited, as Markdown; in the order of the passages."""
    if not statements:
        return ""
    plain = {ord(char): f"\\{char}" for char in "\\`*_#<$"}  # the words of the book are not Markdown
    lines = [f"> {statement.text.translate(plain)} [{statement.passage}]\n" for statement in in_order(statements)]
    return f"{say('from_the_book', language)}\n\n" + ">\n".join(lines)
