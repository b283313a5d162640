"""Judging one answer, as a stream of ever fuller judgements: verdict first, then the evidence, then the reasons.

A key decides at once and alone. Where there is none, encoder, words and the model each
have a say. The model never adds up points, and what a student writes is only data to it.
"""

import logging
import time
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from osrag.book.search import TextbookSearch
from osrag.errors import BadInput
from osrag.models.protocols import ChatModel, Encoder
from osrag.quiz.blanks import judge_blanks, split_answer, variants
from osrag.quiz.evidence import Proof, ProofFinder
from osrag.quiz.grader import Grader
from osrag.quiz.judgement import Judgement
from osrag.quiz.key import chosen, in_order
from osrag.quiz.prompt import fixed_parts
from osrag.quiz.types import FALSE, TRUE, QuizItem
from osrag.settings import Settings
from osrag.types import Passage
from osrag.wording import say

log = logging.getLogger(__name__)
MAX_ANSWER = 20_000
KEPT_DISAGREEMENTS = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One moment of a run. `stage` is "verdict", "evidence", "analysis", "done" or "waiting"."""

    stage: str
    judgement: Judgement
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question where the model's own answer and the key differ: one of them is worth a look."""

    question_id: str
    question: str
    key: str
    model: str


class Judge:
    """Judges answers of many students at once; keeps nothing of what they wrote."""

    def __init__(self, search: TextbookSearch, encoder: Encoder, chat: ChatModel | None, settings: Settings) -> None:
        self.finder = ProofFinder(search)
        self.encoder = encoder
        self.chat = chat
        self.grader = Grader(encoder)
        self.authority = settings.judge_authority
        self.first_token_s = settings.first_token_s
        self.disagreements: deque[Disagreement] = deque(maxlen=KEPT_DISAGREEMENTS)

    def judge(self, item: QuizItem, answer: str) -> Generator[Step, None, None]:
        """Steps in order, "done" last. Raises BadInput for a question or answer out of bounds."""
        checked(item, answer)
        start = time.perf_counter()
        for step in self._steps(item, answer):
            seconds = time.perf_counter() - start
            # The time of a stage is that of its first step.
            if step.stage in step.judgement.seconds:
                yield step
                continue
            timed = step.judgement.with_seconds(**{step.stage: seconds})
            if step.stage == "done":
                self._note(timed)
            yield replace(step, judgement=timed)

    def _steps(self, item: QuizItem, answer: str) -> Iterator[Step]:
        from osrag.quiz.choice import choice_steps
        from osrag.quiz.text import text_steps

        at_once = by_key(item, answer)
        if at_once is not None:
            yield Step("verdict", at_once)
        if item.is_choice:
            yield from choice_steps(self, item, answer, at_once)
        else:
            yield from text_steps(self, item, answer, at_once)

    def warm_up(self) -> None:
        """Read the fixed parts of the prompts, so that the first student does not wait for them."""
        if self.chat is not None:
            for prefix in fixed_parts():
                self.chat.prepare(prefix)

    def find(self, item: QuizItem) -> Proof:
        return self.finder.find(item)

    def _note(self, judgement: Judgement) -> None:
        if not judgement.disagrees:
            return
        found = Disagreement(
            judgement.item.id, judgement.item.question, judgement.correct_answer, judgement.model_answer
        )
        self.disagreements.append(found)
        # For the instructor: the question, never the student's words.
        log.warning(
            "key and model differ on %s: key %s, model %s", found.question_id or "a question", found.key, found.model
        )


def checked(item: QuizItem, answer: str) -> None:
    """Raises BadInput with what was seen when the question cannot be judged."""
    if len(answer) > MAX_ANSWER:
        raise BadInput(say("quiz_long_answer", item.language, seen=len(answer), limit=MAX_ANSWER))
    if item.type in ("single_choice", "multiple_choice") and not item.options:
        raise BadInput(say("quiz_no_options", item.language))


def by_key(item: QuizItem, answer: str) -> Judgement | None:
    """The verdict that the key alone decides; None for a question without a key."""
    if not item.has_key:
        return None
    common = {"knowledge_point": item.knowledge_point, "correct_answer": right_answer(item)}
    if item.is_choice:
        picked = chosen(item, answer)
        ok = picked == frozenset(item.answer)
        read = in_order(picked, item)
        return Judgement(item, answer, ok, 1.0, "key", read_as=read, right_keys=item.answer, **common)  # type: ignore[arg-type]
    said = split_answer(answer, len(item.answer))
    blanks = judge_blanks(said, item.answer, item.question)
    whole = judge_blanks(said, item.answer, item.question) if all(blanks) else blanks
    return Judgement(item, answer, all(whole), 1.0, "key", read_as=tuple(said), blanks=whole, **common)  # type: ignore[arg-type]


def right_answer(item: QuizItem) -> str:
    """The key as a reader should see it: `B. long-term scheduling`, 对, the first spelling of each blank."""
    if not item.answer:
        return item.reference
    if item.type == "true_false":
        return truth_word(item.answer[0], item)
    if item.is_choice:
        texts = [f"{key}. {option.text}" if (option := item.option(key)) else key for key in item.answer]
        return "; ".join(texts)
    return "; ".join(_spelling(blank, item) for blank in item.answer)


def _spelling(blank: str, item: QuizItem) -> str:
    """The first variant that is in the language of the question."""
    forms = variants(blank) or [blank]
    zh = item.language == "zh"
    return next((form for form in forms if any("\u4e00" <= c <= "\u9fff" for c in form) == zh), forms[0])


def truth_word(truth: str, item: QuizItem) -> str:
    return say("quiz_true" if truth == TRUE else "quiz_false", item.language) if truth in (TRUE, FALSE) else truth
