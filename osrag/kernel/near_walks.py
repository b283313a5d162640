"""Which functions the walk-throughs near to a question speak of, where no walk-through answers it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from osrag.kernel.store import Floats, KernelStore
from osrag.kernel.walk_index import LANGUAGES
from osrag.kernel.walk_match import Walks
from osrag.models.protocols import Vectors

NEAREST = 4  # walks whose functions are candidates


@dataclass(frozen=True, slots=True)
class Near:
    """How near a question is to what the walk-throughs say, in standard deviations above an arbitrary text of them."""

    said: Mapping[int, float]  # function -> the nearest statement about it
    asked: Mapping[int, float]  # function -> the nearest question of a walk that has it
    walks: Mapping[int, tuple[int, ...]]  # function -> the walks that have it
    rows: tuple[int, ...]  # the functions of the nearest walks


NOTHING = Near({}, {}, {}, ())


class NearWalks:
    """The walk-throughs of one index as a way to functions. Read-only, safe for several threads."""

    def __init__(self, walks: Walks, store: KernelStore) -> None:
        self._walks = walks
        number = {walk.id: place for place, walk in enumerate(walks.walks)}
        self._steps = [
            [next(iter(store.definitions([step.function], step.file)), None) for step in walk.step]
            for walk in walks.walks
        ]
        self._of = [(number[text.walk], text.step) for text in walks.texts]
        self._rows_of = {
            language: np.flatnonzero([text.language == language for text in walks.texts]) for language in LANGUAGES
        }
        self._having: dict[int, tuple[int, ...]] = {}
        for place, rows in enumerate(self._steps):
            for row in dict.fromkeys(rows):
                if row is not None:
                    self._having[row] = (*self._having.get(row, ()), place)

    def near(self, vector: Vectors) -> Near:
        """What the walks say that is near to a question with this `vector` (dim,)."""
        cosines = self._walks.cosines(vector)
        standard = np.full(len(cosines), -np.inf)
        for rows in self._rows_of.values():
            if len(rows):
                spread = max(float(cosines[rows].std()), 1e-6)
                standard[rows] = (cosines[rows] - cosines[rows].mean()) / spread
        said: dict[int, float] = {}
        of_walk = np.full(len(self._steps), -np.inf)
        for (place, step), value in zip(self._of, standard.tolist(), strict=True):
            row = self._steps[place][step - 1] if step else None
            if row is not None:
                said[row] = max(said.get(row, -np.inf), value)
            elif not step:
                of_walk[place] = max(of_walk[place], value)
        asked = {row: float(of_walk[list(places)].max()) for row, places in self._having.items()}
        best = np.argsort(-of_walk, kind="stable")[:NEAREST].tolist()
        near = dict.fromkeys(row for place in best if of_walk[place] > -np.inf for row in self._steps[place])
        return Near(_finite(said), _finite(asked), self._having, tuple(row for row in near if row is not None))


def _finite(values: Mapping[int, float]) -> dict[int, float]:
    return {row: value for row, value in values.items() if value > -np.inf}


def floats(rows: Collection[int], values: Mapping[int, float]) -> Floats:
    """(rows,) the values of some functions; 0, that of an arbitrary text, for those without one."""
    return np.array([max(0.0, values.get(row, 0.0)) for row in rows], dtype=np.float32)
