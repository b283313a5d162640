"""What is pushed to a Space, for each kind of hardware."""

import functools
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from osrag.errors import BadInput, BadSettings
from osrag.settings import ROOT
from osrag.space import (
    HARDWARE,
    SECRET,
    Assembled,
    Hardware,
    assemble,
    check,
    header_for,
    header_problems,
    push,
    read_header,
    requirements_for,
)
from osrag.ui.theme import LOGO, SCRIPT, STYLES
from tests.large.fake_hub import files_of, hub


@pytest.fixture(scope="module")
def spaces(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Hardware], tuple[Path, Assembled]]:
    """The folder that is pushed for a hardware, of some 90 MB, and what is wrong with it; made once."""

    @functools.cache
    def space(hardware: Hardware) -> tuple[Path, Assembled]:
        folder = tmp_path_factory.mktemp("space") / "out"
        return folder, assemble(folder, hardware)

    return space


@pytest.fixture(scope="module")
def made(spaces) -> Path:
    return spaces("cpu-basic")[0]


@pytest.mark.parametrize("hardware", HARDWARE)
def test_this_repository_is_a_space_for_every_hardware(hardware: Hardware, spaces):
    folder, result = spaces(hardware)
    assert result.problems == ()
    assert result.bytes < 100_000_000
    names = {path.name for path in folder.iterdir()}
    assert {"app.py", "osrag", "index", "assets", "examples", "README.md", "requirements.txt", "packages.txt"} <= names
    assert not {"tests", "tools", "bench", ".git", ".venv"} & names
    assert not list(folder.rglob("__pycache__"))


def test_what_the_page_shows_lies_in_assets(made: Path):
    for path in (LOGO, STYLES, SCRIPT):
        assert (made / path.relative_to(ROOT)).read_bytes() == path.read_bytes()
    preview = (made / "assets" / "social-preview.png").read_bytes()
    assert struct.unpack(">II", preview[16:24]) == (1280, 640)  # what a shared link shows
    assert len(preview) < 300_000


def test_the_lists_differ_by_hardware():
    cpu, t4, zero = (" ".join(requirements_for(hardware)) for hardware in HARDWARE)
    assert "faiss-cpu" in cpu and "bitsandbytes" not in cpu
    assert "faiss-cpu" in t4 and "bitsandbytes" in t4
    assert "faiss-cpu" in zero and "spaces" in zero
    assert all("-r " not in text for text in (cpu, t4, zero))


def test_the_header_names_what_the_hardware_loads(spaces):
    header = read_header(ROOT / "README.md")
    t4 = header_for(header, "t4-small")
    assert t4["suggested_hardware"] == "t4-small" and "Qwen/Qwen3-8B" in t4["models"] and "BAAI/bge-m3" in t4["models"]
    made, _ = spaces("t4-small")
    assert read_header(made / "README.md") == t4
    body = (ROOT / "README.md").read_text("utf-8").split("\n---\n", 1)[1]
    assert (made / "README.md").read_text("utf-8").endswith(f"\n---\n{body}")
    assert isinstance(header_for(header, "zero-a10g")["python_version"], str)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda d: (d / "osrag" / "big.bin").write_bytes(b"0" * 10_000_001), "10.0 MB"),
        (lambda d: (d / "docs.md").write_text("hf_" + "a" * 34), "looks like a key"),
        (lambda d: (d / "docs.md").write_text('"sk-' + "a" * 34), "looks like a key"),
        (lambda d: (d / "packages.txt").write_text("# OpenMP\nlibgomp1\n"), "no package name"),
        (lambda d: (d / "packages.txt").unlink(), "packages.txt is missing"),
        (lambda d: (d / "app.py").unlink(), "app_file app.py is missing"),
        (lambda d: (d / "README.md").write_text("# osrag"), "no header"),
        (lambda d: (d / "README.md").write_text("---\na: [b\n---\n"), "no list of names and values"),
        (lambda d: (d / "README.md").write_text("---\n- a\n---\n"), "no list of names and values"),
        (lambda d: (d / "requirements.txt").write_text("gradio==6.0.0\nnumpy\nnumpy>1\n"), "names numpy 2 times"),
        (lambda d: (d / "requirements.txt").write_text("gradio==6.0.0\n=oops\n"), "is no requirement"),
        (lambda d: (d / "requirements.txt").write_text("gradio==5.0.0\n"), "pins gradio 5.0.0"),
        (lambda d: next((d / "index").rglob("*.faiss")).unlink(), "lacks vectors"),
        (lambda d: shutil.rmtree(d / "index"), "nothing to answer from"),
    ],
)
def test_what_would_not_start_is_named(change, word: str, made: Path, tmp_path: Path):
    copy = tmp_path / "copy"

    def copied(old: str, new: str) -> None:
        (os.link if "/index/" in old else shutil.copy2)(old, new)  # it is large, and nothing writes into it

    shutil.copytree(made, copy, copy_function=copied)
    change(copy)
    assert any(word in problem for problem in check(copy).problems), check(copy).problems


def test_header_complaints():
    bad = {"colorFrom": "teal", "sdk": "docker", "python_version": 3.11, "short_description": "x" * 61}
    found = "\n".join(header_problems(bad, gradio="6.31.0"))
    for word in ("title: Field required", "colorFrom: Input", "sdk: ", "python_version: ", "60 characters"):
        assert word in found


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.doc").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        assemble(tmp_path, "cpu-basic")
    assert (tmp_path / "thesis.doc").read_text() == "mine"


@pytest.mark.filterwarnings("ignore:It seems that you are about to commit a data file")
def test_what_is_pushed_is_what_was_assembled(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_TOKEN", "hf_goodtoken")
    with hub({}) as server:
        server.repos["spaces/me/os"] = {"old.py": b"from an earlier version"}
        address = push(made, "me/os", "cpu-basic", endpoint=server.url)
        assert "spaces/me/os" in address
        expected = files_of(made)
        del expected[".osrag-space"]
        assert server.repos["spaces/me/os"] == expected
        monkeypatch.setenv("HF_TOKEN", "hf_readonly")
        with pytest.raises(BadSettings, match="refused"):
            push(made, "me/new", "cpu-basic", endpoint=server.url)
        with pytest.raises(BadInput, match="is no name of a space"):
            push(made, "os", "cpu-basic", endpoint=server.url)


def test_a_long_name_is_no_key():
    assert not SECRET.search(b"a disk-" + b"a" * 40) and SECRET.search(b"a sk-" + b"a" * 40)
