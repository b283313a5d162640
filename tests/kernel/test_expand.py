"""Callers, callees, uses of a field and entries of a table, in the kernel index that is shipped."""

from pathlib import Path

import pytest

from osrag.errors import BadInput
from osrag.index.manifest import read_manifest
from osrag.kernel.code import fields
from osrag.kernel.expand import callees, callers, definition, entries, filled, piece, relations, uses
from osrag.kernel.query import renamed
from osrag.kernel.store import KernelStore, open_store

INDEX = Path(__file__).resolve().parents[2] / "index"


@pytest.fixture(scope="module")
def store() -> KernelStore:
    return open_store(INDEX, read_manifest(INDEX / "kernel_chunks").encoder)


def names(found) -> list[str]:
    return [one.chunk.name for one in found]


def test_a_caller_in_another_subsystem_stands_with_its_line(store):
    (caller,) = callers(store, piece(store, "copy_page_range"))
    assert caller.chunk.name == "dup_mmap" and not caller.indirect
    assert [line.text.strip() for line in caller.lines] == ["retval = copy_page_range(tmp, mpnt);"]
    assert caller.chunk.where.first < caller.lines[0].number < caller.chunk.where.last


def test_a_function_that_is_reached_by_a_pointer_shows_its_table_and_the_call(store):
    found = callers(store, piece(store, "task_tick_fair"))
    assert all(one.indirect for one in found)
    assert ".task_tick" in found[0].lines[0].text and "scheduler_tick" in names(found)


def test_callees_come_in_the_order_of_their_lines(store):
    chunk = piece(store, "do_exit")
    found = callees(store, chunk)
    lines = [one.lines[0].number for one in found if one.lines]
    assert lines == sorted(lines) and {"exit_mm", "exit_notify", "do_task_dead"} <= set(names(found))


def test_writers_and_readers_of_a_field_are_told_apart(store):
    writers, readers = (names(uses(store, "vruntime", written=written)) for written in (True, False))
    assert {"update_curr", "place_entity"} <= set(writers) and "entity_before" in readers
    assert not set(writers) & set(readers)


def test_an_operation_leads_to_what_the_tables_put_there(store):
    assert set(names(entries(store, "task_tick"))) >= {"task_tick_fair", "task_tick_rt", "task_tick_dl"}
    (table,) = definition(store, "rt_sched_class", "kernel/sched/rt.c")
    assert "task_tick_rt" in names(filled(store, table))


def test_what_can_be_asked_depends_on_the_kind(store):
    assert relations(piece(store, "schedule")) == ("callers", "callees")
    struct = piece(store, "cfs_rq")
    assert relations(struct) == ("writers", "readers", "entries") and "min_vruntime" in fields(struct)


def test_a_name_that_is_not_there_suggests_near_ones(store):
    with pytest.raises(BadInput, match="nothing called 'copy_page_rang'") as error:
        piece(store, "copy_page_rang")
    assert "copy_page_range" in error.value.hint


@pytest.mark.parametrize("field", ["", "a b", "x)(", "vruntime; rm", "*"])
def test_a_field_that_is_no_name_finds_nothing(store, field):
    assert uses(store, field, written=True) == () == entries(store, field)


def test_every_name_of_today_in_the_table_of_renames_is_in_the_index(store):
    assert [new for new, _ in renamed().values() if not store.functions_named(new)] == []
