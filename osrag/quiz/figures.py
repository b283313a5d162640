"""The figures that a point asks for and an answer names, and the words that carry meaning.

What a pair encoder reads of a number is its digits: "8 time units" looks much like "10 time units". So a bare figure is
said or it is not, and of a point with figures the share that is named is a column.
"""

import math
import re

from osrag.numbers import UNITS, numbers_in
from osrag.text import STOP_EN, tokens

_LATIN = re.compile(r"[A-Za-z][A-Za-z_']+|\d+(?:\.\d+)?")
# Not the digit of a name (T1, x86). Groups of three may be one number or several: 1,000 or a list without blanks.
_FIGURE = re.compile(r"(?<![A-Za-z0-9_.])\d+(?:[ ,]\d{3}(?!\d))*(?:\.\d+)?")
_ALTERNATIVES = re.compile(r"(\d+(?:\.\d+)?)\s*[(（]?\s*(?:or|或)\s*(\d+(?:\.\d+)?)\s*[)）]?", re.I)
NEARLY = 0.02  # of a figure: how far a rounded one may be from it
_UNITS = {*UNITS, "time", "unit", "units", "单位", "时间"}


def content_words(text: str) -> list[str]:
    """Words that carry meaning, as written, in order, without repeats."""
    latin = [word.lower() for word in _LATIN.findall(text)]
    han = [word for word in tokens(text) if not word.isascii()]
    return list(dict.fromkeys(word for word in (*latin, *han) if word not in STOP_EN))


def figures_missed(point: str, answer: str, question: str) -> float:
    """Minus the share of the point's figures that the answer does not name; 0 where it has none.

    Those that stand in the question count only where the point has no other: "begins at 8" is not said by "at 11".
    """
    point = _ALTERNATIVES.sub(lambda found: _the_said(found, answer), point)
    wanted = _figures(point) - _figures(question) or _figures(point)
    in_words = {float(number) for number in numbers_in(answer) if number.isdecimal()}
    said = _figures(answer) | _figures(answer.replace(",", " , ")) | in_words
    missed = [one for one in wanted if not any(math.isclose(one, other, rel_tol=NEARLY) for other in said)]
    return -len(missed) / len(wanted) if wanted else 0.0


def _the_said(alternatives: re.Match[str], answer: str) -> str:
    """Of "9 (or 10)" the figure that the answer names; the first where it names neither."""
    first, other = alternatives.groups()
    return other if _figures(other) <= _figures(answer) else first


def has_figure(text: str) -> bool:
    """Whether a text names a figure; the digit of a name (T1, x86) is none."""
    return _FIGURE.search(text) is not None


def is_figure(point: str) -> bool:
    """Whether a point asks for a figure and nothing else, as "9 (or 10)" does."""
    return bool(_figures(point)) and all(word[0].isdigit() or word in _UNITS for word in content_words(point))


def _figures(text: str) -> set[float]:
    return {float(re.sub("[ ,]", "", match)) for match in _FIGURE.findall(text)}
