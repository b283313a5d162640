"""The default encoder: multilingual-e5-small on the CPU (Wang et al., arXiv 2402.05672)."""

import functools
import itertools
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import PriorityQueue
from threading import Semaphore
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from osrag.models.e5_convert import ADAPTED, ENCODER, PLACES, WORDS, write_folder
from osrag.models.e5_packed import BLOCK_BYTES, dequantise, read_packed
from osrag.models.protocols import Vectors
from osrag.models.sources import writing
from osrag.recent import Recent

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding

log = logging.getLogger(__name__)

MAX_TOKENS = 512
QUERY, PASSAGE = "query: ", "passage: "  # as the model was trained
POOLING = "mean-l2-512-v1"  # changes when the same weights give other vectors
FORMAT = "v3"  # of the converted folder
GROUP = 512  # texts tokenised at a time
BATCH_TOKENS = 1024  # padded tokens of a batch; more gains nothing and makes a query wait
# Seconds for which a batch of passages or pairs lets go first what comes later, for each token of its call: the lines
# of an answer go before a visitor's file. Longer, and many questions starve a file.
PATIENCE_S, MOST_PATIENCE_S = 0.001, 10.0
MOST_CHARS = 12 * MAX_TOKENS  # no text of 512 tokens is longer than this, bar runs of one sign
ROWS_OF_A_PAGE = 18  # rows of the table of words, of 216 bytes, on a page of memory
KEPT_QUERIES = 256  # vectors: while a question is answered, it is searched, compared and checked
KEPT_PASSAGES = 8192  # the same, of 2 kB: the lines of a page are compared with every question that finds the page
NOTHING: Mapping[str, Vectors] = {}
ReturnT = TypeVar("ReturnT")


class E5Encoder:
    """An Encoder. Safe to call from several threads: one batch runs at a time, and single queries beside it.

    A query is read on the thread that asks, by one core; as many at once as there are `threads`. Read together they
    take no less. The vectors of the latest texts are kept.

    Texts longer than 512 tokens (about 1,400 characters of English, 700 of
    Chinese) are cut: what comes later does not count. An empty text is embedded
    as its bare prefix.
    """

    name = "multilingual-e5-small"

    def __init__(self, folder: Path, *, sha256: str, threads: int) -> None:
        from tokenizers import Tokenizer

        # One batch at a time, so that the lines of an answer wait for one batch of a file and not for all.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="encoder")
        self._line: PriorityQueue[tuple[float, int, Callable[[], None]]] = PriorityQueue()
        self._count = itertools.count()  # of equals the first comes first
        self._query = functools.lru_cache(KEPT_QUERIES)(self._read_query)
        self._passage: Recent[Vectors] = Recent(KEPT_PASSAGES)
        self._reading = Semaphore(threads)
        self.revision = f"{sha256[:16]}-{POOLING}"
        config = json.loads((folder / "config.json").read_text("utf-8"))
        self.dim: int = config["hidden_size"]
        self._pad: int = config["pad_token_id"]
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        # The table of words stays mapped: a program that asks once reads the rows of its own words and not 54 MB.
        self._words: npt.NDArray[np.uint8] = np.load(folder / WORDS, mmap_mode="r")
        self._places: npt.NDArray[np.float32] = np.load(folder / PLACES)
        self._plain = _session(folder / ENCODER, threads)
        # Two threads read a question no faster than one, for twice the processor time.
        self._alone = _session(folder / ENCODER, 1)
        # Where no pair encoder is asked, there is none.
        self._adapted = functools.cache(lambda: _session(folder / ADAPTED, threads))
        self._forward(self.tokenizer.encode_batch_fast(["query: warm"]), self._alone)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, 384) float32 unit rows, in the order of `texts`."""
        if len(texts) == 1:
            return self._query(texts[0][:MOST_CHARS])
        return self._encode([QUERY + text for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, 384) float32 unit rows, in the order of `texts`."""
        return np.array(self._passage.of(texts, self._read_passages), np.float32).reshape(-1, self.dim)

    def _read_passages(self, texts: list[str]) -> list[Vectors]:
        """(dim,) each; copies, because a row alone would keep the whole batch."""
        return [vector.copy() for vector in self._encode([PASSAGE + text for text in texts])]

    def tokens(self, text: str) -> tuple[Vectors, list[tuple[int, int]]]:
        """(tokens, 384) float32 states of a question's tokens, and where each stands in `text`: start and end.

        The signs of beginning and end, and the prefix, stand nowhere: their end is not above 0.
        """
        encoding = self.tokenizer.encode((QUERY + text)[:MOST_CHARS])  # the fast way tells no places
        with self._reading:
            states, _ = self.states([encoding], self._alone)
        return states[0], [(max(0, start - len(QUERY)), end - len(QUERY)) for start, end in encoding.offsets]

    def read_words(self) -> None:
        """Map the whole table of words, 54 MB, at once; else memory grows for as long as new words come."""
        self._words[::ROWS_OF_A_PAGE, 0].max()

    def _encode(self, texts: list[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dim), np.float32)
        # By length, so that a batch has little padding; the rows go back to their places.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), GROUP):
            group = order[start : start + GROUP]
            encodings = self._tokenised([texts[index] for index in group])
            patience_s = patience_of(encodings)
            for batch in batches([len(encoding.ids) for encoding in encodings], BATCH_TOKENS):
                vectors[[group[place] for place in batch]] = self.run(
                    self._forward, [encodings[n] for n in batch], self._plain, patience_s=patience_s
                )
        return vectors

    def _read_query(self, text: str) -> Vectors:
        """(1, 384): one query."""
        encodings = self._tokenised([QUERY + text])
        with self._reading:
            vector = self._forward(encodings, self._alone)
        vector.flags.writeable = False  # it is kept
        return vector

    def _tokenised(self, texts: list[str]) -> "list[Encoding]":
        return list(self.tokenizer.encode_batch_fast([text[:MOST_CHARS] for text in texts]))

    def run(self, work: Callable[..., ReturnT], *args: Any, patience_s: float = 0.0) -> ReturnT:
        """`work` on the one thread that computes; what comes up to `patience_s` later may go first."""
        done: Future[ReturnT] = Future()

        def fill() -> None:
            try:
                done.set_result(work(*args))
            except BaseException as error:  # noqa: BLE001 - raised again by the caller
                done.set_exception(error)

        self._line.put((time.monotonic() + patience_s, next(self._count), fill))
        self._worker.submit(lambda: self._line.get()[-1]())
        return done.result()

    def _forward(self, encodings: "Sequence[Encoding]", session: "InferenceSession") -> Vectors:
        return means(*self.states(encodings, session))

    def pair_states(
        self, encodings: "Sequence[Encoding]", adapter: Mapping[str, Vectors]
    ) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """As `states`, with what the graph takes of an adapter (osrag/models/e5_graph.py). To be called by `run`."""
        return self.states(encodings, self._adapted(), adapter)

    def states(
        self, encodings: "Sequence[Encoding]", session: "InferenceSession", adapter: Mapping[str, Vectors] = NOTHING
    ) -> tuple[Vectors, npt.NDArray[np.bool_]]:
        """(texts, tokens, dim) float32 behind all layers, and (texts, tokens) which tokens are not padding."""
        ids, lengths = self.padded(encodings)
        rows = self._words[ids]
        hidden = dequantise(rows.reshape(-1, BLOCK_BYTES)).reshape(*ids.shape, self.dim)
        asked = {"hidden": hidden + self._places[: ids.shape[1]], "lengths": lengths}
        (states,) = session.run(None, {**asked, **adapter})
        return states, np.arange(ids.shape[1]) < lengths[:, None]

    def padded(self, encodings: "Sequence[Encoding]") -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """(texts, tokens) ids, padded to the longest, and (texts,) lengths."""
        lengths = np.array([len(encoding.ids) for encoding in encodings], np.int32)
        ids = np.full((len(encodings), lengths.max()), self._pad)
        for row, encoding in enumerate(encodings):
            ids[row, : lengths[row]] = encoding.ids
        return ids, lengths


def patience_of(encodings: "Sequence[Encoding]") -> float:
    """Seconds for which a call with these texts lets go first what comes later."""
    return min(PATIENCE_S * sum(len(encoding.ids) for encoding in encodings), MOST_PATIENCE_S)


def means(states: Vectors, kept: npt.NDArray[np.bool_]) -> Vectors:
    """(texts, dim) unit rows: the means of the states (texts, tokens, dim) that are kept, by (texts, tokens)."""
    sums = np.einsum("ijk,ij->ik", states, kept.astype(np.float32))
    unit: Vectors = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return unit


def _session(graph: Path, threads: int) -> "InferenceSession":
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = threads
    # Threads that spin while they wait take the processor from the one that they wait for.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False  # what a long batch needed goes back
    return InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


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
    if not folder.is_dir():  # it appears whole
        log.info("converting %s", packed.name)
        with writing(cache):
            write_folder(read_packed(packed), folder)
    return E5Encoder(folder, sha256=sha256, threads=threads)
