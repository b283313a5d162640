"""Where text recognition saw each line of a document, kept beside its index for the pictures of its pages."""

import json
from dataclasses import astuple
from pathlib import Path

from osrag.book.document import Document, SeenLine
from osrag.files import write_whole

FOLDER = "seen"


def keep_seen(folder: Path, document: Document) -> None:
    """Write the lines of a document; nothing, and no file, of one that has text of its own."""
    path = _path(folder, document.name)
    if not document.seen:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = {page: [astuple(line) for line in lines] for page, lines in document.seen.items()}
    write_whole(path, json.dumps(lines, ensure_ascii=False, separators=(",", ":")))


def seen_on(folder: Path, name: str, page: int) -> tuple[SeenLine, ...]:
    """The lines of a page of the document `name`; none where they were not kept."""
    path = _path(folder, name)
    if Path(name).name != name or not path.is_file():
        return ()
    return tuple(SeenLine(*line) for line in json.loads(path.read_text(encoding="utf-8")).get(str(page), ()))


def forget_seen(folder: Path, name: str) -> None:
    """Of a document that was removed."""
    _path(folder, name).unlink(missing_ok=True)


def _path(folder: Path, name: str) -> Path:
    return folder / FOLDER / f"{name}.json"
