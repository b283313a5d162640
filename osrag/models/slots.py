"""Which slot of the engine reads which prompt, so that no prompt is read twice."""

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from osrag.models.protocols import Message

REST_S = 2.0  # after hanging up, until the engine has noticed


def flat(messages: Sequence[Message]) -> str:
    """Messages as one text whose beginnings are those of the prompt."""
    return "".join(f"{message.role}\n{message.content}\0" for message in messages)


@dataclass(slots=True)
class Slot:
    """A place in the engine and the prompt that it remembers."""

    id: int
    text: str = ""
    busy: bool = False
    used: float = 0.0
    rests_until: float = 0.0

    def shared(self, text: str) -> int:
        """Characters at the beginning of `text` that this slot has read already."""
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
        """Free a slot that now remembers `text`; `left` when its reader hung up."""
        with self._free:
            slot.busy, slot.text = False, text
            slot.rests_until = time.monotonic() + REST_S if left else 0.0
            self._free.notify()

    def forget(self) -> None:
        """The engine was started anew and remembers nothing."""
        with self._free:
            for slot in self._slots:
                slot.text = ""
