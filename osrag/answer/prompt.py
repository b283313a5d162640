"""The answer prompt: a fixed part that the prompt cache keeps, then as few new tokens as will do."""

from collections.abc import Callable, Sequence

import numpy as np

from osrag.answer.evidence import Evidence
from osrag.models.protocols import Message, Vectors
from osrag.prompts import render
from osrag.text import clip, language_of
from osrag.types import Language, Turn

QUESTION_CHARS = 600  # of a long question, in the prompt; the search sees all of it
HISTORY_CHARS = 160  # of one earlier question


def answer_prompt(
    question: str,
    history: Sequence[Turn],
    evidence: Evidence,
    worth: Vectors,
    *,
    budget: int,
    count_tokens: Callable[[str], int],
    standalone: str = "",
) -> list[Message]:
    """Ask for an answer from the sentences of `evidence` that matter, `budget` tokens of them at most.

    The passages are quoted data, not orders.
    """
    language = language_of(question)
    passages = select_passages(evidence, worth, budget=budget, count_tokens=count_tokens)
    asked = standalone if history and standalone else question
    return [
        *fixed_part(language),
        Message(
            "user",
            render(
                "question",
                language,
                passages=passages,
                history=_history(history, language == "zh"),
                question=clip(asked, QUESTION_CHARS),
            ),
        ),
    ]


def fixed_part(language: Language) -> list[Message]:
    """The part of the prompt that never changes: the task and one example, kept in the prompt cache.

    The task is to repeat, not to answer: asked to answer, the small model falls back on what it
    half knows (docs/experiments.md, "Answer prompts").
    """
    return [
        Message("system", render("answer", language)),
        Message("user", render("example_question", language)),
        Message("assistant", render("example_reply", language)),
    ]


def select_passages(evidence: Evidence, worth: Vectors, *, budget: int, count_tokens: Callable[[str], int]) -> str:
    """The best sentences and the ones that follow them, by passage, in the order of the book.

    An explanation tends to stand in the sentence after the one that matches the question.
    """
    chosen: set[int] = set()
    spent = 0
    # Tables and code mislead a small model; they go in only when there is nothing else.
    prose = {sentence.index for sentence in evidence.sentences if sentence.quotable}
    usable = prose or {sentence.index for sentence in evidence.sentences}
    for index in np.argsort(-worth):
        for near in (int(index), int(index) + 1):
            if near in chosen or near not in usable or int(index) not in usable:
                continue
            if evidence.sentences[near].passage != evidence.sentences[int(index)].passage:
                continue
            cost = count_tokens(evidence.sentences[near].text) + 2
            if spent + cost <= budget:
                chosen.add(near)
                spent += cost
        if spent > budget * 0.93:
            break
    return "\n".join(_passage_lines(evidence, chosen))


def _passage_lines(evidence: Evidence, chosen: set[int]) -> list[str]:
    lines = []
    for number in evidence.passages:
        parts: list[str] = []
        last = None
        for sentence in evidence.sentences:
            if sentence.passage == number and sentence.index in chosen:
                if last is not None and sentence.index != last + 1:
                    parts.append("…")
                parts.append(sentence.text)
                last = sentence.index
        if parts:
            lines.append(f"[{number}] {' '.join(parts)}")
    return lines


def _history(history: Sequence[Turn], zh: bool) -> str:
    """Earlier questions, one a line: enough to see what the new one is about."""
    label = "之前的问题：" if zh else "Earlier question: "
    return "".join(f"{label}{clip(turn.question, HISTORY_CHARS)}\n" for turn in history[-1:])
