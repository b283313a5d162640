import pytest

from osrag.answer.plan import plan_by_rule, points_back
from osrag.types import Turn


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("它支持哪些设备？", True),
        ("为什么？", True),
        ("那缺点呢？", True),
        ("Why?", True),
        ("Which devices use it?", True),
        ("And the drawbacks?", True),
        ("什么是死锁？", False),
        ("How does the TLB speed up address translation?", False),
    ],
)
def test_a_question_that_needs_the_one_before_is_seen(question, back):
    assert points_back(question) is back


def test_a_follow_up_borrows_the_topic_of_the_last_question_that_had_one():
    history = (Turn("什么是 DMA？", ""), Turn("为什么？", ""))
    assert (
        "DMA" in plan_by_rule("它支持哪些设备？", history).standalone.upper()
        or "直接" in plan_by_rule("它支持哪些设备？", history).standalone
    )


def test_a_question_that_stands_alone_is_left_as_it_is():
    history = (Turn("什么是 DMA？", ""),)
    assert plan_by_rule("什么是死锁？", history).queries == ("什么是死锁？",)
