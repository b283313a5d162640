"""The textbook collection: add, replace, remove and list documents (C6, C7).

    files -> read (cached by their bytes) -> chunks -> embed (cached by text) -> write -> switch

Only the last step touches the index, by one rename: a build that is killed, or runs out of
disk, leaves the previous index as it was, and the next run goes on from the caches.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from osrag.errors import BadDocument, BadIndex, BadInput
from osrag.index.cache import EmbeddingCache
from osrag.index.collection import Collection, full_disk_is_no_space, locked, write_collection
from osrag.index.dense import Codec
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, Manifest, read_manifest, write_manifest
from osrag.index.materials import MaterialCache
from osrag.ingest.chunking import UNSEARCHED, search_text
from osrag.ingest.document import DocumentKind
from osrag.ingest.read import Material, read_material
from osrag.models.protocols import Encoder, Vectors
from osrag.text import text_hash, tokens
from osrag.types import Chunk, Language

COLLECTION = "textbook"
Progress = Callable[[str, int, int], None]  # what, done, total


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

    @property
    def changed(self) -> bool:
        return bool(self.added or self.replaced or self.removed)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The chunks of one document and, where they are known already, their vectors."""

    entry: DocumentEntry
    chunks: Sequence[Chunk]
    vectors: Vectors | None = None  # of the searched chunks


def list_documents(folder: Path) -> tuple[DocumentEntry, ...]:
    """Documents of the index in `folder`. Raises BadIndex when there is none."""
    return read_manifest(folder).documents


def document_file(folder: Path, entry: DocumentEntry) -> Path | None:
    """The file of a document, if it still lies where it was when it was read."""
    path = (folder / entry.path).resolve()
    return path if entry.path and path.is_file() else None


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

    A file that cannot be read is reported in `failed` and the others go in. The same files
    twice change nothing. Waits while another build of the same folder runs. Raises NoSpace,
    BadInput for names that cannot be, BadIndex when the index there is damaged.
    """
    how = options or BuildOptions()
    _check_names(files)
    with full_disk_is_no_space(out), locked(out, ".build.lock"):
        old = {} if how.fresh else _previous(out, encoder)
        missing = [name for name in remove if name not in old]
        if missing:
            raise BadInput(
                f"no document called {', '.join(missing)} in {str(out)!r}",
                hint=f"there are: {', '.join(old)}" if old else "the index is empty",
            )
        materials, failed = _read_all(files, cache_dir, how, progress)
        new = {material.name: _rows_of(material, path, out) for path, material in materials}
        return _merge(out, old, new, remove, encoder, cache_dir, how, progress, failed)


def _check_names(files: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        other = seen.setdefault(file.name, file)
        if other.resolve() != file.resolve():
            raise BadInput(f"two files are called {file.name!r}: {other} and {file}", hint="rename one of them")


def _previous(out: Path, encoder: Encoder) -> dict[str, _Rows]:
    """Documents of the index in `out`; without vectors when another encoder made them."""
    if not (out / NAME).exists():
        return {}
    try:
        held = Collection.load(out, None, of=Chunk)
    except BadIndex as error:
        raise BadIndex(str(error), hint="begin it anew with --fresh, naming all files") from error
    same = held.manifest.encoder == _id(encoder)
    vectors = held.dense.vectors()
    rows: dict[str, list[int]] = {entry.name: [] for entry in held.manifest.documents}
    for row, name in enumerate(held.table.column("file_name").to_pylist()):
        rows[name].append(row)
    chunks = held.table.chunks()
    out_rows = {}
    for entry in held.manifest.documents:
        own = [chunks[row] for row in rows[entry.name]]
        made = [row for row in rows[entry.name] if row < held.searchable]
        fits = same and len(made) == sum(1 for _ in searched(own))
        out_rows[entry.name] = _Rows(entry, own, vectors[made] if fits else None)
    return out_rows


def _id(encoder: Encoder) -> EncoderId:
    return EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim)


def _read_all(
    files: Sequence[Path], cache_dir: Path, how: BuildOptions, progress: Progress
) -> tuple[list[tuple[Path, Material]], list[tuple[str, str]]]:
    cache = MaterialCache(cache_dir / "readings")
    read: list[tuple[Path, Material]] = []
    failed: list[tuple[str, str]] = []
    for path in dict.fromkeys(files):
        progress(f"read {path.name}", 0, 1)
        try:
            read.append((path, _read(path, cache, how, progress)))
        except BadDocument as error:
            failed.append((path.name, error.sentence()))
        progress(f"read {path.name}", 1, 1)
    return read, failed


def _read(path: Path, cache: MaterialCache, how: BuildOptions, progress: Progress) -> Material:
    def read() -> Material:
        return read_material(
            path,
            kind=how.kind,
            language=how.language,
            category=how.category,
            workers=how.workers,
            progress=lambda done, total: progress(f"read {path.name}", done, total),
        )

    if not path.is_file():
        return read()  # raises, and says why
    return cache.material(path, kind=how.kind, language=how.language, category=how.category, read=read)


def _rows_of(material: Material, path: Path, out: Path) -> _Rows:
    return _Rows(
        DocumentEntry(
            name=material.name,
            sha256=material_hash(material),
            chunks=len(material.chunks),
            title=material.title,
            language=material.language,
            category=material.category,
            pages=material.pages,
            warnings=material.warnings,
            path=_relative(path, out),
        ),
        material.chunks,
    )


def material_hash(material: Material) -> str:
    """Of the normalised text and of how it was cut, so that only a real difference counts as one."""
    digest = hashlib.sha256()
    for chunk in material.chunks:
        rest = {**asdict(chunk), "text": text_hash(chunk.text)}
        digest.update(json.dumps(rest, ensure_ascii=False, sort_keys=True).encode())
    return digest.hexdigest()


def _relative(path: Path, out: Path) -> str:
    """As seen from the index, so that both can move together."""
    try:
        return Path(os.path.relpath(path.resolve(), out.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()


def _merge(
    out: Path,
    old: dict[str, _Rows],
    new: dict[str, _Rows],
    remove: Sequence[str],
    encoder: Encoder,
    cache_dir: Path,
    how: BuildOptions,
    progress: Progress,
    failed: Sequence[tuple[str, str]],
) -> BuildReport:
    unchanged = tuple(name for name in new if name in old and old[name].entry.sha256 == new[name].entry.sha256)
    replaced = tuple(name for name in new if name in old and name not in unchanged)
    added = tuple(name for name in new if name not in old)
    removed = tuple(name for name in remove if name not in new)
    rows = {name: _kept(held, new.get(name)) if name in unchanged else held for name, held in old.items()}
    rows = {
        name: held for name, held in {**rows, **{n: new[n] for n in (*replaced, *added)}}.items() if name not in removed
    }
    report = BuildReport(None, added, replaced, unchanged, removed, tuple(failed))
    stale = any(held.vectors is None for held in old.values())  # another encoder
    if not (report.changed or stale or how.fresh):
        return _with(report, _moved(out, [held.entry for held in rows.values()]), 0)
    if not rows and not old:
        return report  # nothing could be read: no empty index is made of it
    ordered = list(rows.values())
    vectors, embedded = _embed(ordered, encoder, cache_dir, progress)
    manifest = _write(out, ordered, vectors, encoder, how, progress)
    return _with(report, manifest, embedded)


def _kept(held: _Rows, again: _Rows | None) -> _Rows:
    """The rows of the index with what may have changed beside the text: where the file lies, warnings."""
    return held if again is None else _Rows(again.entry, held.chunks, held.vectors)


def _with(report: BuildReport, manifest: Manifest | None, embedded: int) -> BuildReport:
    return BuildReport(
        manifest, report.added, report.replaced, report.unchanged, report.removed, report.failed, embedded
    )


def _moved(out: Path, entries: Sequence[DocumentEntry]) -> Manifest | None:
    """The manifest, rewritten only when a file lies elsewhere now."""
    if not (out / NAME).exists():
        return None
    manifest = read_manifest(out)
    if manifest.documents != tuple(entries):
        manifest = manifest.model_copy(update={"documents": tuple(entries)})
        write_manifest(out, manifest)
    return manifest


def searched(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks that a question may find; a table of contents names every topic and explains none."""
    return (chunk for chunk in chunks if chunk.subcategory not in UNSEARCHED)


def _embed(rows: Sequence[_Rows], encoder: Encoder, cache_dir: Path, progress: Progress) -> tuple[Vectors, int]:
    """(searched chunks, dim) in order, and how many texts had to be embedded."""
    wanted = [search_text(chunk) for held in rows if held.vectors is None for chunk in searched(held.chunks)]
    counting = _Counting(encoder)
    with EmbeddingCache(cache_dir / "embeddings.sqlite") as cache:
        fresh = cache.passages(counting, wanted, progress=lambda done, total: progress("embed", done, total))
    parts: list[Vectors] = []
    at = 0
    for held in rows:
        if held.vectors is not None:
            parts.append(held.vectors)
            continue
        count = sum(1 for _ in searched(held.chunks))
        parts.append(fresh[at : at + count])
        at += count
    empty = np.zeros((0, encoder.dim), dtype=np.float32)
    return np.concatenate([empty, *parts]).astype(np.float32), counting.count


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


def _write(
    out: Path, rows: Sequence[_Rows], vectors: Vectors, encoder: Encoder, how: BuildOptions, progress: Progress
) -> Manifest:
    chunks = [chunk for held in rows for chunk in held.chunks]
    found = list(searched(chunks))
    ids = {chunk.id for chunk in found}
    kept = [chunk for chunk in chunks if chunk.id not in ids]
    words: list[list[str]] = []
    for at, chunk in enumerate(found):
        if at % 200 == 0:
            progress("keywords", at, len(found))
        words.append(tokens(search_text(chunk)))
    progress("keywords", len(found), len(found))
    before = read_manifest(out) if (out / NAME).exists() and not how.fresh else None
    return write_collection(
        out,
        [*found, *kept],
        vectors,
        words,
        of=Chunk,
        name=COLLECTION,
        encoder=_id(encoder),
        documents=[held.entry for held in rows],
        counts={"documents": len(rows)},
        licence=how.licence or (before.licence if before else ""),
        source=how.source or (before.source if before else ""),
        codec=how.codec,
    )
