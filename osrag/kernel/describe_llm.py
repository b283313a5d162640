"""Descriptions of functions and summaries of files by the chat model, on request (`--describe llm`); resumable (C5).

What the model wrote is kept by the hash of what it was shown and the model's name, so a run that is
stopped, or a changed file, asks only for what is new.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
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
CODE_CHARS = 1600  # of a function, whose head says what it is for, or of what is told of a file
ABOUT_CHARS = 120  # of the description of a function that is told of its file
OPTIONS = ChatOptions(max_tokens=220, temperature=0.2, purpose="describe")
MOST_FAILURES = 5  # in a row: then the model is gone, not the function strange


class Written(BaseModel):
    """What the model replies."""

    en: str = Field(min_length=10, max_length=600)
    zh: str = Field(min_length=4, max_length=400)


@dataclass(frozen=True, slots=True)
class Undescribed:
    """What the model is to describe."""

    file: str
    name: str  # of a function; "" for the file itself
    text: str  # its code; of a file what is known of it


def of_function(file: str, piece: Piece) -> Undescribed:
    """A function with its code."""
    return Undescribed(file, piece.name, piece.text)


def of_file(file: str, summary: str, functions: Iterable[tuple[str, str]]) -> Undescribed:
    """A file with the summary that is made from its code, and its functions with what each is for."""
    lines = (f"- {name}: {clip(about, ABOUT_CHARS)}" for name, about in functions)
    return Undescribed(file, "", "\n".join((summary, *lines)))


class ModelDescriptions:
    """What the model wrote, in a SQLite file."""

    def __init__(self, path: Path, model_name: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=60)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS written (key TEXT PRIMARY KEY, en TEXT, zh TEXT) WITHOUT ROWID")
        self._model = model_name

    def find(self, one: Undescribed) -> Pair | None:
        """What the model wrote, None where it wrote nothing yet."""
        row = self._db.execute("SELECT en, zh FROM written WHERE key = ?", (self._key(one),)).fetchone()
        return (row[0], row[1]) if row else None

    def keep(self, one: Undescribed, written: Written) -> None:
        """Keep what the model wrote, at once: a run that is killed loses nothing."""
        with self._db:
            self._db.execute(
                "INSERT OR REPLACE INTO written VALUES (?, ?, ?)", (self._key(one), written.en, written.zh)
            )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _key(self, one: Undescribed) -> str:
        """The hash of the model's name, the file and what is shown of it."""
        return hashlib.sha256(f"{self._model}\0{one.file}\0{text_hash(one.text)}".encode()).hexdigest()


def describe_with_model(chat: ChatModel, held: ModelDescriptions, asked: Iterable[Undescribed]) -> Iterable[int]:
    """Have the model describe all that it has not described yet; yields 1 for each that is done.

    A reply that cannot be read leaves a function or a file to the description made from the code.
    Raises ModelFailed when the model fails again and again.
    """
    failures = 0
    for one in asked:
        if held.find(one) is None:
            try:
                held.keep(one, ask(chat, describe_prompt(one), Written, OPTIONS))
                failures = 0
            except UnreadableReply as error:
                log.warning("%s %s: %s", one.file, one.name, error)
            except ModelFailed:
                failures += 1
                if failures >= MOST_FAILURES:
                    raise
        yield 1


def describe_prompt(one: Undescribed) -> list[Message]:
    """Ask for one `Written`. What is shown is quoted data, not orders."""
    shown = clip(one.text, CODE_CHARS)
    head = f"File: {one.file}\n" + (f"Function: {one.name}\n" if one.name else "")
    return [
        Message("system", render("describe_code" if one.name else "describe_file", "en")),
        Message("user", head + shown),
    ]
