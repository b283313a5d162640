"""An encoder for programs that ask about the same texts again and again."""

from collections.abc import Callable, Sequence

import numpy as np

from osrag.models.protocols import Encoder, Vectors

_Kind = tuple[str, str]  # "queries" or "passages", and the text


class Remembering:
    """Embeds each text once, and many at a time where it is told what will be asked."""

    def __init__(self, real: Encoder) -> None:
        self.name, self.revision, self.dim = real.name, real.revision, real.dim
        self._real = real
        self.held: dict[_Kind, Vectors] = {}
        self._wanted: list[_Kind] | None = None  # while foreseeing

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) unit rows."""
        return self._from("queries", texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) unit rows."""
        return self._from("passages", texts)

    def foresee(self, run: Callable[[], object]) -> None:
        """Embed in one go what `run` will ask for; single short texts take ten times as long.

        What it asks for may depend on what it got before, so it is run twice.
        """
        for _ in range(2):
            self._wanted = []
            run()
            wanted, self._wanted = self._wanted, None
            for kind in ("queries", "passages"):
                self._from(kind, [text for one, text in wanted if one == kind])

    def _from(self, kind: str, texts: Sequence[str]) -> Vectors:
        fresh = list(dict.fromkeys(text for text in texts if (kind, text) not in self.held))
        if self._wanted is not None and fresh:
            self._wanted += [(kind, text) for text in fresh]
            return np.ones((len(texts), self.dim), dtype=np.float32)
        if fresh:
            vectors = getattr(self._real, kind)(fresh)
            self.held.update(((kind, text), vector) for text, vector in zip(fresh, vectors, strict=True))
        return np.stack([self.held[kind, text] for text in texts]) if texts else np.zeros((0, self.dim), np.float32)
