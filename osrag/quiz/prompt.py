"""Prompts of the quiz and the replies they ask for: few tokens, the fixed part first, the student's words as data."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

from pydantic import BaseModel, Field

from osrag.models.discreet import discreet
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import UnreadableReply, read, schema_of
from osrag.prompts import render
from osrag.quiz.evidence import Proof
from osrag.quiz.exercise import Exercise
from osrag.text import clip
from osrag.types import Language
from osrag.wording import say

# Prompt tokens are what a student waits for: on two cores 1,000 of them take 15 seconds.
PROMPT_TOKENS = 440  # of one prompt, without the chat format of the model
EVIDENCE_TOKENS = 200  # of passages in one prompt
ADAPTER_TOKENS = 170  # of sentences for the adapter, as in training
CHOICE_TOKENS = 480  # of all calls on a choice without a key, with the task of the analysis
TASK_TOKENS = 40  # that the advice on a written answer may add to PROMPT_TOKENS
TURN_TOKENS = 5  # of the chat format, read again behind every task
ANSWER_CHARS = {"zh": 260, "en": 700}  # of the student's answer, for the model; the grader reads all of it
RIGHT_CHARS, STUDENT_CHARS = 160, 120  # of the right answer and the student's, in the task of the analysis
QUESTION_CHARS = 900
# Where many ask, each reply is slow. What the verdict does not hang on is not waited for:
LINE_S = 20.0  # to its first words; then the book's own sentences stand in its place
WRITING_S = 60.0  # from the call to its last word; alone on two cores an analysis takes 45 s
_OPTION_CHARS = 90  # of each option, where there are at most six
_POINT_CHARS = {"zh": 70, "en": 160}
Count = Callable[[str], int]


def hurried(options: ChatOptions) -> ChatOptions:
    """The options of a reply whose first words are not waited for longer than `LINE_S`."""
    return replace(options, first_token_s=min(options.first_token_s, LINE_S))


R = TypeVar("R", bound=BaseModel)


# A field that is missing from a reply is forgiven, so that a reply that was cut counts.
class OptionLine(BaseModel):
    """What the model says about one option."""

    key: str = ""
    text: str = ""  # empty in the line where a long reply was cut


class ChoiceAnalysis(BaseModel):
    """Why the right answer is right."""

    reasoning: str = ""
    analysis: str = Field(min_length=1)
    knowledgePoint: str = ""
    optionAnalysis: list[OptionLine] = []


class TextAnalysis(BaseModel):
    """What is good about a written answer, and what to add."""

    analysis: str = Field(min_length=1)
    improvementSuggestions: str = ""


def growing(
    chat: ChatModel, prompt: Sequence[Message], reply: type[R], options: ChatOptions
) -> Iterator[tuple[R | None, bool]]:
    """(what can be read of the reply so far, whether it is whole), at every piece; the last one is whole.

    What the model has said after `WRITING_S` is the whole. None where nothing new can be read. Raises ModelFailed,
    ModelBusy, and UnreadableReply when the whole fits nothing.
    """
    if chat.abilities.constrained:
        options = replace(options, schema=schema_of(reply))
    text, end = "", time.monotonic() + WRITING_S
    with closing(discreet(chat.stream(prompt, options), prompt)) as pieces:
        for piece in pieces:
            text += piece
            if time.monotonic() > end:
                break
            try:
                yield (read(text, reply) if piece else None), False
            except UnreadableReply:
                yield None, False
    yield read(text, reply), True


def fixed_parts() -> list[list[Message]]:
    """What every prompt of a kind begins with, in both languages."""
    languages: tuple[Language, ...] = ("zh", "en")
    return [
        [Message("system", text)]
        for language in languages
        for text in (render("quiz_choice", language), _analyst(language), render("quiz_text", language))
    ]


def _analyst(language: Language) -> str:
    """The system prompt of an analysis. It says what an analysis holds, because this part is read only once."""
    return render("quiz_choice", language) + say("quiz_analysis_fields", language)


def choice_prompt(exercise: Exercise, passages: str, task: str, *, analyst: bool = False) -> list[Message]:
    """Passages, question and options, then one task. Without passages the model is asked bare.

    Two calls with the same passages differ in the task only, so the second finds the rest in the prompt cache. Where
    nothing can be found there, an `analyst` is told at the start what an analysis holds.
    """
    case = render(
        "quiz_case",
        exercise.language,
        passages=passages,
        question=clip(exercise.question, QUESTION_CHARS),
        options=option_lines(exercise),
        task=task,
    )
    system = _analyst(exercise.language) if analyst else render("quiz_choice", exercise.language)
    return [Message("system", system), Message("user", case.strip())]


def adapter_prompt(exercise: Exercise, sentences: Sequence[str]) -> list[Message]:
    """Sentences, question, options: word for word as the adapter was trained."""
    case = render(
        "quiz_adapter_case",
        exercise.language,
        sentences="\n".join(f"[{number}] {text}" for number, text in enumerate(sentences, start=1)),
        question=clip(exercise.question, QUESTION_CHARS),
        options=option_lines(exercise),
    )
    return [Message("system", render("quiz_adapter", exercise.language)), Message("user", case)]


def room_for_passages(exercise: Exercise, task: str, count: Count) -> int:
    """Tokens left for passages beside the exercise; 0 where too few are left to say anything."""
    fixed = count(render("quiz_choice", exercise.language)) + _exercise_tokens(exercise, count) + count(task)
    room = min(EVIDENCE_TOKENS, PROMPT_TOKENS - fixed)
    return room if room > 40 else 0


def lines_for_vote(exercise: Exercise, proof: Proof | None, most: int, count: Count) -> list[str]:
    """What the model sees in each of at most `most` calls: one sentence of the book, the best one first.

    All calls together stay within `CHOICE_TOKENS`. Without evidence every call sees the question alone.
    """
    left = CHOICE_TOKENS - _analysis_tokens(exercise, count, shared=True)
    each = _exercise_tokens(exercise, count) + count(vote_task(exercise, 0)) + TURN_TOKENS
    found = proof.deciding(most) if proof else []
    texts = [f"[{sentence.passage}] {sentence.text}" for sentence in found] or [""] * most
    spent = accumulate(each + count(text) for text in texts)
    return [text for place, (text, tokens) in enumerate(zip(texts, spent, strict=True)) if place == 0 or tokens <= left]


def room_for_adapter(exercise: Exercise, best: int, turns: int, count: Count) -> int:
    """Tokens of sentences that the adapter may see, so that its calls and the analysis stay within `CHOICE_TOKENS`.

    Its first call reads all, each further one the options in another order. The analysis reads the exercise again,
    with the best sentence, of `best` tokens.
    """
    question, options = count(clip(exercise.question, QUESTION_CHARS)), count(option_lines(exercise))
    calls = count(render("quiz_adapter", exercise.language)) + question + turns * (options + 2 * TURN_TOKENS)
    analysis = question + options + best + _analysis_tokens(exercise, count, shared=False)
    return min(ADAPTER_TOKENS, CHOICE_TOKENS - calls - analysis - 4 * TURN_TOKENS)


def _analysis_tokens(exercise: Exercise, count: Count, *, shared: bool) -> int:
    """Tokens of the longest task of an analysis that the exercise may lead to."""
    longest = max((option.text for option in exercise.options), key=len, default="")
    return count(analysis_task(exercise, clip(longest, RIGHT_CHARS), clip(longest, STUDENT_CHARS), shared=shared))


def _exercise_tokens(exercise: Exercise, count: Count) -> int:
    return count(clip(exercise.question, QUESTION_CHARS)) + count(option_lines(exercise))


def option_lines(exercise: Exercise) -> str:
    """One `A. text` for each line; with many options each is cut shorter."""
    limit = _OPTION_CHARS if len(exercise.options) <= 6 else max(16, 360 // len(exercise.options))
    return "\n".join(f"{option.key}. {clip(option.text, limit)}" for option in exercise.options)


def vote_task(exercise: Exercise, turn: int) -> str:
    """The task of one turn. In every other turn a statement is asked about as wrong, for a model may like Yes."""
    turned = "_turned" if exercise.type == "true_false" and turn % 2 else ""
    return say(f"quiz_task_{exercise.type}{turned}", exercise.language)


def analysis_task(exercise: Exercise, right: str, student: str, *, shared: bool) -> str:
    """The task of an analysis; `student` is how the answer was read, never the student's own words.

    `shared` says that a vote has just read the passages and the exercise under its own system prompt. The prompt cache
    still holds them, so the task and not the system prompt says what an analysis holds.
    """
    task = say(
        "quiz_task_analysis", exercise.language, right=right, student=student or say("quiz_none", exercise.language)
    )
    return task + say("quiz_analysis_fields", exercise.language) if shared else task


def advice_task(exercise: Exercise, met: Sequence[str], missing: Sequence[str]) -> str:
    """The task of the call on a text; which points are met is settled before it."""
    limit = _POINT_CHARS[exercise.language] // 2
    named = [
        "; ".join(clip(point, limit) for point in points) or say("quiz_none", exercise.language)
        for points in (met, missing)
    ]
    return say("quiz_task_advice", exercise.language, met=named[0], missing=named[1])


def text_prompt(
    exercise: Exercise, answer: str, met: Sequence[str], missing: Sequence[str], count: Count
) -> list[Message]:
    """What the advice on an answer is asked with. The answer is quoted data, and its own fences are taken out."""
    language, question = exercise.language, clip(exercise.question, 300)
    system, task = render("quiz_text", language), advice_task(exercise, met, missing)
    room = PROMPT_TOKENS + TASK_TOKENS - sum(map(count, (system, question, task))) - TURN_TOKENS
    quoted = clip(fenced(answer), ANSWER_CHARS[language])
    while count(quoted) > room and len(quoted) > 120:
        quoted = clip(quoted, len(quoted) * 3 // 4)
    case = render("quiz_text_case", language, question=question, answer=quoted, task=task)
    return [Message("system", system), Message("user", case.strip())]


def fenced(answer: str) -> str:
    """A student's words that cannot close their own quotation marks or open a turn of the conversation."""
    plain = " ".join(answer.split())
    for sign in ("<<<", ">>>", "<|", "|>", "```", "[INST]", "[/INST]"):
        plain = plain.replace(sign, " ")
    return plain
