"""Descriptions by the chat model: kept, resumed, and never in the way."""

import json
from pathlib import Path

import pytest

from osrag.errors import ModelFailed
from osrag.index.collection import Collection
from osrag.kernel.build import build_kernel
from osrag.kernel.c_source import chunk_c
from osrag.kernel.describe_llm import ModelDescriptions, describe_prompt, describe_with_model, of_function
from osrag.types import CodeChunk, Origin
from tests.fakes import FakeEncoder, ScriptedChat
from tests.kernel.tree import CORE, write_tree

GOOD = json.dumps({"en": "Puts the task on a run queue.", "zh": "把任务放入运行队列。"}, ensure_ascii=False)
PIECES = [of_function("a.c", piece) for piece in chunk_c(CORE.encode()).pieces if piece.name]


def test_each_function_is_asked_once(tmp_path: Path):
    held = ModelDescriptions(tmp_path / "d.sqlite", "m")
    chat = ScriptedChat([[GOOD]])
    assert sum(describe_with_model(chat, held, PIECES)) == len(PIECES)
    assert len(chat.asked) == len(PIECES)
    again = ScriptedChat([[GOOD]])
    assert sum(describe_with_model(again, held, PIECES)) == len(PIECES)
    assert again.asked == []
    assert held.find(PIECES[0]) == ("Puts the task on a run queue.", "把任务放入运行队列。")


def test_a_reply_that_cannot_be_read_leaves_the_function_to_the_code(tmp_path: Path):
    held = ModelDescriptions(tmp_path / "d.sqlite", "m")
    list(describe_with_model(ScriptedChat([["no idea"], [GOOD]]), held, PIECES[:2]))
    assert held.find(PIECES[0]) is None
    assert held.find(PIECES[1]) is not None


def test_a_model_that_is_gone_stops_the_build(tmp_path: Path):
    held = ModelDescriptions(tmp_path / "d.sqlite", "m")
    with pytest.raises(ModelFailed):
        list(describe_with_model(ScriptedChat([[ModelFailed("gone")]]), held, PIECES * 3))


def test_the_code_is_in_the_prompt_and_short():
    messages = describe_prompt(PIECES[0])
    assert "File: a.c" in messages[1].content and "schedule" in messages[1].content
    assert len(messages[1].content) < 2000


def test_a_build_with_a_model_uses_what_it_wrote(tmp_path: Path):
    chat = ScriptedChat([[GOOD]])
    build_kernel(
        tmp_path / "index",
        write_tree(tmp_path / "t"),
        ["kernel"],
        FakeEncoder(),
        cache_dir=tmp_path / "cache",
        chat=chat,
    )
    held = Collection.load(tmp_path / "index" / "kernel_chunks", None, of=CodeChunk)
    described = {chunk.name: chunk.description for chunk in held.chunks() if chunk.name}
    assert "its scheduling class" in described["enqueue_task"]  # a note is written with more care
    assert "Puts the task on a run queue." in described["fair_pick"]


def of_tcp(tmp_path: Path, *replies: str) -> tuple[CodeChunk, ScriptedChat]:
    """The row of a file with one function, after a model gave these replies, and what the model was asked."""
    chat = ScriptedChat([[reply] for reply in replies])
    out, tree = tmp_path / "index", write_tree(tmp_path / "t")
    build_kernel(out, tree, ["net/ipv4"], FakeEncoder(), cache_dir=tmp_path / "cache", chat=chat, fresh=True)
    (row,) = Collection.load(out / "net_ipv4_files", None, of=CodeChunk).chunks()
    return row, chat


def test_a_file_that_nobody_wrote_about_is_summarised_from_its_functions_once(tmp_path: Path):
    said = json.dumps({"en": "Opens connections.  tcp_connect() does it.", "zh": "建立连接。"}, ensure_ascii=False)
    row, chat = of_tcp(tmp_path, GOOD, said)
    assert (row.en, row.zh, row.origin) == ("Opens connections.  tcp_connect() does it.", "建立连接。", Origin.MODEL)
    assert "- tcp_connect: Puts the task on a run queue." in chat.asked[1][1].content
    again, chat = of_tcp(tmp_path, "never asked")
    assert again == row and chat.asked == []


def test_a_summary_that_says_nothing_is_left_out(tmp_path: Path):
    nothing = json.dumps({"en": "This file only includes header files.", "zh": "仅包含头文件。"}, ensure_ascii=False)
    row, _ = of_tcp(tmp_path, GOOD, nothing)
    assert row.origin is Origin.CODE and "Main functions: tcp_connect" in row.en
