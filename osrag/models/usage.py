"""What the models did: tokens and times of every call, counted in one place."""

from collections import Counter, defaultdict, deque
from copy import deepcopy
from dataclasses import dataclass
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


class UsageMeter:
    """Thread-safe counts; sums by purpose and the last calls in order."""

    def __init__(self, keep: int = 200) -> None:
        self._lock = Lock()
        self._last: deque[Call] = deque(maxlen=keep)
        self._totals: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def record(self, call: Call) -> None:
        """Count a call that has ended."""
        counted = {
            "calls": 1,
            "failed": call.ended == "failed",
            "prompt_tokens_new": call.prompt_tokens_new,
            "prompt_tokens_cached": call.prompt_tokens_cached,
            "generated": call.generated,
        }
        with self._lock:
            self._last.append(call)
            self._totals[call.purpose].update(counted)

    def event(self, purpose: str, name: str) -> None:
        """Count something that happened around a call: "retry", "rate_wait", "busy" or "gave_up"."""
        with self._lock:
            self._totals[purpose][name] += 1

    def last(self, count: int = 1) -> list[Call]:
        """The last calls, newest last."""
        with self._lock:
            return list(self._last)[-count:]

    def totals(self) -> dict[str, Counter[str]]:
        """A copy of the counts of calls, tokens and events, by purpose."""
        with self._lock:
            return deepcopy(dict(self._totals))
