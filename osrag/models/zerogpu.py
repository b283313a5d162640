"""The chat model on a ZeroGPU Space: the card is lent for the seconds of one call.

The model lies on "cuda" at start (the Space keeps its weights ready to be moved);
each reply runs in a process that the Space forks with a card, so what goes in and
out is plain data. The shorter the duration asked for, the sooner a card is lent.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any

from osrag.errors import MissingExtra
from osrag.models.chat_config import INSTALL, ChatConfig
from osrag.models.lanes import Lanes
from osrag.models.protocols import ChatOptions
from osrag.models.rows import Row
from osrag.models.transformers_nf4 import TransformersChat, load_model
from osrag.models.usage import UsageMeter

PROMPT_TOKENS_PER_S = 2_000.0
TOKENS_PER_S = 25.0  # bfloat16 on a shared card; measured figures are in docs/performance.md
START_S = 5.0
SHORTEST_S, LONGEST_S = 15, 120

Reply = tuple[str, int, str]  # text, tokens so far, how it ended ("" while it runs)


def duration_s(ids: Sequence[int], options: ChatOptions, max_new: int) -> int:
    """Seconds of a card for one reply, with room to spare."""
    need = START_S + len(ids) / PROMPT_TOKENS_PER_S + max_new / TOKENS_PER_S
    return int(min(LONGEST_S, max(SHORTEST_S, need)))


def replies(run: Callable[[Sequence[Row]], None]) -> Callable[..., Generator[Reply, None, None]]:
    """The function that is lent a card: plain data in, plain data out."""

    def reply(ids: list[int], options: ChatOptions, max_new: int) -> Generator[Reply, None, None]:
        row = Row(ids, options, max_new)
        Lanes(run, lanes=1, rows=1).submit(row)
        try:
            for piece in row.inbox.paced(first_s=options.first_token_s):
                yield piece or "", row.generated, ""
            yield "", row.generated, row.ended
        finally:
            row.left.set()

    return reply


def runner(reply: Callable[..., Generator[Reply, None, None]]) -> Callable[[Sequence[Row]], None]:
    """Fill the rows of this process from a reply made in another."""

    def run(rows: Sequence[Row]) -> None:
        for row in rows:
            pieces = reply(row.ids, row.options, row.max_new)
            for text, generated, ended in pieces:
                row.generated = generated
                if text:
                    row.inbox.put(text)
                if row.left.is_set():
                    pieces.close()  # the Space takes the card back
                    break
                if ended:
                    row.ended = ended
            row.inbox.end()

    return run


def load_zerogpu_chat(config: ChatConfig, usage: UsageMeter) -> TransformersChat:
    """Load in bfloat16 and register the function that is lent a card. Call it before the page is launched."""
    try:
        import spaces
    except ImportError as error:
        raise MissingExtra("the package spaces is not installed", hint=INSTALL) from error
    from osrag.models.transformers_generate import Generator as RowGenerator

    generator = RowGenerator(*load_model(config))
    lent: Any = spaces.GPU(replies(generator.run), duration=duration_s)
    lanes = Lanes(runner(lent), lanes=config.slots, rows=1)
    return TransformersChat(generator, lanes, config, usage)
