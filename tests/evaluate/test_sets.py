"""Rows of the sets that have no other tests: labelled claims, prepared answers, the choice of a source."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from osrag.errors import BadInput
from osrag.evaluate import tasks
from osrag.evaluate.figures import plain
from osrag.evaluate.prepared import Pair, Read, fits_of, rows
from osrag.evaluate.tasks import Given, index_of
from osrag.index.manifest import read_manifest
from tests.fakes import FakeEncoder


def pair(question: str, *, same: bool) -> Pair:
    return Pair(id="deadlock", question=question, language="en", same=same, how="story", set="dev")


def test_precision_counts_what_was_read_of_other_answers():
    found = {"same words": "deadlock", "near miss": "deadlock", "other, fits": "starvation", "other, new": "livelock"}
    pairs = [
        pair("same words", same=True),
        pair("silent", same=True),
        pair("near miss", same=False),
        pair("other, fits", same=False),
        pair("other, new", same=False),
    ]
    fits = fits_of([Read(question="other, fits", language="en", id="starvation", fits=True)])
    figures = plain(rows(pairs, lambda text, language: found.get(text), fits))["all"]
    assert figures == {"n": 5, "precision": 0.6667, "not_judged": 0.25, "recall": 0.5, "trapped": 0.3333}


def test_an_index_of_another_book_is_made_once_for_one_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    parts = SimpleNamespace(settings=SimpleNamespace(cache_dir=tmp_path / "cache"), encoder=FakeEncoder())
    given, book = Given(parts, tmp_path), tmp_path / "books" / "a.md"
    book.parent.mkdir()
    book.write_text("# Forks\n\nA fork copies the process that calls it.\n", encoding="utf-8")
    index = index_of(given, "a.md")
    assert [one.name for one in read_manifest(index / "textbook").documents] == ["a.md"]
    book.unlink()
    assert index_of(given, "a.md") == index, "the file is not read again"
    with monkeypatch.context() as changed:
        changed.setattr(tasks, "readers_digest", lambda: "changed")
        with pytest.raises(BadInput):
            index_of(given, "a.md")
    with pytest.raises(BadInput, match=r"books/b\.md is not in the folder of --data"):
        index_of(given, "b.md")
