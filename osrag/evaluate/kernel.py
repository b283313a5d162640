"""Ranks of functions and files in kernel search on questions with known functions and files."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.answer.plan import plan
from osrag.answer.source import Question
from osrag.evaluate.figures import Row, share_of_one, took
from osrag.evaluate.measures import Rank, first_right, ranked, read_rows
from osrag.index.confidence import REFUSE
from osrag.kernel.search import KernelResult, KernelSearch
from osrag.kernel.source import KernelSource
from osrag.models.protocols import ChatModel
from osrag.text import language_of

CUTS = (1, 5, 10)
FILE_CUTS = (1, 5)
MISS_RANK = 10  # a right function below this rank is listed as a miss


class KernelQuestion(BaseModel, extra="allow"):
    """A question and the functions and files that answer it, any of them."""

    question: str
    gold_functions: list[str] = Field(default_factory=list)
    gold_files: list[str] = Field(default_factory=list)
    also_accept_functions: list[str] = Field(default_factory=list)
    also_accept_files: list[str] = Field(default_factory=list)
    language: str = ""
    kind: str = ""
    id: str = ""

    @property
    def functions(self) -> set[str]:
        """The names of all functions that answer."""
        return {*self.gold_functions, *self.also_accept_functions}

    @property
    def files(self) -> set[str]:
        """All files that answer."""
        return {*self.gold_files, *self.also_accept_files}


def read_questions(path: Path) -> list[KernelQuestion]:
    """Raises BadInput, naming the line, for a row that is no question."""
    return read_rows(path, KernelQuestion, needs="question, gold_functions and gold_files")


def rows(
    search: KernelSearch, questions: Iterable[KernelQuestion], *, k: int = 10, chat: ChatModel | None = None
) -> Iterator[Row]:
    """A row for each question, in groups by language and by kind.

    A question without gold functions and files asks for code that is not there; it is of the group "absent" and counts
    as right when the search says so. With `chat` the search is a `deep` one.
    """
    for question in questions:
        asked = Question(question.question, passages=max(k, *CUTS))
        result = KernelSource(search).search(plan("kernel", asked.text, (), chat), asked)
        language = question.language or language_of(question.question)
        if not question.functions and not question.files:
            absent = says_absent(result)
            note = {} if absent else {"answered": question.question, "confidence": round(result.confidence, 3)}
            yield Row(("absent", language), {"refused": share_of_one(absent)}, note, alone=True)
        else:
            yield _ranked(result, question, language)


def _ranked(result: KernelResult, question: KernelQuestion, language: str) -> Row:
    rank = function_rank(result, question)
    file_rank = first_right(one.source_file in question.files for one in result.files)
    names = list(dict.fromkeys(hit.chunk.name for hit in result.hits))
    found = {"function": (rank, CUTS), "file": (file_rank, FILE_CUTS)}
    scores = {f"{name}@{cut}": share_of_one(at is not None and at <= cut)
              for name, (at, cuts) in found.items() for cut in cuts}  # fmt: skip
    scores |= {"mrr": share_of_one(1 / rank if rank else 0)}
    if question.functions:
        scores |= ranked([name in question.functions for name in names], len(question.functions))
    scores |= {"refused_wrongly": share_of_one(says_absent(result))}
    scores |= took(result.timings_ms.get("search", 0.0) / 1000)
    note: dict[str, Any] = {}
    if rank is None or rank > MISS_RANK:
        about = {"question": question.question, "gold": question.gold_functions, "rank": rank, "file_rank": file_rank}
        note = {"miss": question.id, **about, "found": [hit.chunk.name for hit in result.hits[:6]]}
    return Row((language, question.kind), scores, note)


def says_absent(result: KernelResult) -> bool:
    """Whether a search says that the index has no such code."""
    return bool(result.missing) or result.confidence < REFUSE


def function_rank(result: KernelResult, question: KernelQuestion) -> Rank:
    """Rank of the first right function among all hits."""
    wanted = question.functions
    return first_right(hit.chunk.name in wanted for hit in result.hits)
