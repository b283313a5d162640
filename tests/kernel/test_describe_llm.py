"""Descriptions by the chat model: kept, resumed, and never in the way."""

import json
from pathlib import Path

import pytest

from osrag.errors import ModelFailed
from osrag.index.collection import Collection
from osrag.kernel.build import build_kernel
from osrag.kernel.c_source import chunk_c
from osrag.kernel.describe_llm import ModelDescriptions, describe_prompt, describe_with_model
from osrag.types import CodeChunk
from tests.fakes import FakeEncoder, ScriptedChat
from tests.kernel.tree import CORE, write_tree

GOOD = json.dumps({"en": "Puts the task on a run queue.", "zh": "把任务放入运行队列。"}, ensure_ascii=False)
PIECES = [("a.c", piece) for piece in chunk_c(CORE.encode()).pieces if piece.name]


def test_each_function_is_asked_once(tmp_path: Path):
    held = ModelDescriptions(tmp_path / "d.sqlite", "m")
    chat = ScriptedChat([[GOOD]])
    assert sum(describe_with_model(chat, held, PIECES)) == len(PIECES)
    assert len(chat.asked) == len(PIECES)
    again = ScriptedChat([[GOOD]])
    assert sum(describe_with_model(again, held, PIECES)) == len(PIECES)
    assert again.asked == []
    assert held.find("a.c", PIECES[0][1]) == ("Puts the task on a run queue.", "把任务放入运行队列。")


def test_a_reply_that_cannot_be_read_leaves_the_function_to_the_code(tmp_path: Path):
    held = ModelDescriptions(tmp_path / "d.sqlite", "m")
    list(describe_with_model(ScriptedChat([["no idea"], [GOOD]]), held, PIECES[:2]))
    assert held.find("a.c", PIECES[0][1]) is None
    assert held.find("a.c", PIECES[1][1]) is not None


def test_a_model_that_is_gone_stops_the_build(tmp_path: Path):
    held = ModelDescriptions(tmp_path / "d.sqlite", "m")
    with pytest.raises(ModelFailed):
        list(describe_with_model(ScriptedChat([[ModelFailed("gone")]]), held, PIECES * 3))


def test_the_code_is_in_the_prompt_and_short():
    messages = describe_prompt("a.c", PIECES[0][1])
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
