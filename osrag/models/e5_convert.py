"""Turn the packed multilingual-e5-small into a folder that loads fast, once.

The packed file (magic `E5S1`) holds, little-endian: the shape of the model, the
unigram vocabulary with its scores, a table of normalisations (not needed: it is
NMT + NFKC but for one sign), and the tensors, matrices as Q4_0 blocks.
"""

import json
import os
import shutil
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from osrag.errors import BadWeights

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAGIC = b"E5S1"
BLOCK = 32  # weights that share a scale
MAX_TOKENS = 512

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
Tensors = dict[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Packed:
    """The parsed file."""

    sizes: dict[str, int]  # by the names in `SIZES`
    pieces: list[tuple[str, float]]
    special: dict[str, int]  # "bos", "eos", "pad", "unk"
    tensors: Tensors


def dequantise(raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Weights of Q4_0 blocks: a half-precision scale, then 16 bytes of two nibbles.

    Byte j of a block holds weight j in its low half and weight j + 16 in its high half.
    """
    blocks = raw.reshape(-1, 2 + BLOCK // 2)  # (blocks, 18)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)  # (blocks, 1)
    nibbles = np.concatenate([blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4], axis=1)  # (blocks, 32)
    return ((nibbles.astype(np.float32) - 8) * scale).reshape(-1)


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
        return Packed(dict(zip(SIZES, sizes, strict=True)), pieces, special, _read_tensors(file))


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


def _read_tensors(file: BinaryIO) -> Tensors:
    data = np.memmap(file.name, np.uint8, mode="r")
    tensors: Tensors = {}
    (count,) = _take(file, "i")
    for _ in range(count):
        (length,) = _take(file, "H")
        name = file.read(length).decode("ascii")
        quantised, items, offset, size = _take(file, "BIQQ")
        raw = data[offset : offset + size]
        values = dequantise(raw) if quantised else raw.view("<f4")
        if values.size != items:
            raise BadWeights(f"tensor {name!r} has {values.size} values instead of {items}")
        tensors[name] = values
    return tensors


# -- the folder ---------------------------------------------------------------------------------------


def halves(packed: Packed) -> dict[str, npt.NDArray[np.float16]]:
    """The tensors under the names of the packed file, linear maps as (out, in).

    4-bit weights lose nothing that counts in half precision; the folder is half as big.
    """
    found = {}
    for name, values in packed.tensors.items():
        if not name.endswith(".b") and "ln." not in name:
            columns = "intermediate_size" if name.endswith(".fo.w") else "hidden_size"
            values = values.reshape(-1, packed.sizes[columns])
        found[name] = values.astype(np.float16)
    return found


def unigram_tokenizer(packed: Packed) -> "Tokenizer":
    """The XLM-RoBERTa tokenizer: NMT + NFKC, metaspace, unigram, `<s> … </s>`."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(packed.pieces, unk_id=packed.special["unk"], byte_fallback=False))
    # NFKC would turn the wide tilde of Chinese text into the ASCII one, which the model's own table keeps.
    kept, placeholder = "\uff5e", "\ue0fe"
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(kept, placeholder),
            normalizers.Nmt(),
            normalizers.NFKC(),
            normalizers.Replace(placeholder, kept),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(left=True, right=True),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    begin, end = (packed.pieces[packed.special[name]][0] for name in ("bos", "eos"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        special_tokens=[(begin, packed.special["bos"]), (end, packed.special["eos"])],
    )
    tokenizer.add_special_tokens([packed.pieces[index][0] for index in sorted(packed.special.values())])
    return tokenizer


def write_folder(packed: Packed, folder: Path) -> None:
    """Write sizes, tokenizer and weights (half precision) as `E5Encoder` reads them."""
    from safetensors.numpy import save_file

    draft = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    config = {**packed.sizes, "pad_token_id": packed.special["pad"]}
    (draft / "config.json").write_text(json.dumps(config, indent=2), "utf-8")
    unigram_tokenizer(packed).save(str(draft / "tokenizer.json"), pretty=False)
    save_file(halves(packed), draft / "model.safetensors")
    try:
        draft.replace(folder)
    except OSError:
        # Another process finished first; its folder is as good as ours.
        shutil.rmtree(draft, ignore_errors=True)
        if not folder.is_dir():
            raise
