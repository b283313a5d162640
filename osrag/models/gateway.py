"""One gate in front of every model: places, rate limits, deadlines, retries, counts and logs (M7)."""

import logging
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.protocols import ChatOptions, Message
from osrag.models.replies import AGAIN, BEAT_S, Slot, Slots, WithoutThinking, flat
from osrag.models.usage import Call, UsageMeter
from osrag.text import clip

log = logging.getLogger(__name__)

Reply = Callable[[Slot, Call], Generator[str, None, None]]
CHAT_RETRIES, CHAT_PER_S = 2, 5.0
LOGGED_CHARS = 200  # of a prompt
LONGEST_S = 8.0  # between two attempts

KEYS = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|ghp|xai)[-_][A-Za-z0-9_\-]{8,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=\-]{8,}"
    r"|(?i:\b(?:api[-_ ]?key|token|secret|password)\b\s*[:=]\s*)\S+"
)


def backoff_s(attempt: int, base_s: float, error: BaseException | None = None) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, or what the server asked for.

    With jitter, so that callers that failed together do not come back together.
    """
    asked = getattr(error, "retry_after_s", None) or 0.0
    return max(min(LONGEST_S, base_s * 2.0 ** (attempt - 1)) * random.uniform(0.75, 1.25), min(LONGEST_S, asked))


def loggable(text: str) -> str:
    """A prompt as a log may show it: keys masked, one line, at most 200 characters."""
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


class ChatGateway:
    """What every call of a chat model goes through. Its own cost is well under a millisecond a call."""

    def __init__(self, slots: int, usage: UsageMeter, *, per_s: float = CHAT_PER_S, base_s: float = 0.5) -> None:
        self.slots = Slots(slots)
        self._usage = usage
        self._rate = RateLimit(per_s)
        self._base_s = base_s  # of the wait before the first retry

    def stream(self, messages: Sequence[Message], options: ChatOptions, reply: Reply) -> Generator[str, None, None]:
        """The pieces of `reply` once a slot is free; an empty piece at every beat of a wait.

        Thoughts at the head of the reply are left out, and a failure that may pass is tried again while
        nothing was said yet. Raises ModelBusy when no slot, and ModelFailed when no first token came within
        `options.first_token_s`. Every attempt is counted, however it ends.
        """
        log.debug("%s: %s", options.purpose, loggable(messages[-1].content if messages else ""))
        wait_s = self._rate.reserve()
        if wait_s:
            self._usage.event(options.purpose, "rate_wait")
            yield from _waiting(wait_s)
        for attempt in range(1, CHAT_RETRIES + 2):
            call = Call(options.purpose)
            try:
                yield from self._once(flat(messages), options, call, reply)
                return
            except ModelFailed as error:
                # A second reply in the middle of the first would be nonsense.
                if call.first_token_s is not None or not error.transient or attempt > CHAT_RETRIES:
                    self._usage.event(options.purpose, "gave_up")
                    log.warning("%s failed: %s", options.purpose, loggable(str(error)))
                    raise
                self._usage.event(options.purpose, "retry")
                log.info("%s: attempt %d: %s", options.purpose, attempt, loggable(str(error)))
                pause_s = backoff_s(attempt, self._base_s, error)
            yield from _waiting(pause_s)

    def _once(self, text: str, options: ChatOptions, call: Call, reply: Reply) -> Generator[str, None, None]:
        """One attempt for the prompt `text`."""
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
            with closing(reply(slot, call)) as pieces:
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
