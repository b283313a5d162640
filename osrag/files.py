"""Files that are whole at every moment: a program that is killed leaves the old content, or whole lines."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def write_whole(path: Path, data: bytes | str) -> None:
    """Put `data` in the place of what a file holds, by one rename."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data.encode() if isinstance(data, str) else data)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def appending(path: Path) -> Iterator[TextIO]:
    """A file to append lines to; where it ends in half a line, of a program that was killed, a new one begins."""
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
    with path.open("a", encoding="utf-8") as out:
        yield out
