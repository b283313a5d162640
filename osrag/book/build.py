"""The textbook collection: add, replace, remove and list documents (C6, C7).

    files -> read (cached by their bytes) -> chunks -> embed (cached by text) -> write -> switch

Readers' questions (`*.asks.jsonl`) are bound to the chunks afterwards, in a folder of their own.

Only the last step touches the index, by one rename: a build that is killed, or runs out of
disk, leaves the previous index as it was, and the next run goes on from the caches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from osrag.book.asks import is_asks, read_asks
from osrag.book.asks_index import FOLDER as ASKS
from osrag.book.asks_index import HeldAsks, changed_asks, held_asks, write_asks
from osrag.book.chunking import search_text
from osrag.book.document import DocumentKind
from osrag.book.documents import Held, document_file, held_in, held_of, list_documents, searched
from osrag.book.materials import MaterialCache
from osrag.book.read import Material, read_material
from osrag.errors import BadDocument, BadInput
from osrag.index.cache import EmbeddingCache
from osrag.index.collection import Collection, full_disk_is_no_space, locked, write_collection
from osrag.index.dense import Codec
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, Manifest, read_manifest, write_manifest
from osrag.models.protocols import Encoder, Vectors
from osrag.text import tokens
from osrag.types import Chunk, Language

__all__ = ["BuildOptions", "BuildReport", "build_textbook", "document_file", "list_documents"]

COLLECTION = "textbook"
Progress = Callable[[str, int, int], None]  # what, done, total
Read = TypeVar("Read")


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How files are read and kept."""

    kind: DocumentKind | None = None  # detected when None
    language: Language | None = None  # detected when None
    category: str = ""
    licence: str = ""  # of the corpus; as it was when empty
    source: str = ""
    codec: Codec = "float32"
    workers: int = 2  # processes that read one PDF
    fresh: bool = False  # begin an empty index, whatever lies in the folder


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did. `failed` documents are left as they were in the index."""

    manifest: Manifest | None  # None when there is still no index
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()  # name, sentence
    embedded: int = 0  # texts that were not in the cache
    asks: int = 0  # readers' questions that are searched
    warnings: tuple[str, ...] = ()  # lines and quotes of readers' questions that are of no use

    @property
    def changed(self) -> bool:
        return bool(self.added or self.replaced or self.removed)


def build_textbook(
    out: Path,
    files: Sequence[Path],
    encoder: Encoder,
    *,
    cache_dir: Path,
    remove: Sequence[str] = (),
    options: BuildOptions | None = None,
    progress: Progress = silent,
) -> BuildReport:
    """Add `files` to the index in `out` (a file of the same name is replaced) and drop the documents `remove`.

    Files `*.asks.jsonl` hold readers' questions for the other documents, and are replaced and removed like them.
    A file that cannot be read is reported in `failed` and the others go in. The same files
    twice change nothing. Waits while another build of the same folder runs. Raises NoSpace,
    BadInput for names that cannot be, BadIndex when the index there is damaged.
    """
    _check_names(files)
    build = _Build(out, encoder, cache_dir, options or BuildOptions(), progress)
    with full_disk_is_no_space(out), locked(out, ".build.lock"):
        old = {} if build.options.fresh else held_in(out, build.encoder_id)
        asks = HeldAsks() if build.options.fresh else held_asks(out, build.encoder_id)
        names = [*old, *(entry.name for entry in asks.entries)]
        missing = [name for name in remove if name not in names]
        if missing:
            raise BadInput(
                f"no document called {', '.join(missing)} in {str(out)!r}",
                hint=f"there are: {', '.join(names)}" if names else "the index is empty",
            )
        new, failed = build.read_all([file for file in files if not is_asks(file.name)])
        report = build.merge(old, new, [name for name in remove if name in old], failed)
        return build.ask(report, asks, [file for file in files if is_asks(file.name)], remove)


def _check_names(files: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        other = seen.setdefault(file.name, file)
        if other.resolve() != file.resolve():
            raise BadInput(f"two files are called {file.name!r}: {other} and {file}", hint="rename one of them")


@dataclass
class _Build:
    """One run; holds what its steps share."""

    out: Path
    encoder: Encoder
    cache_dir: Path
    options: BuildOptions
    progress: Progress
    embedded: int = field(default=0, init=False)

    @property
    def encoder_id(self) -> EncoderId:
        return EncoderId(name=self.encoder.name, revision=self.encoder.revision, dim=self.encoder.dim)

    def read_all(self, files: Sequence[Path]) -> tuple[dict[str, Held], tuple[tuple[str, str], ...]]:
        """What the files hold by name, and those that cannot be read with the reason."""
        cache = MaterialCache(self.cache_dir / "readings")
        return self._each(files, lambda path: held_of(self._read(path, cache), path, self.out))

    def _each(
        self, files: Sequence[Path], read: Callable[[Path], Read]
    ) -> tuple[dict[str, Read], tuple[tuple[str, str], ...]]:
        """What `read` makes of each file by name, and those that it cannot read with the reason."""
        found: dict[str, Read] = {}
        failed: list[tuple[str, str]] = []
        for path in dict.fromkeys(files):
            self.progress(f"read {path.name}", 0, 1)
            try:
                found[path.name] = read(path)
            except BadDocument as error:
                failed.append((path.name, error.sentence()))
            self.progress(f"read {path.name}", 1, 1)
        return found, tuple(failed)

    def _read(self, path: Path, cache: MaterialCache) -> Material:
        how = self.options

        def read() -> Material:
            return read_material(
                path,
                kind=how.kind,
                language=how.language,
                category=how.category,
                workers=how.workers,
                progress=lambda done, total: self.progress(f"read {path.name}", done, total),
            )

        if not path.is_file():
            return read()  # raises, and says why
        return cache.material(path, kind=how.kind, language=how.language, category=how.category, read=read)

    def merge(
        self,
        old: Mapping[str, Held],
        new: Mapping[str, Held],
        remove: Sequence[str],
        failed: tuple[tuple[str, str], ...],
    ) -> BuildReport:
        """Put the new documents into the place of the old ones and switch the index over."""
        same = tuple(name for name in new if name in old and old[name].entry.sha256 == new[name].entry.sha256)
        report = BuildReport(
            manifest=None,
            added=tuple(name for name in new if name not in old),
            replaced=tuple(name for name in new if name in old and name not in same),
            unchanged=same,
            removed=tuple(name for name in remove if name not in new),
            failed=failed,
        )
        # What is the same keeps its rows, and learns where its file lies now.
        kept = {name: replace(old[name], entry=new[name].entry) if name in same else held for name, held in new.items()}
        rows = [held for name, held in {**old, **kept}.items() if name not in report.removed]
        stale = any(held.vectors is None for held in old.values())  # another encoder made them
        if not (report.changed or stale or self.options.fresh):
            return replace(report, manifest=self._moved(rows))
        if not rows and not old:
            return report  # nothing could be read: no empty index is made of it
        return replace(report, manifest=self._write(rows, self._embed(rows)), embedded=self.embedded)

    def ask(self, report: BuildReport, held: HeldAsks, files: Sequence[Path], remove: Sequence[str]) -> BuildReport:
        """Readers' questions after the documents: changed by `files` and `remove`, bound anew where need be."""
        new, failed = self._each(files, read_asks)
        if report.manifest is None:
            alone = ((name, f"{name}: the index holds no document that its questions could lead to") for name in new)
            return replace(report, failed=(*report.failed, *failed, *alone))
        corpus = report.manifest
        change = changed_asks(held, new, remove)
        report = replace(
            report,
            added=(*report.added, *change.added),
            replaced=(*report.replaced, *change.replaced),
            unchanged=(*report.unchanged, *change.unchanged),
            removed=(*report.removed, *change.removed),
            failed=(*report.failed, *failed),
            warnings=tuple(warning for file in new.values() for warning in file.warnings),
            asks=held.searched,
        )
        was = (self.out / ASKS / NAME).exists()
        stale = was and (self.options.fresh or held.vectors is None or held.bound_to != corpus.corpus_hash)
        if not (stale or change.added or change.replaced or change.removed):
            return report
        index = Collection.load(self.out, None, of=Chunk)
        bound = write_asks(
            self.out,
            change.held,
            index.table.chunks()[: index.searchable],
            corpus,
            self.encoder,
            cache_dir=self.cache_dir,
            progress=lambda done, total: self.progress("embed questions", done, total),
        )
        return replace(report, asks=bound.count, warnings=(*report.warnings, *bound.warnings))

    def _moved(self, rows: Sequence[Held]) -> Manifest | None:
        """The manifest, rewritten only when a file lies elsewhere now."""
        if not (self.out / NAME).exists():
            return None
        manifest = read_manifest(self.out)
        entries = tuple(held.entry for held in rows)
        if manifest.documents != entries:
            manifest = manifest.model_copy(update={"documents": entries})
            write_manifest(self.out, manifest)
        return manifest

    def _embed(self, rows: Sequence[Held]) -> Vectors:
        """(searched chunks, dim) in order; only what the index and the cache lack is embedded."""
        wanted = [search_text(chunk) for held in rows if held.vectors is None for chunk in searched(held.chunks)]
        with EmbeddingCache(self.cache_dir / "embeddings.sqlite") as cache:
            counting = _Counting(self.encoder)
            fresh = cache.passages(counting, wanted, progress=lambda done, total: self.progress("embed", done, total))
            self.embedded = counting.count
        parts: list[Vectors] = [np.zeros((0, self.encoder.dim), dtype=np.float32)]
        at = 0
        for held in rows:
            if held.vectors is not None:
                parts.append(held.vectors)
                continue
            count = sum(1 for _ in searched(held.chunks))
            parts.append(fresh[at : at + count])
            at += count
        return np.concatenate(parts).astype(np.float32)

    def _write(self, rows: Sequence[Held], vectors: Vectors) -> Manifest:
        chunks = [chunk for held in rows for chunk in held.chunks]
        found = list(searched(chunks))
        ids = {chunk.id for chunk in found}
        entries: list[DocumentEntry] = [held.entry for held in rows]
        before = read_manifest(self.out) if (self.out / NAME).exists() and not self.options.fresh else None
        return write_collection(
            self.out,
            [*found, *(chunk for chunk in chunks if chunk.id not in ids)],
            vectors,
            self._keywords(found),
            of=Chunk,
            name=COLLECTION,
            encoder=self.encoder_id,
            documents=entries,
            counts={"documents": len(rows)},
            licence=self.options.licence or (before.licence if before else ""),
            source=self.options.source or (before.source if before else ""),
            codec=self.options.codec,
        )

    def _keywords(self, chunks: Sequence[Chunk]) -> list[list[str]]:
        words: list[list[str]] = []
        for at, chunk in enumerate(chunks):
            if at % 200 == 0:
                self.progress("keywords", at, len(chunks))
            words.append(tokens(search_text(chunk)))
        self.progress("keywords", len(chunks), len(chunks))
        return words


class _Counting:
    """An encoder that counts the passages it is given."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.count = 0
        self.name, self.revision, self.dim = encoder.name, encoder.revision, encoder.dim

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.queries(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.count += len(texts)
        return self._encoder.passages(texts)
