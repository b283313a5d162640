"""One question in many wordings has one normal form; another question has another."""

import pytest

from osrag.answer.normal_form import normal_form


@pytest.mark.parametrize(
    "text",
    [
        "What is a monitor?",
        "what's a monitor",
        "What are monitors?",
        "Please define monitor.",
        "What does monitor mean in operating systems?",
        "What is meant by a monitor?",
        "monitor definition",
        "monitors",
    ],
)
def test_an_english_question_what_a_thing_is_has_one_form(text: str) -> None:
    assert normal_form(text) == normal_form("Explain monitors")


@pytest.mark.parametrize(
    "text",
    [
        "什么是管程？",
        "管程是什么？",
        "管程（monitor）是什么意思",
        "请解释一下管程",
        "操作系统中的管程的定义是什么？",
        "“管程”",
        "管程 概念",
    ],
)
def test_a_chinese_question_what_a_thing_is_has_one_form(text: str) -> None:
    assert normal_form(text) == normal_form("什么叫管程")


def test_names_of_one_term_have_one_form() -> None:
    assert normal_form("What is the TLB?") == normal_form("What is a translation lookaside buffer?")
    assert normal_form("什么是 PCB？") == normal_form("进程控制块是什么")


@pytest.mark.parametrize(
    "text",
    [
        "What is the difference between paging and segmentation?",
        "Compare segmentation and paging.",
        "paging vs segmentation",
        "How does segmentation differ from paging?",
        "Distinguish paging from segmentation",
    ],
)
def test_two_things_are_compared_in_any_order_and_frame(text: str) -> None:
    assert normal_form(text) == normal_form("differences between segmentation and paging")


def test_two_things_are_compared_in_chinese() -> None:
    forms = {
        normal_form(text)
        for text in ("分段和分页的区别是什么？", "试比较分页与分段", "分页跟分段有什么不同", "分页 分段 区别")
    }
    assert len(forms) == 1


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("What is a monitor used for?", "What is a monitor?"),
        ("Why is a monitor needed?", "What is a monitor?"),
        ("What is a file system?", "What is a file?"),
        ("什么是管程的条件变量？", "什么是管程？"),
        ("管程为什么比信号量容易用？", "什么是管程？"),
        ("管程有什么用？", "什么是管程？"),
        ("What is a file name?", "What is a file?"),
        ("它有什么作用？（页表）", "操作系统的作用"),
        ("What is its purpose?", "purpose of an operating system"),
        ("管程和信号量有什么区别？", "什么是管程？"),
        (
            "What is the difference between a monitor and a semaphore?",
            "What is the difference between a monitor and a lock?",
        ),
    ],
)
def test_another_question_has_another_form(text: str, other: str) -> None:
    assert normal_form(text) != normal_form(other)


def test_a_question_of_nothing_but_a_frame_has_none() -> None:
    assert normal_form("请解释一下") == normal_form("What is the difference?") == ()


def test_steps_are_asked_for_in_many_words() -> None:
    forms = {normal_form(text) for text in ("银行家算法的步骤", "简述银行家算法的执行过程", "银行家算法是怎样工作的？")}
    assert len(forms) == 1 and normal_form("银行家算法有什么缺点？") not in forms


def test_the_order_of_words_counts_where_nothing_is_compared() -> None:
    assert normal_form("进程怎样从就绪态到运行态？") != normal_form("进程怎样从运行态到就绪态？")
    assert normal_form("When does a page fault not occur?") != normal_form("When does a page fault occur?")
