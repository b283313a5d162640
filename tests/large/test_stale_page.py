"""An index of another encoder, from parts to page: the old one serves, the page says so, the new one takes over."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from osrag.answer.events import Retrieved, SourceDone
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.app.run import answer
from osrag.book.chunking import search_text
from osrag.errors import BadIndex
from osrag.index.collection import write_collection
from osrag.index.manifest import read_manifest
from osrag.models.bge import BgeM3
from osrag.models.sources import ENCODER
from osrag.settings import Settings
from osrag.text import tokens
from osrag.types import Chunk, LineRef
from tests.fakes import FakeEncoder
from tests.large import tiny

pytest.importorskip("FlagEmbedding", reason="requirements-gpu.txt is not installed")

OLD = FakeEncoder()
FACTS = [
    "A semaphore is an integer that only two atomic operations change.",
    "A page table maps the pages of a process to frames.",
    "A deadlock needs mutual exclusion, hold and wait, no preemption and circular wait.",
]


@pytest.fixture
def go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def settings(tmp_path: Path, go: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Profile `retrieval` with a tiny BGE-M3 and an index that another encoder made; nothing can be fetched."""
    texts = [*FACTS, *(f"Filler number {place} about nothing." for place in range(297))]
    chunks = [
        Chunk(f"c{place}", text, "book.md", LineRef(place + 1, place + 1), place, ("1 Basics",), "en")
        for place, text in enumerate(texts)
    ]
    embedded = [search_text(chunk) for chunk in chunks]
    write_collection(
        tmp_path / "index" / "textbook",
        chunks,
        OLD.passages(embedded),
        [tokens(text) for text in embedded],
        of=Chunk,
        name="textbook",
        encoder=OLD.id,
    )
    tiny.bge_m3(tmp_path / "models" / "bge-m3")
    monkeypatch.setattr("osrag.models.load.ENCODER", replace(ENCODER, sha256={}))  # other bytes than the real one's
    embed = BgeM3.passages

    def held_up(self: BgeM3, passages: Sequence[str]) -> Any:
        if len(passages) > 50:
            assert go.wait(300)
        return embed(self, passages)

    monkeypatch.setattr(BgeM3, "passages", held_up)
    return Settings(
        profile="retrieval",
        encoder_backend="bge_m3",
        model_dir=tmp_path / "models",
        cache_dir=tmp_path / "cache",
        index_dir=tmp_path / "index",
        sources=("folder",),
        _env_file=None,
    )


def ask(parts: Parts, question: str) -> tuple[Retrieved, SourceDone]:
    events = list(answer(parts, Question(question)))
    found = next(event for event in events if isinstance(event, Retrieved) and event.passages)
    return found, next(event for event in events if isinstance(event, SourceDone))


def renewed(parts: Parts) -> None:
    renewal = parts.stale["textbook"].renewal
    assert renewal is not None
    renewal.join(300)
    assert renewal.error == ""


def test_keywords_serve_until_the_new_index_takes_over(settings: Settings, go: threading.Event):
    parts = Parts(settings, renew=True)
    found, done = ask(parts, "What is a semaphore?")
    assert found.passages[0].chunk.id == "c0" and "semaphore is an integer" in done.text
    old = parts.book_source
    assert parts.textbook.search("What is a page table?", k=1).hits[0].chunk.id == "c1"
    line = " ".join(parts.status("en"))
    assert "keywords alone" in line and "(fake)" in line and "0 of 300" in line
    assert "只按关键词检索" in " ".join(parts.status("zh"))
    go.set()
    renewed(parts)
    assert parts.status("en") == [] and parts.textbook.collection.manifest.encoder == parts.encoder_id
    assert parts.book_source is not old
    found, _ = ask(parts, "What is a semaphore?")
    assert found.passages[0].similarity > 0
    assert read_manifest(settings.index_dir / "textbook").encoder == OLD.id  # what was there is left alone
    again = Parts(settings, renew=True)
    assert again.textbook.collection.manifest.encoder == parts.encoder_id and not again.stale


def test_the_old_one_serves_by_its_own_encoder_where_that_is_here(settings: Settings, go: threading.Event):
    parts = Parts(settings, renew=True)
    parts.__dict__["checker"] = OLD
    found, _ = ask(parts, "What is a semaphore?")
    assert found.passages[0].chunk.id == "c0" and found.passages[0].similarity > 0.3
    assert "which searches for now" in " ".join(parts.status("en"))
    go.set()
    renewed(parts)
    assert parts.textbook.encoder is parts.encoder and parts.status("en") == []


def test_a_renewal_that_fails_leaves_the_old_one_and_says_so(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("osrag.index.build._open_cache", full)
    parts = Parts(settings, renew=True)
    ask(parts, "What is a semaphore?")
    renewal = parts.stale["textbook"].renewal
    assert renewal is not None
    renewal.join(300)
    assert "could not be made" in parts.status("en")[-1] and "free some space" in parts.status("en")[-1]
    assert not parts.renewing
    assert parts.textbook.search("page table", k=1).hits[0].chunk.id == "c1"


def test_a_command_refuses_and_names_the_one_that_mends_it(
    settings: Settings, go: threading.Event, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(BadIndex, match="made by fake") as caught:
        _ = Parts(settings).textbook
    assert caught.value.hint.endswith("python -m osrag renew")
    go.set()
    from osrag.cli import parser

    args = parser().parse_args(["renew"])
    assert args.run(args, settings) == 0
    place = Path(capsys.readouterr().out.strip())
    assert read_manifest(place).counts["searchable"] == 300
    assert Parts(settings).textbook.search("page table", k=1).hits


def test_the_page_shows_it_and_the_endpoint_too(settings: Settings, go: threading.Event):
    gradio_client = pytest.importorskip("gradio_client")
    from osrag.ui.app import banner, build, serve
    from tests.e2e.conftest import free_port

    parts = Parts(settings.model_copy(update={"port": free_port()}), renew=True)
    parts.prepare()
    page = build(parts)
    serve(page, parts.settings, parts.metrics, block=False)
    try:
        client = gradio_client.Client(f"http://127.0.0.1:{parts.settings.port}", verbose=False)
        told = client.predict(api_name="/info")
        assert any("keywords alone" in line for line in told["notices"]["en"])
        assert told["running"] == {"chat": None, "encoder": "bge-m3", "reranker": None}
        assert "os-notice" in banner(parts, "zh") and parts.renewing
        assert client.predict("What is a semaphore?", "fast", api_name="/ask_textbook")["answer"]
        go.set()
        renewed(parts)
        assert client.predict(api_name="/info")["notices"] == {"zh": [], "en": []}
        assert banner(parts, "zh") == "" and not parts.renewing
        assert client.predict("What is a semaphore?", "fast", api_name="/ask_textbook")["answer"]
    finally:
        page.close()
