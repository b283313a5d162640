"""What a question asks about, where it asks only what that is."""

from osrag.answer.definition import thing_asked


def test_the_thing_is_told_as_it_was_written() -> None:
    assert thing_asked("What is a Page Fault?") == "a Page Fault"
    assert thing_asked("什么是缺页？") == "缺页"
    assert thing_asked("Why does a page fault occur?") is None and thing_asked("缺页为什么慢？") is None
