"""The rubric of a question as people write it down, to points with their worth."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from osrag.errors import BadInput
from osrag.quiz.features import content_words
from osrag.quiz.types import RubricPoint
from osrag.text import sentences

# "Award full points for a correct explanation": says how to mark, not what to look for.
_HOW_TO_MARK = re.compile(
    r"\b(award|assign|deduct|evaluate)\b.{0,60}\b(points?|credit|marks?|correctness)\b"
    r"|\bany (reasonable|realistic|sensible|plausible|correct|valid)\b.{0,120}\b(acceptable|accepted|fine|ok|counts)\b"
    r"|\bis worth \d+ (points?|marks?)\b|\bgrade (by|each|every)\b"
    r"|\b(no|partial|full) (credit|points|marks)\b|\bother answers\b|\banswer must match\b"
    r"|酌情给分|酌情扣分|视情况给分|言之有理即可|合理即可",
    re.I | re.S,
)
_MUST = re.compile(
    r"^(must|should|needs? to|has to) (also )?(mention|include|name|explain|say|state|point out)\s+", re.I
)

# "switching: user level is fast, kernel level is slow" compares two things; a name before the colon is said of both.
_OF_BOTH = re.compile(r"^([^:：;；,，]{1,40}[:：])\s*(?=\S)")
_SIDES = re.compile(r"\s*[;；]\s*|，\s*|,\s+|\b(?:while|whereas|but)\b|而(?!且|言)|但是?(?!凡)")
_COMMA = "，,"
_ALTERNATIVE = re.compile(r"\s*(?:or\b|或)", re.I)
ALONE = 3  # words from which on a side says something by itself


def read_rubric(value: Any) -> tuple[RubricPoint, ...]:
    """Points from objects, from strings ("names all four (2)"), or from one text with a point a line.

    Lines that tell the marker how to mark name nothing that an answer could say, and are left out.
    """
    if not value:
        return ()
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                return read_rubric(json.loads(text))
            except json.JSONDecodeError:
                pass  # a text that begins with a bracket: "[2 points] names all four"
        value = [line for line in re.split(r"[\n|]+|(?<=[;；])", text) if line.strip(" ;；-*•")]
    if isinstance(value, Mapping):
        value = [{"point": point, "points": points} for point, points in value.items()]
    if not isinstance(value, Sequence):
        raise BadInput(f"rubric: a list of points, got {type(value).__name__}")
    points = (_point(place, one) for place, one in enumerate(value, start=1))
    named = ((what_to_say(point.point), point.points) for point in points)
    return tuple(RubricPoint(text, worth) for text, worth in named if text)


def what_to_say(point: str) -> str:
    """A point without what it tells the marker: "Must mention fsync. Grade by understanding." is "fsync."."""
    if not _HOW_TO_MARK.search(point) and not _MUST.match(point):
        return point
    kept = " ".join(sentence for sentence in sentences(point) if not _HOW_TO_MARK.search(sentence))
    return _MUST.sub("", kept)


def sides(point: str) -> list[str]:
    """What a point says, side by side, where each side stands alone; else the point itself.

    A point that compares two things is half said by an answer about one of them.
    """
    named = _OF_BOTH.match(point)
    first = named.end() if named else 0
    cuts = [cut for cut in _SIDES.finditer(point, first) if not _ALTERNATIVE.match(point, cut.end())]
    starts, ends = [first, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), len(point)]
    out: list[tuple[int, int]] = []
    for start, end in zip(starts, ends, strict=True):
        one, other = (_words(point[slice(*out[-1])]) if out else set()), _words(point[start:end])
        listed = point[:start].rstrip()[-1:] in _COMMA and not one & other  # a comma alone compares nothing
        if out and (listed or min(len(one), len(other)) < ALONE):
            out[-1] = (out[-1][0], end)  # no side of its own: it stays with its neighbour
        else:
            out.append((start, end))
    name = f"{named[1]} " if named else ""
    return [name + point[start:end].strip() for start, end in out] if len(out) > 1 else [point]


def _words(text: str) -> set[str]:
    return {word for word in content_words(text) if not word[0].isdigit()}


def _point(place: int, value: Any) -> RubricPoint:
    if isinstance(value, Mapping):
        text = plain_text(value.get("point") or value.get("text") or value.get("criterion") or value.get("description"))
        worth = next((value[name] for name in ("points", "score", "weight", "max") if value.get(name) is not None), 1)
    else:
        text, worth = _worth_inside(plain_text(value))
    try:
        points = float(worth)
    except (TypeError, ValueError) as error:
        raise BadInput(f"rubric.{place}.points: {worth!r} is no number") from error
    if not text:
        raise BadInput(f"rubric.{place}.point: is empty")
    if not 0 < points <= 1000:
        raise BadInput(f"rubric.{place}.points: {points:g} does not lie between 0 and 1000")
    return RubricPoint(text, points)


def _worth_inside(text: str) -> tuple[str, float]:
    """`names all four (2 points)`, `说出四个条件（2分）`, `2: names all four`."""
    text = text.strip(" ;；-*•\t")
    tail = re.search(r"[(（\[]?\s*(\d+(?:\.\d+)?)\s*(?:points?|pts?|marks?|分)\s*[)）\]]?\s*[.。]?$", text, re.I)
    tail = tail or re.search(r"[(（\[]\s*(\d+(?:\.\d+)?)\s*[)）\]]$", text)
    if tail and text[: tail.start()].strip():
        return text[: tail.start()].strip(" :：,，"), float(tail[1])
    return text, 1.0


def plain_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, list | tuple):
        return " ".join(plain_text(part) for part in value)
    return str(value).replace("\r\n", "\n").strip()
