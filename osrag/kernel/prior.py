"""What is known of a chunk before any question: how central it is, and what its name is made of."""

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from osrag.kernel.describe import name_in_words, name_parts
from osrag.kernel.store import Floats, Ints, KernelStore
from osrag.text import tokens

# Code that watches, tests or extends the kernel: seldom what a course question is about.
_PERIPHERAL = re.compile(
    r"test|torture|debug|/kdb/|/damon/|/kcsan/|/kmsan/|/gcov/|/trace/|/bpf/|/livepatch/"
    r"|nommu|tiny"
)
STUB_LINES = 3
SHORT_NAME = 1.5  # weight of the parts that a name does not have; keeps one-word names from winning


def structure(store: KernelStore) -> Mapping[str, Floats]:
    """Columns (rows,) about each chunk, standardised over the index."""
    import pyarrow as pa
    import pyarrow.compute as pc

    calls = store.column("calls")
    names = pa.array(store.names, type=pa.string())
    counted = pc.value_counts(pc.list_flatten(calls))
    place = pc.index_in(names, value_set=counted.field("values"))
    degree = pc.fill_null(pc.take(counted.field("counts"), place), 0).to_numpy(zero_copy_only=False)
    callees = pc.list_value_length(calls).to_numpy(zero_copy_only=False)
    first, last = (store.column(name).to_numpy() for name in ("start_line", "end_line"))
    lines = (last - first + 1).astype(np.float32)
    is_function = pc.equal(store.column("kind"), "function").to_numpy(zero_copy_only=False)
    content = store.pieces("content")  # the largest column
    told = pc.or_(pc.starts_with(content, "/*"), pc.starts_with(content, "//")).to_numpy()
    header = np.array([file.endswith(".h") for file in store.files])[store.file_of]
    aside = np.array([is_aside(file) for file in store.files])[store.file_of]
    columns = {
        "callers": np.log1p(degree),
        "callees": np.log1p(callees),
        "told": told,
        "length": np.log(lines),
        "function": is_function,
        "header": header,
        "peripheral": aside,
        "stub": is_function & (lines <= STUB_LINES),
        "system_call": np.array([name.startswith("sys_") for name in store.names]),
    }
    return {name: standardised(np.asarray(column, dtype=np.float32)) for name, column in columns.items()}


def is_aside(file: str) -> bool:
    """Whether a file watches, tests or extends the kernel."""
    return bool(_PERIPHERAL.search(file))


def standardised(values: Floats) -> Floats:
    """Mean 0, deviation 1; zeros where all values are the same."""
    spread = float(values.std()) if len(values) else 0.0
    if spread < 1e-9:
        return np.zeros_like(values)
    out: Floats = ((values - values.mean()) / spread).astype(np.float32)
    return out


class NameParts:
    """How much of a name is in a question, its parts weighed by how rare they are among names."""

    def __init__(self, names: Sequence[str]) -> None:
        vocabulary: dict[str, int] = {}
        rows: list[int] = []
        parts: list[int] = []
        for row, name in enumerate(names):
            for part in dict.fromkeys(name_parts(name)):
                rows.append(row)
                parts.append(vocabulary.setdefault(part, len(vocabulary)))
        of_part = np.array(parts, dtype=np.int64)
        order = np.argsort(of_part, kind="stable")
        counts = np.bincount(of_part, minlength=len(vocabulary))
        self._vocabulary = vocabulary
        self._rows: Ints = np.array(rows, dtype=np.int64)[order]  # (postings,) by part; of one part distinct
        self._starts: Ints = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        self._weights = np.log(max(1, len(names)) / np.maximum(counts, 1))  # (parts,) how rare
        self._count = len(names)
        by_name = np.bincount(np.array(rows, dtype=np.int64), weights=self._weights[of_part], minlength=self._count)
        self._total = by_name + SHORT_NAME
        self._sizes: Ints = np.bincount(np.array(rows, dtype=np.int64), minlength=self._count)  # (names,) parts of each
        self._meaning: dict[str, list[int]] = {}
        for part, number in vocabulary.items():
            for token in {*tokens(part), *tokens(name_in_words(part)[0])}:
                self._meaning.setdefault(token, []).append(number)

    def covered(self, words: Sequence[str]) -> Floats:
        """(names,) share 0-1 of each name that `words` (bare tokens) explain."""
        found = np.zeros(self._count, dtype=np.float64)
        for part in {part for word in words for part in self._meaning.get(word, ())}:
            found[self._having(part)] += self._weights[part]
        return (found / self._total).astype(np.float32)

    def alike(self, parts: Collection[str], *, most: int) -> list[int]:
        """Rows of the names that share at least half of `parts` (distinct), those that share the largest part first."""
        known = [self._having(self._vocabulary[part]) for part in parts if part in self._vocabulary]
        if not known:
            return []
        rows, counts = np.unique(np.concatenate(known), return_counts=True)
        enough = counts * 2 >= len(parts)
        rows, counts = rows[enough], counts[enough]
        shared = counts / (len(parts) + self._sizes[rows] - counts)
        best = np.argsort(-shared, kind="stable")[:most]
        return [int(row) for row in rows[best]]

    def _having(self, part: int) -> Ints:
        """Rows of the names that have a part."""
        return self._rows[self._starts[part] : self._starts[part + 1]]
