"""A cache folder that is full or closed: a sentence where something must be written, nothing where it need not be."""

import sqlite3
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models

from osrag.errors import BadSettings, NoSpace
from osrag.index.build import embed
from osrag.models import e5
from osrag.models.llama_cpp import _linked
from osrag.models.sources import writing
from tests.fakes import FakeEncoder


def test_a_full_disk_is_told_with_its_folder_and_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(NoSpace, match=r"no space left on the disk") as told, writing(tmp_path):
        Path("/dev/full").write_text("x")
    assert "OSRAG_CACHE_DIR" in told.value.hint
    with pytest.raises(NoSpace), writing(tmp_path), sqlite3.connect(tmp_path / "kept.sqlite") as kept:
        kept.execute("PRAGMA max_page_count = 1")
        kept.execute("CREATE TABLE vectors (key)")
    with pytest.raises(NoSpace), writing(tmp_path):  # tokenizers and safetensors have no errors of the system
        Tokenizer(models.BPE()).save("/dev/full")


def test_a_closed_data_base_is_told_with_its_folder(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "kept.sqlite").execute("CREATE TABLE vectors (key)")
    address = f"file:{tmp_path / 'kept.sqlite'}?mode=ro"
    with pytest.raises(BadSettings, match=r"cannot write to .* Read-only file system"), writing(tmp_path):
        sqlite3.connect(address, uri=True).execute("INSERT INTO vectors VALUES (1)")


def test_embedding_into_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file stands here")
    with pytest.raises(BadSettings, match="cannot write to"):
        embed(["page"], FakeEncoder(), tmp_path / "cache")


def test_weights_that_cannot_be_converted_into_the_cache_are_a_sentence(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "cache").write_text("a file stands here")
    monkeypatch.setattr(e5, "read_packed", lambda path: None)
    monkeypatch.setattr(e5, "write_folder", lambda packed, folder: folder.mkdir(parents=True))
    with pytest.raises(BadSettings, match="cannot write to"):
        e5.load_e5(tmp_path / "packed.bin", tmp_path / "cache", sha256="0" * 64, threads=1)


def test_prefixes_of_a_closed_cache_are_read_where_they_lie(tmp_path: Path) -> None:
    cache, own = tmp_path / "prefixes", tmp_path / "own"
    for folder in (cache, own):
        folder.mkdir()
    (cache / "a.bin").write_bytes(b"what the engine made of it")
    assert _linked(cache, own) == own and (own / "a.bin").read_bytes() == b"what the engine made of it"
    assert _linked(tmp_path / "none", own) == _linked(None, own) == own
