"""function@k, file@k and MRR of kernel search on questions with known functions and files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.answer.plan import plan
from osrag.answer.source import Question
from osrag.evaluate.measures import Rank, RankTable, Report, first_right, quantile, read_rows, share
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


def evaluate(
    search: KernelSearch, questions: Sequence[KernelQuestion], *, k: int = 10, chat: ChatModel | None = None
) -> Report:
    """Figures for all questions, by language and by kind.

    A question without gold functions and files asks for code that is not there: it
    counts as right when the search says so. With `chat` the search is a `deep` one.
    """
    table = RankTable({"function": CUTS, "file": FILE_CUTS})
    absent: list[bool] = []
    misses: list[dict[str, Any]] = []
    times: list[float] = []
    for question in questions:
        asked = Question(question.question, passages=max(k, *CUTS))
        result = KernelSource(search).search(plan("kernel", asked.text, (), chat), asked)
        times.append(result.timings_ms.get("search", 0.0))
        if not question.functions and not question.files:
            absent.append(says_absent(result))
            if not absent[-1]:
                misses.append({"answered": question.question, "confidence": round(result.confidence, 3)})
            continue
        rank = function_rank(result, question)
        file_rank = first_right(one.source_file in question.files for one in result.files)
        language = question.language or language_of(question.question)
        table.add(("all", language, question.kind), function=rank, file=file_rank)
        if rank is None or rank > MISS_RANK:
            found = [hit.chunk.name for hit in result.hits[:6]]
            about = {"question": question.question, "gold": question.gold_functions}
            misses.append({"miss": question.id, **about, "rank": rank, "file_rank": file_rank, "found": found})
    figures: dict[str, Any] = {"questions": len(questions), **table.figures()}
    if absent:
        figures["absent"] = {"n": len(absent), "said_so": share(absent)}
    if times:
        figures["search_ms"] = {"median": quantile(times, 0.5), "p95": quantile(times, 0.95)}
    return figures, misses


def says_absent(result: KernelResult) -> bool:
    """Whether a search says that the index has no such code."""
    return bool(result.missing) or result.confidence < REFUSE


def function_rank(result: KernelResult, question: KernelQuestion) -> Rank:
    """Rank of the first right function among all hits."""
    wanted = question.functions
    return first_right(hit.chunk.name in wanted for hit in result.hits)
