"""The model's own answer to a choice question: how likely it holds each option, before it says one.

A small model prefers a letter, whatever stands behind it (Zheng et al., arXiv 2309.03882): the options are turned
round from call to call. With the reader (`quiz/reader.py`) it sees several sentences of the book at once. As it
comes it loses the one that decides among others, so it sees one in each call. The chances are multiplied, so that a
call that decides outweighs those that say nothing. What the facts of the book say of the options is a weaker voice
beside it (docs/experiments-quiz.md).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.weigh import weigh
from osrag.quiz.evidence import Proof
from osrag.quiz.prompt import choice_prompt, lines_for_vote, room_for_passages, vote_task
from osrag.quiz.reader import TRUTHS, reading_of, reading_prompt
from osrag.quiz.types import FALSE, TRUE, Option, QuizItem
from osrag.wording import say

TURNS = 3  # calls, each with a sentence of its own; a long question affords fewer
LEAST = 1e-6  # no chance is so small that one call decides against all others
READER_HEAT = 1.5  # by which the log odds of the reader are divided: it is too sure; fitted by likelihood
FACT_ODDS = 15.0  # log odds that a unit of cosine between an option and its nearest fact is worth
HOLDS = 0.5  # chance from which on an option of several is taken


@dataclass(frozen=True, slots=True)
class Votes:
    """What the model holds of each option; empty when nothing could be read."""

    chances: Mapping[str, float] = field(default_factory=dict)  # key: chance that it is right
    several: bool = False  # may more than one be right?
    read: bool = False  # by the reader
    problem: str = ""  # why there is none

    @property
    def keys(self) -> frozenset[str]:
        """The likeliest option; of a question with several right ones all that are likelier than not."""
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


def vote(item: QuizItem, proof: Proof | None, chat: ChatModel, *, turns: int, first_token_s: float) -> Votes:
    """`proof` None asks without evidence. A model that fails ends the vote; what it said before counts."""
    options = ChatOptions(first_token_s=first_token_s, purpose="quiz_vote")
    if item.type == "multiple_choice":
        return _one_by_one(item, proof, chat, options)
    reading = reading_of(item, proof, turns, chat) if proof else None
    if reading:
        asked, options = reading.asked, replace(options, adapter=True)
        prompts = [reading_prompt(turned_round(asked, turn), reading.sentences) for turn in range(reading.turns)]
    else:
        asked = item
        lines = lines_for_vote(item, proof, turns_of(item, turns), chat.count_tokens)
        prompts = [
            choice_prompt(turned_round(item, turn), line, vote_task(item, turn)) for turn, line in enumerate(lines)
        ]
    totals: dict[str, float] = {}
    # The best sentence and the options as they stand come last: without the reader the analysis begins like that.
    for turn in reversed(range(len(prompts))):
        keys, words = _choices(turned_round(asked, turn), turn)
        try:
            chances = weigh(chat, prompts[turn], words, options)
        except (ModelFailed, ModelBusy) as error:
            problem = "" if totals else str(error)
            return Votes(_named(_shares(totals), item, asked), problem=problem, read=bool(reading))
        for key, chance in zip(keys, chances, strict=True):
            own = in_place(asked, key, turn)
            totals[own] = totals.get(own, 0.0) + math.log(max(chance, LEAST)) / len(prompts)
    for key, nearness in (proof.nearness if proof else {}).items():
        totals[key] += FACT_ODDS * nearness
    if reading:
        totals = {key: value / READER_HEAT for key, value in totals.items()}
    return Votes(_named(_shares(totals), item, asked), read=bool(reading))


def _named(chances: Mapping[str, float], item: QuizItem, asked: QuizItem) -> dict[str, float]:
    """The chances by the keys of `item`, where a statement was `asked` as a choice."""
    return dict(chances) if asked.type == item.type else {TRUTHS[key]: chance for key, chance in chances.items()}


def _shares(logs: Mapping[str, float]) -> dict[str, float]:
    """Chances that add up to one, from their logarithms."""
    chances = {key: math.exp(value) for key, value in logs.items()}
    whole = sum(chances.values())
    return {key: chance / whole for key, chance in chances.items()}


def _choices(item: QuizItem, turn: int) -> tuple[list[str], list[str]]:
    """The keys and the words that stand for them in a reply."""
    if item.type == "true_false":
        keys = [FALSE, TRUE] if turn % 2 else [TRUE, FALSE]
        return keys, [say("quiz_yes", item.language), say("quiz_no", item.language)]
    keys = [option.key for option in item.options]
    return keys, keys


def _one_by_one(item: QuizItem, proof: Proof | None, chat: ChatModel, options: ChatOptions) -> Votes:
    """Each option by itself: does it belong to the answer?"""
    yes_no = [say("quiz_yes", item.language), say("quiz_no", item.language)]
    chances: dict[str, float] = {}
    tasks = [say("quiz_task_option", item.language, option=option.key) for option in item.options]
    passages = proof.excerpt(room_for_passages(item, tasks[0], chat.count_tokens), chat.count_tokens) if proof else ""
    for option, task in zip(item.options, tasks, strict=True):
        try:
            prompt = choice_prompt(item, passages, task)
            chances[option.key] = weigh(chat, prompt, yes_no, options)[0]
        except (ModelFailed, ModelBusy) as error:
            return Votes(problem=str(error))
    return Votes(chances, several=True)


def turns_of(item: QuizItem, turns: int) -> int:
    """A list of options too long to read again and again is read once."""
    return turns if len(item.options) <= 8 else 1


def turned_round(item: QuizItem, turn: int) -> QuizItem:
    """The same question with its option texts moved on by `turn` places; the letters stay where they are.

    A statement has no options: the task asks whether it is wrong in every other turn.
    """
    if not turn or item.type == "true_false":
        return item
    turn %= len(item.options)
    texts = [option.text for option in item.options]
    moved = texts[turn:] + texts[:turn]
    options = tuple(Option(option.key, text) for option, text in zip(item.options, moved, strict=True))
    return replace(item, options=options)


def in_place(item: QuizItem, key: str, turn: int) -> str:
    """The key as the question itself has it, from that of its turned form."""
    if not turn or item.type == "true_false":
        return key
    names = [option.key for option in item.options]
    return names[(names.index(key) + turn) % len(names)]
