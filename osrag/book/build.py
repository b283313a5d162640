"""The textbook collection: add, replace, remove and list documents (C6, C7).

    files -> read -> chunks -> embed (kept by text) -> write -> switch

Questions about the book (`*.asks.jsonl`) are bound to the chunks afterwards, in a folder of their own.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from osrag.book.asks import FOLDER as ASKS
from osrag.book.asks import ask_text, bind, is_asks, questions_of_faq, read_asks, read_asks_manifest
from osrag.book.chunking import UNSEARCHED, search_text
from osrag.book.document import DocumentKind
from osrag.book.read import read_material
from osrag.errors import BadDocument, BadInput
from osrag.index.build import Changes, Held, HeldDocument, building, embed
from osrag.index.collection import write_collection
from osrag.index.manifest import (
    NAME,
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
from osrag.types import Ask, Chunk, Language, Progress, silent

COLLECTION = "textbook"
WORKERS = 2  # processes that read one PDF: most machines have as many cores
T = TypeVar("T", Chunk, Ask)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How files are read and kept."""

    kind: DocumentKind | None = None  # detected when None
    language: Language | None = None  # detected when None
    category: str = ""
    licence: str = ""  # of the corpus; as it was when empty
    fresh: bool = False  # begin an empty index, whatever lies in the folder


@dataclass(frozen=True, slots=True)
class BuildReport(Changes):
    """What a build did. `failed` documents are left as they were in the index."""

    manifest: Manifest | None = None  # None when there is still no index
    failed: tuple[tuple[str, str], ...] = ()  # name, sentence
    embedded: int = 0  # texts of documents that were not in the cache
    asks: int = 0  # questions that are searched
    warnings: tuple[str, ...] = ()  # about questions: lines that cannot be read, quotes that no document has


def copies_of(folder: Path, cache_dir: Path) -> Copies:
    """The textbook collection in `folder`, with the questions that are bound to it, for another encoder.

    Raises BadIndex when there is no collection.
    """
    book, asks = read_manifest(folder), read_asks_manifest(folder)
    parts: list[Part[Chunk] | Part[Ask]] = [Part("", Chunk, search_text)]
    if asks and asks.bound_to == book.corpus_hash and asks.encoder == book.encoder:
        parts.append(Part(ASKS, Ask, ask_text))
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

    Files `*.asks.jsonl` hold questions about the other documents, and are replaced and removed like them.
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
        book, asks = build.held(out, Chunk, search_text), build.held(out / ASKS, Ask, ask_text)
        names = [*book.documents, *asks.documents]
        missing = [name for name in remove if name not in names]
        if missing:
            raise BadInput(
                f"no document called {', '.join(missing)} in {str(out)!r}",
                hint=f"there are: {', '.join(names)}" if names else "the index is empty",
            )
        report, chunks = build.documents(book, [file for file in files if not is_asks(file.name)], remove)
        return build.questions(report, chunks, asks, [file for file in files if is_asks(file.name)], remove)


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

    def questions(
        self,
        report: BuildReport,
        chunks: Sequence[Chunk],
        held: Held[Ask],
        files: Sequence[Path],
        remove: Sequence[str],
    ) -> BuildReport:
        """Questions after the documents: changed by `files` and `remove`, bound anew to `chunks` where need be."""
        new, failed = self._each(files, read_asks)
        corpus = report.manifest
        if corpus is None:
            alone = ((name, f"{name}: the index holds no document that its questions could lead to") for name in new)
            return replace(report, failed=(*report.failed, *failed, *alone))
        changes, documents = held.changed(new, remove)
        asks = [ask for document in documents.values() for ask in document.rows]
        report = replace(
            report.plus(changes),
            failed=(*report.failed, *failed),
            warnings=tuple(warning for file in new.values() for warning in file.entry.warnings),
            asks=sum(bool(ask.chunk_ids) for ask in asks),
        )
        folder, old = self.out / ASKS, held.manifest
        fits = old is not None and old.encoder == self.encoder_id and old.bound_to == corpus.corpus_hash
        if not changes.changed and (fits or not (folder / NAME).exists()):
            return report
        if not asks:
            drop_collection(folder)
            return report
        bound, warnings = bind(asks, chunks)
        found = [*(ask for ask in bound if ask.chunk_ids), *questions_of_faq(chunks)]
        texts = [ask_text(ask) for ask in found]
        told = partial(self.progress, "embed questions")
        vectors, _ = embed(texts, self.encoder, self.cache_dir, known=held.vectors, progress=told)
        searched = sum(bool(ask.chunk_ids) for ask in bound)
        write_collection(
            folder,
            [*found, *(ask for ask in bound if not ask.chunk_ids)],
            vectors,
            [tokens(text) for text in texts],
            of=Ask,
            name=ASKS,
            encoder=self.encoder_id,
            documents=[document.entry for document in documents.values()],
            counts={"documents": len(documents), "asks": len(bound), "bound": searched},
            licence=corpus.licence,
            codec="float16",
            bound_to=corpus.corpus_hash,
        )
        return replace(report, asks=searched, warnings=(*report.warnings, *warnings))

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
        material = read_material(
            path,
            kind=self.options.kind,
            language=self.options.language,
            category=self.options.category,
            workers=WORKERS,
            progress=partial(self.progress, f"read {path.name}"),
        )
        document = material.document
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
        digest.update(json.dumps(rest, ensure_ascii=False, sort_keys=True).encode())
    return digest.hexdigest()
