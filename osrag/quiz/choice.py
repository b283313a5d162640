"""Choice questions: the model finds its own answer from the evidence, then explains the answer of record.

The model tells how likely it holds each option before it says one. A small model prefers a letter, whatever stands
behind it (Zheng et al., arXiv 2309.03882), so the options are turned round from call to call, and the chances are
multiplied: a call that decides outweighs those that say nothing.

With the adapter trained for choices (low rank, Hu et al., arXiv 2106.09685; `bench/fit_choice_adapter.py`) the model
sees several sentences of the book at once. Without it, it loses the sentence that decides among others, so it sees one
sentence in each call (docs/experiments/quiz.md).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from osrag.errors import ModelBusy, ModelFailed
from osrag.lab.solve import Solved, answer_line, sentence
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.structured import weigh
from osrag.quiz.computed_choice import computed_choice
from osrag.quiz.evidence import Binder, Proof
from osrag.quiz.exercise import FALSE, TRUE, Exercise, Option
from osrag.quiz.judgement import Judgement, Step, right_answer
from osrag.quiz.keys import chosen, in_order
from osrag.quiz.prompt import (
    RIGHT_CHARS,
    STUDENT_CHARS,
    ChoiceAnalysis,
    adapter_prompt,
    analysis_task,
    choice_prompt,
    growing,
    hurried,
    lines_for_vote,
    room_for_adapter,
    room_for_passages,
    vote_task,
)
from osrag.text import clip
from osrag.wording import say

ANALYSIS_TOKENS = 360  # of the reply; a longer one is cut, and what was said before the cut counts
TURNS = 3  # calls, each with the options in another order; a long question affords fewer
MOST_TURNED = 8  # options; a longer list takes too long to read in several orders, so it is read once
LEAST = 1e-6  # smallest chance that a call can give to an option; with 0 a single call would outvote the others
HEAT = 1.5  # divides the log odds of the adapter, which is too sure of itself; fitted by likelihood
COMPUTED = 0.97  # chance of an option that equals a result of the lab: 50 of 51 were right (docs/experiments/quiz.md)
HOLDS = 0.5  # where several options may be right, those that are at least so likely are the answer
SENTENCES = 5  # of the book, at most, that the adapter sees, as in training
LEAST_TOKENS = 100  # of sentences; where there is less room, the model is called fewer times
NUMBER_TOKENS = 5  # of `[2] ` and the end of the line
TRUTHS = {"A": TRUE, "B": FALSE}  # what the letters mean when a statement is put as a choice


@dataclass(frozen=True, slots=True)
class Votes:
    """How likely each option is to the model; empty when nothing could be read."""

    chances: Mapping[str, float] = field(default_factory=dict)  # key: chance that it is right
    several: bool = False  # may more than one be right?
    adapter: bool = False  # was the adapter used?
    computed: tuple[Solved, ...] = ()  # by the lab, which then decides instead of the model
    problem: str = ""  # why there is none

    @property
    def keys(self) -> frozenset[str]:
        """The likeliest option; where several may be right all that are likelier than not."""
        if not self.chances:
            return frozenset()
        likeliest = max(self.chances, key=lambda key: self.chances[key])
        held = {key for key, chance in self.chances.items() if chance >= HOLDS} if self.several else set()
        return frozenset(held | {likeliest})

    @property
    def sure(self) -> float:
        """0-1: the chance of the answer by the model's own account, as far as that can be believed."""
        if not self.chances:
            return 0.0
        if not self.several:
            return max(self.chances.values())
        return min(max(chance, 1 - chance) for chance in self.chances.values())


def keyed_steps(keyed: Judgement, proof: Proof, chat: ChatModel | None, options: ChatOptions) -> Iterator[Step]:
    """After the verdict of the key: its analysis first, for the student waits for it.

    The model's own answer, which is for the instructor, comes after it. With prepared reasons none is asked.
    """
    yield Step("evidence", keyed, proof.passages)
    if keyed.exercise.reasons:
        yield Step("done", prepared(keyed, proof), proof.passages)
        return
    options = hurried(options)
    final = keyed
    for final in _analysed(keyed, proof, chat, options):
        yield Step("analysis", final, proof.passages)
    if not final.fallback:  # a model that just failed is not asked again
        own = own_answer(keyed.exercise, proof, chat, options, turns=1)
        agrees = frozenset(final.read_as) == own.keys
        final = (
            replace(final, model_answer=shown(keyed.exercise, own.keys), model_correct=agrees)
            if own.keys
            else replace(final, fallback=own.problem)
        )
    yield Step("done", final, proof.passages)


def prepared(keyed: Judgement, proof: Proof) -> Judgement:
    """The verdict of the key with the prepared reason of each option; of a statement, the mistake and the truth."""
    exercise = keyed.exercise
    said = {reason.key: proof.prepared(reason) for reason in exercise.reasons}
    if not exercise.options:
        told = dict.fromkeys((*keyed.read_as, *keyed.right_keys))
        analysis = "\n\n".join(said[key] for key in told if key in said)
        return replace(keyed, analysis=analysis, knowledge_point=keyed.knowledge_point or proof.section)
    lines = []
    for key, text in said.items():
        verdict = say("quiz_option_right" if key in keyed.right_keys else "quiz_option_wrong", exercise.language)
        lines.append((key, f"{verdict} {text}"))
    return replace(
        keyed,
        analysis=exercise.explanation,
        option_analysis=tuple(lines),
        knowledge_point=keyed.knowledge_point or proof.section,
    )


def free_steps(
    exercise: Exercise,
    answer: str,
    keyed: Judgement | None,
    proof: Proof,
    chat: ChatModel | None,
    options: ChatOptions,
) -> Iterator[Step]:
    """Without a key, or where the operator trusts the model more: its answer, then the analysis of that answer.

    `keyed` is the verdict of the key, where there is one: it stands when the model has no answer.
    """
    own = own_answer(exercise, proof, chat, options)
    picked, known = chosen(exercise, answer), bool(own.keys)
    right = shown(exercise, own.keys)
    verdict = Judgement(
        exercise,
        answer,
        is_correct=known and picked == own.keys,
        confidence=own.sure,
        decided_by="lab" if own.computed else "model" if known else "fallback",
        read_as=in_order(picked, exercise.options),
        correct_answer=right,
        right_keys=in_order(own.keys, exercise.options),
        knowledge_point=exercise.knowledge_point,
        model_answer=right,
        model_correct=picked == own.keys if known else None,
        fallback=own.problem,
    )
    if keyed is not None and not known:
        verdict = replace(keyed, fallback=own.problem)
    yield Step("verdict", verdict, proof.passages)
    final = verdict
    for final in _analysed(verdict, proof, chat, options, own):
        yield Step("analysis", final, proof.passages)
    yield Step("done", final, proof.passages)


def shown(exercise: Exercise, keys: frozenset[str]) -> str:
    """Keys as a student sees them."""
    return right_answer(replace(exercise, answer=in_order(keys, exercise.options))) if keys else ""


def own_answer(
    exercise: Exercise, proof: Proof | None, chat: ChatModel | None, options: ChatOptions, *, turns: int = TURNS
) -> Votes:
    """The answer that the lab computes, else the model's, and how sure it is. `proof` None asks the model bare.

    A model that fails ends the vote; what it said before counts.
    """
    if proof is not None and (found := computed_choice(exercise)):
        return _of_lab(exercise, *found)
    if chat is None:
        return Votes(problem=say("quiz_no_model", exercise.language))
    options = replace(options, purpose="quiz_vote")
    if exercise.type == "multiple_choice":
        return _one_by_one(exercise, proof, chat, options)
    asked = exercise
    reading = reading_of(exercise, proof, turns, chat) if proof else None
    if reading:
        sentences, turns = reading
        asked, options = as_choice(exercise), replace(options, adapter=True)
        prompts = [adapter_prompt(turned_round(asked, turn), sentences) for turn in range(turns)]
    else:
        turns = turns if len(exercise.options) <= MOST_TURNED else 1
        lines = lines_for_vote(exercise, proof, turns, chat.count_tokens)
        prompts = [
            choice_prompt(turned_round(exercise, turn), line, vote_task(exercise, turn))
            for turn, line in enumerate(lines)
        ]
    keys = [option.key for option in asked.options]
    words = keys
    if asked.type == "true_false":
        keys, words = [TRUE, FALSE], _yes_no(exercise)
    logs = np.zeros(len(keys))
    # The best sentence and the options as they stand come last: without the adapter the analysis begins like that.
    for turn in reversed(range(len(prompts))):
        try:
            chances = weigh(chat, prompts[turn], words, options)
        except (ModelFailed, ModelBusy) as error:
            if not logs.any():
                return Votes(adapter=bool(reading), problem=str(error))
            break
        logs += np.roll(np.log(np.maximum(chances, LEAST)), turn) / len(prompts)
    else:
        logs /= HEAT if reading else 1
    shares = np.exp(logs) / np.exp(logs).sum()
    if asked.type != exercise.type:  # a statement that was asked as a choice
        keys = [TRUTHS[key] for key in keys]
    return Votes(dict(zip(keys, map(float, shares), strict=True)), adapter=bool(reading))


def _of_lab(exercise: Exercise, key: str, computed: tuple[Solved, ...]) -> Votes:
    rest = (1 - COMPUTED) / max(1, len(exercise.options) - 1)
    chances = {option.key: COMPUTED if option.key == key else rest for option in exercise.options}
    return Votes(chances, computed=computed)


def _yes_no(exercise: Exercise) -> list[str]:
    return [say("quiz_yes", exercise.language), say("quiz_no", exercise.language)]


def _one_by_one(exercise: Exercise, proof: Proof | None, chat: ChatModel, options: ChatOptions) -> Votes:
    """Each option by itself: does it belong to the answer?"""
    tasks = {one.key: say("quiz_task_option", exercise.language, option=one.key) for one in exercise.options}
    room = room_for_passages(exercise, next(iter(tasks.values())), chat.count_tokens)
    passages = proof.excerpt(room, chat.count_tokens) if proof else ""
    chances: dict[str, float] = {}
    for key, task in tasks.items():
        try:
            chances[key] = weigh(chat, choice_prompt(exercise, passages, task), _yes_no(exercise), options)[0]
        except (ModelFailed, ModelBusy) as error:
            return Votes(problem=str(error))
    return Votes(chances, several=True)


def turned_round(exercise: Exercise, turn: int) -> Exercise:
    """The same exercise with its option texts moved on by `turn` places; the letters stay where they are.

    A statement has no options: the task asks in every other turn whether it is wrong.
    """
    if not turn or exercise.type == "true_false":
        return exercise
    turn %= len(exercise.options)
    texts = [option.text for option in exercise.options]
    moved = zip(exercise.options, texts[turn:] + texts[:turn], strict=True)
    return replace(exercise, options=tuple(Option(option.key, text) for option, text in moved))


def reading_of(exercise: Exercise, proof: Proof, turns: int, chat: ChatModel) -> tuple[list[str], int] | None:
    """The sentences of the book for the adapter, the likeliest to decide first, and the number of calls.

    As much as the budget of tokens affords. None where the model is asked without the adapter: it has none, there are
    many options, or the exercise is too long to be read again for the analysis.
    """
    if not chat.abilities.has_adapter or len(exercise.options) > MOST_TURNED:
        return None
    asked, count = as_choice(exercise), chat.count_tokens
    found = [sentence.text for sentence in proof.deciding(SENTENCES)]
    best = count(found[0]) if found else 0
    turns = min(turns, len(asked.options))
    while turns > 1 and room_for_adapter(asked, best, turns, count) < LEAST_TOKENS:
        turns -= 1
    left = room_for_adapter(asked, best, turns, count) - best
    if left < 0:
        return None
    kept = found[:1]
    for text in found[1:]:
        if (tokens := count(text) + NUMBER_TOKENS) <= left:
            kept.append(text)
            left -= tokens
    return kept, turns


def as_choice(exercise: Exercise) -> Exercise:
    """A statement as a choice between right (A) and wrong (B); a choice as it is."""
    if exercise.type != "true_false":
        return exercise
    words = [say(name, exercise.language).capitalize() for name in ("quiz_true", "quiz_false")]
    options = tuple(Option(letter, word) for letter, word in zip(TRUTHS, words, strict=True))
    return replace(exercise, type="single_choice", options=options)


def _analysed(
    verdict: Judgement, proof: Proof, chat: ChatModel | None, options: ChatOptions, own: Votes | None = None
) -> Iterator[Judgement]:
    """The judgement with the analysis growing in it; the bank's own words where the model fails.

    `own` is the vote that was just taken. Unless the adapter took it, the model continues from the same prompt.
    """
    exercise = verdict.exercise
    if own is not None and own.computed:
        yield _worked(verdict, own.computed, proof)
        return
    base = replace(verdict, reasoning=proof.cited(f"{exercise.question} {verdict.correct_answer}"))
    if chat is None:
        yield _finished(base, proof)
        return
    student = shown(exercise, frozenset(verdict.read_as))
    shared = own is not None and not own.adapter
    right = clip(verdict.correct_answer, RIGHT_CHARS)
    task = analysis_task(exercise, right, clip(student, STUDENT_CHARS), shared=shared)
    if own is not None and exercise.type != "multiple_choice":
        passages = lines_for_vote(exercise, proof, 1, chat.count_tokens)[0]
    else:
        passages = proof.excerpt(room_for_passages(exercise, task, chat.count_tokens), chat.count_tokens)
    options = replace(options, max_tokens=ANALYSIS_TOKENS, temperature=0.2, purpose="quiz_analysis")
    prompt = choice_prompt(exercise, passages, task, analyst=not shared)
    binder = Binder(exercise, proof, verdict.correct_answer)
    try:
        for reply, whole in growing(chat, prompt, ChoiceAnalysis, options):
            found = _with(base, reply, binder, whole=whole) if reply else base
            yield _finished(found, proof) if whole else found
    except (ModelFailed, ModelBusy) as error:
        yield replace(_finished(base, proof), fallback=base.fallback or str(error))


def _worked(verdict: Judgement, computed: tuple[Solved, ...], proof: Proof) -> Judgement:
    """The results of the lab as the reason, and its steps as the analysis."""
    language = verdict.language
    results = "\n".join(answer_line(one, language) for one in computed)
    solutions = [one.solution for one in computed if one.solution is not None]
    steps = "\n\n".join("\n".join(sentence(step, language) for step in one.steps) for one in solutions)
    return replace(verdict, reasoning=results, analysis=steps, knowledge_point=verdict.knowledge_point or proof.section)


def _with(base: Judgement, reply: ChoiceAnalysis, binder: Binder, *, whole: bool) -> Judgement:
    """The model's sentences, each cited or marked; the line of an option only where book or bank support it."""
    keys = {option.key for option in base.exercise.options}
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


def _finished(found: Judgement, proof: Proof) -> Judgement:
    """The whole analysis: the bank's explanation, then the model's words, or the book's where there is neither.

    Each option has its line: whether it is right, then the model's supported words on it, else the book's nearest.
    """
    exercise = found.exercise
    analysis = f"{exercise.explanation}\n\n{found.analysis}".strip()
    if not analysis:
        near = proof.best(f"{exercise.question} {found.correct_answer}")
        analysis = near.text if near else say("quiz_nothing_found", exercise.language)
    said = dict(found.option_analysis)
    few = len(exercise.options) <= MOST_TURNED
    lines = []
    for option in exercise.options:
        verdict = say("quiz_option_right" if found.is_right(option) else "quiz_option_wrong", exercise.language)
        text = said.get(option.key) or (proof.cited_part(option.text) if few else "")
        lines.append((option.key, f"{verdict} {text}".strip()))
    point = found.knowledge_point or proof.section
    return replace(found, analysis=analysis, option_analysis=tuple(lines), knowledge_point=point)
