"""Descriptions in both languages, and those that search leaves out."""

import pytest

from osrag.glossary import Glossary, Term
from osrag.kernel.c_source import Piece, chunk_c
from osrag.kernel.describe import (
    FileSummary,
    Lore,
    Pair,
    chunk_tokens,
    describe,
    described,
    first_words,
    gather_lore,
    load_lore,
    name_in_words,
    said_of,
    search_text,
    summarise_file,
    useful,
)
from osrag.types import CodeChunk, LineRef, Origin
from tests.kernel.tree import CORE, FAIR

EMPTY = Lore()


def piece(text: str, name: str) -> Piece:
    return next(one for one in chunk_c(text.encode()).pieces if one.name == name)


def made(one: Piece, file: str, lore: Lore = EMPTY, *, callers: tuple[str, ...] = (), written: Pair | None = None):
    """The chunk of a piece with its description."""
    where = LineRef(one.first, one.last)
    chunk = CodeChunk("id", one.text, file, where, one.kind, one.name, calls=one.calls, called_by=callers)
    return describe(chunk, one, lore, written)


def test_kernel_doc_without_its_parameters():
    said = first_words(piece(CORE, "try_to_wake_up").comment, "try_to_wake_up")
    assert said == "wake up a sleeping thread. Puts a sleeping thread on a run queue."


def test_the_words_of_a_name_in_both_languages():
    assert name_in_words("copy_page_range") == ("copy page range", "复制页范围")
    assert "run queue" in name_in_words("update_rq")[0]


def test_a_function_nobody_commented_is_described_by_its_structure():
    chunk = made(piece(CORE, "pick_next_task"), "kernel/sched/core.c", callers=("schedule",))
    assert (chunk.en, chunk.zh, chunk.origin) == ("Calls fair_pick. Called by schedule.", "", Origin.CODE)
    assert search_text(chunk)[0] == "pick_next_task: pick next task process. Calls fair_pick. Called by schedule."


@pytest.mark.parametrize(
    ("summary", "name", "said"),
    [
        ("Frames: bq_flush() sends what waits, bq_send() sends frames in bulk.", "bq_send", "Sends frames in bulk."),
        ("成批发送：bq_add() 入队，bq_send() 批量发送各帧（bq_flush()）。", "bq_send", "批量发送各帧。"),
        ("记账：bq_send() 写入命令、时间和标志。", "bq_send", "写入命令、时间和标志。"),
        (
            "Accounting: bq_send() writes command (bq_open()), times and flags.",
            "bq_send",
            "Writes command, times and flags.",
        ),
        ("Sends frames in bulk (bq_add(), bq_send()).", "bq_send", ""),  # only listed
        ("bq_send() when the queue is full.", "bq_send", ""),
        ("成批发送：bq_add()、bq_send() 入队与发送。", "bq_send", ""),  # of both
    ],
)
def test_what_a_summary_says_of_one_function_alone(summary: str, name: str, said: str):
    assert said_of(summary, name) == said


def test_note_summary_and_glossary_speak_of_a_function():
    summary = FileSummary(
        "kernel/sched/fair.c", "CFS. enqueue_task() adds a task.", "公平调度。enqueue_task() 加入任务。"
    )
    glossary = Glossary([Term(("入队",), ("enqueue",), ("enqueue_task",))])
    lore = gather_lore({summary.file: summary}, {"enqueue_task": ("Queues it.", "排队。")}, glossary)
    chunk = made(piece(FAIR, "enqueue_task"), summary.file, lore)
    assert (chunk.en, chunk.zh) == ("Queues it. enqueue_task() adds a task.", "排队。 enqueue_task() 加入任务。")
    assert (chunk.terms, chunk.origin) == (("enqueue", "入队"), Origin.NOTE)
    assert chunk.description == f"{chunk.en}\n{chunk.zh}"
    english, chinese = search_text(chunk)
    assert english == f"enqueue_task: enqueue task process. {chunk.en} (enqueue)"
    assert chinese.endswith(f"{chunk.zh} 入队") and described(chunk) == f"{english}\n{chinese}"


def test_it_is_said_who_described_a_function_and_what_it_calls_is_searched_where_that_is_little():
    told = piece(CORE, "pick_next_task")
    file = "kernel/sched/core.c"
    summary = FileSummary(file, "pick_next_task() picks.", "pick_next_task() 选择。")
    mentioned = made(told, file, gather_lore({file: summary}, {}, Glossary([])))
    assert (mentioned.en, mentioned.origin) == ("pick_next_task() picks.", Origin.SUMMARY)
    assert search_text(mentioned)[0].endswith("pick_next_task() picks. Calls fair_pick.")
    assert made(told, file, written=("Picks.", "选择。")).origin is Origin.MODEL
    assert made(piece(CORE, "try_to_wake_up"), file).origin is Origin.COMMENT


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "[ERROR] timeout", "[ERROR: model]", "Only includes headers.",
     "This file includes the necessary header files.",
     "该文件仅包含头文件。", "这段代码只包含了一些头文件"],
)  # fmt: skip
def test_descriptions_that_search_leaves_out(text: str):
    assert not useful(text)
    told, file = piece(CORE, "pick_next_task"), "kernel/sched/core.c"
    lore = gather_lore({}, {told.name: (text, text)}, Glossary([]))
    for chunk in (made(told, file, written=(text, text)), made(told, file, lore)):
        assert (chunk.en, chunk.zh, chunk.origin) == ("Calls fair_pick.", "", Origin.CODE)


@pytest.mark.parametrize("text", ["Wakes a task.", "Includes the child in the run queue.", "把任务放入运行队列。"])
def test_descriptions_that_say_something(text: str):
    assert useful(text) == text


def test_a_file_that_nobody_summarised():
    pieces = [one for one in chunk_c(FAIR.encode()).pieces if one.name]
    summary = summarise_file("kernel/sched/fair.c", FAIR, pieces, {"fair_pick": 3})
    assert summary.origin is Origin.CODE
    assert "Completely fair scheduling class." in summary.en
    assert summary.en.index("fair_pick") < summary.en.index("enqueue_task")


def test_fields_of_the_keyword_index_stay_apart():
    one = piece(CORE, "try_to_wake_up")
    words = chunk_tokens(one, search_text(made(one, "kernel/sched/core.c")))
    assert "=try_to_wake_up" in words
    assert "d:sleep" in words
    assert "b:resched_curr" in words and "b:resched" not in [w for w in words if w.startswith("d:")]
    assert any(word.startswith("z:") for word in words)


def test_what_is_shipped_can_be_read():
    lore = load_lore()
    assert len(lore.notes) > 700
    assert "写时复制" in lore.notes["do_wp_page"][1]
    assert lore.files and lore.mentions and lore.terms
