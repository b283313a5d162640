"""A prepared answer is given whole, with its pages, by no model; a large model gets it as evidence."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from osrag.answer.events import Retrieved, Said, SourceDone, Token
from osrag.answer.source import Question
from osrag.answer.workflow import answer
from osrag.book.answers import ANSWERS, BookAnswers
from osrag.book.compose import Composer
from osrag.book.lines import Line
from osrag.book.search import TextbookSearch
from osrag.book.selector import Selector
from osrag.book.source import BookSource, written
from osrag.index.collection import Collection
from osrag.index.manifest import read_manifest
from osrag.models.protocols import ChatAbilities
from osrag.types import Chunk, Turn
from osrag.wording import say
from tests.book.documents import Documents
from tests.fakes import FakeEncoder, ScriptedChat

BOOK = """# Disks

A journal records what will be done before it is done. A checksum tells whether the record is whole.

# Crashes

After a crash the journal is read. What was begun is done again.

# Memory

A page fault occurs when the page that is wanted is not in a frame.
"""
STEPS = [
    {"say": "The journal is read.", "quote": "After a crash the journal is read"},
    {"say": "What `begin_op` began is done *again*.", "quote": "What was begun is done again"},
    {"say": "A record that is not whole is left out.", "quote": "A checksum tells whether the record is whole"},
]


def line(id_: str, kind: str, question: str, answer: Sequence[object]) -> str:
    side = {"questions": [question], "answer": answer}
    return json.dumps({"id": id_, "section": "1", "kind": kind, "en": side})


class Same:
    """Finds every pair the same whose first word is the same."""

    def scores(self, text: str, others: Sequence[str]) -> np.ndarray:
        return np.array([1.0 if text.split()[0] == other.split()[0] else -3.0 for other in others], np.float32)


@pytest.fixture
def source(tmp_path: Path) -> BookSource:
    shelf = Documents(tmp_path, tmp_path / "index" / "textbook")
    fault = [{"say": "The page is not in a frame.", "quote": "the page that is wanted is not in a frame"}]
    lines = [
        line("recover", "steps", "How does a file system recover from a crash with its journal?", STEPS),
        line("parts", "list", "Which parts does a journal record have?", STEPS[:2]),
        line("fault", "what", "What is a page fault?", fault),
    ]
    shelf.build(shelf.write("book.md", BOOK), shelf.write("own.answers.jsonl", "\n".join(lines)))
    book = Collection.load(shelf.index, shelf.encoder.id, of=Chunk)
    rows = ANSWERS.open(shelf.index, read_manifest(shelf.index), shelf.encoder.id)
    assert rows is not None
    return BookSource(
        TextbookSearch(book, FakeEncoder(), fitted=False, answers=BookAnswers(rows, FakeEncoder(), Same())),
        FakeEncoder(),
        Composer(FakeEncoder(), Selector.load()),
    )


def run(source: BookSource, question: Question, chat: ScriptedChat | None = None) -> tuple[Retrieved, SourceDone, str]:
    events = list(answer(source, question, chat))
    retrieved, done = events[0], events[-1]
    assert isinstance(retrieved, Retrieved) and isinstance(done, SourceDone)
    return retrieved, done, "".join(event.text for event in events if isinstance(event, Token))


def test_steps_are_numbered_and_each_cites_its_passage(source: BookSource) -> None:
    chat = ScriptedChat([["never said"]])
    retrieved, done, text = run(source, Question("How is a crash repaired with the journal?", effort="deep"), chat)
    assert text == (
        "1. The journal is read. [1]\n2. What `begin_op` began is done \\*again\\*. [1]\n"
        "3. A record that is not whole is left out. [2]"
    )
    assert [passage.chunk.section[-1] for passage in retrieved.passages[:2]] == ["Crashes", "Disks"]
    assert len(retrieved.passages) == 3  # then what the search finds
    assert done.how == "prepared" and done.cited == (1, 2) and not chat.asked
    assert done.statements[0] == Said(
        "The journal is read.", (1,), verbatim=True, quote="After a crash the journal is read"
    )
    assert not done.statements[1].verbatim


def test_a_second_question_of_the_text_is_answered_too(source: BookSource) -> None:
    asked = "How does a file system recover from a crash with its journal? What is a page fault?"
    assert source.search_in.answers is not None
    whole = source.search_in.answers.match(asked, "en")
    assert whole is not None and whole.id == "recover"  # it is near enough to pass for the first alone
    _, done, text = run(source, Question(asked))
    assert done.how == "composed" and text.index("The journal is read.") < text.index("The page is not in a frame.")


def test_what_no_prepared_answer_is_near_to_is_answered_with_a_warning(source: BookSource) -> None:
    warning = say("textbook_unsure", "en")
    _, done, text = run(source, Question("After a crash the journal is read, and then?"))
    assert done.how == "composed" and text.startswith(warning)
    assert warning not in "".join(said.text for said in done.statements)
    _, _, text = run(source, Question("How does a file system recover from a crash with its journal?"))
    assert warning not in text


def test_a_list_has_bullets_and_other_kinds_are_paragraphs(source: BookSource) -> None:
    assert run(source, Question("Which parts are in the record of a journal?"))[2].startswith(
        "- The journal is read. [1]\n- "
    )
    assert run(source, Question("What is a page fault?"))[2] == "The page is not in a frame. [1]"


def test_a_passage_that_a_prepared_answer_cites_comes_forward(source: BookSource) -> None:
    search, asked = source.search_in, "A crash: how does the file system recover?"
    alone = TextbookSearch(search.collection, search.encoder)  # knows no prepared answers
    scores = [{hit.chunk.section[-1]: hit.score for hit in one.search(asked).hits} for one in (alone, search)]
    gained = {section: after - scores[0][section] for section, after in scores[1].items()}
    assert gained["Crashes"] > 0 == gained["Memory"]


def test_the_pages_of_a_prepared_answer_stand_whatever_the_threshold(source: BookSource) -> None:
    assert run(source, Question("What is a page fault?", threshold=0.999))[1].how == "prepared"


def test_the_nearest_other_questions_are_told(source: BookSource) -> None:
    done = run(source, Question("Which parts has a journal record?"))[1]
    assert done.further == (
        "How does a file system recover from a crash with its journal?",
        "What is a page fault?",
    )


def test_a_question_that_is_no_prepared_one_is_answered_as_before(source: BookSource) -> None:
    done = run(source, Question("Why is a checksum of the journal record needed?"))[1]
    assert done.how == "composed" and done.further == ()


class TakesAll(Selector):
    """Finds every line worth saying."""

    def scores(self, seen: np.ndarray) -> np.ndarray:
        return np.ones(len(seen), np.float32)


def test_statements_of_answers_near_a_question_are_composed_and_their_passages_added(
    source: BookSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BookSource, "_covers", lambda *_: 1.0)  # the fake encoder finds nothing near
    source = replace(source, composer=Composer(FakeEncoder(), TakesAll({})))
    question = Question("Why is a checksum of the journal record needed?", passages=1)
    events = list(answer(source, question, None))
    before, after = (event for event in events if isinstance(event, Retrieved))
    text, done = "".join(event.text for event in events if isinstance(event, Token)), events[-1]
    assert isinstance(done, SourceDone) and done.how == "composed"
    own, quoted = text.split("\n\n**From the book**\n\n")
    assert "1. The journal is read. [2]\n2. What `begin_op`" in own
    assert quoted.startswith("> A journal records what")
    assert len(before.passages) == 1 and after.passages[0] == before.passages[0]
    assert {passage.number for passage in after.passages} == {1, *done.cited}
    assert {said.text: said.verbatim for said in done.statements}["What `begin_op` began is done *again*."] is False


def test_the_heading_over_words_of_the_book_is_said_once() -> None:
    both = Line("A journal and a checksum guard a record.", 1)
    told = Line("The journal is read.", 2, answer=0)
    more = Line("A checksum tells whether the record is whole.", 1, paragraph=1, opens=True)
    assert written([both, told, more], "en") == (
        "**From the book**\n\n> A journal and a checksum guard a record. [1]\n\n"
        "The journal is read. [2]\n\n> A checksum tells whether the record is whole. [1]"
    )


def test_a_follow_up_is_matched_as_it_stands_alone(source: BookSource) -> None:
    history = (Turn("How does a file system recover from a crash?", "…"),)
    assert run(source, Question("How does that use the journal?", history=history))[1].how == "prepared"


def test_a_large_model_gets_the_statements_as_evidence(source: BookSource) -> None:
    chat = ScriptedChat([["After a crash the journal is read, and what was begun is done again."]])
    chat.abilities = replace(chat.abilities, chain=True)
    assert isinstance(chat.abilities, ChatAbilities)
    done = run(source, Question("How is a crash repaired with the journal?"), chat)[1]
    assert done.how == "generated" and done.further
    assert "[1] The journal is read.\n[1] What `begin_op` began" in chat.asked[0][-1].content
