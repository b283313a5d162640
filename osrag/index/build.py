"""What every build of a collection does (C6, C7).

    material -> rows -> embed (kept by text) -> write -> switch

The hashes in the manifest tell what changed, every embedding is kept, and one process at a time writes. Only
the last step touches the index, by one rename (`collection`): a build that is killed, or runs out of disk,
leaves the previous index as it was, and the next run goes on from the embeddings.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Generic, Self

import numpy as np

from osrag.errors import BadIndex
from osrag.index.collection import Collection, full_disk_is_no_space, locked
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, Manifest
from osrag.index.tables import C
from osrag.models.protocols import Encoder, Vectors
from osrag.models.sources import writing
from osrag.text import text_hash

BATCH = 256  # texts embedded between two writes; a killed build loses one batch at most
Count = Callable[[int, int], None]  # texts done, texts in all


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
        """Whether any document was added, replaced or removed."""
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
        rows = index.chunks()
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


def known_vectors(folder: Path, of: type[C], text: Callable[[C], str], encoder: EncoderId) -> Mapping[str, Vectors]:
    """Vectors by embedded text of what stands in `folder`; none where nothing does that `encoder` made."""
    try:
        return Held.read(folder, of, text, encoder).vectors
    except BadIndex:  # it is about to be replaced
        return {}


def embed(
    texts: Sequence[str],
    encoder: Encoder,
    cache_dir: Path,
    *,
    known: Mapping[str, Vectors] | None = None,
    progress: Count | None = None,
) -> tuple[Vectors, int]:
    """(len(texts), dim) float32 unit rows of `texts`, and how many of them had to be embedded.

    Vectors by text in `known` are taken as they are, others from a SQLite file in `cache_dir`, where every new
    one is kept by the hash of its text and the encoder's revision; two processes may use it at once. Raises
    ModelFailed, and NoSpace or BadSettings where nothing can be kept.
    """
    vectors = dict(known or {})
    left = [text for text in dict.fromkeys(texts) if text not in vectors]
    done = 0
    with writing(cache_dir), closing(_open_cache(cache_dir)) as cache:
        keys = {text: sha256(f"{encoder.revision}\0{text_hash(text)}".encode()).digest() for text in left}
        for text, key in keys.items():
            row = cache.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row and len(row[0]) == 4 * encoder.dim:
                vectors[text] = np.frombuffer(row[0], dtype=np.float32)
        # Longest first: the encoder batches by length, and a batch of like lengths wastes nothing.
        missing = sorted((text for text in left if text not in vectors), key=len, reverse=True)
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            made = encoder.passages(batch).astype(np.float32)
            with cache:
                kept = [(keys[text], vector.tobytes()) for text, vector in zip(batch, made, strict=True)]
                cache.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", kept)
            vectors.update(zip(batch, made, strict=True))
            done += len(batch)
            if progress:
                progress(len(left) - len(missing) + done, len(left))
    rows = [vectors[text] for text in texts]
    return np.stack(rows).astype(np.float32) if rows else np.zeros((0, encoder.dim), np.float32), done


def _open_cache(cache_dir: Path) -> sqlite3.Connection:
    """The file of embeddings, made where there is none."""
    cache_dir.mkdir(parents=True, exist_ok=True)
    cache = sqlite3.connect(cache_dir / "embeddings.sqlite", timeout=60)
    cache.execute("PRAGMA journal_mode=WAL")
    cache.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
    return cache
