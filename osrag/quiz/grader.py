"""How much of each point an answer says: by a pair encoder trained on marked answers, by cosines and by words.

The pair encoder reads the answer beside each point, behind the question, and beside the model answer for the mark as a
whole (`data/said_point.safetensors`). Right answers in a student's own words share few words with a rubric, and answers
that turn a thing round share many: there it knows more than the columns of `features.py`, which know more of answers in
the words of the rubric. A logistic model reads both (`data/grader.json`; bench/fit_marks.py trains and fits all of it).
"""

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from osrag.index.confidence import load_confidence
from osrag.models.protocols import Encoder, PairEncoder
from osrag.quiz.exercise import Exercise
from osrag.quiz.features import NAMES, Features, Floats
from osrag.quiz.figures import figures_missed, is_figure
from osrag.quiz.orders import without_orders
from osrag.text import language_of, sentences, tokens
from osrag.types import Language

PATH = Path(__file__).parent.parent / "data" / "grader.json"
READ_CHARS: dict[Language, int] = {"zh": 450, "en": 1400}  # of an answer that is read at once, beside a point
# Chance of a point that is not said, and of one that is: the ends of the scale. An answer about the weather earns
# nothing, and one in a student's own words all (chosen on the questions on which the chances were fitted).
UNSAID, SAID = 0.25, 0.85
READABLE = 0.25  # share of full marks that the model answer must earn by a rubric whose points can be read one by one
KEPT = 256  # exercises of which that is known
CLEAR = 0.6  # below it, 0-1, the points are neither said nor missing
UNTRAINED = 0.5  # confidence in a mark beside an encoder that nothing was trained on


@dataclass(frozen=True, slots=True)
class PointMatch:
    """What one point found in the answer."""

    fraction: float  # 0-1 of its points
    said: str  # the student's words nearest to it, verbatim; "" when none are near
    sure: float = 1.0  # chance that a teacher's mark for the answer is within a fifth of full marks


class Grader:
    """Safe to call from several threads.

    `pairs` is the pair encoder of marks. Beside an encoder that it does not fit there is none, and the cosines of that
    encoder stand in its place, without confidence.
    """

    def __init__(self, encoder: Encoder, pairs: PairEncoder | None) -> None:
        self._encoder, self._pairs = encoder, pairs
        self._features = Features(encoder, _data())
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
        return self._features.on_the_matter(exercise.question, points, without_orders(answer))

    def matches(self, exercise: Exercise, points: Sequence[str], answer: str) -> list[PointMatch]:
        """What each point finds in the answer; nothing where the answer says nothing or only repeats the question."""
        return self.matches_of(exercise, points, self.counted(exercise, points, answer))

    def matches_of(self, exercise: Exercise, points: Sequence[str], counted: str) -> list[PointMatch]:
        """What each point finds in what counts of an answer."""
        if not tokens(counted):
            return [PointMatch(0.0, "") for _ in points]
        columns, said = self.columns(exercise, points, counted)
        fractions = with_figures(fractions_of(columns), exercise.question, points, counted)
        sure = load_confidence("mark")(signals(fractions, columns)) if self._pairs else UNTRAINED
        return [PointMatch(float(one), words, sure) for one, words in zip(fractions, said, strict=True)]

    def columns(self, exercise: Exercise, points: Sequence[str], counted: str) -> tuple[Floats, list[str]]:
        """(points, len(COLUMNS)) what the model of marks reads, and for each point the student's nearest words."""
        rows, said = self._features.rows(exercise.question, points, counted)
        *each, whole = self._odds(exercise.question, [*points, exercise.reference or "\n".join(points)], counted)
        return np.column_stack([each, np.full(len(each), whole), rows]), said

    def _odds(self, question: str, texts: Sequence[str], answer: str) -> list[float]:
        """(texts,) log odds that an answer says each: of that part of it that says most."""
        parts = readable_parts(answer)
        if self._pairs is None:
            odds = 20 * self._encoder.queries(parts) @ self._encoder.queries(texts).T - 18
        else:
            asked = [beside(question, text) for text in texts]
            odds = np.array([self._pairs.scores(part, asked) for part in parts])
        found: list[float] = odds.max(axis=0).tolist()
        return found


COLUMNS = ("said", "said_whole", *NAMES)  # the log odds of the pair encoder, of the point and of the model answer


def fractions_of(columns: Floats, model: dict[str, Any] | None = None) -> Floats:
    """(points,) how much of each is said, 0-1; by the shipped model unless another is given."""
    model = model or _data()["mark"]
    z = np.clip((columns - np.array(model["mean"])) / np.array(model["std"]), -3.0, 3.0)
    chances = logistic(z @ np.array(model["weights"]) + model["bias"])
    return np.asarray(np.clip((chances - UNSAID) / (SAID - UNSAID), 0.0, 1.0), dtype=np.float64)


def with_figures(fractions: Floats, question: str, points: Sequence[str], counted: str) -> Floats:
    """(points,) where a bare figure is said or it is not."""
    told = zip(points, fractions, strict=True)
    return np.array(
        [figures_missed(point, counted, question) == 0 if is_figure(point) else one for point, one in told], np.float64
    )


def logistic(x: Floats) -> Floats:
    """Chances of log odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -30.0, 30.0))), dtype=np.float64)


def beside(question: str, text: str) -> str:
    """What an answer is read beside: a point or a model answer, behind the question that it belongs to."""
    return f"{question}\n{text}"


def readable_parts(answer: str) -> list[str]:
    """An answer in parts that the pair encoder reads whole, cut between sentences; one of most answers."""
    room = READ_CHARS[language_of(answer)]
    if len(answer) <= room:
        return [answer]
    out = [""]
    for sentence in (one for line in answer.splitlines() for one in sentences(line)):
        for start in range(0, len(sentence), room):
            piece = sentence[start : start + room]
            if len(out[-1]) + len(piece) > room:
                out.append("")
            out[-1] += f"{piece}\n"
    return [part for part in out if part.strip()]


def signals(fractions: Floats, columns: Floats) -> dict[str, float]:
    """What tells how far a mark may be trusted: how clear its points are, and how far it is from the pair encoder's."""
    mean = float(fractions.mean())
    return {"clear": clear(fractions), "apart": abs(mean - float(logistic(columns[:, :2]).mean())), "mean": mean}


def clear(fractions: Floats) -> float:
    """0-1, from half said to said or missing."""
    return float(np.abs(2 * np.asarray(fractions) - 1).mean())


@functools.cache
def _data() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    assert value["features"] == list(NAMES), "grader.json was fitted on other columns; run bench/fit_marks.py"
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


def text_confidence(matches: Sequence[PointMatch], *, grounded: bool) -> tuple[float, str]:
    """0-1, that the score is within a fifth of full marks of a teacher's, and what speaks most against it.

    The latter is part of a key of the wording table (`unsure_…`). Points that were taken from the book rather than
    given by the teacher are less sure.
    """
    if not matches:
        return 0.0, "book"
    value = max(0.05, min(0.95, matches[0].sure - (0.0 if grounded else 0.2)))
    unclear = clear(np.array([match.fraction for match in matches])) < CLEAR
    return value, "book" if not grounded else "half" if unclear else "words"
