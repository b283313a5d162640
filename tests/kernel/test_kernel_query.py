"""What kernel search takes from a question."""

import pytest

from osrag.kernel.query import read_question


def words(text: str) -> set[str]:
    return {word.removeprefix("d:") for word in read_question(text).words}


def test_words_of_asking_are_no_topic():
    assert words("Which function in the Linux kernel wakes a task up?") == {"wake", "up", "task"}
    assert read_question("内核里哪个函数负责唤醒？").chinese == ("z:唤醒",)


def test_a_chinese_question_gets_the_english_of_its_terms():
    read = read_question("写时复制在哪个函数里实现？")
    assert {"copi", "write"} <= {word.removeprefix("d:") for word in read.words}
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
    assert {"d:heap", "d:growth"} <= set(read.guessed)
    assert not {"d:growth"} & set(read.words)
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
    ("question", "types"),
    [
        ("What is in struct rq?", ("rq",)),
        ("struct rq 里保存了什么？", ("rq",)),
        ("vm_area_struct 结构有什么用？", ("vm_area_struct",)),
        ("结构体 cfs_rq 有哪些字段？", ("cfs_rq",)),
        ("Which fields does task_struct have?", ("task_struct",)),
        ("How does copy_mm copy mm_struct?", ()),
        ("struct rq 由哪个函数分配？", ()),
        ("Which function sets up struct rq?", ()),
    ],
)
def test_what_is_asked_for_as_a_structure(question: str, types: tuple[str, ...]):
    read = read_question(question)
    assert read.types == types and (not types or "d:struct" not in read.words)
