"""Which source a question is for, where the visitor leaves it open (T9): the course book, the kernel, or both.

A logistic model on the encoder's vector of the question and on three signs of code says how the question sounds; a
second one weighs that with the signs and with how likely a prepared answer of the book, or a walk-through of the
kernel, is what is asked for. `bench/fit_route.py` fits both on questions written for either source
(`osrag/data/route.json`). With another encoder than that of the fit, both sources answer.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from osrag.answer.prepared import SURE as ANSWERED
from osrag.models.protocols import Encoder
from osrag.types import SourceChoice

PATH = Path(__file__).resolve().parent.parent / "data" / "route.json"
# Chance of the kernel from which on it answers alone, and up to which the book does; between them both answer. Of 280
# questions by others 3 more get both than at .4, each for the kernel and answered by the book before; at .2 it is 10.
SURE, DOUBTED = 0.6, 0.3
# What speaks of code: a name, the kernel, a word for code.
SIGNS = {
    "name": re.compile(r"[A-Za-z]\w*_\w+|\w+\(\)"),
    "linux": re.compile(r"linux|kernel|内核|源码|源代码", re.I),
    "code": re.compile(
        r"function|source|which file|implement|\bcode\b|struct|函数|代码|结构体|实现|哪个文件|字段", re.I
    ),
}
VECTOR_SCALE, SIGN_SCALE = 5.0, 2.0  # bring vector and signs to one size for the penalty of the fit


@dataclass(frozen=True, slots=True)
class Router:
    """Two fitted models: the encoder they were fitted for; a weight for each feature and a bias; what decides."""

    encoder: str
    weights: npt.NDArray[np.float64]  # (dim + signs,)
    bias: float
    decision: Mapping[str, float]  # weights of "sound", "name", "linux", "code", "prepared", "walked"; "bias"

    def sound(self, text: str, encoder: Encoder) -> float:
        """Log odds that `text` asks for the kernel, as far as its words tell."""
        return float(features([text], encoder)[0] @ self.weights + self.bias)

    def choose(
        self,
        text: str,
        encoder: Encoder,
        *,
        prepared: Callable[[], float],
        walked: Callable[[], float],
        silent: Callable[[], bool],
    ) -> SourceChoice:
        """The source that answers `text`; both where it may be either.

        `prepared` tells how likely the book has a prepared answer, `walked` how likely a walk-through of the kernel
        covers the question, `silent` whether the book would refuse it and the kernel not; each costs a search and is
        asked only where it decides.
        """
        prepared = functools.cache(prepared)
        if encoder.name != self.encoder:
            return "textbook" if prepared() >= ANSWERED else "both"
        held = self.decision
        odds = held["bias"] + held["sound"] * self.sound(text, encoder) + sum(held[name] for name in signs_in(text))
        unasked: dict[str, Callable[[], float]] = {"walked": walked, "prepared": prepared}
        while unasked and len({_chosen(odds + end) for end in _ends([held[name] for name in unasked])}) > 1:
            name = next(iter(unasked))
            odds += held[name] * unasked.pop(name)()
        chosen = _chosen(odds)
        if chosen == "both" and prepared() < ANSWERED and silent():
            return "kernel"
        return chosen


def chance(odds: float) -> float:
    """Of the kernel, 0-1."""
    return float(1 / (1 + np.exp(-odds)))


def signs_in(text: str) -> list[str]:
    """The signs of code in a question."""
    return [name for name, sign in SIGNS.items() if sign.search(text)]


def _chosen(odds: float) -> SourceChoice:
    return "kernel" if chance(odds) >= SURE else "textbook" if chance(odds) <= DOUBTED else "both"


def _ends(weights: list[float]) -> tuple[float, float]:
    """The least and the most that signs with these weights can add."""
    return sum(weight for weight in weights if weight < 0), sum(weight for weight in weights if weight > 0)


def features(texts: list[str], encoder: Encoder) -> npt.NDArray[np.float64]:
    """(texts, dim + signs) what the model looks at."""
    signs = np.array([[bool(sign.search(text)) for sign in SIGNS.values()] for text in texts], dtype=np.float64)
    return np.concatenate([VECTOR_SCALE * encoder.queries(texts), SIGN_SCALE * signs], axis=1)


@functools.cache
def router() -> Router:
    """The models that are shipped."""
    fitted = json.loads(PATH.read_text(encoding="utf-8"))
    return Router(fitted["encoder"], np.array(fitted["weights"]), fitted["bias"], fitted["decision"])
