"""An index of another encoder, embedded again in the background while the old one serves (C6).

The chunks are in the index, so no corpus file is needed, and the keywords are those of any
encoder: only the vectors are made. The copy lies in the cache under the encoder it was made
for: the index that was there, shipped or built, stays as it is and serves again when the
encoder is changed back.
"""

import logging
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from osrag.book.asks_index import FOLDER as ASKS
from osrag.book.asks_index import ask_text, read_asks_manifest
from osrag.book.chunking import search_text
from osrag.errors import BadIndex, OsragError
from osrag.index.cache import EmbeddingCache
from osrag.index.collection import (
    CHUNKS,
    KEYWORDS,
    VECTORS,
    Collection,
    full_disk_is_no_space,
    locked,
    save_hashed,
)
from osrag.index.dense import DenseIndex
from osrag.index.manifest import NAME, EncoderId, Manifest, read_manifest, write_manifest
from osrag.index.tables import C
from osrag.models.protocols import Encoder, Vectors
from osrag.types import Ask, Chunk

log = logging.getLogger(__name__)

Text = Callable[[C], str]  # what of a chunk is embedded and indexed
Progress = Callable[[int, int], None]  # done, total


@dataclass(frozen=True, slots=True)
class State:
    """How far a renewal is. `error` is a sentence, "" while all is well."""

    done: int = 0
    total: int = 0
    seconds: float = 0.0
    finished: bool = False
    error: str = ""


def id_of(encoder: Encoder) -> EncoderId:
    return EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim)


def renewed_place(cache_dir: Path, manifest: Manifest, encoder: EncoderId) -> Path:
    """Where the copy of a collection for `encoder` lies; another corpus is another place."""
    return cache_dir / "index" / "renewed" / f"{manifest.collection}-{manifest.corpus_hash[:12]}-{made_for(encoder)}"


def made_for(encoder: EncoderId) -> str:
    """An encoder as part of a folder's name."""
    return "".join(sign if sign.isalnum() or sign in "-." else "-" for sign in f"{encoder.name}-{encoder.revision}")


def fitting(folder: Path, encoder: EncoderId, cache_dir: Path) -> Path | None:
    """`folder` or the copy of it that fits `encoder`, readers' questions and all; None when one has to be made.

    Raises BadIndex when there is no index in `folder`.
    """
    manifest = read_manifest(folder)
    if manifest.encoder == encoder:
        return folder
    place = renewed_place(cache_dir, manifest, encoder)
    return place if is_for(place, encoder) and not _asks_wanted(folder, place, encoder) else None


def _asks_wanted(folder: Path, place: Path, encoder: EncoderId) -> bool:
    """Does the index in `folder` have readers' questions of its own state that its copy in `place` lacks?"""
    asks, made = read_asks_manifest(folder), read_asks_manifest(place)
    if asks is None or asks.bound_to != read_manifest(folder).corpus_hash:
        return False
    kept = ("corpus_hash", "bound_to", "counts")
    same = made is not None and all(getattr(made, name) == getattr(asks, name) for name in kept)
    return not (same and is_for(place / ASKS, encoder))


def renew_textbook(folder: Path, encoder: Encoder, *, cache_dir: Path, progress: Progress) -> Path:
    """`renew` of the textbook collection with the readers' questions beside it, as one count of progress."""
    wanted = id_of(encoder)
    old = read_manifest(folder)
    place = renewed_place(cache_dir, old, wanted)
    asks = read_asks_manifest(folder) if _asks_wanted(folder, place, wanted) else None
    first = old.counts.get("searchable", 0)
    total = first + (asks.counts.get("searchable", 0) if asks else 0)

    def later(done: int, _: int) -> None:
        progress(first + done, total)

    renew(folder, encoder, of=Chunk, text=search_text, cache_dir=cache_dir, progress=lambda n, _: progress(n, total))
    if asks:
        (place / ASKS / NAME).unlink(missing_ok=True)  # a copy of other questions would be taken for done
        renew(folder / ASKS, encoder, of=Ask, text=ask_text, cache_dir=cache_dir, progress=later, place=place / ASKS)
    return place


def renew(
    folder: Path,
    encoder: Encoder,
    *,
    of: type[C],
    text: Text[C],
    cache_dir: Path,
    progress: Progress,
    place: Path | None = None,
) -> Path:
    """Make the copy of the collection in `folder` for `encoder`, in `place` or in the cache; returns its folder.

    Takes up where a killed one stopped. Raises NoSpace, ModelFailed, BadIndex.
    """
    held = Collection.load(folder, None, of=of)
    wanted = id_of(encoder)
    place = place or renewed_place(cache_dir, held.manifest, wanted)
    with full_disk_is_no_space(place), locked(place, ".renew.lock"):
        if is_for(place, wanted):  # another process made it meanwhile
            return place
        texts = [text(held.chunk(row)) for row in range(held.searchable)]
        progress(0, len(texts))
        with EmbeddingCache(cache_dir / "embeddings.sqlite") as cache:
            vectors = cache.passages(encoder, texts, progress=progress)
        _write(place, folder, held.manifest, vectors, wanted)
    return place


def is_for(folder: Path, encoder: EncoderId) -> bool:
    """Is there a whole index by `encoder` in `folder`?"""
    try:
        return read_manifest(folder).encoder == encoder
    except BadIndex:
        return False


def _write(place: Path, folder: Path, old: Manifest, vectors: Vectors, encoder: EncoderId) -> None:
    """The collection of `folder` with other vectors, its manifest last."""
    with locked(place):
        for part in (CHUNKS, KEYWORDS):
            shutil.copyfile(folder / old.files[part], place / old.files[part])
        name = save_hashed(place, VECTORS, DenseIndex.build(vectors, codec="float16").save)
        # Page pictures are found from the folder of the index: the copy lies elsewhere.
        documents = tuple(entry.model_copy(update={"path": _moved(entry.path, folder)}) for entry in old.documents)
        changed = {"encoder": encoder, "files": {**old.files, VECTORS: name}, "documents": documents}
        write_manifest(place, old.model_copy(update=changed))


def _moved(path: str, folder: Path) -> str:
    return (folder / path).resolve().as_posix() if path else ""


class Renewal:
    """One renewal on a thread of its own. `ready` is called with the new folder, `state` at any time.

    `make` is given what to tell of its progress and returns the folder that it made. Where `turn` is
    shared, one renewal runs after the other: two at once would only halve each other's speed.
    """

    def __init__(
        self, make: Callable[[Progress], Path], *, ready: Callable[[Path], None], turn: "threading.Lock | None" = None
    ) -> None:
        self._state = State()
        self._start = time.monotonic()
        self._lock = threading.Lock()

        def work() -> None:
            try:
                with turn or nullcontext():
                    ready(make(self._tell))
            except OsragError as error:
                log.warning("the index could not be renewed: %s", error.sentence())
                self._set(error=error.sentence())
            else:
                self._set(finished=True)

        self._thread = threading.Thread(target=work, name="renew-index", daemon=True)
        self._thread.start()

    @property
    def state(self) -> State:
        with self._lock:
            return replace(self._state, seconds=time.monotonic() - self._start)

    def join(self, timeout_s: float | None = None) -> None:
        self._thread.join(timeout_s)

    def _tell(self, done: int, total: int) -> None:
        self._set(done=done, total=total)

    def _set(self, **changes: object) -> None:
        with self._lock:
            self._state = replace(self._state, **changes)  # type: ignore[arg-type]
