import pytest

from osrag.answer.claims import check, contradiction, negated
from osrag.answer.statements import Evidence, asserted
from osrag.types import Chunk, PageRef, Passage
from tests.fakes import FakeEncoder


@pytest.mark.parametrize(
    ("text", "book", "reason"),
    [
        ("A page has 8 KB.", "A page has 4 KB.", "number"),
        ("A mutex can be unlocked by another thread.", "A mutex cannot be unlocked by another thread.", "negation"),
        ("中断处理程序可以睡眠。", "中断处理程序不能睡眠。", "negation"),
        ("Too long a slice turns it into FCFS.", "Too long a time slice degenerates to FCFS.", ""),
        ("分页没有外部碎片。", "分页系统没有外部碎片。", ""),
        ("需要十二个页框。", "需要12个页框。", ""),
        ("需要12个页框。", "需要十二个页框。", ""),
        ("需要十三个页框。", "需要12个页框。", "number"),
        ("A page has 4096 bytes.", "A page has 4,096 bytes.", ""),
        ("A page has 4,096 bytes.", "A page has 4096 bytes.", ""),
        ("缺页3次。", "缺页三次。", ""),
        ("不同进程的地址空间相互独立。", "各进程的地址空间相互独立。", ""),  # 不同 negates nothing
    ],
)
def test_what_turns_a_statement_round_is_seen(text, book, reason):
    assert contradiction(text, book, nearest=book) == reason


def test_a_number_of_the_question_may_be_repeated():
    assert contradiction("With 3 frames it faults.", "It faults.", nearest="It faults.", question="And with 3?") == ""


def test_negation_is_read_in_both_languages():
    assert negated("The value isn't zero.") and negated("不能被剥夺。")
    assert not negated("不断增长。") and not negated("Nothing else than note.")


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("“TLB未命中就是缺页。”", False),
        ("“Each miss is a page fault” is wrong.", True),
        ("把没有锁的读叫做“乐观读”。", True),
        ("A page that was written is called “dirty”.", True),
    ],
)
def test_a_quotation_is_not_asserted(text, own):
    assert asserted(text)[0] is own


def test_a_quotation_goes_on_over_sentences():
    said, still_open = asserted("“A miss is a fault.")
    assert not said and still_open
    assert asserted("It always is.”", in_quotes=still_open) == (False, False)


MISTAKE = "Pitfall. “A miss in the TLB is a page fault.” A miss in the TLB only says that the entry is elsewhere."


def test_a_mistake_that_the_book_quotes_supports_nothing_and_is_not_quoted():
    chunk = Chunk("b#1", MISTAKE, "book.pdf", PageRef(1, 1, "1"), 1, ("6 Memory",), "en")
    evidence = Evidence([Passage(1, chunk, 1.0, 1.0)], FakeEncoder())
    assert check("A miss in the TLB is a page fault.", evidence).passage is None
    assert check("A miss in the TLB only says that the entry is elsewhere.", evidence).passage == 1
    assert [statement.text for statement in evidence.statements if statement.quotable] == [
        "A miss in the TLB only says that the entry is elsewhere."
    ]


SIGNALS = (
    "An interrupt comes from outside the processor and is asynchronous to the program. "
    "An exception is caused by the current instruction, such as a division by zero, and is synchronous."
)


# A word that joins a sentence to the one before it is not its subject.
@pytest.mark.parametrize("begins", ["An", "Therefore an"])
def test_what_the_book_says_of_another_thing_supports_nothing(begins):
    chunk = Chunk("b#1", SIGNALS, "book.pdf", PageRef(1, 1, "1"), 1, ("1 Introduction",), "en")
    evidence = Evidence([Passage(1, chunk, 1.0, 1.0)], FakeEncoder())
    said = "is caused by the current instruction, such as a division by zero, and is synchronous to it."
    assert check(f"{begins} exception {said}", evidence).passage == 1
    assert check(f"{begins} interrupt {said}", evidence).passage is None


def test_a_figure_of_the_sentence_beside_it_is_another_figure():
    text = (
        "A semaphore with the initial value 0 makes one statement wait for another. "
        "A semaphore with the initial value 1 is called a binary semaphore."
    )
    evidence = Evidence(
        [Passage(1, Chunk("b#1", text, "book.pdf", PageRef(1, 1, "1"), 1, ("4",), "en"), 1.0, 1.0)], FakeEncoder()
    )
    said = "A semaphore with the initial value {} is also called a binary semaphore."
    assert check(said.format(1), evidence).passage == 1
    assert check(said.format(0), evidence).passage is None
