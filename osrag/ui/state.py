"""What belongs to one visitor (O1).

The page keeps a conversation in `gr.State`, so it goes when the visitor goes. The endpoints keep theirs by name.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
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


class Conversations:
    """The conversations of the endpoints, by name. Beyond `most`, the one that was not used for longest makes room.

    Beyond `of_address` of one address, that is one of its own, so nobody alone can have those of others forgotten.
    Safe to use from several threads.
    """

    def __init__(self, most: int, of_address: int) -> None:
        self._most, self._of_address = most, of_address
        self._kept: OrderedDict[str, tuple[str, Conversation]] = OrderedDict()  # with the address that began it
        self._lock = Lock()

    def get(self, name: str) -> Conversation | None:
        """The conversation of a name, None when it is not kept."""
        with self._lock:
            if name not in self._kept:
                return None
            self._kept.move_to_end(name)
            return self._kept[name][1]

    def put(self, name: str, conversation: Conversation, address: str) -> None:
        """Keep a conversation."""
        with self._lock:
            begun_by = self._kept.pop(name, (address, conversation))[0]
            own = [one for one, (whose, _) in self._kept.items() if whose == begun_by]
            if len(own) >= self._of_address:
                del self._kept[own[0]]
            elif len(self._kept) >= self._most:
                self._kept.popitem(last=False)
            self._kept[name] = begun_by, conversation


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
