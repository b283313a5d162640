"""`manifest.json`: the last file written and the first one read.

Data files carry a hash in their name and the manifest names them, so that
replacing the manifest (one atomic rename) is what switches an index over: a build
killed at any moment leaves the previous index whole.
"""

import json
import os
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from osrag.errors import BadIndex

FORMAT = 1
NAME = "manifest.json"


class EncoderId(BaseModel, extra="forbid", frozen=True):
    name: str
    revision: str
    dim: int


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


class Manifest(BaseModel, extra="forbid", frozen=True):
    format: int = FORMAT
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
    """Raises BadIndex when there is none, or when it is damaged or of another format."""
    path = folder / NAME
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadIndex(f"no index at {str(folder)!r}", hint="build one: python -m osrag build --help") from error
    except ValueError as error:
        raise BadIndex(f"{path} is damaged: {error}", hint="build the index again") from error
    if raw.get("format") != FORMAT:
        raise BadIndex(
            f"{path} has format {raw.get('format')!r}, this osrag reads {FORMAT}",
            hint="build the index again",
        )
    try:
        manifest = Manifest.model_validate(raw)
    except ValidationError as error:
        raise BadIndex(f"{path} is damaged: {error.error_count()} fields do not fit", hint="build it again") from error
    missing = [name for name in manifest.files.values() if not (folder / name).exists()]
    if missing:
        raise BadIndex(f"{folder} lacks {', '.join(missing)}", hint="build the index again")
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Switch `folder` over to the files that `manifest` names, then drop the others."""
    path = folder / NAME
    draft = folder / f".{NAME}.{os.getpid()}"
    fields = manifest.model_dump()
    if not manifest.bound_to:
        del fields["bound_to"]  # of most collections, which are also read by an older osrag
    text = json.dumps(fields, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
    keep = {NAME, *manifest.files.values()}
    for old in folder.iterdir():
        if old.name in keep or old.suffix not in {".parquet", ".faiss", ".npz"}:
            continue
        old.unlink(missing_ok=True)


def check_encoder(manifest: Manifest, running: EncoderId, *, rebuild: str) -> None:
    """Raises BadIndex, naming the command that rebuilds, when the vectors are of another encoder."""
    if manifest.encoder != running:
        made, now = (f"{e.name} {e.revision[:12]} ({e.dim} numbers a vector)" for e in (manifest.encoder, running))
        raise BadIndex(
            f"the {manifest.collection} index was made by {made}, the running encoder is {now}",
            hint=f"rebuild it: {rebuild}",
        )
