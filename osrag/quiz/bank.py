"""The question bank: files of rows, held as one `datasets.Dataset`; a broken line is named, the rest works."""

import csv
import functools
import io
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osrag.errors import BadInput
from osrag.quiz.rows import read_row
from osrag.quiz.types import Option, QuizItem, RubricPoint
from osrag.types import Language

SUFFIXES = (".jsonl", ".json", ".csv")
MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Slip:
    """One thing wrong in a file, and where."""

    where: str  # "ch03.jsonl:12"
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Read:
    """What a file gave: the items that can be used, and a slip for every row that cannot."""

    items: tuple[QuizItem, ...]
    slips: tuple[Slip, ...]


def raw_rows(path: Path) -> Iterator[tuple[str, Any, str]]:
    """(where, row, what is wrong) for every row of a file; raises BadInput when the file cannot be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(f"{path.name}: {path.stat().st_size:,} bytes, at most {MAX_BYTES:,}")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read {str(path)!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name}: not UTF-8 at byte {error.start}", hint="save the file as UTF-8") from error
    match path.suffix.lower():
        case ".csv":
            yield from _csv_rows(path.name, text)
        case ".json":
            yield from _json_rows(path.name, text)
        case ".jsonl":
            yield from _jsonl_rows(path.name, text)
        case other:
            raise BadInput(f"{path.name}: {other or 'no suffix'} is not read", hint=f"use {', '.join(SUFFIXES)}")


def _jsonl_rows(name: str, text: str) -> Iterator[tuple[str, Any, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            yield where, json.loads(line), ""
        except json.JSONDecodeError as error:
            yield where, None, f"not JSON: {error.msg} at character {error.pos + 1}"


def _json_rows(name: str, text: str) -> Iterator[tuple[str, Any, str]]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}:{error.lineno}: not JSON: {error.msg} at character {error.colno}") from error
    if isinstance(value, dict):
        value = value.get("questions") or value.get("items") or [value]
    if not isinstance(value, list):
        raise BadInput(f"{name}: a list of questions is expected, got {type(value).__name__}")
    for number, row in enumerate(value, start=1):
        yield f"{name}#{number}", row, ""


def _csv_rows(name: str, text: str) -> Iterator[tuple[str, Any, str]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if not reader.fieldnames:
            raise BadInput(f"{name}: empty; the first line names the columns")
        for row in reader:
            where = f"{name}:{reader.line_num}"
            if None in row:
                yield where, None, f"{len(row[None])} cells more than columns"
            else:
                yield where, {key: value for key, value in row.items() if value not in (None, "")}, ""
    except csv.Error as error:
        yield f"{name}:{reader.line_num}", None, f"not CSV: {error}"


def read_file(path: Path) -> Read:
    """All items of a file. A row that cannot be used is a slip, never an exception."""
    items: list[QuizItem] = []
    slips: list[Slip] = []
    for where, row, wrong in raw_rows(path):
        if wrong:
            slips.append(Slip(where, wrong))
            continue
        try:
            items += read_row(row, default_id=f"{path.stem}-{where.rsplit(':', 1)[-1].rsplit('#', 1)[-1]}")
        except BadInput as error:
            slips.append(Slip(where, error.sentence()))
    return Read(tuple(items), tuple(slips))


class Bank:
    """Questions to pick from. Frozen once made; safe to read from several threads."""

    def __init__(self, items: Sequence[QuizItem], slips: Sequence[Slip] = ()) -> None:
        import datasets

        names: dict[str, QuizItem] = {}
        again: list[Slip] = []
        for item in items:
            if item.name in names:
                again.append(Slip(item.id, f"the id is used twice ({item.language}); the first one is kept"))
            else:
                names[item.name] = item
        self.slips = (*slips, *again)
        self.rows = datasets.Dataset.from_list([to_row(item) for item in names.values()], features=_features())
        self._places = {name: place for place, name in enumerate(names)}

    def __len__(self) -> int:
        """Questions; a question in two languages counts once."""
        return len({name.rsplit("/", 1)[0] for name in self._places})

    def get(self, name: str) -> QuizItem | None:
        """The question called `ID/LANGUAGE`."""
        place = self._places.get(name)
        return None if place is None else from_row(self.rows[place])

    def values(self, field: str, language: Language) -> list[str]:
        """What `field` says in this language, in order of the bank, without repeats or empty ones."""
        pairs = zip(self.rows[field], self.rows["language"], strict=True)
        return list(dict.fromkeys(value for value, spoken in pairs if spoken == language and value))

    def find(self, language: Language, **wanted: str) -> list[str]:
        """Names of the questions whose fields are as wanted; an empty wish asks for nothing."""
        wishes = {field: value for field, value in wanted.items() if value}
        columns = {field: self.rows[field] for field in wishes}
        spoken = self.rows["language"]
        return [
            name
            for name, place in self._places.items()
            if spoken[place] == language and all(columns[field][place] == value for field, value in wishes.items())
        ]

    def pick(self, names: Sequence[str], *, not_: Sequence[str] = (), seed: int | None = None) -> str | None:
        """One of `names` at random, not one of `not_` while there is another; None of none."""
        fresh = [name for name in names if name not in set(not_)] or list(names)
        return random.Random(seed).choice(fresh) if fresh else None


def _features() -> Any:
    from datasets import Features, Value
    from datasets.features import List

    text = Value("string")
    return Features(
        {
            **dict.fromkeys(TEXT_FIELDS, text),
            "options": List({"key": text, "text": text}),
            "answer": List(text),
            "rubric": List({"point": text, "points": Value("float64")}),
        }
    )


TEXT_FIELDS = (
    "id", "type", "language", "question", "reference", "chapter", "section", "difficulty", "knowledge_point",
    "explanation", "page_quote",
)  # fmt: skip


def to_row(item: QuizItem) -> dict[str, Any]:
    """An item as a flat row, ready for JSON."""
    return {
        **{name: getattr(item, name) for name in TEXT_FIELDS},
        "options": [{"key": option.key, "text": option.text} for option in item.options],
        "answer": list(item.answer),
        "rubric": [{"point": point.point, "points": point.points} for point in item.rubric],
    }


def from_row(row: dict[str, Any]) -> QuizItem:
    """The inverse of `to_row`."""
    return QuizItem(
        **{name: row[name] for name in TEXT_FIELDS},
        options=tuple(Option(**option) for option in row["options"]),
        answer=tuple(row["answer"]),
        rubric=tuple(RubricPoint(**point) for point in row["rubric"]),
    )


def load_bank(folder: Path) -> Bank:
    """Every bank file of a folder, in the order of names; files that cannot be read are slips too."""
    items: list[QuizItem] = []
    slips: list[Slip] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() not in SUFFIXES:
            continue
        try:
            read = read_file(path)
        except BadInput as error:
            slips.append(Slip(path.name, error.sentence()))
            continue
        items += read.items
        slips += read.slips
    return Bank(items, slips)


@functools.cache
def shipped_bank() -> Bank:
    """The bank in `examples/quiz`."""
    from osrag.settings import ROOT

    return load_bank(ROOT / "examples" / "quiz")
