"""What to read next: sections near to what a visitor asked, opened and missed in this session (S3).

The profile is the mean of the last ten vectors, weighted by where they come from. A section that was just read is never
recommended; one whose exercise was missed may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from osrag.book.sections import COURSE_BOOK, numbers_of
from osrag.types import Chunk, Language

Vectors = npt.NDArray[np.float32]
Sign = Literal["asked", "opened", "missed"]
WEIGHTS: dict[Sign, float] = {"asked": 1, "opened": 2, "missed": 3}
LAST = 10  # signs that make a profile


@dataclass(frozen=True, slots=True)
class Interest:
    """One sign of what a visitor cares about: the text that shows it, its unit vector, the sections it led to."""

    sign: Sign
    text: str
    vector: tuple[float, ...]
    read: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """The last signs of a session, the newest last."""

    interests: tuple[Interest, ...] = ()

    def has(self, sign: Sign, text: str) -> bool:
        """Whether it is known already."""
        return any((one.sign, one.text) == (sign, text) for one in self.interests)

    def after(self, interest: Interest) -> "Profile":
        """The profile with one more sign; the oldest makes room."""
        return replace(self, interests=(*self.interests, interest)[-LAST:])


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections of the course book in one language, to two numbers ("6.6"), with the mean of their vectors."""

    numbers: tuple[str, ...]
    first: tuple[Chunk, ...]  # where each begins
    vectors: Vectors  # (sections, dim) float32 unit rows


@dataclass(frozen=True, slots=True)
class Recommended:
    """A section, and the sign that speaks most for it."""

    number: str
    page: Chunk
    because: Interest


def section_of(chunk: Chunk) -> str:
    """The section of the course book that a chunk stands in, to two numbers: "6.6"; empty for another text."""
    numbers = numbers_of(chunk) if chunk.source.startswith(COURSE_BOOK) else []
    deep = [number for number in numbers if number[:1].isdigit()]
    return ".".join(deep[-1].split(".")[:2]) if deep else ""


def sections_of(collection: Any, language: Language) -> Sections:
    """The sections of a textbook collection, in the order of the book."""
    rows: dict[str, list[int]] = {}
    chunks: dict[str, list[Chunk]] = {}
    for row, chunk in enumerate(collection.searched()):
        if chunk.language == language and (number := section_of(chunk)):
            rows.setdefault(number, []).append(row)
            chunks.setdefault(number, []).append(chunk)
    means = [collection.dense.rows(np.asarray(own)).mean(axis=0) for own in rows.values()]
    first = tuple(min(own, key=lambda chunk: chunk.position) for own in chunks.values())
    return Sections(tuple(rows), first, _unit(np.asarray(means, dtype=np.float32).reshape(len(means), -1)))


def recommend(profile: Profile, sections: Sections, *, k: int = 2) -> list[Recommended]:
    """The `k` sections nearest to the profile that were not just read, best first.

    Vectors are compared apart from what all sections have in common: without that the middle of the book wins.
    """
    if not profile.interests or not sections.numbers:
        return []
    common = sections.vectors.mean(axis=0)
    signs = np.asarray([one.vector for one in profile.interests], dtype=np.float32) - common
    weights = np.asarray([WEIGHTS[one.sign] for one in profile.interests], dtype=np.float32)
    books = _unit(sections.vectors - common)
    score = books @ (weights @ signs)
    read = {number for one in profile.interests for number in one.read}
    best = [int(row) for row in np.argsort(-score, kind="stable") if sections.numbers[row] not in read][:k]
    near = books @ _unit(signs).T  # (sections, signs)
    return [
        Recommended(sections.numbers[row], sections.first[row], profile.interests[int(near[row].argmax())])
        for row in best
    ]


def _unit(rows: Vectors) -> Vectors:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def exercise_for(number: str, names: Sequence[tuple[str, str]], done: Sequence[str]) -> str:
    """The name of an exercise of a section that was not done yet, of (name, section); empty where there is none."""
    own = (name for name, section in names if section == number or section.startswith(f"{number}."))
    return next((name for name in own if name not in set(done)), "")
