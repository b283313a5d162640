"""What a run tells the visitor, in order (U7). A workflow is a generator of these."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from osrag.types import Passage, SourceName, Stage

# How an answer came about: written beforehand, put together from sentences of the source, computed, written by the
# model, quoted because no model runs, or not given.
How = Literal["prepared", "composed", "computed", "generated", "extracts", "refused"]


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of an answer, and the passages that bear it out."""

    text: str
    passages: tuple[int, ...]  # numbers; empty where nothing bears it out
    verbatim: bool  # word for word from a passage
    quote: str = ""  # words of the passage that who prepared the sentence rests it on


@dataclass(frozen=True, slots=True)
class PathStep:
    """One function of a reading path."""

    number: int  # of its passage
    name: str
    file: str
    line: int  # where it begins
    depth: int  # of the call, 0 at a start
    called_by: str
    via: tuple[str, ...]  # functions between the two that are not part of the answer
    kind: str = "call"  # how it is reached; another kind than a call is a key of the interface table: "edge_timer"


@dataclass(frozen=True, slots=True)
class CallPath:
    """The functions of an answer in call order (K5), from the call graph or from a walk-through."""

    steps: tuple[PathStep, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()  # (caller, callee)
    indirect: tuple[tuple[str, str, str], ...] = ()  # of the edges, those that are no calls, with their kind


NO_PATH = CallPath()


@dataclass(frozen=True, slots=True)
class Called:
    """A tool was called, by the model or by the server in its place."""

    name: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]  # as the model sees it, cut to what it may read; `error` where the call was refused
    seconds: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The passages that an answer rests on; sent again whenever the set changes."""

    source: SourceName
    passages: tuple[Passage, ...]
    thought: str  # one line for the visitor: what was searched, what was kept
    queries: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    # Only of the kernel:
    version: str = ""  # of the kernel that is indexed: "6.1.192"
    path: CallPath = NO_PATH
    marked: tuple[tuple[int, tuple[int, ...]], ...] = ()  # by passage number: the lines that the reply quotes
    # Only of the book:
    in_linux: tuple[tuple[int, str], ...] = ()  # by passage number: the walk-through that shows it at work


@dataclass(frozen=True, slots=True)
class Token:
    """Markdown to append to the reply. Text once sent never changes."""

    source: SourceName
    text: str


@dataclass(frozen=True, slots=True)
class SourceDone:
    """The part of one source is whole. `cited` are the passage numbers that hold."""

    source: SourceName
    text: str
    cited: tuple[int, ...]
    how: How
    stages: tuple[Stage, ...]
    statements: tuple[Said, ...] = ()  # in the order of the text
    unsupported: int = 0  # claims of the model that were marked
    further: tuple[str, ...] = ()  # questions to ask next, of which it is known that they have an answer

    @property
    def refused(self) -> bool:
        """Whether nothing was found that answers."""
        return self.how == "refused"


@dataclass(frozen=True, slots=True)
class Done:
    """Last event of a run that ended well; `text` is the whole reply, `how` that of the first part that answers."""

    text: str
    stages: tuple[Stage, ...]
    how: How
    statements: tuple[Said, ...] = ()  # of all sources
    further: tuple[str, ...] = ()  # questions to ask next


@dataclass(frozen=True, slots=True)
class Failed:
    """Something broke. What was shown before stays; `hint` says what to do."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing new, the model is still reading: a moment at which we notice that a visitor has gone."""


Event = Called | Retrieved | Token | SourceDone | Done | Failed | Waiting

_NAMES = {
    (Called, ""): "tool_call",
    (Retrieved, "textbook"): "retrieval",
    (Retrieved, "kernel"): "code_retrieval",
    (Token, "textbook"): "answer_chunk",
    (Token, "kernel"): "code_description_chunk",
    (SourceDone, "textbook"): "textbook_done",
    (SourceDone, "kernel"): "code_done",
    (Done, ""): "done",
    (Failed, ""): "error",
    (Waiting, ""): "waiting",
}


def event_name(event: Event) -> str:
    """The name of an event in JSON, as U7 lists them."""
    return _NAMES[type(event), getattr(event, "source", "")]
