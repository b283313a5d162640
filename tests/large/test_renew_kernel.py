"""Kernel collections for another encoder, and which of the two serves."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from osrag.app.parts import Parts
from osrag.app.shelf import serving
from osrag.errors import BadIndex
from osrag.index.collection import Collection
from osrag.index.manifest import read_manifest
from osrag.kernel.build import build_kernel, copies_of
from osrag.kernel.search import KernelSearch
from osrag.models.protocols import Vectors
from osrag.settings import Settings
from osrag.types import CodeChunk
from tests.fakes import FakeEncoder
from tests.kernel.tree import write_tree
from tests.large.test_rerank import ByWord

OLD, NEW = FakeEncoder(), FakeEncoder(name="new", revision="new-1", dim=48)
QUERY = "How is a page fault on anonymous memory handled?"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kernel")
    build_kernel(base / "index", write_tree(base / "tree"), ["kernel", "mm"], OLD, cache_dir=base / "cache")
    return base / "index"


def opened(root: Path, cache_dir: Path, encoder: FakeEncoder, checker: FakeEncoder) -> KernelSearch:
    found = serving(copies_of(root, cache_dir), encoder, checker)
    return KernelSearch(found.folder, found.encoder)


def test_the_old_one_serves_by_its_encoder_until_there_is_a_copy(root: Path, tmp_path: Path):
    search = opened(root, tmp_path, NEW, OLD)
    assert search.root == root and search.encoder is OLD
    told: list[tuple[int, int]] = []
    copies = copies_of(root, tmp_path)
    place = copies.make(NEW, lambda done, total: told.append((done, total)))
    every = sum(read_manifest(root / part.folder).counts["searchable"] for part in copies.parts)
    assert (told[0], told[-1]) == ((0, every), (every, every)) and told == sorted(told)
    fresh = opened(root, tmp_path, NEW, OLD)
    assert fresh.root == place and fresh.encoder is NEW and fresh.store.subsystem_names == search.store.subsystem_names
    assert any(hit.chunk.name == "do_anonymous_page" for hit in fresh.search(QUERY, k=3).hits)
    assert read_manifest(root / "mm_chunks").encoder == OLD.id
    assert copies.make(NEW, lambda *_: None) == place


def test_only_vectors_are_made_and_they_are_those_of_a_build(root: Path, tmp_path: Path):
    place = copies_of(root, tmp_path).make(NEW, lambda *_: None)
    built = tmp_path / "built"
    build_kernel(built, write_tree(tmp_path / "tree"), ["kernel", "mm"], NEW, cache_dir=tmp_path / "other")
    for part in copies_of(built, tmp_path).parts:
        one = Collection.load(built / part.folder, NEW.id, of=CodeChunk)
        two = Collection.load(place / part.folder, NEW.id, of=CodeChunk)
        assert [two.chunk(row) for row in range(len(two))] == [one.chunk(row) for row in range(len(one))]
        # A build keeps eight bits a number, a copy sixteen.
        assert (one.dense.vectors() * two.dense.vectors()).sum(axis=1).min(initial=1.0) > 0.98


def test_without_either_encoder_it_is_refused_and_without_an_index_too(root: Path, tmp_path: Path):
    other = replace(NEW, name="third")
    with pytest.raises(BadIndex, match="made by fake"):
        opened(root, tmp_path, other, other)
    assert copies_of(tmp_path, tmp_path).fitting(OLD.id) is None
    with pytest.raises(BadIndex, match="no kernel index"):
        opened(tmp_path, tmp_path, OLD, OLD)


def test_a_reranker_has_a_say_in_the_order(root: Path):
    plain = KernelSearch(root, OLD)
    last = plain.search(QUERY, k=6).hits[-1].chunk.name
    reader = ByWord(f"{last}: ")
    hits = KernelSearch(root, OLD, reranker=reader).search(QUERY, k=6).hits
    place = [hit.chunk.name for hit in hits].index(last)
    assert reader.asked and place < 5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    broken = KernelSearch(root, OLD, reranker=ByWord("x", fails=True)).search(QUERY, k=6)
    assert [hit.chunk.id for hit in broken.hits] == [hit.chunk.id for hit in plain.search(QUERY, k=6).hits]


@dataclass
class Held(FakeEncoder):
    """Embeds passages when it is let go; raises `error` where it has one."""

    name: str = "new"
    revision: str = "new-1"
    dim: int = 48
    go: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        assert self.go.wait(300)
        if self.error:
            raise self.error
        return super().passages(texts)


def parts_of(root: Path, cache: Path, encoder: FakeEncoder, checker: FakeEncoder, profile: str = "gpu") -> Parts:
    """Parts as the page has them, with these encoders in the place of loaded ones."""
    made = Parts(Settings(profile=profile, cache_dir=cache, index_dir=root, _env_file=None), renew=True)
    made.__dict__.update(encoder=encoder, checker=checker, reranker=None, chat=None)
    return made


def finished(parts: Parts) -> None:
    renewal = parts.stale["kernel"].renewal
    assert renewal is not None
    renewal.join(300)
    assert not parts.renewing


def test_the_page_renews_it_in_the_background_and_goes_over_to_it(root: Path, tmp_path: Path):
    from osrag.ui.app import banner

    new = Held()
    parts = parts_of(root, tmp_path, new, OLD)
    old, source = parts.kernel, parts.kernel_source
    assert old.encoder is OLD and old.search(QUERY, k=3).hits[0].chunk.source.startswith("mm/")
    assert parts.renewing and "os-notice" in banner(parts, "zh")
    assert "The kernel index was made by another encoder (fake)" in " ".join(parts.status("en"))
    every = sum(read_manifest(root / part.folder).counts["searchable"] for part in copies_of(root, tmp_path).parts)
    assert f"新的内核索引正在后台制作：0 / {every}" in " ".join(parts.status("zh"))
    assert parts.kernel is old  # asked again, no second renewal begins
    new.go.set()
    finished(parts)
    assert parts.kernel.encoder is new and parts.kernel_source is not source
    assert parts.kernel.search(QUERY, k=3).hits and parts.kernel.store.subsystem_names == old.store.subsystem_names
    assert parts.status("en") == [] and banner(parts, "zh") == "" and not parts.renewing
    renewal = parts.stale["kernel"].renewal
    assert renewal is not None and renewal.done == renewal.total == every
    assert read_manifest(root / "mm_chunks").encoder == OLD.id  # what was there is left alone
    again = parts_of(root, tmp_path, new, OLD)
    assert again.kernel.encoder is new and not again.stale


def test_a_laptop_does_not_and_an_index_that_fits_need_not(root: Path, tmp_path: Path):
    laptop = parts_of(root, tmp_path, Held(), OLD, profile="cpu")
    assert laptop.kernel.encoder is OLD and not laptop.stale and not laptop.renewing
    fits = parts_of(root, tmp_path, OLD, OLD)
    assert fits.kernel.encoder is OLD and not fits.stale
    none = parts_of(tmp_path / "empty", tmp_path, Held(), OLD)
    with pytest.raises(BadIndex, match="no kernel index"):
        _ = none.kernel
    assert not none.stale


def test_where_the_old_encoder_is_not_here_kernel_questions_wait_for_the_new_index(root: Path, tmp_path: Path):
    new = Held()
    parts = parts_of(root, tmp_path, new, new)
    for _ in range(2):
        with pytest.raises(BadIndex, match="made by fake"):
            _ = parts.kernel
    assert "kernel questions wait" in parts.status("en")[0] and parts.renewing
    new.go.set()
    finished(parts)
    assert parts.kernel.encoder is new and parts.status("en") == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("of no kind that is expected")])
def test_a_renewal_of_the_kernel_that_fails_leaves_the_old_one_and_says_so(
    root: Path, tmp_path: Path, error: Exception
):
    new = Held(error=error)
    parts = parts_of(root, tmp_path, new, OLD)
    old = parts.kernel
    new.go.set()
    finished(parts)
    assert "The new kernel index could not be made" in parts.status("en")[-1]
    assert parts.kernel is old and old.search(QUERY, k=1).hits
