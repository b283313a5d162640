"""The network of multilingual-e5-small as a graph for ONNX Runtime, its weights left in the four bits they come in.

The graph begins behind the table of words: it takes a sum of vectors and gives the states of all tokens. The products
are `MatMulNBits` of blocks of 32, which rounds what it multiplies by to eight bits, block by block: the vectors differ
from those of float32 by a cosine of 0.9999 (docs/models.md).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from osrag.models.e5_packed import BLOCK, Packed, halves_of

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

# The maps of a layer by their names in the packed file; those of several names are stacked.
MAPS = {"qkv": ("q", "k", "v"), "out": ("ao",), "inner": ("fi",), "outer": ("fo",)}
UPPER = 8  # layers that an adapter may change, of twelve
EPSILON = 1e-12  # of the layer norms
STANDARD, CONTRIBUTED, FORMAT = 17, 1, 9  # versions of the operators and of the file
MICROSOFT = "com.microsoft"  # the domain of operators that ONNX Runtime adds
ROUNDED = 4  # `accuracy_level` of MatMulNBits: it multiplies in eight bits


def graph(packed: Packed, *, adapted: bool) -> bytes:
    """The graph as a file: `hidden` (texts, tokens, dim) and `lengths` (texts,) to states (texts, tokens, dim).

    Where it is `adapted`, it also takes the two matrices of each map of the upper layers, "4.qkv.down" (columns, rank)
    and "4.qkv.up" (rank, rows), whose product is added to the map.
    """
    from onnx import TensorProto, helper

    made = _Graph(packed, adapted=adapted)
    states = made.network()
    shape = ["texts", "tokens", packed.sizes["hidden_size"]]
    known = helper.make_graph(
        made.nodes,
        "e5",
        [
            helper.make_tensor_value_info("hidden", TensorProto.FLOAT, shape),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["texts"]),
            *(helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in made.adapters.items()),
        ],
        [helper.make_tensor_value_info(states, TensorProto.FLOAT, shape)],
        made.weights,
    )
    versions = [helper.make_opsetid("", STANDARD), helper.make_opsetid(MICROSOFT, CONTRIBUTED)]
    model: bytes = helper.make_model(known, opset_imports=versions, ir_version=FORMAT).SerializeToString()
    return model


class _Graph:
    """A graph that grows; every method adds to it and gives the name of what comes out."""

    def __init__(self, packed: Packed, *, adapted: bool) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self.adapters: dict[str, list[int | str]] = {}
        self._packed = packed
        self._dim, self._layers = packed.sizes["hidden_size"], packed.sizes["num_hidden_layers"]
        self._changes = range(max(0, self._layers - UPPER), self._layers) if adapted else range(0)

    def network(self) -> str:
        """All layers, from `hidden` on."""
        hidden = self._norm("emb.ln", "hidden")
        parts = self._weight("parts", np.full(3, self._dim, np.int64))
        for index in range(self._layers):
            stacked = self._map(index, "qkv", hidden)
            query, key, value = (f"l{index}.{name}.apart" for name in "qkv")
            self._node("Split", [stacked, parts], query, key, value, axis=2)
            heads = self._packed.sizes["num_attention_heads"]
            mixed = self._node(
                "MultiHeadAttention",
                [query, key, value, "", "lengths"],
                f"l{index}.mixed",
                domain=MICROSOFT,
                num_heads=heads,
            )
            hidden = self._norm(f"l{index}.aln", hidden, self._map(index, "out", mixed))
            inner = self._node("Gelu", [self._map(index, "inner", hidden)], f"l{index}.gelu", domain=MICROSOFT)
            hidden = self._norm(f"l{index}.oln", hidden, self._map(index, "outer", inner))
        return hidden

    def _map(self, index: int, part: str, value: str) -> str:
        """An affine map of a layer, and what an adapter adds to it."""
        owners = [f"l{index}.{name}" for name in MAPS[part]]
        columns = self._packed.columns(f"{owners[0]}.w")
        blocks = np.concatenate([self._packed.blocks[f"{owner}.w"] for owner in owners])
        scales, nibbles = halves_of(blocks)
        rows = blocks.shape[0] * BLOCK // columns
        name = f"{index}.{part}"
        mapped = self._node(
            "MatMulNBits",
            [
                value,
                self._weight(f"{name}.w", paired(nibbles).reshape(rows, columns // BLOCK, BLOCK // 2)),
                self._weight(f"{name}.scales", scales.reshape(-1)),
                "",
                "",
                self._weight(f"{name}.b", np.concatenate([self._packed.tensors[f"{owner}.b"] for owner in owners])),
            ],
            f"{name}.mapped",
            domain=MICROSOFT,
            K=columns,
            N=rows,
            bits=4,
            block_size=BLOCK,
            accuracy_level=ROUNDED,
        )
        if index not in self._changes:
            return mapped
        self.adapters |= {f"{name}.down": [columns, "rank"], f"{name}.up": ["rank", rows]}
        added = self._node("MatMul", [value, f"{name}.down"], f"{name}.narrow")
        return self._node("Add", [mapped, self._node("MatMul", [added, f"{name}.up"], f"{name}.added")], f"{name}.sum")

    def _norm(self, owner: str, *values: str) -> str:
        """The layer norm of a value, or of the sum of two."""
        affine = [self._weight(f"{owner}.{kind}", self._packed.tensors[f"{owner}.{kind}"]) for kind in "wb"]
        if len(values) == 1:
            return self._node("LayerNormalization", [*values, *affine], f"{owner}.normed", epsilon=EPSILON)
        return self._node(
            "SkipLayerNormalization", [*values, *affine], f"{owner}.normed", domain=MICROSOFT, epsilon=EPSILON
        )

    def _weight(self, name: str, values: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(self, operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return outputs[0]


def paired(nibbles: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """(blocks, 32) numbers of four bits to (blocks, 16) bytes that hold neighbours, as ONNX Runtime reads them."""
    return np.bitwise_or(nibbles[:, 0::2], np.left_shift(nibbles[:, 1::2], np.uint8(4)))
