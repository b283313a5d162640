"""Small scripted stand-ins for models."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from osrag.index.manifest import EncoderId
from osrag.models.protocols import Vectors
from osrag.text import tokens


@dataclass
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
