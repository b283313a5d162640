"""Questions measured one by one, and the figures made of them: values with their intervals, by group of questions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from osrag.evaluate.measures import PASS, correlation, ece

Pairs = npt.NDArray[np.float64]  # (questions, 2)
Score = tuple[float, float]  # what a question reached, and of how much; or two values that a statistic compares
RESAMPLES, SEED = 1000, 11  # of the bootstrap
ALL = "all"


@dataclass(frozen=True, slots=True)
class Row:
    """One question, measured. A question that a measure does not concern has no score by it."""

    groups: tuple[str, ...]  # beside "all"
    scores: Mapping[str, Score]
    note: Mapping[str, Any] = field(default_factory=dict)  # for the eye: what was missed
    alone: bool = False  # not of the group "all"


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the interval that holds 95 of 100 bootstrap resamples of the questions."""

    measure: str
    value: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of some of the questions."""

    name: str
    questions: int
    figures: tuple[Figure, ...]


def share_of_one(value: object) -> Score:
    """The score of a question that is right or not, or right in part."""
    return float(value), 1.0  # type: ignore[arg-type]


def compared(given: float, human: float) -> dict[str, Score]:
    """The scores of a mark beside a human one, both in shares of full marks."""
    pair = given, human
    return {"pearson": pair, "mae": pair, "pass_agrees": pair, "mae_of_median": pair}


# Statistics of pairs that are no ratio of sums. A name ends where "@" begins.
STATISTICS: Mapping[str, Callable[[Pairs], float]] = {
    "pearson": (pearson := lambda pairs: correlation(pairs[:, 0], pairs[:, 1])),
    "pearson_alone": pearson,  # of the marks that no teacher need look at
    "mae": lambda pairs: float(np.abs(pairs[:, 0] - pairs[:, 1]).mean()),
    "mae_of_median": lambda pairs: float(np.abs(np.median(pairs[:, 1]) - pairs[:, 1]).mean()),
    "pass_agrees": lambda pairs: float(((pairs[:, 0] >= PASS) == (pairs[:, 1] >= PASS)).mean()),
    "ece": lambda pairs: ece(pairs[:, 0].tolist(), pairs[:, 1].astype(bool).tolist()),
}
TIME = "seconds"  # "seconds@95": 95 of 100 questions take no longer


def statistic_of(measure: str) -> Callable[[Pairs], float] | None:
    """How the pairs of a measure become one value; None for what is reached of what there is."""
    name, _, cut = measure.partition("@")
    if name.endswith(TIME):
        return lambda pairs: float(np.quantile(pairs[:, 0], int(cut) / 100))
    return STATISTICS.get(name)


def took(seconds: float, what: str = "") -> dict[str, Score]:
    """The scores of a time: half of the questions, and 95 of 100."""
    return {f"{what}{TIME}@{part}": (seconds, 1.0) for part in (50, 95)}


def groups_of(rows: Iterable[Row], *, intervals: bool = True) -> list[Group]:
    """The figures of all questions, and of each group in the order in which it is met."""
    held: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for name in dict.fromkeys((*(() if row.alone else (ALL,)), *filter(None, row.groups))):
            held[name].append(row)
    return [Group(name, len(some), tuple(_figures(some, intervals=intervals))) for name, some in held.items()]


def plain(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """The values alone: group -> "n" and measure -> value."""
    return {
        group.name: {"n": group.questions, **{one.measure: one.value for one in group.figures}}
        for group in groups_of(rows, intervals=False)
    }


def _figures(rows: Sequence[Row], *, intervals: bool) -> Iterable[Figure]:
    for measure in dict.fromkeys(name for row in rows for name in row.scores):
        pairs = np.array([row.scores[measure] for row in rows if measure in row.scores], dtype=np.float64)
        statistic = statistic_of(measure)
        if statistic is None and not pairs[:, 1].sum():
            continue  # nothing to be reached
        value = statistic(pairs) if statistic else _ratio(pairs)
        low, high = interval(pairs, statistic) if intervals else (value, value)
        yield Figure(measure, round(value, 4), round(low, 4), round(high, 4), len(pairs))


def interval(pairs: Pairs, statistic: Callable[[Pairs], float] | None = None) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of a statistic over resampled questions (Efron 1979); the ratio if None."""
    draws = np.random.default_rng(SEED).integers(0, len(pairs), (RESAMPLES, len(pairs)))
    if statistic is None:
        sums = pairs[draws].sum(axis=1)  # (resamples, 2)
        values = sums[sums[:, 1] > 0]
        values = values[:, 0] / values[:, 1]
    else:
        values = np.array([statistic(pairs[draw]) for draw in draws])
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _ratio(pairs: Pairs) -> float:
    reached, of = pairs.sum(axis=0)
    return float(reached / of)
