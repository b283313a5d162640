"""What each rule of the support check is worth, on labelled claims about pages of the book and functions of the kernel.

A claim is right when it is bound to its passage and supported, or when it is contradicted or unsupported and marked.
The claims (examples/eval/claims.jsonl) were written by readers of the pages and functions after the rules were made.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.ablation import EVAL, Area, Rule, Score
from osrag.app.parts import Parts
from osrag.evaluate.claims import Claim, passes
from osrag.evaluate.measures import read_rows
from osrag.models.protocols import Encoder, Vectors
from osrag.settings import load_settings

NEVER = re.compile(r"(?!)")


class _Kept:
    """An encoder that embeds each text once."""

    def __init__(self, encoder: Encoder) -> None:
        self.dim = encoder.dim
        self.queries = functools.cache(lambda texts: encoder.queries(list(texts)))
        self.passages = functools.cache(lambda texts: encoder.passages(list(texts)))


class _Tuples:
    """Makes lists hashable on their way to `_Kept`."""

    def __init__(self, kept: _Kept) -> None:
        self.dim, self._kept = kept.dim, kept

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._kept.queries(tuple(texts))

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._kept.passages(tuple(texts))


@functools.cache
def _parts() -> tuple[Parts, Any]:
    parts = Parts(load_settings())
    return parts, _Tuples(_Kept(parts.checker))


def verdicts() -> Iterator[tuple[Claim, bool]]:
    """Each labelled claim, and whether it passes as supported."""
    parts, encoder = _parts()
    for claim in read_rows(EVAL / "claims.jsonl", Claim, needs="source, chunk_ids, claim and label"):
        yield claim, passes(claim, parts.textbook.collection, parts.kernel, encoder)


def measure() -> Mapping[str, Score]:
    """Claims judged rightly, by source; and apart the true and the false ones, which a rule often trades."""
    right: dict[str, list[bool]] = {}
    for claim, passed in verdicts():
        ok = passed == claim.is_true
        for name in (claim.source, f"{claim.source}, {'true' if claim.is_true else 'false'}"):
            right.setdefault(name, []).append(ok)
    return {name: (sum(row), len(row)) for name, row in right.items()}


def _rule(name: str, **off: Any) -> Rule:
    return Rule(name, tuple((f"osrag.{key.replace('__', '.')}", value) for key, value in off.items()))


AREA = Area(
    "claims",
    (
        _rule("book: words", answer__claims__MIN_WORDS=0.0),
        _rule("book: cosine across languages", answer__claims__CROSS_COSINE=0.0),
        _rule("book: subject and figure", answer__claims___another_subject=lambda *_: ""),
        _rule("book: lead-in", answer__claims___LEAD_IN=NEVER),
        _rule("book: numbers", answer__claims__numbers_in=lambda _: []),
        _rule("book: negation", answer__claims__negated=lambda _: False),
        _rule("kernel: words", kernel__claims__MIN_SHARE=0.0),
        _rule("kernel: calls", kernel__claims___calls_hold=lambda *_: True),
        _rule("kernel: words that say nothing", kernel__claims___FREE=frozenset()),
        _rule("kernel: notions of a claim without names", kernel__claims___speaks_of_the_same=lambda *_: True),
        _rule("kernel: numbers", kernel__claims__numbers_in=lambda _: []),
    ),
    measure,
)
