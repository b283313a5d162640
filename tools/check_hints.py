"""Check the prepared hints of the bank: each fits its exercise, quotes the course book, and does not give the key away.

    python tools/check_hints.py [--bank examples/quiz] [--index index/textbook]

Every fault is named with its exercise. Exit code 1 where there is one.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from check_reasons import book_of, quote_fault, report  # noqa: E402

from osrag.lab.catalog import KINDS  # noqa: E402
from osrag.quiz.bank import Bank  # noqa: E402
from osrag.text import folded  # noqa: E402
from osrag.types import Language  # noqa: E402

SIZES: dict[Language, range] = {"en": range(4, 46), "zh": range(6, 91)}  # words; letters in Chinese


def faults(bank: Bank, index: Path) -> Iterator[str]:
    """Everything that is wrong with the hints of a bank."""
    yield from (slip for slip in bank.slips if "hint" in slip)
    book = book_of(index)
    ids = {exercise.id for exercise in bank.exercises()}
    for exercise in bank.exercises():
        if (hint := exercise.hint) is None:
            continue
        for where, text in (("ask", hint.ask), *hint.points):
            size = len(folded(text)) if exercise.language == "zh" else len(text.split())
            if size not in SIZES[exercise.language]:
                yield f"{exercise.name} {where}: {size} words"
        if not hint.ask.endswith(("?", "？")):
            yield f"{exercise.name}: asks nothing back"
        if fault := quote_fault(hint.quote, book[exercise.language]):
            yield f"{exercise.name}: {fault}"
        known = hint.twin.removeprefix("lab:") in KINDS if hint.twin.startswith("lab:") else hint.twin in ids
        if hint.twin == exercise.id or (hint.twin and not known):
            yield f"{exercise.name}: no twin {hint.twin!r}"


def counts(bank: Bank) -> str:
    """How many exercises have hints, and how many of these a twin."""
    hinted = [exercise for exercise in bank.exercises() if exercise.hint]
    twins = sum(bool(exercise.hint and exercise.hint.twin) for exercise in hinted)
    return f"{len(hinted)} of {len(bank.exercises())} have hints, {twins} a twin"


if __name__ == "__main__":
    raise SystemExit(report(__doc__, faults, counts))
