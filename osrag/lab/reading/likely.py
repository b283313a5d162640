"""What a text is likely to be by how it is worded: its kind, the figure that it asks for, and what its numbers mean.

Three logistic models on what the encoder makes of the tokens of a text: on the mean of all, on that of the sentences
that ask, and on a number and the tokens beside it. They are fitted by `bench/fit_lab_reading.py` and stand in
`osrag/data/lab_reading.npz`. They know wordings in which the words of `data/lab_reading.toml` do not stand; which
algorithm a text names, those words know better.
"""

import functools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from osrag.lab.reading import ascii as re
from osrag.lab.reading.asks import asking_sentences
from osrag.lab.reading.cues import Claim, entries_of, value_at
from osrag.lab.words import FOLDER
from osrag.models.protocols import Encoder, TokenEncoder

PATH = FOLDER.parent / "lab_reading.npz"
NONE = "none"  # the kind of a text that is no exercise of the lab
NOTHING = ""  # the meaning of a number that fills no field by itself, such as one of a table
CERTAIN = 0.5  # chance of a meaning that is taken where no name stands beside a number
ELSE, IMPOSSIBLE = 0.8, 0.03  # a name does not count where the number surely means something else
UNMET = -100.0  # log odds of a name that the fit never met
UNNAMED = -1_000.0  # weight of a claim by wording alone, below that of any name
DOUBTED = -2_000.0  # weight of a name that the wording contradicts, below that
Floats = npt.NDArray[np.float32]
Place = tuple[int, int]  # start and end in the plain text
_NUMBER = re.compile(r"(?<![\w.])(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Likely:
    """The chance of each kind, and how much speaks for each figure and each meaning of a number (log odds)."""

    kinds: Mapping[str, float]
    asks: Mapping[str, float]
    numbers: Mapping[Place, Mapping[str, float]]  # the meanings are names of `fields` in data/lab_reading.toml

    def ranked(self, known: Iterable[str]) -> list[tuple[str, float]]:
        """The figures of a kind with their chances among them, the likeliest first."""
        return sorted(_among(self.asks, known).items(), key=lambda each: -each[1])

    def claims(
        self, kind: str, fields: Iterable[str], text: str, named: Sequence[Claim], needed: Container[str] = ()
    ) -> Iterator[Claim]:
        """What is `named`, below it what the wording alone tells, and last what is named against the wording.

        The last are fields without which there is nothing to compute, and numbers that cannot be what they seem to be
        because another number is named so.
        """
        entries = {name: (field, entry) for field in fields for name, entry in entries_of(field, kind).items()}
        chances = {place: _among(found, (NOTHING, *entries)) for place, found in self.numbers.items()}
        for claim in named:
            names = entries_of(claim.field, kind)
            others = {
                max(chances[place], key=chances[place].__getitem__)
                for place in _within(chances, claim)
                if names.keys() <= self.numbers[place].keys() and _contradicts(names, chances[place])
            }  # the chance of a field one of whose names the fit never met is not known
            if not others:
                yield claim
            elif claim.field in needed or all(
                other and any(one.field == entries[other][0] and one.start != claim.start for one in named)
                for other in others
            ):
                yield replace(claim, weight=DOUBTED + claim.weight)
        several: dict[str, list[Place]] = {}
        for place, found in chances.items():
            name = max(found, key=found.__getitem__)
            if name == NOTHING or found[name] < CERTAIN:
                continue
            field, entry = entries[name]
            if entry["measure"] in ("list", "vector"):
                several.setdefault(field, []).append(place)
            elif value := value_at(text, place[0], entry):
                yield Claim(field, value, *place, UNNAMED + found[name])
        for field, places in several.items():
            yield Claim(field, ",".join(text[start:end] for start, end in places), places[0][0], places[-1][1], UNNAMED)


def _within(places: Iterable[Place], claim: Claim) -> Iterator[Place]:
    return (place for place in places if place[0] < claim.end and claim.start < place[1])


def _contradicts(names: Iterable[str], chances: Mapping[str, float]) -> bool:
    return max(chances.values()) > ELSE and sum(chances.get(name, 0.0) for name in names) < IMPOSSIBLE


def likely(text: str, encoder: Encoder) -> Likely | None:
    """What a plain text may be; None with another encoder than that of the fit."""
    fitted = _fitted()
    if encoder.name != str(fitted["encoder"]) or not isinstance(encoder, TokenEncoder):
        return None
    found = wording(text, encoder)
    kinds, asks, *numbers = (
        dict(zip(map(str, fitted[f"{part}_names"]), map(float, scores), strict=True))
        for part, rows in (("kinds", [found.whole]), ("asks", [found.asking]), ("numbers", [*found.numbers.values()]))
        for scores in _scores(rows, part, fitted)
    )
    return Likely(_among(kinds, kinds), asks, dict(zip(found.numbers, numbers, strict=True)))


@dataclass(frozen=True, slots=True)
class Wording:
    """What the models look at."""

    whole: Floats  # (dim,) the mean of all tokens
    asking: Floats  # (2 dim,) the mean of the sentences that ask, and that of all
    numbers: Mapping[Place, Floats]  # (3 dim,) of each number: its own mean, the token before and the one behind


def wording(text: str, encoder: TokenEncoder) -> Wording:
    """Of a plain text; what is beyond the tokens that the encoder reads is not there."""
    states, places = encoder.tokens(text)
    whole, at, asks = states.mean(axis=0), 0, set[int]()
    for sentence in asking_sentences(text):
        at = text.find(sentence, at)
        asks |= _tokens(places, at, at + len(sentence))
    numbers = {}
    for match in _NUMBER.finditer(text):
        if own := sorted(_tokens(places, match.start(), match.end())):
            beside = states[own[0] - 1], states[min(own[-1] + 1, len(states) - 1)]
            numbers[match.span()] = np.concatenate([states[own].mean(axis=0), *beside])
    asking = states[sorted(asks)].mean(axis=0) if asks else whole
    return Wording(whole, np.concatenate([asking, whole]), numbers)


def _tokens(places: list[Place], start: int, end: int) -> set[int]:
    """The tokens that stand in part of a text; none of the signs and the prefix, which come first and have no place."""
    return {token for token, place in enumerate(places) if max(place[0], start) < min(place[1], end)}


def _among(scores: Mapping[str, float], known: Iterable[str]) -> dict[str, float]:
    """The chances of some names by their log odds; they sum to 1."""
    odds = {name: scores.get(name, UNMET) for name in known}
    most = max(odds.values(), default=0.0)
    powers = {name: float(np.exp(odd - most)) for name, odd in odds.items()}
    total = sum(powers.values())
    return {name: power / total for name, power in powers.items()}


def _scores(rows: list[Floats], part: str, fitted: Mapping[str, npt.NDArray[np.float32]]) -> Floats:
    """(rows, names) log odds; the weights are (dim + 1, names), the last row the bias."""
    centre, weights = fitted[f"{part}_centre"], fitted[part]
    x = (np.array(rows, np.float32).reshape(-1, len(centre)) - centre) / fitted[f"{part}_spread"]
    scores: Floats = x @ weights[:-1] + weights[-1]
    return scores


@functools.cache
def _fitted() -> dict[str, npt.NDArray[np.float32]]:
    with np.load(PATH) as file:
        return {name: file[name].astype(np.float32) if file[name].dtype == np.float16 else file[name] for name in file}
