"""The lines of a function that decide: those that a statement about it would speak of.

A logistic model on what a line does and whom it calls, fitted on the lines that the walk-throughs quote
(bench/fit_kernel_sets.py). The conditions that lead to a line are added by `code.quoted_lines`.
"""

import functools
import re
from collections.abc import Callable, Collection, Sequence

import numpy as np

from osrag.kernel.code import SourceLine, code_lines, is_dull, quoted_lines
from osrag.kernel.describe import name_in_words
from osrag.kernel.graph import HELPER, UNDO
from osrag.kernel.grow import fitted
from osrag.kernel.query import read_question
from osrag.kernel.store import Floats, KernelStore
from osrag.text import STOP_EN, tokens
from osrag.types import ChunkKind, CodeChunk, Origin

FIELDS = 14  # lines of a structure that are shown
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_CALL = frozenset(("if", "while", "for", "switch", "return", "sizeof", "likely", "unlikely", "do"))
_IF = re.compile(r"(?:\}\s*else\s+)?if\b")
_LOOP = re.compile(r"(?:while|for|do|switch)\b|\w*for_each\w*")
_ERROR = re.compile(r"-E[A-Z]{2,}|ERR_PTR|goto (?:err|out|fail|bad)")
_STORES = re.compile(r"(?:->|\.)\w+\s*[|&+-]?=[^=]")
_ASSIGNS = re.compile(r"[^=!<>]=[^=]")
_UNKNOWN = 5.0  # log of callers of a line that calls nothing we know: as many as a common helper has

OF_LINE = (
    "asked", "asked_share", "described", "calls", "leads_on", "callers", "known", "noted", "helper", "if", "loop",
    "return", "goto", "assigns", "else", "case", "depth", "place", "head", "last", "error", "dull", "length", "flags",
    "stores", "lines", "words_of_set", "unlikely", "returns_error", "rare", "returns_call", "decides", "continued",
    "undone", "asked_call", "computes",
)  # fmt: skip


def features(
    chunk: CodeChunk, code: Sequence[SourceLine], query: str, others: Collection[str], store: KernelStore
) -> Floats:
    """(lines, OF_LINE) of the lines of code of `chunk`; `others` are the other functions of the answer."""
    question = read_question(query)
    asked = {*question.words, *question.guessed, *question.idents} - STOP_EN
    names = {name.lower() for name in question.names}
    own = _words(chunk.name)
    described = set(tokens(chunk.en)) - STOP_EN
    of_set = {word for name in others for word in _words(name)} - own
    head = next((at for at, line in enumerate(code) if "{" in line.text), 0) + 1
    undo = next((at for at, line in enumerate(code) if UNDO.match(line.text)), len(code))
    rows = []
    for at, line in enumerate(code):
        text = line.text.strip()
        words = _words(text) - own
        calls = [name for name in _CALL.findall(text) if name not in _NO_CALL]
        known = [name for name in calls if store.functions_named(name)]
        rarest = min((np.log1p(store.times_called(name)) for name in known), default=_UNKNOWN)
        leads_on = any(name in others for name in _WORD.findall(text))
        condition, returns = bool(_IF.match(text)), text.startswith("return")
        rows.append(
            (
                len(words & asked), len(words & asked) / max(1, len(asked)), len(words & described), bool(calls),
                leads_on, rarest, bool(known), any(map(_noted(store), known)), any(map(HELPER.match, calls)),
                condition, bool(_LOOP.match(text)), returns, text.startswith("goto"), bool(_ASSIGNS.search(text)),
                text.startswith(("else", "} else")), text.startswith(("case", "default")),
                (len(line.text.expandtabs(8)) - len(text)) / 8, at / len(code), at < head, at >= len(code) - 2,
                bool(_ERROR.search(text)), is_dull(line.text), min(len(text), 100) / 50,
                len(re.findall(r"\b[A-Z][A-Z_0-9]{3,}\b", text)), bool(_STORES.search(text)), np.log(len(code)),
                len(words & of_set), "unlikely" in text, bool(re.match(r"return\s+-E", text)),
                bool(known) and rarest <= np.log1p(2), returns and bool(known), condition and leads_on,
                text.endswith((",", "&&", "||")), at > undo, any(name.lower() in names for name in calls),
                not calls and "=" in text,
            )
        )  # fmt: skip
    return np.array(rows, dtype=np.float32).reshape(len(code), len(OF_LINE))


def deciding_lines(
    chunk: CodeChunk, query: str, others: Collection[str], store: KernelStore, *, most: int
) -> list[SourceLine]:
    """The signature and the `most` lines that decide, with the conditions around them; of a structure its fields."""
    code = code_lines(chunk)
    if chunk.kind is not ChunkKind.FUNCTION:
        rows = [line for line in code if not line.text.startswith("#")]
        return quoted_lines(
            chunk, [line.number for line in (rows if len(rows) <= FIELDS else [*rows[:FIELDS], rows[-1]])]
        )
    signature = next((at for at, line in enumerate(code) if f"{chunk.name}(" in line.text.replace(" ", "")), 0)
    best = likeliest(chunk, query, others, store)[:most]
    return quoted_lines(chunk, [*(line.number for line in code[: signature + 1]), *best])


def likeliest(chunk: CodeChunk, query: str, others: Collection[str], store: KernelStore) -> list[int]:
    """Numbers of the lines of a function's body that say something, those that decide first."""
    code = code_lines(chunk)
    held = features(chunk, code, query, others, store)
    model = fitted()["lines"]
    likely = held @ np.array(model["weights"]) + model["bias"]
    inside = np.flatnonzero((held[:, OF_LINE.index("head")] == 0) & (held[:, OF_LINE.index("dull")] == 0))
    return [code[at].number for at in inside[np.argsort(-likely[inside], kind="stable")]]


def _words(text: str) -> frozenset[str]:
    """The words of code, and what its names stand for."""
    names = _WORD.findall(text)
    return frozenset(word for name in names for word in _of_name(name)) - STOP_EN


@functools.cache
def _of_name(name: str) -> frozenset[str]:
    return frozenset((name.lower(), *tokens(f"{name} {name_in_words(name)[0]}")))


def _noted(store: KernelStore) -> Callable[[str], bool]:
    """Whether the function of a name has a note."""
    return lambda name: store.chunk(store.functions_named(name)[0]).origin is Origin.NOTE
