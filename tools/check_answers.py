"""Check prepared answers against the material that they quote.

    python tools/check_answers.py [FILES; default examples/textbook/answers/*.answers.jsonl] [--index index/textbook]

A line is one answer in both languages:

    {"id": "ch05-deadlock-what", "section": "5.1", "kind": "what",
     "zh": {"questions": ["什么是死锁？", …], "answer": [{"say": "…", "quote": "…"}, …]},
     "en": {"questions": ["What is a deadlock?", …], "answer": [{"say": "…", "quote": "…"}, …]}}

`say` is what a student reads, in our words or the book's; `quote` is the stretch of that language's edition that bears
it out, word for word (only letters and digits are compared). Every fault is named with file and line. Exit code 1
where there is one.
"""

import argparse
import collections
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import pyarrow.parquet as pq  # noqa: E402

from osrag.text import folded, language_of  # noqa: E402

KINDS = {"what", "why", "how", "steps", "compare", "when", "what_if", "list"}
STATEMENTS = range(2, 11)
WORDS = {"en": range(40, 221), "zh": range(70, 421)}  # words; Chinese is counted in letters of either script
QUESTIONS = range(3, 8)
LEAST_QUOTE = {"en": 15, "zh": 6}  # letters and digits
Fault = tuple[Path, int, str]


def texts_of(index: Path) -> dict[str, str]:
    """Language -> all passages of the index in that language, folded, one a line."""
    texts: dict[str, list[str]] = {"zh": [], "en": []}
    for path in sorted(index.glob("chunks-*.parquet")):
        for row in pq.read_table(path, columns=["text", "language"]).to_pylist():
            texts[row["language"]].append(folded(row["text"]))
    return {language: "\n".join(found) for language, found in texts.items()}


def faults(paths: Sequence[Path], texts: dict[str, str]) -> Iterator[Fault]:
    """Everything that is wrong, in order."""
    ids: dict[str, str] = {}
    asked: dict[str, str] = {}
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            here = f"{path.name}:{number}"
            try:
                row = json.loads(line)
                found = [*_row(row, texts)]
                name = row["id"]
            except (ValueError, KeyError, TypeError) as error:
                yield path, number, f"not an answer: {error!r}"
                continue
            if name in ids:
                found.append(f"id {name!r} is taken by {ids[name]}")
            ids[name] = here
            for language in ("zh", "en"):
                for question in row[language]["questions"]:
                    key = folded(question).lower()
                    if key in asked:
                        found.append(f"{question!r} is asked in {asked[key]} as well")
                    asked[key] = here
            yield from ((path, number, f"{name}: {what}") for what in found)


def _row(row: dict[str, Any], texts: dict[str, str]) -> Iterator[str]:
    if extra := row.keys() ^ {"id", "section", "kind", "zh", "en"}:
        yield f"fields missing or unknown: {sorted(extra)}"
    if row["kind"] not in KINDS:
        yield f"kind {row['kind']!r} is not one of {sorted(KINDS)}"
    for language in ("zh", "en"):
        side = row[language]
        said = [statement["say"] for statement in side["answer"]]
        length = len(folded("".join(said))) if language == "zh" else len(" ".join(said).split())
        if length not in WORDS[language]:
            yield f"{language}: {length} words; {WORDS[language].start} to {WORDS[language].stop - 1} are wanted"
        if len(said) not in STATEMENTS:
            yield f"{language}: {len(said)} statements"
        if len(side["questions"]) not in QUESTIONS:
            yield f"{language}: {len(side['questions'])} questions"
        for text in side["questions"]:
            if language_of(text) != language:
                yield f"{language}: the question {text!r} is in the other language"
        if language_of(" ".join(said)) != language:
            yield f"{language}: the answer is in the other language"
        for text, count in collections.Counter(map(folded, said)).items():
            if count > 1:
                yield f"{language}: said twice: {text!r}"
        for statement in side["answer"]:
            if extra := statement.keys() ^ {"say", "quote"}:
                yield f"{language}: fields missing or unknown in a statement: {sorted(extra)}"
            if "{+" in statement["say"] or "[-" in statement["say"]:
                yield f"{language}: marks of an edit are left in {statement['say']!r}"
            quote = folded(statement["quote"])
            if len(quote) < LEAST_QUOTE[language]:
                yield f"{language}: the quote {statement['quote']!r} is too short to be found again"
            elif quote not in texts[language]:
                yield f"{language}: not in the material: {statement['quote']!r}"


def main() -> int:
    """Print every fault and the counts; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--index", type=Path, default=ROOT / "index" / "textbook")
    args = parser.parse_args()
    paths = args.files or sorted((ROOT / "examples" / "textbook" / "answers").glob("*.answers.jsonl"))
    wrong = 0
    for path, number, what in faults(paths, texts_of(args.index)):
        print(f"{path.name}:{number}: {what}")
        wrong += 1
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    kinds = collections.Counter(row["kind"] for row in rows)
    print(f"{len(rows)} answers in each language, {wrong} faults; kinds: {dict(kinds.most_common())}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
