"""One gate in front of a model: retries, rate limits, time limits of embeddings, logs (M7).

What a call used (tokens, seconds) is counted by the backend, which knows it, and so is the deadline of
the first token; what happened around the call is counted here, in the same meter.
"""

import logging
import random
import re
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import closing

import numpy as np
import tenacity

from osrag.errors import ModelFailed
from osrag.models.protocols import ChatAbilities, ChatModel, ChatOptions, Encoder, Message, Vectors
from osrag.models.replies import BEAT_S
from osrag.models.usage import UsageMeter

log = logging.getLogger(__name__)

CHAT_RETRIES, CHAT_PER_S = 2, 5.0
EMBEDDING_RETRIES, EMBEDDING_PER_S, EMBEDDING_S = 3, 10.0, 30.0
GROUP = 64  # passages that share one time limit
LOGGED_CHARS = 200  # of a prompt
LONGEST_S = 8.0  # between two attempts

KEYS = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|ghp|xai)[-_][A-Za-z0-9_\-]{8,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=\-]{8,}"
    r"|(?i:\b(?:api[-_ ]?key|token|secret|password)\b\s*[:=]\s*)\S+"
)


def passing(error: BaseException) -> bool:
    """May the same call succeed a moment later? (A served model: 429, 500, 502, 503.)"""
    return isinstance(error, ModelFailed) and error.transient


def backoff_s(attempt: int, base_s: float, error: BaseException | None = None) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, or what the server asked for.

    With jitter, so that callers that failed together do not come back together.
    """
    asked = getattr(error, "retry_after_s", None) or 0.0
    return max(min(LONGEST_S, base_s * 2.0 ** (attempt - 1)) * random.uniform(0.75, 1.25), min(LONGEST_S, asked))


def loggable(text: str) -> str:
    """A prompt as a log may show it: keys masked, one line, at most 200 characters."""
    # Masked before it is cut: half a key at the cut would no longer look like one.
    line = " ".join(KEYS.sub("***", text[: LOGGED_CHARS * 10]).split())
    return line if len(line) <= LOGGED_CHARS else line[: LOGGED_CHARS - 1] + "…"


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
    """A ChatModel around a ChatModel. Costs well under a millisecond a call."""

    def __init__(self, model: ChatModel, usage: UsageMeter, *, per_s: float = CHAT_PER_S, base_s: float = 0.5) -> None:
        self._model = model
        self._usage = usage
        self._rate = RateLimit(per_s)
        self._base_s = base_s
        self.prepare = model.prepare
        self.count_tokens = model.count_tokens
        self.close = model.close

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def abilities(self) -> ChatAbilities:
        return self._model.abilities

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """As the model's own, retried while nothing was said yet."""
        log.debug("%s: %s", options.purpose, loggable(messages[-1].content if messages else ""))
        wait_s = self._rate.reserve()
        if wait_s:
            self._usage.event(options.purpose, "rate_wait")
            yield from _waiting(wait_s)
        for attempt in range(1, CHAT_RETRIES + 2):
            spoken = False
            try:
                with closing(self._model.stream(messages, options)) as pieces:
                    for piece in pieces:
                        spoken = spoken or bool(piece)
                        yield piece
                return
            except ModelFailed as error:
                # A second reply in the middle of the first would be nonsense.
                if spoken or not passing(error) or attempt > CHAT_RETRIES:
                    self._usage.event(options.purpose, "failed")
                    log.warning("%s failed: %s", options.purpose, loggable(str(error)))
                    raise
                self._usage.event(options.purpose, "retry")
                log.info("%s: attempt %d: %s", options.purpose, attempt, loggable(str(error)))
                pause_s = backoff_s(attempt, self._base_s, error)
            yield from _waiting(pause_s)


def _waiting(seconds: float) -> Generator[str, None, None]:
    """Sleep in beats, so that a student who left is noticed."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(BEAT_S, left))
        yield ""


class EncoderGateway:
    """An Encoder around a served Encoder.

    The embedded encoder does without: it has no net that fails and no operator
    whose limits it could hurt.
    """

    def __init__(
        self,
        encoder: Encoder,
        usage: UsageMeter,
        *,
        per_s: float = EMBEDDING_PER_S,
        limit_s: float = EMBEDDING_S,
        base_s: float = 0.5,
    ) -> None:
        self._encoder = encoder
        self._usage = usage
        self._rate = RateLimit(per_s)
        self._limit_s = limit_s
        self._workers = ThreadPoolExecutor(8, thread_name_prefix="embedding")
        self._retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(EMBEDDING_RETRIES + 1),
            wait=lambda state: backoff_s(state.attempt_number, base_s, _failure(state)),
            retry=tenacity.retry_if_exception(passing),
            before_sleep=lambda _: usage.event("embedding", "retry"),
            reraise=True,
        )

    @property
    def name(self) -> str:
        return self._encoder.name

    @property
    def revision(self) -> str:
        return self._encoder.revision

    @property
    def dim(self) -> int:
        return self._encoder.dim

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim), as the encoder's own, with limits and retries."""
        return self._in_groups(self._encoder.queries, texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim), as the encoder's own, with limits and retries."""
        return self._in_groups(self._encoder.passages, texts)

    def _in_groups(self, embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
        groups = [
            self._retrying.copy()(self._once, embed, texts[start : start + GROUP])
            for start in range(0, len(texts), GROUP)
        ]
        return np.concatenate([np.empty((0, self.dim), np.float32), *groups])

    def _once(self, embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
        wait_s = self._rate.reserve()
        if wait_s:
            self._usage.event("embedding", "rate_wait")
            time.sleep(wait_s)
        job = self._workers.submit(embed, texts)
        try:
            return job.result(self._limit_s)
        except FutureTimeout as error:
            job.cancel()
            self._usage.event("embedding", "failed")
            raise ModelFailed(f"the encoder gave no answer in {self._limit_s:.0f} s", hint="try again") from error


def _failure(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
