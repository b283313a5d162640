"""The explanation of an exercise, streamed: 300-500 Chinese characters or 150-300 English words."""

import re
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from osrag.answer.view import passage_json
from osrag.errors import ModelBusy, ModelFailed
from osrag.models.discreet import discreet
from osrag.models.protocols import ChatModel, Message
from osrag.prompts import render
from osrag.quiz.evidence import Binder, Proof
from osrag.quiz.exercise import FALSE, TRUE, Exercise
from osrag.quiz.judge import Judge, checked
from osrag.quiz.judgement import by_key, right_answer
from osrag.quiz.programs.blocks import as_markdown, blocks
from osrag.quiz.prompt import ANSWER_CHARS, PROMPT_TOKENS, WRITING_S, fenced, hurried, option_lines
from osrag.quiz.rows import read_answered
from osrag.text import clip, sentences
from osrag.types import HAN, Chunk, Language, PageRef, Passage
from osrag.wording import say

# Lengths in Chinese characters or English words.
MOST = {"zh": 500, "en": 300}
LEAST = {"zh": 300, "en": 150}
MODEL_MOST = {"zh": 380, "en": 220}  # of the generated part
EXPLAIN_TOKENS = 420  # of the reply, enough for MODEL_MOST
_LEADING = re.compile(
    r"^\s*(#+\s*)?(\*\*)?\s*(解析|讲解|解释|答案解析|explanation|analysis)\s*(\*\*)?\s*[:：]\s*(\*\*)?\s*", re.I
)
# A small model repeats what each paragraph is to be about: "第一段讲正确答案为什么对：", "First paragraph: …".
_ECHO = re.compile(
    r"^\s*(\*\*)?(第[一二三]段[^：:\n]{0,40}|(the )?(first|second|third) paragraph[^:\n]{0,60})[：:]\s*(\*\*)?\s*",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The text so far; whole when `done`."""

    text: str
    passages: tuple[Passage, ...]
    done: bool = False
    fallback: str = ""  # why the model had no part in it


def explain(judge: Judge, exercise: Exercise, answer: str) -> Generator[Explanation, None, None]:
    """Ever longer explanations, the last one `done`. Never fails for want of a model."""
    checked(exercise, answer)
    language = exercise.language
    proof = judge.find(exercise)
    head = opening(exercise, proof)
    if exercise.reasons or exercise.program:
        points = [f"- {point.point}" for point in exercise.rubric] if not exercise.reasons else []
        told = "\n\n".join([head, *prepared(exercise, answer, proof), "\n".join(points), reading(exercise, proof)])
        yield Explanation(told, proof.passages, done=True)
        return
    yield Explanation(head, proof.passages)
    text, problem = "", "" if judge.chat else say("quiz_no_model", language)
    binder = Binder(exercise, proof, right_answer(exercise))
    if judge.chat is not None:
        try:
            for text in _generated(judge, judge.chat, exercise, proof, answer):
                yield Explanation(f"{head}\n\n{binder.bind(text, whole=False)}", proof.passages)
        except (ModelFailed, ModelBusy) as error:
            problem = str(error)
    tail = reading(exercise, proof)
    room = MOST[language] - length(tail, language)
    most = limit = min(room - length(head, language), MODEL_MOST[language])
    body = binder.bind(sentences_within(text, limit, language))
    while limit > 0 and (over := length(body, language) - most) > 0:  # citations and marks count as well
        limit -= over
        body = binder.bind(sentences_within(text, limit, language))
    parts = [head, body]
    for extra in fillers(exercise, answer, proof):
        if length("\n".join([*parts, tail]), language) >= LEAST[language]:
            break
        if extra not in body:
            parts.append(extra)
    whole = "\n\n".join(filter(None, parts))
    if length(whole, language) > room:
        whole = sentences_within(whole, room, language)
    yield Explanation(f"{whole}\n\n{tail}".strip(), proof.passages, done=True, fallback=problem)


def opening(exercise: Exercise, proof: Proof) -> str:
    """Knowledge point and right answer: known before the model starts."""
    point = exercise.knowledge_point or proof.section
    right = right_answer(exercise)
    lines = [f"**{say('quiz_point_label', exercise.language)}** {point}"] if point else []
    if any(code for code, _ in blocks(right)):  # a program stands whole, with its indentation
        return "\n\n".join([*lines, f"**{say('quiz_right_label', exercise.language)}**", as_markdown(right)])
    right = clip(right, 90 if exercise.language == "zh" else 200)
    if right:
        lines.append(f"**{say('quiz_right_label', exercise.language)}** {right}")
    return "  \n".join(lines)


def prepared(exercise: Exercise, answer: str, proof: Proof) -> list[str]:
    """The prepared explanation without a model: what the student chose, then the right options, then the others.

    Of an exercise without options its worked answer.
    """
    language, verdict = exercise.language, by_key(exercise, answer)
    if not exercise.is_choice or verdict is None:
        return [proof.prepared(reason) for reason in exercise.reasons]
    chosen, right = verdict.read_as, verdict.right_keys
    told = {reason.key: proof.prepared(reason) for reason in exercise.reasons}
    ordered = sorted(told, key=lambda key: (not (key in chosen and key not in right), key not in right))
    names = {TRUE: say("quiz_true", language), FALSE: say("quiz_false", language)} if not exercise.options else {}
    lines = []
    for key in ordered:
        said = say("quiz_option_right" if key in right else "quiz_option_wrong", language)
        own = say("quiz_your_choice", language) if key in chosen else ""
        lines.append(f"**{names.get(key, key)}**{own} {said} {told[key]}")
    return lines


def _generated(judge: Judge, chat: ChatModel, exercise: Exercise, proof: Proof, answer: str) -> Iterator[str]:
    """The model's text so far, cleaned; stops the model once there is enough."""
    options = replace(hurried(judge.options), max_tokens=EXPLAIN_TOKENS, temperature=0.3, purpose="quiz_explain")
    text, end = "", time.monotonic() + WRITING_S
    prompt = explain_prompt(exercise, proof, answer, chat)
    with closing(discreet(chat.stream(prompt, options), prompt)) as pieces:
        for piece in pieces:
            text += piece
            cleaned = clean(text)
            yield cleaned
            if length(cleaned, exercise.language) > MODEL_MOST[exercise.language] or time.monotonic() > end:
                return


def explain_prompt(exercise: Exercise, proof: Proof, answer: str, chat: ChatModel) -> list[Message]:
    """The question with its key, the bank's notes and the book's sentences; the student's words quoted as data."""
    language = exercise.language
    verdict = by_key(exercise, answer)
    verdict_name = "open" if verdict is None else "right" if verdict.is_correct else "wrong"
    said = clip(fenced(answer), ANSWER_CHARS[language] // 2)
    values = {
        "question": clip(exercise.question, 400),
        "options": option_lines(exercise),
        "right": clip(right_answer(exercise), 200) or say("quiz_unknown", language),
        "notes": clip(exercise.explanation, 200 if language == "zh" else 400) or say("quiz_unknown", language),
        "answer": said or say("quiz_none", language),
        "verdict": say(f"quiz_verdict_{verdict_name}", language),
    }
    system = render("quiz_explain", language)
    fixed = chat.count_tokens(system) + sum(chat.count_tokens(value) for value in values.values()) + 40
    budget = min(160, PROMPT_TOKENS - fixed)
    passages = proof.excerpt(budget, chat.count_tokens) if budget > 40 else ""
    return [
        Message("system", system),
        Message("user", render("quiz_explain_case", language, passages=passages, **values)),
    ]


def clean(text: str) -> str:
    """Without a leading 解析:, echoes of the task, stray blanks between Chinese characters, runs of empty lines."""
    out = _ECHO.sub("", _LEADING.sub("", text))
    out = re.sub(f"(?<=[{HAN}，。；：！？、])[ \\t\\u3000]+(?=[{HAN}，。；：！？、])", "", out)
    out = re.sub(r"[ \t]+\n", "\n", out)
    return re.sub(r"\n{3,}", "\n\n", out).strip()


def length(text: str, language: Language) -> int:
    """Chinese characters or English words, as a teacher would count them."""
    if language == "zh":
        return len(re.findall(f"[{HAN}]|[A-Za-z0-9_]+", text))
    return len(re.findall(r"[A-Za-z0-9][\w'’-]*", text))


def sentences_within(text: str, most: int, language: Language) -> str:
    """Whole sentences from the start, at most `most` long."""
    out = ""
    for paragraph in clean(text).split("\n\n"):
        between = "\n\n"
        for sentence in sentences(paragraph):
            if length(out + sentence, language) > most:
                return out
            if re.search(r"[.!?。！？][\"'”’」』）)]*$", sentence):  # else it was cut off in the middle
                out = f"{out}{between}{sentence}".strip()
                between = "" if language == "zh" else " "
    return out


def fillers(exercise: Exercise, answer: str, proof: Proof) -> Iterator[str]:
    """What can be said without a model, most useful first."""
    language = exercise.language
    yield exercise.explanation
    verdict = by_key(exercise, answer)
    if verdict is not None and not verdict.is_correct and answer.strip():
        yield say("quiz_mistake", language, said=clip(", ".join(verdict.read_as) or fenced(answer), 60))
    near = proof.best(f"{exercise.question} {right_answer(exercise)}")
    if near:
        yield say("quiz_book_says", language, text=near.text, n=near.passage)
    for option in exercise.options[:6]:
        one = proof.best(option.text)
        if one and one is not near:
            yield f"{option.key}: {one.text} [{one.passage}]"
    for sentence in proof.evidence.best(proof.scores, count=6):
        if sentence is not near:
            yield f"{sentence.text} [{sentence.passage}]"


def reading(exercise: Exercise, proof: Proof) -> str:
    """Which page to read next, and how."""
    first = proof.passages[0].chunk if proof.passages else None
    if not isinstance(first, Chunk) or not isinstance(first.where, PageRef):
        return say("quiz_advice_plain", exercise.language)
    return say(
        "quiz_advice",
        exercise.language,
        book=first.title or first.source,
        section=first.section[-1] if first.section else "",
        page=first.where.label,
    )


def explained(judge: Judge, question: Any, student_answer: Any = None) -> dict[str, Any]:
    """For callers outside: the whole explanation with the passages it cites, as plain data.

    Raises BadInput for a question that cannot be explained.
    """
    exercise, answer = read_answered(question, answer="" if student_answer is None else student_answer)
    found = deque(explain(judge, exercise, answer), maxlen=1).pop()  # the last one is whole
    passages = [passage_json(passage) for passage in found.passages]
    return {"questionId": exercise.id, "explanation": found.text, "fallback": found.fallback, "passages": passages}
