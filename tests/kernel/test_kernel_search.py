"""Kernel search on a small index: names, files, what is missing, the cache."""

import json
import shutil
from pathlib import Path

import pytest

from osrag.answer.plan import plan
from osrag.answer.source import Question
from osrag.errors import BadIndex, ModelFailed
from osrag.kernel.build import build_kernel
from osrag.kernel.reading_path import reading_path
from osrag.kernel.search import KernelSearch, current_names
from osrag.kernel.source import KernelSource
from osrag.types import Passage
from tests.fakes import FakeEncoder, ScriptedChat
from tests.kernel.tree import FILES, write_tree


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kernel")
    build_kernel(base / "index", write_tree(base / "tree"), ["kernel", "mm"], FakeEncoder(), cache_dir=base / "cache")
    return base / "index"


@pytest.fixture(scope="module")
def search(root: Path) -> KernelSearch:
    return KernelSearch(root, FakeEncoder())


def names(search: KernelSearch, query: str, k: int = 10) -> list[str]:
    return [hit.chunk.name for hit in search.search(query, k=k).hits]


@pytest.mark.parametrize(
    "query",
    ["what does try_to_wake_up do", "try_to_wake_up() 做什么？", "`try_to_wake_up`", "解释 try_to_wake_up 函数"],
)
def test_a_function_that_is_named_comes_first(search: KernelSearch, query: str):
    assert names(search, query)[0] == "try_to_wake_up"


@pytest.mark.parametrize("query", ["sys_brk", "what does the brk system call do: __x64_sys_brk", "系统调用 brk 在哪里"])
def test_a_system_call_by_any_of_its_names(search: KernelSearch, query: str):
    assert "sys_brk" in names(search, query)


def test_a_question_in_each_language(search: KernelSearch):
    assert "do_anonymous_page" in names(search, "How is a page fault on anonymous memory handled?", 3)
    assert "do_anonymous_page" in names(search, "匿名页缺页异常怎么处理？", 3)


def test_who_is_called_is_not_pushed_aside_by_who_calls(search: KernelSearch):
    found = names(search, "Which function does pick_next_task call?", 4)
    assert "pick_next_task" in found and "fair_pick" in found


def test_deep_without_a_usable_model_is_fast(search: KernelSearch):
    query = "How is a sleeping thread woken up, and by whom?"
    fast = search.search(query)
    for broken in (ScriptedChat([[ModelFailed("gone")]]), ScriptedChat([["no json"]])):
        planned = plan("kernel", query, (), broken)
        assert KernelSource(search).search(planned, Question(query, passages=10)).hits == fast.hits


def test_what_a_model_adds_does_not_lead(search: KernelSearch):
    reply = json.dumps({"reasoning": "", "search_keywords": ["swap"], "identifiers": ["sys_brk", "invented_name"]})
    asked = Question("what does try_to_wake_up do", passages=10)
    made = KernelSource(search).search(plan("kernel", asked.text, (), ScriptedChat([[reply]])), asked)
    assert made.hits[0].chunk.name == "try_to_wake_up"
    assert made.missing == ()


def test_a_name_inside_another_is_not_renamed(search: KernelSearch):
    asked = "what does try_to_wake_up call?"  # `wake_up` is a macro of another directory
    assert current_names(asked, search.store) == asked


def test_a_helper_of_a_header_stands_for_the_functions_named_after_it(search: KernelSearch):
    assert current_names("what does pick_next() do?", search.store) == "what does pick_next() do? (pick_next_task)"


def test_who_calls_and_what_is_called(search: KernelSearch):
    assert set(names(search, "谁调用了 fair_pick", 3)) == {"fair_pick", "pick_next_task", "enqueue_task"}
    assert set(names(search, "what does try_to_wake_up call?", 2)) == {"try_to_wake_up", "enqueue_task"}


def test_the_result_has_the_shape_of_k2(search: KernelSearch):
    made = search.search("How is a sleeping thread woken up?", k=3).to_dict()
    assert {"query", "timestamp", "retrieved_files", "timings_ms"} <= set(made)
    first = made["retrieved_files"][0]
    assert {"source_file", "md_summary", "similarity", "chunks"} == set(first)
    chunk = first["chunks"][0]
    assert {
        "chunk_id", "function_name", "start_line", "end_line", "description", "score", "content"
    } <= set(chunk)  # fmt: skip
    lines = FILES[first["source_file"]].split("\n")
    assert chunk["content"].rstrip("\n") == "\n".join(lines[chunk["start_line"] - 1 : chunk["end_line"]])
    assert sum(len(one["chunks"]) for one in made["retrieved_files"]) == 3


def test_no_name_twice(search: KernelSearch):
    found = names(search, "scheduler task run queue wake", 10)
    assert len(found) == len(set(found))


def test_more_than_there_is(search: KernelSearch):
    assert len(search.search("schedule", k=500).hits) <= search.store.rows


def test_a_name_that_is_not_there(search: KernelSearch):
    made = search.search("what does try_to_sleep_up do?")
    assert made.missing[0].what == "try_to_sleep_up"
    assert "try_to_wake_up" in made.missing[0].nearest
    assert "try_to_sleep_up is not in the index" in made.notes[0]


def test_a_name_of_another_version(search: KernelSearch):
    made = search.search("do_page_fault 做了什么？")
    assert made.missing[0].nearest == ("handle_mm_fault",)
    assert "没有 do_page_fault" in made.notes[0]


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("How does the ext4 file system write its journal?", "fs/"),
        ("Windows 内核怎样调度线程？", "not Linux"),
        ("e1000 网卡驱动怎样收包", "drivers/net/"),
        ("内核里的银行家算法在哪个函数", "a textbook algorithm"),
    ],
)
def test_a_subject_that_lies_elsewhere(search: KernelSearch, query: str, where: str):
    missing = search.search(query).missing
    assert missing and missing[0].where.startswith(where)
    assert missing[0].nearest


@pytest.mark.parametrize(
    "query",
    [
        "How is the next task picked?",
        "缺页异常怎么处理",
        "what does schedule do",
        "Which function wakes a task up?",  # a verb behind the word function is no name
        "哪个函数释放 task_struct？",  # a structure of include/ that the code uses
        "why does resched_curr() come last?",  # called here, defined elsewhere
    ],
)
def test_ordinary_questions_miss_nothing(search: KernelSearch, query: str):
    assert search.search(query).missing == ()


def test_another_kernel_version_is_said(search: KernelSearch):
    assert any("5.10" in note for note in search.search("How does schedule work in Linux 5.10?").notes)
    assert search.search("How does schedule work in Linux 6.1?").notes == ()


def test_a_second_search_is_from_the_cache(search: KernelSearch):
    first = search.search("wake  up a Thread")
    again = search.search("wake up a thread")
    assert again.hits == first.hits
    assert again.timings_ms == {"total": 0.0}
    assert again.query == "wake up a thread"


def test_a_changed_index_is_read_again(tmp_path: Path):
    tree = write_tree(tmp_path / "tree")
    build_kernel(tmp_path / "index", tree, ["mm"], FakeEncoder(), cache_dir=tmp_path / "cache")
    search = KernelSearch(tmp_path / "index", FakeEncoder())
    assert "added_later" not in names(search, "added_later")
    memory = tree / "mm/memory.c"
    memory.write_text(memory.read_text() + "\nint added_later(void)\n{\n\treturn 1;\n}\n")
    build_kernel(tmp_path / "index", tree, ["mm"], FakeEncoder(), cache_dir=tmp_path / "cache")
    assert names(search, "added_later")[0] == "added_later"


def test_without_a_file_index_one_stage_serves_and_says_so(root: Path, tmp_path: Path):
    shutil.copytree(root, tmp_path / "index")
    shutil.rmtree(tmp_path / "index" / "kernel_files")
    made = KernelSearch(tmp_path / "index", FakeEncoder()).search("How is a sleeping thread woken up?")
    assert "try_to_wake_up" in [hit.chunk.name for hit in made.hits]
    assert any("searched by its chunks alone" in note and "build kernel" in note for note in made.notes)


def test_an_index_of_another_encoder_is_refused_with_the_command(root: Path):
    with pytest.raises(BadIndex) as caught:
        KernelSearch(root, FakeEncoder(revision="fake-2"))
    assert "build kernel" in caught.value.hint and "--subsystem kernel" in caught.value.hint


def test_no_index_at_all(tmp_path: Path):
    with pytest.raises(BadIndex, match="no kernel index") as caught:
        KernelSearch(tmp_path, FakeEncoder())
    assert "build kernel" in caught.value.hint


def test_subsystems_of_two_kernels_are_noticed(root: Path, tmp_path: Path):
    shutil.copytree(root, tmp_path / "index")
    tree = write_tree(tmp_path / "t", {**FILES, "Makefile": "VERSION = 6\nPATCHLEVEL = 6\nSUBLEVEL = 1\n"})
    build_kernel(tmp_path / "index", tree, ["net"], FakeEncoder(), cache_dir=tmp_path / "cache")
    made = KernelSearch(tmp_path / "index", FakeEncoder()).search("tcp connect")
    assert any("different kernels" in note for note in made.notes)


def test_the_reading_path_follows_the_calls(search: KernelSearch):
    store = search.store
    chunks = [store.chunk(store.functions_named(name)[0]) for name in ("fair_pick", "context_switch", "schedule")]
    path = reading_path([Passage(n, chunk, 1.0, 0.9) for n, chunk in enumerate(chunks, start=1)], search.graph)
    assert [(step.name, step.depth, step.called_by, step.via) for step in path.steps] == [
        ("schedule", 0, "", ()),
        ("context_switch", 1, "schedule", ()),
        ("fair_pick", 1, "schedule", ("pick_next_task",)),
    ]
    assert ("pick_next_task", "fair_pick") in path.edges


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("pick_next_tsk", ["pick_next_task"]), ("try_to_wakeup", ["try_to_wake_up"]), ("zzz", [])],
)
def test_names_that_look_like_one_that_is_not_there(search: KernelSearch, name: str, nearest: list[str]):
    assert search.store.nearest_names(name) == nearest


def test_of_many_names_that_are_not_there_a_few_are_told_of(search: KernelSearch, monkeypatch: pytest.MonkeyPatch):
    looked = []
    monkeypatch.setattr(search.store, "nearest_names", lambda name: looked.append(name) or [])
    found = search.search(" ".join(f"no_such_{number}()" for number in range(100)))
    assert [one.what for one in found.missing] == looked == [f"no_such_{number}" for number in range(5)]


def test_a_structure_that_is_asked_for_comes_first_and_one_of_elsewhere_is_said_to_be(tmp_path: Path):
    struct = "struct wake_state {\n\tint level;\n};\n\nvoid wake_state(void)\n{\n\tlong my_time_t = 0;\n}\n"
    write_tree(tmp_path / "tree", {**FILES, "kernel/wake.c": struct})
    build_kernel(tmp_path / "index", tmp_path / "tree", ["kernel"], FakeEncoder(), cache_dir=tmp_path / "cache")
    made = KernelSearch(tmp_path / "index", FakeEncoder())
    assert made.search("What is in struct wake_state?", k=4).hits[0].chunk.kind.value == "struct"
    assert made.search("What does wake_state do?", k=4).hits[0].chunk.kind.value == "function"
    found = made.search("Which fields does task_struct have?", k=4)
    assert any("definition of task_struct is not in the index" in note for note in found.notes)
    assert "task_struct 的定义不在索引" in "".join(made.search("task_struct 有哪些字段？", k=4).notes)
    assert not made.search("How does schedule pick a task_struct?", k=4).notes
