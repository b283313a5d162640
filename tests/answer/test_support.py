import pytest

from osrag.answer.support import contradiction, negated


@pytest.mark.parametrize(
    ("text", "book", "reason"),
    [
        ("Too short a time slice degenerates to FCFS.", "Too long a time slice degenerates to FCFS.", "opposite"),
        ("时间片过短会退化为先来先服务。", "时间片过长会退化为先来先服务。", "opposite"),
        ("A page has 8 KB.", "A page has 4 KB.", "number"),
        ("A mutex can be unlocked by another thread.", "A mutex cannot be unlocked by another thread.", "negation"),
        ("中断处理程序可以睡眠。", "中断处理程序不能睡眠。", "negation"),
        ("Too long a slice turns it into FCFS.", "Too long a time slice degenerates to FCFS.", ""),
        ("分页没有外部碎片。", "分页系统没有外部碎片。", ""),
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
