"""Whether a question gets the prepared answer that fits, on rewordings of prepared questions and on near misses."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from pydantic import BaseModel

from osrag.evaluate.figures import Row, share_of_one
from osrag.types import Language

Fits = Mapping[tuple[str, str], bool]  # (question, answer) that were read: whether the one fits the other


class Pair(BaseModel, extra="forbid"):
    """A question written against a prepared answer: the same in other words, or a near miss."""

    id: str  # of the answer
    question: str
    language: Language
    same: bool
    how: str
    set: str


class Read(BaseModel, extra="forbid"):
    """A question that got another answer than the one it was written against, and whether that one fits."""

    question: str
    language: Language
    id: str
    fits: bool


def fits_of(read: Iterable[Read]) -> Fits:
    """What was read, to look up."""
    return {(one.question, one.id): one.fits for one in read}


def rows(pairs: Iterable[Pair], match: Callable[[str, Language], str | None], fits: Fits) -> Iterator[Row]:
    """A row for each pair. Precision is that of the answers given; of these, one that nobody has read is left out."""
    for pair in pairs:
        found = match(pair.question, pair.language)
        right = pair.same if found == pair.id else fits.get((pair.question, found or ""))
        scores = {"precision": share_of_one(right)} if found and right is not None else {}
        if found:
            scores["not_judged"] = share_of_one(right is None)
        if pair.same:
            scores["recall"] = share_of_one(found == pair.id)
        else:
            scores["trapped"] = share_of_one(found == pair.id)
        wrong = found is not None and not right
        note = {"question": pair.question, "wanted": pair.id, "found": found, "how": pair.how} if wrong else {}
        yield Row((pair.language,), scores, note)
