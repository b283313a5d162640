"""What belongs to one visitor (O1), and how often a visitor may ask.

The page keeps a conversation in `gr.State`, so it goes when the visitor goes. The endpoints keep theirs by name.
"""

import time
from collections import deque
from dataclasses import dataclass, field, replace
from threading import Lock

import gradio as gr

from osrag.types import Language, Turn
from osrag.wording import say

MODEL = "model"  # the concurrency id of everything that makes the model work
KEPT_TURNS = 20  # of one conversation; a question is read with the last OSRAG_HISTORY_TURNS of them


@dataclass(frozen=True, slots=True)
class Conversation:
    """The finished exchanges of one visitor, and the threshold that visitor set."""

    turns: tuple[Turn, ...] = ()
    threshold: float | None = None  # None: the operator's

    def with_turn(self, question: str, answer: str) -> "Conversation":
        """The conversation with one more exchange; the oldest makes room."""
        return replace(self, turns=(*self.turns, Turn(question, answer))[-KEPT_TURNS:])

    @property
    def messages(self) -> int:
        """How many messages there were: a question and an answer for each turn."""
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

    def refusal(self, request: gr.Request, language: Language) -> str:
        """How long the visitor behind a request has to wait, as a sentence; "" admits the request and counts it."""
        wait = self.wait_s(request.session_hash or (request.client.host if request.client else ""))
        return say("too_often", language, limit=self.per_minute, seconds=round(wait)) if wait else ""
