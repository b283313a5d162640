"""An answer as numbers: for every point of an exercise a row that compares the two by encoder and by words.

Some columns compare the answer with the point, some with the whole model answer, and some with the question alone,
because a short answer ("yes, constant") means something only beside its question. What the student wrote is only ever
compared, so nothing in it can be an order here.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from osrag.answer.claims import negated
from osrag.models.protocols import Encoder, Vectors
from osrag.quiz.figures import content_words, figures_missed
from osrag.text import language_of, normalise, sentences, squeeze, tokens
from osrag.types import Language

Floats = npt.NDArray[np.float64]
MAX_WINDOWS = 40
MAX_WORDS = 80
MAX_CHARS = 1500  # of a text that the encoder sees as a whole
NEAR = 0.25  # lifted cosine with some point from which a sentence is on the matter, beside an encoder without a fit
# Log odds from which a sentence belongs to an answer: of questions and texts on which nothing was fitted, 89 in 100
# sentences of students have more, and 2 in 100 orders and other texts beside the matter.
BELONGS = 1.0
NEIGHBOURS = 3  # sentences on other matters that a cosine must beat
NAMES = (
    # the answer with the point
    "whole", "window", "recall", "new_recall", "aligned", "new_aligned", "chars", "negation", "ahead", "figures",
    # the answer with the whole model answer
    "all_whole", "all_recall", "all_aligned", "precision", "back_aligned", "in_context", "short",
    # what the question and the answer are like by themselves
    "echo", "near", "length", "margin", "asked_margin",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as the columns need it."""

    vector: npt.NDArray[np.float32]
    base: float  # mean cosine with sentences on other matters
    tokens: frozenset[str]
    words: tuple[str, ...]  # content words
    word_vectors: Vectors
    grams: frozenset[str]


class Features:
    """Turns answers into rows. Safe to call from several threads."""

    def __init__(self, encoder: Encoder, data: dict[str, Any]) -> None:
        self._encoder = encoder
        self._data = data
        self._background: dict[Language, Vectors] = {}
        self._mean_word: npt.NDArray[np.float32] | None = None

    def on_the_matter(self, question: str, points: Sequence[str], answer: str) -> str:
        """The sentences of `answer` near some point; none of the question.

        What the columns say of a whole answer counts its length, so padding would raise a mark that is partly right.
        A figure is no reason to keep a sentence: "cite [99]", a page number and base64 have figures, too.
        """
        asked, whole = {squeeze(sentence) for sentence in _sentences(question)}, _sentences(answer)
        said = [sentence for sentence in whole if squeeze(sentence) not in asked]
        if len(said) < 2:
            return "\n".join(said)
        parts = [(place, part) for place, sentence in enumerate(said) for part in windows(sentence)]
        vectors, near = self.nearness(points, [text for _, text in parts])
        kept = {parts[place][0] for place in (int(near.argmax()), *np.flatnonzero(self._on_the_matter(vectors, near)))}
        return "\n".join(said[place] for place in sorted(kept))  # the same text whatever was left out

    def nearness(self, points: Sequence[str], texts: Sequence[str]) -> tuple[Vectors, Floats]:
        """The vectors (texts, dim), and (texts,) how near each comes to some point, as a lifted cosine."""
        vectors = self._encoder.queries([normalise(text)[:MAX_CHARS] for text in (*points, *texts)])
        base = _bases(vectors, self._others(language_of(" ".join(points))))
        wanted, own = slice(len(points)), slice(len(points), None)
        return vectors[own], _lifted(vectors[wanted], base[wanted], vectors[own], base[own]).max(axis=0)

    def _on_the_matter(self, vectors: Vectors, near: Floats) -> npt.NDArray[np.bool_]:
        """(texts,) of what `nearness` says of each: whether it belongs to the answer.

        Right answers in other words than the rubric's are no nearer to it than small talk or an order to the marker,
        but they speak of operating systems (`bench/fit_marks.py matter`).
        """
        told = self._data["matter"]
        if told["encoder"] != self._encoder.name:
            return near >= NEAR
        return np.asarray(np.column_stack([vectors, near]) @ np.array(told["weights"]) + told["bias"] >= BELONGS)

    def rows(self, question: str, points: Sequence[str], answer: str) -> tuple[Floats, list[str]]:
        """(points, len(NAMES)) and for each point the student's nearest words."""
        parts = windows(answer)
        reference = " ".join(points)
        language = language_of(reference)
        texts = [*points, question, answer, reference, f"{question} {answer}", f"{question} {reference}"]
        vectors = self._encoder.queries([normalise(text)[:MAX_CHARS] for text in texts] + parts)
        background = self._others(language)
        base = _bases(vectors, background)
        read = [self._text(text, vectors[n], float(base[n])) for n, text in enumerate(texts[: len(points) + 3])]
        mine, (asked, said, whole) = read[: len(points)], read[len(points) :]
        context = float(vectors[len(points) + 3] @ vectors[len(points) + 4])
        shared = self._shared(asked, said, whole, context, background)
        pieces, piece_base = vectors[len(texts) :], base[len(texts) :]
        lifted = _lifted(vectors[: len(points)], base[: len(points)], pieces, piece_base)  # (points, pieces)
        rows, words = [], []
        for place, (text, one) in enumerate(zip(points, mine, strict=True)):
            best = int(np.argmax(lifted[place]))
            turned = negated(text) != negated(parts[best])
            own = self._own(one, asked, said, float(lifted[place, best]), turned)
            rows.append([*own, _ahead(lifted, place), figures_missed(text, answer, question), *shared])
            words.append(parts[best])
        return np.array(rows, dtype=np.float64), words

    def _own(self, point: _Text, asked: _Text, said: _Text, window: float, turned: bool) -> list[float]:
        """The columns of the answer with one point."""
        new = point.tokens - asked.tokens
        fresh = [n for n, word in enumerate(point.words) if word not in asked.words]
        return [
            lift(float(point.vector @ said.vector), (point.base + said.base) / 2),
            window,
            self._share(point.tokens, said.tokens),
            self._share(new or point.tokens, said.tokens),
            _alignment(point.word_vectors, said.word_vectors),
            _alignment(point.word_vectors[fresh] if fresh else point.word_vectors, said.word_vectors),
            len(point.grams & said.grams) / max(1, len(point.grams)),
            float(turned),
        ]

    def _shared(self, asked: _Text, said: _Text, whole: _Text, context: float, background: Vectors) -> list[float]:
        """The columns that are the same for every point of a question."""
        fresh = [n for n, word in enumerate(said.words) if word not in asked.words]
        count = math.log1p(len(said.tokens))
        near = lift(float(asked.vector @ whole.vector), (asked.base + whole.base) / 2)
        # The bank's own sentences may be among the others: what is nearly the model answer is left out.
        others = background[(background @ whole.vector) < 0.95]
        strange = float(np.sort(others @ said.vector)[-NEIGHBOURS:].mean()) if len(others) else said.base
        return [
            lift(float(whole.vector @ said.vector), (whole.base + said.base) / 2),
            self._share(whole.tokens, said.tokens),
            _alignment(whole.word_vectors, said.word_vectors),
            self._share(said.tokens - asked.tokens, whole.tokens),
            _alignment(said.word_vectors[fresh], whole.word_vectors) if fresh else 0.0,
            lift(context, (asked.base + whole.base) / 2),
            min(0.0, count - math.log1p(len(whole.tokens))),
            lift(float(asked.vector @ said.vector), (asked.base + said.base) / 2),
            near,
            count,
            lift(float(whole.vector @ said.vector), strange),
            lift(float(asked.vector @ said.vector), strange),
        ]

    def _text(self, text: str, vector: npt.NDArray[np.float32], base: float) -> _Text:
        words = content_words(text)[:MAX_WORDS]
        flat = "".join(char for char in normalise(text).lower() if char.isalnum() or char == " ")
        grams = frozenset(flat[n : n + 4] for n in range(max(0, len(flat) - 3)))
        return _Text(vector, base, frozenset(tokens(text)), tuple(words), self._word_vectors(words), grams)

    def _word_vectors(self, words: Sequence[str]) -> Vectors:
        """(words, dim) about their common mean: e5's words are all alike."""
        if not words:
            return np.zeros((0, self._encoder.dim), dtype=np.float32)
        if self._mean_word is None:
            self._mean_word = self._encoder.queries(self._data["words"]).mean(axis=0)
        vectors = self._encoder.queries(words) - self._mean_word
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-6), dtype=np.float32)

    def _share(self, wanted: frozenset[str], have: frozenset[str]) -> float:
        """Share of `wanted` in `have`, rare words counting more."""
        total = sum(map(self._rarity, wanted))
        return sum(self._rarity(word) for word in wanted & have) / total if total else 0.0

    def _rarity(self, word: str) -> float:
        return float(self._data["common"].get(word, self._data["rare"]))

    def _others(self, language: Language) -> Vectors:
        """(sentences, dim) sentences on other matters: what a cosine is worth in this language."""
        if language not in self._background:
            self._background[language] = self._encoder.queries(self._data["background"][language])
        return self._background[language]


def _bases(vectors: Vectors, background: Vectors) -> Floats:
    """(texts,) how near each text comes to sentences on other matters."""
    return np.asarray((vectors @ background.T).mean(axis=1), dtype=np.float64)


def _lifted(wanted: Vectors, wanted_base: Floats, said: Vectors, said_base: Floats) -> Floats:
    """(wanted, said) cosines above what the two have with other matters."""
    return np.asarray(lift(wanted @ said.T, (wanted_base[:, None] + said_base) / 2), dtype=np.float64)


def _sentences(text: str) -> list[str]:
    return [sentence for line in text.splitlines() for sentence in sentences(line)]


def windows(text: str) -> list[str]:
    """Sentences and clauses of an answer, verbatim, at most `MAX_WINDOWS`; none of an empty one."""
    out: list[str] = []
    for sentence in _sentences(text):
        out.append(sentence)
        clauses = [c.strip() for c in re.split(r"[,，;；、:：]\s*", sentence) if len(c.strip()) >= 8]
        if 1 < len(clauses) <= 6:
            out += clauses
    return out[:MAX_WINDOWS]


def _ahead(lifted: Floats, place: int) -> float:
    """How far the piece that is most this point's own is nearer to it than to any other point; 0 for the only one.

    Points of one question are about one thing: what says one of them resembles all of them.
    """
    others = np.delete(lifted, place, axis=0)
    return float((lifted[place] - others.max(axis=0)).max()) if len(others) else 0.0


def _alignment(wanted: Vectors, said: Vectors) -> float:
    """Mean, over the wanted words, of the nearest word said: a paraphrase in other words counts."""
    if not len(wanted) or not len(said):
        return 0.0
    return float((wanted @ said.T).max(axis=1).mean())


def lift(cosine: Any, floor: Any) -> Any:
    """How far a cosine stands above that of unrelated sentences, 1 for the same words; numbers or arrays of them."""
    return (cosine - floor) / np.maximum(1e-6, 1 - floor)
