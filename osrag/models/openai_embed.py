"""Embeddings of an OpenAI-compatible server."""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from osrag.errors import ModelFailed
from osrag.models.openai_server import OtherModel, Server, same_model
from osrag.models.protocols import Vectors

log = logging.getLogger(__name__)

BATCH = 32  # texts of one request; every server takes that many
MAX_CHARS = 8000  # 8,192 tokens are the common limit; no chunk is longer
PROBE = "osrag: the scheduler picks the next task; 调度器选择下一个任务。"
SAME = 0.99  # cosine of the probe with itself, kept from an earlier start: rounding leaves more


class OpenAIEncoder:
    """An Encoder behind a URL. Queries of e5 and Qwen3 models get the prefix they were trained with."""

    def __init__(self, server: Server, model: str, *, timeout_s: float = 30.0) -> None:
        self._server = server
        self._model = model
        self._client: Any = server.client.with_options(timeout=timeout_s)
        self._query, self._passage = prefixes(model)
        self.probe = self._embed([PROBE])[0]  # (dim,)

    @property
    def name(self) -> str:
        return self._model

    @property
    def revision(self) -> str:
        """A served model has none of its own: see `check_probe` for one that was swapped."""
        return f"served-{hashlib.sha256(f'{self._model} {self._query} {self._passage}'.encode()).hexdigest()[:12]}"

    @property
    def dim(self) -> int:
        return len(self.probe)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._query + text for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._passage + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows: list[Vectors] = []
        for start in range(0, len(texts), BATCH):
            # Some servers refuse an empty string.
            batch = [text[:MAX_CHARS] or " " for text in texts[start : start + BATCH]]
            with self._server.failures():
                reply = self._client.embeddings.create(model=self._model, input=batch, encoding_format="float")
                data = sorted(reply.data, key=lambda entry: entry.index)
                vectors = np.array([entry.embedding for entry in data], dtype=np.float32)
            rows.append(self._checked(vectors, len(batch), str(reply.model or "")))
        return np.concatenate(rows) if rows else np.zeros((0, self.dim), dtype=np.float32)

    def _checked(self, vectors: Vectors, count: int, answered: str) -> Vectors:
        if not same_model(self._model, answered):
            raise OtherModel(
                f"the server at {self._server.url} embedded with {answered!r}, not {self._model!r}",
                hint=f"set OSRAG_ENDPOINT_EMBEDDING_MODEL={answered} if that is the one you want",
            )
        dim = len(self.probe) if hasattr(self, "probe") else None
        if vectors.ndim != 2 or len(vectors) != count or (dim is not None and vectors.shape[1] != dim):
            raise ModelFailed(
                f"the server at {self._server.url} sent vectors of shape {vectors.shape} for {count} texts",
                hint="is another embedding model behind the same name?",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not (lengths > 0).all():
            raise ModelFailed(f"the server at {self._server.url} sent a vector that is no number or zero")
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit

    def check_probe(self, folder: Path) -> None:
        """Compare with the vector that this server gave at an earlier start.

        Raises OtherModel when the same name now stands for other vectors: an index made
        before would give nonsense without a word.
        """
        key = hashlib.sha256(f"{self._server.url} {self._model}".encode()).hexdigest()[:16]
        place = folder / f"probe-{key}.json"
        try:
            kept = np.array(json.loads(place.read_text("utf-8")), dtype=np.float32)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps([round(float(value), 6) for value in self.probe]), "utf-8")
            return
        if kept.shape != self.probe.shape or float(kept @ self.probe) < SAME:
            raise OtherModel(
                f"{self._model!r} at {self._server.url} gives other vectors than at the last start",
                hint=f"if the model was changed on purpose, delete {str(place)!r} and build the index again",
            )


def prefixes(model: str) -> tuple[str, str]:
    """(query, passage) prefixes that the model was trained with, by its family."""
    name = model.lower()
    if "e5" in name and "instruct" not in name:
        return "query: ", "passage: "
    if "qwen3-embedding" in name:
        return "Instruct: Given a question, retrieve passages that answer it\nQuery: ", ""
    return "", ""
