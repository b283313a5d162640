"""The default encoder: multilingual-e5-small on the CPU (Wang et al., arXiv 2402.05672)."""

import json
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from osrag.models.e5_convert import MAX_TOKENS, read_packed, write_folder
from osrag.models.protocols import Vectors

if TYPE_CHECKING:
    from tokenizers import Encoding

log = logging.getLogger(__name__)

QUERY, PASSAGE = "query: ", "passage: "  # as the model was trained
POOLING = "mean-l2-512-v1"  # changes when the same weights give other vectors
FORMAT = "v1"  # of the converted folder
BATCH_TOKENS = 4096  # padded tokens of a batch; more gains nothing and makes a query wait
CHARS_PER_TOKEN = 12  # no text of 512 tokens is longer than this, bar runs of one sign


class E5Encoder:
    """Text to unit vectors. Safe to call from several threads; one batch runs at a time.

    Texts longer than 512 tokens (about 1,400 characters of English, 700 of
    Chinese) are cut: what comes later does not count. An empty text is embedded
    as its bare prefix.
    """

    def __init__(self, folder: Path, *, sha256: str, threads: int) -> None:
        # One thread for all calls: a pool of OpenMP workers per calling thread would pile up.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._revision = f"{sha256[:16]}-{POOLING}"
        self._worker.submit(self._load, folder, threads).result()

    def _load(self, folder: Path, threads: int) -> None:
        import torch
        from tokenizers import Tokenizer

        from osrag.models.e5_forward import Bert, best_dtype

        torch.set_num_threads(threads)
        config = json.loads((folder / "config.json").read_text("utf-8"))
        self._dim: int = config["hidden_size"]
        self._pad: int = config["pad_token_id"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        dtype, self.instructions = best_dtype()
        self._bert = Bert(folder, heads=config["num_attention_heads"], layers=config["num_hidden_layers"], dtype=dtype)
        self._embed(["query: warm"])

    @property
    def name(self) -> str:
        return "multilingual-e5-small"

    @property
    def revision(self) -> str:
        return self._revision

    @property
    def dim(self) -> int:
        return self._dim

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, 384) float32 unit rows, in the order of `texts`."""
        return self._encode([QUERY + text for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, 384) float32 unit rows, in the order of `texts`."""
        return self._encode([PASSAGE + text for text in texts])

    def count_tokens(self, text: str) -> int:
        """Tokens of a passage, its prefix and end marks included, before any cut."""
        encoding = self._tokenizer.encode(PASSAGE + text)
        return len(encoding.ids) + sum(len(rest.ids) - 2 for rest in encoding.overflowing)

    def close(self) -> None:
        self._worker.shutdown()

    def _encode(self, texts: list[str]) -> Vectors:
        vectors = np.empty((len(texts), self._dim), np.float32)
        # By length, so that a batch has little padding; the rows go back to their places.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for group in _groups(order, 512):
            cut = [texts[index][: MAX_TOKENS * CHARS_PER_TOKEN] for index in group]
            encodings = self._tokenizer.encode_batch_fast(cut)
            for batch in batches([len(encoding.ids) for encoding in encodings], BATCH_TOKENS):
                job = self._worker.submit(self._forward, [encodings[place] for place in batch])
                vectors[[group[place] for place in batch]] = job.result()
        return vectors

    def _embed(self, texts: list[str]) -> Vectors:
        return self._forward(self._tokenizer.encode_batch_fast(texts))

    def _forward(self, encodings: "Sequence[Encoding]") -> Vectors:
        import torch

        lengths = torch.tensor([len(encoding.ids) for encoding in encodings])
        ids = torch.full((len(encodings), int(lengths.max())), self._pad)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = torch.tensor(encoding.ids)
        vectors: npt.NDArray[np.float32] = self._bert(ids, lengths).numpy()
        return vectors


def _groups(items: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of `lengths` in batches whose padded size stays under `budget`, shortest first.

    A single text may be over the budget: it is a batch of its own.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > budget:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def load_e5(packed: Path, cache: Path, *, sha256: str, threads: int) -> E5Encoder:
    """The encoder from the packed weights, converted into `cache` on first use."""
    folder = cache / f"multilingual-e5-small-{sha256[:12]}-{FORMAT}"
    if not (folder / "model.safetensors").is_file():
        log.info("converting %s", packed.name)
        write_folder(read_packed(packed), folder)
    return E5Encoder(folder, sha256=sha256, threads=threads)
