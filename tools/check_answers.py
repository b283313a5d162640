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
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import pyarrow.parquet as pq  # noqa: E402
from pydantic import BaseModel, Field, ValidationError  # noqa: E402

from osrag.text import folded, language_of  # noqa: E402
from osrag.types import Language  # noqa: E402

WORDS: dict[Language, range] = {"en": range(40, 221), "zh": range(70, 421)}  # Chinese is counted in letters
LEAST_QUOTE: dict[Language, int] = {"en": 15, "zh": 6}  # letters and digits
Fault = tuple[Path, int, str]


class Statement(BaseModel, extra="forbid", frozen=True):
    """What a student reads, and the stretch of the material that bears it out."""

    say: str
    quote: str


class Side(BaseModel, extra="forbid", frozen=True):
    """An answer in one language, with the questions that it answers."""

    questions: tuple[str, ...] = Field(min_length=3, max_length=7)
    answer: tuple[Statement, ...] = Field(min_length=2, max_length=10)


class Answer(BaseModel, extra="forbid", frozen=True):
    """One line of a file."""

    id: str
    section: str
    kind: Literal["what", "why", "how", "steps", "compare", "when", "what_if", "list"]
    zh: Side
    en: Side


def texts_of(index: Path) -> dict[str, str]:
    """Language -> all passages of the index in that language, folded, one a line."""
    texts: dict[str, list[str]] = {"zh": [], "en": []}
    for path in sorted(index.glob("chunks-*.parquet")):
        for row in pq.read_table(path, columns=["text", "language"]).to_pylist():
            texts[row["language"]].append(folded(row["text"]))
    return {language: "\n".join(found) for language, found in texts.items()}


def answers(paths: Sequence[Path]) -> Iterator[tuple[Path, int, Answer | str]]:
    """Each line with its file and number; a sentence for a line that is no answer."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                yield path, number, Answer.model_validate_json(line)
            except ValidationError as error:
                first = error.errors()[0]
                yield path, number, f"not an answer: {'.'.join(map(str, first['loc']))}: {first['msg']}"


def faults(paths: Sequence[Path], texts: dict[str, str]) -> Iterator[Fault]:
    """Everything that is wrong, in order."""
    ids: dict[str, str] = {}
    asked: dict[str, str] = {}
    for path, number, answer in answers(paths):
        if isinstance(answer, str):
            yield path, number, answer
            continue
        here = f"{path.name}:{number}"
        found = [*_side(answer.zh, "zh", texts["zh"]), *_side(answer.en, "en", texts["en"])]
        if answer.id in ids:
            found.append(f"id {answer.id!r} is taken by {ids[answer.id]}")
        ids[answer.id] = here
        for question in (*answer.zh.questions, *answer.en.questions):
            key = folded(question).lower()
            if key in asked:
                found.append(f"{question!r} is asked in {asked[key]} as well")
            asked[key] = here
        yield from ((path, number, f"{answer.id}: {what}") for what in found)


def _side(side: Side, language: Language, text: str) -> Iterator[str]:
    """What is wrong with an answer in one language; `text` is the folded material in it."""
    said = [statement.say for statement in side.answer]
    length = len(folded("".join(said))) if language == "zh" else len(" ".join(said).split())
    wanted = WORDS[language]
    if length not in wanted:
        yield f"{language}: {length} words; {wanted.start} to {wanted.stop - 1} are wanted"
    for question in side.questions:
        if language_of(question) != language:
            yield f"{language}: the question {question!r} is in the other language"
    if language_of(" ".join(said)) != language:
        yield f"{language}: the answer is in the other language"
    for repeated, count in collections.Counter(map(folded, said)).items():
        if count > 1:
            yield f"{language}: said twice: {repeated!r}"
    for statement in side.answer:
        if "{+" in statement.say or "[-" in statement.say:
            yield f"{language}: marks of an edit are left in {statement.say!r}"
        quote = folded(statement.quote)
        if len(quote) < LEAST_QUOTE[language]:
            yield f"{language}: the quote {statement.quote!r} is too short to be found again"
        elif quote not in text:
            yield f"{language}: not in the material: {statement.quote!r}"


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
    kinds = collections.Counter(answer.kind for _, _, answer in answers(paths) if isinstance(answer, Answer))
    print(f"{kinds.total()} answers in each language, {wrong} faults; kinds: {dict(kinds.most_common())}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
