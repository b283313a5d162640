"""Check prepared answers against the material that they quote.

    python tools/check_answers.py [FILES; default examples/textbook/answers/*.answers.jsonl] [--index index/textbook]

The form of a line, and what a build leaves out, is told in osrag/book/answers.py. On top of it the answers of the
course are in both languages, of a length that a student reads, and asked for in three ways at least. Every fault is
named with file and line. Exit code 1 where there is one.
"""

import argparse
import collections
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.answer.normal_form import normal_form  # noqa: E402
from osrag.book.answers import ANSWERS, FORM, AnswerLine, bind, read_answers  # noqa: E402
from osrag.book.asks import lines_of  # noqa: E402
from osrag.errors import BadDocument  # noqa: E402
from osrag.index.collection import Collection  # noqa: E402
from osrag.text import folded  # noqa: E402
from osrag.types import Chunk, Language, PreparedRow  # noqa: E402

WORDS: dict[Language, range] = {"en": range(40, 221), "zh": range(70, 421)}  # Chinese is counted in letters
QUESTIONS, STATEMENTS = range(3, 19), range(2, 11)


def faults(paths: Sequence[Path], chunks: Sequence[Chunk]) -> Iterator[str]:
    """Everything that is wrong."""
    rows: list[PreparedRow] = []
    for path in paths:
        try:
            document = read_answers(path)
        except BadDocument as error:
            yield str(error)
            continue
        yield from document.entry.warnings
        rows += document.rows
        for number, line in lines_of(path, AnswerLine, FORM, []):
            yield from (f"{path.name} line {number}: {line.id}: {what}" for what in _of_the_course(line))
    yield from bind(rows, chunks).warnings
    yield from _of_one_form(rows)


def _of_one_form(rows: Sequence[PreparedRow]) -> Iterator[str]:
    """Questions of two answers that have one normal form, so that neither answer is found by it."""
    asked: dict[tuple[Language, tuple[str, ...]], dict[str, str]] = collections.defaultdict(dict)
    for row in rows:
        if not row.quote:
            asked[row.language, normal_form(row.text)].setdefault(row.id, row.text)
    for (language, form), found in asked.items():
        if form and len(found) > 1:
            yield f"{language}: one question for two answers: {found}"


def _of_the_course(line: AnswerLine) -> Iterator[str]:
    """What the answers of the course have on top of the form."""
    if len(line.sides) < 2:
        yield "in one language only"
    for language, side in line.sides.items():
        said = [one.say for one in side.answer]
        length = len(folded("".join(said))) if language == "zh" else len(" ".join(said).split())
        counts = {"words": (length, WORDS[language]), "questions": (len(side.questions), QUESTIONS)}
        for what, (count, wanted) in {**counts, "statements": (len(said), STATEMENTS)}.items():
            if count not in wanted:
                yield f"{language}: {count} {what}; {wanted.start} to {wanted.stop - 1} are wanted"


def searched(index: Path) -> list[Chunk]:
    """The passages of an index."""
    return Collection.load(index, None, of=Chunk).searched()


def main() -> int:
    """Print every fault and the counts; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--index", type=Path, default=ROOT / "index" / "textbook")
    args = parser.parse_args()
    paths = args.files or sorted((ROOT / "examples" / "textbook" / "answers").glob(f"*{ANSWERS.suffix}"))
    found = list(faults(paths, searched(args.index)))
    for what in found:
        print(what)
    kinds = collections.Counter(line.kind for path in paths for _, line in lines_of(path, AnswerLine, FORM, []))
    print(f"{kinds.total()} answers, {len(found)} faults; kinds: {dict(kinds.most_common())}")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
