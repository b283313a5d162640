"""Whether the check tells true claims from false ones: claims about pages and functions, labelled by hand."""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

from pydantic import BaseModel

from osrag.answer.claims import check
from osrag.answer.statements import Evidence
from osrag.errors import BadInput
from osrag.evaluate.figures import Row, share_of_one
from osrag.index.collection import Collection
from osrag.kernel.claims import CodeEvidence, check_code
from osrag.kernel.search import KernelSearch
from osrag.models.protocols import Encoder
from osrag.types import Chunk, CodeChunk, Passage

C = TypeVar("C", Chunk, CodeChunk)


class Claim(BaseModel, extra="forbid"):
    """A line of the file."""

    source: Literal["textbook", "kernel"]
    chunk_ids: list[str]
    language: Literal["zh", "en"]
    claim: str
    label: Literal["supported", "contradicted", "unsupported"]
    how: str = ""  # the claim was made: copied, said in other words, a number changed, …

    @property
    def is_true(self) -> bool:
        """Whether the passages say so."""
        return self.label == "supported"


def rows(claims: Iterable[Claim], book: Collection[Chunk], kernel: KernelSearch, encoder: Encoder) -> Iterator[Row]:
    """A row for each claim, in groups by source and language."""
    for claim in claims:
        passed = passes(claim, book, kernel, encoder)
        name = "true_marked" if claim.is_true else "wrong_unmarked"
        wrong = passed != claim.is_true
        note = {"claim": claim.claim, "label": claim.label, "how": claim.how} if wrong else {}
        scores = {name: share_of_one(wrong), "right": share_of_one(not wrong)}
        yield Row((claim.source, claim.language), scores, note)


def passes(claim: Claim, book: Collection[Chunk], kernel: KernelSearch, encoder: Encoder) -> bool:
    """Whether a claim passes as supported by its passages. Raises BadInput where the index has none of that name."""
    if claim.source == "textbook":
        pages = [_chunk(name, [book]) for name in claim.chunk_ids]
        passages = [Passage(n, chunk, 1.0, 1.0) for n, chunk in enumerate(pages, start=1)]
        return check(claim.claim, Evidence(passages, encoder)).passage is not None
    code = [_chunk(name, [one.chunks for one in kernel.store.subsystems]) for name in claim.chunk_ids]
    callees = {callee.name: callee for chunk in code for callee in kernel.callees(chunk)}
    passages = [Passage(n, chunk, 1.0, 1.0) for n, chunk in enumerate(code, start=1)]
    return check_code(claim.claim, CodeEvidence(passages, callees, [chunk.name for chunk in code])).passage is not None


def _chunk(name: str, held: Iterable[Collection[C]]) -> C:
    found = next((one.chunk(row) for one in held if (row := one.row_of(name)) is not None), None)
    if found is None:
        raise BadInput(f"no chunk {name!r} in the index")
    return found
