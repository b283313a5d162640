"""Prompts of the quiz: few tokens, the fixed part first, the student's words quoted as data."""

from collections.abc import Callable, Sequence

from osrag.models.protocols import Message
from osrag.prompts import render
from osrag.quiz.evidence import Proof
from osrag.quiz.types import QuizItem
from osrag.text import clip
from osrag.types import Language
from osrag.wording import say

EVIDENCE_TOKENS = 200
PROMPT_TOKENS = 440  # of one prompt, the chat format of the model aside
READING_TOKENS = 170  # of sentences for the reader, as in training
CHOICE_TOKENS = 480  # of all calls on a choice without a key, the task of the analysis included
ANSWER_CHARS = {"zh": 260, "en": 700}  # of the student's answer, for the model; the grader reads all of it
TURN_TOKENS = 5  # of the chat format, read again behind every task
TASK_TOKENS = 40  # that the advice on a text may come on top of it
MOST_POINTS = 6  # of a text that the model is asked about
RIGHT_CHARS, STUDENT_CHARS = 160, 120  # of the right answer and the student's, in the task of the analysis
_OPTION_CHARS = 90
QUESTION_CHARS = 900
_POINT_CHARS = {"zh": 70, "en": 160}
Count = Callable[[str], int]


def fixed_parts() -> list[list[Message]]:
    """What every prompt of a kind begins with, in both languages."""
    languages: tuple[Language, ...] = ("zh", "en")
    return [
        [Message("system", text)]
        for language in languages
        for text in (render("quiz_choice", language), _analyst(language), render("quiz_text", language))
    ]


def _analyst(language: Language) -> str:
    """The fixed part of an analysis: what it is to hold stands here, where it is read once and for all."""
    return render("quiz_choice", language) + say("quiz_analysis_fields", language)


def analysis_prompt(item: QuizItem, passages: str, task: str, *, shared: bool) -> list[Message]:
    """As `choice_prompt`; `shared` as for the `task` (`analysis_task`)."""
    prompt = choice_prompt(item, passages, task)
    return prompt if shared else [Message("system", _analyst(item.language)), *prompt[1:]]


def choice_prompt(item: QuizItem, passages: str, task: str) -> list[Message]:
    """Passages, question and options, then one task. Only the task differs between two calls with the same
    passages, so the second finds the rest in the prompt cache. Without passages the model is asked bare."""
    case = render(
        "quiz_case",
        item.language,
        passages=passages,
        question=clip(item.question, QUESTION_CHARS),
        options=option_lines(item),
        task=task,
    )
    return [Message("system", render("quiz_choice", item.language)), Message("user", case.strip())]


def room_for_passages(item: QuizItem, task: str, count: Count) -> int:
    """Tokens left for passages beside the exercise; 0 where too few are left to say anything."""
    fixed = count(render("quiz_choice", item.language)) + _exercise_tokens(item, count) + count(task)
    room = min(EVIDENCE_TOKENS, PROMPT_TOKENS - fixed)
    return room if room > 40 else 0


def lines_for_vote(item: QuizItem, proof: Proof | None, most: int, count: Count) -> list[str]:
    """What the model sees in each of at most `most` calls: one sentence of the book, the best one first.

    All calls together stay within `CHOICE_TOKENS`. Without evidence every call sees the question alone.
    """
    left = CHOICE_TOKENS - _analysis_tokens(item, count, shared=True)
    exercise = _exercise_tokens(item, count) + count(vote_task(item, 0)) + TURN_TOKENS
    found = proof.deciding(most) if proof else []
    texts = [f"[{sentence.passage}] {sentence.text}" for sentence in found] or [""] * most
    lines: list[str] = []
    spent = 0
    for text in texts:
        spent += exercise + count(text)
        if lines and spent > left:
            break
        lines.append(text)
    return lines


def room_for_reading(item: QuizItem, best: int, turns: int, count: Count) -> int:
    """Tokens of sentences that the reader may see, so that its calls and the analysis stay within `CHOICE_TOKENS`.

    Its first call reads all, each further one the options in another order. The analysis reads the exercise again,
    with the best sentence, of `best` tokens.
    """
    fixed = count(render("quiz_reader", item.language)) + count(clip(item.question, QUESTION_CHARS)) + 3 * TURN_TOKENS
    each = count(option_lines(item)) + 2 * TURN_TOKENS
    analysis = _exercise_tokens(item, count) + best + _analysis_tokens(item, count, shared=False) + TURN_TOKENS
    return min(READING_TOKENS, CHOICE_TOKENS - fixed - turns * each - analysis)


def _analysis_tokens(item: QuizItem, count: Count, *, shared: bool) -> int:
    """Of the task of the analysis at its longest."""
    longest = max((option.text for option in item.options), key=len, default="")
    return count(analysis_task(item, clip(longest, RIGHT_CHARS), clip(longest, STUDENT_CHARS), shared=shared))


def _exercise_tokens(item: QuizItem, count: Count) -> int:
    return count(clip(item.question, QUESTION_CHARS)) + count(option_lines(item))


def option_lines(item: QuizItem) -> str:
    """`A. text` a line; with many options each is shorter."""
    limit = _OPTION_CHARS if len(item.options) <= 6 else max(16, 360 // len(item.options))
    return "\n".join(f"{option.key}. {clip(option.text, limit)}" for option in item.options)


def vote_task(item: QuizItem, turn: int) -> str:
    """A model that likes Yes is asked in every other turn whether a statement is wrong."""
    turned = "_turned" if item.type == "true_false" and turn % 2 else ""
    return say(f"quiz_task_{item.type}{turned}", item.language)


def analysis_task(item: QuizItem, right: str, student: str, *, shared: bool) -> str:
    """The task of the second call; `student` is how the answer was read, never the student's own words.

    `shared`: passages and exercise were just read by a vote, under its system prompt, and are not to be read again;
    so what the analysis is to hold stands here.
    """
    task = say("quiz_task_analysis", item.language, right=right, student=student or say("quiz_none", item.language))
    return task + say("quiz_analysis_fields", item.language) if shared else task


def point_task(item: QuizItem, point: str) -> str:
    return say("quiz_task_point", item.language, point=clip(point, _POINT_CHARS[item.language]))


def advice_task(item: QuizItem, met: Sequence[str], missing: Sequence[str]) -> str:
    """The task of the last call on a text; which points are met is settled before it."""
    limit = _POINT_CHARS[item.language] // 2
    named = [
        "; ".join(clip(point, limit) for point in points) or say("quiz_none", item.language)
        for points in (met, missing)
    ]
    return say("quiz_task_advice", item.language, met=named[0], missing=named[1])


def text_prompts(
    item: QuizItem, answer: str, tasks: Sequence[str], points: Sequence[str], count: Count
) -> list[list[Message]]:
    """A prompt for each task on one answer, whose `points` are judged. They differ in the task only, so the rest
    is read once, by the calls on the points and by the last one for advice.

    The answer is quoted data; its own fences are taken out.
    """
    question = clip(item.question, 300)
    quoted = _quoted(item, answer, points, count)
    system = Message("system", render("quiz_text", item.language))
    cases = (
        render("quiz_text_case", item.language, question=question, answer=quoted, task=task).strip() for task in tasks
    )
    return [[system, Message("user", case)] for case in cases]


def _quoted(item: QuizItem, answer: str, points: Sequence[str], count: Count) -> str:
    """As much of the answer as leaves room for all tasks on it together."""
    asked = sorted(points, key=len)[-MOST_POINTS:]
    tasks = [*(point_task(item, point) for point in asked), advice_task(item, points, ())]
    quoted = clip(fenced(answer), ANSWER_CHARS[item.language])
    rest = count(render("quiz_text", item.language)) + count(clip(item.question, 300))
    rest += sum(count(task) + TURN_TOKENS for task in tasks)
    while rest + count(quoted) > PROMPT_TOKENS + TASK_TOKENS and len(quoted) > 120:
        quoted = clip(quoted, len(quoted) * 3 // 4)
    return quoted


def fenced(answer: str) -> str:
    """A student's words that cannot close their own quotation marks or open a turn of the conversation."""
    plain = " ".join(answer.split())
    for sign in ("<<<", ">>>", "<|", "|>", "```", "[INST]", "[/INST]"):
        plain = plain.replace(sign, " ")
    return plain
