"""The BERT encoder of multilingual-e5-small in plain torch.

`transformers.BertModel` gives the same vectors (a test compares them), but
importing it costs two more seconds at every start and 120 MB; it also keeps
query, key and value apart, which are one product here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor

EPSILON = 1e-12


@dataclass(frozen=True, slots=True)
class Affine:
    """Weight and bias of a linear map or of a layer norm."""

    weight: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True)
class Layer:
    qkv: Affine
    out: Affine
    out_norm: Affine
    inner: Affine
    outer: Affine
    outer_norm: Affine


class Bert:
    """Mean-pooled, unit-length sentence vectors of a BERT folder."""

    def __init__(self, folder: Path, *, heads: int, layers: int, dtype: torch.dtype) -> None:
        self.heads = heads
        self.dtype = dtype
        with safe_open(folder / "model.safetensors", framework="pt") as file:
            # The table of words stays mapped from the file, in half precision: only the rows of
            # words that occur are read, and 190 MB of it never enter memory.
            self.words: Tensor = file.get_tensor("embeddings.word_embeddings.weight")
            self.positions: Tensor = file.get_tensor("embeddings.position_embeddings.weight").float()
            types: Tensor = file.get_tensor("embeddings.token_type_embeddings.weight").float()
            self.positions += types[0]
            self.norm = self._affine(file, "embeddings.LayerNorm")
            self.layers = [self._layer(file, f"encoder.layer.{index}") for index in range(layers)]

    def _affine(self, file: Any, *names: str) -> Affine:
        """One affine map; several names are stacked on top of each other."""
        weight = torch.cat([file.get_tensor(f"{name}.weight") for name in names]).to(self.dtype)
        bias = torch.cat([file.get_tensor(f"{name}.bias") for name in names]).to(self.dtype)
        return Affine(weight, bias)

    def _layer(self, file: Any, base: str) -> Layer:
        attention = [f"{base}.attention.self.{name}" for name in ("query", "key", "value")]
        return Layer(
            qkv=self._affine(file, *attention),
            out=self._affine(file, f"{base}.attention.output.dense"),
            out_norm=self._affine(file, f"{base}.attention.output.LayerNorm"),
            inner=self._affine(file, f"{base}.intermediate.dense"),
            outer=self._affine(file, f"{base}.output.dense"),
            outer_norm=self._affine(file, f"{base}.output.LayerNorm"),
        )

    def __call__(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """(texts, tokens) ids and (texts,) lengths to (texts, hidden) float32 unit rows."""
        with torch.inference_mode():
            return self._pooled(ids, lengths)

    def _pooled(self, ids: Tensor, lengths: Tensor) -> Tensor:
        tokens = ids.shape[1]
        keep = torch.arange(tokens) < lengths[:, None]  # (texts, tokens)
        mask = None if bool(keep.all()) else keep[:, None, None, :]
        hidden = F.embedding(ids, self.words).float() + self.positions[:tokens]
        hidden = _norm(hidden.to(self.dtype), self.norm)
        for layer in self.layers:
            hidden = self._forward(hidden, layer, mask)
        weights = keep[:, :, None].float()
        mean = (hidden.float() * weights).sum(1) / weights.sum(1)
        return F.normalize(mean, dim=1)

    def _forward(self, hidden: Tensor, layer: Layer, mask: Tensor | None) -> Tensor:
        texts, tokens, width = hidden.shape
        qkv = F.linear(hidden, layer.qkv.weight, layer.qkv.bias)
        # (3, texts, heads, tokens, width of a head)
        query, key, value = qkv.view(texts, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(texts, tokens, width)
        hidden = _norm(hidden + F.linear(mixed, layer.out.weight, layer.out.bias), layer.out_norm)
        inner = F.gelu(F.linear(hidden, layer.inner.weight, layer.inner.bias))
        return _norm(hidden + F.linear(inner, layer.outer.weight, layer.outer.bias), layer.outer_norm)


def _norm(hidden: Tensor, norm: Affine) -> Tensor:
    return F.layer_norm(hidden, (hidden.shape[-1],), norm.weight, norm.bias, EPSILON)


def best_dtype() -> tuple[torch.dtype, str]:
    """The number format for this processor, and the instructions it runs on.

    bfloat16 where the processor multiplies it itself (AMX or AVX512-BF16, as the
    CPU flags that torch reads say); everywhere else it would be emulated, slower
    than float32.
    """
    able = torch.cpu.get_capabilities()
    if able.get("amx_bf16"):
        return torch.bfloat16, "AMX-BF16"
    if able.get("avx512_bf16"):
        return torch.bfloat16, "AVX512-BF16"
    return torch.float32, str(torch.backends.cpu.get_cpu_capability())
