"""BGE-M3 and its reranker on tiny random models with the real file layout."""

from pathlib import Path

import numpy as np
import pytest

from osrag.errors import BadWeights
from osrag.models.bge import BgeM3, BgeReranker
from tests.large import tiny

pytest.importorskip("FlagEmbedding", reason="requirements-gpu.txt is not installed")

TEXTS = ["什么是进程?", "the page table", "锁", "a much longer text about the file system " * 5, ""]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> BgeM3:
    return BgeM3(tiny.bge_m3(tmp_path_factory.mktemp("m3")), revision="a" * 40, device="cpu")


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> BgeReranker:
    return BgeReranker(tiny.bge_reranker(tmp_path_factory.mktemp("rr")), device="cpu")


def test_dense_vectors_are_unit_rows_in_order(encoder: BgeM3):
    rows = encoder.passages(TEXTS)
    assert rows.shape == (5, encoder.dim) == (5, 32) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for place, text in enumerate(TEXTS):
        assert np.allclose(rows[place], encoder.queries([text])[0], atol=1e-4)
    assert encoder.passages([]).shape == (0, 32)


def test_the_dense_vector_is_the_first_token_of_the_backbone(encoder: BgeM3, tmp_path: Path):
    """A slow reference: plain transformers on the same files."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = tiny.bge_m3(tmp_path)
    inputs = AutoTokenizer.from_pretrained(folder)(TEXTS[0], return_tensors="pt")
    with torch.no_grad():
        first = AutoModel.from_pretrained(folder)(**inputs).last_hidden_state[0, 0].numpy()
    assert np.allclose(encoder.passages([TEXTS[0]])[0], first / np.linalg.norm(first), atol=1e-4)


def test_the_revision_names_commit_and_pooling(encoder: BgeM3):
    assert encoder.revision == "aaaaaaaaaaaa-cls-l2-512-v1"


def test_scores_are_comparable_and_do_not_depend_on_the_batch(reranker: BgeReranker):
    scores = reranker.scores("什么是页表?", TEXTS)
    assert scores.shape == (5,) and ((scores >= 0) & (scores <= 1)).all()
    alone = np.array([reranker.scores("什么是页表?", [text])[0] for text in TEXTS])
    assert np.allclose(scores, alone, atol=1e-4)
    assert reranker.scores("x", []).shape == (0,)


@pytest.mark.parametrize(
    "kind", [lambda path: BgeM3(path, revision="x", device="cpu"), lambda p: BgeReranker(p, device="cpu")]
)
def test_an_empty_folder_is_a_sentence(kind, tmp_path: Path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadWeights, match="cannot be loaded"):
        kind(tmp_path)
