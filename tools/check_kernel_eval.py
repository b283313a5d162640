"""Checks the kernel questions against the source: every function is defined in a file that is named.

    python tools/check_kernel_eval.py --source linux-source-6.1.tar.xz FILE.jsonl ...

Prints one line a problem; exit code 1 when there is one.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.kernel.c_source import chunk_c  # noqa: E402
from osrag.kernel.tree import KernelTree, read_tree  # noqa: E402
from osrag.text import language_of, normalise  # noqa: E402


def defined(tree: KernelTree) -> dict[str, set[str]]:
    """Name -> files that define it."""
    places: dict[str, set[str]] = defaultdict(set)
    for path, data in tree.files.items():
        for piece in chunk_c(data).pieces:
            for name in (piece.name, *piece.aliases):
                if name:
                    places[name].add(path)
    return places


def problems(path: Path, places: dict[str, set[str]], files: set[str], seen: dict[str, str]) -> list[str]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(line)
        at = f"{path.name}:{number} {row.get('id', '')}"
        question = normalise(row["question"]).lower()
        if question in seen:
            found.append(f"{at}: the same question as {seen[question]}")
        seen[question] = at
        if row["language"] != language_of(row["question"]):
            found.append(f"{at}: language is {row['language']}")
        if "topic" in row:  # about code that is not there
            found += [f"{at}: {row['topic']} is defined" for _ in places.get(row["topic"], set())]
            continue
        found += [f"{at}: no file {file}" for file in row["gold_files"] if file not in files]
        for name in row["gold_functions"]:
            if not places.get(name):
                found.append(f"{at}: {name} is defined nowhere")
            elif not places[name] & set(row["gold_files"]):
                found.append(f"{at}: {name} is in {', '.join(sorted(places[name]))}, not in a gold file")
        if not row["gold_functions"] or not row["gold_files"]:
            found.append(f"{at}: no gold")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    tree = read_tree(args.source, ["kernel", "mm"])
    places = defined(tree)
    paths = args.files or sorted((ROOT / "examples" / "eval" / "kernel").glob("*.jsonl"))
    seen: dict[str, str] = {}
    found = [line for path in paths for line in problems(path, places, set(tree.files), seen)]
    for line in found:
        print(line)
    count = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    print(f"{count}: {len(found)} problems, against Linux {tree.version}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
