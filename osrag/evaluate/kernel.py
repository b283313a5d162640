"""function@k, file@k and MRR of kernel search on questions with known functions and files."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.answer.plan import plan
from osrag.evaluate.measures import hit_rate, mean_reciprocal_rank
from osrag.evaluate.questions import read_rows
from osrag.kernel.confidence import REFUSE
from osrag.kernel.search import KernelResult, KernelSearch
from osrag.kernel.source import find
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
        return {*self.gold_functions, *self.also_accept_functions}

    @property
    def files(self) -> set[str]:
        return {*self.gold_files, *self.also_accept_files}


@dataclass(frozen=True, slots=True)
class KernelReport:
    figures: dict[str, Any]
    misses: tuple[dict[str, Any], ...]


def read_questions(path: Path) -> list[KernelQuestion]:
    """Raises BadInput, naming the line, for a row that is no question."""
    return read_rows(path, KernelQuestion, needs="question, gold_functions and gold_files")


def evaluate(
    search: KernelSearch, questions: Sequence[KernelQuestion], *, k: int = 10, chat: ChatModel | None = None
) -> KernelReport:
    """Figures for all questions, by language and by kind.

    A question without gold functions and files asks for code that is not there: it
    counts as right when the search says so. With `chat` the search is a `deep` one.
    """
    functions: dict[str, list[int | None]] = defaultdict(list)
    files: dict[str, list[int | None]] = defaultdict(list)
    absent: list[bool] = []
    misses: list[dict[str, Any]] = []
    times: list[float] = []
    for question in questions:
        result = find(search, plan("kernel", question.question, (), chat), k=max(k, *CUTS))
        times.append(result.timings_ms.get("search", 0.0))
        if not question.functions and not question.files:
            absent.append(says_absent(result))
            if not absent[-1]:
                misses.append({"answered": question.question, "confidence": round(result.confidence, 3)})
            continue
        rank = function_rank(result, question)
        file_rank = rank_of_file(result, question)
        language = question.language or language_of(question.question)
        for group in ("all", language, question.kind):
            if group:
                functions[group].append(rank)
                files[group].append(file_rank)
        if rank is None or rank > MISS_RANK:
            misses.append(_miss(question, rank, file_rank, result))
    figures: dict[str, Any] = {"questions": len(questions)}
    figures |= {group: _figures(functions[group], files[group]) for group in functions}
    if absent:
        figures["absent"] = {"n": len(absent), "said_so": round(sum(absent) / len(absent), 4)}
    if times:
        figures["search_ms"] = {"median": _quantile(times, 0.5), "p95": _quantile(times, 0.95)}
    return KernelReport(figures, tuple(misses))


def says_absent(result: KernelResult) -> bool:
    """Whether a search says that the index has no such code."""
    return bool(result.missing) or result.confidence < REFUSE


def function_rank(result: KernelResult, question: KernelQuestion) -> int | None:
    """Rank of the first right function among all hits."""
    wanted = question.functions
    return next((rank for rank, hit in enumerate(result.hits, start=1) if hit.chunk.name in wanted), None)


def rank_of_file(result: KernelResult, question: KernelQuestion) -> int | None:
    """Rank of the first right file among the files of the hits."""
    wanted = question.files
    return next((rank for rank, one in enumerate(result.files, start=1) if one.source_file in wanted), None)


def _figures(functions: Sequence[int | None], files: Sequence[int | None]) -> dict[str, float]:
    return {
        "n": len(functions),
        **{f"function@{cut}": round(hit_rate(functions, cut), 4) for cut in CUTS},
        **{f"file@{cut}": round(hit_rate(files, cut), 4) for cut in FILE_CUTS},
        "mrr": round(mean_reciprocal_rank(functions), 4),
    }


def _quantile(values: Sequence[float], share: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 1)


def _miss(question: KernelQuestion, rank: int | None, file_rank: int | None, result: KernelResult) -> dict[str, Any]:
    return {
        "miss": question.id,
        "question": question.question,
        "gold": question.gold_functions,
        "rank": rank,
        "file_rank": file_rank,
        "found": [hit.chunk.name for hit in result.hits[:6]],
    }
