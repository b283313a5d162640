"""How much of a point an answer says: encoder and words, calibrated on human marks.

A fraction between 0 and 1 for each rubric point, from eight features of (question, point,
answer). The coefficients are data (`data/grader.json`), fitted by `bench/fit_grader.py`.
What the student wrote is only ever compared; nothing in it can be an order here.
"""

import functools
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from osrag.answer.support import negated
from osrag.models.protocols import Encoder, Vectors
from osrag.text import STOP_EN, language_of, normalise, sentences, squeeze, tokens
from osrag.types import Language

PATH = Path(__file__).parent.parent / "data" / "grader.json"
NAMES = (
    "whole",
    "window",
    "echo",
    "near",
    "recall",
    "new_recall",
    "precision",
    "length",
    "short",
    "negation",
    "aligned",
)
ON_TOPIC = 0.06  # below it an answer speaks of something else, and its mark falls to nothing
MAX_WINDOWS = 40
MAX_WORDS = 80
_LATIN = re.compile(r"[A-Za-z][A-Za-z_']+|\d+(?:\.\d+)?")
MAX_CHARS = 6000  # of an answer that are read; the rest is more than any mark asks for
Floats = npt.NDArray[np.float64]

# Sentences that talk to the marker instead of answering. They are left out before anything is compared.
_ORDERS = re.compile(
    "|".join(
        (
            r"full (marks?|score|credit|points)",
            r"(max(imum)?|highest|top|perfect|all the) (marks?|score|points|grade)",
            r"\b(ignore|disregard|forget|override|bypass)\b.{0,60}"
            r"\b(rubric|instruction|prompt|rule|above|previous|criteri|reference|system|key)",
            r"\b(rubric|grader|grading|examiner|marker|marking|system prompt|json)\b|is_?correct",
            r"\b(AI|language) model\b|</?(system|assistant|user|instruction)|\[/?(INST|system)",
            r"\b(give|award|grant|assign) (me|this|it|us|my|all|full|every|maximum)\b",
            r"\b(the student|this answer|my answer)\b",
            r"\bend of (the )?answer|answered (perfectly|correctly)|\bim_(start|end)\b|学生答案|(该|这个|本)学生",
            r"\b(mark|grade|score|rate|treat|count) (this|it|me|my|the)\b.{0,50}"
            r"\b(as|correct|full|10|100|five|5)",
            r"you (are|must|should|will) (now )?(a |an |be |give|grade|mark|award|answer|output|reply)",
            r"满分|评分标准|评分员|阅卷|判卷|评卷|系统提示|语言模型|大模型|你现在是|你必须|请你?(直接)?(判|给|打|输出|回复)",
            r"(忽略|无视|忘记|忘掉|跳过|不要管|别管).{0,20}(规则|标准|指令|要求|提示|参考答案|评分|以上|上面|前面|之前)",
            r"(给|打|判|算|评)(我|这|他|本|为|成|作)?.{0,12}(分(?!为|成|别|配|页|段|区|时|离)|正确|优秀|通过)",
            r"全部(得分点|要点).{0,8}(满足|命中|正确)|答案(完全)?正确",
        )
    ),
    re.I | re.S,
)


@dataclass(frozen=True, slots=True)
class PointMatch:
    """What one point found in the answer."""

    fraction: float  # 0-1 of its points
    said: str  # the student's words nearest to it, verbatim; "" when none are near
    features: tuple[float, ...]


def without_orders(answer: str) -> str:
    """The answer without sentences that tell the marker what to do."""
    pieces = [piece for line in answer[:MAX_CHARS].splitlines() for piece in sentences(line)]
    if not _ORDERS.search(answer):
        return answer[:MAX_CHARS].strip()
    return "\n".join(piece for piece in pieces if not _ORDERS.search(piece))


def windows(text: str) -> list[str]:
    """Sentences and clauses of an answer, verbatim, at most `MAX_WINDOWS`."""
    out: list[str] = []
    for line in text.splitlines():
        for sentence in sentences(line):
            out.append(sentence)
            clauses = [c.strip() for c in re.split(r"[,，;；、:：]\s*", sentence) if len(c.strip()) >= 8]
            if 1 < len(clauses) <= 6:
                out += clauses
    return out[:MAX_WINDOWS] or ([text.strip()] if text.strip() else [])


class Grader:
    """Safe to call from several threads."""

    def __init__(self, encoder: Encoder, data: dict[str, Any] | None = None) -> None:
        self._encoder = encoder
        self._data = data or _data()
        self._background: dict[Language, Vectors] = {}
        self._mean_word: npt.NDArray[np.float32] | None = None

    def points(self, question: str, points: Sequence[str], answer: str) -> list[PointMatch]:
        """A fraction for each point; all zero for an answer that says nothing."""
        cleaned = without_orders(answer)
        if not tokens(cleaned) or squeeze(cleaned) == squeeze(question):
            return [PointMatch(0.0, "", (0.0,) * len(NAMES)) for _ in points]
        found, said = self.features(question, points, cleaned)
        return [
            PointMatch(self.fraction(row), words if self.topical(row) > ON_TOPIC else "", tuple(map(float, row)))
            for row, words in zip(found, said, strict=True)
        ]

    def fraction(self, row: Floats) -> float:
        """Calibrated quality times the gate of the topic; an answer beside the point earns nothing."""
        model = self._data["quality"]
        value = float(np.dot(_terms(_scaled(row, model)), model["weights"]) + model["bias"])
        return min(1.0, max(0.0, value)) * min(1.0, self.topical(row) / ON_TOPIC)

    def topical(self, row: Floats) -> float:
        """0-1, that the answer speaks of this point at all."""
        model = self._data["topic"]
        x = float(np.dot(_terms(_scaled(row, model)), model["weights"]) + model["bias"])
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))

    def features(self, question: str, points: Sequence[str], answer: str) -> tuple[Floats, list[str]]:
        """(points, len(NAMES)) and for each point the student's nearest words."""
        parts = windows(answer)
        flat = normalise(answer)[:1500]
        vectors = self._encoder.queries([*points, question, flat, *parts])
        mine, asked = vectors[: len(points)], vectors[len(points)]
        whole, pieces = vectors[len(points) + 1], vectors[len(points) + 2 :]
        base = self._base(language_of(" ".join(points)), np.vstack([mine, asked[None], whole[None], pieces]))
        base_points, base_asked = base[: len(points)], float(base[len(points)])
        base_whole, base_pieces = float(base[len(points) + 1]), base[len(points) + 2 :]
        rows, said = [], []
        asked_words = set(tokens(question))
        answer_words = set(tokens(answer))
        said_words = self._word_vectors(answer)
        all_words = {word for point in points for word in tokens(point)}
        for place, point in enumerate(points):
            floor = float(base_points[place])
            cosines = pieces @ mine[place]
            lifted = [_lift(float(c), (floor + float(b)) / 2) for c, b in zip(cosines, base_pieces, strict=True)]
            best = int(np.argmax(lifted))
            own = set(tokens(point))
            new = own - asked_words
            row = [
                _lift(float(mine[place] @ whole), (floor + base_whole) / 2),
                max(lifted),
                _lift(float(asked @ whole), (base_asked + base_whole) / 2),
                _lift(float(asked @ mine[place]), (base_asked + floor) / 2),
                self._share(own, answer_words),
                self._share(new, answer_words) if new else self._share(own, answer_words),
                self._share(answer_words - asked_words, all_words),
                math.log1p(len(answer_words)),
                min(0.0, math.log1p(len(answer_words)) - math.log1p(len(own))),
                float(negated(point) != negated(parts[best])),
                _alignment(self._word_vectors(point), said_words),
            ]
            rows.append(row)
            said.append(parts[best])
        return np.array(rows, dtype=np.float64), said

    def _word_vectors(self, text: str) -> Vectors:
        """(words, dim) vectors of the content words of `text`, about their common mean: e5's words are all alike."""
        words = content_words(text)[:MAX_WORDS]
        if not words:
            return np.zeros((0, self._encoder.dim), dtype=np.float32)
        if self._mean_word is None:
            self._mean_word = self._encoder.queries(self._data["words"]).mean(axis=0)
        vectors = self._encoder.queries(words) - self._mean_word
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-6), dtype=np.float32)

    def _share(self, wanted: set[str], have: set[str]) -> float:
        """Share of `wanted` in `have`, rare words counting more."""
        total = sum(map(self._rarity, wanted))
        return sum(self._rarity(word) for word in wanted & have) / total if total else 0.0

    def _rarity(self, word: str) -> float:
        return float(self._data["common"].get(word, self._data["rare"]))

    def _base(self, language: Language, vectors: Vectors) -> Floats:
        """(rows,) mean cosine with sentences on other matters: what a cosine is worth in this language."""
        if language not in self._background:
            self._background[language] = self._encoder.queries(self._data["background"][language])
        return np.asarray((vectors @ self._background[language].T).mean(axis=1), dtype=np.float64)


def content_words(text: str) -> list[str]:
    """Words that carry meaning, as written, in order, without repeats."""
    latin = [word.lower() for word in _LATIN.findall(text)]
    han = [word for word in tokens(text) if not word.isascii()]
    return list(dict.fromkeys(word for word in (*latin, *han) if word not in STOP_EN))


def _alignment(wanted: Vectors, said: Vectors) -> float:
    """Mean, over the words of a point, of the nearest word of the answer: a paraphrase in other words counts."""
    if not len(wanted) or not len(said):
        return 0.0
    return float((wanted @ said.T).max(axis=1).mean())


def _lift(cosine: float, floor: float) -> float:
    """How far a cosine stands above that of unrelated sentences, 1 for the same words."""
    return (cosine - floor) / max(1e-6, 1 - floor)


def _scaled(row: Floats, model: dict[str, Any]) -> Floats:
    """Standardised, and kept within what the fit has seen."""
    z = (np.asarray(row) - np.array(model["mean"])) / np.array(model["std"])
    return np.asarray(np.clip(z, -3.0, 3.0), dtype=np.float64)


def _terms(z: Floats) -> Floats:
    """The features and their products: a word match means more where the meaning matches too."""
    left, right = np.triu_indices(z.shape[-1])
    return np.concatenate([z, (z[..., left] * z[..., right] - (left == right))], axis=-1)


@functools.cache
def _data() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return value


def key_points(reference: str, *, most: int = 5) -> list[str]:
    """The statements of a reference answer, one a point: its list items, else its sentences."""
    lines = [
        re.sub(r"^\s*(?:[-*•·]|\(?\d{1,2}[.)、）:：]|[①-⑳])\s*", "", line).strip() for line in reference.splitlines()
    ]
    pieces = [piece for line in lines for piece in sentences(line)]
    pieces = [piece for piece in pieces if len(set(tokens(piece))) >= 2] or [reference.strip()]
    while len(pieces) > most:  # the shortest neighbours say one thing together
        at = min(range(len(pieces) - 1), key=lambda place: len(pieces[place]) + len(pieces[place + 1]))
        pieces[at : at + 2] = [f"{pieces[at]} {pieces[at + 1]}"]
    return [piece for piece in pieces if piece]
