"""Which kind of exercise a text is likely to be, and which figure it asks for, by how it is worded.

Two logistic models on the encoder's vectors, of the whole text and of the sentences that ask. They are fitted by
`bench/fit_lab_reading.py` on exercises and on clauses in many wordings, and stand in `osrag/data/lab_reading.npz`. They
know what a text is about where the words of `data/lab_reading.toml` do not stand in it; which algorithm it names,
those words know better.
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from osrag.lab.reading.asks import asking_sentences
from osrag.lab.reading.plain import plain
from osrag.lab.words import FOLDER
from osrag.models.protocols import Encoder

PATH = FOLDER.parent / "lab_reading.npz"
SCALE = 5.0  # brings unit vectors to the size of the penalty of the fit
NONE = "none"  # the kind of a text that is no exercise of the lab
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Likely:
    """The chance of each kind, and of each figure among all of all kinds."""

    kinds: Mapping[str, float]
    asks: Mapping[str, float]

    def ranked(self, known: Iterable[str]) -> list[tuple[str, float]]:
        """The figures of a kind with their chances among them, the likeliest first."""
        chances = {ask: self.asks.get(ask, 0.0) for ask in known}
        whole = sum(chances.values()) or 1.0
        return sorted(((ask, chance / whole) for ask, chance in chances.items()), key=lambda each: -each[1])


def likely(text: str, encoder: Encoder) -> Likely | None:
    """What `text` may be; None with another encoder than that of the fit."""
    fitted = _fitted()
    if encoder.name != str(fitted["encoder"]):
        return None
    whole, asking = SCALE * encoder.queries(list(wordings(text)))
    return Likely(
        *(
            dict(zip(map(str, fitted[f"{part}_names"]), map(float, _chances(vector, fitted[part])), strict=True))
            for part, vector in (("kinds", whole), ("asks", asking))
        )
    )


def wordings(text: str) -> tuple[str, str]:
    """What the two models look at: the text, and its sentences that ask."""
    clear = plain(text)
    return clear, " ".join(asking_sentences(clear)) or clear


def _chances(vector: Floats, weights: Floats) -> Floats:
    """(names,) that sum to 1; `weights` are (dim + 1, names), the last row the bias."""
    scores = vector @ weights[:-1] + weights[-1]
    powers = np.exp(scores - scores.max())
    chances: Floats = powers / powers.sum()
    return chances


@functools.cache
def _fitted() -> dict[str, npt.NDArray[np.float32]]:
    with np.load(PATH) as file:
        return {name: file[name].astype(np.float32) if file[name].dtype == np.float16 else file[name] for name in file}
