"""What kernel search takes from a question."""

import pytest

from osrag.kernel.query import (
    Missing,
    missing_note,
    other_version,
    outside_subjects,
    read_question,
    without_joined,
)


def test_a_chinese_question_gets_the_english_of_its_terms():
    read = read_question("写时复制在哪个函数里实现？")
    assert {"copi", "write"} <= set(read.words)
    assert "copy-on-write" in read.bridge


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what does try_to_wake_up do", ("try_to_wake_up",)),
        ("schedule() 做什么", ("schedule",)),
        ("解释 schedule 函数", ("schedule",)),
        ("the function of `brk`", ("brk",)),
        ("How does the scheduler work?", ()),
    ],
)
def test_names_that_are_asked_for(text: str, names: tuple[str, ...]):
    assert read_question(text).names == names


def test_what_a_model_adds_is_not_what_the_student_asked_for():
    read = read_question("malloc 的内存从哪里来", extra=["heap growth", "do_brk_flags()", "schedule"])
    assert read.names == ()
    assert read.suggested == ("do_brk_flags", "schedule")
    assert {"heap", "growth"} <= set(read.guessed)
    assert "growth" not in read.words
    assert read.bridge.endswith("heap growth do_brk_flags() schedule")


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("which functions call try_to_wake_up?", "callers"),
        ("Who calls schedule()?", "callers"),
        ("Where is do_exit called?", "callers"),
        ("谁调用了 handle_mm_fault", "callers"),
        ("do_exit 被谁调用", "callers"),
        ("调用 schedule 的地方有哪些", "callers"),
        ("Which functions does __schedule call?", "callees"),
        ("what is called by kernel_clone", "callees"),
        ("schedule 调用了哪些函数", "callees"),
        ("When a semaphore is released, which function is called to wake the waiter?", "either"),
        ("what does schedule() do?", ""),
    ],
)
def test_who_calls_whom(text: str, relation: str):
    assert read_question(text).relation == relation


@pytest.mark.parametrize(
    ("question", "about_type"),
    [
        ("What is in struct rq?", True),
        ("struct rq 里保存了什么？", True),
        ("vm_area_struct 结构有什么用？", True),
        ("结构体 cfs_rq 有哪些字段？", True),
        ("Which fields does task_struct have?", True),
        ("How does copy_mm copy mm_struct?", False),
        ("struct rq 由哪个函数分配？", False),
        ("Which function sets up struct rq?", False),
    ],
)
def test_whether_a_structure_is_wanted(question: str, about_type: bool):
    assert read_question(question).about_type == about_type


LONG = 200_000  # characters: what costs the square of them would take hours


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "a" * LONG,
        "_" * LONG,
        "aB" * (LONG // 2),
        "a" * LONG + " 调用 call",
        "linux" + " " * LONG + "x",
        "".join(f"f{number}_a " for number in range(LONG // 8)),
    ],
    ids=["word", "underscores", "camel", "relation", "blanks", "names"],
)
def test_a_long_text_costs_its_length_and_not_the_square_of_it(text: str):
    assert read_question(text).text == text
    assert other_version(text, "6.1.192") == ""


@pytest.mark.timeout(60)
def test_chinese_and_latin_by_turns_cost_no_cube():
    assert read_question("a被" * 5000 + " 调用").relation == "either"


@pytest.mark.parametrize(
    ("where", "said"),
    [("renamed", "in this version it has another name"), ("fs/", "it is in fs/"), ("", "6.1.192).")],
)
def test_a_note_says_where_a_missing_name_is(where: str, said: str):
    assert said in missing_note(Missing("do_fork", where, ()), "6.1.192", ["kernel", "mm"], "en")


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("Which IPI makes the others flush their TLB?", ["arch/x86/mm/tlb.c"]),
        ("刷新 TLB 时怎样通知别的 CPU？", ["arch/x86/mm/tlb.c"]),
        ("When does munmap flush the TLB?", []),
    ],
)
def test_a_subject_may_be_told_by_two_words_in_either_order(question: str, where: list[str]):
    assert [one.where for one in outside_subjects() if one.pattern.search(question)] == where


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("timerfd or nanosleep", "nanosleep"),
        ("How do nanosleep and timerfd end?", "How do nanosleep end?"),
        ("timerfd 和 nanosleep 怎样结束？", "nanosleep 怎样结束？"),
        ("How does timerfd end?", "How does timerfd end?"),
    ],
)
def test_a_question_without_one_of_the_things_that_it_joins(question: str, rest: str):
    assert without_joined(question, "timerfd") == rest
