"""Kernel collections for another encoder, and which of the two serves."""

from dataclasses import replace
from pathlib import Path

import pytest

from osrag import shelf
from osrag.errors import BadIndex
from osrag.index.collection import Collection
from osrag.index.kernel_build import build_kernel
from osrag.index.manifest import read_manifest
from osrag.index.renew_kernel import collections, fitting_kernel, renew_kernel
from osrag.types import CodeChunk
from tests.fakes import FakeEncoder
from tests.kernel.tree import write_tree
from tests.large.test_rerank import ByWord

OLD, NEW = FakeEncoder(), FakeEncoder(name="new", revision="new-1", dim=48)
QUERY = "How is a page fault on anonymous memory handled?"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kernel")
    build_kernel(base / "index", write_tree(base / "tree"), ["kernel", "mm"], OLD, cache=base / "cache")
    return base / "index"


def readers(encoder: FakeEncoder, checker: FakeEncoder) -> shelf.Readers:
    return shelf.Readers(encoder, checker, None)


def test_the_old_one_serves_by_its_encoder_until_there_is_a_copy(root: Path, tmp_path: Path):
    search = shelf.open_kernel(root, readers(NEW, OLD), tmp_path, gpu=True)
    assert search.root == root and search.encoder is OLD
    told: list[str] = []
    place = renew_kernel(root, NEW, cache_dir=tmp_path, progress=lambda what, *_: told.append(what))
    assert set(told) == {f"embed {folder.name}" for folder in collections(root)}
    fresh = shelf.open_kernel(root, readers(NEW, OLD), tmp_path, gpu=False)
    assert fresh.root == place and fresh.encoder is NEW and fresh.subsystems == search.subsystems
    assert any(hit.chunk.name == "do_anonymous_page" for hit in fresh.search(QUERY, k=3).hits)
    assert read_manifest(root / "mm_chunks").encoder == OLD.id
    assert renew_kernel(root, NEW, cache_dir=tmp_path, progress=lambda *_: None) == place


def test_only_vectors_are_made_and_they_are_those_of_a_build(root: Path, tmp_path: Path):
    place = renew_kernel(root, NEW, cache_dir=tmp_path, progress=lambda *_: None)
    built = tmp_path / "built"
    build_kernel(built, write_tree(tmp_path / "tree"), ["kernel", "mm"], NEW, cache=tmp_path / "other")
    for folder in collections(built):
        one = Collection.load(folder, NEW.id, of=CodeChunk)
        two = Collection.load(place / folder.name, NEW.id, of=CodeChunk)
        assert [two.chunk(row) for row in range(len(two))] == [one.chunk(row) for row in range(len(one))]
        # A build keeps eight bits a number, a copy sixteen.
        assert (one.dense.vectors() * two.dense.vectors()).sum(axis=1).min(initial=1.0) > 0.98


def test_without_either_encoder_it_is_refused_and_without_an_index_too(root: Path, tmp_path: Path):
    other = replace(NEW, name="third")
    with pytest.raises(BadIndex, match="made by fake"):
        shelf.open_kernel(root, readers(other, other), tmp_path, gpu=False)
    assert fitting_kernel(tmp_path, OLD.id, tmp_path) is None
    with pytest.raises(BadIndex, match="no kernel index"):
        shelf.open_kernel(tmp_path, readers(OLD, OLD), tmp_path, gpu=False)


def test_a_reranker_has_a_say_in_the_order(root: Path):
    from osrag.retrieve.kernel import KernelSearch

    plain = KernelSearch(root, OLD)
    last = plain.search(QUERY, k=6).hits[-1].chunk.name
    reader = ByWord(f"{last}: ")
    hits = KernelSearch(root, OLD, reranker=reader).search(QUERY, k=6).hits
    place = [hit.chunk.name for hit in hits].index(last)
    assert reader.asked and place < 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    broken = KernelSearch(root, OLD, reranker=ByWord("x", fails=True)).search(QUERY, k=6)
    assert [hit.chunk.id for hit in broken.hits] == [hit.chunk.id for hit in plain.search(QUERY, k=6).hits]
