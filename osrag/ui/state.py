"""What belongs to one visitor (O1).

The page keeps a conversation in `gr.State`, so it goes when the visitor goes. The endpoints keep theirs by name.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from gradio.state_holder import SessionState

from osrag.types import Turn

KEPT_TURNS = 20  # of one conversation; a question is read with the last OSRAG_HISTORY_TURNS of them


@dataclass(frozen=True, slots=True)
class Conversation:
    """The finished exchanges of one visitor, and the threshold that visitor set."""

    turns: tuple[Turn, ...] = ()
    threshold: float | None = None  # None: the operator's

    def with_turn(self, turn: Turn) -> "Conversation":
        """The conversation with one more exchange; the oldest makes room."""
        return replace(self, turns=(*self.turns, turn)[-KEPT_TURNS:])

    @property
    def messages(self) -> int:
        """How many messages there were: a question and an answer for each turn."""
        return 2 * len(self.turns)


_begin = SessionState.__init__


def keep_sessions_small() -> None:
    """Let Gradio's sessions hold what belongs to the visitor, and no copy of the configuration of the whole page.

    Only its deep links read that copy, which osrag has not. It took 18 ms and 330 kB for each of the 10,000 sessions
    that Gradio keeps, and grew with all that was shown; a call over plain HTTP made one of its own.
    """

    def begin(session: Any, page: Any) -> None:
        _begin(session, SimpleNamespace(default_config=page.default_config, blocks=()))

    SessionState.__init__ = begin
    SessionState._update_config = SessionState._update_value_in_config = lambda *_: None
