"""Judge one answer, as a stream of ever fuller judgements: the verdict first, then the evidence, then the reasons.

A key decides alone and at once. Without a key, the model chooses an option, a written answer is judged by the grader,
and a program by its structure and its tests. The model has no part in marks, and takes no orders from a student's
answer.
"""

import logging
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

from osrag.book.search import TextbookSearch
from osrag.errors import BadInput
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.quiz.choice import free_steps, keyed_steps
from osrag.quiz.evidence import Proof, ProofFinder
from osrag.quiz.exercise import Exercise
from osrag.quiz.grader import Grader
from osrag.quiz.judgement import Step, as_json, by_key
from osrag.quiz.programs.steps import is_program, program_steps
from osrag.quiz.prompt import fixed_parts
from osrag.quiz.rows import read_answered
from osrag.quiz.written import blank_steps, written_steps
from osrag.settings import Settings
from osrag.wording import say

log = logging.getLogger(__name__)
MAX_ANSWER = 20_000  # characters


class Judge:
    """Judges answers of many students at once; keeps nothing of what they wrote."""

    def __init__(
        self,
        search: TextbookSearch,
        grader: Grader,
        chat: ChatModel | None,
        settings: Settings,
        *,
        runs: bool = False,  # whether programs are compiled and run
    ) -> None:
        self.finder = ProofFinder(search)
        self.chat = chat
        self.grader = grader
        self.runs = runs
        self.authority = settings.judge_authority
        self.options = ChatOptions(first_token_s=settings.first_token_s)

    def judge(self, exercise: Exercise, answer: str, *, own: bool = False) -> Generator[Step, None, None]:
        """Steps in order, "done" last. Raises BadInput for an exercise or an answer out of bounds.

        `own` tells that the exercise is a visitor's, of which no word goes into the log.
        """
        checked(exercise, answer)
        start = time.perf_counter()
        seconds: dict[str, float] = {}
        for step in self._steps(exercise, answer):
            seconds.setdefault(step.stage, round(time.perf_counter() - start, 3))
            timed = replace(step.judgement, seconds=dict(seconds))
            if step.stage == "done" and timed.disagrees:  # one of the two is worth a look by the instructor
                if own or not exercise.id:
                    log.warning("key and model differ on a visitor's own question")
                else:
                    key, model = timed.correct_answer, timed.model_answer
                    log.warning("key and model differ on %s: key %s, model %s", exercise.id, key, model)
            yield replace(step, judgement=timed)

    def _steps(self, exercise: Exercise, answer: str) -> Iterator[Step]:
        """Let the key decide, or the model, or the grader."""
        keyed = by_key(exercise, answer)
        if keyed is not None:
            yield Step("verdict", keyed)
        proof = self.find(exercise)
        if keyed is not None and not exercise.is_choice:
            yield from blank_steps(keyed, proof)
        elif keyed is not None and self.authority != "model":
            yield from keyed_steps(keyed, proof, self.chat, self.options)
        elif exercise.is_choice:
            yield from free_steps(exercise, answer, keyed, proof, self.chat, self.options)
        elif is_program(exercise, answer):
            yield from program_steps(exercise, answer, proof, self.grader, runs=self.runs)
        else:
            yield from written_steps(exercise, answer, proof, self.grader, self.chat, self.options)

    def warm_up(self) -> None:
        """Read the fixed parts of the prompts, so that the first student does not wait for them."""
        if self.chat is not None:
            for prefix in fixed_parts():
                self.chat.prepare(prefix)

    def find(self, exercise: Exercise) -> Proof:
        """The evidence of the course book for an exercise."""
        return self.finder.find(exercise)


def checked(exercise: Exercise, answer: str) -> None:
    """Raises BadInput with what was seen when the answer cannot be judged."""
    if len(answer) > MAX_ANSWER:
        raise BadInput(say("quiz_long_answer", exercise.language, seen=len(answer), limit=MAX_ANSWER))
    if exercise.type in ("single_choice", "multiple_choice") and not exercise.options:
        raise BadInput(say("quiz_no_options", exercise.language))


def judged(judge: Judge, question: Any, student_answer: Any = None) -> Iterator[dict[str, Any]]:
    """For callers outside: a question object in, every step as plain data out; the last has `stage` "done".

    Raises BadInput for a question that cannot be judged.
    """
    exercise, answer = read_answered(question, answer=student_answer)
    for step in judge.judge(exercise, answer, own=True):
        yield {"stage": step.stage, **as_json(step.judgement, step.passages)}
