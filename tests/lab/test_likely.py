"""What a wording makes likely, beside the words of the grammar."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from osrag.lab.catalog import KINDS
from osrag.lab.reading import likely as module
from osrag.lab.reading import read
from osrag.lab.reading.cues import words
from osrag.lab.reading.likely import NONE, NOTHING, likely
from osrag.models.protocols import Vectors


class Tells:
    """An encoder of words with the states (1, 0), and (1, 1) for one number."""

    name, revision = "multilingual-e5-small", "1"

    def __init__(self, number: str = "", dim: int = 2) -> None:
        self.number, self.dim = number, dim

    def tokens(self, text: str) -> tuple[Vectors, list[tuple[int, int]]]:
        words = [(found[0], found.span()) for found in re.finditer(r"\w+|[^\w\s]", text)]
        states = np.zeros((len(words), self.dim), np.float32)
        states[:, 0] = 1
        states[[word == self.number for word, _ in words], 1] = 1
        return states, [place for _, place in words]

    def queries(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("tokens are asked for")

    passages = queries


@pytest.fixture
def hears(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Tells]:
    """An encoder to which a text sounds like a kind and a figure, and one number like a meaning."""

    def make(kind: str, ask: str, number: str = "", meaning: str = "frames", unmet: str = "") -> Tells:
        fitted = {"encoder": np.array(Tells.name)}
        names_of = {
            "kinds": [kind, *(KINDS.keys() - {kind}), NONE],
            "asks": [ask],
            "numbers": [meaning, NOTHING, *(words()["fields"].keys() - {meaning, unmet})],
        }
        for parts, (part, names) in enumerate(names_of.items(), start=1):
            weights = np.zeros((2 * parts + 1, len(names)), np.float32)
            weights[int(part == "numbers"), 0] = 20
            fitted |= {part: weights, f"{part}_names": np.array(names)}
            fitted |= {f"{part}_centre": np.zeros(2 * parts), f"{part}_spread": np.ones(2 * parts)}
        monkeypatch.setattr(module, "_fitted", lambda: fitted)
        return Tells(number)

    return make


def test_every_kind_has_a_chance_and_they_sum_to_one() -> None:
    found = likely("any text", Tells(dim=384))
    assert found is not None
    assert set(found.kinds) == {*KINDS, NONE}
    assert sum(found.kinds.values()) == pytest.approx(1, abs=1e-3)
    assert sum(chance for _, chance in found.ranked(("hits", "faults"))) == pytest.approx(1)


def test_another_encoder_tells_nothing() -> None:
    other = Tells(dim=384)
    other.name = "bge-m3"
    assert likely("any text", other) is None


ROOM = "Under LRU a job may keep {} in memory and wants the pages 7, 0, 1, 2, 0, 3. Number of page faults?"


def test_a_number_without_a_name_is_read_by_its_wording(hears: Callable[..., Tells]) -> None:
    text = ROOM.format("no more than 4 of them")
    for encoder, frames in ((None, None), (hears("lru", "faults", "4"), "4"), (hears("lru", "faults"), None)):
        reading = read(text, encoder)
        assert reading is not None and reading.values.get("frames") == frames


def test_a_name_does_not_count_where_the_number_surely_means_something_else(hears: Callable[..., Tells]) -> None:
    text = "How many faults has LRU with 4 frames for the pages 7, 0, 1, 2, 0, 3?"
    for meaning, frames in (("frames", "4"), ("page_size", None)):
        reading = read(text, hears("lru", "faults", "4", meaning))
        assert reading is not None and reading.values.get("frames") == frames


def test_a_name_counts_where_another_number_is_what_this_one_seems_to_be(hears: Callable[..., Tells]) -> None:
    text = "How many faults has LRU with 4 frames and pages of 2 KB for the addresses 7, 700, 1, 2000, 600?"
    reading = read(text, hears("lru", "faults", "4", "page_size"))
    assert reading is not None
    assert (reading.values.get("frames"), reading.values.get("page_size")) == ("4", "2K")


def test_a_name_counts_where_the_fit_never_met_its_meaning(hears: Callable[..., Tells]) -> None:
    text = "How many faults has LRU with 512-byte pages for the addresses 7, 700, 1, 2000, 600?"
    for unmet, page in (
        ("page_bytes", "512"),
        ("", None),
    ):  # of 512 bytes nobody knows whether a count or a size is said
        reading = read(text, hears("lru", "faults", "512", unmet=unmet))
        assert reading is not None and reading.values.get("page_size") == page


UNHEARD = (
    "Three programs run at once and each requires three tape units. How many must there be so that none gets stuck?"
)


def test_a_kind_that_no_word_names_is_read_by_its_wording(hears: Callable[..., Tells]) -> None:
    assert read(UNHEARD) is None
    reading = read(UNHEARD, hears("minimum_units", "fewest_units"))
    assert reading is not None
    assert reading.kind.name == "minimum_units"
    assert reading.values == {"processes": "3", "each": "3", "ask": "fewest_units"}


def test_the_named_algorithm_stands_against_a_wording_of_another(hears: Callable[..., Tells]) -> None:
    text = "FIFO with 3 frames on the reference string 7, 0, 1, 2, 0, 3. How many page faults?"
    reading = read(text, hears("lru", "faults"))
    assert reading is not None and reading.kind.name == "fifo"


def test_of_two_figures_the_one_that_needs_what_is_stated_comes_first(hears: Callable[..., Tells]) -> None:
    text = (
        "Memory takes 150 ns and the TLB 15 ns. The effective access time is to be at most 200 ns. "
        "What is the effective access time's required TLB hit ratio?"
    )
    reading = read(text, hears("access_time", "effective_time"))
    assert reading is not None and reading.values["ask"] == "needed_hit_ratio"
