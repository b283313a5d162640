"""Drafts of prepared answers: what is asked, what a model makes of it, what a person must decide."""

import json
from pathlib import Path

from osrag.book.answers import read_answers
from osrag.book.prepare import draft, review, tasks, write_drafts
from osrag.errors import ModelFailed
from osrag.types import Ask, Chunk, LineRef
from tests.fakes import FakeEncoder, ScriptedChat

TEXT = (
    "A spinlock burns the processor while it waits. That is why it is held for a few instructions only. "
    "Chapter 9 tells more."
)
CHUNKS = [
    Chunk("b.md#1", TEXT, "b.md", LineRef(1, 3), 0, ("4 Locks", "4.2 Spinlocks"), "en"),
    Chunk("b.md#2", "A page is a block of fixed size.", "b.md", LineRef(5, 6), 1, ("6 Memory", "6.1 Pages"), "en"),
]
ASKS = [
    Ask(
        "Why not wait for ever on a spinlock?",
        "en",
        "a.asks.jsonl",
        ("it is held for a few instructions",),
        ("b.md#1",),
    ),
    Ask("What does a spinning processor do?", "en", "a.asks.jsonl", ("burns the processor",), ("b.md#1",)),
    Ask("Is spinning cheap?", "en", "a.asks.jsonl", ("burns the processor",), ("b.md#1",)),
    Ask("Which cost?", "en", "a.asks.jsonl", ("burns the processor",), ("b.md#1",), answer="processor time"),
]


def reply(*statements: tuple[int, str]) -> list[str | Exception]:
    chosen = [{"sentence": number, "say": say} for number, say in statements]
    return [json.dumps({"kind": "why", "statements": chosen})]


GOOD = reply(
    (1, "A spinlock burns the processor while it waits."),
    (2, "That is why a spinlock is held for a few instructions only."),
)


def test_readers_ask_and_where_nobody_did_the_heading_does() -> None:
    found = tasks(CHUNKS, ASKS)
    assert [(task.section, task.question) for task in found] == [
        ("4.2", "Why not wait for ever on a spinlock?"),
        ("4.2", "Is spinning cheap?"),  # one question of a teaching point
        ("6.1", "Pages"),
    ]
    assert [task.section for task in tasks(CHUNKS, ASKS, only="6")] == ["6.1"]


def test_a_quote_is_the_sentence_that_the_model_names() -> None:
    line = draft(tasks(CHUNKS, ASKS)[0], ScriptedChat([GOOD]), FakeEncoder())
    assert line is not None and line.en is not None and line.draft and line.doubts == ()
    assert line.en.answer[1].quote == "That is why it is held for a few instructions only."
    assert line.en.answer[1].say == "That is why a spinlock is held for a few instructions only."


def test_what_does_not_hold_is_a_doubt() -> None:
    chat = ScriptedChat([reply((1, "Bananas ripen quickly in warm countries."), (9, "No such sentence."))])
    line = draft(tasks(CHUNKS, ASKS)[0], chat, FakeEncoder())
    assert line is not None
    unsupported, unknown, single, missed = line.doubts
    assert unsupported.startswith("not supported (") and "Bananas" in unsupported
    assert unknown.startswith("the model names sentence 9; there are")
    assert (single, missed) == ("one statement only", "leaves out what the question was written for")


def test_a_statement_must_stand_in_the_sentence_that_it_quotes() -> None:
    beside = reply((2, "A spinlock burns the processor while it waits."))
    line = draft(tasks(CHUNKS, ASKS)[0], ScriptedChat([beside]), FakeEncoder())
    assert line is not None and line.doubts[0].startswith("not supported (")


def test_a_stopped_run_goes_on_and_a_draft_is_left_out_of_the_index(tmp_path: Path) -> None:
    out, wanted = tmp_path / "own.answers.jsonl", tasks(CHUNKS, ASKS)[:2]
    assert write_drafts(out, wanted, ScriptedChat([GOOD, [ModelFailed("busy", hint="")]]), FakeEncoder()) == (1, 1)
    chat = ScriptedChat([GOOD])
    assert write_drafts(out, wanted, chat, FakeEncoder()) == (1, 1) and len(chat.asked) == 1
    assert "Is spinning cheap?" in chat.asked[0][-1].content
    told = list(review(out))
    assert told[0] == "own.answers.jsonl:1: Why not wait for ever on a spinlock?" and told[-1].startswith("2 drafts, 0")
    first, second = out.read_text().splitlines()
    approved = {name: value for name, value in json.loads(first).items() if name != "draft"}
    out.write_text(f"{json.dumps(approved)}\n{second}\n")
    document = read_answers(out)
    assert document.entry.chunks == 1
    assert document.entry.warnings[0].endswith("is left out: it is a draft, approve it first")


def test_a_question_that_nothing_answers_makes_no_draft() -> None:
    assert draft(tasks(CHUNKS, ASKS)[2], ScriptedChat([reply()]), FakeEncoder()) is None
