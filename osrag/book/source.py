"""The course book as a `Source`: its own statements first, then what a model makes of them."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, zip_longest

from osrag.answer.claims import check
from osrag.answer.events import Said
from osrag.answer.judge import number
from osrag.answer.plan import Plan
from osrag.answer.source import Draft, Explanation, Question, with_example
from osrag.answer.statements import Evidence
from osrag.book.answers import Near, PreparedAnswer
from osrag.book.compose import Composer, parts_of, wanted
from osrag.book.lines import Line
from osrag.book.search import SearchResult, TextbookSearch
from osrag.book.understood import understand
from osrag.index.confidence import REFUSE
from osrag.models.protocols import ChatModel, Encoder, Message
from osrag.text import folded, tokens
from osrag.types import EVERYTHING, Hit, Language, Passage, SourceName
from osrag.wording import say

UNSURE = 0.6  # chance that the prepared answers speak of what is asked; below it an answer says so and is short
NEAREST = 3  # sections that a refusal names
PROMPT_TOKENS = 2400  # of passages in a prompt
FURTHER = 3  # questions to ask next
QUOTED = "from_the_book"  # the heading over words of the source
SIGNS = {ord(char): f"\\{char}" for char in "\\`*_#<$"}  # the words of the book are not Markdown


@dataclass(frozen=True, slots=True)
class BookSource:
    """Answers from one textbook search; `encoder` compares statements with questions and claims."""

    search_in: TextbookSearch
    encoder: Encoder
    composer: Composer
    name: SourceName = "textbook"
    judges_passages: bool = True
    explanation_tokens: int = 3000
    max_temperature: float = 1.0
    version: str = ""
    brought: bool = False  # a visitor's material is searched: prepared answers are not given whole

    def search(self, plan: Plan, question: Question) -> SearchResult:
        """The best chunks for all queries, in one order; of two editions that of the reply's language is given.

        The parts of a question that asks several are searched for one by one, and take turns (T10); so do the two
        things that a question compares, behind the question.
        """
        start = time.perf_counter()
        k, reader = question.passages, question.reply_language  # a model asks in the other language too
        parts = parts_of(plan.standalone)
        compared = () if parts else understand(plan.standalone).compared
        asked, *more = parts or plan.queries
        results = [
            self.search_in.search(query, k=k, reader=reader, within=question.within)
            for query in (asked, *compared, *more)
        ]
        if len(results) == 1:
            return results[0]
        timings = {name: sum(result.timings_ms[name] for result in results) for name in ("embed", "search")}
        return SearchResult(
            plan.standalone,
            in_turns(results, k) if parts or compared else self.search_in.merge(plan.standalone, results, k=k),
            max(result.confidence for result in results if result.query not in compared),
            {**timings, "total": 1000 * (time.perf_counter() - start)},
        )

    def prepared(self, plan: Plan, question: Question) -> SearchResult | None:
        """The passages of the prepared answer, then others that the search finds."""
        answer = self._answer_to(plan.standalone, question.reply_language) if self._gives(question) else None
        if answer is None:
            return None
        found = self.search(plan, question)
        cited = self.search_in.hits_at(plan.standalone, answer.cites, language=None)
        hits = {hit.chunk.id: hit for hit in (*cited, *found.hits)}
        return replace(found, hits=tuple(hits.values())[: max(question.passages, len(cited))], prepared=answer)

    def _answer_to(self, asked: str, language: Language) -> PreparedAnswer | None:
        """The prepared answer to the whole of a text; none where one of its questions wants another one."""
        answers = self.search_in.answers
        if answers is None or (answer := answers.match(asked, language)) is None:
            return None
        parts = parts_of(asked)
        near = answers.near(parts, language) if parts else ()
        wants = [wanted(near, part) for part in range(len(parts))]
        return None if any(one >= 0 and near[one].answer.id != answer.id for one in wants) else answer

    def chance_of_prepared(self, plan: Plan, question: Question) -> float:
        """0-1, that a prepared answer is what is asked for."""
        answers = self.search_in.answers if self._gives(question) else None
        return answers.chance(plan.standalone, question.reply_language) if answers else 0.0

    def _covers(self, asked: str, question: Question) -> float | None:
        """0-1, that the prepared answers speak of what is asked, or of a part of it; None where that is unknown."""
        answers = self.search_in.answers if self._gives(question) else None
        texts = (asked, *parts_of(asked)) if answers else ()
        known = [answers.covers(text, question.reply_language) for text in texts] if answers else []
        return max((one for one in known if one is not None), default=None)

    def _gives(self, question: Question) -> bool:
        """Whether prepared answers are given whole: they speak of all of the course's material, and of nothing else."""
        return question.within == EVERYTHING and not self.brought

    def usable(self, found: SearchResult, question: Question, *, judged: bool) -> list[Hit]:
        """The hits above the visitor's threshold, where the search or a judging model can trust them.

        Those of a prepared answer were chosen by who wrote it, not by likeness; and where some answer is near, the
        material speaks of what is asked, however little its words are like those of the question.
        """
        if found.prepared is not None:
            return list(found.hits)
        if not judged and found.confidence < REFUSE and (self._covers(found.query, question) or 0.0) < UNSURE:
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
        """A prepared answer whole; else one composed of the book's statements.

        A model that writes well gets these statements as evidence and writes the answer.
        """
        language, large = question.reply_language, chat is not None and chat.abilities.chain
        prepared = found.prepared
        said = answered(prepared, passages) if prepared else ()
        if prepared and not large:
            return Draft(told(prepared.kind, said), cited_by(said), said, "prepared", further=self._further(prepared))
        whole = question.within == EVERYTHING
        covers = None if prepared or large else self._covers(plan.standalone, question)
        unsure = covers is not None and covers < UNSURE
        asked = plan.standalone
        lines, added = ([], ()) if prepared else self._composed(asked, passages, language, whole=whole, few=unsure)
        passages = (*passages, *added)
        lead = said or tuple(map(_said, lines))
        heading = "from_the_material" if self.brought else QUOTED
        text = told(prepared.kind, said) if prepared else written(lines, language, heading)
        if not large:
            note = f"{say('textbook_unsure', language)}\n\n" if unsure else ""
            return Draft(note + text, cited_by(lead), lead, "composed", added=added)
        evidence = Evidence(passages, self.encoder)
        query = self.encoder.queries([plan.standalone])[0]
        scores = evidence.scores(query, tuple(dict.fromkeys(tokens(plan.standalone))), language=language)
        known = "".join(f"[{one.passages[0]}] {one.text}\n" for one in lead)
        return Draft(
            lead="",
            cited=(),
            explanation=Explanation(
                check=lambda claim, named: check(claim, evidence, question=question.text, claimed=named),
                evidence=lambda count: (
                    known + evidence.excerpt(scores, budget=PROMPT_TOKENS - count(known), count_tokens=count)
                ),
                fallback=text,
            ),
            further=self._further(prepared) if prepared else (),
            added=added,
        )

    def _composed(
        self, asked: str, passages: Sequence[Passage], language: Language, *, whole: bool, few: bool
    ) -> tuple[list[Line], tuple[Passage, ...]]:
        """The lines of an answer, and the passages that they cite beside those that were found.

        The prepared answers speak of the `whole` of the material, not of a part of it.
        """
        near, cited = self.near(asked, passages, language) if whole else ((), ())
        lines = self.composer.compose(asked, passages, near, cited, few=few)
        last = max(passage.number for passage in passages)
        used = {line.passage for line in lines}
        places = {one.number: last + place for place, one in enumerate((c for c in cited if c.number in used), start=1)}
        added = tuple(replace(one, number=places[one.number]) for one in cited if one.number in places)
        return [replace(line, passage=places.get(line.passage, line.passage)) for line in lines], added

    def near(
        self, asked: str, passages: Sequence[Passage], language: Language
    ) -> tuple[Sequence[Near], Sequence[Passage]]:
        """The prepared answers near a question or its parts, and what they cite beside the passages."""
        answers = self.search_in.answers
        near = answers.near((asked, *parts_of(asked, clauses=True)), language) if answers else ()
        shown = {passage.chunk.id for passage in passages}
        ids = [id_ for one in near for id_ in one.answer.cites if id_ not in shown]
        last = max(passage.number for passage in passages)
        return near, number(self.search_in.hits_at(asked, ids, language=None), last + 1)

    def _further(self, answer: PreparedAnswer) -> tuple[str, ...]:
        """What to ask next."""
        return self.search_in.answers.further(answer, FURTHER) if self.search_in.answers else ()

    def fixed_part(self, language: Language, *, large: bool) -> list[Message]:
        """None for a model that writes slowly: it is not asked."""
        return with_example("textbook", language) if large else []


def answered(answer: PreparedAnswer, passages: Sequence[Passage]) -> tuple[Said, ...]:
    """The statements of a prepared answer, each with the passage that holds its quote."""
    numbers = {passage.chunk.id: passage.number for passage in passages}
    return tuple(
        Said(one.text, (numbers[chunk_id],), folded(one.text) in folded(one.quote), one.quote)
        for one, chunk_id in zip(answer.statements, answer.cites, strict=True)
    )


def told(kind: str, said: Sequence[Said]) -> str:
    """A prepared answer as Markdown: steps are numbered, a list has bullets, the rest are paragraphs."""
    starts = {"steps": [f"{number}. " for number in range(1, len(said) + 1)], "list": ["- "] * len(said)}
    lines = [f"{_plain(one.text)} [{one.passages[0]}]" for one in said]
    if kind not in starts:
        return "\n\n".join(lines)
    return "\n".join(f"{start}{line}" for start, line in zip(starts[kind], lines, strict=True))


def written(lines: Sequence[Line], language: Language, quoted: str = QUOTED) -> str:
    """A composed answer as Markdown: statements of prepared answers as they tell them, the book word for word.

    The heading stands over the first words of the book only: those behind it are set as quotations as well.
    """
    blocks: list[str] = []
    heading = [say(quoted, language)]
    for (answer, group), own in groupby(lines, lambda line: (line.answer, line.answer >= 0 and line.group)):
        if answer < 0:
            blocks += [*heading, quotation([*own])]
            heading = []
        else:
            blocks.append(told("" if group < 0 else "steps", [*map(_said, own)]))
    return "\n\n".join(blocks)


def _said(line: Line) -> Said:
    verbatim = line.answer < 0 or folded(line.text) in folded(line.quote)
    return Said(line.text, (line.passage,), verbatim, line.quote)


def _plain(text: str) -> str:
    """Words whose signs are not Markdown; code stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if place % 2 else part.translate(SIGNS) for place, part in enumerate(parts))


def in_turns(results: Sequence[SearchResult], k: int) -> tuple[Hit, ...]:
    """The best hit of each search, then the second best of each, …, each once; `k` in all."""
    turns = chain.from_iterable(zip_longest(*(result.hits for result in results)))
    return tuple({hit.chunk.id: hit for hit in turns if hit is not None}.values())[:k]


def cited_by(said: Sequence[Said]) -> tuple[int, ...]:
    """The passages of statements, each once."""
    return tuple(dict.fromkeys(number for one in said for number in one.passages))


def quotation(lines: Sequence[Line]) -> str:
    """Lines of the book, word for word: a paragraph for each of its paragraphs, each cited."""
    blocks: list[list[Line]] = []
    for before, line in zip((None, *lines), lines, strict=False):
        if before is None or line.opens or (line.paragraph, line.passage) != (before.paragraph, before.passage):
            blocks.append([])
        blocks[-1].append(line)
    return "\n>\n".join(
        f"> {joined([line.text for line in own]).translate(SIGNS)} [{own[0].passage}]" for own in blocks
    )


def joined(texts: Sequence[str]) -> str:
    """Sentences behind each other; Chinese ones stand without a blank."""
    return "".join(text if text[-1] in "。！？；" else f"{text} " for text in texts).rstrip()
