"""What goes wrong with large and served models, tried through the command line with the real small ones beneath."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from osrag.models.load import this_machine
from osrag.models.store import Store
from osrag.settings import ROOT, Settings
from tests.large.fake_hub import hub
from tests.large.faulty_server import faulty

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

AWAY = "http://127.0.0.1:9"
QUESTION = "What is a semaphore?"


@pytest.fixture(autouse=True)
def weights() -> None:
    store = Store(Settings(_env_file=None))
    if store.present("encoder") is None or store.present("chat") is None:
        pytest.skip("the small weights are not here: python -m osrag fetch")


@pytest.fixture
def cache(tmp_path: Path) -> str:
    """A cache with the encoder alone; what a test fetches goes there."""
    place = tmp_path / "cache" / "weights"
    place.mkdir(parents=True)
    for path in Store(Settings(_env_file=None)).folder.iterdir():
        if "e5" in path.name or path.name == "stamps":
            (place / path.name).symlink_to(path)
    return str(place.parent)


def osrag(*command: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OSRAG_", "HF_"))}
    env = {**kept, "OSRAG_MAX_NEW_TOKENS": "16", "HF_HUB_DISABLE_XET": "1", **settings}
    return subprocess.run([sys.executable, "-m", "osrag", *command], cwd=ROOT, env=env, capture_output=True, text=True)


def asked(**settings: str) -> tuple[list[Mapping[str, str]], str]:
    """Events and stderr of a question that is answered all the same."""
    run = osrag("ask", "--json", QUESTION, **settings)
    assert "Traceback" not in run.stderr, run.stderr
    events = [json.loads(line) for line in run.stdout.splitlines()]
    assert any(event["type"] == "textbook_done" and event["text"] for event in events), run.stderr
    return events, run.stderr


def served(url: str, key: str, model: str) -> dict[str, str]:
    return {
        "OSRAG_PROFILE": "endpoint",
        "OSRAG_ENDPOINT_URL": url,
        "OSRAG_ENDPOINT_KEY": key,
        "OSRAG_ENDPOINT_MODEL": model,
    }


def test_profile_gpu_without_a_card():
    if this_machine().gpu_mib:
        pytest.skip("this machine has a graphics card")
    _, said = asked(OSRAG_PROFILE="gpu")
    assert "the small one on this machine answers instead" in said and "OSRAG_PROFILE=cpu" in said
    assert "the small one is used instead" in said
    foreseen = json.loads(osrag("info", "--json", OSRAG_PROFILE="gpu").stdout)["notices"]
    assert len(foreseen) == 2 and "no CUDA device" in foreseen[0]


def test_a_hub_that_cannot_be_reached(cache: str):
    wanted = {"OSRAG_ENCODER_BACKEND": "bge_m3", "OSRAG_CACHE_DIR": cache}
    run = osrag("search", "textbook", QUESTION, HF_ENDPOINT=AWAY, **wanted)
    assert run.returncode == 0 and "the small one is used instead" in run.stderr
    assert "cannot be reached" in run.stderr and "OSRAG_MODEL_DIR" in run.stderr
    run = osrag("search", "textbook", QUESTION, OSRAG_INDEX_REPO="me/os", HF_ENDPOINT=AWAY, OSRAG_CACHE_DIR=cache)
    assert run.returncode == 0 and "the one that comes with osrag is used instead" in run.stderr


def test_a_model_that_the_hub_does_not_have_and_one_that_is_gated(cache: str):
    wanted = {"OSRAG_ENCODER_BACKEND": "bge_m3", "OSRAG_CACHE_DIR": cache}
    with hub({}) as server:
        run = osrag("search", "textbook", QUESTION, HF_ENDPOINT=server.url, **wanted)
        assert run.returncode == 0 and "the hub has no model 'BAAI/bge-m3'" in run.stderr
        server.repos["models/BAAI/bge-m3"] = {"config.json": b"{}"}
        server.gated.add("models/BAAI/bge-m3")
        run = osrag("search", "textbook", QUESTION, HF_ENDPOINT=server.url, **wanted)
        assert run.returncode == 0 and "gated" in run.stderr and "HF_TOKEN" in run.stderr


def test_half_a_download(tmp_path: Path):
    (tmp_path / "bge-m3").mkdir()
    (tmp_path / "bge-m3" / "config.json").write_text("{}")
    run = osrag("search", "textbook", QUESTION, OSRAG_ENCODER_BACKEND="bge_m3", OSRAG_MODEL_DIR=str(tmp_path))
    assert run.returncode == 0 and "half a download" in run.stderr and "is used instead" in run.stderr


def test_no_chat_model_at_all_gives_extracts(cache: str):
    events, said = asked(OSRAG_CACHE_DIR=cache, OSRAG_SOURCES='["folder"]')
    assert "you only get passages quoted from the book" in said
    assert not [event for event in events if event["type"] == "error"]


def test_a_wrong_key_and_a_model_that_is_not_served():
    with faulty("good") as server:
        _, said = asked(**served(server.url, "sk-wrong-wrong-wrong", server.model))
        assert "refused the key (401)" in said and "OSRAG_ENDPOINT_KEY" in said and "sk-wrong" not in said
        _, said = asked(**served(server.url, server.key, "other-model"))
        assert "does not serve 'other-model'" in said and "small one on this machine" in said


def test_no_server_there():
    _, said = asked(**served(f"{AWAY}/v1", "sk-good-good-good", "m"))
    assert "cannot be reached" in said and "OSRAG_ENDPOINT_URL" in said and "small one on this machine" in said


def test_a_server_that_lies_about_its_model_gives_extracts_and_says_why():
    with faulty("lies") as server:
        events, _ = asked(**served(server.url, server.key, server.model))
    failed = next(event for event in events if event["type"] == "error")
    assert "tiny-cheap-model" in failed["message"] and "OSRAG_ENDPOINT_MODEL" in failed["hint"]
    done = next(event for event in events if event["type"] == "textbook_done")
    assert "Here is what the book says" in done["text"]
