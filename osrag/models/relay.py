"""A reply made by one thread and read by another, with deadlines: what backends that block have in common."""

import contextvars
import queue
import threading
import time
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

from osrag.errors import ModelFailed

T = TypeVar("T")
BEAT_S = 0.25  # a wait yields this often, so that the reader can leave
STALL_S = 60.0  # silence between two pieces that means the model hangs
AGAIN = "ask again in a minute"


class _End:
    """The last item of every inbox."""


class Inbox(Generic[T]):
    """Items from one thread to another, in order. The maker's error reaches the reader, whatever it is."""

    def __init__(self) -> None:
        self._items: queue.SimpleQueue[T | BaseException | _End] = queue.SimpleQueue()

    def put(self, item: T) -> None:
        self._items.put(item)

    def fail(self, error: BaseException) -> None:
        self._items.put(error)

    def end(self) -> None:
        self._items.put(_End())

    def paced(self, *, first_s: float, stall_s: float = STALL_S) -> Generator[T | None, None, None]:
        """The items; None at every beat without one. Raises ModelFailed when a deadline passes.

        `first_s` is the time until the first item, `stall_s` between two of them.
        """
        deadline = time.monotonic() + first_s
        begun = False
        while True:
            try:
                item = self._items.get(timeout=max(0.001, min(BEAT_S, deadline - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    what = "fell silent in mid-reply" if begun else "gave no first token in time"
                    raise ModelFailed(f"the chat model {what}", hint=AGAIN) from None
                yield None
                continue
            if isinstance(item, _End):
                return
            if isinstance(item, BaseException):
                raise item
            begun = True
            deadline = time.monotonic() + stall_s
            yield item


class Relay(Inbox[T]):
    """An inbox that a thread of its own fills by `produce`."""

    def __init__(self, produce: Callable[[Callable[[T], None]], None], *, name: str) -> None:
        super().__init__()
        self._produce = produce
        # The context goes along: who asks is known by it.
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(self._run,), name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._produce(self.put)
        except BaseException as error:  # noqa: BLE001 - raised again in the reader's thread
            self.fail(error)
        else:
            self.end()

    def join(self, timeout_s: float) -> None:
        """Give the thread a moment to be gone."""
        self._thread.join(timeout_s)
