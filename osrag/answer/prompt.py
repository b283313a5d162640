"""The prompt of an answer: a fixed part that the prompt cache keeps, then as few new tokens as will do."""

from collections.abc import Sequence

from osrag.answer.source import Question
from osrag.models.protocols import Message
from osrag.prompts import render
from osrag.text import clip
from osrag.types import Language, SourceName

QUESTION_CHARS = 600  # of a long question, in the prompt; the search sees all of it
HISTORY_CHARS = 160  # of one earlier question


def with_example(name: str, language: Language) -> list[Message]:
    """A task and one example: prompts `name`, `name_example_question` and `name_example_reply`.

    The task is to repeat what is given, not to answer: asked to answer, a small model falls back on what it half
    knows (docs/experiments.md, "Answer prompts").
    """
    return [
        Message("system", render(name, language)),
        Message("user", render(f"{name}_example_question", language)),
        Message("assistant", render(f"{name}_example_reply", language)),
    ]


def prompt(
    source: SourceName, fixed: Sequence[Message], question: Question, standalone: str, evidence: str
) -> list[Message]:
    """Ask for an answer from `evidence`, which is quoted data and not an order.

    Of the conversation the model sees the question before this one: enough to see what this one is about.
    """
    language = question.reply_language
    label = "之前的问题：" if language == "zh" else "Earlier question: "
    earlier = "".join(f"{label}{clip(turn.question, HISTORY_CHARS)}\n" for turn in question.history[-1:])
    asked = clip(standalone if question.history else question.text, QUESTION_CHARS)
    case = render(f"{source}_question", language, evidence=evidence, history=earlier, question=asked)
    return [*fixed, Message("user", case)]
