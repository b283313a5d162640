"""What the evaluations of both searches share: question files, ranks by group of questions, the report."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from osrag.errors import BadInput
from osrag.evaluate.measures import Rank, hit_rate, mean_reciprocal_rank

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Report:
    """Figures of a question file, and a row for each question that was missed."""

    figures: dict[str, Any]
    misses: tuple[dict[str, Any], ...]


@dataclass
class RankTable:
    """Ranks of the first right hits, by group of questions ("all", "zh->en") and by measure ("hit", "file")."""

    cuts: Mapping[str, tuple[int, ...]]  # by measure: the ranks to count up to
    ranks: dict[str, dict[str, list[Rank]]] = field(default_factory=dict)

    def add(self, groups: Iterable[str], **ranks: Rank) -> None:
        """Count one question, with its rank by each measure, in every group that has a name."""
        for group in filter(None, groups):
            for measure, rank in ranks.items():
                self.ranks.setdefault(group, defaultdict(list))[measure].append(rank)

    def figures(self) -> dict[str, dict[str, float]]:
        """By group: the number of questions, the share found by each measure and cut, MRR by the first measure."""
        first = next(iter(self.cuts))
        return {
            group: {
                "n": len(ranks[first]),
                **{f"{name}@{cut}": hit_rate(ranks[name], cut) for name, cuts in self.cuts.items() for cut in cuts},
                "mrr": round(mean_reciprocal_rank(ranks[first]), 4),
            }
            for group, ranks in self.ranks.items()
        }


def read_rows(path: Path, kind: type[Row], *, needs: str) -> list[Row]:
    """Rows of a file with one JSON object a line; `needs` names the fields that a row must have.

    Raises BadInput for a file that cannot be read and, with its line, for a row that is none of `kind`.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"cannot read {str(path)!r}: {error.strerror}", hint="check the path") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append(kind.model_validate(json.loads(line)))
        except ValueError as error:  # pydantic's is one too
            raise BadInput(f"{path} line {number}: {error}", hint=f"a row needs {needs}") from error
    return rows
