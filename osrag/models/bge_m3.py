"""BGE-M3 through FlagEmbedding (Chen et al., arXiv 2402.03216): dense vectors, and its own keyword weights."""

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from osrag.errors import BadWeights, MissingExtra, ModelFailed
from osrag.models.chat_config import INSTALL
from osrag.models.protocols import Vectors

log = logging.getLogger(__name__)

MAX_TOKENS = 512  # of a chunk; the model reads 8,192
FORMAT = "cls-l2-512-v1"  # changes when the same weights give other vectors
HINT = "ask again; on a card that is full set OSRAG_ENCODER_BACKEND=e5"


@dataclass(frozen=True, slots=True)
class Lexical:
    """The model's own keyword weights of a text, by token id."""

    weights: dict[int, float]

    def score(self, other: "Lexical") -> float:
        """Sum over the tokens that both have, as in the paper (section 3.2)."""
        small, big = sorted((self.weights, other.weights), key=len)
        return sum(weight * big[token] for token, weight in small.items() if token in big)


class BgeM3:
    """An Encoder. Safe from several threads; one batch runs at a time."""

    def __init__(self, folder: Path, *, revision: str, device: str = "cuda", batch: int = 64) -> None:
        try:
            from FlagEmbedding import BGEM3FlagModel
        except ImportError as error:
            raise MissingExtra("the package FlagEmbedding is not installed", hint=INSTALL) from error
        half = device.startswith("cuda")
        try:
            self._model: Any = BGEM3FlagModel(
                str(folder), devices=device, use_fp16=half, normalize_embeddings=True, batch_size=batch
            )
            self._lock = threading.Lock()
            self._revision = f"{revision[:12]}-{FORMAT}"
            self._dim = int(self._encode(["warm"])["dense_vecs"].shape[1])
        except (OSError, RuntimeError, ValueError, KeyError, ModelFailed) as error:
            raise BadWeights(
                f"BGE-M3 cannot be loaded from {str(folder)!r}: {first_line(error)}",
                hint="`python -m osrag fetch --profile gpu` checks the files and fetches what is missing",
            ) from error

    @property
    def name(self) -> str:
        return "bge-m3"

    @property
    def revision(self) -> str:
        return self._revision

    @property
    def dim(self) -> int:
        return self._dim

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows. BGE-M3 wants no prefix."""
        return self.passages(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows, in the order of `texts`."""
        if not texts:
            return np.zeros((0, self._dim), dtype=np.float32)
        vectors = np.asarray(self._encode(texts)["dense_vecs"], dtype=np.float32)
        # Half precision leaves lengths a thousandth off one.
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def lexical(self, texts: Sequence[str]) -> list[Lexical]:
        """The model's keyword weights of each text."""
        if not texts:
            return []
        found = self._encode(texts, sparse=True)["lexical_weights"]
        return [Lexical({int(token): float(weight) for token, weight in entry.items()}) for entry in found]

    def _encode(self, texts: Sequence[str], *, sparse: bool = False) -> Any:
        try:
            with self._lock:
                return self._model.encode(
                    list(texts),
                    max_length=MAX_TOKENS,
                    return_dense=not sparse,
                    return_sparse=sparse,
                    return_colbert_vecs=False,
                )
        except RuntimeError as error:
            raise ModelFailed(f"BGE-M3 failed: {first_line(error)}", hint=HINT) from error


def first_line(error: Exception) -> str:
    """What went wrong in one line; a graphics driver says it in twenty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
