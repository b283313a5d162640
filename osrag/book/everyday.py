"""Everyday words of students' questions in both languages, for the keyword half of a search.

The glossary knows the terms of the subject and feeds the confidence, the checks of answers and
the kernel search. A question, however, says "shove around" where the book says "move", and a
Chinese question says 硬盘 where the book says 磁盘. These words carry no subject of their own,
so they only widen a search.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from osrag.errors import BadInput
from osrag.text import language_of, tokens, unique

PATH = Path(__file__).resolve().parent.parent / "data" / "words.tsv"
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Meaning:
    """One meaning that a question names: its search tokens in the question's and in the other language."""

    own: tuple[str, ...]
    other: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    zh: tuple[str, ...]
    en: tuple[str, ...]
    stems: tuple[tuple[str, ...], ...]  # of the English names
    meaning: Meaning  # own is Chinese


class EverydayWords:
    """Finds meanings by their names: the longest Chinese ones, English ones whatever their ending."""

    def __init__(self, rows: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
        self._rows = [
            _Row(
                tuple(name.lower() for name in zh),
                tuple(en),
                tuple(_stems(name) for name in en),
                Meaning(_tokens(zh), _tokens(en)),
            )
            for zh, en in rows
        ]

    def find(self, question: str) -> tuple[Meaning, ...]:
        """Meanings that `question` names, each once."""
        if language_of(question) == "zh":
            return tuple(row.meaning for row in self._named_in_chinese(question.lower()))
        stems = _stems(question)
        found = [row for row in self._rows if any(_stands_in(name, stems) for name in row.stems)]
        return tuple(Meaning(row.meaning.other, row.meaning.own) for row in found)

    def _named_in_chinese(self, text: str) -> list[_Row]:
        places = [
            (text.find(name), len(name), number)
            for number, row in enumerate(self._rows)
            for name in row.zh
            if name in text
        ]
        taken: list[tuple[int, int]] = []
        numbers: list[int] = []
        for start, length, number in sorted(places, key=lambda place: -place[1]):
            inside = any(first <= start and start + length <= end and end - first > length for first, end in taken)
            if not inside:
                taken.append((start, start + length))
                numbers.append(number)
        return [self._rows[number] for number in dict.fromkeys(numbers)]


def _tokens(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(token for name in names for token in tokens(name)))


def _stems(text: str) -> tuple[str, ...]:
    """Every English word by its stem; a word that is no search token stays as it is."""
    return tuple((tokens(word) or [word])[0] for word in _WORD.findall(text.lower()))


def _stands_in(name: tuple[str, ...], text: tuple[str, ...]) -> bool:
    return any(text[at : at + len(name)] == name for at in range(len(text) - len(name) + 1)) if name else False


def parse_words(text: str) -> EverydayWords:
    """Rows `zh<TAB>en` under a header; names of one meaning joined by `|`."""
    rows = []
    for number, line in enumerate(text.splitlines()[1:], start=2):
        cells = [unique(name.strip() for name in cell.split("|")) for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise BadInput(f"words line {number}: expected zh and en, got {line[:60]!r}")
        rows.append((cells[0], cells[1]))
    return EverydayWords(rows)


@functools.cache
def load_words() -> EverydayWords:
    return parse_words(PATH.read_text(encoding="utf-8"))
