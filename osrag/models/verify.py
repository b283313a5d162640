"""SHA-256 of big files, and stamps that make the second look cheap."""

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

BLOCK = 1 << 20


def sha256_of(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """Hash of a file; `on_bytes` hears how many bytes were read so far."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            if on_bytes:
                on_bytes(done)
    return digest.hexdigest()


class Stamps:
    """Remembers which files were verified, by size and modification time.

    Hashing a gigabyte costs seconds at every start; a file whose size and
    modification time are those of its last verification is taken as verified.
    The stamps lie apart from the files, which may be on a read-only disk.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def holds(self, path: Path, sha256: str) -> bool:
        """Was this very file verified as `sha256` before, and not touched since?"""
        try:
            stamp = json.loads(self._place(path).read_text("utf-8"))
            return bool(stamp == self._stamp(path, sha256))
        except (OSError, ValueError):
            return False

    def write(self, path: Path, sha256: str) -> None:
        """Remember a verification. Failing to is no error: the next start hashes again."""
        place = self._place(path)
        draft = place.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps(self._stamp(path, sha256)), "utf-8")
            draft.replace(place)

    def _stamp(self, path: Path, sha256: str) -> dict[str, object]:
        stat = path.stat()
        return {
            "path": str(path.resolve()),
            "bytes": stat.st_size,
            "mtime_ns": stat.st_mtime_ns,
            "sha256": sha256,
        }

    def _place(self, path: Path) -> Path:
        name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
        return self.folder / f"{name}.json"
