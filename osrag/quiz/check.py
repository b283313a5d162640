"""What an instructor should mend in a bank file: rows that cannot be used, and rows that can but mislead."""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osrag.errors import BadInput
from osrag.quiz.aliases import KNOWN
from osrag.quiz.bank import Slip, raw_rows
from osrag.quiz.blanks import BLANK
from osrag.quiz.rows import read_row
from osrag.quiz.types import QuizItem
from osrag.text import squeeze


@dataclass(frozen=True, slots=True)
class Checked:
    items: tuple[QuizItem, ...]
    slips: tuple[Slip, ...]  # rows that are left out
    doubts: tuple[Slip, ...]  # rows that work, but not as meant

    @property
    def questions(self) -> int:
        return len({item.id for item in self.items})

    @property
    def kinds(self) -> dict[str, int]:
        first = {item.id: item for item in self.items}
        return dict(Counter(item.type for item in first.values()))


def check_file(path: Path) -> Checked:
    """Everything that can be said about a file without a model. Raises BadInput for a file that cannot be read."""
    items: list[QuizItem] = []
    slips: list[Slip] = []
    doubts: list[Slip] = []
    seen: dict[str, str] = {}
    for where, row, wrong in raw_rows(path):
        if wrong:
            slips.append(Slip(where, wrong))
            continue
        try:
            found = read_row(row, default_id=where)
        except BadInput as error:
            slips.append(Slip(where, error.sentence()))
            continue
        items += found
        doubts += (Slip(where, what) for what in _misspelt(row))
        for item in found:
            doubts += (Slip(f"{where} {item.language}", what) for what in _doubts(item))
            if item.name in seen:
                doubts.append(Slip(where, f"the id {item.id!r} is that of {seen[item.name]}"))
            seen[item.name] = where
    return Checked(tuple(items), tuple(slips), tuple(doubts))


def _misspelt(row: Mapping[str, Any]) -> Iterator[str]:
    """Fields that nobody reads but whose name is nearly one that is read."""
    for name in row:
        near = difflib.get_close_matches(str(name).lower(), KNOWN, n=1, cutoff=0.8)
        if near and str(name).lower() not in KNOWN:
            yield f"the field {str(name)!r} is not read; did you mean {near[0]!r}?"


def _doubts(item: QuizItem) -> Iterator[str]:
    texts = [squeeze(option.text) for option in item.options]
    if item.type in ("single_choice", "multiple_choice") and not 2 <= len(texts) <= 30:
        yield f"{len(texts)} options"
    if len(set(texts)) != len(texts):
        yield "two options say the same"
    if (item.is_choice or item.type == "fill_blank") and not item.answer:
        yield "no key: the model will judge"
    if item.type == "fill_blank" and item.answer:
        blanks = len(BLANK.findall(item.question))
        if blanks != len(item.answer):
            yield f"{blanks} blanks (____), {len(item.answer)} answers in the key"
    if item.type in ("short_answer", "programming") and not (item.reference or item.rubric):
        yield "neither reference nor rubric: key points will be taken from the course book"
    if item.type not in ("short_answer", "programming") and item.rubric:
        yield f"a rubric is not used for {item.type}"
    if item.difficulty and item.difficulty not in ("easy", "medium", "hard"):
        yield f"difficulty {item.difficulty!r} is none of easy, medium, hard"
