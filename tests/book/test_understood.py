"""What a question is understood to be about, and what the search makes of it."""

from pathlib import Path

import pytest

from osrag.book.search import TextbookSearch
from osrag.book.understood import lab_in, understand
from osrag.index.collection import Collection
from osrag.types import Chunk
from tests.book.documents import Documents

ENTRIES = {"mmap", "read", "pthread_cond_signal"}


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("What are the parameters of mmap?", ("mmap",)),
        ("mmap 的参数有哪些？", ("mmap",)),
        ("What does read() return at the end of a file?", ("read",)),
        ("pthread_cond_signal 失败时返回什么？", ("pthread_cond_signal",)),
        ("What does EINTR mean for read?", ("read",)),
        ("Where can I read about paging?", ()),  # a word of English
        ("Why is mmap() fast?", ()),  # the book tells, not the reference
        ("What are the parameters of do_mmap?", ()),
    ],
)
def test_who_asks_for_the_interface_of_a_function_wants_its_entry(text: str, calls: tuple[str, ...]) -> None:
    assert understand(text, ENTRIES).calls == calls


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("页表和段表有什么区别？", ("页表", "段表")),
        ("How does a mutex differ from a semaphore?", ("mutex", "semaphore")),
        ("What is a page table?", ()),
        ("Compare paging.", ()),
    ],
)
def test_a_comparison_names_two_things(text: str, compared: tuple[str, ...]) -> None:
    assert understand(text).compared == compared


def test_a_lab_is_known_by_its_number() -> None:
    texts = (
        "How do I start lab 1?",
        "LAB-2",
        "实验三要改什么",
        "第 4 个实验",
        "lab-5-locks.en.md",
        "实验六 写一个文件系统",
    )
    assert [lab_in(text) for text in texts] == [1, 2, 3, 4, 5, 6]
    assert lab_in("a label 3, laboratories and 实验报告") is None


@pytest.fixture
def search(tmp_path: Path) -> TextbookSearch:
    shelf = Documents(tmp_path, tmp_path / "index")
    entry = "```c\n{0}(int fd);\n```\n\nMaps things.\n"
    reference = "# Calls\n\n" + "\n".join(f"## {name}\n\n{entry.format(f'int {name}')}" for name in ("mmap", "brk"))
    shelf.build(
        shelf.write("calls.md", reference),
        shelf.write("book.md", "# Mapping\n\nThe parameters of mmap, which parameters mmap has: mmap parameters.\n"),
        shelf.write("lab-3-trees.md", "# Trees\n\nBuild the tree.\n\n# Files\n\nHand in a report.\n"),
    )
    return TextbookSearch(Collection.load(shelf.index, shelf.encoder.id, of=Chunk), shelf.encoder)


def test_the_entry_comes_before_pages_that_speak_of_it(search: TextbookSearch) -> None:
    assert search.search("What are the parameters of mmap?").hits[0].chunk.section == ("mmap",)
    assert search.search("Why mmap?").hits[0].chunk.source == "book.md"


def test_a_lab_that_is_named_comes_first_and_is_no_reason_to_refuse(search: TextbookSearch) -> None:
    found = search.search("What is asked for in lab 3?")
    assert {hit.chunk.source for hit in found.hits[:2]} == {"lab-3-trees.md"}
    assert search.signals("What is asked for in lab 3?")["terms"] == 1
