"""The network of the default encoder in torch, to train adapters; osrag runs it as a graph for ONNX Runtime."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from osrag.models.e5_graph import EPSILON, MAPS
from osrag.models.e5_packed import Packed, read_packed
from osrag.models.store import Store
from osrag.settings import load_settings

Affine = tuple[Tensor, Tensor]  # weight and bias of a linear map or of a layer norm


class Bert:
    """The layers, in a number format."""

    def __init__(self, packed: Packed, dtype: torch.dtype) -> None:
        self.heads = packed.sizes["num_attention_heads"]
        self.width = packed.sizes["hidden_size"]
        self.dtype = dtype
        self._packed = packed
        self.words = torch.from_numpy(packed.matrix("emb.word")).half()
        self.places = torch.from_numpy(packed.places())
        self.norm = self._norm_of("emb.ln")
        self.layers = [
            {part: self._map_of([f"l{index}.{name}" for name in names]) for part, names in MAPS.items()}
            | {"out_norm": self._norm_of(f"l{index}.aln"), "outer_norm": self._norm_of(f"l{index}.oln")}
            for index in range(packed.sizes["num_hidden_layers"])
        ]

    def _map_of(self, owners: Sequence[str]) -> Affine:
        """The affine maps of some names on top of each other."""
        weights = [self._packed.matrix(f"{owner}.w") for owner in owners]
        biases = [self._packed.tensors[f"{owner}.b"] for owner in owners]
        return self._tensor(np.concatenate(weights)), self._tensor(np.concatenate(biases))

    def _norm_of(self, owner: str) -> Affine:
        weight, bias = (self._tensor(self._packed.tensors[f"{owner}.{kind}"]) for kind in "wb")
        return weight, bias

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.tensor(values).to(self.dtype)

    def states(self, ids: Tensor, kept: Tensor, layers: Sequence[dict[str, Affine]]) -> Tensor:
        """(texts, tokens, width) float32 behind `layers`, of (texts, tokens) ids and which of them are not padding."""
        hidden = functional.embedding(ids, self.words).float() + self.places[: ids.shape[1]]
        hidden = norm(hidden.to(self.dtype), self.norm)
        for layer in layers:
            hidden = self._forward(hidden, layer, kept[:, None, None, :])
        return hidden.float()

    def _forward(self, hidden: Tensor, layer: dict[str, Affine], mask: Tensor) -> Tensor:
        texts, tokens, width = hidden.shape
        qkv = functional.linear(hidden, *layer["qkv"])
        # (3, texts, heads, tokens, width of a head)
        query, key, value = qkv.view(texts, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(texts, tokens, width)
        hidden = norm(hidden + functional.linear(mixed, *layer["out"]), layer["out_norm"])
        inner = functional.gelu(functional.linear(hidden, *layer["inner"]))
        return norm(hidden + functional.linear(inner, *layer["outer"]), layer["outer_norm"])


def shipped() -> Bert:
    """The network of the pinned weights, in the number format that this processor multiplies fastest."""
    return Bert(read_packed(Store(load_settings()).path("encoder")), best_dtype())


def norm(hidden: Tensor, affine: Affine) -> Tensor:
    return functional.layer_norm(hidden, (hidden.shape[-1],), *affine, EPSILON)


def compare(states: Tensor, first: Tensor, second: Tensor, head: Affine) -> Tensor:
    """(texts,) what the head says of the means of both texts, as in osrag/models/e5_pairs.py."""
    one, other = (
        functional.normalize((states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)
        for mask in (first.float(), second.float())
    )
    return functional.linear(torch.cat([one * other, (one - other).abs()], 1), *head)[:, 0]


def best_dtype() -> torch.dtype:
    """bfloat16 where the processor multiplies it itself (AMX or AVX512-BF16); elsewhere that would be emulated."""
    able = torch.cpu.get_capabilities()
    return torch.bfloat16 if able.get("amx_bf16") or able.get("avx512_bf16") else torch.float32
