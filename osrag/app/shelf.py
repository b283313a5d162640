"""By which encoder a source can be searched (C6): the running one, else the one that made its index, else keywords."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from osrag.book.asks import open_asks
from osrag.book.search import TextbookSearch
from osrag.index.collection import Collection
from osrag.index.manifest import check_encoder, id_of, read_manifest
from osrag.index.renew import Copies, Renewal
from osrag.models.protocols import Encoder, Reranker
from osrag.types import Chunk, Language
from osrag.wording import say

FITTED_ON = "multilingual-e5-small"  # the encoder whose cosines all thresholds and grades were fitted on
RENEW = "python -m osrag renew"

How = Literal["fits", "old_index", "no_encoder"]


@dataclass(frozen=True, slots=True)
class SearchModels:
    """The models that a search is made of."""

    encoder: Encoder  # of the profile
    checker: Encoder  # the one that thresholds were fitted on, or `encoder` where that cannot be had
    reranker: Reranker | None


@dataclass(frozen=True, slots=True)
class Serving:
    """The folder that serves now, and the encoder that searches it."""

    how: How
    folder: Path
    encoder: Encoder  # of the vectors in `folder`; with `no_encoder` the running one, which cannot search them


def own_folder(folder: Path) -> Path:
    """The textbook collection inside the folder of all collections, or the folder itself."""
    own = folder / "textbook"
    return own if own.is_dir() else folder


def serving(copies: Copies, models: SearchModels) -> Serving:
    """The index or a copy of it by the running encoder, else by the checker."""
    encoders: tuple[tuple[How, Encoder], ...] = (("fits", models.encoder), ("old_index", models.checker))
    for how, encoder in encoders:
        folder = copies.fitting(id_of(encoder))
        if folder is not None:
            return Serving(how, folder, encoder)
    return Serving("no_encoder", copies.root, models.encoder)


def open_textbook(found: Serving, models: SearchModels, *, by_keywords: bool) -> TextbookSearch:
    """The search of the textbook collection.

    Where its encoder is not here it searches by keywords alone, or, without `by_keywords`, raises BadIndex
    with the command that makes a copy.
    """
    dense = found.how != "no_encoder"
    if not dense and not by_keywords:
        check_encoder(read_manifest(found.folder), id_of(found.encoder), rebuild=RENEW)
    collection = Collection.load(found.folder, None, of=Chunk)
    fitted, own = models.checker.name == FITTED_ON, models.checker is found.encoder
    return TextbookSearch(
        collection,
        found.encoder,
        checker=models.checker if fitted and not (own and dense) else None,
        reranker=models.reranker,
        dense=dense,
        fitted=fitted and own,
        asks=open_asks(found.folder, collection.manifest, id_of(found.encoder)) if dense else None,
    )


@dataclass(frozen=True, slots=True)
class Stale:
    """An index of another encoder, how it serves, and the renewal that will replace it."""

    source: Literal["textbook", "kernel"]
    how: How
    made_by: str  # name of the encoder
    renewal: Renewal | None  # None where nothing runs in the background

    def lines(self, language: Language) -> list[str]:
        """For the page: nothing once the new index has taken over."""
        new = self.renewal
        if new is not None and new.finished:
            return []
        lines = [say(f"notice_{self.source}_{self.how}", language, made=self.made_by)]
        if new is None:
            return lines
        if new.error:
            return [*lines, say(f"notice_{self.source}_renew_failed", language, reason=new.error)]
        told = {"done": new.done, "total": new.total, "percent": 100 * new.done // max(1, new.total)}
        return [*lines, say(f"notice_{self.source}_renewing", language, **told)]
