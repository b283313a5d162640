"""A model's pieces on their way through a check to the reader."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from osrag.answer.clock import Clock
from osrag.models.protocols import ChatModel, ChatOptions, Message


def checked(
    chat: ChatModel,
    prompt: Sequence[Message],
    options: ChatOptions,
    *,
    feed: Callable[[str], str],
    finish: Callable[[], str],
    clock: Clock,
) -> Generator[str, None, None]:
    """What `feed` and at the end `finish` let through, as it comes; "" while the model is still reading."""
    with closing(chat.stream(prompt, options)) as pieces:
        for piece in pieces:
            if not piece:
                yield ""
                continue
            clock.mark_once("first_token")
            text = feed(piece)
            if text:
                yield text
    tail = finish()
    if tail:
        yield tail
