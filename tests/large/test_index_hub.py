"""An index that is published as a data set and taken again, through the hub's client and a local stand-in."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from osrag.errors import BadIndex, BadInput, BadSettings, ModelNotFound
from osrag.index.collection import Collection, write_collection
from osrag.index.hub import index_folder, push_index
from osrag.settings import Settings
from osrag.types import Chunk, LineRef
from tests.fakes import FakeEncoder
from tests.large.fake_hub import Hub, hub


def quiet(what: str, done: int, total: int) -> None:
    pass


def chunk(place: int) -> Chunk:
    return Chunk(
        id=f"c{place}",
        text=f"text {place}",
        source="book.md",
        where=LineRef(place + 1, place + 1),
        position=place,
        section=("1 Processes",),
        language="en",
    )


@pytest.fixture
def index(tmp_path: Path) -> Path:
    encoder = FakeEncoder()
    folder = tmp_path / "index"
    chunks = [chunk(place) for place in range(3)]
    vectors = encoder.passages([entry.text for entry in chunks])
    words = [entry.text.split() for entry in chunks]
    write_collection(
        folder / "textbook", chunks, vectors, words, of=Chunk, name="textbook", encoder=encoder.id, licence="CC BY 4.0"
    )
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_TOKEN", "hf_goodtoken")
    with hub({}) as running:
        yield running


def settings(tmp_path: Path, repo: str = "me/os-index") -> Settings:
    return Settings(index_repo=repo, cache_dir=tmp_path / "cache", _env_file=None)


def test_an_index_goes_to_the_hub_and_back(index: Path, tmp_path: Path, server: Hub):
    push_index(index, "me/os-index", endpoint=server.url)
    files = server.repos["datasets/me/os-index"]
    assert "textbook/manifest.json" in files and b"CC BY 4.0" in files["README.md"]
    taken = index_folder(settings(tmp_path), quiet, endpoint=server.url)
    back = Collection.load(taken / "textbook", FakeEncoder().id, of=Chunk)
    assert len(back) == 3
    assert np.array_equal(back.dense.vectors(), Collection.load(index / "textbook", None, of=Chunk).dense.vectors())


def test_a_second_start_fetches_nothing_and_a_start_without_the_hub_works(index: Path, tmp_path: Path, server: Hub):
    push_index(index, "me/os-index", endpoint=server.url)
    taken = index_folder(settings(tmp_path), quiet, endpoint=server.url)
    sent = len(server.sent)
    assert index_folder(settings(tmp_path), quiet, endpoint=server.url) == taken
    assert len(server.sent) == sent
    assert index_folder(settings(tmp_path), quiet, endpoint="http://127.0.0.1:9") == taken


def test_what_is_not_there_is_a_sentence(index: Path, tmp_path: Path, server: Hub):
    with pytest.raises(ModelNotFound, match="no dataset 'me/other'"):
        index_folder(settings(tmp_path, "me/other"), quiet, endpoint=server.url)
    with pytest.raises(ModelNotFound, match="cannot be reached"):
        index_folder(settings(tmp_path, "me/new"), quiet, endpoint="http://127.0.0.1:9")
    server.repos["datasets/me/empty"] = {"README.md": b"x"}
    with pytest.raises(BadIndex, match="holds no collection"):
        index_folder(settings(tmp_path, "me/empty"), quiet, endpoint=server.url)
    push_index(index, "me/torn", endpoint=server.url)
    torn = server.repos["datasets/me/torn"]
    del torn[next(name for name in torn if name.endswith(".faiss"))]
    with pytest.raises(BadIndex, match="lacks vectors"):
        index_folder(settings(tmp_path, "me/torn"), quiet, endpoint=server.url)


def test_without_a_repository_the_folder_serves(tmp_path: Path):
    plain = Settings(index_dir=tmp_path, _env_file=None)
    assert index_folder(plain, quiet) == tmp_path


def test_pushing_needs_a_token_a_name_and_an_index(
    index: Path, tmp_path: Path, server: Hub, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(BadInput, match="is no name of a dataset"):
        push_index(index, "os-index", endpoint=server.url)
    with pytest.raises(BadIndex, match="no collection"):
        push_index(tmp_path / "nothing", "me/os-index", endpoint=server.url)
    monkeypatch.setenv("HF_TOKEN", "hf_readonly")
    with pytest.raises(BadSettings, match="refused") as caught:
        push_index(index, "me/os-index", endpoint=server.url)
    assert "HF_TOKEN" in caught.value.hint
