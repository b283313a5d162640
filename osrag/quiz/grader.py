"""How much of each point an answer says, judged by encoder and words and calibrated on human marks.

Two linear models read the same columns (`features.py`). One was fitted on marks of whole answers and tells how good
an answer is beside the model answer. The other was also fitted on answers that say some points of a rubric and not
the others, and tells whether a point is said. A gate before both holds back answers to another question. The
coefficients are data (`data/grader.json`), fitted by `bench/fit_grader.py`; `bench/ablation/quiz.py` measures the
constants below. Two small models look at an answer as a whole, after its points: whether it is made of sentences, and
whether a teacher would give nearly the same mark.
"""

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from osrag.models.protocols import Encoder
from osrag.quiz.exercise import Exercise
from osrag.quiz.features import NAMES, OWN, Features, Floats, figures_missed, has_figure, is_figure, other_figures
from osrag.quiz.orders import without_orders
from osrag.text import sentences, share_of, tokens

PATH = Path(__file__).parent.parent / "data" / "grader.json"
# Chance of being about the exercise below which an answer speaks of something else and its mark falls to nothing. Any
# related answer resembles the sentences of a model answer; the points of a rubric are told apart one by one and need
# less of a gate. Too high, and right answers in unusual words earn nothing.
ON_TOPIC, ON_RUBRIC = 0.08, 0.05
# Chance of being sentences below which an answer is a bare list of the rubric's words and its mark falls to nothing
# (1 in 100 labelled answers lies below it, all of them figures; 208 in 208 lists do).
IN_SENTENCES = 0.35
# Confidence in the mark of an answer beside the question, or to a question without a rubric, for which no model is
# fitted: more where points are clearly met or missing. A quarter of 40 marked answers (Mohler) lies below 0.6.
SURE_AT_LEAST, SURE_OF_CLEAR = 0.47, 0.3
# What the two models of a whole answer read: how clear the points are and their mean, then columns of the points, those
# that are said counting more.
IN_SENTENCES_BY = ("window", "recall", "precision", "back_aligned")
SURE_BY = (
    "clear", "mean", "window", "recall", "new_recall", "precision", "back_aligned", "chars", "aligned", "in_context",
)  # fmt: skip
# What the model of points gives to a point that is not said, and to one that is: the ends of the scale. In a student's
# own words the two lie nearer together than in the words of the rubric (chosen with bench/quiz_points.py).
UNSAID, SAID = 0.5, 0.7
APART = ("ahead", "figures")  # columns that tell the points of one exercise apart
# How far the chat model's chance moves a point, and the fraction from which on it may lift one at all: a model that was
# talked round by the student must not make points out of nothing.
MODEL_WEIGHT, MAY_LIFT = 0.15, 0.2
WHOLE_LIFT = 0.4  # the most that the chat model lifts the mark of a whole answer
# An answer that earns less while the model hears its points may say them in words that encoder and words do not know:
# it was seen with right answers of one line. A teacher should look, whatever else is clear.
NEXT_TO_NOTHING, HEARD, DOUBT = 0.15, 0.5, 0.5
# Which reason a student is told of a mark that is not sure: the model differs by more, points are less clear (0-1).
APART_FROM_MODEL, CLEAR = 0.3, 0.6
READABLE = 0.25  # share of full marks that the model answer must earn by a rubric whose points can be read one by one
KEPT = 256  # exercises of which that is known


@dataclass(frozen=True, slots=True)
class PointMatch:
    """What one point found in the answer."""

    fraction: float  # 0-1 of its points, by encoder and words
    said: str  # the student's words nearest to it, verbatim; "" when none are near
    near: bool = True  # does the answer speak of the matter at all?
    sure: float = 1.0  # chance that a teacher's mark for the answer is within a fifth of full marks


@dataclass(frozen=True, slots=True)
class Read:
    """An answer as its points read it."""

    fractions: Floats  # (points,)
    said: list[str]  # the nearest words for each point
    near: bool  # does the answer speak of the matter at all?
    columns: dict[str, float]  # of the answer as a whole


class Grader:
    """Safe to call from several threads."""

    def __init__(self, encoder: Encoder, data: dict[str, Any] | None = None) -> None:
        self._data = data or _data()
        self.features = Features(encoder, self._data)
        self.readable = functools.lru_cache(KEPT)(self._readable)

    def _readable(self, exercise: Exercise) -> bool:
        """Whether the points of a rubric can be compared with an answer: the model answer, if any, says some of them.

        The same for every answer to an exercise, so it is kept as `readable`.
        """
        if not key_points(exercise.reference):
            return True
        alone = replace(exercise, reference="")
        found = self.matches(alone, [point.point for point in exercise.rubric], exercise.reference)
        told = sum(match.fraction * point.points for match, point in zip(found, exercise.rubric, strict=True))
        return told >= READABLE * sum(point.points for point in exercise.rubric)

    def counted(self, exercise: Exercise, points: Sequence[str], answer: str) -> str:
        """What of the answer counts: no orders to the marker, nothing in a code and nothing that is near no point."""
        return self.features.on_the_matter(exercise.question, points, without_orders(answer))

    def matches(self, exercise: Exercise, points: Sequence[str], answer: str) -> list[PointMatch]:
        """What each point finds in the answer; nothing where the answer says nothing or only repeats the question."""
        return self.matches_of(exercise, points, self.counted(exercise, points, answer))

    def matches_of(self, exercise: Exercise, points: Sequence[str], counted: str) -> list[PointMatch]:
        """What each point finds in what counts of an answer.

        The points of a rubric are told apart one by one. Such a point also counts as said where the answer says the
        sentence of the reference that goes with it. Nobody weighed the sentences of a model answer, so their mean is a
        mark for the whole.
        """
        read = self._read(exercise, points, counted)
        if read is None:
            return [PointMatch(0.0, "") for _ in points]
        fractions, sure = read.fractions, SURE_AT_LEAST + SURE_OF_CLEAR * read.columns["clear"]
        if exercise.rubric and read.near:
            sure = self.sure(read.columns)
            if not any(map(has_figure, points)):  # an answer in figures is a list by right
                fractions = fractions * self.in_sentences(read.columns)
        return [
            PointMatch(float(fraction), words if fraction > 0 else "", near=read.near, sure=sure)
            for fraction, words in zip(fractions, read.said, strict=True)
        ]

    def read(self, exercise: Exercise, points: Sequence[str], answer: str) -> Read | None:
        """The points one by one, before the answer is looked at as a whole; None where it says nothing."""
        return self._read(exercise, points, self.counted(exercise, points, answer))

    def _read(self, exercise: Exercise, points: Sequence[str], cleaned: str) -> Read | None:
        question, rubric = exercise.question, bool(exercise.rubric)
        if not tokens(cleaned):
            return None
        rows, said = self.features.rows(question, points, cleaned)
        single = self._linear(rows, "points")
        if rubric and exercise.reference:
            sentence_of = [_nearest_sentence(point, exercise.reference) or point for point in points]
            rows_of, words = self.features.rows(question, sentence_of, cleaned)
            other = self._linear(rows_of, "points")
            said = [w if o > s else own for own, w, s, o in zip(said, words, single, other, strict=True)]
            single = np.maximum(single, other)
        if rubric:
            fractions = np.clip((single - UNSAID) / (SAID - UNSAID), 0.0, 1.0)
        else:
            whole = np.clip(self._linear(rows, "whole"), 0.0, 1.0)
            fractions = with_mean(np.clip(single, 0.0, 1.0), float(whole.mean()))
        gate = self._gate(rows, ON_RUBRIC if rubric else ON_TOPIC)
        gated = zip(points, fractions * gate, strict=True)
        left = np.array([_by_figures(point, cleaned, question, one) for point, one in gated])
        return Read(left, said, gate == 1, columns_of_answer(left, rows))

    def in_sentences(self, columns: Mapping[str, float]) -> float:
        """0-1 for the whole answer: 1 unless it is a bare list of the words of its points."""
        return min(1.0, self._chance("sentences", columns, IN_SENTENCES_BY) / IN_SENTENCES)

    def sure(self, columns: Mapping[str, float]) -> float:
        """Chance that the mark is within a fifth of full marks of a teacher's."""
        return self._chance("sure", columns, SURE_BY)

    def with_model(self, matches: Sequence[PointMatch], chances: Mapping[int, float], *, rubric: bool) -> list[float]:
        """(points,) fractions after the chat model gave a chance to some points, by their place.

        The points of a rubric move one by one. The sentences of a model answer share a mark for the whole, as fitted
        on human marks. The chat model alone cannot make points where encoder and words see none.
        """
        one_by_one = [moved(match.fraction, chances.get(place)) for place, match in enumerate(matches)]
        if rubric or not chances:
            return one_by_one
        before = float(np.mean([match.fraction for match in matches]))
        if not before:
            return one_by_one  # nothing was said that could be judged
        columns = blended(before, float(np.mean(list(chances.values()))))
        mark = float(np.dot(self._data["model"]["weights"], columns))
        wanted = min(1.0, max(0.0, mark), before + WHOLE_LIFT)
        return [float(value) for value in with_mean(np.array(one_by_one), wanted)]

    def _gate(self, rows: Floats, least: float) -> float:
        """0-1 for the whole answer: 1 unless it surely speaks of something else."""
        model = self._data["topic"]
        x = float(terms(scaled(any_point(rows), model)) @ np.array(model["weights"]) + model["bias"])
        return min(1.0, _logistic(x) / least)

    def _chance(self, name: str, columns: Mapping[str, float], by: Sequence[str]) -> float:
        model = self._data[name]
        z = scaled(np.array([columns[column] for column in by]), model)
        return _logistic(float(z @ np.array(model["weights"])) + model["bias"])

    def _linear(self, rows: Floats, name: str) -> Floats:
        model = self._data[name]
        x = terms(columns_for(name, scaled(rows, self._data["scale"])))
        return np.asarray(x @ np.array(model["weights"]) + model["bias"], dtype=np.float64)


def _by_figures(point: str, answer: str, question: str, fraction: float) -> float:
    """A bare figure is said or it is not; a point whose figures the answer replaces by others is not said."""
    if is_figure(point):
        return float(figures_missed(point, answer, question) == 0)
    return 0.0 if other_figures(point, answer, question) else fraction


def blended(before: float, chance: float) -> tuple[float, ...]:
    """The columns of the blend: each of the two by itself, and their product."""
    return 1.0, before, chance, before * chance


def moved(fraction: float, chance: float | None) -> float:
    """A point's fraction after the chat model gave it a chance."""
    if chance is None:
        return fraction
    after = fraction + MODEL_WEIGHT * (chance - fraction)
    return fraction if after > fraction and fraction < MAY_LIFT else after


def columns_of_answer(fractions: Floats, rows: Floats) -> dict[str, float]:
    """What the models of a whole answer may read, by name."""
    weights = fractions / fractions.sum() if fractions.sum() > 0 else np.full(len(fractions), 1 / len(fractions))
    means = dict(zip(NAMES, map(float, weights @ rows), strict=True))
    return {"clear": float(np.abs(2 * fractions - 1).mean()), "mean": float(fractions.mean()), **means}


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))


def _nearest_sentence(point: str, reference: str) -> str:
    """The sentence of the model answer that holds most of the point's words; "" when none holds half of them."""
    words = tuple(dict.fromkeys(tokens(point)))
    pieces = [piece for line in re.split(r"[\n;；]", reference) for piece in sentences(line)]
    best = max(pieces, key=lambda piece: share_of(words, tokens(piece)), default="")
    return best if share_of(words, tokens(best)) >= 0.5 else ""


def with_mean(values: Floats, mean: float) -> Floats:
    """`values` between 0 and 1 moved to `mean`, each in proportion to its room; their order stays."""
    now = float(values.mean())
    if mean > now:
        return values + (mean - now) / max(1e-9, 1 - now) * (1 - values)
    return values * (mean / max(1e-9, now))


def any_point(rows: Floats) -> Floats:
    """(len(NAMES),) for the whole answer: the best of what it has in common with any point, the shared columns once."""
    return np.concatenate([rows[:, :OWN].max(axis=0), rows[0, OWN:]])


def scaled(rows: Floats, model: dict[str, Any]) -> Floats:
    """Standardised, and kept within what the fit has seen."""
    z = (np.asarray(rows) - np.array(model["mean"])) / np.array(model["std"])
    return np.asarray(np.clip(z, -3.0, 3.0), dtype=np.float64)


def columns_for(name: str, z: Floats) -> Floats:
    """The columns that the model called `name` reads.

    What tells points apart is left out of the mark for the whole: there it only helped with exercises seen in the fit.
    """
    return z if name == "points" else np.delete(z, [NAMES.index(one) for one in APART], axis=-1)


def terms(z: Floats) -> Floats:
    """The columns and their products: a word match means more where the meaning matches too."""
    left, right = np.triu_indices(z.shape[-1])
    return np.concatenate([z, z[..., left] * z[..., right] - (left == right)], axis=-1)


@functools.cache
def _data() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    assert value["features"] == list(NAMES), "grader.json was fitted on other columns; run bench/fit_grader.py"
    return value


# A dash is a bullet before a blank only: "-1 is returned" begins with a number. "4: P2" may be a line of a trace.
_BULLET = re.compile(r"^\s*(?:[-*•·]\s+|\(?\d{1,2}[.)、）](?!\d)\s*|[①-⑳]\s*)")


def key_points(reference: str, *, most: int = 5) -> list[str]:
    """The statements of a reference answer, one a point: its list items, else its sentences.

    What makes no point alone goes with what it is said of: the verdict before its reason ("False. …"), the
    heading before its list.
    """
    lines = [line for line in reference.splitlines() if line.strip()]
    depths = [len(line) - len(line.lstrip()) for line in lines] + [0]
    pieces: list[str] = []
    lead = ""
    for place, line in enumerate(lines):
        item = _BULLET.match(line) is not None
        for piece in sentences(_BULLET.sub("", line).strip()):
            lead = f"{lead} {piece}".strip()
            heading = depths[place + 1] > depths[place] and piece[-1] not in ".。!！?？"
            if len(set(tokens(piece))) >= (1 if item else 2) and not heading:
                pieces.append(lead)
                lead = ""
    if lead:
        pieces[-1:] = [f"{pieces[-1]} {lead}"] if pieces else [lead]
    while len(pieces) > most:  # the shortest neighbours say one thing together
        at = min(range(len(pieces) - 1), key=lambda place: len(pieces[place]) + len(pieces[place + 1]))
        pieces[at : at + 2] = [f"{pieces[at]} {pieces[at + 1]}"]
    return pieces


def text_confidence(matches: Sequence[PointMatch], votes: Sequence[float], *, grounded: bool) -> tuple[float, str]:
    """0-1, that the score is within a fifth of full marks of a teacher's, and what speaks most against it.

    The latter is part of a key of the wording table (`unsure_…`). A point on which the model differs is less sure, and
    so are points that were taken from the book rather than given by the teacher.
    """
    if not matches:
        return 0.0, "book"
    fractions = [match.fraction for match in matches]
    apart = sum(abs(fraction - vote) for fraction, vote in zip(fractions, votes, strict=True)) / len(matches)
    clear = sum(abs(2 * fraction - 1) for fraction in fractions) / len(matches)
    value = max(0.05, min(0.95, matches[0].sure - 0.15 * apart - (0.0 if grounded else 0.2)))
    if sum(fractions) / len(fractions) < NEXT_TO_NOTHING and sum(votes) / len(votes) >= HEARD:
        return min(value, DOUBT), "heard"
    return (
        value,
        "book" if not grounded else "model" if apart > APART_FROM_MODEL else "half" if clear < CLEAR else "words",
    )
