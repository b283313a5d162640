"""Documents of the textbook collection: what an index holds of each, and what a reading gives."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from osrag.book.chunking import UNSEARCHED
from osrag.book.read import Material
from osrag.errors import BadIndex
from osrag.index.collection import Collection
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, read_manifest
from osrag.models.protocols import Vectors
from osrag.text import text_hash
from osrag.types import Chunk


@dataclass(frozen=True, slots=True)
class Held:
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


def searched(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Chunks that a question may find; a table of contents names every topic and explains none."""
    return (chunk for chunk in chunks if chunk.subcategory not in UNSEARCHED)


def held_in(folder: Path, encoder: EncoderId) -> dict[str, Held]:
    """Documents of the index in `folder`, by name; without vectors where another encoder made them."""
    if not (folder / NAME).exists():
        return {}
    try:
        index = Collection.load(folder, None, of=Chunk)
    except BadIndex as error:
        raise BadIndex(str(error), hint="begin it anew with --fresh, naming all files") from error
    vectors = index.dense.vectors()
    rows: dict[str, list[int]] = {entry.name: [] for entry in index.manifest.documents}
    for row, name in enumerate(index.table.column("file_name").to_pylist()):
        rows[name].append(row)
    chunks = index.table.chunks()
    held = {}
    for entry in index.manifest.documents:
        own = [chunks[row] for row in rows[entry.name]]
        made = [row for row in rows[entry.name] if row < index.searchable]
        fits = index.manifest.encoder == encoder and len(made) == sum(1 for _ in searched(own))
        held[entry.name] = Held(entry, own, vectors[made] if fits else None)
    return held


def held_of(material: Material, path: Path, folder: Path) -> Held:
    """A reading of the file `path`, for the index in `folder`."""
    entry = DocumentEntry(
        name=material.name,
        sha256=material_hash(material),
        chunks=len(material.chunks),
        title=material.title,
        language=material.language,
        category=material.category,
        pages=material.pages,
        warnings=material.warnings,
        path=_relative(path, folder),
    )
    return Held(entry, material.chunks)


def material_hash(material: Material) -> str:
    """Of the normalised text and of how it was cut, so that only a real difference counts as one."""
    digest = hashlib.sha256()
    for chunk in material.chunks:
        rest = {**asdict(chunk), "text": text_hash(chunk.text)}
        digest.update(json.dumps(rest, ensure_ascii=False, sort_keys=True).encode())
    return digest.hexdigest()


def _relative(path: Path, folder: Path) -> str:
    """As seen from the index, so that both can move together."""
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return path.resolve().as_posix()
