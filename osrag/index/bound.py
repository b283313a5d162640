"""Collections beside another one, whose rows speak of its chunks: questions about a text, answers prepared from it.

A row leads to the chunks that hold its quotes. So the whole collection belongs to one state of the other, which
its manifest names, and it is left out wherever the other has changed since.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from osrag.errors import BadIndex
from osrag.index.build import HeldDocument
from osrag.index.collection import Collection
from osrag.index.manifest import NAME, EncoderId, Manifest, read_manifest
from osrag.index.tables import C
from osrag.types import Chunk

log = logging.getLogger(__name__)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Bound(Generic[R]):
    """Rows after their quotes were looked for."""

    searched: tuple[R, ...]
    kept: tuple[R, ...]  # not searched
    counts: Mapping[str, int]  # for the manifest; "bound" are those that lead somewhere
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Beside(Generic[C]):
    """One kind of such a collection."""

    folder: str  # inside that of the other collection
    title: str  # for messages
    suffix: str  # of its files
    of: type[C]
    read: Callable[[Path], HeldDocument[C]]
    text: Callable[[C], str]  # what of a row is embedded
    words: Callable[[Bound[C]], list[str]]  # by which words each searched row is found
    bind: Callable[[Sequence[C], Sequence[Chunk]], Bound[C]]

    def has(self, name: str) -> bool:
        """Whether a file of this name holds such rows."""
        return name.lower().endswith(self.suffix)

    def manifest(self, folder: Path) -> Manifest | None:
        """Of the collection beside that in `folder`; None without one that can be read."""
        try:
            return read_manifest(folder / self.folder)
        except BadIndex:
            return None

    def open(self, folder: Path, other: Manifest, encoder: EncoderId) -> Collection[C] | None:
        """The collection beside that in `folder`; None, and the log says why, where it does not belong to it."""
        if not (folder / self.folder / NAME).exists():
            return None
        try:
            found = Collection.load(folder / self.folder, encoder, of=self.of)
        except BadIndex as error:
            log.warning("%s are left out: %s", self.title, error.sentence())
            return None
        if found.manifest.bound_to != other.corpus_hash:
            log.warning("%s are left out: they are of another state of the index (build it again)", self.title)
            return None
        return found if found.searchable else None
