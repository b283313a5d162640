"""Readers' questions beside the textbook collection, as a collection of their own in its folder (`asks/`).

Each is bound by its quotes to the chunks that answer it. A document that is added, replaced or removed
binds them all anew; those whose quotes no document has are kept behind the searched rows. They are
searched by the textbook's encoder only while they are bound to the corpus that lies beside them.
"""

import logging
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from osrag.book.asks import AskFile, asks_of
from osrag.errors import BadIndex
from osrag.index.cache import EmbeddingCache
from osrag.index.collection import Collection, write_collection
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, Manifest, read_manifest
from osrag.models.protocols import Encoder, Vectors
from osrag.text import folded, language_of, tokens
from osrag.types import Ask, Chunk, ChunkKind

log = logging.getLogger(__name__)

FOLDER = "asks"
COLLECTION = "asks"
LEAST, LEAST_OF_HALF = 4, 6  # letters of a quote, and of the half of one, that tell a place
SHOWN = 3  # quotes without a document that a warning names

Progress = Callable[[int, int], None]  # done, total


@dataclass(frozen=True, slots=True)
class HeldAsks:
    """The questions of an index, file by file."""

    entries: tuple[DocumentEntry, ...] = ()
    asks: tuple[Ask, ...] = ()
    vectors: Mapping[str, Vectors] | None = None  # by text; None where another encoder made them
    bound_to: str = ""

    @property
    def searched(self) -> int:
        return sum(bool(ask.chunk_ids) for ask in self.asks)


@dataclass(frozen=True, slots=True)
class Change:
    """What a build does to the questions, by names of files."""

    held: HeldAsks  # afterwards, not bound yet
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    count: int  # questions that are searched
    warnings: tuple[str, ...] = ()


def ask_text(ask: Ask) -> str:
    """What of a question is embedded: of an examiner's also the answer, which is what the options of others name."""
    return f"{ask.text} {ask.answer}".strip()


def held_asks(folder: Path, encoder: EncoderId) -> HeldAsks:
    """The questions of the textbook collection in `folder`; none where there are none. Raises BadIndex."""
    place = folder / FOLDER
    if not (place / NAME).exists():
        return HeldAsks()
    try:
        index = Collection.load(place, None, of=Ask)
    except BadIndex as error:
        raise BadIndex(str(error), hint="begin it anew with --fresh, naming all files") from error
    asks, vectors = index.table.chunks(), None
    if index.manifest.encoder == encoder:
        vectors = dict(zip(map(ask_text, asks), index.dense.vectors(), strict=False))
    written = tuple(ask for ask in asks if ask.quotes)
    return HeldAsks(index.manifest.documents, written, vectors, index.manifest.bound_to)


def open_asks(folder: Path, corpus: Manifest, encoder: EncoderId) -> Collection[Ask] | None:
    """The questions beside a textbook collection; None, and the log says why, where they do not belong to it."""
    place = folder / FOLDER
    if not (place / NAME).exists():
        return None
    try:
        asks = Collection.load(place, encoder, of=Ask)
    except BadIndex as error:
        log.warning("readers' questions are left out: %s", error.sentence())
        return None
    if asks.manifest.bound_to != corpus.corpus_hash:
        log.warning("readers' questions are left out: they are of another state of the index (build it again)")
        return None
    return asks if asks.searchable else None


def changed_asks(held: HeldAsks, new: Mapping[str, AskFile], remove: Sequence[str]) -> Change:
    """`held` with the files `new` in the place of those of the same name, and without `remove`."""
    old = {entry.name: entry for entry in held.entries}
    same = tuple(name for name in new if name in old and old[name].sha256 == new[name].sha256)
    removed = tuple(name for name in remove if name in old and name not in new)
    asks = {name: [ask for ask in held.asks if ask.source == name] for name in old}
    for name, file in new.items():
        if name not in same:
            asks[name] = [
                Ask(text, language_of(text), name, quotes, answer=answer)
                for (text, answer), quotes in asks_of(file.rows).items()
            ]
            old[name] = DocumentEntry(
                name=name, sha256=file.sha256, chunks=len(asks[name]), category=FOLDER, warnings=file.warnings
            )
    left = [name for name in old if name not in removed]
    return Change(
        held=replace(
            held,
            entries=tuple(old[name] for name in left),
            asks=tuple(ask for name in left for ask in asks[name]),
        ),
        added=tuple(name for name in new if name not in {entry.name for entry in held.entries}),
        replaced=tuple(name for name in new if name in {entry.name for entry in held.entries} and name not in same),
        unchanged=same,
        removed=removed,
    )


def write_asks(
    folder: Path,
    held: HeldAsks,
    chunks: Sequence[Chunk],
    corpus: Manifest,
    encoder: Encoder,
    *,
    cache_dir: Path,
    progress: Progress,
) -> Bound:
    """Bind the questions `held` to `chunks`, those of `corpus` that are searched, and write them beside it."""
    if not held.asks:
        _drop(folder / FOLDER)
        return Bound(0)
    places = _Places(chunks)
    bound = [replace(ask, chunk_ids=places.ids(ask.quotes)) for ask in held.asks]
    written = sum(bool(ask.chunk_ids) for ask in bound)
    found = [*(ask for ask in bound if ask.chunk_ids), *_of_entries(chunks)]
    texts = list(dict.fromkeys(map(ask_text, found)))
    known = dict(held.vectors or {})
    missing = [text for text in texts if text not in known]
    with EmbeddingCache(cache_dir / "embeddings.sqlite") as cache:
        known.update(zip(missing, cache.passages(encoder, missing, progress=progress), strict=True))
    vectors = np.stack([known[ask_text(ask)] for ask in found]) if found else np.zeros((0, encoder.dim), np.float32)
    write_collection(
        folder / FOLDER,
        [*found, *(ask for ask in bound if not ask.chunk_ids)],
        vectors.astype(np.float32),
        [tokens(ask_text(ask)) for ask in found],
        of=Ask,
        name=COLLECTION,
        encoder=EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim),
        documents=held.entries,
        counts={"documents": len(held.entries), "asks": len(bound), "bound": written},
        licence=corpus.licence,
        codec="float16",
        bound_to=corpus.corpus_hash,
    )
    return Bound(written, _unplaced(bound, places))


def _of_entries(chunks: Sequence[Chunk]) -> list[Ask]:
    """The questions of an FAQ: they are asked already, and are compared without their answers."""
    heads = [(chunk, chunk.text.partition("\n")[0]) for chunk in chunks if chunk.kind is ChunkKind.FAQ]
    return [Ask(head, language_of(head), chunk.source, (), (chunk.id,)) for chunk, head in heads]


def _drop(place: Path) -> None:
    """Take the questions out of an index, the manifest first."""
    if (place / NAME).exists():
        (place / NAME).unlink()
        for old in place.glob("*-*.*"):
            old.unlink(missing_ok=True)


def read_asks_manifest(folder: Path) -> Manifest | None:
    """Of the questions beside the textbook collection in `folder`; None where there are none, or damaged ones."""
    try:
        return read_manifest(folder / FOLDER)
    except BadIndex:
        return None


class _Places:
    """Finds the chunks that hold a quote, whatever its punctuation."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        texts = [folded(chunk.text) for chunk in chunks]
        self._ids = [chunk.id for chunk in chunks]
        self._all = "\n".join(texts)  # a folded text has no line end: no quote reaches over one
        self._starts = [0]
        for text in texts:
            self._starts.append(self._starts[-1] + len(text) + 1)
        self._known: dict[str, tuple[str, ...]] = {}

    def ids(self, quotes: Sequence[str]) -> tuple[str, ...]:
        """Of all chunks that have one of `quotes`, in the order of the index."""
        return tuple(dict.fromkeys(id_ for quote in quotes for id_ in self.of(quote)))

    def of(self, quote: str) -> tuple[str, ...]:
        """Of the chunks that have `quote`; where the end of a page or chunk cuts it, its first half."""
        if quote not in self._known:
            whole = folded(quote)
            self._known[quote] = self._with(whole, LEAST) or self._with(whole[: len(whole) // 2], LEAST_OF_HALF)
        return self._known[quote]

    def _with(self, text: str, least: int) -> tuple[str, ...]:
        found: dict[str, None] = {}
        at = self._all.find(text) if len(text) >= least else -1
        while at >= 0:
            row = bisect_right(self._starts, at) - 1
            found[self._ids[row]] = None
            at = self._all.find(text, self._starts[row + 1])
        return tuple(found)


def _unplaced(asks: Sequence[Ask], places: _Places) -> tuple[str, ...]:
    """A sentence a file about the quotes that stand in no document.

    A quote beside one that was found is no slip: an index often holds one edition of several.
    """
    warnings = []
    for name in dict.fromkeys(ask.source for ask in asks):
        lost = [ask for ask in asks if ask.source == name and not ask.chunk_ids]
        quotes = list(dict.fromkeys(quote for ask in lost for quote in ask.quotes))
        if quotes:
            shown = ", ".join(f"{quote!r}" for quote in quotes[:SHOWN])
            warnings.append(
                f"{name}: {len(lost)} questions are kept but not searched, no document has their "
                f"{len(quotes)} quotes: {shown}{', …' if len(quotes) > SHOWN else ''}"
            )
    return tuple(warnings)
