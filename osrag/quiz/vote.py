"""The model's own answer to a choice question: asked more than once, the options in another order each time.

A small model prefers a letter, whatever stands behind it (Zheng et al., arXiv 2309.03882). Turning the
options round spreads that preference over all of them. Only the options change from turn to turn, so the
prompt cache has the passages and the question; a further turn costs a second or two.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.structured import ask
from osrag.quiz.evidence import Proof
from osrag.quiz.prompt import choice_prompt, vote_task
from osrag.quiz.replies import choice_vote
from osrag.quiz.types import FALSE, TRUE, Option, QuizItem

TURNS = 3  # with more the accuracy did not grow (docs/experiments-quiz.md)
VOTE_TOKENS = 40


@dataclass(frozen=True, slots=True)
class Votes:
    """What the model said, turn by turn; empty when nothing could be read."""

    said: tuple[frozenset[str], ...] = ()
    problem: str = ""  # why a turn is missing

    @property
    def keys(self) -> frozenset[str]:
        """The answer most turns gave, the first among equals; what most turns hold of several."""
        if not self.said:
            return frozenset()
        return Counter(self.said).most_common(1)[0][0]

    @property
    def agreement(self) -> float:
        """0-1, the share of turns that gave it."""
        return sum(said == self.keys for said in self.said) / len(self.said) if self.said else 0.0


def vote(item: QuizItem, proof: Proof | None, chat: ChatModel, *, turns: int, first_token_s: float) -> Votes:
    """At most `turns` answers. `proof` None asks without evidence. A model that fails ends the vote."""
    said: list[frozenset[str]] = []
    for turn in range(turns_of(item, turns)):
        turned = turned_round(item, turn)
        options = ChatOptions(max_tokens=VOTE_TOKENS, temperature=0.0, first_token_s=first_token_s, purpose="quiz_vote")
        try:
            reply = ask(
                chat, choice_prompt(turned, proof, vote_task(item), chat.count_tokens), choice_vote(turned), options
            )
        except (ModelFailed, ModelBusy) as error:
            return Votes(tuple(said), "" if said else str(error))
        said.append(in_place(item, _keys(item, getattr(reply, "answer")), turn))  # noqa: B009
        if _settled(said, turns_of(item, turns)):
            break
    return Votes(tuple(said))


def turns_of(item: QuizItem, turns: int) -> int:
    """A statement has no options to turn; two options have two orders."""
    return min(turns, len(item.options)) if item.type == "single_choice" and len(item.options) <= 8 else 1


def turned_round(item: QuizItem, turn: int) -> QuizItem:
    """The same question with its option texts moved on by `turn` places; the letters stay where they are."""
    if not turn:
        return item
    texts = [option.text for option in item.options]
    moved = texts[turn:] + texts[:turn]
    options = tuple(Option(option.key, text) for option, text in zip(item.options, moved, strict=True))
    return replace(item, options=options)


def in_place(item: QuizItem, keys: frozenset[str], turn: int) -> frozenset[str]:
    """The keys as the question itself has them, from those of its turned form."""
    if not turn:
        return keys
    names = [option.key for option in item.options]
    return frozenset(names[(names.index(key) + turn) % len(names)] for key in keys)


def _settled(said: Sequence[frozenset[str]], turns: int) -> bool:
    """No turn that is left could change the answer."""
    counts = [count for _, count in Counter(said).most_common(2)] + [0]
    return counts[0] > counts[1] + turns - len(said)


def _keys(item: QuizItem, answer: object) -> frozenset[str]:
    if isinstance(answer, bool):
        return frozenset([TRUE if answer else FALSE])
    return frozenset(map(str, answer)) if isinstance(answer, list) else frozenset([str(answer)])
