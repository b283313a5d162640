"""The kernel workflow on a small index with scripted models."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from osrag.answer.events import Failed, Retrieved, SourceDone, Token, Waiting, event_name
from osrag.answer.source import Question
from osrag.answer.view import source_url
from osrag.answer.workflow import answer, in_turn
from osrag.errors import ModelFailed
from osrag.kernel.build import build_kernel
from osrag.kernel.code import code_block, key_lines, one_line
from osrag.kernel.search import KernelSearch
from osrag.kernel.source import KernelSource, absent
from osrag.models.protocols import ChatAbilities
from osrag.types import Turn
from tests.fakes import FakeEncoder, ScriptedChat
from tests.kernel.tree import FILES, write_tree


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> KernelSearch:
    base: Path = tmp_path_factory.mktemp("kernel")
    build_kernel(base / "index", write_tree(base / "tree"), ["kernel", "mm"], FakeEncoder(), cache_dir=base / "cache")
    return KernelSearch(base / "index", FakeEncoder())


def run(search, question: Question, chat: ScriptedChat | None = None):
    return list(answer(KernelSource(search), question, chat))


def large(script) -> ScriptedChat:
    """A model that may explain code."""
    return ScriptedChat(script, abilities=ChatAbilities(context_tokens=8192, constrained=True, chain=True, slots=2))


def text_of(events) -> str:
    return "".join(event.text for event in events if isinstance(event, Token))


ASKED = Question("What does try_to_wake_up do?")


def test_the_evidence_comes_first_then_quoted_code_then_the_explanation(search):
    chat = large([["", "`try_to_wake_up` puts a sleeping thread ", "on a run queue."]])
    events = run(search, ASKED, chat)
    assert isinstance(events[0], Retrieved)
    assert events[0].passages[0].chunk.name == "try_to_wake_up" and events[0].version == "6.1.192"
    text = text_of(events)
    assert "https://elixir.bootlin.com/linux/v6.1.192/source/kernel/sched/core.c#L" in text
    assert "`try_to_wake_up` puts a sleeping thread on a run queue. [1]" in text
    assert text.index("```c") < text.index("**Explanation**")
    done = events[-1]
    assert isinstance(done, SourceDone) and done.text == text and done.unsupported == 0 and 1 in done.cited
    assert any(isinstance(event, Waiting) for event in events)


def test_every_quoted_line_is_a_line_of_the_file_at_its_number(search):
    for name in ("try_to_wake_up", "schedule", "do_anonymous_page"):
        chunk = search.store.chunk(search.store.functions_named(name)[0])
        file = FILES[chunk.source].split("\n")
        lines = key_lines(chunk, "wake a sleeping thread", chars=400)
        assert lines
        assert all(file[line.number - 1] == line.text for line in lines)


def test_the_model_never_retypes_code(search):
    chat = large([["It wakes ", "a thread. ``", "`c\nint fake(void);\n``", "` Then it wakes a sleeping thread."]])
    text = text_of(run(search, ASKED, chat))
    assert "fake" not in text
    assert text.count("```") % 2 == 0


@pytest.mark.parametrize(
    "sentence",
    [
        "It calls `wake_everyone_now` at once.",  # no such name
        "`context_switch` calls `try_to_wake_up` for every thread.",  # not in the call graph
        "Bananas grow quickly in warm countries near the sea.",
        "A semaphore puts a sleeping thread on a run queue.",  # said of something else
    ],
)
def test_what_the_code_does_not_say_is_marked(search, sentence):
    events = run(search, ASKED, large([[sentence]]))
    assert "[not found in the code]" in text_of(events)
    assert "do not rely on it" in text_of(events)  # nothing of it holds
    assert events[-1].unsupported == 1


def test_calls_of_the_call_graph_hold_in_both_directions(search):
    said = ["`schedule` calls `pick_next_task`. `context_switch` is called by `schedule`. "]
    said += ["`pick_next_task` picks the next task, then calls `context_switch`."]  # it: schedule
    events = run(search, Question("How does schedule pick the next task and switch?"), large([said]))
    assert events[-1].unsupported == 0


def test_the_reading_path_follows_the_calls(search):
    events = run(search, Question("What does schedule() call?"))
    text = text_of(events).split("**Reading path**")[1]
    assert text.index("schedule") < text.index("pick_next_task") < text.index("fair_pick")
    path = next(event.path for event in reversed(events) if isinstance(event, Retrieved))
    assert ("schedule", "pick_next_task") in path.edges


def test_every_number_that_a_reply_cites_has_its_entry(search):
    events = run(search, Question("What does schedule() call?"))
    cited = {int(number) for number in re.findall(r"\[(\d+)\]", text_of(events))}
    assert len(cited) > 2
    assert cited == set(events[-1].cited)


def test_code_that_is_not_there_is_refused_with_the_nearest(search):
    chat = ScriptedChat([["never said"]])
    events = run(search, Question("How does the ext4 file system write its journal?"), chat)
    assert events[-1].refused and not chat.asked
    text = text_of(events)
    assert "ext4 is not in the index" in text and "fs/" in text


def test_a_subject_elsewhere_that_is_only_mentioned_is_no_reason_to_refuse(search):
    found = search.search("How does KVM wake a sleeping thread?")
    assert absent(replace(found, signals={"dense": 4.0}))
    assert not absent(replace(found, signals={"dense": 7.0}))


def test_a_question_about_nothing_is_refused(search):
    events = run(search, Question("番茄炒蛋怎么做？"))
    assert events[-1].refused and "没有找到" in text_of(events)


def test_a_follow_up_is_searched_with_the_name_before_it(search):
    history = (Turn("What does try_to_wake_up do?", "…"),)
    events = run(search, Question("Which functions does it call?", history=history))
    assert "try_to_wake_up" in events[0].queries[0]
    assert events[0].passages[0].chunk.name == "try_to_wake_up"


def test_a_model_that_dies_leaves_the_quoted_code(search):
    chat = large([["`try_to_wake_up` wakes", ModelFailed("died", hint="ask again")]])
    events = run(search, ASKED, chat)
    assert "did not finish" in text_of(events)
    assert isinstance(events[-1], Failed) and isinstance(events[-2], SourceDone)


def test_a_reader_who_leaves_stops_the_model(search):
    chat = large([["", "", "It wakes", " a thread."]])
    events = answer(KernelSource(search), ASKED, chat)
    for event in events:
        if isinstance(event, Waiting):
            break
    events.close()
    assert chat.closed == 1


def test_deep_lets_the_model_name_code_and_search_again(search):
    chat = ScriptedChat(
        [
            ['{"reasoning": "x", "standalone": "How is a task picked?", "search_keywords": ["run queue"],'
             ' "identifiers": ["pick_next_task"], "suggested_queries": []}'],
            ['{"reasoning": "waking is missing", "is_sufficient": false, "new_keywords": ["try_to_wake_up"]}'],
            ["`pick_next_task` picks the next task."],
        ]
    )  # fmt: skip
    events = run(search, Question("How is the next task picked?", effort="deep", passages=2), chat)
    found = [event for event in events if isinstance(event, Retrieved)]
    ids = [passage.chunk.id for passage in found[-1].passages]
    assert len(ids) == len(set(ids)) and len(ids) > 2
    assert "try_to_wake_up" in [passage.chunk.name for passage in found[-1].passages]


def test_both_goes_on_counting_after_the_book(search):
    def book(first_number: int):
        yield Retrieved("textbook", book_passages, "one")
        yield SourceDone("textbook", "book", (1,), "extracts", ())

    first = run(search, ASKED)[0]
    book_passages = first.passages[:3]
    events = list(in_turn([book, partial(answer, KernelSource(search), ASKED, None)], "en"))
    kinds = [event_name(event) for event in events]
    assert kinds[:3] == ["retrieval", "textbook_done", "code_retrieval"] and kinds[-1] == "code_done"
    assert "### Related source code" in text_of(events)
    code = next(event for event in events if isinstance(event, Retrieved) and event.source == "kernel")
    assert code.passages[0].number == 4


def test_a_small_model_is_not_asked_how_functions_work_together(search):
    chat = ScriptedChat([["It calls `schedule`, which sleeps."]])
    events = run(search, ASKED, chat)
    assert not chat.asked and events[-1].how == "composed"
    assert events[-1].statements[0].text.startswith("Wakes a sleeping task")
    assert all(found not in text_of(events) for found in ("Explanation", "which sleeps"))


def test_a_prompt_holds_no_line_numbers(search):
    chat = large([["It wakes a thread."]])
    run(search, ASKED, chat)
    prompt = chat.asked[0][-1].content
    assert "try_to_wake_up" in prompt
    assert not re.search(r"^\s*\d+:", prompt, re.M)


def test_a_gap_in_quoted_code_names_the_line_that_follows(search):
    chunk = search.store.chunk(search.store.functions_named("try_to_wake_up")[0])
    lines = [line for line in key_lines(chunk, "wake", chars=400) if "enqueue" not in line.text]
    assert "/* … " in code_block(chunk, lines)


def test_one_line_leaves_out_the_words_of_the_name(search):
    chunk = search.store.chunk(search.store.functions_named("try_to_wake_up")[0])
    assert not one_line(chunk, "en").startswith("try_to_wake_up:")


def test_the_link_is_to_the_pinned_version():
    assert source_url("mm/memory.c", 12, "6.1.9") == "https://elixir.bootlin.com/linux/v6.1.9/source/mm/memory.c#L12"


def test_a_large_model_is_asked_for_every_part_and_shown_code(search):
    chat = large([["**What the code does** It wakes a thread."]])
    run(search, ASKED, chat)
    assert "Key functions" in chat.asked[0][0].content and "enqueue_task(p);" in chat.asked[0][-1].content
