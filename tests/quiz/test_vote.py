"""The vote of a model that likes one letter, and sentences bound to book or bank."""

import pytest

from osrag.errors import ModelFailed
from osrag.models.protocols import ChatOptions
from osrag.quiz.choice import Votes, own_answer, turned_round
from osrag.quiz.evidence import Binder
from osrag.quiz.prompt import lines_for_vote
from tests.fakes import ScriptedChat
from tests.quiz.parts import CHOICE, Believer, item_of, judge_of, option, place, yes_to

OPTIONS = ChatOptions(first_token_s=1.0)
TRUE_FALSE = {"type": "true_false", "question": "A semaphore is a string.", "answer": False}


def asked(item, belief):
    chat = Believer([["prose"]], belief=belief)
    return own_answer(item, None, chat, OPTIONS, turns=3), chat


def chat_that_says_yes():
    return Believer([["prose"]], belief=place(0))


def test_a_turn_moves_the_texts_and_leaves_the_letters():
    item = item_of(CHOICE)
    turned = turned_round(item, 1)
    assert [one.key for one in turned.options] == ["A", "B", "C"]
    assert turned.options[0].text == item.options[1].text and turned.options[2].text == item.options[0].text


def test_what_is_meant_in_every_turn_is_the_answer():
    votes, chat = asked(item_of(CHOICE), option("long-term scheduler"))
    assert votes.keys == frozenset("B") and votes.sure == pytest.approx(0.9) and len(chat.weighed) == 3


def test_a_model_that_always_says_b_is_seen_through():
    votes, _ = asked(item_of(CHOICE), place(1))
    assert votes.sure == pytest.approx(1 / 3)


def test_the_same_question_is_asked_with_the_same_beginning():
    _, chat = asked(item_of(CHOICE), place(1))
    first, second = chat.weighed[:2]
    assert first.split("\n")[0] == second.split("\n")[0] and first != second


def test_a_statement_is_asked_both_ways_and_several_options_one_by_one():
    votes, chat = asked(item_of(TRUE_FALSE), yes_to("wrong"))
    assert votes.keys == frozenset("F") and votes.sure == pytest.approx(0.9) and len(chat.weighed) == 3
    assert own_answer(item_of(TRUE_FALSE), None, chat_that_says_yes(), OPTIONS, turns=2).sure == pytest.approx(0.5)
    several = item_of(CHOICE, type="multiple_choice", answer="A、C")
    votes, chat = asked(several, yes_to("option A", "option C"))
    assert votes.keys == frozenset("AC") and len(chat.weighed) == 3
    assert asked(several, place(1))[0].keys  # none is held: the likeliest one


def test_each_call_sees_one_sentence_of_the_book_and_all_stay_within_the_budget(tmp_path):
    judge = judge_of(tmp_path)
    item = item_of(CHOICE, answer=None)
    chat = Believer([["prose"]], belief=option("long-term scheduler"))
    assert own_answer(item, judge.find(item), chat, OPTIONS, turns=3).keys == frozenset("B")
    shown = [prompt.split("\n")[0] for prompt in chat.weighed]
    assert len(set(shown)) == len(shown) >= 2 and all(line.startswith("[") for line in shown)
    assert "long-term scheduler decides" in shown[-1]  # the best one last: the analysis goes on from it
    long = item_of(CHOICE, answer=None, question="Which scheduler decides? " * 40)
    assert len(lines_for_vote(long, judge.find(long), 3, chat.count_tokens)) == 1


def test_a_failure_keeps_what_was_said():
    beliefs = iter([1])

    def once(prompt, choices):
        try:
            return next(beliefs)
        except StopIteration as error:
            raise ModelFailed("died") from error

    found, _ = asked(item_of(CHOICE), once)
    assert found.keys == frozenset("A") and not found.problem  # what stood behind B in the turn that was heard
    assert own_answer(item_of(CHOICE), None, ScriptedChat([["prose"]]), OPTIONS, turns=3).problem
    assert Votes().keys == frozenset() and Votes().sure == 0


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
