"""The default encoder: multilingual-e5-small on the CPU (Wang et al., arXiv 2402.05672)."""

import functools
import itertools
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Empty, PriorityQueue, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from osrag.models.e5_convert import MAX_TOKENS, read_packed, write_folder
from osrag.models.protocols import Vectors
from osrag.models.sources import writing
from osrag.recent import Recent

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding
    from torch import Tensor

log = logging.getLogger(__name__)

QUERY, PASSAGE = "query: ", "passage: "  # as the model was trained
POOLING = "mean-l2-512-v1"  # changes when the same weights give other vectors
FORMAT = "v2"  # of the converted folder
GROUP = 512  # texts tokenised at a time
BATCH_TOKENS = 1024  # padded tokens of a batch; more gains nothing and makes a query wait
# Seconds for which a batch of passages lets go first what comes later, for each token of its call: a question goes
# before the lines of an answer, and these before a visitor's file. Longer, and many questions starve a file.
PATIENCE_S, MOST_PATIENCE_S = 0.001, 10.0
# A batch is padded to few sizes, for torch keeps code that it made for each, 2 MB a size: to as many texts as one of
# `SIZES`, and to a multiple of `STEP` tokens that is one of them. That is a third more at most.
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
STEP = 16
QUERY_TOKENS = 512  # the same for queries that wait at the same moment: a long one is read alone
MOST_CHARS = 12 * MAX_TOKENS  # no text of 512 tokens is longer than this, bar runs of one sign
ROWS_OF_A_PAGE = 5  # rows of the table of words, of 768 bytes, on a page of memory
KEPT_QUERIES = 256  # vectors: while a question is answered, it is searched, compared and checked
KEPT_PASSAGES = 8192  # the same, of 2 kB: the lines of a page are compared with every question that finds the page
EPSILON = 1e-12  # of the layer norms
ReturnT = TypeVar("ReturnT")


class E5Encoder:
    """An Encoder. Safe to call from several threads; one batch runs at a time, and passages let queries go first.

    Single queries that wait while a batch runs are the next batch: of eight, each takes less than half the time.
    The vectors of the latest texts are kept.

    Texts longer than 512 tokens (about 1,400 characters of English, 700 of
    Chinese) are cut: what comes later does not count. An empty text is embedded
    as its bare prefix.
    """

    name = "multilingual-e5-small"

    def __init__(self, folder: Path, *, sha256: str, threads: int) -> None:
        # One thread for all calls: a pool of OpenMP workers per calling thread would pile up.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._line: PriorityQueue[tuple[float, int, Callable[[], None]]] = PriorityQueue()
        self._count = itertools.count()  # of equals the first comes first
        self._query = functools.lru_cache(KEPT_QUERIES)(self._read_query)
        self._passage: Recent[Vectors] = Recent(KEPT_PASSAGES)
        self._waiting: SimpleQueue[tuple[Encoding, Future[Vectors]]] = SimpleQueue()
        self.revision = f"{sha256[:16]}-{POOLING}"
        self.run(self._load, folder, threads)

    def _load(self, folder: Path, threads: int) -> None:
        import torch
        from tokenizers import Tokenizer

        torch.set_num_threads(threads)
        config = json.loads((folder / "config.json").read_text("utf-8"))
        self.dim: int = config["hidden_size"]
        self._pad: int = config["pad_token_id"]
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        dtype = best_dtype()
        self.bert = Bert(folder, heads=config["num_attention_heads"], layers=config["num_hidden_layers"], dtype=dtype)
        self._forward(self.tokenizer.encode_batch_fast(["query: warm"]))

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, 384) float32 unit rows, in the order of `texts`."""
        if len(texts) == 1:
            return self._query(texts[0][:MOST_CHARS])
        return self._encode([QUERY + text for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, 384) float32 unit rows, in the order of `texts`."""
        found = {text: self._passage.get(text) for text in texts}
        new = [text for text, vector in found.items() if vector is None]
        for text, vector in zip(new, self._encode([PASSAGE + text for text in new]), strict=True):
            found[text] = vector
            self._passage.put(text, vector.copy())  # a row alone would keep the whole batch
        return np.array([found[text] for text in texts], np.float32).reshape(-1, self.dim)

    def tokens(self, text: str) -> tuple[Vectors, list[tuple[int, int]]]:
        """(tokens, 384) float32 states of a question's tokens, and where each stands in `text`: start and end.

        The signs of beginning and end, and the prefix, stand nowhere: their end is not above 0.
        """
        encoding = self.tokenizer.encode((QUERY + text)[:MOST_CHARS])  # the fast way tells no places
        states = self.run(self._states, encoding)
        return states, [(max(0, start - len(QUERY)), end - len(QUERY)) for start, end in encoding.offsets]

    def read_words(self) -> None:
        """Map the whole table of words, 190 MB, at once; else memory grows for as long as new words come."""
        self.run(self.bert.words[::ROWS_OF_A_PAGE, 0].max)

    def _states(self, encoding: "Encoding") -> Vectors:
        import torch

        with torch.inference_mode():
            states: npt.NDArray[np.float32] = self.bert.states(*self.padded([encoding]), self.bert.layers)[0][0].numpy()
        return states[: len(encoding.ids)]

    def _encode(self, texts: list[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dim), np.float32)
        # By length, so that a batch has little padding; the rows go back to their places.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), GROUP):
            group = order[start : start + GROUP]
            encodings = self._tokenised([texts[index] for index in group])
            patience_s = min(PATIENCE_S * sum(len(encoding.ids) for encoding in encodings), MOST_PATIENCE_S)
            for batch in batches([len(encoding.ids) for encoding in encodings], BATCH_TOKENS):
                vectors[[group[place] for place in batch]] = self.run(
                    self._forward, [encodings[n] for n in batch], patience_s=patience_s
                )
        return vectors

    def _read_query(self, text: str) -> Vectors:
        """(1, 384): one query, read together with those of others that wait."""
        found: Future[Vectors] = Future()
        self._waiting.put((self._tokenised([QUERY + text])[0], found))
        self._stand_in_line(self._read_waiting, 0.0)
        vector = found.result()
        vector.flags.writeable = False  # it is kept
        return vector

    def _tokenised(self, texts: list[str]) -> "list[Encoding]":
        return list(self.tokenizer.encode_batch_fast([text[:MOST_CHARS] for text in texts]))

    def _read_waiting(self) -> None:
        """Read all queries that wait; those that came with the call before have been read already."""
        waiting: list[tuple[Encoding, Future[Vectors]]] = []
        with suppress(Empty):
            while True:
                waiting.append(self._waiting.get_nowait())
        for batch in batches([len(encoding.ids) for encoding, _ in waiting], QUERY_TOKENS):
            encodings, found = zip(*(waiting[place] for place in batch), strict=True)
            try:
                vectors = self._forward(encodings)
            except Exception as error:  # noqa: BLE001 - raised again by each caller
                for one in found:
                    one.set_exception(error)
                continue
            for place, one in enumerate(found):
                one.set_result(vectors[place : place + 1])

    def run(self, work: Callable[..., ReturnT], *args: Any, patience_s: float = 0.0) -> ReturnT:
        """`work` on the one thread that computes; what comes up to `patience_s` later may go first."""
        done: Future[ReturnT] = Future()

        def fill() -> None:
            try:
                done.set_result(work(*args))
            except BaseException as error:  # noqa: BLE001 - raised again by the caller
                done.set_exception(error)

        self._stand_in_line(fill, patience_s)
        return done.result()

    def _stand_in_line(self, work: Callable[[], None], patience_s: float) -> None:
        self._line.put((time.monotonic() + patience_s, next(self._count), work))
        self._worker.submit(lambda: self._line.get()[-1]())

    def _forward(self, encodings: "Sequence[Encoding]") -> Vectors:
        vectors: npt.NDArray[np.float32] = self.bert(*self.padded(filled(encodings))).numpy()
        return vectors[: len(encodings)]

    def padded(self, encodings: "Sequence[Encoding]") -> "tuple[Tensor, Tensor]":
        """(texts, tokens) ids, their tokens padded to few sizes, and (texts,) lengths."""
        import torch

        lengths = torch.tensor([len(encoding.ids) for encoding in encodings])
        ids = torch.full((len(encodings), STEP * _size(-(-int(lengths.max()) // STEP))), self._pad)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = torch.tensor(encoding.ids)
        return ids, lengths


def filled(encodings: "Sequence[Encoding]") -> "list[Encoding]":
    """A batch of one of few sizes: the last of the texts again, as often as is missing."""
    return [*encodings, *[encodings[-1]] * (_size(len(encodings)) - len(encodings))]


def _size(count: int) -> int:
    return next((size for size in SIZES if size >= count), count)


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
    """The encoder from the packed weights, converted into `cache` on first use.

    Raises BadSettings or NoSpace where that cannot be written.
    """
    folder = cache / f"multilingual-e5-small-{sha256[:12]}-{FORMAT}"
    if not (folder / "model.safetensors").is_file():
        log.info("converting %s", packed.name)
        with writing(cache):
            write_folder(read_packed(packed), folder)
    return E5Encoder(folder, sha256=sha256, threads=threads)


# -- the network --------------------------------------------------------------------------------------


Affine = tuple["Tensor", "Tensor"]  # weight and bias of a linear map or of a layer norm
# The maps of one layer by their names in the file; those of several names are stacked.
LAYER = {"qkv": "q k v", "out": "ao", "out_norm": "aln", "inner": "fi", "outer": "fo", "outer_norm": "oln"}


class Bert:
    """Mean-pooled, unit-length sentence vectors of a converted folder, in plain torch.

    `transformers.BertModel` gives the same vectors (a test compares them), but
    importing it costs two more seconds at every start and 120 MB; it also keeps
    query, key and value apart, which are one product here.
    """

    def __init__(self, folder: Path, *, heads: int, layers: int, dtype: "torch.dtype") -> None:
        from safetensors import safe_open

        self.heads = heads
        self.dtype = dtype
        with safe_open(folder / "model.safetensors", framework="pt") as file:
            # The table of words stays mapped from the file, in half precision: a program that asks once
            # reads the rows of its own words and not 190 MB.
            self.words: Tensor = file.get_tensor("emb.word")
            self.positions: Tensor = file.get_tensor("emb.pos").float()
            types: Tensor = file.get_tensor("emb.type").float()
            self.positions += types[0]
            self.norm = self._affine(file, "emb.ln")
            self.layers = [
                {
                    part: self._affine(file, *(f"l{index}.{name}" for name in names.split()))
                    for part, names in LAYER.items()
                }
                for index in range(layers)
            ]

    def _affine(self, file: Any, *names: str) -> Affine:
        """The affine map of one name, or those of several on top of each other."""
        import torch

        weight, bias = (torch.cat([file.get_tensor(f"{name}.{kind}") for name in names]) for kind in "wb")
        return weight.to(self.dtype), bias.to(self.dtype)

    def __call__(self, ids: "Tensor", lengths: "Tensor") -> "Tensor":
        """(texts, tokens) ids and (texts,) lengths to (texts, hidden) float32 unit rows."""
        import torch
        from torch.nn import functional

        with torch.inference_mode():
            states, keep = self.states(ids, lengths, self.layers)
            weights = keep[:, :, None].float()
            return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=1)

    def states(
        self, ids: "Tensor", lengths: "Tensor", layers: "Sequence[dict[str, Affine]]"
    ) -> "tuple[Tensor, Tensor]":
        """(texts, tokens, hidden) float32 after all `layers`, and (texts, tokens) which tokens are not padding."""
        import torch
        from torch.nn import functional

        tokens = ids.shape[1]
        keep = torch.arange(tokens) < lengths[:, None]
        mask = None if bool(keep.all()) else keep[:, None, None, :]
        hidden = functional.embedding(ids, self.words).float() + self.positions[:tokens]
        hidden = _norm(hidden.to(self.dtype), self.norm)
        for layer in layers:
            hidden = self._forward(hidden, layer, mask)
        return hidden.float(), keep

    def _forward(self, hidden: "Tensor", layer: dict[str, Affine], mask: "Tensor | None") -> "Tensor":
        from torch.nn import functional

        texts, tokens, width = hidden.shape
        qkv = functional.linear(hidden, *layer["qkv"])
        # (3, texts, heads, tokens, width of a head)
        query, key, value = qkv.view(texts, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        mixed = mixed.transpose(1, 2).reshape(texts, tokens, width)
        hidden = _norm(hidden + functional.linear(mixed, *layer["out"]), layer["out_norm"])
        inner = functional.gelu(functional.linear(hidden, *layer["inner"]))
        return _norm(hidden + functional.linear(inner, *layer["outer"]), layer["outer_norm"])


def _norm(hidden: "Tensor", norm: Affine) -> "Tensor":
    from torch.nn import functional

    return functional.layer_norm(hidden, (hidden.shape[-1],), *norm, EPSILON)


def best_dtype() -> "torch.dtype":
    """The number format for this processor.

    It is bfloat16 where the processor multiplies it itself (AMX or AVX512-BF16, as the
    CPU flags that torch reads say); everywhere else that would be emulated, slower
    than float32.
    """
    import torch

    able = torch.cpu.get_capabilities()
    return torch.bfloat16 if able.get("amx_bf16") or able.get("avx512_bf16") else torch.float32
