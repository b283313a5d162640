"""Descriptions of functions by the chat model, on request (`--describe llm`); resumable.

What the model wrote is kept by the hash of the code and the model's name, so a run that is
stopped, or a changed file, asks only for what is new.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, Field

from osrag.errors import ModelFailed
from osrag.kernel.c_source import Piece
from osrag.kernel.describe import Pair
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.models.structured import UnreadableReply, ask
from osrag.prompts import render
from osrag.text import clip, text_hash

log = logging.getLogger(__name__)
CODE_CHARS = 1600  # of a function; its head says what it is for
OPTIONS = ChatOptions(max_tokens=220, temperature=0.2, purpose="describe")
MOST_FAILURES = 5  # in a row: then the model is gone, not the function strange


class Written(BaseModel):
    """What the model replies."""

    en: str = Field(min_length=10, max_length=600)
    zh: str = Field(min_length=4, max_length=400)


class ModelDescriptions:
    """What the model wrote, in a SQLite file."""

    def __init__(self, path: Path, model_name: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=60)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS written (key TEXT PRIMARY KEY, en TEXT, zh TEXT) WITHOUT ROWID")
        self._model = model_name

    def find(self, file: str, piece: Piece) -> Pair | None:
        """The description of a piece, None where the model wrote none yet."""
        row = self._db.execute("SELECT en, zh FROM written WHERE key = ?", (self._key(file, piece),)).fetchone()
        return (row[0], row[1]) if row else None

    def keep(self, file: str, piece: Piece, written: Written) -> None:
        """Keep what the model wrote, at once: a run that is killed loses nothing."""
        with self._db:
            values = (self._key(file, piece), written.en, written.zh)
            self._db.execute("INSERT OR REPLACE INTO written VALUES (?, ?, ?)", values)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _key(self, file: str, piece: Piece) -> str:
        """The key of a piece: the hash of the model's name, the file and the code."""
        return hashlib.sha256(f"{self._model}\0{file}\0{text_hash(piece.text)}".encode()).hexdigest()


def describe_with_model(chat: ChatModel, held: ModelDescriptions, pieces: Iterable[tuple[str, Piece]]) -> Iterable[int]:
    """Have the model describe every piece it has not described yet; yields 1 for each piece done.

    A reply that cannot be read leaves that function to the description made from the code.
    Raises ModelFailed when the model fails again and again.
    """
    failures = 0
    for file, piece in pieces:
        if held.find(file, piece) is None:
            try:
                held.keep(file, piece, ask(chat, describe_prompt(file, piece), Written, OPTIONS))
                failures = 0
            except UnreadableReply as error:
                log.warning("%s %s: %s", file, piece.name, error)
            except ModelFailed:
                failures += 1
                if failures >= MOST_FAILURES:
                    raise
        yield 1


def describe_prompt(file: str, piece: Piece) -> list[Message]:
    """Ask for one `Written`. The code is quoted data, not orders."""
    code = clip(piece.text, CODE_CHARS)
    return [
        Message("system", render("describe_code", "en")),
        Message("user", f"File: {file}\nFunction: {piece.name}\n{code}"),
    ]
