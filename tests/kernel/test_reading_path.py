"""The functions of an answer in the order of their calls."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from osrag.answer.events import CallPath, PathStep
from osrag.index.manifest import read_manifest
from osrag.kernel.parts import path_text
from osrag.kernel.reading_path import reading_path, with_others
from osrag.kernel.search import KernelSearch
from osrag.types import ChunkKind, CodeChunk, LineRef, Passage
from tests.fakes import FakeEncoder

ROOT = Path(__file__).resolve().parents[2]


def code(name: str, *calls: str) -> CodeChunk:
    return CodeChunk(f"a.c:{name}", "x", "a.c", LineRef(1, 1), ChunkKind.FUNCTION, name, calls=calls)


class FakeGraph:
    """The call graph of a few chunks of one file; it stands in for the index too."""

    def __init__(self, chunks: Sequence[CodeChunk]) -> None:
        self.chunks = chunks
        self.names = [chunk.name for chunk in chunks]
        self.store = self

    def file_name(self, row: int) -> str:
        return self.chunks[row].source

    def definitions(self, names: Sequence[str], file: str) -> list[int]:
        return [self.names.index(name) for name in names if name in self.names]

    def callees(self, row: int) -> list[int]:
        return self.definitions(self.chunks[row].calls, "a.c")

    def failing(self, row: int, targets: Sequence[int]) -> set[int]:
        return {one for one in targets if self.names[one].startswith("undo")}

    def pointed_to(self, row: int) -> list[int]:
        return self.definitions([name[1:] for name in self.chunks[row].calls if name[0] == "&"], "a.c")

    def kind(self, row: int, target: int) -> str:
        return "timer"

    def told(self, row: int) -> dict[int, tuple[str, str]]:
        """A walk-through has whatever `@name` names."""
        named = [name[1:] for name in self.chunks[row].calls if name[0] == "@"]
        return dict.fromkeys(self.definitions(named, "a.c"), ("wakeup", ""))


def test_what_a_walk_through_says_joins_functions_that_no_call_does():
    path = path_of([code("sleeper"), code("waker", "@sleeper", "&sleeper")])
    assert path.edges == (("waker", "sleeper"),)
    assert path.indirect == (("waker", "sleeper", "wakeup"),)


def path_of(shown: Sequence[CodeChunk], *hidden: CodeChunk) -> CallPath:
    passages = [Passage(number, chunk, 1.0, 0.9) for number, chunk in enumerate(shown, start=1)]
    return reading_path(passages, FakeGraph([*shown, *hidden]))


def steps(*shown: CodeChunk) -> list[tuple[str, int, str]]:
    return [(step.name, step.depth, step.called_by) for step in path_of(shown).steps]


def test_callers_before_what_they_call():
    shown = [code("c"), code("a", "b"), code("b", "c")]
    assert steps(*shown) == [("a", 0, ""), ("b", 1, "a"), ("c", 2, "b")]
    assert [step.number for step in path_of(shown).steps] == [2, 3, 1]


def test_functions_that_no_call_joins_are_no_part_of_it():
    assert steps(code("b"), code("a")) == []
    assert [name for name, *_ in steps(code("x"), code("b"), code("a", "b"))] == ["a", "b"]


def test_a_circle_is_entered_at_the_best_hit():
    assert steps(code("b", "a"), code("a", "b")) == [("b", 0, ""), ("a", 1, "b")]


def test_a_function_between_two_hits_is_named():
    path = path_of([code("c"), code("a", "hidden")], code("hidden", "c"))
    assert path.steps[1].via == ("hidden",)
    assert path.edges == (("a", "hidden"), ("hidden", "c"))


def test_a_direct_call_is_shown_rather_than_a_way_round():
    shown = [code("far", "x"), code("near", "goal"), code("goal")]
    assert steps(*shown) == [("near", 0, ""), ("goal", 1, "near")]
    path = path_of(shown, code("x", "goal"))
    assert [(step.name, step.called_by) for step in path.steps] == [("far", ""), ("near", ""), ("goal", "near")]
    assert ("x", "goal") in path.edges


def test_a_second_caller_names_what_stands_below_the_first():
    shown = [code("a", "c", "b"), code("b", "c"), code("c")]
    passages = [Passage(number, chunk, 1.0, 0.9) for number, chunk in enumerate(shown, start=1)]
    rows = path_text(path_of(shown), passages, "6.1", "en").splitlines()
    assert any("`b`" in row and "→ `c`" in row for row in rows)
    assert not any("[`a`]" in row and "→" in row for row in rows)


def test_a_pointer_joins_what_no_call_does_and_says_so():
    path = path_of([code("arm", "&fire"), code("fire")])
    assert [(step.name, step.depth, step.kind) for step in path.steps] == [("arm", 0, "call"), ("fire", 1, "timer")]
    assert path.indirect == (("arm", "fire", "timer"),)


def test_calls_where_something_failed_are_left_out():
    assert steps(code("do", "undo_it", "work"), code("undo_it"), code("work")) == [("do", 0, ""), ("work", 1, "do")]


def test_a_walk_gets_the_calls_among_its_functions_and_those_beside_them():
    shown = [code("a", "b", "extra"), code("b", "c"), code("c"), code("extra"), code("alone")]
    passages = [Passage(number, chunk, 1.0, 0.9) for number, chunk in enumerate(shown, start=1)]
    walk = CallPath(
        (PathStep(1, "a", "a.c", 1, 0, "", ()), PathStep(3, "c", "a.c", 1, 1, "a", ("b",))), (("a", "b"), ("b", "c"))
    )
    path = with_others(walk, passages, FakeGraph(shown))
    assert [(step.name, step.depth, step.called_by) for step in path.steps] == [
        ("a", 0, ""), ("extra", 1, "a"), ("b", 1, "a"), ("c", 1, "a")
    ]  # fmt: skip
    assert ("a", "extra") in path.edges and path.edges[:2] == walk.edges


# -- the index that is shipped


@pytest.fixture(scope="module")
def search() -> KernelSearch:
    made_by = read_manifest(ROOT / "index" / "kernel_chunks").encoder
    return KernelSearch(ROOT / "index", FakeEncoder(made_by.name, made_by.revision, made_by.dim))


def shown_of(search: KernelSearch, names: Sequence[str]) -> list[Passage]:
    chunks = [search.store.chunk(search.store.functions_named(name)[0]) for name in names]
    return [Passage(number, chunk, 1.0, 0.9) for number, chunk in enumerate(chunks, start=1)]


@pytest.mark.parametrize(
    ("names", "caller", "callee"),
    [
        ("copy_process kernel_clone sys_fork copy_mm", "copy_process", "copy_mm"),  # far down in a long function
        ("sys_exit exit_notify do_exit exit_mm __exit_signal release_task do_group_exit", "do_group_exit", "do_exit"),
        ("wp_page_copy do_cow_fault do_fault do_shared_fault do_read_fault do_anonymous_page do_wp_page wp_page_reuse",
         "do_wp_page", "wp_page_reuse"),
    ],
)  # fmt: skip
def test_two_shown_functions_that_a_call_joins_are_joined(search, names: str, caller: str, callee: str):
    passages = shown_of(search, names.split())
    path = reading_path(passages, search.graph)
    assert (caller, callee) in path.edges
    assert joined(path, path_text(path, passages, "6.1", "en"), caller, callee)


def fails(search: KernelSearch, caller: CodeChunk, callee: CodeChunk) -> bool:
    """Whether one calls the other only where something failed."""
    row, target = (search.store.definitions([one.name], one.source)[0] for one in (caller, callee))
    return target in search.graph.failing(row, [target])


def joined(path: CallPath, text: str, caller: str, callee: str) -> bool:
    """Whether the list shows the callee below the caller, or names it behind the arrow of the caller's line."""
    line = next(line for line in text.splitlines() if f"[`{caller}`]" in line)
    return next(step.called_by for step in path.steps if step.name == callee) == caller or f"`{callee}`" in line


def test_every_known_edge_is_joined_and_every_number_has_its_entry(search):
    rows = (ROOT / "examples" / "eval" / "kernel" / "ablation.jsonl").read_text("utf-8").splitlines()
    for row in map(json.loads, rows):
        passages = shown_of(search, row["gold_functions"])
        chunks = {passage.chunk.id: passage.chunk for passage in passages}
        path = reading_path(passages, search.graph)
        text = path_text(path, passages, "6.1", row["language"])
        known = [
            (a.name, b.name)
            for a in chunks.values()
            for b in search.callees(a)
            if b.id in chunks and a.id != b.id and not fails(search, a, b)
        ]
        assert set(known) <= set(path.edges), row["id"]
        assert all(joined(path, text, *edge) for edge in known), row["id"]
        assert {int(number) for number in re.findall(r"\) \[(\d+)\]", text)} == {one.number for one in path.steps}
