"""What a chat model is made of: places for replies, replies without thoughts, and items from another thread."""

import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from osrag.errors import ModelFailed
from osrag.models.protocols import Message

T = TypeVar("T")
BEAT_S = 0.25  # a wait yields an empty piece this often, so that a student who left is noticed
STALL_S = 60.0  # of silence in mid-reply after which the model counts as hung
REST_S = 2.0  # after hanging up, until the engine has surely noticed
AGAIN = "ask again in a minute"
OPEN, CLOSE = "<think>", "</think>"


class FellSilent(ModelFailed):
    """The model began a reply and hangs."""


# -- places -------------------------------------------------------------------------------------------


def flat(messages: Sequence[Message]) -> str:
    """Messages as one text whose beginnings are those of the prompt."""
    return "".join(f"{message.role}\n{message.content}\0" for message in messages)


@dataclass(slots=True)
class Slot:
    """A place for one reply at a time, and the prompt that the model remembers there."""

    id: int
    text: str = ""
    busy: bool = False
    used: float = 0.0
    rests_until: float = 0.0

    def shared(self, text: str) -> int:
        """Characters at the beginning of `text` that were read in this slot already."""
        return len(os.path.commonprefix([self.text, text]))


class Slots:
    """Hands out free slots: the one that remembers most of the prompt, the least used among equals."""

    def __init__(self, count: int) -> None:
        self._slots = [Slot(number) for number in range(count)]
        self._free = threading.Condition()

    def __len__(self) -> int:
        return len(self._slots)

    def take(self, text: str, timeout_s: float) -> Slot | None:
        """A slot for the prompt `text`; None when none came free in time."""
        with self._free:
            if not self._free.wait_for(lambda: any(not slot.busy for slot in self._slots), timeout_s):
                return None
            now = time.monotonic()
            free = [slot for slot in self._slots if not slot.busy]
            best = max(free, key=lambda slot: (slot.rests_until <= now, slot.shared(text), -slot.used))
            best.busy, best.used = True, now
            return best

    def give_back(self, slot: Slot, text: str, *, left: bool) -> None:
        """Free a slot that now remembers `text`; `left` when the student hung up."""
        with self._free:
            slot.busy, slot.text = False, text
            slot.rests_until = time.monotonic() + REST_S if left else 0.0
            self._free.notify()

    def forget(self) -> None:
        """The engine was started anew and remembers nothing."""
        with self._free:
            for slot in self._slots:
                slot.text = ""


# -- one reply ----------------------------------------------------------------------------------------


class WithoutThinking:
    """Leaves out `<think>…</think>` at the head of a reply: thoughts are not for the student.

    What may become a tag is held back until it is decided.
    """

    def __init__(self) -> None:
        self._held = ""
        self._open = False  # the reply itself has begun

    def feed(self, piece: str) -> str:
        """Take in a piece of the reply; returns what may be shown now."""
        if self._open:
            return piece
        self._held += piece
        text = self._held
        start = text.lstrip()
        if start.startswith(OPEN):
            text = start.partition(CLOSE)[2].lstrip()
        elif OPEN.startswith(start):
            return ""  # may become a tag
        if text:
            self._open, self._held = True, ""
        return text

    def flush(self) -> str:
        """What was held back when the reply ended. An unfinished thought stays hidden."""
        return "" if self._held.lstrip().startswith(OPEN) else self._held


# -- from one thread to another -----------------------------------------------------------------------


class Inbox(Generic[T]):
    """Items from one thread to another, in order. An error among them is raised where they are read; None ends them."""

    def __init__(self) -> None:
        self._items: queue.SimpleQueue[T | BaseException | None] = queue.SimpleQueue()
        self.put = self._items.put

    def fill(self, produce: Callable[[], Iterable[T]]) -> None:
        """Put in what `produce` yields, its error or the end; for a thread of its own."""
        try:
            for item in produce():
                self.put(item)
            self.put(None)
        except BaseException as error:  # noqa: BLE001 - raised again where the items are read
            self.put(error)

    def paced(self) -> Generator[T | None, None, None]:
        """The items; None at every beat without one. Raises FellSilent `STALL_S` after the last item."""
        last: float | None = None  # time of the last item
        while True:
            try:
                item = self._items.get(timeout=BEAT_S)
            except queue.Empty:
                if last is not None and time.monotonic() - last > STALL_S:
                    raise FellSilent("the chat model fell silent in mid-reply", hint=AGAIN) from None
                yield None
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            last = time.monotonic()
            yield item
