"""Time and memory of kernel search, and how both grow with the index.

    python bench/kernel_search.py QUESTIONS.jsonl                        the index that is shipped
    python bench/kernel_search.py --index DIR QUESTIONS.jsonl            another, with more subsystems
    python bench/kernel_search.py --index DIR --source linux-source-6.1.tar.xz --subsystem drivers/gpu … QUESTIONS.jsonl
    python bench/kernel_search.py --repeat 20 QUESTIONS.jsonl            the shipped one, twenty times side by side

With `--source` these subsystems are first added to the index in DIR, which must not be the shipped one:
real code, but with unit vectors from a hash in place of embeddings. The time of an exact search does not
depend on their values, and half a million embeddings would take most of an hour. `--rounds 0` only builds.
`--repeat` searches copies of the index as if each were a subsystem of its own. Each question is searched
cold (no cached result). Run it on a quiet machine.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.evaluate.kernel import read_questions  # noqa: E402
from osrag.kernel.build import build_kernel  # noqa: E402
from osrag.kernel.search import KernelSearch  # noqa: E402
from osrag.models.load import load_encoder  # noqa: E402
from osrag.models.protocols import Encoder, Vectors  # noqa: E402
from osrag.settings import load_settings  # noqa: E402


class Hashed:
    """An encoder for questions; of passages it makes unit vectors from their hash, spread as real ones are."""

    def __init__(self, real: Encoder) -> None:
        self.name, self.revision, self.dim = real.name, real.revision, real.dim
        self.queries = real.queries

    def passages(self, texts: Sequence[str]) -> Vectors:
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            noise = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dim)
            row[:] = 2.0 + noise
            row /= np.linalg.norm(row)
        return out


def memory_mb() -> float:
    """Resident memory now."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def measure(index: Path, encoder: Encoder, questions: Sequence[str], rounds: int) -> dict[str, object]:
    before = memory_mb()
    start = time.perf_counter()
    search = KernelSearch(index, encoder)
    opened = time.perf_counter() - start
    search.search("warm up the tokeniser 预热", k=10)
    embed, found = [], []
    for number in range(rounds):
        for question in questions:
            result = search.search(f"{question} {' ' * number}", k=10 + number)  # another k: not from the cache
            embed.append(result.timings_ms["embed"])
            found.append(result.timings_ms["search"])
    return {
        "subsystems": len(search.store.subsystems),
        "chunks_searched": search.store.rows,
        "files": len(search.store.files),
        "open_s": round(opened, 2),
        "search_ms": {f"p{cut}": round(float(np.percentile(found, cut)), 1) for cut in (50, 95, 99)},
        "embed_ms": {f"p{cut}": round(float(np.percentile(embed, cut)), 1) for cut in (50, 95)},
        "index_mb": round(sum(path.stat().st_size for path in index.glob("*_*/*")) / 2**20, 1),
        "memory_mb": round(memory_mb(), 1),
        "memory_of_index_mb": round(memory_mb() - before, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "searches": len(found),
    }


def repeated(index: Path, out: Path, times: int) -> Path:
    """A folder where each subsystem of `index` stands `times` times under other names."""
    for suffix in ("_chunks", "_files"):
        for folder in index.glob(f"*{suffix}"):
            for number in range(times):
                (out / f"{folder.name.removesuffix(suffix)}{number}{suffix}").symlink_to(folder.resolve())
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, default=ROOT / "index")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--subsystem", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1, help="search so many copies of the index")
    parser.add_argument("questions", type=Path)
    args = parser.parse_args()
    encoder = load_encoder(load_settings())
    with tempfile.TemporaryDirectory() as folder:
        if args.source is not None:
            if args.index.resolve() == ROOT / "index":
                parser.error("hashed vectors are not for the index that is shipped: name another with --index")
            start = time.perf_counter()
            cache = Path(folder) / "cache"  # thrown away: these are no embeddings
            build_kernel(args.index, args.source, args.subsystem, Hashed(encoder), cache_dir=cache)
            print(json.dumps({"built": args.subsystem, "seconds": round(time.perf_counter() - start, 1)}), flush=True)
        if not args.rounds:
            return
        questions = [one.question for one in read_questions(args.questions)]
        index = repeated(args.index, Path(folder), args.repeat) if args.repeat > 1 else args.index
        print(json.dumps(measure(index, encoder, questions, args.rounds)))


if __name__ == "__main__":
    main()
