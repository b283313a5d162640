"""What belongs to one visitor. Kept in `gr.State`, so it goes when the visitor goes (O1)."""

import time
from collections import deque
from dataclasses import dataclass, field, replace
from threading import Lock

from osrag.types import Turn

KEPT_TURNS = 20


@dataclass(frozen=True, slots=True)
class Conversation:
    """The finished exchanges of one visitor, and the threshold that visitor set."""

    turns: tuple[Turn, ...] = ()
    threshold: float | None = None  # None: the operator's

    def with_turn(self, question: str, answer: str) -> "Conversation":
        return replace(self, turns=(*self.turns, Turn(question, answer))[-KEPT_TURNS:])

    def without_last(self) -> "Conversation":
        return replace(self, turns=self.turns[:-1])

    @property
    def messages(self) -> int:
        return 2 * len(self.turns)


@dataclass(slots=True)
class RateLimit:
    """At most `per_minute` questions of one visitor in any minute. Safe from several threads."""

    per_minute: int
    _asked: dict[str, deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def wait_s(self, visitor: str) -> float:
        """Seconds this visitor has to wait; 0 admits the question and counts it."""
        with self._lock:
            now = time.monotonic()
            for key in [key for key, times in self._asked.items() if now - times[-1] > 60]:
                del self._asked[key]
            times = self._asked.setdefault(visitor, deque(maxlen=self.per_minute))
            if len(times) == self.per_minute and now - times[0] < 60:
                return 60 - (now - times[0])
            times.append(now)
            return 0.0
