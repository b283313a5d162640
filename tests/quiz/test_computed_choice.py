"""A choice whose options are figures is decided by the lab, without a model."""

import pytest

from osrag.models.protocols import ChatOptions
from osrag.quiz.choice import own_answer
from osrag.quiz.computed_choice import computed_choice
from tests.quiz.parts import CHOICE, Believer, item_of, judge_of, place

FAULTS = "For the reference string 1, 2, 3, 1, 2, 4, 1, 2, 5, 1 and 3 frames, empty at first, how many faults do "
FIFO = {
    "question": FAULTS + "FIFO have?",
    "options": {"A": "5", "B": "seven", "C": "9"},
    "answer": "",
    "explanation": "",
}
BOTH = {
    "question": FAULTS + "FIFO and LRU have?",
    "options": {"A": "FIFO 5, LRU 7", "B": "FIFO 7, LRU 6", "C": "FIFO 7, LRU 5"},
}
TRAP = {
    "question": "基址寄存器为 0x20000，界限寄存器为 0x3000。逻辑地址 0x2FFF 和 0x3000 的结果分别是什么？",
    "options": {"A": "0x22FFF 和 0x23000", "B": "陷入和陷入", "C": "0x22FFF 和陷入"},
}
HOLE = {
    "question": "主存 55MB（初始为空），采用最佳适配（Best Fit）算法：分配15MB，分配30MB，释放15MB，分配8MB，分配6MB，"
    "则此时主存中最大空闲分区的大小是（ ）",
    "options": {"A": "7MB", "B": "9MB", "C": "10MB", "D": "15MB"},
}
SCAN = {
    "question": "磁头当前位于第105道，正在向磁道序号增加的方向移动。请求序列为35，45，12，68，110，180，170，195，"
    "采用SCAN调度（电梯调度）算法得到的磁道访问序列是()",
    "options": {"A": "110，68，45，35，12，170，180，195", "B": "110，170，180，195，68，45，35，12"},
}
ABOUT = {
    "question": "A memory access takes 100 ns, servicing a fault 4 ms, and one access in 20 000 faults. "
    "What is the effective access time, about?",
    "options": {"A": "100 ns", "B": "200 ns", "C": "300 ns", "D": "0.3 ms"},
}
# The blank asks as "how many" does.
MOVED = {
    "language": "en",
    "question": "The arm is at cylinder 50, and requests for 60, 20 and 55 wait. Under SSTF the head moves () tracks.",
    "options": {"A": "3", "B": "40", "C": "50"},
}
WAITING = {
    "question": "信号量 S 的初值为 3，当前值为 -2，则表示有____个进程处于等待状态。",
    "options": {"A": "1", "B": "2", "C": "5"},
}
SHARED = {
    "question": "系统有 13 台磁带机，n 个进程共享，每个进程最多要 4 台。当n不超过（　）时，系统不会死锁。",
    "options": {"A": "3", "B": "4", "C": "5"},
}
FRAMES = {
    "question": "物理块数量为3，初始为空，页面访问序列为 1,2,3,1,2,4,1,2,5,1，采用 FIFO 算法的缺页次数为（ ）",
    "options": {"A": "5", "B": "7", "C": "9"},
}


@pytest.mark.parametrize(
    ("row", "key"), [(FIFO, "B"), (BOTH, "C"), (TRAP, "C"), (HOLE, "B"), (SCAN, "B"), (ABOUT, "C"), (CHOICE, None),
     (MOVED, "C"), (WAITING, "B"), (SHARED, "B"), (FRAMES, "B")]
)  # fmt: skip
def test_the_option_that_equals_the_result_is_found(row, key):
    found = computed_choice(item_of({**CHOICE, **row}))
    assert (found and found[0]) == key


def test_options_that_both_fit_or_do_not_fit_at_all_are_left_to_the_model():
    twice = {**CHOICE, **FIFO, "options": {"A": "7", "B": "7 faults", "C": "9"}}
    none = {**CHOICE, **FIFO, "options": {"A": "2", "B": "4", "C": "9"}}
    assert computed_choice(item_of(twice)) is None
    assert computed_choice(item_of(none)) is None
    more = {**CHOICE, **FIFO, "options": {"A": "7", "B": "7 and 5", "C": "9 and 5"}}
    assert computed_choice(item_of(more)) is None  # two figures are asked for, one is computed


def test_the_verdict_is_of_the_lab_with_its_steps_and_no_model_is_needed(tmp_path):
    *_, last = judge_of(tmp_path).judge(item_of({**CHOICE, **FIFO}), "B")
    found = last.judgement
    assert found.is_correct and found.decided_by == "lab" and not found.fallback and found.confidence > 0.9
    assert "7" in found.reasoning and found.analysis.count("\n") == 10


def test_a_model_that_holds_another_option_is_not_asked(tmp_path):
    judge = judge_of(tmp_path)
    item = item_of({**CHOICE, **FIFO})
    chat = Believer([["prose"]], belief=place(0))
    assert own_answer(item, judge.find(item), chat, ChatOptions(first_token_s=1.0)).keys == frozenset("B")
    assert not chat.weighed
