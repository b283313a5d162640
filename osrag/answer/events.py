"""What a run tells its reader, in order (U7). A workflow is a generator of these."""

from dataclasses import dataclass, field
from typing import Literal

from osrag.types import Passage, Stage


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Passages of the course material; sent again whenever the set changes."""

    passages: tuple[Passage, ...]
    thought: str  # one line for the reader: what was searched, what was kept
    queries: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    type: Literal["retrieval"] = field(default="retrieval", init=False)


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


@dataclass(frozen=True, slots=True)
class CallPath:
    """The functions of an answer in call order (K5), from the call graph."""

    steps: tuple[PathStep, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()  # (caller, callee)


NO_PATH = CallPath()


@dataclass(frozen=True, slots=True)
class CodeRetrieval:
    """Functions of the kernel; sent again whenever the set changes."""

    passages: tuple[Passage, ...]
    thought: str
    queries: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    version: str = ""  # of the kernel that is indexed: "6.1.192"
    path: CallPath = NO_PATH
    marked: tuple[tuple[int, tuple[int, ...]], ...] = ()  # by passage number: lines that the reply quotes
    type: Literal["code_retrieval"] = field(default="code_retrieval", init=False)


@dataclass(frozen=True, slots=True)
class AnswerChunk:
    """Markdown to append to the textbook answer. Text once sent never changes."""

    text: str
    type: Literal["answer_chunk"] = field(default="answer_chunk", init=False)


@dataclass(frozen=True, slots=True)
class CodeDescriptionChunk:
    """Markdown to append to the kernel explanation."""

    text: str
    type: Literal["code_description_chunk"] = field(default="code_description_chunk", init=False)


@dataclass(frozen=True, slots=True)
class TextbookDone:
    """The textbook answer is whole. `cited` are the passage numbers that hold."""

    text: str
    cited: tuple[int, ...]
    unsupported: int  # generated sentences that were marked
    refused: bool
    stages: tuple[Stage, ...]
    type: Literal["textbook_done"] = field(default="textbook_done", init=False)


@dataclass(frozen=True, slots=True)
class CodeDone:
    """The kernel explanation is whole."""

    text: str
    cited: tuple[int, ...]
    refused: bool
    stages: tuple[Stage, ...]
    unsupported: int = 0  # generated sentences that were marked
    type: Literal["code_done"] = field(default="code_done", init=False)


@dataclass(frozen=True, slots=True)
class Done:
    """Last event of a run that ended well; `text` is the whole reply."""

    text: str
    stages: tuple[Stage, ...]
    type: Literal["done"] = field(default="done", init=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """Something broke. What was shown before stays; `hint` says what to do."""

    message: str
    hint: str
    type: Literal["error"] = field(default="error", init=False)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing new, the model is still reading: a moment at which a reader who has gone is noticed."""

    type: Literal["waiting"] = field(default="waiting", init=False)


Event = (
    Waiting | Retrieval | CodeRetrieval | AnswerChunk | CodeDescriptionChunk | TextbookDone | CodeDone | Done | Failed
)
