"""Adding, replacing, removing: only what changed is touched, and nothing is ever lost."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from osrag.book import build as build_module
from osrag.book.chunking import Cut
from osrag.errors import BadIndex, BadInput, NoSpace
from osrag.index.collection import Collection
from osrag.index.manifest import read_manifest
from osrag.types import Chunk
from tests import pdfs
from tests.book.documents import Documents
from tests.fakes import FakeEncoder

FORK = "# Processes\n\nThe call fork creates a child process.\n\n# Ends\n\nA zombie was not waited for.\n"
PAGING = "# Memory\n\nPaging divides memory into frames of equal size.\n"


class Shelf(Documents):
    def __init__(self, root: Path) -> None:
        super().__init__(root, root / "index")

    def load(self) -> Collection[Chunk]:
        return Collection.load(self.index, self.encoder.id, of=Chunk)

    def texts(self) -> list[str]:
        held = self.load()
        return [held.chunk(row).text for row in range(len(held))]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_documents_are_added_and_listed(shelf: Shelf) -> None:
    report = shelf.build(shelf.write("fork.md", FORK), shelf.write("paging.md", PAGING))
    assert report.added == ("fork.md", "paging.md")
    assert [(entry.name, entry.chunks, entry.language) for entry in read_manifest(shelf.index).documents] == [
        ("fork.md", 2, "en"),
        ("paging.md", 1, "en"),
    ]
    held = shelf.load()
    rows, _ = held.dense.nearest(shelf.encoder.queries(["paging frames"])[0], 1)
    assert held.chunk(int(rows[0])).source == "paging.md"


def test_the_same_file_twice_changes_nothing(shelf: Shelf) -> None:
    path = shelf.write("fork.md", FORK)
    shelf.build(path)
    before = {file.name: file.stat().st_mtime_ns for file in shelf.index.iterdir() if not file.name.startswith(".")}
    report = shelf.build(path)
    assert (report.unchanged, report.changed, report.embedded) == (("fork.md",), False, 0)
    assert {name: (shelf.index / name).stat().st_mtime_ns for name in before} == before


def test_chunks_are_as_long_as_is_wished(shelf: Shelf) -> None:
    path = shelf.write("long.md", "# Paging\n\n" + "A page fault is raised when the page is not in memory. " * 40)
    usual = shelf.build(path).manifest
    fine = shelf.build(path, cut=Cut(limit=400, overlap=100)).manifest
    assert usual and fine and fine.counts["chunks"] > 2 * usual.counts["chunks"]
    assert max(map(len, shelf.texts())) <= 440


def test_a_document_says_its_version_and_where_readers_find_it(shelf: Shelf) -> None:
    told = shelf.write("fork.md", f"---\nversion: 2nd edition\n---\n{FORK}")
    shelf.build(told, shelf.write("paging.md", PAGING), version="draft", url="https://os.example.edu/book")
    found = {chunk.source: (chunk.version, chunk.url) for chunk in shelf.load().chunks()}
    assert found == {
        "fork.md": ("2nd edition", "https://os.example.edu/book"),
        "paging.md": ("draft", "https://os.example.edu/book"),
    }


def test_the_same_text_set_in_another_way_is_the_same(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    report = shelf.build(shelf.write("fork.md", FORK.replace("\n", "\r\n").replace("The call", "The  call")))
    assert report.unchanged == ("fork.md",)


def test_a_changed_file_is_replaced_and_only_its_new_passages_are_embedded(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK), shelf.write("paging.md", PAGING))
    shelf.encoder.embedded.clear()
    report = shelf.build(shelf.write("fork.md", FORK.replace("A zombie", "An orphan")))
    assert report.replaced == ("fork.md",)
    assert shelf.encoder.embedded == ["Ends\nAn orphan was not waited for."]
    assert shelf.texts() == [
        "The call fork creates a child process.",
        "An orphan was not waited for.",
        "Paging divides memory into frames of equal size.",
    ]


def test_untouched_documents_need_no_cache(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    (shelf.root / "cache" / "embeddings.sqlite").unlink()
    shelf.encoder.embedded.clear()
    shelf.build(shelf.write("paging.md", PAGING))
    assert shelf.encoder.embedded == ["Paging divides memory into frames of equal size."]  # one H1 is the title


def test_a_document_is_removed(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK), shelf.write("paging.md", PAGING))
    assert shelf.build(remove=["fork.md"]).removed == ("fork.md",)
    assert shelf.texts() == ["Paging divides memory into frames of equal size."]
    with pytest.raises(BadInput, match=r"no document called nothing\.md") as refused:
        shelf.build(remove=["nothing.md"])
    assert refused.value.hint == "there are: paging.md"


def test_the_last_document_can_be_removed(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    shelf.build(remove=["fork.md"])
    assert len(shelf.load()) == 0


def test_two_files_of_one_name_are_refused(shelf: Shelf) -> None:
    (shelf.root / "zh").mkdir()
    with pytest.raises(BadInput, match=r"two files are called 'a\.md'"):
        shelf.build(shelf.write("a.md", FORK), shelf.write("zh/a.md", PAGING))


def test_a_bad_file_is_reported_and_the_good_ones_go_in(shelf: Shelf) -> None:
    bad = pdfs.encrypted(shelf.root / "bad.pdf")
    report = shelf.build(bad, shelf.write("fork.md", FORK), shelf.root / "missing.md")
    assert report.added == ("fork.md",)
    assert [name for name, _ in report.failed] == ["bad.pdf", "missing.md"]
    assert "asks for a password" in report.failed[0][1]


def test_a_bad_new_version_leaves_the_document_in_the_index(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    report = shelf.build(shelf.write("fork.md", ""))
    assert report.failed
    assert len(shelf.load()) == 2


def test_only_bad_files_make_no_index(shelf: Shelf) -> None:
    report = shelf.build(pdfs.scanned(shelf.root / "scan.pdf"))
    assert report.manifest is None
    with pytest.raises(BadIndex, match="no index at"):
        read_manifest(shelf.index)


def test_pages_without_text_are_kept_as_a_warning(shelf: Shelf) -> None:
    words = [pdfs.text(50, 80, "Paging divides memory into frames.")]
    shelf.build(pdfs.make_pdf(shelf.root / "book.pdf", [[pdfs.picture()], words, [pdfs.picture()]]))
    (entry,) = read_manifest(shelf.index).documents
    assert (entry.pages, entry.warnings) == (3, ("Pages without text, and none can be recognised: 1, 3",))


def test_the_index_knows_where_its_documents_lie(shelf: Shelf) -> None:
    path = shelf.write("fork.md", FORK)
    shelf.build(path)
    (entry,) = read_manifest(shelf.index).documents
    assert entry.path == "../fork.md"
    assert entry.file(shelf.index) == path.resolve()
    path.unlink()
    assert entry.file(shelf.index) is None


def test_a_contents_page_is_kept_but_not_searched(shelf: Shelf) -> None:
    shelf.build(shelf.write("book.md", "# Contents\n\nScheduling, page 45.\n\n# Scheduling\n\nThreads take turns.\n"))
    held = shelf.load()
    assert (len(held), held.searchable) == (2, 1)
    assert held.chunk(1).subcategory == "contents"


def test_another_encoder_makes_the_vectors_anew(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    shelf.encoder = FakeEncoder(revision="fake-2", dim=32)
    report = shelf.build()
    assert report.embedded == 2
    assert shelf.load().manifest.encoder == shelf.encoder.id


def test_a_damaged_index_is_not_built_upon(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    name = read_manifest(shelf.index).files["vectors"]
    (shelf.index / name).write_bytes(b"rubbish")
    with pytest.raises(BadIndex, match="is damaged") as refused:
        shelf.build(shelf.write("paging.md", PAGING))
    assert "--fresh" in refused.value.hint
    shelf.build(shelf.root / "paging.md", fresh=True)
    assert len(shelf.load()) == 1


def test_a_full_disk_loses_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.build(shelf.write("fork.md", FORK))

    def full(*args: object, **named: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(build_module, "write_collection", full)
    with pytest.raises(NoSpace, match="previous index is unchanged"):
        shelf.build(shelf.write("paging.md", PAGING))
    monkeypatch.undo()
    assert len(shelf.load()) == 2
    shelf.encoder.embedded.clear()
    shelf.build(shelf.root / "paging.md")
    assert (len(shelf.load()), shelf.encoder.embedded) == (3, []), "the embeddings were kept"


SLOW_BUILD = """
import sys, time
from pathlib import Path
from osrag.book.chunking import Cut
from osrag.book.build import build_textbook
from tests.fakes import FakeEncoder
from tests.book.documents import Documents

class Slow(FakeEncoder):
    def passages(self, texts):
        print("embedding", len(texts), flush=True)
        time.sleep(0.2)
        return super().passages(texts)

root = Path(sys.argv[1])
build_textbook(root / "index", [root / "long.md"], Slow(), cache_dir=root / "cache")
"""


def start_build(root: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SLOW_BUILD, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "."},
    )


@pytest.mark.slow  # a build in a process of its own
def test_a_killed_build_leaves_the_old_index_and_goes_on_where_it_stopped(shelf: Shelf) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    shelf.write("long.md", "\n\n".join(f"# Part {n}\n\nThe policy number {n} evicts page {n}." for n in range(900)))
    killed = start_build(shelf.root)
    assert killed.stdout is not None
    killed.stdout.readline()
    killed.stdout.readline()  # the second batch begins: the first is in the cache
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(shelf.load()) == 2, "the previous index works"

    report = shelf.build(shelf.root / "long.md")
    assert report.added == ("long.md",)
    assert 0 < report.embedded <= 900 - 256, "what was embedded before the kill is not embedded again"
    assert len(shelf.load()) == 902


@pytest.mark.slow  # a build in a process of its own
@pytest.mark.parametrize("moment", [0.0, 0.3, 0.8, 1.5])
def test_at_any_moment_there_is_a_whole_index(shelf: Shelf, moment: float) -> None:
    shelf.build(shelf.write("fork.md", FORK))
    shelf.write("long.md", "\n\n".join(f"# Part {n}\n\nThe policy number {n} evicts page {n}." for n in range(300)))
    killed = start_build(shelf.root)
    assert killed.stdout is not None
    killed.stdout.readline()
    time.sleep(moment)
    killed.kill()
    killed.wait()
    assert len(shelf.load()) in (2, 302)


@pytest.mark.slow  # a build in a process of its own
def test_two_builds_at_once_do_not_lose_a_document(shelf: Shelf) -> None:
    shelf.write("long.md", "\n\n".join(f"# Part {n}\n\nThe policy number {n} evicts page {n}." for n in range(300)))
    other = start_build(shelf.root)
    shelf.build(shelf.write("fork.md", FORK))
    assert other.wait(timeout=300) == 0
    assert {entry.name for entry in read_manifest(shelf.index).documents} == {"fork.md", "long.md"}
