"""Check the prepared explanations of the bank: each fits its exercise, is short, and quotes the course book.

    python tools/check_reasons.py [--bank examples/quiz] [--index index/textbook]

Every fault is named with its exercise. Exit code 1 where there is one.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.index.collection import Collection  # noqa: E402
from osrag.quiz.bank import Bank, load_bank  # noqa: E402
from osrag.text import folded  # noqa: E402
from osrag.types import Chunk, Language  # noqa: E402

SIZES: dict[Language, range] = {"en": range(5, 61), "zh": range(8, 111)}  # words; letters in Chinese
QUOTE = range(12, 261)  # letters
WORKED = range(2, 7)  # sentences


def faults(bank: Bank, index: Path) -> Iterator[str]:
    """Everything that is wrong with the explanations of a bank."""
    yield from (slip for slip in bank.slips if "reasons" in slip)
    book = book_of(index)
    for exercise in bank.exercises():
        if exercise.reasons and not exercise.is_choice and len(exercise.reasons) not in WORKED:
            yield f"{exercise.name}: {len(exercise.reasons)} sentences"
        for reason in exercise.reasons:
            where = f"{exercise.name} {reason.key}".strip()
            text = folded(reason.text)
            size = len(text) if exercise.language == "zh" else len(reason.text.split())
            if size not in SIZES[exercise.language]:
                yield f"{where}: {size} words"
            if fault := quote_fault(reason.quote, book[exercise.language]):
                yield f"{where}: {fault}"


def book_of(index: Path) -> dict[Language, str]:
    """The letters of the course book, by language."""
    chunks = Collection.load(index, None, of=Chunk).searched()
    return {one: "".join(folded(chunk.text) for chunk in chunks if chunk.language == one) for one in SIZES}


def quote_fault(quote: str, book: str) -> str:
    """What is wrong with a quote of the book; empty where it stands there."""
    letters = folded(quote)
    if len(letters) not in QUOTE:
        return f"a quote of {len(letters)} letters"
    return "" if letters in book else f"the book does not say {quote[:60]!r}"


def report(doc: str | None, faults: Callable[[Bank, Path], Iterator[str]], counts: Callable[[Bank], str]) -> int:
    """Print every fault and the counts; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bank", type=Path, default=ROOT / "examples" / "quiz")
    parser.add_argument("--index", type=Path, default=ROOT / "index" / "textbook")
    args = parser.parse_args()
    bank = load_bank(args.bank)
    found = list(faults(bank, args.index))
    for what in found:
        print(what)
    print(f"{counts(bank)}, {len(found)} faults")
    return 1 if found else 0


def counts(bank: Bank) -> str:
    """How many exercises are explained, and in how many sentences."""
    explained = [exercise for exercise in bank.exercises() if exercise.reasons]
    sentences = sum(len(exercise.reasons) for exercise in explained)
    return f"{len(explained)} of {len(bank.exercises())} explained in {sentences} sentences"


if __name__ == "__main__":
    raise SystemExit(report(__doc__, faults, counts))
