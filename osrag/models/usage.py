"""What the models did: tokens and times of every call, counted in one place."""

from collections import Counter, deque
from copy import deepcopy
from dataclasses import dataclass, field
from threading import Lock


@dataclass(frozen=True, slots=True)
class Call:
    """One finished (or stopped, or failed) call of a model."""

    purpose: str
    prompt_tokens_new: int  # read by the model for this call
    prompt_tokens_cached: int  # taken from the prompt cache
    generated: int
    first_token_s: float | None  # from the start of the call; None when none came
    total_s: float
    ended: str = "done"  # "done", "length", "stopped" (the student went away), "failed"

    @property
    def prompt_tokens(self) -> int:
        return self.prompt_tokens_new + self.prompt_tokens_cached


@dataclass(slots=True)
class Totals:
    """Sums over the calls of one purpose."""

    calls: int = 0
    failed: int = 0
    prompt_tokens_new: int = 0
    prompt_tokens_cached: int = 0
    generated: int = 0
    total_s: float = 0.0
    events: Counter[str] = field(default_factory=Counter)  # "retry", "rate_wait", "busy"


class UsageMeter:
    """Thread-safe counts; totals by purpose and the last calls in order."""

    def __init__(self, keep: int = 200) -> None:
        self._lock = Lock()
        self._last: deque[Call] = deque(maxlen=keep)
        self._totals: dict[str, Totals] = {}

    def record(self, call: Call) -> None:
        with self._lock:
            self._last.append(call)
            totals = self._totals.setdefault(call.purpose, Totals())
            totals.calls += 1
            totals.failed += call.ended == "failed"
            totals.prompt_tokens_new += call.prompt_tokens_new
            totals.prompt_tokens_cached += call.prompt_tokens_cached
            totals.generated += call.generated
            totals.total_s += call.total_s

    def event(self, purpose: str, name: str) -> None:
        """Count something that happened around a call, such as a retry."""
        with self._lock:
            self._totals.setdefault(purpose, Totals()).events[name] += 1

    def last(self, count: int = 1) -> list[Call]:
        """The last calls, newest last."""
        with self._lock:
            return list(self._last)[-count:]

    def totals(self) -> dict[str, Totals]:
        """A copy of the sums, by purpose."""
        with self._lock:
            return deepcopy(self._totals)
