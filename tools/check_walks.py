"""Check walk-throughs of kernel mechanisms: that the index bears them out, and how they are written.

    python tools/check_walks.py [FILES; default examples/kernel/walks/*.toml] [--index index]

`osrag/kernel/walks.py` reads a file and holds each walk against the index; `docs/kernel.md` shows the form. What only
this tool asks: that the course book has the section, and that a statement is neither a heading nor a page long.
Exit code 1 where something is wrong.
"""

import argparse
import sys
from collections.abc import Iterator, Set
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.book.sections import numbers_of  # noqa: E402
from osrag.index.collection import Collection  # noqa: E402
from osrag.index.manifest import read_manifest  # noqa: E402
from osrag.kernel.store import open_store  # noqa: E402
from osrag.kernel.walks import Walk, bind, flat, read_walks  # noqa: E402
from osrag.types import Chunk  # noqa: E402

EN, ZH = range(6, 61), range(10, 131)  # words, letters of a statement


def sections_of(index: Path) -> set[str]:
    """Numbers of the sections of the course book."""
    chunks = Collection.load(index / "textbook", None, of=Chunk).chunks()
    return {number for chunk in chunks for number in numbers_of(chunk)}


def faults(walk: Walk, sections: Set[str]) -> Iterator[str]:
    """What is wrong with a walk that the index bears out."""
    if walk.section not in sections:
        yield f"{walk.id}: the course book has no section {walk.section!r}"
    for number, step in enumerate(walk.step, start=1):
        for length, wanted in ((len(step.say.en.split()), EN), (len(flat(step.say.zh)), ZH)):
            if length not in wanted:
                yield f"{walk.id}: step {number}, {step.function}: {length} words in a statement"


def main() -> int:
    """Print every fault and the counts; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--index", type=Path, default=ROOT / "index")
    args = parser.parse_args()
    store = open_store(args.index, read_manifest(args.index / "kernel_chunks").encoder)
    sections = sections_of(args.index)
    walks = steps = wrong = 0
    ids: set[str] = set()
    for path in args.files or sorted((ROOT / "examples" / "kernel" / "walks").glob("*.toml")):
        read = read_walks(path)
        found = list(read.slips)
        for walk in read.walks:
            found += [f"{walk.id}: its id is taken"] * (walk.id in ids)
            found += (*bind(walk, store)[1], *faults(walk, sections))
            ids.add(walk.id)
            walks, steps = walks + 1, steps + len(walk.step)
        wrong += len(found)
        for what in found:
            print(what if what.startswith(path.name) else f"{path.name}: {what}")
    print(f"{walks} walks, {steps} steps, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
