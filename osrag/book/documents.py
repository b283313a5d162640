"""Documents of the textbook collection: what a file is read into, and where it lies."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from osrag.book.read import READER, Material
from osrag.index.build import HeldDocument
from osrag.index.manifest import DocumentEntry, read_manifest
from osrag.text import text_hash
from osrag.types import Chunk

MOST_READINGS = 40  # kept in the cache; the oldest go first, and their files are read again when they come back
_MATERIAL = TypeAdapter(Material)


def list_documents(folder: Path) -> tuple[DocumentEntry, ...]:
    """Documents of the index in `folder`. Raises BadIndex when there is none."""
    return read_manifest(folder).documents


def document_file(folder: Path, entry: DocumentEntry) -> Path | None:
    """The file of a document, if it still lies where it was when it was read."""
    path = (folder / entry.path).resolve()
    return path if entry.path and path.is_file() else None


def document_of(material: Material, path: Path, folder: Path) -> HeldDocument[Chunk]:
    """A reading of the file `path`, for the index in `folder`."""
    entry = DocumentEntry(
        name=material.name,
        sha256=_hash(material),
        chunks=len(material.chunks),
        title=material.title,
        language=material.language,
        category=material.category,
        pages=material.pages,
        warnings=material.warnings,
        path=_relative(path, folder),
    )
    return HeldDocument(entry, material.chunks)


def _hash(material: Material) -> str:
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


def kept_material(path: Path, how: Sequence[str | None], cache: Path, read: Callable[[], Material]) -> Material:
    """What `read` gives for `path`, from the folder `cache` where the same bytes were read before, as `how` says.

    A killed build thus reads no file twice. Safe for two processes: a reading appears by a rename.
    """
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update("\0".join(map(str, (READER, path.name, *how))).encode())
    place = cache / f"{digest.hexdigest()[:32]}.json"
    try:
        material = _MATERIAL.validate_json(place.read_bytes())
    except (FileNotFoundError, ValidationError):  # not there, or written by another version
        material = read()
        cache.mkdir(parents=True, exist_ok=True)
        draft = place.with_suffix(f".{os.getpid()}")
        draft.write_bytes(_MATERIAL.dump_json(material))
        draft.replace(place)
        by_age = sorted(cache.glob("*.json"), key=lambda kept: kept.stat().st_mtime)
        for old in by_age[:-MOST_READINGS]:
            old.unlink(missing_ok=True)
    else:
        place.touch()
    return material
