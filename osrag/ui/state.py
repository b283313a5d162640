"""What belongs to one visitor (O1).

The page keeps a conversation in `gr.State`, so it goes when the visitor goes. The endpoints keep theirs by name.
"""

from dataclasses import dataclass, replace

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
