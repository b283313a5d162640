"""What the rest of osrag may ask of a model. Callers ask what a backend can do, never its name."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]  # (rows, dim), unit rows


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it."""

    name: str
    about: str
    parameters: Mapping[str, Any]  # JSON schema of an object


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to have a tool run."""

    id: str
    name: str
    arguments: str  # JSON as the model wrote it, which may be broken


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a prompt."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()  # of the assistant
    answers: str = ""  # of a tool: the id of the call


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How one reply is to be generated."""

    max_tokens: int = 3000
    temperature: float = 0.7
    top_p: float = 0.8
    seed: int | None = None
    schema: Mapping[str, Any] | None = None  # JSON schema the reply must satisfy
    choices: tuple[str, ...] = ()  # only of a model that `weighs`: the reply is their chances, see models/structured.py
    tools: tuple[ToolSpec, ...] = ()  # only of a model that `calls`: the reply may end in calls, see models/tools.py
    must_call: bool = False  # the reply has to be a call
    adapter: bool = False  # use the adapter trained for choices; only if the model `has_adapter`
    first_token_s: float = 60.0  # deadline for the first token
    purpose: str = "answer"  # for the usage counts


@dataclass(frozen=True, slots=True)
class ChatAbilities:
    """What a chat model can do; callers ask for this and never for its name."""

    context_tokens: int  # prompt and reply together
    constrained: bool  # can hold a reply to a JSON schema while generating
    chain: bool  # fast enough for the chain of calls of `deep` by default
    slots: int  # replies generated at once
    weighs: bool = False  # can tell how likely each of `ChatOptions.choices` is, without saying one
    calls: bool = False  # may be given tools, and calls them well enough to be left to it
    has_adapter: bool = False  # carries the adapter that was trained to decide exercises by sentences of the book


class ChatModel(Protocol):
    """A chat model. Safe to call from several threads."""

    @property
    def name(self) -> str: ...

    @property
    def abilities(self) -> ChatAbilities: ...

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply as they are generated; an empty piece now and then while it is waited for.

        An empty piece lets a caller notice that the student has gone.
        Closing the generator stops the model at once. Raises ModelFailed when the
        model dies, ModelBusy when no slot came free in time; what was yielded
        before stays valid text.
        """
        ...

    def prepare(self, prefix: Sequence[Message]) -> None:
        """Read a fixed prefix now, so that prompts which begin with it start sooner. May do nothing."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, counted by the model or estimated from above."""
        ...

    def close(self) -> None:
        """Free what the model holds; later calls fail."""
        ...


class Encoder(Protocol):
    """Text to unit vectors. Queries and passages are prefixed as the model was trained."""

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str:
        """Changes whenever the vectors change; kept in the manifest of an index."""
        ...

    @property
    def dim(self) -> int: ...

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows of questions, in the order of `texts`."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows of what is searched, in the order of `texts`."""
        ...


@runtime_checkable
class TokenEncoder(Encoder, Protocol):
    """An encoder that also tells what it makes of each token of a question."""

    def tokens(self, text: str) -> tuple[Vectors, list[tuple[int, int]]]:
        """(tokens, dim) float32 states, and where each token stands in `text`; one of no place ends at 0 or before."""
        ...


class Reranker(Protocol):
    """A cross-encoder over (query, passage) pairs."""

    @property
    def name(self) -> str: ...

    def scores(self, query: str, passages: Sequence[str]) -> npt.NDArray[np.float32]:
        """(passages,) relevance, higher is better, comparable within one query."""
        ...


class PairEncoder(Protocol):
    """Reads two questions together and says whether they want the same answer. Safe to call from several threads."""

    def scores(self, text: str, others: Sequence[str]) -> npt.NDArray[np.float32]:
        """(others,) log odds that each asks what `text` asks, less the threshold: above 0 it surely does.

        One of `others` may be several questions with one answer.
        """
        ...


def complete(model: ChatModel, messages: Sequence[Message], options: ChatOptions) -> str:
    """The whole reply as one string."""
    return "".join(model.stream(messages, options))
