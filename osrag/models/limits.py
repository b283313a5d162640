"""Small parts of the gateway: which failures pass, how fast one may call, what a log may show."""

import random
import re
import threading
import time
from collections.abc import Callable

from osrag.errors import ModelFailed

LOGGED_CHARS = 200
LONGEST_S = 8.0  # between two attempts

KEYS = re.compile(
    r"\b(?:sk|pk|rk|hf|gsk|ghp|xai)[-_][A-Za-z0-9_\-]{8,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=\-]{8,}"
    r"|(?i:\b(?:api[-_ ]?key|token|secret|password)\b\s*[:=]\s*)\S+"
)


class Transient(ModelFailed):
    """A failure that the same call, made again a little later, may not meet."""

    transient = True


def passing(error: BaseException) -> bool:
    """May the same call succeed a moment later? (A served model: 429, 500, 502, 503.)"""
    return isinstance(error, ModelFailed) and bool(getattr(error, "transient", False))


def backoff_s(attempt: int, base_s: float, error: BaseException | None = None) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, or what the server asked for.

    With jitter, so that callers that failed together do not come back together.
    """
    asked = getattr(error, "retry_after_s", None) or 0.0
    return max(min(LONGEST_S, base_s * 2.0 ** (attempt - 1)) * random.uniform(0.75, 1.25), min(LONGEST_S, asked))


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


def loggable(text: str) -> str:
    """A prompt as a log may show it: keys masked, one line, at most 200 characters."""
    # Masked before it is cut: half a key at the cut would no longer look like one.
    line = " ".join(KEYS.sub("***", text[: LOGGED_CHARS * 10]).split())
    return line if len(line) <= LOGGED_CHARS else line[: LOGGED_CHARS - 1] + "…"
