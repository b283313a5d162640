"""`manifest.json`: the last file that a build writes and the first one that is read.

Data files carry a hash in their name and the manifest names them. Replacing the manifest, one atomic
rename, is therefore what switches an index over: a build that is killed at any moment leaves the previous
index whole.
"""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from osrag.errors import BadIndex
from osrag.files import write_whole
from osrag.models.protocols import Encoder

NAME = "manifest.json"
AGAIN = "build the index again"


class EncoderId(BaseModel, extra="forbid", frozen=True):
    """Which encoder made the vectors of a collection; those of another one cannot be compared with them."""

    name: str
    revision: str
    dim: int


def id_of(encoder: Encoder) -> EncoderId:
    """The identity of an encoder that is loaded."""
    return EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim)


class DocumentEntry(BaseModel, extra="forbid", frozen=True):
    """One document or source file of a collection."""

    name: str
    sha256: str  # of the normalised text and of how it was cut
    chunks: int
    title: str = ""
    language: str = ""
    category: str = ""
    pages: int = 0
    warnings: tuple[str, ...] = ()
    path: str = ""  # where the file lay when it was read, seen from the index folder: for the page pictures

    def file(self, folder: Path) -> Path | None:
        """The file of the document, if it still lies where it was; `folder` is that of the index."""
        path = (folder / self.path).resolve()
        return path if self.path and path.is_file() else None


class Manifest(BaseModel, extra="forbid", frozen=True):
    """What a collection holds and what made it."""

    format: Literal[1] = 1  # raise it when the files of a collection are read in another way
    collection: str
    corpus_hash: str
    encoder: EncoderId
    counts: dict[str, int]
    files: dict[str, str]  # part -> file name beside the manifest
    documents: tuple[DocumentEntry, ...] = ()
    tools: dict[str, str] = Field(default_factory=dict)
    licence: str = ""
    source: str = ""  # "Debian linux-source-6.1 6.1.x", "examples/textbook"
    bound_to: str = ""  # corpus hash of the collection that the rows speak of, where they do


def read_manifest(folder: Path) -> Manifest:
    """Raises BadIndex when there is none, or when it is damaged, of another format or names a file that is gone."""
    path = folder / NAME
    try:
        held = path.read_bytes()
        manifest = Manifest.model_validate_json(held)
    except FileNotFoundError as error:
        raise BadIndex(f"no index at {str(folder)!r}", hint="build one: python -m osrag build --help") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadIndex(f"{path} is damaged or of another version: {where} {first['msg']}", hint=AGAIN) from error
    missing = [name for name in manifest.files.values() if not (folder / name).exists()]
    if missing and path.read_bytes() != held:
        return read_manifest(folder)  # a build switched the folder while we read
    if missing:
        raise BadIndex(f"{folder} lacks {', '.join(missing)}", hint=AGAIN)
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Switch `folder` over to the files that `manifest` names, then drop the others."""
    # An older osrag does not know `bound_to`, but reads collections without it.
    fields = manifest.model_dump(exclude=set() if manifest.bound_to else {"bound_to"})
    write_whole(folder / NAME, json.dumps(fields, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
    for old in folder.iterdir():
        if old.suffix in {".parquet", ".faiss", ".npz"} and old.name not in manifest.files.values():
            old.unlink(missing_ok=True)


def drop_collection(folder: Path) -> None:
    """Take a collection out of `folder`, the manifest first: without it the rest is no index."""
    if (folder / NAME).exists():
        (folder / NAME).unlink()
        for old in folder.glob("*-*.*"):
            old.unlink(missing_ok=True)


def check_encoder(manifest: Manifest, running: EncoderId, *, rebuild: str) -> None:
    """Raises BadIndex, naming the command that rebuilds, when the vectors are of another encoder."""
    if manifest.encoder != running:
        made, now = (f"{e.name} {e.revision[:12]} ({e.dim} numbers a vector)" for e in (manifest.encoder, running))
        raise BadIndex(
            f"the {manifest.collection} index was made by {made}, the running encoder is {now}",
            hint=f"rebuild it: {rebuild}",
        )
