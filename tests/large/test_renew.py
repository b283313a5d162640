"""An index of another encoder: detected, embedded again in the background, the old one serving meanwhile."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from osrag.book.build import copies_of
from osrag.book.chunking import search_text
from osrag.errors import BadIndex, ModelFailed
from osrag.index.collection import Collection, write_collection
from osrag.index.manifest import DocumentEntry, read_manifest
from osrag.index.renew import Copies, Part, Renewal
from osrag.models.protocols import Vectors
from osrag.types import Chunk
from tests.fakes import FakeEncoder
from tests.large.test_index_hub import chunk

OLD = FakeEncoder()


@dataclass
class NewEncoder(FakeEncoder):
    """Waits at each batch until it is let go; fails where it is told to."""

    name: str = "bge-fake"
    revision: str = "r/2"
    dim: int = 32
    go: threading.Event = field(default_factory=threading.Event)
    fail_at: int = 0
    batches: int = 0

    def passages(self, texts: Sequence[str]) -> Vectors:
        assert self.go.wait(300)
        self.batches += 1
        if self.batches == self.fail_at:
            raise ModelFailed("the encoder died", hint="start it again")
        return super().passages(texts)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index" / "textbook"
    chunks = [chunk(place) for place in range(600)]
    (tmp_path / "book.md").write_text("x")
    searched = chunks[:590]
    write_collection(
        folder,
        chunks,
        OLD.passages([search_text(entry) for entry in searched]),
        [search_text(entry).split() for entry in searched],
        of=Chunk,
        name="textbook",
        encoder=OLD.id,
        documents=[DocumentEntry(name="book.md", sha256="0", chunks=600, path="../../book.md")],
        counts={"documents": 1},
        licence="CC BY 4.0",
    )
    return folder


def copies(index: Path, tmp_path: Path) -> Copies:
    return Copies("textbook", index, (Part("", Chunk, search_text),), tmp_path)


def quiet(done: int, total: int) -> None:
    pass


def test_the_old_one_serves_until_the_new_one_is_whole(index: Path, tmp_path: Path):
    new, ready = NewEncoder(), threading.Event()
    before, both = read_manifest(index), copies(index, tmp_path)
    assert both.fitting(OLD.id) == index
    assert both.fitting(new.id) is None and both.made_by == "fake"
    places: list[Path] = []

    def switch(place: Path) -> None:
        places.append(place)
        ready.set()

    run = Renewal(both, new, ready=switch)
    assert not ready.wait(0.2)
    assert len(Collection.load(index, OLD.id, of=Chunk)) == 600  # it still serves
    new.go.set()
    assert ready.wait(300)
    run.join(300)
    assert run.finished and (run.done, run.total) == (590, 590) and not run.running
    made = Collection.load(places[0], new.id, of=Chunk)
    assert (len(made), made.searchable, made.dense.dim) == (600, 590, 32)
    assert made.manifest.licence == "CC BY 4.0" and made.manifest.counts["documents"] == 1
    assert made.manifest.corpus_hash == before.corpus_hash and read_manifest(index) == before
    expected = FakeEncoder(dim=32).queries([search_text(made.chunk(7))])[0]
    assert np.allclose(made.dense.vectors()[7], expected, atol=1e-3)
    # Pages are still found from where the copy lies.
    assert (places[0] / made.manifest.documents[0].path).resolve() == (tmp_path / "book.md").resolve()


def test_how_much_there_is_to_do_is_known_before_the_thread_begins(index: Path, tmp_path: Path):
    new, turn = NewEncoder(), threading.Lock()
    new.go.set()
    with turn:  # its thread cannot begin
        run = Renewal(copies(index, tmp_path), new, ready=lambda _: None, turn=turn)
        assert (run.done, run.total, run.running) == (0, 590, True)
    run.join(300)
    assert run.done == 590 and not run.running


def test_the_next_start_finds_the_copy_and_makes_none(index: Path, tmp_path: Path):
    new = NewEncoder()
    new.go.set()
    both = copies(index, tmp_path)
    place = both.make(new, quiet)
    assert both.fitting(new.id) == place and both.texts(new.id) == 0
    seen = len(new.embedded)
    assert both.make(new, quiet) == place
    assert len(new.embedded) == seen


def test_a_renewal_that_failed_is_told_and_goes_on_from_there(index: Path, tmp_path: Path):
    new = NewEncoder(fail_at=2)
    new.go.set()
    both = copies(index, tmp_path)
    run = Renewal(both, new, ready=lambda _: None)
    run.join(300)
    assert "the encoder died (start it again)" in run.error and not run.finished and not run.running
    assert both.fitting(new.id) is None
    again = NewEncoder()
    again.go.set()
    both.make(again, quiet)
    assert len(again.embedded) == 590 - 256  # the first batch was kept


def test_an_unexpected_error_is_told_in_words_and_logged(
    index: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    new = NewEncoder()
    new.go.set()

    def broken(_: Path) -> None:
        raise ValueError("no such part")

    run = Renewal(copies(index, tmp_path), new, ready=broken)
    run.join(300)
    assert run.error == "something unexpected happened; the log has the details" and not run.running
    assert "ValueError: no such part" in caplog.text


def test_another_corpus_is_another_copy(index: Path, tmp_path: Path):
    new = NewEncoder()
    new.go.set()
    copies(index, tmp_path).make(new, quiet)
    one = [chunk(1)]
    entry = DocumentEntry(name="other.md", sha256="1", chunks=1)
    write_collection(
        index, one, OLD.passages(["x"]), [["x"]], of=Chunk, name="textbook", encoder=OLD.id, documents=[entry]
    )
    assert copies(index, tmp_path).fitting(new.id) is None


def test_no_index_is_said_so(tmp_path: Path):
    with pytest.raises(BadIndex, match="no index"):
        copies_of(tmp_path / "nothing", tmp_path)
    assert Copies("kernel", tmp_path, (), tmp_path).fitting(OLD.id) is None
