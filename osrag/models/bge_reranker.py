"""bge-reranker-v2-m3 through FlagEmbedding: a cross-encoder over (query, passage)."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from osrag.errors import BadWeights, MissingExtra, ModelFailed
from osrag.models.bge_m3 import first_line
from osrag.models.chat_config import INSTALL

MAX_TOKENS = 512  # of query and passage together
HINT = "OSRAG_RERANKER_BACKEND=none does without it"


class BgeReranker:
    """A Reranker. Safe from several threads; one batch runs at a time."""

    def __init__(self, folder: Path, *, device: str = "cuda", batch: int = 32) -> None:
        try:
            from FlagEmbedding import FlagReranker
        except ImportError as error:
            raise MissingExtra("the package FlagEmbedding is not installed", hint=INSTALL) from error
        self._lock = threading.Lock()
        try:
            self._model: Any = FlagReranker(
                str(folder), devices=device, use_fp16=device.startswith("cuda"), batch_size=batch, max_length=MAX_TOKENS
            )
            self.scores("warm", ["warm"])
        except (OSError, RuntimeError, ValueError, KeyError, ModelFailed) as error:
            raise BadWeights(
                f"the reranker cannot be loaded from {str(folder)!r}: {first_line(error)}",
                hint=f"`python -m osrag fetch --profile gpu` checks the files; {HINT}",
            ) from error

    @property
    def name(self) -> str:
        return "bge-reranker-v2-m3"

    def scores(self, query: str, passages: Sequence[str]) -> npt.NDArray[np.float32]:
        """(passages,) in 0..1, higher is better. Raises ModelFailed when memory or the device gives out."""
        if not passages:
            return np.zeros(0, dtype=np.float32)
        try:
            with self._lock:
                found = self._model.compute_score([(query, passage) for passage in passages], normalize=True)
        except RuntimeError as error:
            raise ModelFailed(f"the reranker failed: {first_line(error)}", hint=HINT) from error
        return np.atleast_1d(np.asarray(found, dtype=np.float32))
