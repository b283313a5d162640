"""Reading a kernel source, and what is said when it cannot be used."""

from pathlib import Path

import pytest

from osrag.errors import BadInput
from osrag.kernel.tree import read_tree
from tests.kernel.tree import FILES, write_archive, write_tree


@pytest.fixture(params=["directory", "archive"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_tree(tmp_path / "t") if request.param == "directory" else write_archive(tmp_path / "linux.tar.xz")


def test_files_of_the_subsystems_and_the_version(source: Path):
    tree = read_tree(source, ["kernel", "mm"])
    assert tree.version == "6.1.192"
    assert list(tree.files) == ["kernel/sched/core.c", "kernel/sched/fair.c", "mm/memory.c"]
    assert tree.under("mm") == {"mm/memory.c": FILES["mm/memory.c"].encode()}


def test_a_subsystem_below_the_top(source: Path):
    assert list(read_tree(source, ["net/ipv4"]).files) == ["net/ipv4/tcp.c"]


def test_a_tree_without_the_subsystem_names_what_it_has(source: Path):
    with pytest.raises(BadInput, match="no C files under 'fs'") as caught:
        read_tree(source, ["fs"])
    assert "kernel" in caught.value.hint


@pytest.mark.parametrize("name", ["../etc", "", "a b", "kernel;rm"])
def test_a_name_that_is_no_directory(source: Path, name: str):
    with pytest.raises(BadInput):
        read_tree(source, [name])


def test_no_source_there(tmp_path: Path):
    with pytest.raises(BadInput, match="no kernel source") as caught:
        read_tree(tmp_path / "nothing.tar.xz", ["kernel"])
    assert "linux-source-6.1" in caught.value.hint


def test_a_directory_that_is_no_kernel(tmp_path: Path):
    write_tree(tmp_path, {"kernel/a.c": "int a;\n"})
    with pytest.raises(BadInput, match="names no version"):
        read_tree(tmp_path, ["kernel"])


def test_an_archive_that_is_cut_off(tmp_path: Path):
    whole = write_archive(tmp_path / "linux.tar.xz").read_bytes()
    cut = tmp_path / "cut.tar.xz"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match=r"cut\.tar\.xz is no readable source archive"):
        read_tree(cut, ["kernel"])


def test_something_else_than_an_archive(tmp_path: Path):
    other = tmp_path / "book.pdf"
    other.write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(BadInput, match="no readable source archive"):
        read_tree(other, ["kernel"])
