"""Choice questions: the model finds its own answer from the evidence, then explains the answer of record."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.structured import UnreadableReply, ask, read, schema_of
from osrag.quiz.calibration import choice_confidence
from osrag.quiz.evidence import Proof, option_scores
from osrag.quiz.judgement import Judgement
from osrag.quiz.key import chosen, in_order
from osrag.quiz.prompt import Count, analysis_task, choice_prompt, vote_task
from osrag.quiz.replies import ChoiceAnalysis, choice_vote
from osrag.quiz.types import FALSE, TRUE, QuizItem
from osrag.text import clip
from osrag.wording import say

if TYPE_CHECKING:
    from osrag.quiz.judge import Judge, Step

ANALYSIS_TOKENS = 360
# Of the model's vote against the evidence's. Above a half the vote decides wherever there is one: the
# evidence score of an option alone is near chance (docs/experiments-quiz.md). It speaks in the confidence.
MODEL_WEIGHT = 0.6


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """What is right by the evidence, without the key."""

    keys: frozenset[str]
    confidence: float
    by_model: frozenset[str]  # the model's vote alone; empty when it could not be read
    problem: str = ""  # why the model's vote is missing


def choice_steps(judge: "Judge", item: QuizItem, answer: str, at_once: Judgement | None) -> Iterator["Step"]:
    from osrag.quiz.judge import Step

    proof = judge.find(item)
    if at_once is not None:
        yield Step("evidence", at_once, proof.passages)
    own = own_answer(item, proof, judge.chat, first_token_s=judge.first_token_s)
    verdict = _with_own(item, answer, at_once, own, judge.authority)
    if at_once is None or judge.authority == "model":
        yield Step("verdict", verdict, proof.passages)
    final = verdict
    for final in _analysed(judge, verdict, proof):
        yield Step("analysis", final, proof.passages)
    yield Step("done", final, proof.passages)


def own_answer(
    item: QuizItem, proof: Proof | None, chat: ChatModel | None, *, first_token_s: float = 60.0
) -> OwnAnswer:
    """The answer of model and evidence together. `proof` None asks the model alone."""
    count: Count = chat.count_tokens if chat else len
    voted, problem = frozenset[str](), ""
    if chat is not None:
        schema = choice_vote(item)
        prompt = choice_prompt(item, proof, vote_task(item), count)
        options = ChatOptions(max_tokens=40, temperature=0.0, first_token_s=first_token_s, purpose="quiz_vote")
        try:
            voted = _keys(item, getattr(ask(chat, prompt, schema, options), "answer"))  # noqa: B009
        except (ModelFailed, ModelBusy) as error:
            problem = str(error)
    else:
        problem = say("quiz_no_model", item.language)
    if proof is None or item.type == "true_false" or not item.options:
        return OwnAnswer(voted, choice_confidence(item, voted, {}, proof), voted, problem)
    shares = option_scores(item, proof)
    keys = combine(item, voted, shares)
    return OwnAnswer(keys, choice_confidence(item, voted, shares, proof), voted, problem)


def combine(item: QuizItem, voted: frozenset[str], shares: dict[str, float]) -> frozenset[str]:
    """Model and evidence each have a say; without a vote the evidence speaks alone."""
    if item.type == "multiple_choice":
        return voted or frozenset(key for key, share in shares.items() if share >= 0.8 / len(shares))
    total = {key: (1 - MODEL_WEIGHT) * share + MODEL_WEIGHT * (key in voted) for key, share in shares.items()}
    return frozenset([max(total, key=total.__getitem__)])


def _keys(item: QuizItem, vote: object) -> frozenset[str]:
    if isinstance(vote, bool):
        return frozenset([TRUE if vote else FALSE])
    return frozenset(map(str, vote)) if isinstance(vote, list) else frozenset([str(vote)])


def _with_own(item: QuizItem, answer: str, at_once: Judgement | None, own: OwnAnswer, authority: str) -> Judgement:
    picked = chosen(item, answer)
    known = bool(own.keys)
    agrees = known and picked == own.keys
    model_answer = shown(item, own.keys)
    if at_once is not None and not (authority == "model" and known):
        return replace(
            at_once, model_answer=model_answer, model_correct=agrees if known else None, fallback=own.problem
        )
    return Judgement(
        item,
        answer,
        is_correct=agrees,
        confidence=own.confidence if known else 0.0,
        decided_by="model" if known else "fallback",
        read_as=in_order(picked, item),
        correct_answer=model_answer,
        knowledge_point=item.knowledge_point,
        model_answer=model_answer,
        model_correct=agrees if known else None,
        fallback=own.problem,
    )


def shown(item: QuizItem, keys: frozenset[str]) -> str:
    """Keys as a reader sees them."""
    from osrag.quiz.judge import right_answer

    return right_answer(replace(item, answer=in_order(keys, item))) if keys else ""


def _analysed(judge: "Judge", verdict: Judgement, proof: Proof) -> Iterator[Judgement]:
    """The judgement with the analysis growing in it; the bank's own words where the model fails."""
    chat, item = judge.chat, verdict.item
    base = replace(verdict, reasoning=_reason_of_book(verdict, proof))
    if chat is None:
        yield without_model(base, proof)
        return
    student = shown(item, frozenset(verdict.read_as))
    task = analysis_task(item, clip(verdict.correct_answer, 160), clip(student, 120))
    prompt = choice_prompt(item, proof, task, chat.count_tokens)
    options = ChatOptions(
        max_tokens=ANALYSIS_TOKENS,
        temperature=0.2,
        first_token_s=judge.first_token_s,
        purpose="quiz_analysis",
        schema=schema_of(ChoiceAnalysis) if chat.abilities.constrained else None,
    )
    text = ""
    try:
        with closing(chat.stream(prompt, options)) as pieces:
            for piece in pieces:
                text += piece
                grown = _grown(base, text) if piece else None
                yield grown or base
        yield _filled(base, read(text, ChoiceAnalysis), proof)
    except (ModelFailed, ModelBusy) as error:
        yield replace(without_model(base, proof), fallback=base.fallback or str(error))


def _reason_of_book(verdict: Judgement, proof: Proof) -> str:
    """The sentence of the book that decides, with its number: true whatever the model says."""
    near = proof.best(f"{verdict.item.question} {verdict.correct_answer}")
    return f"{near.text} [{near.passage}]" if near else ""


def _grown(base: Judgement, text: str) -> Judgement | None:
    """What can be read of a reply that is still being written."""
    try:
        return _with(base, read(text, ChoiceAnalysis))
    except UnreadableReply:
        return None


def _with(base: Judgement, reply: ChoiceAnalysis) -> Judgement:
    keys = {option.key for option in base.item.options}
    lines = {line.key: line.text for line in reply.optionAnalysis if line.key in keys and line.text.strip()}
    return replace(
        base,
        reasoning=base.reasoning or reply.reasoning,
        analysis=reply.analysis.strip(),
        knowledge_point=base.knowledge_point or reply.knowledgePoint.strip(),
        option_analysis=tuple(lines.items()),
    )


def _filled(base: Judgement, reply: ChoiceAnalysis, proof: Proof) -> Judgement:
    """The finished analysis: every option has its line, the bank's explanation stands first where there is one."""
    found = _with(base, reply)
    known = dict(found.option_analysis)
    item = base.item
    lines = tuple(
        (option.key, known.get(option.key) or option_line(found, option.key, proof)) for option in item.options
    )
    analysis = f"{item.explanation}\n\n{found.analysis}".strip() if item.explanation else found.analysis
    return replace(
        found,
        analysis=analysis,
        option_analysis=lines,
        knowledge_point=found.knowledge_point or section_of(proof),
    )


def option_line(judgement: Judgement, key: str, proof: Proof) -> str:
    """What can be said of an option without a model: whether it is right, and what the book says nearest to it."""
    item = judgement.item
    option = item.option(key)
    right = f"{key}." in judgement.correct_answer or key in item.answer
    verdict = say("quiz_option_right" if right else "quiz_option_wrong", item.language)
    near = proof.best(option.text) if option and len(item.options) <= 8 else None
    return f"{verdict} {near.text} [{near.passage}]" if near else verdict


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
