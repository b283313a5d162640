"""Words and terms tell a question that a prepared answer answers from one that only lies near it."""

import pytest

from osrag.answer.likeness import Likeness

ASKED = {
    ("rcu", "zh"): ["什么是 RCU？写者怎样更新数据？", "RCU 写者更新数据"],
    ("quantum", "en"): ["What happens if the time slice is too large or too small?"],
    ("deadlock", "en"): ["What is a deadlock?", "Define deadlock"],
}
TOLD = {"rcu": "写者复制一份数据，修改副本，再把指针指过去。", "deadlock": "Every thread waits for another."}


def test_a_thing_that_the_answer_never_names_speaks_against_it() -> None:
    likeness = Likeness(ASKED, TOLD)
    own, other = (
        likeness.signals(text, [("rcu", "zh")])[0] for text in ("RCU 的写者怎么改数据", "RCU 的宽限期是怎样结束的")
    )
    assert other["told"] < own["told"] and other["strange"] >= own["strange"]
    assert other["terms_strange"] > own["terms_strange"] == 0


def test_what_the_answer_is_about_may_not_be_missing() -> None:
    likeness = Likeness(ASKED, TOLD)
    assert likeness.signals("What is a deadlock in short?", [("deadlock", "en")])[0]["terms_missing"] == 0
    assert likeness.signals("What is a livelock?", [("deadlock", "en")])[0]["terms_missing"] == 1


@pytest.mark.parametrize(("text", "amount"), [("How long is a time slice?", 1), ("Why is a time slice needed?", 0)])
def test_a_number_is_wanted_that_no_question_of_the_answer_asks_for(text: str, amount: int) -> None:
    assert Likeness(ASKED, TOLD).signals(text, [("quantum", "en")])[0]["amount"] == amount


def test_another_kind_of_answer_is_wanted() -> None:
    likeness = Likeness(ASKED, TOLD)
    assert likeness.signals("Why is there a deadlock?", [("deadlock", "en")])[0]["kinds_strange"] == 1
    assert likeness.signals("Define: deadlock", [("deadlock", "en")])[0]["kinds_strange"] == 0


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("Compare deadlock, livelock and starvation.", 3),
        ("死锁、活锁和饥饿有什么区别？", 3),
        ("How do a deadlock and a livelock differ?", 0),  # of two, one may have another name in the answer
        ("Why do deadlock, livelock and starvation occur?", 0),  # compares nothing
    ],
)
def test_a_question_may_compare_more_things_than_an_answer_is_asked_for(text: str, more: int) -> None:
    assert Likeness(ASKED, TOLD).signals(text, [("deadlock", "en")])[0]["uncompared"] == more
    own = {("deadlock", "en"): ["What sets deadlock, livelock and starvation apart?"]}
    assert Likeness(own, TOLD).signals(text, [("deadlock", "en")])[0]["uncompared"] == 0


def test_words_without_any_meaning_do_no_harm() -> None:
    assert Likeness(ASKED, TOLD).signals("??", [("deadlock", "en")])[0]["told"] == 1.0
