"""Chances of a few words: read from what a backend sends, or from the word that it says."""

import json

import pytest

from osrag.errors import ModelFailed
from osrag.models.protocols import ChatAbilities, ChatOptions, Message
from osrag.models.structured import UnreadableReply, spread, weigh
from tests.fakes import ScriptedChat

ASK = [Message("user", "Is a semaphore an integer? Reply Yes or No.")]
YES_NO = ("Yes", "No")


def weighing(*pieces: str | Exception) -> ScriptedChat:
    able = ChatAbilities(context_tokens=4096, constrained=True, chain=False, slots=1, weighs=True)
    return ScriptedChat([[piece] for piece in pieces], abilities=able)


def test_tokens_are_counted_for_the_choice_they_begin():
    top = [("Yes", 0.4), (" yes", 0.1), ("No", 0.2), ("N", 0.05), ("The", 0.2), (" ", 0.05)]
    assert json.loads(spread(top, YES_NO)) == [pytest.approx(2 / 3, abs=1e-4), pytest.approx(1 / 3, abs=1e-4)]
    assert json.loads(spread([("选", 0.5)], ("是", "否"))) == []
    # What begins both says nothing of either.
    assert json.loads(spread([("Option", 0.9), ("Option B", 0.1)], ("Option A", "Option B"))) == [0.0, 1.0]


def test_chances_are_asked_for_in_one_token():
    chat = weighing("[0.75, 0.25]")
    assert weigh(chat, ASK, YES_NO, ChatOptions(max_tokens=300)) == (0.75, 0.25)
    assert chat.options[0].choices == YES_NO and chat.options[0].max_tokens == 1


@pytest.mark.parametrize("odd", ["[]", "", "Yes", "[0.5]", '["a", "b"]'])
def test_a_backend_that_sends_no_chances_is_asked_for_the_word(odd: str):
    chat = weighing(odd, '"No"')
    assert weigh(chat, ASK, YES_NO, ChatOptions()) == (0.0, 1.0)
    assert chat.options[1].choices == () and chat.options[1].schema == {"enum": ["Yes", "No"]}


@pytest.mark.parametrize("said", ["Yes", " yes. ", "Yes, it is one.", "**Yes**"])
def test_a_backend_that_cannot_weigh_says_it(said: str):
    assert weigh(ScriptedChat([[said]]), ASK, YES_NO, ChatOptions()) == (1.0, 0.0)


def test_prose_is_unreadable_and_a_dead_model_fails():
    with pytest.raises(UnreadableReply, match="not one of Yes, No"):
        weigh(ScriptedChat([["Perhaps."]]), ASK, YES_NO, ChatOptions())
    with pytest.raises(ModelFailed):
        weigh(weighing(ModelFailed("died")), ASK, YES_NO, ChatOptions())
