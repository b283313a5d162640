"""Builds the public data set of questions: `python tools/dataset.py [--check] [--source TREE]`.

Kernel questions with their sets and course questions with their key points come from `examples/eval`; of the kernel
questions the other language from `sets_translated.tsv`. `--check` writes nothing and tells what is not as it would be
written, and which function, call or line the shipped index does not have.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.evaluate.kernel_sets import SetQuestion, read_sets  # noqa: E402
from osrag.index.manifest import read_manifest  # noqa: E402
from osrag.kernel.store import KernelStore, open_store  # noqa: E402

EVAL = ROOT / "examples" / "eval"
OUT = ROOT / "datasets"
CALL, OTHER = "→", "⇢"
SPLITS = {True: "held_out", False: "development"}


def kernel_rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """(split, row) of each kernel question."""
    lines = (EVAL / "kernel" / "sets_translated.tsv").read_text(encoding="utf-8").splitlines()
    translated = dict(line.split("\t") for line in lines)
    for one in read_sets(EVAL / "kernel" / "sets.jsonl"):
        other = "en" if one.language == "zh" else "zh"
        asked = {one.language: one.question, other: translated[one.id]}
        steps = [
            {"from": step.split(sign)[0].strip(), "to": step.split(sign)[1].strip(), "call": sign == CALL}
            for step in one.steps
            for sign in (CALL if CALL in step else OTHER,)
        ]
        yield (
            SPLITS[one.held_out],
            {
                "id": one.id,
                "question_zh": asked["zh"],
                "question_en": asked["en"],
                "written_in": one.language,
                "kind": one.kind,
                "functions": one.functions,
                "also": one.also,
                "files": one.files,
                "steps": steps,
                "points": one.points,
                "lines": [{"function": name, "line": line} for name, some in one.lines.items() for line in some],
            },
        )


def course_rows() -> Iterator[tuple[str, dict[str, Any]]]:
    """(split, row) of each course question."""
    for line in (EVAL / "textbook" / "key_points.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        held_out = row["set"] == "held_out"
        kept = ("id", "question", "language", "chapter", "section", "kind", "points", "wrong")
        yield SPLITS[held_out], {**{name: row[name] for name in kept}, "history": row.get("history", [])}


def files() -> dict[Path, str]:
    """What the data set consists of, beside its card."""
    texts: dict[Path, str] = {}
    for name, rows in (("kernel", kernel_rows()), ("course", course_rows())):
        for split, row in rows:
            path = OUT / name / f"{split}.jsonl"
            texts[path] = texts.get(path, "") + json.dumps(row, ensure_ascii=False) + "\n"
    return texts


def shipped_store() -> KernelStore:
    """The shipped index of the kernel, with the encoder that made it; nothing is embedded here."""
    return open_store(ROOT / "index", read_manifest(ROOT / "index" / "kernel_chunks").encoder)


def elsewhere() -> frozenset[str]:
    """Names that the sets need and the index lacks: they stand in headers and in `arch/`."""
    return frozenset((EVAL / "kernel" / "sets_headers.txt").read_text(encoding="utf-8").split())


def faults(store: KernelStore) -> Iterator[str]:
    """What of the kernel questions stands neither in the index of Linux 6.1.192 nor in the list of names elsewhere."""
    known = elsewhere()
    for one in read_sets(EVAL / "kernel" / "sets.jsonl"):
        yield from _faults_of(one, store, known)


def _faults_of(one: SetQuestion, store: KernelStore, known: frozenset[str]) -> Iterator[str]:
    for name in (*one.functions, *one.also, *one.lines):
        if not store.functions_named(name) and name not in known:
            yield f"{one.id}: no function {name}"
    for step in one.steps:
        if CALL in step:
            caller, callee = (part.strip() for part in step.split(CALL))
            chunks = [store.chunk(row) for row in store.functions_named(caller)]
            if caller not in known and not any(callee in chunk.calls for chunk in chunks):
                yield f"{one.id}: {caller} does not call {callee}"
    for name, lines in one.lines.items():
        text = "".join("".join(store.chunk(row).text.split()) for row in store.functions_named(name))
        yield from (f"{one.id}: {name} has no line {line}" for line in lines if "".join(line.split()) not in text)


def faults_elsewhere(tree: Path) -> Iterator[str]:
    """Of the names elsewhere those that no header and no file of `arch/` of a source tree has."""
    files = [path for part in ("include", "arch") for path in (tree / part).rglob("*.[ch]")]
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    flags = {name: name.split("_")[-1] for name in elsewhere() if name.startswith("folio_")}  # made by PAGEFLAG macros
    yield from (
        f"nowhere: {name}" for name in sorted(elsewhere()) if name not in words and flags.get(name) not in words
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--source", type=Path, help="a tree of Linux 6.1.192, for names that the index lacks")
    args = parser.parse_args()
    found = [*faults(shipped_store()), *(faults_elsewhere(args.source) if args.source else ())]
    for path, text in files().items():
        if args.check:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                found.append(f"{path.relative_to(ROOT)}: not as it would be written")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {text.count(chr(10))} questions")
    for line in found:
        print(line)
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
