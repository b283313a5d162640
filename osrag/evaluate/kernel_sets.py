"""What an answer about the kernel shows of the set of functions that a complete one needs.

Measured on the answer as a visitor gets it, without a model; those from a walk-through are told apart. A deciding line
counts if a code block of the reply has it. An edge of the question counts if the reading path has it; an edge of the
path is beside the point if one of its functions belongs to no answer. Whether a key point is said is estimated as a
chance: by how near the nearest sentence of the reply is, and by how many of its words the reply has.
"""

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from osrag.answer import workflow
from osrag.answer.events import Retrieved, SourceDone
from osrag.answer.source import Question
from osrag.evaluate.figures import Row, share_of_one, took
from osrag.evaluate.measures import read_rows
from osrag.glossary import load_glossary
from osrag.kernel.describe import name_in_words
from osrag.kernel.source import KernelSource
from osrag.models.protocols import Encoder
from osrag.text import language_of, sentences, share_of, tokens
from osrag.types import CodeChunk

SHOWN = 10  # functions of an answer that count
# Whether a reply says a point: a logistic model on 60 points that were read beside their replies (32 said, 16 in half,
# 12 not), and 30 beside replies to other questions. Left out in nine folds they are .64 said by the model, .67 by hand.
NEAREST, WORDS, CHINESE, BIAS = 47.1, 3.91, -0.46, -45.4
_EDGE = re.compile(r"\s*(?:→|⇢)\s*")
_BLOCK = re.compile(r"```c\n(.*?)\n```", re.S)
_MARKUP = re.compile(r"\]\([^)]*\)|[*`\[\]]|^\s*(?:>|-|\d+\.)\s*", re.M)


class SetQuestion(BaseModel, extra="forbid"):
    """A question, and what a complete answer shows."""

    id: str
    language: str
    question: str
    kind: str  # "mechanism", "detail", "corner"
    functions: list[str] = Field(min_length=1)  # the deciding ones
    also: list[str] = []  # further functions that belong to the subject
    files: list[str] = []
    steps: list[str] = []  # "a→b" calls, "a⇢b" leads there in another way
    points: list[str] = []  # what a complete answer says
    lines: dict[str, list[str]] = {}  # function -> its deciding lines
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What of an answer is measured."""

    text: str
    how: str
    functions: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    seconds: float


def has_sets(path: Path) -> bool:
    """Whether the rows of a file name sets of functions. A file that cannot be read has none."""
    try:
        with path.open(encoding="utf-8") as lines:
            return '"functions":' in next(lines, "")
    except (OSError, UnicodeDecodeError):
        return False


def read_sets(path: Path) -> list[SetQuestion]:
    """Raises BadInput, naming the line, for a row that is no question with its set."""
    return read_rows(path, SetQuestion, needs="id, language, question, kind and functions")


def rows(source: KernelSource, encoder: Encoder, questions: Iterable[SetQuestion]) -> Iterator[Row]:
    """A row for each answer, in groups by how it came about, by language and by kind, with what it lacks."""
    for one in questions:
        reply = answered(source, one)
        scores, lacks = measured(one, reply, encoder)
        told = {"id": one.id, "question": one.question, "how": reply.how, **scores, **lacks}
        shares = {name: share_of_one(score) for name, score in scores.items()}
        yield Row((reply.how, one.language, one.kind), {**shares, **took(reply.seconds)}, told)


def answered(source: KernelSource, one: SetQuestion) -> Reply:
    """The answer to a question, without a model."""
    start = time.perf_counter()
    events = list(workflow.answer(source, Question(one.question, passages=SHOWN), None))
    seconds = time.perf_counter() - start
    last = [event for event in events if isinstance(event, Retrieved)][-1]
    done = next(event for event in events if isinstance(event, SourceDone))
    names = dict.fromkeys(passage.chunk.name for passage in last.passages if isinstance(passage.chunk, CodeChunk))
    return Reply(done.text, done.how, tuple(names)[:SHOWN], last.path.edges, seconds)


def measured(
    one: SetQuestion, reply: Reply, encoder: Encoder
) -> tuple[Mapping[str, float], Mapping[str, Sequence[str]]]:
    """The shares of one answer, and what it lacks. A measure that a question does not have is left out."""
    wanted = [(edge[0], edge[-1]) for edge in map(_EDGE.split, one.steps)]
    about = {*one.functions, *one.also}
    block = {_flat(line) for code in _BLOCK.findall(reply.text) for line in code.split("\n")}
    lines = [(name, line) for name, some in one.lines.items() for line in some]
    said = points_said(one.points, reply.text, encoder)
    edges = set(reply.edges)
    lacks = {
        "no_function": [name for name in one.functions if name not in reply.functions],
        "no_line": [f"{name}: {line}" for name, line in lines if _flat(line) not in block],
        "no_edge": [" → ".join(edge) for edge in wanted if edge not in edges],
        "beside": [" → ".join(edge) for edge in reply.edges if not about.issuperset(edge)],
        "unsaid": [point for point, chance in zip(one.points, said, strict=True) if chance < 0.5],
    }
    pairs: dict[str, tuple[Sequence[Any], Sequence[str]]] = {
        "functions": (one.functions, lacks["no_function"]),
        "lines": (lines, lacks["no_line"]),
        "edges": (wanted, lacks["no_edge"]),
        "to_the_point": (reply.edges, lacks["beside"]),
    }
    scores = {name: 1 - len(without) / len(every) for name, (every, without) in pairs.items() if every}
    if said:
        scores["points"] = sum(said) / len(said)
    return scores, {name: some for name, some in lacks.items() if some}


def points_said(points: Sequence[str], text: str, encoder: Encoder) -> list[float]:
    """How likely a reply says each point, as far as a program can tell."""
    said = list(_sentences(text))
    if not points or not said:
        return [0.0] * len(points)
    cosines = encoder.queries(points) @ encoder.queries(said).T  # (points, sentences)
    held = _words(text)
    chances = []
    for point, row in zip(points, cosines, strict=True):
        share = share_of(sorted(_words(point)), held)
        log_odds = NEAREST * float(row.max()) + WORDS * share + CHINESE * (language_of(point) == "zh") + BIAS
        chances.append(1 / (1 + math.exp(-log_odds)))
    return chances


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a reply outside its code, and the comments in it."""
    for part in _MARKUP.sub(" ", _BLOCK.sub("\n", text)).split("\n"):
        yield from (sentence.strip() for sentence in sentences(part) if len(sentence.strip()) > 3)
    for comment in re.findall(r"/\*(.*?)\*/", "\n".join(_BLOCK.findall(text)), re.S):
        if len(comment) > 20:
            yield " ".join(comment.replace("*", " ").split())


def _words(text: str) -> frozenset[str]:
    """Words with what names of code stand for, and the terms of the glossary in both languages."""
    names = " ".join(" ".join(name_in_words(name)) for name in set(re.findall(r"[A-Za-z_]\w+", text)))
    terms = " ".join(" ".join((*term.zh, *term.en)) for term in load_glossary().find(text))
    return frozenset(tokens(f"{text} {names} {terms}"))


def _flat(line: str) -> str:
    return "".join(line.split())
