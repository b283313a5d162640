"""Measures of ranks, of marks and of confidences; question files."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from osrag.errors import BadInput

Row = TypeVar("Row", bound=BaseModel)
Rank = int | None  # 1-based rank of the first right hit of a question, None when there is none

NEAR, FAIRLY_NEAR, PASS = 0.1, 0.2, 0.6  # shares of full marks: two marks that are near, and the mark that passes
BINS = 10  # of a confidence, of equal width


def first_right(right: Iterable[bool]) -> Rank:
    """The rank of the first hit that is right."""
    return next((rank for rank, one in enumerate(right, start=1) if one), None)


def hit_rate(ranks: Sequence[Rank], k: int) -> float:
    """Share of questions with a right hit among the first `k`; 0 for no questions."""
    return share(rank is not None and rank <= k for rank in ranks)


def mean_reciprocal_rank(ranks: Sequence[Rank]) -> float:
    """Mean of 1/rank, where a miss counts 0 (Voorhees, TREC-8 1999)."""
    return sum(1 / rank for rank in ranks if rank is not None) / len(ranks) if ranks else 0.0


def ranked(right: Sequence[bool], wanted: int, cuts: Iterable[int] = (5, 10)) -> dict[str, tuple[float, float]]:
    """By measure and cut, for one ranking: precision, recall of `wanted` things, and nDCG (Järvelin and Kekäläinen
    2002) of a gain of one for each right hit. A thing that is found twice counts once for recall.
    """
    found: dict[str, tuple[float, float]] = {}
    for cut in cuts:
        some = right[:cut]
        found[f"precision@{cut}"] = sum(some) / cut, 1.0
        found[f"recall@{cut}"] = min(1.0, sum(some) / wanted), 1.0
    best = sum(1 / np.log2(place + 2) for place in range(min(wanted, max(cuts))))
    gain = sum(1 / np.log2(place + 2) for place, one in enumerate(right[: max(cuts)]) if one)
    return {**found, f"ndcg@{max(cuts)}": (min(1.0, float(gain / best)), 1.0)}


def share(values: Iterable[object]) -> float:
    """Share of `values` that are true, to four places; 0 for none."""
    flags = [bool(value) for value in values]
    return round(sum(flags) / len(flags), 4) if flags else 0.0


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


def correlation(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """Pearson's r; 0 where one side does not vary."""
    varied = len(one) > 1 and one.std() > 0 and other.std() > 0
    return float(np.corrcoef(one, other)[0, 1]) if varied else 0.0


def agreement(given: Sequence[float], human: Sequence[float]) -> dict[str, float]:
    """Correlation, mean absolute error (in shares of full marks) and how often two marks are near each other."""
    one, other = np.array(given), np.array(human)
    if not len(one):
        names = ("pearson", "mae", "within_a_tenth", "within_a_fifth", "pass_agrees", "mae_of_median")
        return {"answers": 0, **dict.fromkeys(names, 0.0)}
    gap = np.abs(one - other)
    figures = {
        "pearson": correlation(one, other),
        "mae": gap.mean(),
        "within_a_tenth": (gap <= NEAR).mean(),
        "within_a_fifth": (gap <= FAIRLY_NEAR).mean(),
        "pass_agrees": ((one >= PASS) == (other >= PASS)).mean(),
        "mae_of_median": np.abs(np.median(other) - other).mean(),  # of a judge who always gives the median
    }
    return {"answers": len(one), **{name: round(float(value), 4) for name, value in figures.items()}}


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers whose confidence lies in one tenth of the scale, from `low` on."""

    low: float
    count: int
    confidence: float  # mean
    accuracy: float


def bins(confidence: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """The tenths that hold any answer; the last one takes a confidence of 1 too."""
    sure, ok = np.array(confidence, dtype=float), np.array(right, dtype=float)
    places = np.minimum((sure * BINS).astype(int), BINS - 1)
    held = [(place, places == place) for place in np.unique(places).tolist()]
    return [Bin(place / BINS, int(of.sum()), float(sure[of].mean()), float(ok[of].mean())) for place, of in held]


def ece(confidence: Sequence[float], right: Sequence[bool]) -> float:
    """Expected calibration error (Guo et al., ICML 2017): mean gap of confidence and accuracy, weighted by bin."""
    gaps = (one.count * abs(one.confidence - one.accuracy) for one in bins(confidence, right))
    return sum(gaps) / len(confidence) if confidence else 0.0


def reliability_svg(confidence: Sequence[float], right: Sequence[bool]) -> str:
    """A reliability diagram, in percent: one bar a bin, of the share that was right; on the diagonal all is true."""
    bars = "".join(
        f'<rect x="{100 * one.low:.0f}" y="{100 - 100 * one.accuracy:.1f}" width="{100 / BINS - 1}" '
        f'height="{100 * one.accuracy:.1f}"><title>{one.count} answers, {one.accuracy:.2f} right</title></rect>'
        for one in bins(confidence, right)
    )
    label = f"ECE {ece(confidence, right):.3f}, {len(confidence)} answers"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-15 -15 130 130" font-family="sans-serif" font-size="4">'
        f'<rect x="-15" y="-15" width="130" height="130" fill="#fff"/><g fill="#2f7f76">{bars}</g>'
        '<path d="M0 100L100 0" stroke="#888" stroke-dasharray="2" fill="none"/>'
        f'<path d="M0 0V100H100" stroke="#333" fill="none"/><text y="-4">{label}</text>'
        '<text x="50" y="108" text-anchor="middle">confidence</text>'
        '<text transform="translate(-6 50) rotate(-90)" text-anchor="middle">share right</text></svg>\n'
    )
