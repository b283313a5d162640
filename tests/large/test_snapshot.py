"""Whole models of the hub, through its real client and a local stand-in for its server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from osrag.errors import BadWeights, ModelNotFound
from osrag.models import sources
from osrag.models.sources import CHAT, ENCODER, HubModel, hub_model
from osrag.models.store import Store
from osrag.settings import Settings
from tests.large.fake_hub import Hub, hub

MODEL = HubModel("owner/tiny", "c" * 40)
FILES = {
    "config.json": b"{}",
    "README.md": b"not needed",
    "model.safetensors.index.json": json.dumps(
        {"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}
    ).encode(),
    "m-1.safetensors": b"one" * 1000,
    "m-2.safetensors": b"two" * 1000,
    "pytorch_model.bin": b"the same again",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    with hub({"models/owner/tiny": dict(FILES)}) as running:
        yield running


def snapshots(tmp_path: Path, server: Hub, **more: object) -> Store:
    return Store(Settings(cache_dir=tmp_path / "cache", _env_file=None, **more), endpoint=server.url)


def quiet(what: str, done: int, total: int) -> None:
    pass


def test_a_model_is_fetched_once_and_only_what_is_needed(tmp_path: Path, server: Hub):
    store = snapshots(tmp_path, server)
    assert store.present(MODEL) is None
    told: list[tuple[str, int, int]] = []
    place = store.path(MODEL, lambda *step: told.append(step))
    assert (place / "m-2.safetensors").read_bytes() == FILES["m-2.safetensors"]
    assert not (place / "README.md").exists() and not (place / "pytorch_model.bin").exists()
    assert any(name == "tiny" and done == total for name, done, total in told)
    sent = len(server.sent)
    assert store.path(MODEL, quiet) == place == store.present(MODEL)
    assert len(server.sent) == sent


def test_other_bytes_than_listed_are_refused_and_put_aside(tmp_path: Path, server: Hub):
    server.broken_files.add("m-1.safetensors")
    store = snapshots(tmp_path, server)
    with pytest.raises(BadWeights, match="wrong SHA-256"):
        store.path(MODEL, quiet)
    assert store.present(MODEL) is None
    server.broken_files.clear()
    assert store.path(MODEL, quiet)


def test_a_pin_outranks_what_the_hub_lists(tmp_path: Path, server: Hub):
    pinned = HubModel(MODEL.repo, MODEL.revision, {"m-1.safetensors": "0" * 64})
    with pytest.raises(BadWeights, match=r"m-1.safetensors had the wrong SHA-256"):
        snapshots(tmp_path, server).path(pinned, quiet)


def test_half_a_download_never_counts_and_goes_on(tmp_path: Path, server: Hub):
    server.cut_after = 100
    store = snapshots(tmp_path, server)
    with pytest.raises(ModelNotFound, match="broke off") as caught:
        store.path(MODEL, quiet)
    assert "what was fetched is kept" in caught.value.hint
    assert store.present(MODEL) is None
    server.cut_after = None
    assert (store.path(MODEL, quiet) / "m-1.safetensors").read_bytes() == FILES["m-1.safetensors"]


def test_a_file_that_was_lost_is_fetched_again(tmp_path: Path, server: Hub):
    store = snapshots(tmp_path, server)
    place = store.path(MODEL, quiet)
    (place / "m-2.safetensors").write_bytes(b"short")
    assert store.present(MODEL) is None
    assert (store.path(MODEL, quiet) / "m-2.safetensors").read_bytes() == FILES["m-2.safetensors"]


def test_a_gated_model_says_what_to_accept(tmp_path: Path, server: Hub):
    server.gated.add("models/owner/tiny")
    with pytest.raises(ModelNotFound, match="gated") as caught:
        snapshots(tmp_path, server).path(MODEL, quiet)
    assert "HF_TOKEN" in caught.value.hint


def test_a_missing_model_and_an_unreachable_hub(tmp_path: Path, server: Hub):
    with pytest.raises(ModelNotFound, match="no model 'owner/other'"):
        snapshots(tmp_path, server).path(HubModel("owner/other", "main"), quiet)
    away = Store(Settings(cache_dir=tmp_path, _env_file=None), endpoint="http://127.0.0.1:9")
    with pytest.raises(ModelNotFound, match="cannot be reached") as caught:
        away.path(MODEL, quiet)
    assert "OSRAG_MODEL_DIR" in caught.value.hint


def test_a_folder_brought_by_hand_is_taken_whole_or_not_at_all(tmp_path: Path, server: Hub):
    place = tmp_path / "usb" / "tiny"
    place.mkdir(parents=True)
    for name, data in FILES.items():
        (place / name).write_bytes(data)
    store = snapshots(tmp_path, server, model_dir=tmp_path / "usb")
    assert store.path(MODEL, quiet) == place and server.sent == []
    (place / "m-2.safetensors").unlink()
    assert store.present(MODEL) is None
    with pytest.raises(BadWeights, match=r"half a download: it lacks m-2.safetensors"):
        store.path(MODEL, quiet)


def test_a_wrong_file_in_a_folder_brought_by_hand_is_refused_and_left_alone(tmp_path: Path):
    place = tmp_path / "tiny"
    place.mkdir()
    for name, data in FILES.items():
        (place / name).write_bytes(data)
    pinned = HubModel(MODEL.repo, MODEL.revision, {"m-1.safetensors": "0" * 64})
    store = Store(Settings(cache_dir=tmp_path / "cache", model_dir=tmp_path, _env_file=None))
    with pytest.raises(BadWeights, match=r"m-1.safetensors' is not owner/tiny"):
        store.path(pinned, quiet)
    assert (place / "m-1.safetensors").read_bytes() == FILES["m-1.safetensors"]


def test_a_slow_hub_is_waited_for_where_no_package_has_the_model(
    tmp_path: Path, server: Hub, monkeypatch: pytest.MonkeyPatch
):
    waited: list[float] = []
    asks = HfApi.model_info

    def noted(api: HfApi, repo: str, **how: Any) -> Any:
        waited.append(how["timeout"])
        return asks(api, repo, **how)

    monkeypatch.setattr(HfApi, "model_info", noted)
    snapshots(tmp_path, server).path(MODEL, quiet)
    assert set(waited) == {sources.HUB_S}


def test_without_the_hub_among_the_sources_nothing_is_asked(tmp_path: Path, server: Hub):
    with pytest.raises(ModelNotFound, match="OSRAG_SOURCES"):
        snapshots(tmp_path, server, sources=("folder", "packages")).path(MODEL, quiet)
    assert server.sent == []


def test_the_pinned_models_have_commits():
    assert all(len(model.revision) == 40 for model in (CHAT, ENCODER))
    assert hub_model("Qwen/Qwen3-8B") is CHAT
    assert hub_model("Qwen/Qwen3-14B").revision == "main"
