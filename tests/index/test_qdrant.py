"""Vectors in Qdrant: the same hits as from the index file. Its client's local mode stands for a server."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

import numpy as np
import pytest
from httpx import Headers

from osrag.errors import BadIndex
from osrag.index.dense import DenseIndex
from osrag.index.qdrant import QdrantIndex, connect
from osrag.kernel.build import build_kernel
from osrag.kernel.search import KernelSearch
from tests.fakes import FakeEncoder
from tests.kernel.tree import write_tree

pytest.importorskip("qdrant_client", reason="requirements-qdrant.txt is not installed")
from qdrant_client.http.exceptions import UnexpectedResponse

ROOT = Path(__file__).parents[2]
QUESTIONS = ("How is a page fault on anonymous memory handled?", "匿名页缺页异常怎么处理？", "what does sys_brk do")


@pytest.fixture(scope="module")
def book() -> Path:
    """The vectors of the course book that is shipped."""
    (path,) = (ROOT / "index/textbook").glob("vectors-*.faiss")
    return path


def test_the_course_book_has_the_same_hits(book: Path):
    own, shared = DenseIndex.load(book), QdrantIndex.load(connect(":memory:"), book)
    assert (len(shared), shared.dim) == (len(own), own.dim)
    draw = np.random.default_rng(3)
    for row in draw.integers(len(own), size=20):
        query = own.rows(np.array([row]))[0] + draw.normal(0, 0.02, own.dim).astype(np.float32)
        (rows, scores), (found, told) = own.nearest(query, 10), shared.nearest(query, 10)
        assert rows.tolist() == found.tolist()
        assert np.allclose(scores, told, atol=1e-5)
    some = np.array([700, 3, 1200])
    assert np.allclose(own.rows(some), shared.rows(some), atol=1e-6)
    assert shared.rows(some[:0]).shape == (0, own.dim)
    assert np.allclose(own.vectors(), shared.vectors(), atol=1e-6)


def test_vectors_are_brought_once(book: Path, monkeypatch: pytest.MonkeyPatch):
    client = connect(":memory:")
    QdrantIndex.load(client, book)
    monkeypatch.setattr(client, "upload_collection", lambda *_, **__: pytest.fail("they are there already"))
    assert len(QdrantIndex.load(client, book)) == len(DenseIndex.load(book))


class Starting:
    """The client of one of several replicas that start at once, as a server answers it."""

    def __init__(self, client, together: Barrier, turn: Lock) -> None:
        self._client, self._together, self._turn = client, together, turn
        self.asked = 0

    def collection_exists(self, name: str) -> bool:
        with self._turn:
            exists = self._client.collection_exists(name)
        self.asked += 1
        if self.asked == 1:
            self._together.wait(20)  # none has made it when the last one asks
        return exists

    def create_collection(self, *args: Any) -> None:
        with self._turn:
            try:
                self._client.create_collection(*args)
            except ValueError as error:
                raise UnexpectedResponse(409, "Conflict", str(error).encode(), Headers()) from error

    def __getattr__(self, name: str) -> Any:
        def called(*args: Any, **options: Any) -> Any:
            with self._turn:
                return getattr(self._client, name)(*args, **options)

        return called


def test_replicas_that_start_at_once_all_have_the_vectors(book: Path):
    client, together, turn = connect(":memory:"), Barrier(3), Lock()
    replicas = [Starting(client, together, turn) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda one: QdrantIndex.load(one, book), replicas))
    held = DenseIndex.load(book)
    (name,) = (one.name for one in client.get_collections().collections)
    assert client.count(name).count == len(held) and {len(one) for one in found} == {len(held)}
    rows = np.array([0, len(held) - 1])
    assert all(np.allclose(one.rows(rows), held.rows(rows), atol=1e-6) for one in found)
    assert sorted(one.asked for one in replicas) == [1, 2, 2]  # two came too late to make it


def test_the_kernel_is_searched_with_the_same_hits(tmp_path: Path):
    build_kernel(tmp_path / "index", write_tree(tmp_path / "tree"), ["kernel", "mm"], FakeEncoder(), cache_dir=tmp_path)
    own = KernelSearch(tmp_path / "index", FakeEncoder())
    load = partial(QdrantIndex.load, connect(str(tmp_path / "qdrant")))
    shared = KernelSearch(tmp_path / "index", FakeEncoder(), vectors=load)
    for question in QUESTIONS:
        hits = own.search(question).hits
        assert [hit.chunk.id for hit in hits] == [hit.chunk.id for hit in shared.search(question).hits]


def test_a_server_that_does_not_answer_is_told(book: Path):
    with pytest.raises(BadIndex, match=r"Qdrant does not serve osrag-vectors-.*: .*refused") as told:
        QdrantIndex.load(connect("http://127.0.0.1:9"), book)
    assert "OSRAG_QDRANT_URL" in told.value.hint
