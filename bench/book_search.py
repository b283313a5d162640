"""How the search of the course material grows with its passages: copies with noise, milliseconds and memory.

    python bench/book_search.py                          # 10,000, 50,000 and 200,000 passages
    python bench/book_search.py --sizes 10000 50000

Each copy of the shipped book has its vectors with noise of their own, and its number in the text, so that no hit is
the same text as another. The time is that of the processor, without the vector of the question. Prints a row for each
size and what a million passages would take on the line through them.
"""

import argparse
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.app.parts import Parts  # noqa: E402
from osrag.book.search import TextbookSearch  # noqa: E402
from osrag.index.collection import Collection  # noqa: E402
from osrag.index.dense import DenseIndex  # noqa: E402
from osrag.index.keyword import KeywordIndex  # noqa: E402
from osrag.settings import load_settings  # noqa: E402
from osrag.types import Chunk  # noqa: E402

QUESTIONS = sorted((ROOT / "examples/eval/textbook").glob("ch*.jsonl"))
PAPER = 1_000_000
NOISE = 0.02  # of each number of a vector, which is about 0.05


def copied(book: Collection[Chunk], size: int) -> Collection[Chunk]:
    """The collection again and again, until it has `size` rows or a few more."""
    times, draw = -(-size // book.searchable), np.random.default_rng(size)
    table, words = book.table.slice(0, book.searchable), book.keywords
    parts = []
    for number in range(times):
        part = table
        for name in ("chunk_id", "text"):
            marked = pc.binary_join_element_wise(part.column(name), str(number), " ")
            part = part.set_column(part.column_names.index(name), part.schema.field(name), marked)
        parts.append(part)
    vectors = np.tile(book.dense.vectors(), (times, 1))
    vectors += draw.normal(0, NOISE, vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = words._rows[:, None] + np.arange(times, dtype=np.int32) * book.searchable  # a token's postings stay together
    keywords = KeywordIndex(
        words._vocabulary, words._starts * times, rows.ravel(), np.repeat(words._weights, times), len(vectors)
    )
    return Collection(
        book.manifest, pa.concat_tables(parts).combine_chunks(), DenseIndex.build(vectors), keywords, Chunk
    )


def processor_ms(search: TextbookSearch, question: str) -> float:
    """Processor time of a search but for its question's vector, which another thread makes."""
    start = time.thread_time()
    search.search(question, k=8)
    return 1000 * (time.thread_time() - start)


def memory_mb() -> float:
    """Resident memory now."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 50_000, 200_000])
    parser.add_argument("--questions", type=int, default=60)
    args = parser.parse_args()
    book = Parts(load_settings(profile="retrieval")).textbook
    lines = (line for path in QUESTIONS for line in path.read_text("utf-8").splitlines())
    questions = [json.loads(line)["question"] for line in lines][: args.questions]
    points: list[tuple[int, float, float]] = []
    print("| passages | start | search: p50 / p95 | memory |\n|---|---|---|---|")
    for size in args.sizes:
        start = time.perf_counter()
        collection = copied(book.collection, size)
        made = time.perf_counter()
        search = TextbookSearch(collection, book.encoder, asks=book.asked._collection if book.asked else None)
        ready = time.perf_counter()
        took = sorted(processor_ms(search, question) for question in questions)
        p50, p95 = statistics.median(took), took[int(0.95 * len(took))]
        points.append((len(collection), p50, memory_mb()))
        print(f"| {len(collection):,} | {ready - made:.1f} s | {p50:.0f} / {p95:.0f} ms | {points[-1][2]:,.0f} MB |")
        print(f"copies made in {made - start:.1f} s", file=sys.stderr)
        del search, collection
    if len(points) > 1:
        sizes, times, memory = zip(*points, strict=True)
        at = [statistics.linear_regression(sizes, of) for of in (times, memory)]
        ms, mb = (line.intercept + PAPER * line.slope for line in at)
        print(f"| {PAPER:,} on paper | | {ms:.0f} ms | {mb:,.0f} MB |")
        print(
            f"\n{1000 * at[0].slope:.2f} ms and {1000 * at[1].slope:.1f} MB for every 1,000 passages", file=sys.stderr
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
