"""What every build of a collection does (C6, C7).

    material -> rows -> embed (kept by text) -> write -> switch

It sees what changed by the hashes in the manifest, keeps every embedding, and lets one process at a time
write. Only the last step touches the index, by one rename (`collection`): a build that is killed, or runs
out of disk, leaves the previous index as it was, and the next run goes on from the embeddings.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Generic, Self

import numpy as np

from osrag.errors import BadIndex, NoSpace
from osrag.index.collection import Collection, full_disk_is_no_space, locked
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, Manifest
from osrag.index.tables import C
from osrag.models.protocols import Encoder, Vectors
from osrag.text import text_hash

BATCH = 256  # texts between two writes: what a killed build loses at most
Count = Callable[[int, int], None]  # texts done, texts in all
EMBEDDINGS = "embeddings.sqlite"  # the cache of embeddings, in the folder of caches


@contextmanager
def building(folder: Path) -> Iterator[None]:
    """One build of `folder` at a time; another one waits. Raises NoSpace when the disk is full."""
    with full_disk_is_no_space(folder), locked(folder, ".build.lock"):
        yield


@dataclass(frozen=True, slots=True)
class HeldDocument(Generic[C]):
    """One document of a collection: its entry in the manifest and its rows."""

    entry: DocumentEntry
    rows: Sequence[C]


@dataclass(frozen=True, slots=True)
class Changes:
    """What a build does to the documents of a collection, by their names."""

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything is another one than before."""
        return bool(self.added or self.replaced or self.removed)

    def plus(self, other: "Changes") -> Self:
        """These changes and then `other`, of another collection."""
        both = {name: (*getattr(self, name), *getattr(other, name)) for name in Changes.__slots__}
        return replace(self, **both)


@dataclass(frozen=True, slots=True)
class Held(Generic[C]):
    """What a folder holds before a build."""

    manifest: Manifest | None = None  # None: there is no collection yet
    documents: Mapping[str, HeldDocument[C]] = field(default_factory=dict)
    vectors: Mapping[str, Vectors] = field(default_factory=dict)  # by embedded text

    @classmethod
    def read(cls, folder: Path, of: type[C], text: Callable[[C], str], encoder: EncoderId) -> "Held[C]":
        """The collection in `folder`, without vectors where another encoder made them; `text` is what is embedded.

        Rows of no document (an index may add some of its own) are left out. Raises BadIndex when it is damaged.
        """
        if not (folder / NAME).exists():
            return cls()
        try:
            index = Collection.load(folder, None, of=of)
        except BadIndex as error:
            raise BadIndex(str(error), hint="begin it anew with --fresh, naming all files") from error
        rows = index.table.chunks()
        by_name: dict[str, list[C]] = {entry.name: [] for entry in index.manifest.documents}
        for row in rows:
            by_name.get(row.source, []).append(row)
        documents = {entry.name: HeldDocument(entry, by_name[entry.name]) for entry in index.manifest.documents}
        fits = index.manifest.encoder == encoder
        vectors = dict(zip(map(text, rows), index.dense.vectors(), strict=False)) if fits else {}
        return cls(index.manifest, documents, vectors)

    def changed(
        self, new: Mapping[str, HeldDocument[C]], remove: Sequence[str]
    ) -> tuple[Changes, dict[str, HeldDocument[C]]]:
        """What `new` documents and names to `remove` change, and all documents afterwards.

        A document that is the same keeps its rows and takes the new entry: its file may lie elsewhere now.
        """
        old = self.documents
        same = [name for name in new if name in old and old[name].entry.sha256 == new[name].entry.sha256]
        changes = Changes(
            added=tuple(name for name in new if name not in old),
            replaced=tuple(name for name in new if name in old and name not in same),
            unchanged=tuple(same),
            removed=tuple(name for name in remove if name in old and name not in new),
        )
        kept = {name: replace(new[name], rows=old[name].rows) for name in same}
        merged = {**old, **new, **kept}
        return changes, {name: document for name, document in merged.items() if name not in changes.removed}


def embed(
    texts: Sequence[str],
    encoder: Encoder,
    cache_dir: Path,
    *,
    known: Mapping[str, Vectors] | None = None,
    progress: Count | None = None,
) -> tuple[Vectors, int]:
    """(len(texts), dim) float32 unit rows of `texts`, and how many of them had to be embedded.

    `known` vectors by text are taken as they are, others from the cache in `cache_dir`. Raises NoSpace, ModelFailed.
    """
    vectors = dict(known or {})
    missing = [text for text in dict.fromkeys(texts) if text not in vectors]
    with EmbeddingCache(cache_dir / EMBEDDINGS) as cache:
        vectors.update(zip(missing, cache.passages(encoder, missing, progress=progress), strict=True))
    rows = [vectors[text] for text in texts]
    return np.stack(rows).astype(np.float32) if rows else np.zeros((0, encoder.dim), np.float32), cache.embedded


class EmbeddingCache:
    """Embeddings by the hash of the normalised text and the encoder's revision: a SQLite file.

    Two processes may use it at once. `embedded` counts the texts that it did not hold.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.embedded = 0
        self._db = sqlite3.connect(path, timeout=60)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def __enter__(self) -> "EmbeddingCache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def passages(self, encoder: Encoder, texts: Sequence[str], *, progress: Count | None = None) -> Vectors:
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
            self.embedded += len(batch)
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
            if "full" not in str(error):
                raise
            hint = "free some disk and run it again"
            raise NoSpace(f"no space left for embeddings: {error}", hint=hint) from error
