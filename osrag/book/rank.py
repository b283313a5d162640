"""What the order of textbook hits rests on besides cosine and BM25: pure functions over rows.

The weights were fixed on the development questions; the variants are in docs/experiments.md.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from osrag.index.collection import Collection
from osrag.index.rerank import is_exercise
from osrag.types import Chunk

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]

EXERCISE_PENALTY = 0.4  # an exercise repeats the question, it does not answer it
TABLE_PENALTY = 0.1  # a table of names shares words with everything and explains little
SECTION_WEIGHT = 0.2  # of what the rest of the section says about the question
ALONE = 0.2  # so much less than its only chunk the rest of a section would say
PAGES_FIRST = 5  # places of the head that go to different pages

_ABOUT_EXERCISES = re.compile(r"习题|练习|思考题|第\s*\d+\s*-\s*\d+\s*题|\bexercises?\b|\bproblem\s+\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RowTraits:
    """What is known of every searched row before a question comes."""

    exercise: npt.NDArray[np.bool_]
    table: Floats  # share of its text that is rows of tables
    section: Rows  # number of its section
    page: Rows  # number of the page (or place of a file) where it begins


def traits(collection: Collection[Chunk]) -> RowTraits:
    chunks = [collection.chunk(row) for row in range(collection.searchable)]
    return RowTraits(
        exercise=np.array([is_exercise(chunk.section) for chunk in chunks], dtype=np.bool_),
        table=np.array([_table_share(chunk.text) for chunk in chunks], dtype=np.float32),
        section=_numbered([(chunk.source, chunk.section) for chunk in chunks]),
        page=_numbered([(chunk.source, chunk.where.first) for chunk in chunks]),
    )


def about_exercises(question: str) -> bool:
    return bool(_ABOUT_EXERCISES.search(question))


def penalties(known: RowTraits, question: str) -> Floats:
    """(rows,) to take off a score; an exercise loses nothing where the question asks for one."""
    exercise = 0.0 if about_exercises(question) else EXERCISE_PENALTY
    return (exercise * known.exercise + TABLE_PENALTY * known.table).astype(np.float32)


def with_section(scores: Floats, section: Rows) -> Floats:
    """(rows,) `scores` with a share of the mean of the other chunks of the section.

    The page that answers lies in a section that is about the question.
    """
    if not len(scores):
        return scores
    count = np.bincount(section)[section]
    total = np.bincount(section, weights=scores)[section]
    others = np.where(count > 1, (total - scores) / np.maximum(count - 1, 1), scores - ALONE)
    return (scores + SECTION_WEIGHT * others).astype(np.float32)


def pages_apart(order: Rows, page: Rows) -> Rows:
    """`order` with different pages in the first places: the next best of a page already there comes after them."""
    head: list[int] = []
    seen: set[int] = set()
    for place, row in enumerate(order):
        if len(head) == PAGES_FIRST:
            break
        if int(page[row]) not in seen:
            seen.add(int(page[row]))
            head.append(place)
    rest = np.setdiff1d(np.arange(len(order)), head)
    places = np.concatenate([np.array(head, dtype=np.int64), rest]).astype(np.int64)
    return np.asarray(order[places], dtype=np.int64)


def _numbered(keys: Sequence[Hashable]) -> Rows:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _table_share(text: str) -> float:
    lines = text.split("\n")
    return sum(len(line) for line in lines if " | " in line) / max(1, len(text))
