"""The textbook collection: add, replace, remove and list documents (C6, C7).

    files -> read -> chunks -> embed (kept by text) -> write -> switch

Questions about the book (`*.asks.jsonl`) and prepared answers (`*.answers.jsonl`) are bound to the chunks afterwards,
each in a folder of its own.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from osrag.book.answers import ANSWERS
from osrag.book.asks import ASKS
from osrag.book.chunking import UNSEARCHED, USUAL, Cut, search_text
from osrag.book.document import DocumentKind
from osrag.book.guarded import guarded
from osrag.book.read import read_material
from osrag.book.seen import forget_seen, keep_seen
from osrag.errors import BadDocument, BadInput
from osrag.index.bound import Beside
from osrag.index.build import Changes, Held, HeldDocument, building, embed
from osrag.index.collection import write_collection
from osrag.index.manifest import (
    DocumentEntry,
    EncoderId,
    Manifest,
    drop_collection,
    id_of,
    read_manifest,
    write_manifest,
)
from osrag.index.renew import Copies, Part
from osrag.models.protocols import Encoder
from osrag.text import text_hash, tokens
from osrag.types import Ask, Chunk, Language, PreparedRow, Progress, silent

COLLECTION = "textbook"
WORKERS = 2  # processes that read one PDF: most machines have as many cores
BESIDE: tuple[Beside[Any], ...] = (ASKS, ANSWERS)
T = TypeVar("T", bound=Chunk | Ask | PreparedRow)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How files are read and kept."""

    kind: DocumentKind | None = None  # detected when None
    language: Language | None = None  # detected when None
    category: str = ""
    version: str = ""  # for files that do not say theirs
    url: str = ""
    licence: str = ""  # of the corpus; as it was when empty
    cut: Cut = USUAL
    fresh: bool = False  # begin an empty index, whatever lies in the folder


@dataclass(frozen=True, slots=True)
class BuildReport(Changes):
    """What a build did. `failed` documents are left as they were in the index."""

    manifest: Manifest | None = None  # None when there is still no index
    failed: tuple[tuple[str, str], ...] = ()  # name, sentence
    embedded: int = 0  # texts of documents that were not in the cache
    asks: int = 0  # questions that are searched
    answers: int = 0  # prepared answers, each language counted, that can be given
    warnings: tuple[str, ...] = ()  # about both: lines that cannot be read, quotes that no document has


def copies_of(folder: Path, cache_dir: Path) -> Copies:
    """The textbook collection in `folder`, with what is bound to it, for another encoder.

    Raises BadIndex when there is no collection.
    """
    book = read_manifest(folder)
    parts: list[Part[Any]] = [Part("", Chunk, search_text)]
    for kind in BESIDE:
        held = kind.manifest(folder)
        if held and held.bound_to == book.corpus_hash and held.encoder == book.encoder:
            parts.append(Part(kind.folder, kind.of, kind.text))
    return Copies(COLLECTION, folder, tuple(parts), cache_dir)


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

    Files `*.asks.jsonl` hold questions about the other documents, `*.answers.jsonl` prepared answers from them; both
    are replaced and removed like documents.
    A file that cannot be read is reported in `failed` and the others go in. The same files twice change
    nothing. Waits while another build of the same folder runs. Raises NoSpace, ModelFailed, BadIndex when
    the index there is damaged, and BadInput for two files of one name or a document to remove that is not there.
    """
    seen: dict[str, Path] = {}
    for file in files:
        other = seen.setdefault(file.name, file)
        if other.resolve() != file.resolve():
            raise BadInput(f"two files are called {file.name!r}: {other} and {file}", hint="rename one of them")
    build = _Build(out, encoder, cache_dir, options or BuildOptions(), progress)
    with building(out):
        book = build.held(out, Chunk, search_text)
        beside = [(kind, build.held(out / kind.folder, kind.of, kind.text)) for kind in BESIDE]
        names = [*book.documents, *(name for _, held in beside for name in held.documents)]
        missing = [name for name in remove if name not in names]
        if missing:
            raise BadInput(
                f"no document called {', '.join(missing)} in {str(out)!r}",
                hint=f"there are: {', '.join(names)}" if names else "the index is empty",
            )
        documents = [file for file in files if not any(kind.has(file.name) for kind in BESIDE)]
        report, chunks = build.documents(book, documents, remove)
        for kind, held in beside:
            own = [file for file in files if kind.has(file.name)]
            report = build.beside(kind, report, chunks, held, own, remove)
        return report


@dataclass(frozen=True)
class _Build:
    """One run; holds what its steps share."""

    out: Path
    encoder: Encoder
    cache_dir: Path
    options: BuildOptions
    progress: Progress

    @property
    def encoder_id(self) -> EncoderId:
        """Which encoder makes the vectors."""
        return id_of(self.encoder)

    def held(self, folder: Path, of: type[T], text: Callable[[T], str]) -> Held[T]:
        """What lies in `folder` already; a fresh build begins with nothing."""
        return Held() if self.options.fresh else Held.read(folder, of, text, self.encoder_id)

    def documents(
        self, held: Held[Chunk], files: Sequence[Path], remove: Sequence[str]
    ) -> tuple[BuildReport, list[Chunk]]:
        """Put `files` into the place of the documents `held`; the report, and all chunks that are searched."""
        new, failed = self._each(files, self._read)
        changes, documents = held.changed(new, remove)
        for name in changes.removed:
            forget_seen(self.out, name)
        report = BuildReport(failed=failed).plus(changes)
        chunks = [chunk for document in documents.values() for chunk in document.rows]
        found = [chunk for chunk in chunks if chunk.subcategory not in UNSEARCHED]
        if held.manifest is None and not documents:
            return report, []  # nothing could be read: no empty index is made of it
        if held.manifest is not None and held.manifest.encoder == self.encoder_id and not changes.changed:
            entries = tuple(document.entry for document in documents.values())
            manifest = held.manifest.model_copy(update={"documents": entries})
            if manifest != held.manifest:  # a file lies elsewhere now
                write_manifest(self.out, manifest)
            return replace(report, manifest=manifest), found
        texts = [search_text(chunk) for chunk in found]
        told = partial(self.progress, "embed")
        vectors, embedded = embed(texts, self.encoder, self.cache_dir, known=held.vectors, progress=told)
        manifest = write_collection(
            self.out,
            [*found, *(chunk for chunk in chunks if chunk.subcategory in UNSEARCHED)],
            vectors,
            [tokens(text) for text in texts],
            of=Chunk,
            name=COLLECTION,
            encoder=self.encoder_id,
            documents=[document.entry for document in documents.values()],
            counts={"documents": len(documents)},
            licence=self.options.licence or (held.manifest.licence if held.manifest else ""),
        )
        return replace(report, manifest=manifest, embedded=embedded), found

    def beside(
        self,
        kind: Beside[T],
        report: BuildReport,
        chunks: Sequence[Chunk],
        held: Held[T],
        files: Sequence[Path],
        remove: Sequence[str],
    ) -> BuildReport:
        """After the documents: rows changed by `files` and `remove`, bound anew to `chunks` where need be."""
        new, failed = self._each(files, kind.read)
        corpus = report.manifest
        if corpus is None:
            alone = (
                (name, f"{name}: the index holds no document that its {kind.folder} could lead to") for name in new
            )
            return replace(report, failed=(*report.failed, *failed, *alone))
        changes, documents = held.changed(new, remove)
        rows = [row for document in documents.values() for row in document.rows]
        warnings = tuple(warning for file in new.values() for warning in file.entry.warnings)
        report = replace(report.plus(changes), failed=(*report.failed, *failed), warnings=(*report.warnings, *warnings))
        folder, old = self.out / kind.folder, held.manifest
        fits = old is not None and old.encoder == self.encoder_id and old.bound_to == corpus.corpus_hash
        if old is not None and fits and not changes.changed:
            found: dict[str, Any] = {kind.folder: old.counts["bound"]}
            return replace(report, **found)
        if not rows:
            drop_collection(folder)
            return report
        bound = kind.bind(rows, chunks)
        texts = [kind.text(row) for row in bound.searched]
        told = partial(self.progress, f"embed {kind.folder}")
        vectors, _ = embed(texts, self.encoder, self.cache_dir, known=held.vectors, progress=told)
        write_collection(
            folder,
            [*bound.searched, *bound.kept],
            vectors,
            [tokens(text) for text in kind.words(bound)],
            of=kind.of,
            name=kind.folder,
            encoder=self.encoder_id,
            documents=[document.entry for document in documents.values()],
            counts={"documents": len(documents), **bound.counts},
            licence=corpus.licence,
            codec="int6",  # six bits a number: the wordings of the course stay under the 10 MB of a file (C8)
            bound_to=corpus.corpus_hash,
        )
        found = {kind.folder: bound.counts["bound"]}
        return replace(report, **found, warnings=(*report.warnings, *bound.warnings))

    def _each(
        self, files: Sequence[Path], read: Callable[[Path], HeldDocument[T]]
    ) -> tuple[dict[str, HeldDocument[T]], tuple[tuple[str, str], ...]]:
        """What `read` makes of each file by name, and those that it cannot read with the reason."""
        found: dict[str, HeldDocument[T]] = {}
        failed: list[tuple[str, str]] = []
        for path in dict.fromkeys(files):
            self.progress(f"read {path.name}", 0, 1)
            try:
                found[path.name] = read(path)
            except BadDocument as error:
                failed.append((path.name, error.sentence()))
            self.progress(f"read {path.name}", 1, 1)
        return found, tuple(failed)

    def _read(self, path: Path) -> HeldDocument[Chunk]:
        """One file in chunks. Raises BadDocument."""
        material = guarded(
            read_material,
            path,
            kind=self.options.kind,
            language=self.options.language,
            category=self.options.category,
            version=self.options.version,
            url=self.options.url,
            workers=WORKERS,
            cut=self.options.cut,
            progress=partial(self.progress, f"read {path.name}"),
        )
        document = material.document
        keep_seen(self.out, document)
        entry = DocumentEntry(
            name=document.name,
            sha256=_hash(material.chunks),
            chunks=len(material.chunks),
            title=document.title,
            language=document.language,
            category=document.category,
            pages=document.pages,
            warnings=document.warnings,
            # As seen from the index, so that both can move together.
            path=Path(os.path.relpath(path.resolve(), self.out.resolve())).as_posix(),
        )
        return HeldDocument(entry, material.chunks)


def _hash(chunks: Sequence[Chunk]) -> str:
    """The hash of the normalised text and of how it was cut, so that only a real difference counts as one."""
    digest = hashlib.sha256()
    for chunk in chunks:
        rest = {**asdict(chunk), "text": text_hash(chunk.text)}
        del rest["recognised"]  # it says nothing of the text, and older indexes have none
        digest.update(json.dumps(rest, ensure_ascii=False, sort_keys=True).encode())
    return digest.hexdigest()
