"""Embeddings kept by the hash of the normalised text and the encoder's revision (C7).

A build that was killed goes on where it stopped; a document that is added twice costs nothing.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from osrag.errors import NoSpace
from osrag.models.protocols import Encoder, Vectors
from osrag.text import text_hash

BATCH = 256  # texts between two writes: what a killed build loses at most
Progress = Callable[[int, int], None]  # done, total


class EmbeddingCache:
    """A SQLite file; two processes may use it at once."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=60)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def __enter__(self) -> "EmbeddingCache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def passages(self, encoder: Encoder, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """(len(texts), dim) float32 unit rows; only texts never seen before are embedded."""
        keys = [hashlib.sha256(f"{encoder.revision}\0{text_hash(text)}".encode()).digest() for text in texts]
        known = self._read(dict.fromkeys(keys), encoder.dim)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        # Longest first: the encoder batches by length, and a batch of like lengths wastes nothing.
        order = sorted(missing, key=lambda key: -len(missing[key]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            vectors = encoder.passages([missing[key] for key in batch])
            self._write(batch, vectors)
            known.update(zip(batch, vectors, strict=True))
            if progress:
                progress(len(known), len(known) + len(order) - start - len(batch))
        if not keys:
            return np.zeros((0, encoder.dim), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _read(self, keys: Iterable[bytes], dim: int) -> dict[bytes, Vectors]:
        found = {}
        for key in keys:
            row = self._db.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row and len(row[0]) == 4 * dim:
                found[key] = np.frombuffer(row[0], dtype=np.float32)
        return found

    def _write(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        rows = [(key, vector.astype(np.float32).tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        try:
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise NoSpace(
                    f"no space left for embeddings: {error}", hint="free some disk and run it again"
                ) from error
            raise
