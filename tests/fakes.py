"""Small scripted stand-ins for models."""

import zlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from osrag.index.manifest import EncoderId
from osrag.models.protocols import ChatAbilities, ChatOptions, Message, Vectors
from osrag.text import share_of, tokens


@dataclass(eq=False)
class FakeEncoder:
    """Texts that share words get near vectors: each token is hashed to one direction.

    `embedded` lists every passage that was really embedded, for tests of the cache.
    """

    name: str = "fake"
    revision: str = "fake-1"
    dim: int = 64
    embedded: list[str] = field(default_factory=list)

    @property
    def id(self) -> EncoderId:
        return EncoderId(name=self.name, revision=self.revision, dim=self.dim)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._vectors(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded.extend(texts)
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for token in tokens(text) or [text]:
                row[zlib.crc32(token.encode()) % self.dim] += 1
            row /= max(float(np.linalg.norm(row)), 1e-9)
        return out


class FakePairs:
    """A point is said as far as its words stand in the answer; what stands in the first line is the question."""

    def scores(self, text: str, others: Sequence[str]) -> Vectors:
        shares = [share_of(tokens(other.partition("\n")[2]), tokens(text)) for other in others]
        return np.array([16 * share - 8 for share in shares], np.float32)


@dataclass
class ScriptedChat:
    """A chat model that says what it is told to; raises where the script holds an error.

    `script` is one list of pieces a call; the last one serves for all calls after it.
    """

    script: list[list[str | Exception]]
    name: str = "scripted"
    abilities: ChatAbilities = field(
        default_factory=lambda: ChatAbilities(context_tokens=4096, constrained=True, chain=False, slots=2)
    )
    asked: list[list[Message]] = field(default_factory=list)
    options: list[ChatOptions] = field(default_factory=list)
    closed: int = 0  # streams that their reader left before the end

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        call = min(len(self.asked), len(self.script) - 1)
        self.asked.append(list(messages))
        self.options.append(options)
        return self._pieces(self.script[call])

    def _pieces(self, pieces: list[str | Exception]) -> Generator[str, None, None]:
        try:
            for piece in pieces:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        except GeneratorExit:
            self.closed += 1
            raise

    def prepare(self, prefix: Sequence[Message]) -> None:
        pass

    def count_tokens(self, text: str) -> int:
        return len(text) // 3 + 1

    def close(self) -> None:
        pass
