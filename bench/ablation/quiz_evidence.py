"""What each rule of the evidence for an exercise is worth, without the chat model.

The set: choice questions of other people with the sentence of the book that decides each (covered.jsonl); 60 of them
are taken, for time. Skipped where the questions are not at hand.
"""

import functools
import json
import random
from collections.abc import Mapping, Sequence

from bench.ablation import EVAL, OUTSIDE, Area, Rule, Score
from bench.remembering import Remembering
from osrag.app.parts import Parts
from osrag.models.load import load_encoder
from osrag.quiz.bank import read_file
from osrag.quiz.evidence import ProofFinder
from osrag.quiz.exercise import Exercise
from osrag.quiz.judgement import right_answer
from osrag.settings import load_settings
from osrag.text import folded

COVERED = 60


def score(values: Sequence[float]) -> Score:
    """Their sum, of how many."""
    return round(float(sum(values)), 2), len(values)


@functools.cache
def _asked() -> list[tuple[Exercise, str]]:
    """Choice questions of other people with the stretch of the book that decides each, the key left in."""
    found = []
    for path in sorted((OUTSIDE / "questions").glob("*choice*.jsonl")) + sorted(
        (OUTSIDE / "questions").glob("cs*.jsonl")
    ):
        exercises = read_file(path).exercises
        for row in (json.loads(line) for line in (EVAL / "quiz" / "covered.jsonl").read_text("utf-8").splitlines()):
            name, _, place = row["id"].rpartition(":")
            if name == path.stem and row["label"] == "stated" and int(place) < len(exercises):
                exercise = exercises[int(place)]
                if exercise.is_choice and exercise.answer:
                    found.append((exercise, row["quote"]))
    return random.Random(2).sample(found, min(COVERED, len(found)))


@functools.cache
def _finder() -> ProofFinder:
    parts = Parts(load_settings())
    parts.__dict__["encoder"] = parts.__dict__["checker"] = Remembering(load_encoder(load_settings()))
    return ProofFinder(parts.textbook)


def measure() -> Mapping[str, Score]:
    """Whether the sentence that decides is found: in the passages, among the five shown, first, and as the reason."""
    passages, five, first, reason = list[bool](), list[bool](), list[bool](), list[bool]()
    for exercise, quote in _asked():
        proof = _finder().find(exercise)
        wanted = folded(quote)
        passages.append(any(wanted in folded(passage.chunk.text) for passage in proof.passages))
        shown = [folded(sentence.text) for sentence in proof.deciding(5)]
        five.append(any(_holds(one, wanted) for one in shown))
        first.append(any(_holds(one, wanted) for one in shown[:1]))
        near = proof.best(f"{exercise.question} {right_answer(exercise)}")
        reason.append(near is not None and _holds(folded(near.text), wanted))
    if not passages:
        return {}
    return {
        "deciding: passages": score(passages),
        "deciding: of five": score(five),
        "deciding: first": score(first),
        "reason": score(reason),
    }


def _holds(sentence: str, wanted: str) -> bool:
    return wanted in sentence or (len(sentence) > 8 and sentence in wanted)


def _rule(name: str, **off: object) -> Rule:
    return Rule(name, tuple((f"osrag.quiz.evidence.{key}", value) for key, value in off.items()))


AREA = Area(
    "quiz_evidence",
    (
        _rule("evidence: facts of the book", FACT_WEIGHT=0.0),
        _rule("evidence: passages of near facts", FACTS=1),
        _rule("reason: shared words", WORD_BONUS=0.0),
        _rule("reason: whole statements", STATEMENT_BONUS=0.0),
    ),
    measure,
)
