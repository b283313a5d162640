"""The question bank: files of rows, which are searched by the columns of a `datasets.Dataset`.

A broken line is named, and the rest works.
"""

import csv
import difflib
import functools
import io
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osrag.errors import BadInput
from osrag.nesting import read_json
from osrag.quiz.blanks import BLANK
from osrag.quiz.exchange.gift import decoded, read_gift
from osrag.quiz.exchange.moodle import read_moodle
from osrag.quiz.exercise import Exercise
from osrag.quiz.hints import with_hints
from osrag.quiz.programs.folder import FOLDER, read_programs
from osrag.quiz.reasons import with_reasons
from osrag.quiz.rows import KNOWN_FIELDS, read_row
from osrag.settings import ROOT
from osrag.text import squeeze
from osrag.types import Language
from osrag.wording import Said, in_full

SUFFIXES = (".jsonl", ".json", ".csv", ".xml", ".gift", ".txt")  # Moodle XML; GIFT under two names
MAX_BYTES = 20_000_000
COLUMNS = ("language", "type", "chapter", "section", "difficulty", "knowledge_point")  # by which exercises are found


@dataclass(frozen=True, slots=True)
class BankFile:
    """What a file gave."""

    exercises: tuple[Exercise, ...]
    # One line each, with the place: "ch03.jsonl:12: not JSON".
    slips: tuple[str, ...]  # rows that are left out
    doubts: tuple[str, ...]  # rows that work, but perhaps not as meant

    @property
    def types(self) -> dict[str, int]:
        """How many exercises of each type there are; one in two languages counts once."""
        first = {exercise.id: exercise for exercise in self.exercises}
        return dict(Counter(exercise.type for exercise in first.values()))


def read_file(path: Path, *, most: int | None = None, taken: Collection[str] = ()) -> BankFile:
    """All exercises of a file. A row that cannot be used is a slip, so is one whose name is `taken` by another bank.

    Raises BadInput for a file that cannot be read, or that holds more rows than `most`.
    """
    exercises: list[Exercise] = []
    slips: list[str] = []
    doubts: list[str] = []
    seen: dict[str, str] = {}
    rows = list(_rows_of(path))
    if most is not None and len(rows) > most:
        raise BadInput(Said("bank_many", name=path.name, seen=len(rows), most=most), hint=Said("bank_many_hint"))
    for where, row in rows:
        try:
            if isinstance(row, BadInput):
                raise row
            found = read_row(row, default_id=f"{path.stem}-{re.split('[:#]', where)[-1]}")
        except BadInput as error:
            slips.append(Said("row_at", where=where, what=in_full(error)))
            continue
        doubts += (Said("row_at", where=where, what=what) for what in _misspelt(row))
        for exercise in found:
            owner = seen.get(exercise.name) or (Said("bank_another") if exercise.name in taken else "")
            if owner:
                twice = Said("bank_id_twice", id=exercise.id, wording=exercise.language, owner=owner)
                slips.append(Said("row_at", where=where, what=twice))
                continue
            seen[exercise.name] = where
            exercises.append(exercise)
            place = f"{where} {exercise.language}"
            doubts += (Said("row_at", where=place, what=what) for what in _doubts(exercise))
    return BankFile(tuple(exercises), tuple(slips), tuple(doubts))


def _rows_of(path: Path) -> Iterator[tuple[str, Any]]:
    """(where, row, or the BadInput of a row that cannot be read). Raises BadInput when the whole file cannot be."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput(Said("bank_large", name=path.name, seen=path.stat().st_size, most=MAX_BYTES))
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(Said("bank_unreadable", name=str(path), why=error.strerror)) from error
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        read = Said("bank_suffixes_hint", suffixes=", ".join(SUFFIXES))
        raise BadInput(Said("bank_no_suffix", name=path.name, suffix=suffix or "-"), hint=read)
    if suffix == ".xml":
        yield from ((Said("row_at", where=path.name, what=where), row) for where, row in read_moodle(data))
        return
    try:
        text = decoded(data)
    except BadInput as error:
        raise BadInput(Said("row_at", where=path.name, what=error.message), hint=error.hint) from error
    match suffix:
        case ".gift" | ".txt":
            yield from ((Said("row_at", where=path.name, what=where), row) for where, row in read_gift(data))
        case ".csv":
            yield from _csv_rows(path.name, text)
        case ".json":
            yield from _json_rows(path.name, text)
        case _:
            yield from _jsonl_rows(path.name, text)


def _jsonl_rows(name: str, text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield f"{name}:{number}", read_json(line)
        except BadInput as error:
            yield f"{name}:{number}", error


def _json_rows(name: str, text: str) -> Iterator[tuple[str, Any]]:
    try:
        value = read_json(text)
    except BadInput as error:
        raise BadInput(Said("row_at", where=name, what=error.message)) from error
    if isinstance(value, dict):
        value = value.get("questions") or value.get("items") or [value]
    if not isinstance(value, list):
        raise BadInput(Said("bank_no_list", name=name, kind=type(value).__name__))
    for number, row in enumerate(value, start=1):
        yield f"{name}#{number}", row


def _csv_rows(name: str, text: str) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if not reader.fieldnames:
            raise BadInput(Said("bank_no_columns", name=name))
        for row in reader:
            where = f"{name}:{reader.line_num}"
            if None in row:
                yield where, BadInput(Said("bank_cells", count=len(row[None])))
            else:
                yield where, {key: value for key, value in row.items() if value}
    except csv.Error as error:
        yield f"{name}:{reader.line_num}", BadInput(Said("bank_no_csv", why=error))


def _misspelt(row: Mapping[str, Any]) -> Iterator[str]:
    """Fields that nobody reads but whose name is nearly one that is read."""
    for name in map(str, row):
        if near := _meant(name.lower()):
            yield Said("doubt_field", seen=name, meant=near)


@functools.lru_cache(maxsize=256)
def _meant(name: str) -> str:
    """The field whose name is nearly this one; empty for a field, and for a name that is like none."""
    near = [] if name in KNOWN_FIELDS else difflib.get_close_matches(name, KNOWN_FIELDS, n=1, cutoff=0.8)
    return near[0] if near else ""


def _doubts(exercise: Exercise) -> Iterator[str]:
    """What is odd about an exercise that can be used."""
    texts = [squeeze(option.text) for option in exercise.options]
    open_ended = exercise.type in ("short_answer", "programming")
    if exercise.type in ("single_choice", "multiple_choice") and not 2 <= len(texts) <= 30:
        yield Said("doubt_options", count=len(texts))
    if len(set(texts)) != len(texts):
        yield Said("doubt_same")
    if not open_ended and not exercise.answer:
        yield Said("doubt_no_key")
    if exercise.type == "fill_blank" and exercise.answer:
        blanks = len(BLANK.findall(exercise.question))
        if blanks != len(exercise.answer):
            yield Said("doubt_blanks", blanks=blanks, answers=len(exercise.answer))
    if open_ended and not (exercise.reference or exercise.rubric):
        yield Said("doubt_no_reference")
    if exercise.rubric and not open_ended:
        yield Said("doubt_rubric", kind=exercise.type)
    if exercise.difficulty and exercise.difficulty not in ("easy", "medium", "hard"):
        yield Said("doubt_difficulty", seen=exercise.difficulty)


class Bank:
    """Exercises to pick from. Frozen once made; safe to read from several threads."""

    def __init__(self, exercises: Sequence[Exercise], slips: Sequence[str] = ()) -> None:
        import datasets

        self._exercises: dict[str, Exercise] = {}
        self.slips = tuple(slips)
        for exercise in exercises:
            if self._exercises.setdefault(exercise.name, exercise) is not exercise:
                self.slips += (f"{exercise.id}: the id is used twice ({exercise.language}); the first one is kept",)
        self.rows = datasets.Dataset.from_dict(
            {field: [getattr(one, field) for one in self.exercises()] for field in COLUMNS}
        )

    def __len__(self) -> int:
        """Exercises; one in two languages counts once."""
        return len({exercise.id for exercise in self.exercises()})

    def get(self, name: str) -> Exercise | None:
        """The exercise called `ID/LANGUAGE`."""
        return self._exercises.get(name)

    def exercises(self) -> list[Exercise]:
        """All exercises, each language by itself, in the order of the bank."""
        return list(self._exercises.values())

    def values(self, field: str, language: Language) -> list[str]:
        """What `field` says in this language, in the order of the bank, without repeats or empty ones."""
        pairs = zip(self.rows[field], self.rows["language"], strict=True)
        return list(dict.fromkeys(value for value, spoken in pairs if spoken == language and value))

    def find(self, language: Language, **wanted: str) -> list[str]:
        """Names of the exercises whose fields are as wanted; an empty wish asks for nothing."""
        wishes = {"language": language, **{field: value for field, value in wanted.items() if value}}
        found = zip(*(self.rows[field] for field in wishes), strict=True)
        return [name for name, values in zip(self._exercises, found, strict=True) if values == tuple(wishes.values())]

    def pick(self, names: Sequence[str], *, not_: Sequence[str] = (), seed: int | None = None) -> str | None:
        """One of `names` at random, not one of `not_` while there is another; None of none."""
        fresh = [name for name in names if name not in set(not_)] or list(names)
        return random.Random(seed).choice(fresh) if fresh else None


def load_bank(folder: Path, *, most: int | None = None) -> Bank:
    """Every bank file of a folder, in the order of names, then its programming exercises.

    What cannot be read is a slip, and so is a file of more than `most` rows.
    """
    exercises: list[Exercise] = []
    slips: list[str] = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix.lower() not in SUFFIXES:
            continue
        try:
            read = read_file(path, most=most)
        except BadInput as error:
            slips.append(f"{path.name}: {error.sentence()}")
            continue
        exercises += read.exercises
        slips += read.slips
    programs, amiss = read_programs(folder / FOLDER)
    exercises += programs
    slips += amiss
    explained, odd = with_reasons(exercises, folder)
    hinted, odder = with_hints(explained, folder)
    return Bank(hinted, [*slips, *odd, *odder])


@functools.cache
def shipped_bank() -> Bank:
    """The bank in `examples/quiz`."""
    return load_bank(ROOT / "examples" / "quiz")
