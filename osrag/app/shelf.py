"""Which index serves which encoder: the one that fits, else the old one by its own encoder, else keywords (C6)."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from osrag.wording import say

if TYPE_CHECKING:
    from osrag.book.search import TextbookSearch
    from osrag.index.collection import Collection
    from osrag.index.renew import Renewal
    from osrag.kernel.search import KernelSearch
    from osrag.models.protocols import Encoder, Reranker
    from osrag.types import Ask, Chunk, Language

FITTED_ON = "multilingual-e5-small"  # the encoder whose cosines all thresholds and grades were fitted on
RENEW = "python -m osrag renew"

How = Literal["fits", "old_index", "keywords_only", "none_serves"]


@dataclass(frozen=True, slots=True)
class Readers:
    """What a search is made of."""

    encoder: "Encoder"  # of the profile
    checker: "Encoder"  # the one that thresholds were fitted on, or `encoder` where that cannot be had
    reranker: "Reranker | None"


@dataclass(frozen=True, slots=True)
class Opened:
    search: "TextbookSearch"
    how: How
    made: str  # name of the encoder that made the index


def own_folder(folder: Path) -> Path:
    """The textbook collection inside the folder of all collections, or the folder itself."""
    own = folder / "textbook"
    return own if own.is_dir() else folder


def open_fitting(folder: Path, readers: Readers, cache_dir: Path) -> "TextbookSearch":
    """The index in `folder`, or the copy of it that was made for the running encoder.

    Raises BadIndex, naming the command that makes such a copy.
    """
    from osrag.book.asks_index import open_asks
    from osrag.index.collection import Collection
    from osrag.index.renew import fitting, id_of
    from osrag.types import Chunk

    running = id_of(readers.encoder)
    place = fitting(folder, running, cache_dir) or folder
    collection = Collection.load(place, running, of=Chunk, rebuild=RENEW)
    return _search(collection, readers, asks=open_asks(place, collection.manifest, running))


def open_somehow(folder: Path, readers: Readers, cache_dir: Path) -> Opened:
    """The index in `folder` by whichever means there are. Raises BadIndex when there is none."""
    from osrag.book.asks_index import open_asks
    from osrag.book.search import TextbookSearch
    from osrag.index.collection import Collection
    from osrag.index.manifest import read_manifest
    from osrag.index.renew import fitting, id_of
    from osrag.types import Chunk

    made = read_manifest(folder).encoder
    if fitting(folder, id_of(readers.encoder), cache_dir):
        return Opened(open_fitting(folder, readers, cache_dir), "fits", made.name)
    collection = Collection.load(folder, None, of=Chunk)
    if made == id_of(readers.checker):
        asks = open_asks(folder, collection.manifest, made)
        old = TextbookSearch(collection, readers.checker, reranker=readers.reranker, asks=asks)
        return Opened(old, "old_index", made.name)
    return Opened(_search(collection, readers, dense=False), "keywords_only", made.name)


def _search(
    collection: "Collection[Chunk]", readers: Readers, *, dense: bool = True, asks: "Collection[Ask] | None" = None
) -> "TextbookSearch":
    from osrag.book.search import TextbookSearch

    fitted = readers.checker.name == FITTED_ON
    own = readers.checker is readers.encoder
    return TextbookSearch(
        collection,
        readers.encoder,
        checker=readers.checker if fitted and not (own and dense) else None,
        reranker=readers.reranker,
        dense=dense,
        fitted=fitted and own,
        asks=asks,
    )


def open_kernel(folder: Path, readers: Readers, cache_dir: Path, *, gpu: bool) -> "KernelSearch":
    """The kernel collections in `folder`: by the running encoder where they, or a copy, are of it; else by their own.

    Raises BadIndex where there are none, or where their encoder is not here.
    """
    from osrag.index.renew import id_of
    from osrag.kernel.renew import fitting_kernel
    from osrag.kernel.search import KernelSearch

    for encoder in (readers.encoder, readers.checker):
        place = fitting_kernel(folder, id_of(encoder), cache_dir)
        if place is not None:
            return KernelSearch(place, encoder, reranker=readers.reranker, gpu=gpu)
    return KernelSearch(folder, readers.encoder, reranker=readers.reranker, gpu=gpu)  # refuses, with the command


def kernel_serves(folder: Path, readers: Readers, cache_dir: Path) -> tuple[How, str]:
    """How the kernel collections in `folder` serve, and the name of the encoder that made them; "" without any."""
    from osrag.index.manifest import read_manifest
    from osrag.index.renew import id_of
    from osrag.kernel.renew import collections, fitting_kernel

    made = "+".join(sorted({read_manifest(one).encoder.name for one in collections(folder)}))
    if not made or fitting_kernel(folder, id_of(readers.encoder), cache_dir):
        return "fits", made
    return ("old_index" if fitting_kernel(folder, id_of(readers.checker), cache_dir) else "none_serves"), made


@dataclass(frozen=True, slots=True)
class Stale:
    """An index of another encoder that serves, and the renewal that will replace it."""

    how: How
    made: str
    renewal: "Renewal | None"  # None where nothing runs in the background
    of: Literal["", "kernel_"] = ""  # the textbook, or the kernel collections

    @property
    def running(self) -> bool:
        if self.renewal is None:
            return False
        state = self.renewal.state
        return not (state.finished or state.error)

    def lines(self, language: "Language") -> list[str]:
        """For the page: nothing once the new index has taken over."""
        state = self.renewal.state if self.renewal else None
        if state is not None and state.finished:
            return []
        lines = [say(f"notice_{self.of}{self.how}", language, made=self.made)]
        if state is None:
            return lines
        if state.error:
            return [*lines, say(f"notice_{self.of}renew_failed", language, reason=state.error)]
        percent = 100 * state.done // state.total if state.total else 0
        told = {"done": state.done, "total": state.total or "…", "percent": percent}
        return [*lines, say(f"notice_{self.of}renewing", language, **told)]
