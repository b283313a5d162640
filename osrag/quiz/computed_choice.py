"""The option of a choice that equals what the lab computes: an exercise with figures needs no model.

Only the figures and words of a result are compared, in their order: "FIFO 7 faults, LRU 5" says (7, 5), and "a trap and
0x23000" says what two addresses give. An option is taken only where it alone fits.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from osrag.lab.kind import Result, Value
from osrag.lab.reading import read
from osrag.lab.reading.plain import plain
from osrag.lab.solve import Solved, shown
from osrag.numbers import UNITS, Quantity, quantity, unit_ahead
from osrag.quiz.computed import readings
from osrag.quiz.exercise import Exercise
from osrag.text import squeeze

NEAR = Fraction(1, 100)  # "about 300 ns" is 299.995 ns
SCALES = (1, 2**10, 2**20, 2**30)  # a question in KB may have results in bytes and options without a unit
_NUMBER = re.compile(r"(?<![\w.])-?(?:0x[0-9A-F]+|\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:\.\d+)?)", re.I)
# Where the option belongs, which asks as a word does; `wait()` is a name.
_BLANK = re.compile(r"(?<![A-Za-z0-9_])[(（]\s*[)）]|(?:\\?_){2,}")
_ASKED = {"zh": "多少", "en": " how many "}
_NAME = re.compile(r"\b[A-Za-z]{1,2}(?=\d+\b)")  # of P1, J2, W3: the number tells them apart


@dataclass(frozen=True, slots=True)
class _Figure:
    number: Fraction  # as it stands
    quantity: Quantity | None = None  # with its unit, where it has one


def computed_choice(exercise: Exercise) -> tuple[str, tuple[Solved, ...]] | None:
    """The key of the option that equals what is computed, and the computed exercises; None unless exactly one does.

    The question is read by its words alone, as `exercises_of` does: what an encoder takes it for is less sure.
    """
    if exercise.type != "single_choice":
        return None
    if (reading := read(_BLANK.sub(_ASKED[exercise.language], exercise.question))) is None:
        return None
    solved = readings(reading)
    for asked in (solved, solved[:1]):  # the lab may have heard more in a question than it asks
        fits = _fitting(exercise, [one.answer for one in asked if one.answer is not None])
        if len(fits) == 1:
            return fits.pop(), asked
    return None


def _fitting(exercise: Exercise, results: Sequence[Result]) -> set[str]:
    """The keys of the options that say these results, the nearest ones where figures are rounded."""
    figures = [figure for one in results for figure in _figures_of(one)]
    words = [squeeze(word) for one in results for word in _words_of(one, exercise)]
    said = {option.key: _figures(option.text) for option in exercise.options}
    if not figures or max(map(len, said.values())) > len(figures) + len(words):
        return set()  # more is asked than was computed
    gaps = {option.key: _gap(said[option.key], figures) for option in exercise.options
            if all(word in squeeze(option.text) for word in words)}  # fmt: skip
    least = min((gap for gap in gaps.values() if gap is not None), default=None)
    return {key for key, gap in gaps.items() if gap is not None and gap == least}


def _gap(said: Sequence[_Figure], wanted: Sequence[_Figure]) -> Fraction | None:
    """How far the figures are from those wanted, as a share, the farthest counting; None where they are others."""
    if len(said) != len(wanted):
        return None
    pairs = list(zip(said, wanted, strict=True))
    if all(one.quantity and other.quantity for one, other in pairs):
        gaps = [max(_apart(one, other) for one, other in pairs)]
    else:
        gaps = [max(_share(one.number * scale, other.number) for one, other in pairs) for scale in SCALES]
    return min(gaps) if min(gaps) <= NEAR else None


def _apart(one: _Figure, other: _Figure) -> Fraction:
    assert one.quantity and other.quantity
    same = one.quantity.kind == other.quantity.kind
    return _share(one.quantity.value, other.quantity.value) if same else Fraction(1)


def _share(one: Fraction, other: Fraction) -> Fraction:
    return abs(one - other) / (abs(other) or 1)


def _figures_of(result: Result) -> Iterator[_Figure]:
    unit = shown("", result.unit).strip()
    for value in _flat(result.value):
        if isinstance(value, str):
            yield from _figures(value)
        elif not isinstance(value, bool):
            known = quantity(f"{value} {unit}") if unit in UNITS else None
            yield _Figure(Fraction(str(value)), known)


def _words_of(result: Result, exercise: Exercise) -> Iterator[str]:
    for value in _flat(result.value):
        if isinstance(value, str) and not _figures(value):
            yield shown(value, "", exercise.language)


def _flat(value: Value) -> Iterator[int | float | str | bool]:
    if isinstance(value, tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _figures(text: str) -> list[_Figure]:
    """The figures of a text in order."""
    text, found = _NAME.sub("", plain(text)), []
    for match in _NUMBER.finditer(text):
        digits = match[0].replace(",", "")
        hexadecimal = "0x" in digits.lower()
        unit = "" if hexadecimal else unit_ahead(text[match.end() : match.end() + 14])
        number = Fraction(int(digits, 16)) if hexadecimal else Fraction(digits)
        found.append(_Figure(number, quantity(f"{digits} {unit}") if unit else None))
    return found
