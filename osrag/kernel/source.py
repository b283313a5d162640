"""The Linux kernel as a `Source`: quoted code first, then what a model makes of it, then the way through the calls.

What is quoted comes from the index and stands whatever the model does.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from osrag.answer.plan import Plan
from osrag.answer.source import Draft, Explanation, Question
from osrag.index.confidence import REFUSE
from osrag.kernel.claims import CodeEvidence, check_code
from osrag.kernel.code import key_lines, one_line
from osrag.kernel.compose import Composer
from osrag.kernel.grow import MOST_NEIGHBOURS
from osrag.kernel.parts import code_of, notes_text, refusal_text, to_explain
from osrag.kernel.prompt import evidence_text, steps_of
from osrag.kernel.query import folders, without_joined
from osrag.kernel.reading_path import with_calls
from osrag.kernel.search import SET, KernelResult, KernelSearch
from osrag.kernel.walk_answer import walk_draft, walk_link
from osrag.kernel.walk_match import FoundWalk
from osrag.models.protocols import ChatModel, Message
from osrag.prompts import render
from osrag.text import clip, language_of
from osrag.types import AnyHit, Chunk, CodeChunk, CodeHit, Hit, Language, Passage, SourceName
from osrag.wording import say

OF_STEP = 0.5  # chance that the function of a step decides, where the walk-through answers (348 steps)
FEW_OTHERS = 5  # functions beside a walk-through that may not be what is meant
MAIN = 4  # functions that a large model explains
JOINED = 1.0  # log odds for a call between a function and a walk-through; of 0.5 to 3 the best on development sets
HALVES = ("arch/", "user space")  # places of code that works together with what the index has
STANDS_OUT = 6.0  # deviations above an arbitrary chunk; of 32 questions about code elsewhere the best has 5.8
UNSURE = 0.25  # confidence below which nothing is explained; up to REFUSE the reply warns


def no_page(section: str, language: Language) -> Chunk | None:
    """Where there is no course book."""
    return None


@dataclass(frozen=True, slots=True)
class KernelSource:
    """Answers from the kernel index."""

    search_in: KernelSearch
    book_page: Callable[[str, Language], Chunk | None] = no_page  # of the course book: the start of a section
    name: SourceName = "kernel"
    judges_passages: bool = False
    explanation_tokens: int = 0  # of a small model, which explains no code
    max_temperature: float = 0.3  # an explanation of code repeats it: what is invented is only marked

    @property
    def version(self) -> str:
        """The version of the indexed kernel: "6.1.192"."""
        return self.search_in.version

    def search(self, plan: Plan, question: Question) -> KernelResult:
        """The best chunks for the question; what a model added widens the search."""
        extra = (*plan.terms, *(query for query in plan.queries if query != plan.standalone))
        return self.search_in.search(plan.standalone, k=question.passages, extra=extra)

    def prepared(self, plan: Plan, question: Question) -> KernelResult | None:
        """The walk-through of the mechanism that the question is about; none for code that is not in the index.

        Of what lies in arch/, or of what a program has the kernel do, the index has the other half, and a note says
        which half it lacks. So it does where a question joins two things ("timerfd or nanosleep").
        """
        told = self.search_in.with_walk(self.search(plan, question))
        if told.walk and (told.walk.exact or not absent(told, but=HALVES)):
            return told
        rest = reduce(without_joined, (one.what for one in told.missing), told.query)
        if rest == told.query:
            return None
        other = self.search_in.with_walk(self.search_in.search(rest, k=question.passages))
        return replace(other, notes=told.notes) if other.walk and not absent(other) else None

    def walked(self, plan: Plan, question: Question) -> bool:
        """Whether it is sure that a walk-through answers."""
        found = self.prepared(plan, question)
        return found is not None and found.walk is not None and found.walk.sure

    def chance_of_prepared(self, plan: Plan, question: Question) -> float:
        """0-1, that a walk-through is what is asked for."""
        return self.search_in.chance_of_walk(self.search(plan, question))

    def _of_walk(self, walk: FoundWalk, found: KernelResult, language: Language) -> list[AnyHit]:
        """The functions of a walk-through, the likeliest others, and the page of the book that teaches the idea.

        Where it is not sure that the walk-through answers, there are at least FEW_OTHERS others, and all stand by their
        chances.
        """
        functions, likely = walk.bound.functions, {hit.chunk.name: hit.score for hit in found.grown}
        of_step = 1.0 if walk.sure else OF_STEP * walk.chance
        hits = [
            CodeHit(chunk, max(of_step, likely.get(name, 0.0)), walk.cosine, "prepared")
            for name, chunk in functions.items()
        ]
        # A question that the walk-through was written for needs no others.
        beside = [] if walk.exact else [hit for hit in found.grown if hit.chunk.name not in functions]
        if walk.sure:
            hits += self._joined_first(beside, functions)[: max(0, SET - len(hits))]
        else:
            hits = sorted([*hits, *beside[: max(FEW_OTHERS, SET - len(hits))]], key=lambda hit: -hit.score)
        page = self.book_page(walk.bound.walk.section, language)
        return [*hits, *([Hit(page, 1.0, walk.cosine, "prepared")] if page else [])]

    def _joined_first(self, hits: Iterable[CodeHit], functions: Mapping[str, CodeChunk]) -> list[CodeHit]:
        """Functions by their chances, better ones for those that a call joins with the functions of a walk-through."""
        store = self.search_in.store
        called = {name for chunk in functions.values() for name in chunk.calls}
        calling = {name for name in functions if store.times_called(name) <= MOST_NEIGHBOURS}

        def log_odds(hit: CodeHit) -> float:
            chance = min(max(hit.score, 1e-6), 1 - 1e-6)
            joined = (hit.chunk.name in called) + bool(calling.intersection(hit.chunk.calls))
            return math.log(chance / (1 - chance)) + JOINED * joined

        return sorted(hits, key=log_odds, reverse=True)

    def usable(self, found: KernelResult, question: Question, *, judged: bool) -> Sequence[AnyHit]:
        """The hits; none if they are too unsure, or if the code that the question names or is about lies elsewhere.

        A question with a name of another version is answered, with a note, if the new name is indexed. So is a
        question that mentions a word like MemAvailable, which looks like a name and is none.
        """
        if found.walk:
            return self._of_walk(found.walk, found, question.reply_language)
        return () if found.confidence < UNSURE or absent(found) else found.grown[:SET]

    def thought(self, plan: Plan, passages: Sequence[Passage], language: Language) -> str:
        """A line about what was searched and kept."""
        subsystems = folders(self.search_in.store.subsystem_names, language)
        code = [passage.chunk.source for passage in passages if isinstance(passage.chunk, CodeChunk)]
        return say("kernel_thought", language, subsystems=subsystems, kept=len(code), files=len({*code}))

    def refusal(self, found: KernelResult, question: Question) -> str:
        language = question.reply_language
        return f"{refusal_text(found, self.search_in.store, language)}\n\n{self._near(found, language)}".rstrip()

    def _near(self, found: KernelResult, language: Language) -> str:
        """A link to the nearest walk-through, where none answers; empty if none is near."""
        walk = self.search_in.near_walk(found)
        return say("walk_near", language, whole=walk_link(walk, language)) if walk else ""

    def brief(self, passage: Passage, question: str, chars: int) -> str:
        """What a function is for and its four lines that matter most."""
        chunk = code_of(passage)
        code = " ".join(line.text.strip() for line in key_lines(chunk, question, chars=chars - 100, most=4))
        return clip(f"{chunk.name}: {one_line(chunk, language_of(question))} {code}", chars)

    def draft(
        self, question: Question, plan: Plan, found: KernelResult, passages: Sequence[Passage], chat: ChatModel | None
    ) -> Draft:
        """The main functions with their key lines, and the reading path (K5)."""
        language = question.reply_language
        named = frozenset(hit.chunk.name for hit in found.hits if hit.found_by == "name")
        code = [passage for passage in passages if isinstance(passage.chunk, CodeChunk)]
        told = self.search_in.told(plan.standalone, {code_of(passage).name for passage in code}, language)
        composer = Composer(plan.standalone, named, told, self.search_in.graph, language)
        if found.walk:
            others = [one for one in code if code_of(one).name not in found.walk.bound.functions]
            own = [passage for passage in passages if passage not in others]
            walk = walk_draft(found.walk, plan.standalone, own, self.search_in.store, language)
            inside = [one for one in code if one not in others]
            draft = composer.beside(walk, inside, others, sure=found.walk.sure)
        else:
            draft = composer.draft(code)
        likely = {hit.chunk.name for hit in found.grown}
        draft = replace(draft, path=with_calls(draft.path, draft.marked, code, self.search_in.graph, likely))
        if found.walk and found.walk.sure:
            return replace(draft, lead=notes_text(found.notes) + draft.lead)
        unsure = (say("kernel_unsure", language),) if found.confidence < REFUSE and not found.walk else ()
        near = say("walk_likely", language) if found.walk else self._near(found, language)
        lead = notes_text((*unsure, *found.notes)) + (f"{near}\n\n" if near else "") + draft.lead
        if chat is None or not chat.abilities.chain:
            return replace(draft, lead=lead)
        mains = composer.quoted(code)[:MAIN]
        explanation = self.explained(question, plan.standalone, mains, to_explain(mains, code))
        return replace(draft, lead=lead, explanation=explanation)

    def explained(
        self, question: Question, standalone: str, mains: Sequence[Passage], passages: Sequence[Passage]
    ) -> Explanation:
        """How a model is to explain `mains`, which lead `passages`.

        What the main functions call is described in the prompt, and may be spoken of.
        """
        language = question.reply_language
        chunks = [code_of(passage) for passage in mains]
        callees = {callee.name: callee for chunk in chunks for callee in self.search_in.callees(chunk)}
        steps = {chunk.id: steps_of(chunk, standalone, list(callees.values()), language) for chunk in chunks}
        told = [*(chunk.name for chunk in chunks), *(name for row in steps.values() for name in row)]
        known = CodeEvidence(passages, callees, told)

        def evidence(count_tokens: Callable[[str], int]) -> str:
            asked = standalone if question.history else question.text
            return evidence_text(passages, asked, steps, language=language, count_tokens=count_tokens)

        return Explanation(
            check=lambda claim, _: check_code(claim, known, question=question.text),
            evidence=evidence,
            distrust=say("kernel_all_unverified", language),
        )

    def fixed_part(self, language: Language, *, large: bool) -> list[Message]:
        """The task (K4). A small model gets none: it invents how functions work together."""
        return [Message("system", render("kernel_large", language))] if large else []


def absent(found: KernelResult, *, but: tuple[str, ...] = ()) -> bool:
    """Whether the question is about code that is not in the index, and names none that is.

    What lies in one of the places `but` does not count, nor a subject (KVM, a driver) that the question only mentions:
    then the hits stand out.
    """
    stands_out = found.signals["dense"] >= STANDS_OUT
    rest = [one for one in found.missing if not one.where.startswith(but)]
    missing = [one for one in rest if "_" in one.what or not stands_out]
    named = any(hit.found_by == "name" for hit in found.hits)
    return not named and any(one.where or "_" in one.what for one in missing)
