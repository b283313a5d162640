"""Files that were read once: their chunks kept by the hash of the bytes, so that a killed build goes on."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from osrag.book.document import DocumentKind
from osrag.book.read import READER, Material
from osrag.errors import BadIndex
from osrag.index.tables import Table, write_table
from osrag.types import Chunk, Language

KEPT = 40  # readings kept; the oldest go first


class MaterialCache:
    """A folder of readings. Safe for two processes: a reading appears by a rename, its table first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def material(
        self,
        path: Path,
        *,
        kind: DocumentKind | None,
        language: Language | None,
        category: str,
        read: Callable[[], Material],
    ) -> Material:
        """What `read` gives for `path`, from the cache where the same bytes were read the same way before."""
        how = f"{READER}\0{path.name}\0{kind}\0{language}\0{category}\0".encode()
        with path.open("rb") as file:
            digest = hashlib.sha256(how + hashlib.file_digest(file, "sha256").digest()).hexdigest()[:32]
        return self._load(digest) or self._keep(digest, read())

    def _load(self, key: str) -> Material | None:
        meta = self.folder / f"{key}.json"
        try:
            fields: dict[str, Any] = json.loads(meta.read_text(encoding="utf-8"))
            chunks = Table.load(self.folder / f"{key}.parquet", Chunk).chunks()
            material = Material(**{**fields, "warnings": tuple(fields["warnings"]), "chunks": tuple(chunks)})
        except (FileNotFoundError, ValueError, TypeError, KeyError, BadIndex):
            return None  # not there, or half written by a process that was killed: it is read again
        meta.touch()
        return material

    def _keep(self, key: str, material: Material) -> Material:
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = f".{os.getpid()}"
        table, meta = self.folder / f"{key}.parquet", self.folder / f"{key}.json"
        write_table(table.with_suffix(mark), material.chunks, Chunk)
        fields = {name: value for name, value in asdict(replace(material, chunks=())).items() if name != "chunks"}
        meta.with_suffix(mark + "j").write_text(json.dumps(fields, ensure_ascii=False), encoding="utf-8")
        table.with_suffix(mark).replace(table)
        meta.with_suffix(mark + "j").replace(meta)
        self._forget()
        return material

    def _forget(self) -> None:
        kept = sorted(self.folder.glob("*.json"), key=lambda path: -path.stat().st_mtime)
        for old in kept[KEPT:]:
            old.unlink(missing_ok=True)
            old.with_suffix(".parquet").unlink(missing_ok=True)
