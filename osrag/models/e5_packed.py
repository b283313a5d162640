"""Read the packed multilingual-e5-small.

The packed file (magic `E5S1`) holds, little-endian: the shape of the model, the
unigram vocabulary with its scores, a table of normalisations (not needed: it is
NMT + NFKC but for one sign), and the tensors, matrices as Q4_0 blocks.
"""

import os
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from osrag.errors import BadWeights

MAGIC = b"E5S1"
BLOCK = 32  # weights that share a scale
BLOCK_BYTES = 2 + BLOCK // 2

# Sizes of the network in the order of the packed file, under the names of `transformers.BertConfig`.
SIZES = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
    "type_vocab_size",
)


@dataclass(frozen=True, slots=True)
class Packed:
    """The parsed file."""

    sizes: dict[str, int]  # by the names in `SIZES`
    pieces: list[tuple[str, float]]
    special: dict[str, int]  # "bos", "eos", "pad", "unk"
    tensors: dict[str, npt.NDArray[np.float32]]  # biases, norms, and the tables of places and types
    blocks: dict[str, npt.NDArray[np.uint8]]  # matrices: (blocks, 18) bytes of Q4_0

    def columns(self, name: str) -> int:
        """Of a matrix: how many values it takes."""
        return self.sizes["intermediate_size" if name.endswith(".fo.w") else "hidden_size"]

    def matrix(self, name: str) -> npt.NDArray[np.float32]:
        """(rows, columns), as they are multiplied: (out, in)."""
        return dequantise(self.blocks[name]).reshape(-1, self.columns(name))

    def places(self) -> npt.NDArray[np.float32]:
        """(tokens, dim) what is added for the place of a token; every token is of the first type."""
        width = self.sizes["hidden_size"]
        return self.tensors["emb.pos"].reshape(-1, width) + self.tensors["emb.type"][:width]


def dequantise(blocks: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """The (blocks, 32) weights of Q4_0 blocks (blocks, 18)."""
    scales, nibbles = halves_of(blocks)
    return (nibbles.astype(np.float32) - 8) * scales


def halves_of(blocks: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """(blocks, 1) scales and (blocks, 32) numbers 0-15 of Q4_0 blocks; a weight is (number - 8) * scale.

    A block is a scale in half precision, then 16 bytes: byte j holds weight j in its low half and weight j + 16 in
    its high half.
    """
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    return scales, np.concatenate([blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4], axis=1)


def read_packed(path: Path) -> Packed:
    """Parse the packed file; raises BadWeights when it is not one."""
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise BadWeights(f"{str(path)!r} is not a packed E5 model")
        _take(file, "I")  # version of the format
        *sizes, _, _ = _take(file, "7ifi")
        pieces, special = _read_vocabulary(file)
        _, normalisations = _take(file, "iI")
        file.seek(normalisations, os.SEEK_CUR)
        return Packed(dict(zip(SIZES, sizes, strict=True)), pieces, special, *_read_tensors(file))


def _take(file: BinaryIO, form: str) -> tuple[Any, ...]:
    """The next values, by a format of `struct`."""
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))


def _read_vocabulary(file: BinaryIO) -> tuple[list[tuple[str, float]], dict[str, int]]:
    count, *ids = _take(file, "5i")
    (size,) = _take(file, "Q")
    offsets = _take(file, f"{count + 1}I")
    scores = _take(file, f"{count}f")
    blob = file.read(size)
    texts = [blob[a:b].decode("utf-8") for a, b in pairwise(offsets)]
    special = dict(zip(("bos", "eos", "pad", "unk"), ids, strict=True))
    return list(zip(texts, scores, strict=True)), special


def _read_tensors(file: BinaryIO) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, npt.NDArray[np.uint8]]]:
    data = np.memmap(file.name, np.uint8, mode="r")
    tensors, blocks = {}, {}
    (count,) = _take(file, "i")
    for _ in range(count):
        (length,) = _take(file, "H")
        name = file.read(length).decode("ascii")
        quantised, items, offset, size = _take(file, "BIQQ")
        raw = data[offset : offset + size]
        if quantised:
            blocks[name] = raw.reshape(-1, BLOCK_BYTES)
            held = len(blocks[name]) * BLOCK
        else:
            tensors[name] = raw.view("<f4")
            held = len(tensors[name])
        if held != items:
            raise BadWeights(f"tensor {name!r} has {held} values instead of {items}")
    return tensors, blocks
