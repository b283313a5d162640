"""One gate in front of every model: places, rate limits, deadlines, retries, counts and logs (M7).

With what the backends behind it share: replies without thoughts, and items from another thread.
"""

import logging
import os
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, TypeVar

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatOptions, Message
from osrag.models.usage import Call, UsageMeter
from osrag.settings import Settings
from osrag.text import clip

log = logging.getLogger(__name__)

T = TypeVar("T")
BEAT_S = 0.25  # a wait yields an empty piece this often, so that a student who left is noticed
STALL_S = 60.0  # of silence in mid-reply after which the model counts as hung
REST_S = 2.0  # after hanging up, until the engine has surely noticed
AGAIN = "ask again in a minute"
OPEN, CLOSE = "<think>", "</think>"
LOGGED_CHARS = 200  # of a prompt
LONGEST_S = 8.0  # between two attempts

KEYS = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|ghp|xai)[-_][A-Za-z0-9_\-]{8,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=\-]{8,}"
    r"|(?i:\b(?:api[-_ ]?key|token|secret|password)\b\s*[:=]\s*)\S+"
)


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


# -- the gate ---------------------------------------------------------------------------------------


Reply = Callable[[Sequence[Message], ChatOptions, Slot, Call], Generator[str, None, None]]


def backoff_s(attempt: int, base_s: float, error: BaseException | None = None) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, or what the server asked for.

    With jitter, so that callers that failed together do not come back together.
    """
    asked = getattr(error, "retry_after_s", None) or 0.0
    return max(min(LONGEST_S, base_s * 2.0 ** (attempt - 1)) * random.uniform(0.75, 1.25), min(LONGEST_S, asked))


def loggable(text: str) -> str:
    """What a server said, as a log may show it: keys masked, one line, at most 200 characters."""
    # Masked before it is cut: half a key at the cut would no longer look like one.
    return clip(" ".join(KEYS.sub("***", text[: LOGGED_CHARS * 10]).split()), LOGGED_CHARS)


class RateLimit:
    """At most `per_s` calls a second, with a burst of one second's worth. Thread-safe."""

    def __init__(self, per_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._clock = clock
        self._lock = threading.Lock()
        self._credit = per_s
        self._seen = clock()

    def reserve(self) -> float:
        """Take a place; returns the seconds to wait before using it."""
        with self._lock:
            now = self._clock()
            self._credit = min(self._per_s, self._credit + (now - self._seen) * self._per_s)
            self._seen = now
            self._credit -= 1
            return max(0.0, -self._credit / self._per_s)


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a model is called."""

    per_s: float  # calls a second, at most
    retries: int  # after a failure that may pass


CHAT_PACE = Pace(per_s=5.0, retries=2)  # the defaults of the settings


def chat_pace(settings: Settings) -> Pace:
    """How often the chat model is called."""
    return Pace(settings.chat_per_s, settings.chat_retries)


class ChatGateway:
    """What every call of a chat model goes through. Its own cost is well under a millisecond a call."""

    def __init__(self, slots: int, usage: UsageMeter, pace: Pace = CHAT_PACE, *, base_s: float = 0.5) -> None:
        self.slots = Slots(slots)
        self._usage = usage
        self._rate = RateLimit(pace.per_s)
        self._retries = pace.retries
        self._base_s = base_s  # of the wait before the first retry

    def stream(self, messages: Sequence[Message], options: ChatOptions, reply: Reply) -> Generator[str, None, None]:
        """The pieces of `reply` once a slot is free; an empty piece at every beat of a wait.

        Thoughts at the head of the reply are left out, and a failure that may pass is tried again while
        nothing was said yet. Raises ModelBusy when no slot, and ModelFailed when no first token came within
        `options.first_token_s`. Every attempt is counted, however it ends.
        """
        log.debug("%s: a prompt of %d characters", options.purpose, sum(len(one.content) for one in messages))
        wait_s = self._rate.reserve()
        if wait_s:
            self._usage.event(options.purpose, "rate_wait")
            yield from _waiting(wait_s)
        for attempt in range(1, self._retries + 2):
            call = Call(options.purpose)
            try:
                yield from self._once(messages, options, call, reply)
                return
            except ModelFailed as error:
                # A second reply in the middle of the first would be nonsense.
                if call.first_token_s is not None or not error.transient or attempt > self._retries:
                    self._usage.event(options.purpose, "gave_up")
                    log.warning("%s failed: %s", options.purpose, loggable(str(error)))
                    raise
                self._usage.event(options.purpose, "retry")
                log.info("%s: attempt %d: %s", options.purpose, attempt, loggable(str(error)))
                pause_s = backoff_s(attempt, self._base_s, error)
            yield from _waiting(pause_s)

    def _once(
        self, messages: Sequence[Message], options: ChatOptions, call: Call, reply: Reply
    ) -> Generator[str, None, None]:
        """One attempt."""
        text = flat(messages)
        start = time.monotonic()
        deadline = start + options.first_token_s
        while (slot := self.slots.take(text, BEAT_S)) is None:
            yield ""
            if time.monotonic() > deadline:
                self._usage.event(options.purpose, "busy")
                raise ModelBusy(
                    f"all {len(self.slots)} places of the model were taken for {options.first_token_s:.0f} s",
                    hint=AGAIN,
                )
        shown = WithoutThinking()
        try:
            with closing(reply(messages, options, slot, call)) as pieces:
                for piece in pieces:
                    said = shown.feed(piece)
                    if said and call.first_token_s is None:
                        call.first_token_s = time.monotonic() - start
                    if call.first_token_s is None and time.monotonic() > deadline:
                        raise ModelFailed("the chat model gave no first token in time", hint=AGAIN)
                    yield said
            if rest := shown.flush():
                yield rest
        except Exception:
            call.ended = "failed"
            raise
        finally:
            # What a slot holds of a prompt that was not read to its end is not known. A reply may also
            # be whole without a word: after a prepared prefix the model may have nothing to say.
            known = text if call.first_token_s is not None or call.ended in ("done", "length") else ""
            self.slots.give_back(slot, known, left=call.ended == "stopped")
            call.total_s = time.monotonic() - start
            self._usage.record(call)


def _waiting(seconds: float) -> Generator[str, None, None]:
    """Sleep in beats, so that a student who left is noticed."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(BEAT_S, left))
        yield ""
