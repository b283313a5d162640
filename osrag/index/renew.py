"""Collections of another encoder, embedded again in the background while the old ones serve (C6).

The texts are in the index, so no corpus file is needed, and the keywords are those of any encoder: only the
vectors are made. The copies lie in the cache, a folder for each encoder. The index that was there, shipped or
built, stays as it is and serves again when the encoder is changed back.
"""

import hashlib
import logging
import re
import shutil
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from osrag.errors import BadIndex, OsragError
from osrag.index.build import Count, embed
from osrag.index.collection import CHUNKS, KEYWORDS, VECTORS, Collection, full_disk_is_no_space, locked, save_hashed
from osrag.index.dense import DenseIndex
from osrag.index.manifest import EncoderId, id_of, read_manifest, write_manifest
from osrag.index.tables import C
from osrag.models.protocols import Encoder

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Part(Generic[C]):
    """One collection, and what of its rows is embedded."""

    folder: str  # inside the folder of all parts; "" for that folder itself
    of: type[C]
    text: Callable[[C], str]


@dataclass(frozen=True, slots=True)
class Copies:
    """Collections that are searched together by one encoder, and their copies for other encoders."""

    name: str  # begins the folder of a copy: "textbook"
    root: Path  # where the collections lie that were shipped or built
    parts: tuple[Part[Any], ...]
    cache_dir: Path  # where the copies lie

    @property
    def made_by(self) -> str:
        """Names of the encoders that made the collections; "" where there are none."""
        return "+".join(sorted({read_manifest(self.root / part.folder).encoder.name for part in self.parts}))

    def fitting(self, encoder: EncoderId) -> Path | None:
        """The folder whose collections are all of `encoder`, the root or a whole copy; None where there is none."""
        if not self.parts:
            return None
        if not self._missing(self.root, encoder):
            return self.root
        place = self.place(encoder)
        return None if self._missing(place, encoder) else place

    def place(self, encoder: EncoderId) -> Path:
        """Where the copy for `encoder` lies; other contents have another place."""
        tables = [f"{part.folder} {read_manifest(self.root / part.folder).files[CHUNKS]}" for part in self.parts]
        digest = hashlib.sha256("\n".join(tables).encode()).hexdigest()[:12]
        made_for = re.sub(r"[^\w.-]", "-", f"{encoder.name}-{encoder.revision}")
        return self.cache_dir / "index" / "renewed" / f"{self.name}-{digest}-{made_for}"

    def texts(self, encoder: EncoderId) -> int:
        """How many texts a copy for `encoder` has to embed; those that an earlier run embedded count too."""
        missing = self._missing(self.place(encoder), encoder)
        return sum(read_manifest(self.root / part.folder).counts["searchable"] for part in missing)

    def make(self, encoder: Encoder, progress: Count) -> Path:
        """Make the copy for `encoder` where there is none; returns its folder.

        Takes up where a killed run stopped. Raises NoSpace, ModelFailed, BadIndex.
        """
        wanted = id_of(encoder)
        place, done, total = self.place(wanted), 0, self.texts(wanted)

        def tell(count: int, _: int) -> None:
            progress(done + count, total)

        tell(0, 0)
        with full_disk_is_no_space(place), locked(place, ".renew.lock"):
            for part in self._missing(place, wanted):  # another process may have made some meanwhile
                done += self._make(part, place, encoder, tell)
                tell(0, 0)
        return place

    def _make(self, part: Part[C], place: Path, encoder: Encoder, progress: Count) -> int:
        """One collection with other vectors, its manifest last; returns how many texts it has."""
        source, target = self.root / part.folder, place / part.folder
        held = Collection.load(source, None, of=part.of)
        texts = [part.text(chunk) for chunk in held.searched()]
        vectors, _ = embed(texts, encoder, self.cache_dir, progress=progress)
        with locked(target):
            files = dict(held.manifest.files)
            for name in (files[CHUNKS], files[KEYWORDS]):
                shutil.copyfile(source / name, target / name)
            files[VECTORS] = save_hashed(target, VECTORS, DenseIndex.build(vectors, codec="float16").save)
            # The pages of a document are found from the folder of its index, and the copy lies elsewhere.
            documents = tuple(
                entry.model_copy(update={"path": (source / entry.path).resolve().as_posix() if entry.path else ""})
                for entry in held.manifest.documents
            )
            changed = {"encoder": id_of(encoder), "files": files, "documents": documents}
            write_manifest(target, held.manifest.model_copy(update=changed))
        return len(texts)

    def _missing(self, folder: Path, encoder: EncoderId) -> list[Part[Any]]:
        """The parts of which `folder` has no whole collection of `encoder`."""
        missing = []
        for part in self.parts:
            try:
                if read_manifest(folder / part.folder).encoder == encoder:
                    continue
            except BadIndex:
                pass
            missing.append(part)
        return missing


class Renewal:
    """Makes a copy on a thread of its own; `ready` is called with its folder.

    Where `turn` is shared, one renewal runs after the other: two at once would only halve each other's speed.
    """

    def __init__(
        self,
        copies: Copies,
        encoder: Encoder,
        *,
        ready: Callable[[Path], None],
        turn: "threading.Lock | None" = None,
    ) -> None:
        self.done = 0  # texts embedded
        self.total = copies.texts(id_of(encoder))  # known before the thread begins, for whoever looks first
        self.finished = False
        self.error = ""  # a sentence, "" while all is well

        def tell(done: int, _: int) -> None:
            self.done = done

        def work() -> None:
            try:
                with turn or nullcontext():
                    ready(copies.make(encoder, tell))
                self.finished = True
            except OsragError as error:
                log.warning("the index could not be renewed: %s", error.sentence())
                self.error = error.sentence()
            except Exception:  # the end of a thread: nobody else would hear of it
                log.exception("the index could not be renewed")
                self.error = "something unexpected happened; the log has the details"

        self._thread = threading.Thread(target=work, name="renew-index", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Neither finished nor failed."""
        return not (self.finished or self.error)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for the end of the thread, for `timeout_s` at most."""
        self._thread.join(timeout_s)
