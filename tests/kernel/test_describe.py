"""Descriptions in both languages, and those that search leaves out."""

import pytest

from osrag.glossary import Glossary, Term
from osrag.kernel.c_source import chunk_c
from osrag.kernel.describe import describe, first_words, is_useful, name_in_words, summarise_file
from osrag.kernel.describe_lore import FileSummary, Lore, gather_lore, load_lore
from osrag.kernel.describe_tokens import chunk_tokens
from tests.kernel.tree import CORE, FAIR

EMPTY = Lore()


def piece(text: str, name: str):
    return next(one for one in chunk_c(text.encode()).pieces if one.name == name)


def test_kernel_doc_without_its_parameters():
    said = first_words(piece(CORE, "try_to_wake_up").comment, "try_to_wake_up")
    assert said == "wake up a sleeping thread. Puts a sleeping thread on a run queue."


def test_the_words_of_a_name_in_both_languages():
    assert name_in_words("copy_page_range") == ("copy page range", "复制页范围")
    assert "run queue" in name_in_words("update_rq")[0]


def test_a_function_nobody_commented_is_described_by_its_structure():
    text = describe(piece(CORE, "pick_next_task"), "kernel/sched/core.c", EMPTY, callers=["schedule"]).en
    assert "Calls fair_pick." in text
    assert "Called by schedule." in text


def test_note_summary_and_glossary_speak_of_a_function():
    summary = FileSummary(
        "kernel/sched/fair.c", "CFS. enqueue_task() adds a task.", "公平调度。enqueue_task() 加入任务。"
    )
    glossary = Glossary([Term(("入队",), ("enqueue",), ("enqueue_task",))])
    lore = gather_lore({summary.file: summary}, {"enqueue_task": ("Queues it.", "排队。")}, glossary)
    made = describe(piece(FAIR, "enqueue_task"), summary.file, lore)
    assert "Queues it." in made.en and "enqueue_task() adds a task." in made.en and "(enqueue)" in made.en
    assert "排队。" in made.zh and "加入任务" in made.zh and "入队" in made.zh
    assert made.text == f"{made.en}\n{made.zh}"


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "[ERROR] timeout", "[ERROR: model]", "Only includes headers.",
     "This file includes the necessary header files.",
     "该文件仅包含头文件。", "这段代码只包含了一些头文件"],
)  # fmt: skip
def test_descriptions_that_search_leaves_out(text: str):
    assert not is_useful(text)


@pytest.mark.parametrize("text", ["Wakes a task.", "Includes the child in the run queue.", "把任务放入运行队列。"])
def test_descriptions_that_say_something(text: str):
    assert is_useful(text)


def test_a_file_that_nobody_summarised():
    pieces = [one for one in chunk_c(FAIR.encode()).pieces if one.name]
    made = summarise_file("kernel/sched/fair.c", FAIR, pieces, {"fair_pick": 3})
    assert not made.written
    assert "Completely fair scheduling class." in made.en
    assert made.en.index("fair_pick") < made.en.index("enqueue_task")


def test_fields_of_the_keyword_index_stay_apart():
    one = piece(CORE, "try_to_wake_up")
    words = chunk_tokens(one, describe(one, "kernel/sched/core.c", EMPTY))
    assert "=try_to_wake_up" in words
    assert "d:sleep" in words
    assert "b:resched_curr" in words and "b:resched" not in [w for w in words if w.startswith("d:")]
    assert any(word.startswith("z:") for word in words)


def test_what_is_shipped_can_be_read():
    lore = load_lore()
    assert len(lore.notes) > 700
    assert "写时复制" in lore.notes["do_wp_page"][1]
    assert lore.files and lore.mentions and lore.terms
