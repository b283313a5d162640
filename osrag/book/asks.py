"""Files of questions, `*.asks.jsonl`: what a reader or an examiner may ask, and a quote of the text that answers.

{"quotes": ["a stretch of the text that answers"], "asks": ["a question", "the same in other words"]}
{"quotes": ["a stretch that states one fact"], "facts": [["a question of an examiner", "its answer"]]}
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from osrag.book.markdown import read_text
from osrag.errors import BadDocument
from osrag.text import clip, normalise

SUFFIX = ".asks.jsonl"
FORM = 'a line is {"quotes": ["text of the book", …], "asks": ["question", …]}, or "facts": [["question", "answer"], …]'
SEEN = 60  # characters of a broken line that are shown

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class AskRow(BaseModel, extra="forbid", frozen=True):
    """One teaching point: where it stands, in as many editions as there are, and what is asked about it."""

    quotes: tuple[Text, ...] = Field(min_length=1)
    asks: tuple[Text, ...] = ()  # by readers
    facts: tuple[tuple[Text, Text], ...] = ()  # by examiners: question and answer

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.asks and not self.facts:
            raise ValueError("neither asks nor facts")
        return self


@dataclass(frozen=True, slots=True)
class AskFile:
    name: str
    sha256: str  # of the rows
    rows: tuple[AskRow, ...]
    warnings: tuple[str, ...]  # a sentence for each line that is left out


def is_asks(name: str) -> bool:
    return name.lower().endswith(SUFFIX)


def read_asks(path: Path) -> AskFile:
    """The rows of a file; a broken line is named in `warnings`. Raises BadDocument where no line is whole."""
    if not path.is_file():
        raise BadDocument(f"{path.name}: there is no such file", hint="check the path")
    warnings: list[str] = []
    rows = tuple(_rows(path.name, read_text(path).split("\n"), warnings))
    if not rows:
        first = f", the first: {warnings[0]}" if warnings else ""
        raise BadDocument(f"{path.name}: no line holds questions{first}", hint=FORM)
    digest = hashlib.sha256("\n".join(row.model_dump_json() for row in rows).encode()).hexdigest()
    return AskFile(path.name, digest, rows, tuple(warnings))


def asks_of(rows: Sequence[AskRow]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The distinct questions in order, with their answers ("" of a reader's), and the quotes of every row of each."""
    quotes: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        for question, answer in (*((ask, "") for ask in row.asks), *row.facts):
            quotes.setdefault((normalise(question), normalise(answer)), {}).update(dict.fromkeys(row.quotes))
    return {ask: tuple(found) for ask, found in quotes.items()}


def _rows(name: str, lines: Sequence[str], warnings: list[str]) -> Iterator[AskRow]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield AskRow.model_validate(json.loads(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            warnings.append(_sentence(name, number, f"{where}: {first['msg'].lower()}", line))
        except (ValueError, RecursionError):
            warnings.append(_sentence(name, number, "this is no JSON object", line))


def _sentence(name: str, number: int, what: str, line: str) -> str:
    return f"{name} line {number}: {what}: {clip(line.strip(), SEEN)} (left out; {FORM})"
