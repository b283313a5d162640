"""What the models did: tokens and times of every call, counted in one place."""

from collections import Counter, deque
from copy import deepcopy
from dataclasses import dataclass, field
from threading import Lock


@dataclass(slots=True)
class Call:
    """One call of a model; the backend fills in the counts and `ended` while it runs."""

    purpose: str
    prompt_tokens_new: int = 0  # read by the model for this call
    prompt_tokens_cached: int = 0  # taken from the prompt cache
    generated: int = 0
    first_token_s: float | None = None  # from the start of the call to the first text shown; None when none came
    total_s: float = 0.0
    ended: str = "stopped"  # the student went away, until it is "done", "length" or "failed"

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the prompt, read now or before."""
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
        """Count a call that has ended."""
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
