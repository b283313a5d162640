"""How much does a line of a book belong into the answer to a question? A small trained network says so.

It reads signals that every book has: how near the line is in meaning and in words, what stands around it, where its
passage was found, what kind of question is asked, and how the line speaks. It sees no words as such, so what it
learned on the course book holds for others. `python -m bench.fit_selector` trains it on the prepared answers.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from osrag.answer.kinds import KINDS, kinds_of
from osrag.book.answers import PreparedAnswer
from osrag.book.lines import ROLES, Line
from osrag.models.protocols import Vectors
from osrag.text import folded, share_of, tokens
from osrag.types import Chunk, ChunkKind, Passage

PATH = Path(__file__).parent.parent / "data" / "selector.npz"
LEAST_LETTERS = 6  # of a line that stands inside a quote
USUAL_COSINE = 0.88  # of a question with the nearest prepared one; shifts a signal, no more
FAR = 4.0  # standard deviations from which a signal says no more

Array = npt.NDArray[np.float32]

# How a line speaks. The network learned what that is worth for which kind of question.
MANNERS = {
    "defines": r"是指|称为|叫做|叫作|（[a-zA-Z -]+）是|\bis (a|an|the)\b|\bare (a|the)?\b|is called|means",
    "gives a reason": r"因为|因此|所以|由于|原因|以便|否则|because|therefore|hence|so that|otherwise|since\b|reason",
    "is a step": r"首先|然后|接着|最后|第[一二三四五]|先.*再|first|then|next|finally|second",
    "compares": r"而|区别|不同|相比|更|whereas|while|differ|unlike|than|both",
    "has a condition": r"如果|一旦|只要|\bif\b|when\b|once\b",
    "is an example": r"例如|比如|for example|such as|e\.g",
}
_MANNERS = [re.compile(pattern, re.I) for pattern in MANNERS.values()]


def signals(
    question: str,
    query: Vectors,
    lines: Sequence[Line],
    vectors: Vectors,
    passages: Sequence[Passage],
    near: Sequence[tuple[PreparedAnswer, float]] = (),
    *,
    ranked: bool = True,
) -> Array:
    """(lines, signals) what the network reads. `query` (dim,) is of the question, `vectors` (lines, dim) of the lines.

    `near` are the prepared answers that some lines are statements of, with the cosine of their nearest question.
    Cosines of e5 all lie in .7-.9, so they are stretched to the range of these lines. Unless they are `ranked`, every
    passage counts as found first.
    """
    rank = {passage.number: place for place, passage in enumerate(passages, start=1)}
    chunk = {passage.number: passage.chunk for passage in passages}
    nearest = max(passage.similarity for passage in passages)
    behind = {passage.number: nearest - passage.similarity for passage in passages}
    found = found_by(lines, rank)
    place_of = rank if ranked else dict.fromkeys(rank, 1)
    asked = tuple(dict.fromkeys(tokens(question)))
    words = [tokens(line.in_context) for line in lines]
    of_section = {number: _title_words(one) for number, one in chunk.items()}
    titles = [tokens(line.under) if line.under else of_section[line.passage] for line in lines]

    cosine = np.asarray(vectors @ query, np.float32)
    low, high = float(cosine.min()), float(cosine.max())
    meaning = (cosine - low) / ((high - low) or 1.0)
    rare = _rare(asked, words)
    around, best, size, place = _paragraphs(lines, vectors, query, meaning)
    run = [line.run for line in lines]
    columns: list[Sequence[float] | Array] = [
        cosine,
        meaning,
        [share_of(asked, own_words) for own_words in words],
        rare,
        *(_beside(meaning, run, step) for step in (-2, -1, 1, 2)),
        *(_beside(rare, run, step) for step in (-1, 1)),
        (around - low) / ((high - low) or 1.0),
        best,
        np.log(size),
        place,
        place == 0,
        [1 / place_of[passage] for passage in found],
        [place_of[passage] == 1 for passage in found],
        [behind[passage] for passage in found],
        [share_of(asked, title) for title in titles],
        [share_of(title, asked) for title in titles],
        [share_of(title, own_words) for title, own_words in zip(titles, words, strict=True)],
        [np.log(len(line.text)) for line in lines],
        [line.group >= 0 for line in lines],
        *([_kind(chunk[line.passage]) is kind for line in lines] for kind in (ChunkKind.FAQ, ChunkKind.API)),
        [float(np.log(len(asked) + 1))] * len(lines),
        *_prepared(question, asked, lines, near),
        *([line.role == role for line in lines] for role in ROLES),
        *([bool(pattern.search(line.text)) for line in lines] for pattern in _MANNERS),
        *([float(bool(pattern.search(question)))] * len(lines) for pattern in KINDS.values()),
    ]
    return np.column_stack([np.asarray(column, np.float32) for column in columns])


def _prepared(
    question: str, asked: Sequence[str], lines: Sequence[Line], near: Sequence[tuple[PreparedAnswer, float]]
) -> list[list[float]]:
    """Of a statement of a prepared answer: how near that is to the question. Of a line of the book: who quotes it.

    All 0 where nothing is prepared.
    """
    cosines = [cosine for _, cosine in near]
    best = sorted(cosines, reverse=True)
    kinds = kinds_of(question)
    of_answer = [
        (
            1.0,
            cosine - USUAL_COSINE,
            cosine - best[0] if cosine < best[0] or len(best) < 2 else cosine - best[1],
            1 / (1 + best.index(cosine)),
            share_of(asked, _words_of(answer)),
            max(share_of(tokens(text), asked) for text in answer.questions),
            float(answer.kind in kinds),
        )
        for answer, cosine in near
    ]
    quoted = [(folded(line.quote), cosines[line.answer]) for line in lines if line.answer >= 0]
    rows: list[tuple[float, ...]] = []
    for line in lines:
        if line.answer >= 0:
            rows.append((*of_answer[line.answer], 0.0, 0.0))
            continue
        text = folded(line.text)
        bearing = [cosine for quote, cosine in quoted if is_quoted(text, quote)]
        rows.append((*[0.0] * 7, float(len(bearing)), max(bearing, default=USUAL_COSINE) - USUAL_COSINE))
    return [list(column) for column in zip(*rows, strict=True)]


def is_quoted(line: str, quote: str) -> bool:
    """Whether a quote and a line share their words, both folded; a line of a few letters may stand anywhere."""
    return (len(line) >= LEAST_LETTERS and line in quote) or quote in line


def _words_of(answer: PreparedAnswer) -> tuple[str, ...]:
    return tuple(tokens(" ".join([*answer.questions, *(one.text for one in answer.statements)])))


def _title_words(chunk: object) -> tuple[str, ...]:
    return tuple(tokens(chunk.section[-1])) if isinstance(chunk, Chunk) and chunk.section else ()


def _kind(chunk: object) -> ChunkKind:
    return chunk.kind if isinstance(chunk, Chunk) else ChunkKind.OTHER


def _rare(asked: Sequence[str], words: Sequence[Sequence[str]]) -> Array:
    """(lines,) share of the question's words in each line; a word that few lines have weighs more."""
    sets = [set(own) for own in words]
    weight = {word: np.log((len(sets) + 1) / (sum(word in own for own in sets) + 0.5)) for word in asked}
    total = sum(weight.values()) or 1.0
    return np.array([sum(weight[word] for word in asked if word in own) / total for own in sets], np.float32)


def _paragraphs(
    lines: Sequence[Line], vectors: Vectors, query: Vectors, meaning: Array
) -> tuple[Array, Array, Array, Array]:
    """(lines,) each: cosine of the paragraph, its nearest line, how many lines it has, which of them this is."""
    around, best, size, place = (np.zeros(len(lines), np.float32) for _ in range(4))
    numbers = np.array([line.paragraph for line in lines])
    for number in np.unique(numbers):
        own = np.nonzero(numbers == number)[0]
        mean = vectors[own].mean(axis=0)
        around[own] = mean @ query / max(float(np.linalg.norm(mean)), 1e-6)
        best[own], size[own], place[own] = meaning[own].max(), len(own), np.arange(len(own))
    return around, best, size, place


def found_by(lines: Sequence[Line], rank: Mapping[int, int]) -> list[int]:
    """(lines,) the passage by which each was found: where passages cut a list anywhere, the best of them."""
    lists = [_list_of(line) for line in lines]
    best: dict[Hashable, int] = {}
    for own, line in zip(lists, lines, strict=True):
        best[own] = min(best.get(own, line.passage), line.passage, key=rank.__getitem__)
    return [best[own] for own in lists]


def _list_of(line: Line) -> Hashable:
    """The list that a line stands in; its passage where it stands in none."""
    if line.nested:
        return "run", line.run
    return ("group", line.group) if line.group >= 0 else ("passage", line.passage)


def _beside(values: Array, run: Sequence[int], step: int) -> Array:
    """(lines,) the value of the line `step` lines further on in the same run; 0 where there is none."""
    return np.array(
        [
            values[at + step] if 0 <= at + step < len(run) and run[at + step] == run[at] else 0.0
            for at in range(len(run))
        ],
        np.float32,
    )


class Selector:
    """One hidden layer over standardised signals."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = {name: np.asarray(value, np.float32) for name, value in weights.items()}

    @classmethod
    def load(cls, path: Path = PATH) -> "Selector":
        with np.load(path) as stored:
            return cls(dict(stored))

    def scores(self, seen: Array) -> Array:
        """(lines,) how likely a careful writer would take each line, of `signals`; 0-1."""
        held = self._weights
        scaled = np.clip((seen - held["mean"]) / held["deviation"], -FAR, FAR)
        hidden = np.maximum(scaled @ held["in"] + held["in_bias"], 0)
        return np.asarray(1 / (1 + np.exp(-(hidden @ held["out"] + held["out_bias"]))), np.float32)
