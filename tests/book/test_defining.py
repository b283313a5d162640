"""Lines that say what a thing is."""

from pathlib import Path

import pytest

from osrag.book.compose import Composer
from osrag.book.defining import INTRODUCES, OPENS, defines, names_of
from osrag.book.search import TextbookSearch
from osrag.index.confidence import REFUSE
from tests.book.test_compose import TakesThese, passage
from tests.book.test_editions import document, search
from tests.fakes import FakeEncoder


def test_the_names_of_the_thing_asked_are_those_of_the_glossary_in_both_languages_too() -> None:
    assert {"race condition", "race", "竞态条件"} <= {*names_of("What is a race condition?")}
    assert {"写时复制", "copy on write"} <= {*names_of("什么是写时复制（copy on write）？")}
    assert names_of("Why are races hard to find?") == ()


@pytest.mark.parametrize(
    ("question", "line", "how"),
    [
        ("What is a semaphore?", "A semaphore is essentially an unsigned integer variable.", INTRODUCES),
        ("What is a semaphore?", "A semaphore holds a number of permits.", OPENS),
        ("What is a semaphore?", "An AND semaphore is a semaphore that asks for all resources at once.", 0),
        ("What is a race condition?", "The uncontrolled interactions are called races.", INTRODUCES),
        ("What is a page?", "The table is called a page table.", 0),
        ("What is DMA?", "Direct memory access (DMA) moves a block without the processor.", INTRODUCES),
        ("What is a working set?", "RAM has to hold the working set—the active parts of a process.", INTRODUCES),
        ("什么是线程？", "• 线程:一个CPU的基本执行单元", INTRODUCES),
        ("What is a thread?", "• 线程:一个CPU的基本执行单元", INTRODUCES),
        ("什么是管道？", "管道（pipe）是内核中的一个缓冲区。", INTRODUCES),
        ("什么是管道？", "命名管道（FIFO）在文件系统中有名字。", 0),
        ("什么是僵尸进程？", "已经终止、但没有被收走的进程叫僵尸进程。", INTRODUCES),
        ("什么是管程？", "管程把共享的资源封装起来。", OPENS),
        ("什么是管程？", "进程通过管程申请资源。", 0),
    ],
)
def test_a_line_says_what_a_thing_is_by_its_form(question: str, line: str, how: int) -> None:
    assert defines(line, names_of(question)) == how


def test_the_line_that_says_what_the_thing_is_comes_first_and_little_else_is_told() -> None:
    texts = [
        "An AND semaphore is taken for all resources at once.",
        "Trains wait at a red semaphore.",
        "A semaphore is an integer with two operations.",
    ]
    composer = Composer(FakeEncoder(), TakesThese(0.9, 0.2, 0.5))
    found = composer.compose("What is a semaphore?", [passage(n, text) for n, text in enumerate(texts, start=1)])
    assert [line.text for line in found] == [texts[2], texts[0]]


@pytest.fixture
def notes(tmp_path: Path) -> TextbookSearch:
    """Where a thing is named often, and said only at the end what it is."""
    texts = [f"Number {n} of the threads met a race, and a race met number {n}." for n in range(8)]
    return search(tmp_path, document("notes.pdf", [*texts, "Interactions without control are called races."], "en"))


def test_a_passage_that_says_what_the_thing_is_takes_one_of_the_last_places_and_answers(notes: TextbookSearch) -> None:
    found = notes.search("What is a race?", k=4)
    assert found.hits[-1].chunk.text.endswith("called races.")
    assert found.confidence >= REFUSE
    assert not notes.search("How many races were met?", k=4).hits[-1].chunk.text.endswith("called races.")
