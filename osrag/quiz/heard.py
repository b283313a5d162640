"""What the model holds of each point of a text answer: how likely it says Yes before it says anything.

A small model's spoken votes agree with human marks at r 0.2; the chance of its Yes alone at 0.54, and it
adds to what encoder and words know (docs/experiments-quiz.md).
"""

from collections.abc import Iterator, Sequence

from osrag.models.protocols import ChatModel, ChatOptions
from osrag.models.weigh import weigh
from osrag.quiz.prompt import MOST_POINTS, point_task, text_prompts
from osrag.quiz.types import QuizItem
from osrag.wording import say


def heard(
    chat: ChatModel,
    item: QuizItem,
    points: Sequence[str],
    fractions: Sequence[float],
    answer: str,
    *,
    first_token_s: float,
) -> Iterator[tuple[int, float]]:
    """(place of a point, chance that the answer makes it), one after the other. Raises ModelFailed, ModelBusy.

    Of more than `MOST_POINTS` those that encoder and words are least sure of are asked about.
    """
    unsure_first = sorted(range(len(points)), key=lambda place: abs(fractions[place] - 0.5))
    places = sorted(unsure_first[:MOST_POINTS])
    tasks = [point_task(item, points[place]) for place in places]
    words = (say("quiz_yes", item.language), say("quiz_no", item.language))
    options = ChatOptions(first_token_s=first_token_s, purpose="quiz_point")
    for place, prompt in zip(places, text_prompts(item, answer, tasks, points, chat.count_tokens), strict=True):
        yield place, weigh(chat, prompt, words, options)[0]


def vote_word(chance: float) -> str:
    """ "yes", "partly" or "no", for readers of the result."""
    return "yes" if chance >= 0.6 else "partly" if chance >= 0.3 else "no"
