"""Fill-in and short answers: points one by one, each judged by encoder, words and model; the sum is arithmetic."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.structured import UnreadableReply, read, schema_of
from osrag.quiz.bound import Binder
from osrag.quiz.calibration import text_confidence
from osrag.quiz.choice import section_of
from osrag.quiz.evidence import Proof
from osrag.quiz.grader import Grader, PointMatch, key_points
from osrag.quiz.heard import heard, vote_word
from osrag.quiz.judgement import PASS, Judgement, PointResult
from osrag.quiz.orders import without_orders
from osrag.quiz.prompt import advice_task, text_prompts
from osrag.quiz.replies import TextAnalysis
from osrag.quiz.types import QuizItem, RubricPoint
from osrag.wording import say

if TYPE_CHECKING:
    from osrag.quiz.judge import Judge, Step

TEXT_TOKENS = 300
BELIEVED = 0.25  # share of full marks from which on the model's words about the answer are shown
MET = 0.6  # of a point: from here on it counts as made


def text_steps(judge: "Judge", item: QuizItem, answer: str, at_once: Judgement | None) -> Iterator["Step"]:
    from osrag.quiz.judge import Step

    if at_once is not None:  # a fill-in with a key
        proof = judge.find(item)
        final = _blank_analysis(at_once, proof)
        yield Step("evidence", final, proof.passages)
        yield Step("done", final, proof.passages)
        return
    proof = judge.find(item)
    points, grounded = rubric_of(item, proof)
    matched = matches_of(judge.grader, item, [point.point for point in points], answer)
    first = _judgement(judge.grader, item, answer, points, matched, {}, proof, grounded)
    yield Step("verdict", replace(first, preliminary=judge.chat is not None and bool(answer.strip())), proof.passages)
    final = first
    if not without_orders(answer):
        final = _nothing_said(first)
    elif judge.chat is None:
        final = replace(first, fallback=say("quiz_no_model", item.language))
    else:
        for final in _with_model(judge, judge.chat, first, points, matched, proof, grounded):
            yield Step("analysis", final, proof.passages)
    yield Step("done", replace(final, preliminary=False), proof.passages)


def rubric_of(item: QuizItem, proof: Proof) -> tuple[tuple[RubricPoint, ...], bool]:
    """The points to judge by, and whether they come from the teacher: rubric, else reference, else book."""
    if item.rubric:
        return item.rubric, True
    given = "\n".join(item.answer).replace("|", " / ") if item.type == "fill_blank" else item.reference
    if given.strip():
        return tuple(RubricPoint(text, 1.0) for text in key_points(given)), True
    found = proof.key_points()
    return tuple(RubricPoint(text, 1.0) for text in found), False


def matches_of(grader: Grader, item: QuizItem, points: Sequence[str], answer: str) -> list[PointMatch]:
    """What each point finds in the answer, by encoder and words."""
    if item.rubric:
        return grader.points(item.question, points, answer, reference=item.reference)
    return grader.statements(item.question, points, answer)


def _judgement(
    grader: Grader,
    item: QuizItem,
    answer: str,
    points: Sequence[RubricPoint],
    matched: Sequence[PointMatch],
    chances: Mapping[int, float],
    proof: Proof,
    grounded: bool,
) -> Judgement:
    fractions = grader.with_model(matched, chances, rubric=bool(item.rubric))
    results = []
    for place, (point, match, fraction) in enumerate(zip(points, matched, fractions, strict=True)):
        near = proof.best(point.point)
        results.append(
            PointResult(
                point.point,
                point.points,
                earned=earned(fraction, point.points),
                said=match.said if fraction >= 0.3 else "",
                proof=near.text if near else "",
                passage=near.passage if near else None,
                model=vote_word(chances[place]) if place in chances else "",
            )
        )
    # A small model says Yes to an answer about the weather too: of what is beside the question it is not heard.
    heard_of = chances if any(match.near for match in matched) else {}
    votes = [heard_of.get(place, fraction) for place, fraction in enumerate(fractions)]
    found = Judgement(
        item,
        answer,
        is_correct=False,
        confidence=text_confidence(fractions, votes, grounded=grounded),
        decided_by="rubric",
        correct_answer=item.reference or "\n".join(point.point for point in points),
        knowledge_point=item.knowledge_point or section_of(proof),
        points=tuple(results),
    )
    return replace(found, is_correct=bool(points) and found.share >= PASS, reasoning=_reasoning(found))


def earned(fraction: float, points: float) -> float:
    """Points for a fraction: to the nearest quarter of a point, as a marker would give them."""
    step = 0.25 if points >= 1 else points / 4
    value = min(points, round(fraction * points / step) * step)
    return points if fraction >= 0.95 else value


def _reasoning(judgement: Judgement) -> str:
    """Which points are met, in one sentence; arithmetic, not the model's."""
    language = judgement.language
    met = sum(point.earned >= 0.75 * point.points for point in judgement.points)
    return say(
        "quiz_points_line",
        language,
        met=met,
        count=len(judgement.points),
        score=f"{judgement.score:g}",
        full=f"{judgement.full_marks:g}",
    )


def _with_model(
    judge: "Judge",
    chat: ChatModel,
    first: Judgement,
    points: Sequence[RubricPoint],
    matched: Sequence[PointMatch],
    proof: Proof,
    grounded: bool,
) -> Iterator[Judgement]:
    """The judgement after the model was heard on every point, then with its advice; without them where it fails."""
    item, answer = first.item, without_orders(first.student_answer)
    chances: dict[int, float] = {}
    settled = first
    texts, fractions = [point.point for point in points], [match.fraction for match in matched]
    try:
        for place, chance in heard(chat, item, texts, fractions, answer, first_token_s=judge.first_token_s):
            chances[place] = chance
            yield replace(first, preliminary=True)
        settled = _judgement(judge.grader, item, first.student_answer, points, matched, chances, proof, grounded)
        yield settled
        yield from _advised(judge, chat, settled, answer, Binder(item, proof, ""))
    except (ModelFailed, ModelBusy) as error:
        yield fallen_back(settled, str(error))


def _advised(judge: "Judge", chat: ChatModel, settled: Judgement, answer: str, binder: Binder) -> Iterator[Judgement]:
    """The model's words about the answer, growing; which points are met is no longer its matter."""
    made, missing = made_and_missing(settled)
    points = [point.point for point in settled.points]
    task = advice_task(settled.item, made, missing)
    (prompt,) = text_prompts(settled.item, answer, [task], points, chat.count_tokens)
    options = ChatOptions(
        max_tokens=TEXT_TOKENS,
        temperature=0.2,
        first_token_s=judge.first_token_s,
        purpose="quiz_text",
        schema=schema_of(TextAnalysis) if chat.abilities.constrained else None,
    )
    text = ""
    with closing(chat.stream(prompt, options)) as pieces:
        for piece in pieces:
            text += piece
            grown = _grown(settled, text, binder) if piece else None
            yield grown or settled
    yield _worded(settled, read(text, TextAnalysis), binder)


def _grown(settled: Judgement, text: str, binder: Binder) -> Judgement | None:
    try:
        return _worded(settled, read(text, TextAnalysis), binder)
    except UnreadableReply:
        return None


def _worded(judgement: Judgement, reply: TextAnalysis, binder: Binder) -> Judgement:
    """With what the model says of the answer, as far as bank or book support it; the rest is left out.

    Praise for an answer that earned next to nothing would contradict the marks beside it.
    """
    words = binder.supported(reply.analysis) if judgement.share >= BELIEVED else ""
    return replace(
        judgement,
        analysis=words or said_line(judgement),
        suggestions=binder.supported(reply.improvementSuggestions) or missing_line(judgement),
    )


def fallen_back(first: Judgement, why: str) -> Judgement:
    """Q3: encoder and words stand; where even they are unsure the student has the benefit of the doubt."""
    return replace(
        first,
        confidence=0.5,
        decided_by="fallback",
        is_correct=first.is_correct or first.share >= 0.4,
        analysis=said_line(first),
        suggestions=missing_line(first),
        fallback=why,
        preliminary=False,
    )


def made_and_missing(judgement: Judgement) -> tuple[list[str], list[str]]:
    """The points that count as made, and the others, by name."""
    made = [point.point for point in judgement.points if point.earned >= MET * point.points]
    return made, [point.point for point in judgement.points if point.earned < MET * point.points]


def said_line(judgement: Judgement) -> str:
    """The points that are made, by name."""
    made, _ = made_and_missing(judgement)
    if not made:
        return say("quiz_none_met", judgement.language)
    return say("quiz_said", judgement.language, points="; ".join(made))


def missing_line(judgement: Judgement) -> str:
    """The points that are missing, by name: what to add."""
    _, missing = made_and_missing(judgement)
    if not missing:
        return say("quiz_all_met", judgement.language)
    return say("quiz_missing", judgement.language, points="; ".join(missing))


def _nothing_said(first: Judgement) -> Judgement:
    """An empty answer, or one that only talks to the marker: no points, and no doubt about it."""
    empty = tuple(replace(point, earned=0.0, said="") for point in first.points)
    zero = replace(first, points=empty, is_correct=False, confidence=0.95, preliminary=False)
    said = say("quiz_empty_answer" if not first.student_answer.strip() else "quiz_orders_only", first.language)
    return replace(zero, reasoning=_reasoning(zero), analysis=said, suggestions=missing_line(zero))


def _blank_analysis(found: Judgement, proof: Proof) -> Judgement:
    """A fill-in with a key needs no model: the book's sentence and the bank's words say why."""
    near = proof.best(f"{found.item.question} {found.correct_answer}")
    proven = f"{near.text} [{near.passage}]" if near else ""
    wrong = [str(n) for n, ok in enumerate(found.blanks, start=1) if not ok]
    hint = say("quiz_blanks_wrong", found.language, blanks=", ".join(wrong)) if wrong else ""
    return replace(
        found,
        reasoning=proven,
        analysis=found.item.explanation or proven,
        knowledge_point=found.knowledge_point or section_of(proof),
        suggestions=hint or say("quiz_all_met", found.language),
    )
