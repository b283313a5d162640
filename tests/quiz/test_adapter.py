"""The adapter for choices: calls that see several sentences of the book, where the model has it."""

from dataclasses import replace

import pytest

from osrag.errors import ModelFailed
from osrag.models.protocols import ChatOptions
from osrag.quiz.choice import own_answer, reading_of
from osrag.quiz.prompt import ADAPTER_TOKENS, CHOICE_TOKENS, QUESTION_CHARS
from tests.quiz.parts import CHOICE, Believer, item_of, judge_of, option, place

ASKED = item_of(CHOICE, answer=None)


def adapter_with(belief) -> Believer:
    chat = Believer([["prose"]], belief=belief)
    return replace(chat, abilities=replace(chat.abilities, has_adapter=True))


@pytest.fixture
def proof(tmp_path):
    return judge_of(tmp_path).find(ASKED)


def asked(item, proof, chat):
    return own_answer(item, proof, chat, ChatOptions(first_token_s=1.0), turns=3)


def test_the_adapter_sees_the_best_sentences_in_order_and_the_options_turned(proof):
    chat = adapter_with(option("long-term scheduler"))
    votes = asked(ASKED, proof, chat)
    assert votes.keys == frozenset("B") and len(chat.adapted) == len(chat.weighed) == 3
    beginnings = {prompt.split("\nA. ")[0] for prompt in chat.adapted}
    assert len(beginnings) == 1 and len(set(chat.adapted)) == 3  # read once, but for the options
    lines = chat.adapted[-1].split("\n")
    assert lines[0] == "Book:"
    assert lines[1] == "[1] The long-term scheduler decides which jobs on disk may enter memory."
    assert lines[2].startswith("[2] ") and lines[-2:] == ["C. disk scheduler", "Answer:"]


def test_a_model_without_it_is_asked_as_before(proof):
    chat = Believer([["prose"]], belief=option("long-term scheduler"))
    assert asked(ASKED, proof, chat).keys == frozenset("B") and len(chat.weighed) > 1 and not chat.adapted


def test_without_evidence_there_is_nothing_to_read():
    chat = adapter_with(place(1))
    asked(ASKED, None, chat)
    assert len(chat.weighed) == 3 and not chat.adapted


def test_several_right_options_are_asked_about_one_by_one(proof):
    chat = adapter_with(place(0))
    assert asked(item_of(CHOICE, answer=None, type="multiple_choice"), proof, chat).chances and not chat.adapted


def test_a_statement_is_a_choice_between_right_and_wrong_in_both_orders(tmp_path):
    item = item_of({"type": "true_false", "question": "A semaphore is a string."})
    chat = adapter_with(option("False"))
    votes = asked(item, judge_of(tmp_path).find(item), chat)
    assert votes.keys == frozenset("F") and 0.6 < votes.sure < 0.9 and len(chat.adapted) == 2  # less sure than it says
    assert "A. False\nB. True" in chat.adapted[0] and "A. True\nB. False" in chat.adapted[1]


def test_what_is_read_stays_within_its_budget(proof):
    chat = adapter_with(place(0))
    sentences, turns = reading_of(ASKED, proof, 3, chat)
    assert turns == 3 and len(sentences) > 1
    assert sum(map(chat.count_tokens, sentences)) <= ADAPTER_TOKENS

    def asked_long(chars):
        return reading_of(replace(ASKED, question=("Which scheduler decides? " * 40)[:chars]), proof, 3, chat)

    found = [asked_long(chars) for chars in range(25, QUESTION_CHARS, 25)]
    assert any(one and one[1] == len(one[0]) == 1 for one in found)
    assert found[-1] is None and 2 * QUESTION_CHARS // 4 > CHOICE_TOKENS - ADAPTER_TOKENS


def test_a_question_too_long_to_be_read_twice_goes_to_the_model_as_it_comes(proof):
    chat = adapter_with(place(0))
    asked(replace(ASKED, question="Which scheduler decides? " * (QUESTION_CHARS // 25)), proof, chat)
    assert len(chat.weighed) == 1 and not chat.adapted


def test_an_adapter_that_dies_leaves_no_vote(proof):
    def dies(prompt, choices):
        raise ModelFailed("died")

    votes = asked(ASKED, proof, adapter_with(dies))
    assert not votes.keys and votes.problem == "died"
