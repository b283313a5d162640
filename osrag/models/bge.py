"""BGE-M3 (Chen et al., arXiv 2402.03216) and bge-reranker-v2-m3, through FlagEmbedding."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from osrag.errors import BadWeights, MissingExtra, ModelFailed
from osrag.models.protocols import Vectors
from osrag.models.transformers_chat import INSTALL, first_line

MAX_TOKENS = 512  # of a chunk, or of query and passage together; the models read 8,192
FORMAT = "cls-l2-512-v1"  # changes when the same weights give other vectors
ENCODER_HINT = "ask again; on a card that is full set OSRAG_ENCODER_BACKEND=e5"
RERANKER_HINT = "OSRAG_RERANKER_BACKEND=none does without it"
CHECK = "`python -m osrag fetch --profile gpu` checks the files"


class BgeM3:
    """An Encoder of dense vectors. Safe from several threads; one batch runs at a time."""

    name = "bge-m3"

    def __init__(self, folder: Path, *, revision: str, device: str = "cuda", batch: int = 64) -> None:
        self._lock = threading.Lock()
        self.revision = f"{revision[:12]}-{FORMAT}"
        with loading("BGE-M3", folder, hint=f"{CHECK} and fetches what is missing"):
            from FlagEmbedding import BGEM3FlagModel

            self._model: Any = BGEM3FlagModel(
                str(folder),
                devices=device,
                use_fp16=device.startswith("cuda"),
                normalize_embeddings=True,
                batch_size=batch,
            )
            self.dim = int(self._encode(["warm"]).shape[1])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows. BGE-M3 wants no prefix."""
        return self.passages(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows, in the order of `texts`."""
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        vectors = self._encode(texts)
        # Half precision leaves lengths a thousandth off one.
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _encode(self, texts: Sequence[str]) -> Vectors:
        try:
            with self._lock:
                found = self._model.encode(list(texts), max_length=MAX_TOKENS)
        except RuntimeError as error:
            raise ModelFailed(f"BGE-M3 failed: {first_line(error)}", hint=ENCODER_HINT) from error
        return np.asarray(found["dense_vecs"], dtype=np.float32)


class BgeReranker:
    """A Reranker: a cross-encoder over (query, passage). Safe from several threads; one batch runs at a time."""

    name = "bge-reranker-v2-m3"

    def __init__(self, folder: Path, *, device: str = "cuda", batch: int = 32) -> None:
        self._lock = threading.Lock()
        with loading("the reranker", folder, hint=f"{CHECK}; {RERANKER_HINT}"):
            from FlagEmbedding import FlagReranker

            self._model: Any = FlagReranker(
                str(folder), devices=device, use_fp16=device.startswith("cuda"), batch_size=batch, max_length=MAX_TOKENS
            )
            self.scores("warm", ["warm"])

    def scores(self, query: str, passages: Sequence[str]) -> npt.NDArray[np.float32]:
        """(passages,) in 0..1, higher is better. Raises ModelFailed when memory or the device gives out."""
        if not passages:
            return np.zeros(0, dtype=np.float32)
        try:
            with self._lock:
                found = self._model.compute_score([(query, passage) for passage in passages], normalize=True)
        except RuntimeError as error:
            raise ModelFailed(f"the reranker failed: {first_line(error)}", hint=RERANKER_HINT) from error
        return np.atleast_1d(np.asarray(found, dtype=np.float32))


@contextmanager
def loading(what: str, folder: Path, *, hint: str) -> Iterator[None]:
    """Raise MissingExtra without FlagEmbedding, and BadWeights for what a damaged folder ends in."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra("the package FlagEmbedding is not installed", hint=INSTALL) from error
    except (OSError, RuntimeError, ValueError, KeyError, ModelFailed) as error:
        raise BadWeights(f"{what} cannot be loaded from {str(folder)!r}: {first_line(error)}", hint=hint) from error
