"""The set of functions that an answer needs, grown from the best hits along the call graph.

A search finds functions by what is said of them. The work of a mechanism is often done one call further, in a function
that nobody described in the words of the question. The hits, the neighbours of the best hits, and the functions of the
walk-throughs nearest to the question are candidates. How likely each belongs to the answer is told by a logistic model
on what speaks for it alone; then twice by another one that also sees how likely the functions are that it is linked
with; at last by one that sees what the walk-throughs say. `bench/fit_kernel_sets.py` fits all four.
"""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from osrag.kernel.describe import DATA, name_parts
from osrag.kernel.graph import HELPER, Graph
from osrag.kernel.near_walks import NOTHING, Near, floats
from osrag.kernel.rank import FEATURES as OF_SEARCH
from osrag.kernel.rank import Ranked, factors
from osrag.kernel.store import Floats
from osrag.types import Origin

WEIGHTS = DATA / "kernel_sets.json"
HITS = 60  # best hits that are candidates
SEEDS = 14  # functions among them whose neighbours are candidates
MOST_NEIGHBOURS = 25  # in one direction; a function with more callers is a helper, and they have nothing in common
ALIKE = 8  # likeliest functions whose names are compared
# Files of code that watches or extends the kernel, and of tests.
_ASIDE = re.compile(r"debug|/kdb/|/damon/|/kcsan/|/kmsan/|/gcov/|/trace/|/bpf/|/livepatch/|nommu|tiny")
_TEST = re.compile(r"test|torture|kunit")
_ENTRANCE = re.compile(r"(?:k?sys|compat)_|.*_time32$")

OWN = (
    *OF_SEARCH, "score", "behind", "rank", "function", "callers", "callees", "note", "told", "helper", "aside",
    "inline", "test", "entrance", "underscores", "dense_noted", "dense_squared",
)  # fmt: skip
LINKED = (
    "called", "called_most", "calls_them", "calls_most", "pointed", "points", "failing", "file", "stem",
    "called_rare", "calls_rare", "before", "called_by_named", "calls_named", "called_noted", "called_dense",
    "called_helper", "called_common", "file_mass", "file_dense",
)  # fmt: skip
OF_WALKS = ("log_odds", "rank", "said", "asked", "company", "in_a_walk")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Functions that may belong to an answer, and how they hang together."""

    rows: Sequence[int]  # the hits in the order of the search, then their neighbours
    names: Sequence[str]
    files: Sequence[int]
    own: Floats  # (rows, OWN)
    calls: Sequence[tuple[int, int]]  # places of caller and callee
    failing: Sequence[tuple[int, int]]  # of calls that stand only where something failed
    pointers: Sequence[tuple[int, int]]


def candidates(ranked: Ranked, graph: Graph, near: Sequence[int] = ()) -> Candidates:
    """The hits and their neighbours, and what walk-throughs `near` to the question speak of."""
    store = graph.store
    places = {row: place for place, row in enumerate(dict.fromkeys([*ranked.rows[:HITS].tolist(), *near]))}
    pointers: dict[tuple[int, int], None] = {}
    for row in [row for row in places if store.is_function(row)][:SEEDS]:
        callers, after, before = graph.callers(row), graph.pointed_to(row), graph.pointing(row)
        near = [*graph.callees(row), *(callers if len(callers) <= MOST_NEIGHBOURS else [])]
        near += [*after[:MOST_NEIGHBOURS], *before[:MOST_NEIGHBOURS]]
        pointers |= dict.fromkeys([*((row, one) for one in after), *((one, row) for one in before)])
        for one in near:
            places.setdefault(one, len(places))
    calls: list[tuple[int, int]] = []
    failing: list[tuple[int, int]] = []
    for row, place in places.items():
        inside = [one for one in graph.callees(row) if one in places] if store.is_function(row) else []
        cold = graph.failing(row, inside) if inside else set()
        for one in inside:
            (failing if one in cold else calls).append((place, places[one]))
    rows = list(places)
    return Candidates(
        rows,
        [store.names[row] for row in rows],
        store.file_of[np.array(rows)].tolist(),
        _own(rows, ranked, graph),
        calls,
        failing,
        [(places[one], places[other]) for one, other in pointers if one in places and other in places],
    )


def _own(rows: Sequence[int], ranked: Ranked, graph: Graph) -> Floats:
    """(rows, OWN) what speaks for each candidate alone."""
    store = graph.store
    of_search = ranked.features_of(np.array(rows, dtype=np.int64))
    scores = of_search @ factors()
    order = np.empty(len(rows))
    order[np.argsort(-scores, kind="stable")] = np.arange(len(rows))
    dense = of_search[:, [OF_SEARCH.index("dense"), OF_SEARCH.index("dense_bridge")]].max(axis=1)
    more = []
    for place, row in enumerate(rows):
        chunk, name = store.chunk(row), store.names[row]
        noted = chunk.origin is Origin.NOTE
        more.append(
            (
                scores[place],
                scores[place] - ranked.scores[0],
                1 / (1 + order[place]),
                store.is_function(row),
                np.log1p(store.times_called(name)),
                np.log1p(len(chunk.calls)),
                noted,
                chunk.origin is not Origin.CODE,
                bool(HELPER.match(name)),
                bool(_ASIDE.search(chunk.source)),
                "inline" in chunk.text[:40],
                bool(_TEST.search(chunk.source)),
                bool(_ENTRANCE.match(name)),
                name.startswith("__"),
                dense[place] * noted,
                dense[place] ** 2 / 10,
            )
        )
    return np.concatenate([of_search, np.array(more, dtype=np.float32)], axis=1)


def linked(found: Candidates, chances: Floats) -> Floats:
    """(rows, LINKED) how likely those are that each candidate hangs together with, by its `chances` (rows,)."""
    p, n = chances, len(chances)
    names = (
        "called",
        "called_most",
        "calls_them",
        "calls_most",
        "pointed",
        "points",
        "failing",
        "by_named",
        "of_named",
    )
    column = {name: np.zeros(n) for name in names}
    named = found.own[:, OWN.index("named")] > 0
    for caller, callee in found.calls:
        column["called"][callee] += p[caller]
        column["calls_them"][caller] += p[callee]
        column["called_most"][callee] = max(column["called_most"][callee], p[caller])
        column["calls_most"][caller] = max(column["calls_most"][caller], p[callee])
    for source, target in found.pointers:
        column["pointed"][target] = max(column["pointed"][target], p[source])
        column["points"][source] = max(column["points"][source], p[target])
    for caller, callee in found.failing:
        column["failing"][callee] = max(column["failing"][callee], p[caller])
    for caller, callee in (*found.calls, *found.failing, *found.pointers):
        column["by_named"][callee] = max(column["by_named"][callee], named[caller])
        column["of_named"][caller] = max(column["of_named"][caller], named[callee])
    mass: dict[int, float] = defaultdict(float)
    for file, chance in zip(found.files, p, strict=True):
        mass[file] += chance
    in_file = np.array([mass[file] for file in found.files]) - p
    share = in_file / max(p.sum(), 1e-6)
    parts = [frozenset(part for part in name_parts(name) if len(part) > 1) for name in found.names]
    top = np.argsort(-p, kind="stable")[:ALIKE].tolist()
    stem = [max((p[t] * _alike(parts[at], parts[t]) for t in top if t != at), default=0.0) for at in range(n)]
    own = {name: found.own[:, OWN.index(name)] for name in ("callers", "note", "helper", "dense", "dense_bridge")}
    dense = np.maximum(own["dense"], own["dense_bridge"])
    called, calls = column["called_most"], column["calls_most"]
    return np.stack(
        [
            column["called"], called, column["calls_them"], calls, column["pointed"], column["points"],
            column["failing"], share, np.array(stem), called / (1 + own["callers"]), calls / (1 + own["callers"]),
            np.log((p + 1e-9) / (1 - p + 1e-9)), column["by_named"], column["of_named"], called * own["note"],
            called * dense, np.maximum(called, column["pointed"]) * own["helper"], called * own["callers"],
            np.log1p(in_file), share * dense,
        ],
        axis=1,
    )  # fmt: skip


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the parts of two names that they have in common."""
    return len(one & other) / max(1, len(one | other))


@functools.cache
def fitted() -> Mapping[str, Any]:
    """The stages of the model, and that of the lines (osrag/kernel/deciding.py)."""
    held: dict[str, Any] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return held


def sigmoid(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-values)))


def of_walks(found: Candidates, chances: Floats, near: Near) -> Floats:
    """(rows, OF_WALKS) what the walk-throughs say of each candidate, beside its `chances` (rows,) so far.

    `company`: how much of one walk that has the candidate is likely.
    """
    p = np.clip(chances, 1e-6, 1 - 1e-6)
    rank = np.empty(len(p))
    rank[np.argsort(-p, kind="stable")] = np.arange(len(p))
    walks = [near.walks.get(row, ()) for row in found.rows]
    mass: dict[int, float] = defaultdict(float)
    for some, chance in zip(walks, p, strict=True):
        for walk in some:
            mass[walk] += chance
    company = [max((mass[walk] - chance for walk in some), default=0.0) for some, chance in zip(walks, p, strict=True)]
    said, asked = floats(found.rows, near.said), floats(found.rows, near.asked)
    columns = (np.log(p / (1 - p)), 1 / (1 + rank), said, asked, company, [bool(some) for some in walks])
    return np.stack([np.asarray(column, dtype=float) for column in columns], axis=1)


def chances(found: Candidates, near: Near = NOTHING) -> Floats:
    """(rows,) how likely each candidate belongs to the answer."""
    out: Floats | None = None
    for stage in fitted()["functions"]:
        features = found.own if out is None else np.concatenate([found.own, linked(found, out)], axis=1)
        out = sigmoid(features @ np.array(stage["weights"]) + stage["bias"])
    assert out is not None
    if near.walks:
        model = fitted()["walks"]
        out = sigmoid(of_walks(found, out, near) @ np.array(model["weights"]) + model["bias"])
    return out


def grown(ranked: Ranked, graph: Graph, near: Near = NOTHING, *, k: int) -> list[tuple[int, float]]:
    """The `k` likeliest functions of the answer with their chances, each name once."""
    found = candidates(ranked, graph, near.rows)
    likely = chances(found, near)
    best: dict[str, tuple[int, float]] = {}
    for place in np.argsort(-likely, kind="stable").tolist():
        best.setdefault(found.names[place], (found.rows[place], float(likely[place])))
    return list(best.values())[:k]
