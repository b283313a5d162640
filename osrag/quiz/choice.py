"""Choice questions: the model finds its own answer from the evidence, then explains the answer of record."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.structured import UnreadableReply, read, schema_of
from osrag.quiz.bound import Binder
from osrag.quiz.evidence import Proof
from osrag.quiz.judgement import Judgement
from osrag.quiz.key import chosen, in_order
from osrag.quiz.prompt import (
    RIGHT_CHARS,
    STUDENT_CHARS,
    analysis_prompt,
    analysis_task,
    lines_for_vote,
    room_for_passages,
)
from osrag.quiz.replies import ChoiceAnalysis
from osrag.quiz.types import QuizItem
from osrag.quiz.vote import TURNS, Votes, vote
from osrag.text import clip
from osrag.wording import say

if TYPE_CHECKING:
    from osrag.quiz.judge import Judge, Step

ANALYSIS_TOKENS = 360


def choice_steps(judge: "Judge", item: QuizItem, answer: str, at_once: Judgement | None) -> Iterator["Step"]:
    if at_once is not None and judge.authority == "key":
        yield from _by_key(judge, item, at_once)
    else:
        yield from _by_model(judge, item, answer, at_once)


def _by_key(judge: "Judge", item: QuizItem, at_once: Judgement) -> Iterator["Step"]:
    """The analysis of the key first: the student waits for it. The model's own answer, for the instructor, after it."""
    from osrag.quiz.judge import Step

    proof = judge.find(item)
    yield Step("evidence", at_once, proof.passages)
    final = at_once
    for final in _analysed(judge, at_once, proof):
        yield Step("analysis", final, proof.passages)
    if not final.fallback:  # a model that just failed is not asked again
        own = own_answer(item, proof, judge.chat, turns=1, first_token_s=judge.first_token_s)
        final = _beside_key(final, own)
    yield Step("done", final, proof.passages)


def _by_model(judge: "Judge", item: QuizItem, answer: str, at_once: Judgement | None) -> Iterator["Step"]:
    """Without a key, or where the operator trusts the model more: its answer, then the analysis of that answer."""
    from osrag.quiz.judge import Step

    proof = judge.find(item)
    own = own_answer(item, proof, judge.chat, first_token_s=judge.first_token_s)
    if at_once is not None and not own.keys:
        verdict = replace(at_once, fallback=own.problem)
    else:
        verdict = _own_verdict(item, answer, own)
    yield Step("verdict", verdict, proof.passages)
    final = verdict
    for final in _analysed(judge, verdict, proof, own):
        yield Step("analysis", final, proof.passages)
    yield Step("done", final, proof.passages)


def own_answer(
    item: QuizItem, proof: Proof | None, chat: ChatModel | None, *, turns: int = TURNS, first_token_s: float = 60.0
) -> Votes:
    """The model's answer and how sure it is. `proof` None asks it without evidence."""
    if chat is None:
        return Votes(problem=say("quiz_no_model", item.language))
    return vote(item, proof, chat, turns=turns, first_token_s=first_token_s)


def _beside_key(judgement: Judgement, own: Votes) -> Judgement:
    """The verdict of the key with what the model would have said."""
    if not own.keys:
        return replace(judgement, fallback=own.problem)
    agrees = frozenset(judgement.read_as) == own.keys
    return replace(judgement, model_answer=shown(judgement.item, own.keys), model_correct=agrees)


def _own_verdict(item: QuizItem, answer: str, own: Votes) -> Judgement:
    picked = chosen(item, answer)
    known = bool(own.keys)
    agrees = known and picked == own.keys
    return Judgement(
        item,
        answer,
        is_correct=agrees,
        confidence=own.sure if known else 0.0,
        decided_by="model" if known else "fallback",
        read_as=in_order(picked, item),
        correct_answer=shown(item, own.keys),
        right_keys=in_order(own.keys, item),
        knowledge_point=item.knowledge_point,
        model_answer=shown(item, own.keys),
        model_correct=agrees if known else None,
        fallback=own.problem,
    )


def shown(item: QuizItem, keys: frozenset[str]) -> str:
    """Keys as a reader sees them."""
    from osrag.quiz.judge import right_answer

    return right_answer(replace(item, answer=in_order(keys, item))) if keys else ""


def _analysed(judge: "Judge", verdict: Judgement, proof: Proof, own: Votes | None = None) -> Iterator[Judgement]:
    """The judgement with the analysis growing in it; the bank's own words where the model fails.

    `own`: the vote that was just taken. Unless the reader took it, the model goes on from the same words.
    """
    chat, item = judge.chat, verdict.item
    base = replace(verdict, reasoning=_reason_of_book(verdict, proof))
    if chat is None:
        yield without_model(base, proof)
        return
    student = shown(item, frozenset(verdict.read_as))
    shared = own is not None and not own.read
    task = analysis_task(item, clip(verdict.correct_answer, RIGHT_CHARS), clip(student, STUDENT_CHARS), shared=shared)
    if own is not None and item.type != "multiple_choice":
        passages = lines_for_vote(item, proof, 1, chat.count_tokens)[0]
    else:
        passages = proof.excerpt(room_for_passages(item, task, chat.count_tokens), chat.count_tokens)
    prompt = analysis_prompt(item, passages, task, shared=shared)
    options = ChatOptions(
        max_tokens=ANALYSIS_TOKENS,
        temperature=0.2,
        first_token_s=judge.first_token_s,
        purpose="quiz_analysis",
        schema=schema_of(ChoiceAnalysis) if chat.abilities.constrained else None,
    )
    text = ""
    binder = Binder(item, proof, verdict.correct_answer)
    try:
        with closing(chat.stream(prompt, options)) as pieces:
            for piece in pieces:
                text += piece
                grown = _grown(base, text, binder) if piece else None
                yield grown or base
        yield _filled(base, read(text, ChoiceAnalysis), proof, binder)
    except (ModelFailed, ModelBusy) as error:
        yield replace(without_model(base, proof), fallback=base.fallback or str(error))


def _reason_of_book(verdict: Judgement, proof: Proof) -> str:
    """The sentence of the book that decides, with its number: true whatever the model says."""
    near = proof.best(f"{verdict.item.question} {verdict.correct_answer}")
    return f"{near.text} [{near.passage}]" if near else ""


def _grown(base: Judgement, text: str, binder: Binder) -> Judgement | None:
    """What can be read of a reply that is still being written."""
    try:
        return _with(base, read(text, ChoiceAnalysis), binder, whole=False)
    except UnreadableReply:
        return None


def _with(base: Judgement, reply: ChoiceAnalysis, binder: Binder, *, whole: bool) -> Judgement:
    """The model's sentences, each cited or marked; the line of an option only where book or bank support it."""
    keys = {option.key for option in base.item.options}
    named = [(line.key.partition(".")[0].strip(), line.text.strip()) for line in reply.optionAnalysis]  # also "A. text"
    lines = [(key, text) for key, text in named if key in keys]
    known = {key: binder.supported(text) for key, text in (lines if whole else lines[:-1])}  # the last one grows
    return replace(
        base,
        reasoning=base.reasoning or binder.bind(reply.reasoning.strip()),
        analysis=binder.bind(reply.analysis.strip(), whole=whole or bool(lines)),
        knowledge_point=base.knowledge_point or reply.knowledgePoint.strip(),
        option_analysis=tuple((key, text) for key, text in known.items() if text),
    )


def _filled(base: Judgement, reply: ChoiceAnalysis, proof: Proof, binder: Binder) -> Judgement:
    """The finished analysis: every option has its line, the bank's explanation stands first where there is one."""
    found = _with(base, reply, binder, whole=True)
    known = dict(found.option_analysis)
    item = base.item
    lines = tuple((option.key, _led(found, option.key, known.get(option.key, ""), proof)) for option in item.options)
    analysis = f"{item.explanation}\n\n{found.analysis}".strip() if item.explanation else found.analysis
    return replace(
        found,
        analysis=analysis,
        option_analysis=lines,
        knowledge_point=found.knowledge_point or section_of(proof),
    )


def _led(judgement: Judgement, key: str, text: str, proof: Proof) -> str:
    """The line of an option: right or not by the key, then the model's supported words, else the book's."""
    return f"{_verdict_on(judgement, key)} {text}" if text else option_line(judgement, key, proof)


def option_line(judgement: Judgement, key: str, proof: Proof) -> str:
    """What can be said of an option without a model: whether it is right, and what the book says nearest to it."""
    item = judgement.item
    option = item.option(key)
    near = proof.best_part(option.text) if option and len(item.options) <= 8 else None
    verdict = _verdict_on(judgement, key)
    return f"{verdict} {near[0]} [{near[1]}]" if near else verdict


def _verdict_on(judgement: Judgement, key: str) -> str:
    option = judgement.item.option(key)
    right = option is not None and judgement.is_right(option)
    return say("quiz_option_right" if right else "quiz_option_wrong", judgement.language)


def without_model(base: Judgement, proof: Proof) -> Judgement:
    """An analysis from bank and book alone."""
    item = base.item
    near = proof.best(f"{item.question} {base.correct_answer}")
    return replace(
        base,
        analysis=item.explanation or (near.text if near else say("quiz_nothing_found", item.language)),
        knowledge_point=base.knowledge_point or section_of(proof),
        option_analysis=tuple((option.key, option_line(base, option.key, proof)) for option in item.options),
    )


def section_of(proof: Proof) -> str:
    """The innermost heading of the first passage: a knowledge point where the question names none."""
    chunk = proof.passages[0].chunk if proof.passages else None
    section = getattr(chunk, "section", ())
    return str(section[-1]) if section else ""
