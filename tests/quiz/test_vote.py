"""The vote of a model that likes one letter, and sentences bound to book or bank."""

from osrag.errors import ModelFailed
from osrag.quiz.bound import Binder
from osrag.quiz.vote import Votes, in_place, turned_round, vote
from tests.fakes import ScriptedChat
from tests.quiz.parts import CHOICE, item_of, judge_of, reply

TRUE_FALSE = {"type": "true_false", "question": "A semaphore is a string.", "answer": False}


def asked(item, *letters):
    chat = ScriptedChat([[reply(answer=letter)] for letter in letters])
    return vote(item, None, chat, turns=3, first_token_s=1.0), chat


def test_a_turn_moves_the_texts_and_leaves_the_letters():
    item = item_of(CHOICE)
    turned = turned_round(item, 1)
    assert [option.key for option in turned.options] == ["A", "B", "C"]
    assert turned.options[0].text == item.options[1].text and turned.options[2].text == item.options[0].text
    assert in_place(item, frozenset("A"), 1) == frozenset("B") and in_place(item, frozenset("C"), 1) == frozenset("A")


def test_one_option_meant_twice_settles_it():
    votes, chat = asked(item_of(CHOICE), "B", "A")
    assert votes.keys == frozenset("B") and votes.agreement == 1 and len(chat.asked) == 2


def test_a_model_that_always_says_b_is_seen_through():
    votes, chat = asked(item_of(CHOICE), "B")
    assert votes.agreement < 0.5 and len(chat.asked) == 3


def test_the_same_question_is_asked_with_the_same_beginning():
    _, chat = asked(item_of(CHOICE), "B")
    first, second = (messages[-1].content for messages in chat.asked[:2])
    assert first.split("\n")[0] == second.split("\n")[0] and first != second


def test_a_statement_is_asked_once_and_a_failure_keeps_what_was_said():
    assert len(asked(item_of(TRUE_FALSE), True)[1].asked) == 1
    chat = ScriptedChat([[reply(answer="B")], [ModelFailed("died")]])
    found = vote(item_of(CHOICE), None, chat, turns=3, first_token_s=1.0)
    assert found.keys == frozenset("B") and not found.problem
    assert vote(item_of(CHOICE), None, ScriptedChat([["prose"]]), turns=3, first_token_s=1.0).problem
    assert Votes().keys == frozenset() and Votes().agreement == 0


def test_sentences_are_cited_marked_or_the_banks_own(tmp_path):
    judge = judge_of(tmp_path)
    item = item_of(CHOICE)
    binder = Binder(item, judge.find(item), "B. long-term scheduler")
    own, book, free = (
        "The long-term scheduler admits jobs.",
        "A semaphore is an integer that only the atomic operations wait and signal change.",
        "Elephants paint the northern lights on Thursdays.",
    )
    bound = binder.bind(f"{own} {book} {free} [1]")
    assert bound.startswith(f"{own} {book} [") and bound.endswith(f"{free} [not found in the book]")
    assert binder.bind(free, whole=False) == free
    assert binder.supported(f"{free} {own}") == own
