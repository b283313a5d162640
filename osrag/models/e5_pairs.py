"""A pair encoder on the layers of the default encoder: do two questions want the same answer?

The lower layers are those of the encoder; to the upper ones a trained low-rank matrix is added (Hu et al., LoRA, arXiv
2106.09685; bench/fit_prepared.py trains them). Two texts that are read together see each other's words, where two
vectors that were made apart meet in one product only.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from osrag.models.e5 import QUERY, Affine, E5Encoder, filled

if TYPE_CHECKING:
    from tokenizers import Encoding
    from torch import Tensor

TRAINED = ("qkv", "out", "inner", "outer")  # maps of a layer that may have an adapter


class E5Pairs:
    """A PairEncoder. It shares the thread and the lower layers of `encoder`."""

    def __init__(self, encoder: E5Encoder, adapter: Path) -> None:
        self._encoder = encoder
        encoder.run(self._load, adapter)

    def _load(self, adapter: Path) -> None:
        from safetensors.torch import load_file

        trained = {name: value.float() for name, value in load_file(adapter).items()}
        layers = self._encoder.bert.layers
        self._layers = [adapted(layer, index, trained) for index, layer in enumerate(layers)]
        self._head: Affine = trained["head.weight"], trained["head.bias"]

    def scores(self, text: str, others: Sequence[str]) -> npt.NDArray[np.float32]:
        """(others,) log odds that the questions of each ask what `text` asks."""
        if not others:
            return np.zeros(0, np.float32)
        encodings = self._encoder.tokenizer.encode_batch_fast([(QUERY + text, other) for other in others])
        scores: npt.NDArray[np.float32] = self._encoder.run(self._forward, encodings)
        return scores

    def _forward(self, encodings: "Sequence[Encoding]") -> npt.NDArray[np.float32]:
        import torch

        bert, count = self._encoder.bert, len(encodings)
        encodings = filled(encodings)
        ids, lengths = self._encoder.padded(encodings)
        with torch.inference_mode():
            states, kept = bert.states(ids, lengths, self._layers)
            first = in_first(encodings, states.shape[1])
            logits = compare(states, first, kept & ~first, self._head)
        scores: npt.NDArray[np.float32] = logits.numpy()
        return scores[:count]


def adapted(layer: "dict[str, Affine]", index: int, trained: "dict[str, Tensor]") -> "dict[str, Affine]":
    """A layer with what was trained for it; the very same layer where nothing was."""
    if f"{index}.{TRAINED[0]}.down" not in trained:
        return layer
    changed = dict(layer)
    for part in TRAINED:
        weight, bias = layer[part]
        added = trained[f"{index}.{part}.up"] @ trained[f"{index}.{part}.down"]
        changed[part] = (weight.float() + added).to(weight.dtype), bias
    return changed


def in_first(encodings: "Sequence[Encoding]", width: int) -> "Tensor":
    """(texts, width) whether a token belongs to the first text of its pair, or begins it."""
    import torch

    ends = torch.tensor([1 + sum(part == 0 for part in encoding.sequence_ids) for encoding in encodings])
    return torch.arange(width) < ends[:, None]


def compare(states: "Tensor", first: "Tensor", second: "Tensor", head: Affine) -> "Tensor":
    """(texts,) what the head says of the means of both texts: of their product and their difference by dimension."""
    import torch
    from torch.nn import functional

    one, other = (
        functional.normalize((states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)
        for mask in (first.float(), second.float())
    )
    return functional.linear(torch.cat([one * other, (one - other).abs()], 1), *head)[:, 0]
