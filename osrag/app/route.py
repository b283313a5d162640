"""Which source a question is for, where the visitor leaves it open (T9): the course book, the kernel, or both.

A logistic model on the encoder's vector of the question and on three signs of code gives a chance; where it is not
sure, what is written decides: a prepared answer of the book, a walk-through of the kernel. `bench/fit_route.py` fits it
on questions written for either source, and writes `osrag/data/route.json`. With another encoder than that of the fit,
both sources answer.
"""

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from osrag.models.protocols import Encoder
from osrag.types import SourceChoice

PATH = Path(__file__).resolve().parent.parent / "data" / "route.json"
SURE = 0.8  # chance of a source from which on it needs no other reason; higher, and more questions get two answers
LIKELY = 0.5  # chance of the kernel from which on it answers alone what a walk-through covers
# What speaks of code: a name, the kernel, a word for code.
SIGNS = (
    re.compile(r"[A-Za-z]\w*_\w+|\w+\(\)"),
    re.compile(r"linux|kernel|内核|源码|源代码", re.I),
    re.compile(r"function|source|which file|implement|\bcode\b|struct|函数|代码|结构体|实现|哪个文件|字段", re.I),
)
VECTOR_SCALE, SIGN_SCALE = 5.0, 2.0  # bring vector and signs to one size for the penalty of the fit


@dataclass(frozen=True, slots=True)
class Router:
    """A fitted model: the encoder it was fitted for, a weight for each feature, a bias."""

    encoder: str
    weights: npt.NDArray[np.float64]  # (dim + signs,)
    bias: float

    def kernel(self, text: str, encoder: Encoder) -> float:
        """The chance that `text` asks for the kernel, 0-1."""
        return float(1 / (1 + np.exp(-(features([text], encoder)[0] @ self.weights + self.bias))))

    def choose(
        self,
        text: str,
        encoder: Encoder,
        *,
        prepared: Callable[[], bool],
        walked: Callable[[], bool],
        silent: Callable[[], bool],
    ) -> SourceChoice:
        """The source that answers `text`; both where it may be either.

        `prepared` tells whether the book has a prepared answer, `walked` whether a walk-through of the kernel covers
        the question, `silent` whether the book would refuse it and the kernel not; each costs a search and is asked
        only where it decides.
        """
        if encoder.name != self.encoder:
            return "textbook" if prepared() else "both"
        chance, signs = self.kernel(text, encoder), [bool(sign.search(text)) for sign in SIGNS]
        if chance >= SURE:
            return "kernel"
        named = any(signs[:2])  # Linux, or a name of code
        if chance <= 1 - SURE:
            return "both" if named and walked() else "textbook"
        covered, told = walked(), prepared()
        if covered and not told and chance >= LIKELY:
            return "kernel"
        if covered and named:
            return "both"
        if not told and (covered or any(signs) or chance >= LIKELY):
            return "both"
        return "kernel" if not told and silent() else "textbook"


def features(texts: list[str], encoder: Encoder) -> npt.NDArray[np.float64]:
    """(texts, dim + signs) what the model looks at."""
    signs = np.array([[bool(sign.search(text)) for sign in SIGNS] for text in texts], dtype=np.float64)
    return np.concatenate([VECTOR_SCALE * encoder.queries(texts), SIGN_SCALE * signs], axis=1)


@functools.cache
def router() -> Router:
    """The model that is shipped."""
    fitted = json.loads(PATH.read_text(encoding="utf-8"))
    return Router(fitted["encoder"], np.array(fitted["weights"]), fitted["bias"])
