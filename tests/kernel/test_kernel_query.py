"""What kernel search takes from a question."""

import pytest

from osrag.retrieve.kernel_query import read_question


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


def test_who_calls_whom_is_noticed():
    assert read_question("which functions call schedule()?").relation
    assert not read_question("what does schedule() do?").relation
