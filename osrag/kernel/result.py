"""What a kernel search returns (K2), and a long function cut to the lines that matter."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from osrag.kernel.describe import name_in_words
from osrag.kernel.query import read_question
from osrag.text import STOP_EN, tokens
from osrag.types import CodeChunk, CodeHit

SIGNATURE_LINES = 6
COMMENT_SHARE = 0.35  # of the budget, at most, for the comment above a function
CALL_WORTH = 0.4  # of a line that calls something, in words shared with the question
DECISION_WORTH = 0.2
_DECISION = re.compile(r"\s*(?:if|while|for|switch|return)\b")
NEAR = 0.35  # of a line's worth that falls on the lines beside it


@dataclass(frozen=True, slots=True)
class FileHits:
    """A source file and its chunks among the hits, best first."""

    source_file: str
    summary: str
    similarity: float  # cosine of the summary with the question; 0 without a file index
    hits: tuple[CodeHit, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """Code that is asked for and is not in the index."""

    what: str  # as the question names it
    where: str  # where it lies instead: "fs/", "drivers/", "not part of Linux"; empty if unknown
    nearest: tuple[str, ...]  # names in the index


@dataclass(frozen=True, slots=True)
class KernelResult:
    query: str
    timestamp: str  # ISO 8601, UTC
    files: tuple[FileHits, ...]  # by their best chunk
    hits: tuple[CodeHit, ...]  # best first, over all files
    confidence: float  # 0-1, that these hits answer the question
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]  # sentences for the reader: what is not there, another version, one stage only
    version: str  # of the kernel, "6.1.192"
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The result as K2 has it, for JSON."""
        return {
            "query": self.query,
            "timestamp": self.timestamp,
            "retrieved_files": [
                {
                    "source_file": one.source_file,
                    "md_summary": one.summary,
                    "similarity": round(one.similarity, 4),
                    "chunks": [chunk_dict(hit) for hit in one.hits],
                }
                for one in self.files
            ],
            "kernel_version": self.version,
            "confidence": round(self.confidence, 3),
            "missing": [{"what": one.what, "where": one.where, "nearest": list(one.nearest)} for one in self.missing],
            "notes": list(self.notes),
            "timings_ms": {name: round(value, 1) for name, value in self.timings_ms.items()},
        }


def chunk_dict(hit: CodeHit) -> dict[str, Any]:
    chunk = hit.chunk
    return {
        "chunk_id": chunk.id,
        "function_name": chunk.name,
        "kind": chunk.kind.value,
        "start_line": chunk.where.first,
        "end_line": chunk.where.last,
        "description": chunk.description,
        "score": round(hit.score, 4),
        "similarity": round(hit.similarity, 4),
        "content": chunk.text,
    }


@dataclass(frozen=True, slots=True)
class SourceLine:
    number: int  # in the file, 1-based
    text: str


def all_lines(chunk: CodeChunk) -> list[SourceLine]:
    lines = chunk.text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [SourceLine(chunk.where.first + place, text) for place, text in enumerate(lines)]


def focus_lines(chunk: CodeChunk, query: str, budget_chars: int) -> list[SourceLine]:
    """The lines of a chunk that a small prompt should hold, in order, with their true numbers.

    The signature, the start of the comment above it, then the lines that share most with the
    question, and what is called. The whole chunk where it fits. Gaps show by the numbers.
    """
    lines = all_lines(chunk)
    if sum(len(line.text) + 1 for line in lines) <= budget_chars:
        return lines
    body = _body_start(lines)
    signature = list(range(*_signature(lines, body)))
    chosen: set[int] = set()
    spent = _take(chosen, signature, lines, budget_chars)
    comment = [place for place in range(body) if _says_something(lines[place].text)]
    spent += _take(chosen, comment, lines, int(budget_chars * COMMENT_SHARE))
    worth = _worth(lines, query, chunk)
    ranked = sorted((place for place in range(len(lines)) if worth[place] > 0), key=lambda place: -worth[place])
    for place in ranked:
        cost = len(lines[place].text) + 1
        if place not in chosen and spent + cost <= budget_chars:
            chosen.add(place)
            spent += cost
    return [lines[place] for place in sorted(chosen)]


def render_lines(lines: Sequence[SourceLine]) -> str:
    """Numbered lines; an ellipsis stands where lines were left out."""
    out: list[str] = []
    last = None
    for line in lines:
        if last is not None and line.number != last + 1:
            out.append("…")
        out.append(f"{line.number}: {line.text}")
        last = line.number
    return "\n".join(out)


def _take(chosen: set[int], places: Sequence[int], lines: Sequence[SourceLine], budget: int) -> int:
    """Choose places in order while they fit; returns the characters spent."""
    spent = 0
    for place in places:
        cost = len(lines[place].text) + 1
        if spent + cost > budget:
            break
        if place not in chosen:
            chosen.add(place)
            spent += cost
    return spent


def _body_start(lines: Sequence[SourceLine]) -> int:
    """Place of the first line behind the leading comment."""
    if not lines or not lines[0].text.lstrip().startswith(("/*", "//")):
        return 0
    if lines[0].text.lstrip().startswith("//"):
        return next((n for n, line in enumerate(lines) if not line.text.lstrip().startswith("//")), 0)
    return next((place + 1 for place, line in enumerate(lines) if "*/" in line.text), 0)


def _signature(lines: Sequence[SourceLine], body: int) -> tuple[int, int]:
    for place in range(body, min(len(lines), body + SIGNATURE_LINES)):
        if "{" in lines[place].text or lines[place].text.rstrip().endswith(")"):
            return body, place + 1
    return body, min(len(lines), body + 1)


def _says_something(text: str) -> bool:
    return bool(re.search(r"\w{3,}", text)) and not re.match(r"\s*\*?\s*@\w+:", text)


def _worth(lines: Sequence[SourceLine], query: str, chunk: CodeChunk) -> list[float]:
    """How much each line shares with the question, a little more where it calls or decides."""
    question = read_question(query)
    wanted = {word.split(":", 1)[1] for word in (*question.words, *question.guessed, *question.idents)}
    wanted |= set(question.ident_parts)
    wanted -= STOP_EN
    calls = set(chunk.calls)
    own: list[float] = []
    for line in lines:
        words = re.findall(r"[A-Za-z_]\w*", line.text)
        found = {token for word in words for token in (word.lower(), *tokens(f"{word} {name_in_words(word)[0]}"))}
        score = float(len(found & wanted))
        if re.search(r"\w", line.text):
            score += CALL_WORTH * bool(calls & set(words)) + DECISION_WORTH * bool(_DECISION.match(line.text))
        own.append(score)
    beside = [max(own[max(0, place - 1)], own[min(len(own) - 1, place + 1)]) for place in range(len(own))]
    return [score + NEAR * near if re.search(r"\w", lines[place].text) else 0.0
            for place, (score, near) in enumerate(zip(own, beside, strict=True))]  # fmt: skip
