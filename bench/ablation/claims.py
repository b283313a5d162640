"""What each rule of the support check is worth, on labelled claims about pages of the book and functions of the kernel.

A claim is right when it is bound to its passage and supported, or when it is contradicted or unsupported and marked.
The claims (examples/eval/claims.jsonl) were written by readers of the pages and functions after the rules were made.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.ablation import Area, Rule, Score
from osrag.answer.claims import check
from osrag.answer.statements import Evidence
from osrag.app.parts import Parts
from osrag.kernel.claims import CodeEvidence, check_code
from osrag.models.protocols import Encoder, Vectors
from osrag.settings import load_settings
from osrag.types import AnyChunk, Passage

CLAIMS = Path(__file__).resolve().parents[2] / "examples" / "eval" / "claims.jsonl"
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


def _passages(row: Mapping[str, Any]) -> list[Passage]:
    parts, _ = _parts()
    chunks: list[AnyChunk] = []
    for id_ in row["chunk_ids"]:
        textbook = row["source"] == "textbook"
        held = [parts.textbook.collection] if textbook else [one.chunks for one in parts.kernel.store.subsystems]
        found = [one.chunk(place) for one in held if (place := one.row_of(id_)) is not None]
        if not found:
            raise LookupError(f"no chunk {id_!r} in the index")
        chunks.append(found[0])
    return [Passage(n, chunk, 1.0, 1.0) for n, chunk in enumerate(chunks, start=1)]


def verdicts() -> Iterator[tuple[Mapping[str, Any], Any]]:
    """(row, support) of every labelled claim."""
    parts, encoder = _parts()
    for line in CLAIMS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        passages = _passages(row)
        if row["source"] == "textbook":
            yield row, check(row["claim"], Evidence(passages, encoder))
        else:
            chunks = [passage.chunk for passage in passages]
            callees = {callee.name: callee for chunk in chunks for callee in parts.kernel.callees(chunk)}  # type: ignore[arg-type]
            names = [chunk.name for chunk in chunks]  # type: ignore[union-attr]
            yield row, check_code(row["claim"], CodeEvidence(passages, callees, names))


def measure() -> Mapping[str, Score]:
    """Claims judged rightly, by source; and apart the true and the false ones, which a rule often trades."""
    right: dict[str, list[bool]] = {}
    for row, support in verdicts():
        true = row["label"] == "supported"
        ok = (support.passage is not None) == true
        for name in (row["source"], f"{row['source']}, {'true' if true else 'false'}"):
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
