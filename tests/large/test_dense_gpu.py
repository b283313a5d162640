"""FAISS on a card gives what FAISS on the processor gives."""

from typing import Any

import faiss
import numpy as np
import pytest

from osrag.index.dense import MOST_CANDIDATES, DenseIndex


class FakeCard:
    """FAISS with a card that is the processor, and adds up a little differently."""

    def __init__(self, cards: int = 1, *, full: bool = False) -> None:
        self.cards, self.full = cards, full
        self.searched = 0
        self.IndexFlatIP = faiss.IndexFlatIP

    def get_num_gpus(self) -> int:
        return self.cards

    def StandardGpuResources(self) -> object:
        return object()

    def index_cpu_to_gpu(self, resources: object, device: int, index: Any) -> Any:
        if self.full:
            raise RuntimeError("Error in virtual void* faiss::gpu\ncudaMalloc: out of memory")
        self.index, self.ntotal, self.d = index, index.ntotal, index.d
        return self

    def search(self, query: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        self.searched += 1
        noise = np.random.default_rng(3).normal(0, 1e-6, query.shape).astype(np.float32)
        return self.index.search(query + noise, k)  # type: ignore[no-any-return]


def found(index: DenseIndex, query: np.ndarray, k: int) -> tuple[list[int], np.ndarray]:
    rows, cosines = index.nearest(query, k)
    return rows.tolist(), cosines


def vectors(rows: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(rows, 24)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("codec", ["float32", "float16", "int8"])
@pytest.mark.parametrize(("rows", "k"), [(500, 10), (500, 400), (5, 10), (1, 1)])
def test_the_same_rows_and_cosines_as_on_the_processor(codec: Any, rows: int, k: int):
    index, card = DenseIndex.build(vectors(rows), codec=codec), FakeCard()
    queries = vectors(20, seed=1)
    plain = [found(index, query, k) for query in queries]
    assert index.to_gpu(card)
    for query, (rows_of, cosines_of) in zip(queries, plain, strict=True):
        now, cosines = found(index, query, k)
        assert now == rows_of and len(now) == min(k, rows)
        assert np.allclose(cosines, cosines_of, atol=1e-6)
    assert card.searched == 20


def test_more_than_a_card_finds_is_searched_on_the_processor():
    index, card = DenseIndex.build(vectors(2500)), FakeCard()
    index.to_gpu(card)
    assert len(index.nearest(vectors(1)[0], MOST_CANDIDATES)[0]) == MOST_CANDIDATES and card.searched == 0


@pytest.mark.parametrize("card", [FakeCard(cards=0), FakeCard(full=True)])
def test_without_a_card_or_room_on_it_nothing_changes(card: FakeCard):
    index = DenseIndex.build(vectors(50))
    before, _ = found(index, vectors(1)[0], 5)
    assert not index.to_gpu(card)
    assert found(index, vectors(1)[0], 5)[0] == before
    assert not DenseIndex.build(np.zeros((0, 24), np.float32)).to_gpu(FakeCard())


def test_a_real_card_gives_the_same():
    if not getattr(faiss, "get_num_gpus", lambda: 0)():
        pytest.skip("no graphics card, or FAISS without its support (requirements: faiss-gpu)")
    index, queries = DenseIndex.build(vectors(20_000), codec="float16"), vectors(50, seed=2)
    plain = [found(index, query, 100) for query in queries]
    assert index.to_gpu()
    for query, (rows, cosines) in zip(queries, plain, strict=True):
        now, scores = found(index, query, 100)
        assert now == rows and np.allclose(scores, cosines, atol=1e-5)
