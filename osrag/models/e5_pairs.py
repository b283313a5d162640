"""A pair encoder on the layers of the default encoder: do two questions want the same answer?

To the upper layers of the encoder a trained low-rank matrix is added (Hu et al., LoRA, arXiv 2106.09685;
bench/fit_prepared.py trains them). Two texts that are read together see each other's words, where two vectors that
were made apart meet in one product only.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from osrag.models.e5 import QUERY, E5Encoder, means, patience_of
from osrag.recent import Recent

if TYPE_CHECKING:
    from tokenizers import Encoding

HEAD = "head."
KEPT = 8192  # scores: a class asks the same questions, and one question is read by several parts of the program


class E5Pairs:
    """A PairEncoder. It shares the thread and the layers of `encoder`, and keeps the scores of the latest pairs."""

    def __init__(self, encoder: E5Encoder, adapter: Path) -> None:
        from safetensors.numpy import load_file

        self._encoder = encoder
        self._kept: Recent[float] = Recent(KEPT)
        held = {name: value.astype(np.float32) for name, value in load_file(adapter).items()}
        self._head, self._bias = held[f"{HEAD}weight"][0], held[f"{HEAD}bias"][0]
        # The file has them as (out, in), the graph multiplies by (in, out).
        self._adapter = {
            name: np.ascontiguousarray(value.T) for name, value in held.items() if not name.startswith(HEAD)
        }

    def scores(self, text: str, others: Sequence[str]) -> npt.NDArray[np.float32]:
        """(others,) log odds that the questions of each ask what `text` asks."""
        return np.array(self._kept.of([(text, other) for other in others], self._scores), np.float32)

    def _scores(self, pairs: list[tuple[str, str]]) -> list[float]:
        """(pairs,) as `scores`, read in one batch."""
        encodings = self._encoder.tokenizer.encode_batch_fast([(QUERY + text, other) for text, other in pairs])
        return list(map(float, self._encoder.run(self._read, encodings, patience_s=patience_of(encodings))))

    def _read(self, encodings: "Sequence[Encoding]") -> npt.NDArray[np.float32]:
        states, kept = self._encoder.pair_states(encodings, self._adapter)
        first = in_first(encodings, kept.shape[1])
        one, other = means(states, first), means(states, kept & ~first)
        # What the head says of both means: of their product and their difference by dimension.
        scores: npt.NDArray[np.float32] = np.concatenate([one * other, np.abs(one - other)], 1) @ self._head
        scores += self._bias
        return scores


def in_first(encodings: "Sequence[Encoding]", width: int) -> npt.NDArray[np.bool_]:
    """(texts, width) whether a token belongs to the first text of its pair, or begins it."""
    ends = np.array([1 + sum(part == 0 for part in encoding.sequence_ids) for encoding in encodings])
    first: npt.NDArray[np.bool_] = np.arange(width) < ends[:, None]
    return first
