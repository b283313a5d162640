"""What a wording makes likely, beside the words of the grammar."""

from collections.abc import Sequence

import numpy as np
import pytest

from osrag.lab.catalog import KINDS
from osrag.lab.reading import read
from osrag.lab.reading.likely import NONE, PATH, SCALE, likely
from osrag.models.protocols import Vectors


class Hears:
    """An encoder to which every text sounds like one kind and one figure."""

    name = "multilingual-e5-small"

    def __init__(self, kind: str, ask: str) -> None:
        with np.load(PATH) as file:
            columns = [file[part][:-1, list(file[f"{part}_names"]).index(name)] for part, name in
                       (("kinds", kind), ("asks", ask))]  # fmt: skip
        self.vectors = np.array([column / np.linalg.norm(column.astype(float)) for column in columns], np.float32)

    def queries(self, texts: Sequence[str]) -> Vectors:
        assert len(texts) == 2 and SCALE > 1
        return self.vectors


def test_every_kind_has_a_chance_and_they_sum_to_one():
    found = likely("any text", Hears("lru", "faults"))
    assert found is not None
    assert set(found.kinds) == {*KINDS, NONE}
    assert sum(found.kinds.values()) == pytest.approx(1, abs=1e-3)
    assert found.ranked(("hits", "faults"))[0][0] == "faults"


def test_another_encoder_tells_nothing():
    other = Hears("lru", "faults")
    other.name = "bge-m3"
    assert likely("any text", other) is None


UNHEARD = (
    "Three programs run at once and each requires three tape units. How many must there be so that none gets stuck?"
)


def test_a_kind_that_no_word_names_is_read_by_its_wording():
    assert read(UNHEARD) is None
    reading = read(UNHEARD, Hears("minimum_units", "fewest_units"))
    assert reading is not None
    assert reading.kind.name == "minimum_units"
    assert reading.values == {"processes": "3", "each": "3", "ask": "fewest_units"}


def test_the_named_algorithm_stands_against_a_wording_of_another():
    text = "FIFO with 3 frames on the reference string 7, 0, 1, 2, 0, 3. How many page faults?"
    reading = read(text, Hears("lru", "faults"))
    assert reading is not None and reading.kind.name == "fifo"


def test_of_two_figures_the_one_that_needs_what_is_stated_comes_first():
    text = (
        "Memory takes 150 ns and the TLB 15 ns. The effective access time is to be at most 200 ns. "
        "What is the effective access time's required TLB hit ratio?"
    )
    reading = read(text, Hears("access_time", "effective_time"))
    assert reading is not None and reading.values["ask"] == "needed_hit_ratio"
