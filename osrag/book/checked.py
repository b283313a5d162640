"""Cosines on the scale that thresholds were fitted on, for a search whose own encoder has another scale.

The confidence of a search rests on cosines of multilingual-e5, which lie between 0.75 and 0.95
for nearly all pairs. Another encoder spreads them differently, and every question would look
unanswerable. So the few best hits are compared once more, by the encoder the figures are of.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from osrag.book.chunking import search_text
from osrag.models.protocols import Encoder, Vectors
from osrag.types import Chunk

CHECKED = 8  # best hits that are compared
KEPT = 4096  # vectors of passages that are kept


class Checker:
    """Safe to call from several threads."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def cosines(self, query: str, chunks: Sequence[Chunk]) -> list[float]:
        """Of each chunk with the question, in order."""
        if not chunks:
            return []
        with self._lock:
            vectors = {chunk.id: self._kept[chunk.id] for chunk in chunks if chunk.id in self._kept}
        missing = {chunk.id: search_text(chunk) for chunk in chunks if chunk.id not in vectors}
        if missing:
            made = dict(zip(missing, self.encoder.passages(list(missing.values())), strict=True))
            vectors |= made
            with self._lock:
                self._kept.update(made)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        vector = self.encoder.queries([query])[0]
        return [float(vectors[chunk.id] @ vector) for chunk in chunks]
