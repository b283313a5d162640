"""What the engine made of fixed prefixes, kept from one start of the app to the next.

Reading the fixed parts of all prompts costs a CPU some ten seconds; the files that hold the
result are a few megabytes each. A lost or foreign file costs those seconds again, nothing else.
"""

import hashlib
import importlib.metadata
import os
import shutil
from contextlib import suppress
from pathlib import Path

MOST = 24  # files kept: the prompts of a few versions


class KeptPrefixes:
    """A folder of slot files by the hash of prefix, weights and engine; none where `folder` is None."""

    def __init__(self, folder: Path | None, *identity: object) -> None:
        self._folder = folder
        self._identity = "\0".join(map(str, identity))

    def fetch(self, text: str, target: Path) -> bool:
        """Put the file of a prefix where the engine finds it; False when there is none."""
        kept = self._place(text)
        if kept is None:
            return False
        try:
            shutil.copyfile(kept, target)
            os.utime(kept)
        except OSError:
            return False
        return True

    def keep(self, text: str, made: Path) -> None:
        """Keep the file that the engine made of a prefix, as far as there is room."""
        kept = self._place(text)
        if kept is None:
            return
        part = kept.with_suffix(f".{os.getpid()}.part")
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, part)
            part.replace(kept)
            self._prune(kept.parent)
        except OSError:  # a full disk, a folder that cannot be written: the next start reads again
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def forget(self, text: str) -> None:
        """The engine could not use the file."""
        kept = self._place(text)
        if kept is not None:
            with suppress(OSError):
                kept.unlink(missing_ok=True)

    def _place(self, text: str) -> Path | None:
        if self._folder is None:
            return None
        name = hashlib.sha256(f"{self._identity}\0{text}".encode()).hexdigest()[:32]
        return self._folder / f"{name}.bin"

    @staticmethod
    def _prune(folder: Path) -> None:
        newest_first = sorted(folder.glob("*.bin"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest_first[MOST:]:
            path.unlink(missing_ok=True)


def engine_version() -> str:
    """Of llama.cpp as packaged; its slot files are good for it alone."""
    try:
        return importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        return ""
