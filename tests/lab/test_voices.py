"""The book and the kernel beside a computed exercise."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq

from osrag.app.voices import definitions, voices
from osrag.book.sections import first_of
from osrag.errors import BadIndex
from osrag.lab.catalog import KINDS
from osrag.lab.words import table
from osrag.types import Chunk, PageRef

INDEX = Path(__file__).parents[2] / "index"


def chunk(section: str, language: str = "en", position: int = 0) -> Chunk:
    path = ("Chapter 7 Virtual Memory", "7.3 Page replacement", section)
    return Chunk(f"{language}{position}", "", f"os-course-{language}.pdf", PageRef(1, 1, "1"), position, path, language)


def test_the_first_chunk_under_the_heading_in_the_language_of_the_page():
    chunks = [
        chunk("7.3.1 Why pages are replaced"),
        chunk("7.3.4 Least recently used", position=2),
        chunk("7.3.4 Least recently used", position=1),
        chunk("7.3.4 最近最少使用", "zh", 5),
    ]
    assert first_of(chunks, "7.3.4", "en") is chunks[2]
    assert first_of(chunks, "7.3.4", "zh") is chunks[3]
    assert first_of(chunks, "7.3", "en") is chunks[0]


def test_a_heading_that_is_missing_gives_the_one_above_it_and_a_language_that_is_missing_the_other():
    chunks = [chunk("7.3.1 Why pages are replaced")]
    assert first_of(chunks, "7.3.9", "zh") is chunks[0]
    assert first_of(chunks, "7.4", "en") is None
    assert first_of(chunks, "", "en") is None


def test_functions_that_the_index_lacks_are_left_out():
    store = SimpleNamespace(functions_named=lambda name: [7] if name == "known" else [], chunk=lambda row: row)
    assert definitions(store, ("unknown", "known")) == (7,)


class NoIndex:
    """Parts whose every index is missing."""

    @property
    def textbook(self):
        raise BadIndex("none")

    kernel = textbook


def test_without_an_index_the_steps_stand_alone():
    found = voices(NoIndex(), KINDS["lru"], "en")
    assert (found.page, found.functions) == (None, ())


def test_every_kind_names_a_section_and_what_linux_does():
    assert [kind.name for kind in KINDS.values() if not kind.section] == []
    assert set(table()["linux"]) == set(KINDS)
    assert all(row["zh"].endswith("。") and row["en"].endswith(".") for row in table()["linux"].values())


def test_the_functions_of_linux_stand_in_the_index_and_the_sentence_says_where_else():
    folders = [path for path in INDEX.glob("*_chunks") if (path / "manifest.json").is_file()]
    columns = (pq.read_table(next(path.glob("chunks*.parquet")), columns=["function_name"]) for path in folders)
    known = {name for column in columns for name in column["function_name"].to_pylist()}
    for name, row in table()["linux"].items():
        assert set(row.get("functions", "").split()) <= known, name
        assert row.get("functions") or "block/" in row["en"] or "drivers/" in row["en"] or "fs/" in row["en"], name
