"""One gate in front of a model: time limits, retries, rate limits, logs (M7).

What a call used (tokens, seconds) is counted by the backend, which knows it;
what happened around the call is counted here, in the same meter.
"""

import logging
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout

import numpy as np
import tenacity

from osrag.errors import ModelFailed
from osrag.models.limits import RateLimit, backoff_s, loggable, passing
from osrag.models.protocols import ChatAbilities, ChatModel, ChatOptions, Encoder, Message, Vectors
from osrag.models.usage import UsageMeter

log = logging.getLogger(__name__)

CHAT_RETRIES, CHAT_PER_S = 2, 5.0
EMBEDDING_RETRIES, EMBEDDING_PER_S, EMBEDDING_S = 3, 10.0, 30.0
BEAT_S = 0.25
GROUP = 64  # passages that share one time limit


class ChatGateway:
    """A ChatModel around a ChatModel. Costs well under a millisecond a call."""

    def __init__(self, model: ChatModel, usage: UsageMeter, *, per_s: float = CHAT_PER_S, base_s: float = 0.5) -> None:
        self._model = model
        self._usage = usage
        self._rate = RateLimit(per_s)
        self._base_s = base_s

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
            spoken, pause_s = False, 0.0
            try:
                for piece in self._timed(messages, options):
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

    def _timed(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """The model's pieces, ended when no first token comes in time."""
        deadline = time.monotonic() + options.first_token_s
        pieces = self._model.stream(messages, options)
        try:
            for piece in pieces:
                yield piece
                if piece:
                    break
                if time.monotonic() > deadline:
                    raise ModelFailed(
                        f"the model gave no first token in {options.first_token_s:.0f} s", hint="ask again in a minute"
                    )
            yield from pieces
        finally:
            pieces.close()

    def prepare(self, prefix: Sequence[Message]) -> None:
        self._model.prepare(prefix)

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def close(self) -> None:
        self._model.close()


def _waiting(seconds: float) -> Generator[str, None, None]:
    """Sleep in beats, so that the reader can leave."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(BEAT_S, left))
        yield ""


def _failure(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


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
        self._base_s = base_s
        self._workers = ThreadPoolExecutor(8, thread_name_prefix="embedding")

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
        return self._in_groups(self._encoder.queries, texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._in_groups(self._encoder.passages, texts)

    def _in_groups(self, embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
        starts = range(0, len(texts), GROUP)
        groups = [self._call(embed, texts[start : start + GROUP]) for start in starts]
        return np.concatenate([np.empty((0, self.dim), np.float32), *groups])

    def _call(self, embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(EMBEDDING_RETRIES + 1),
            wait=lambda state: backoff_s(state.attempt_number, self._base_s, _failure(state)),
            retry=tenacity.retry_if_exception(passing),
            before_sleep=lambda _: self._usage.event("embedding", "retry"),
            reraise=True,
        )
        return retrying(self._once, embed, texts)

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
