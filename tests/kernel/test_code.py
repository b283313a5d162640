"""Which lines of a function a reader is shown, and its one line of description."""

from dataclasses import replace

import pytest

from osrag.kernel.code import code_block, is_described, key_lines, one_line
from osrag.kernel.parts import to_explain
from osrag.types import ChunkKind, CodeChunk, LineRef, Origin, Passage

CODE = """\
static int wake(struct task *p, int flags)
{
	int cpu = 0;

	if (p == current) {
		account(p);
		if (p->stopped ||
				p->dead)
			goto out;
	} else {
		trace_wake(p);
		prepare(p);
		first_choose_the_queue(p);
	}
	for_each_queue(q) {
		lock(q);
		unlock(q);
	}
	while (p->busy)
		relax();
	put_on_queue(p, cpu);
out:
	return 1;
}
"""


def chunk(text: str = CODE, *, kind: ChunkKind = ChunkKind.FUNCTION) -> CodeChunk:
    return CodeChunk("k.c:10-33", text, "k.c", LineRef(10, 9 + text.count("\n")), kind, "wake")


def shown(query: str, *, framed: bool) -> list[str]:
    return [line.text.strip() for line in key_lines(chunk(), query, chars=110, framed=framed)]


def test_a_line_is_shown_with_the_conditions_that_it_stands_under():
    query = "how does it first choose the queue"
    assert "} else {" not in shown(query, framed=False)
    found = shown(query, framed=True)
    assert found.index("} else {") < found.index("first_choose_the_queue(p);")
    assert found[0] == "static int wake(struct task *p, int flags)"


def test_no_condition_is_shown_without_what_it_leads_to():
    found = shown("while busy", framed=True)
    assert found[found.index("while (p->busy)") + 1] == "relax();"
    found = shown("stopped or dead", framed=True)
    assert found[found.index("if (p->stopped ||") :][:3] == ["if (p->stopped ||", "p->dead)", "goto out;"]
    assert found.index("if (p == current) {") < found.index("if (p->stopped ||")


def test_a_label_is_not_shown_for_itself_and_every_line_keeps_its_number():
    lines = key_lines(chunk(), "out", chars=110, framed=True)
    rows = CODE.split("\n")
    assert all(rows[line.number - 10] == line.text for line in lines)
    assert "out:" not in [line.text for line in lines]
    assert code_block(chunk(), lines).startswith("```c\nstatic int wake")


@pytest.mark.parametrize(
    ("told", "origin", "zh", "en"),
    [
        (("Wakes a task.", "唤醒一个任务。"), Origin.NOTE, "唤醒一个任务。", "Wakes a task."),
        (("Wakes the task:", ""), Origin.COMMENT, "（源码注释）Wakes the task.", "Wakes the task."),
        (("__wake - wakes a task.", ""), Origin.COMMENT, "（源码注释）Wakes a task.", "Wakes a task."),
        (("Does I/O for a task.", ""), Origin.COMMENT, "（源码注释）Does I/O for a task.", None),
        (("Ugly, I think we can ignore it.", ""), Origin.COMMENT, "调用 run、stop。", "Calls run, stop."),
        (("Calls run, stop. Called by go.", ""), Origin.CODE, "调用 run、stop。", "Calls run, stop."),
        (("Structure with fields at.", ""), Origin.CODE, "结构体，字段有 at、of 等。", None),
    ],
)
def test_a_line_in_the_readers_language_or_said_to_be_a_comment(
    told: tuple[str, str], origin: Origin, zh: str, en: str | None
):
    struct = told[0].startswith("Structure")
    text = "struct wake {\n\tint at; /* of x; y; */\n\tlong of[2];\n};\n" if struct else CODE
    kind = ChunkKind.STRUCT if struct else ChunkKind.FUNCTION
    one = replace(chunk(text, kind=kind), en=told[0], zh=told[1], origin=origin, calls=("run", "stop"))
    assert one_line(one, "zh") == zh
    assert en is None or one_line(one, "en") == en


def test_a_comment_that_begins_like_a_list_of_calls_is_still_a_comment():
    one = replace(chunk(), en="Calls the owner of the lock back later.", origin=Origin.COMMENT, calls=("run",))
    assert one_line(one, "en") == "Calls the owner of the lock back later." and is_described(one, "en")
    read_off = replace(one, en="Calls run. Called by go.", origin=Origin.CODE, terms=("wakeup", "唤醒"))
    assert not is_described(read_off, "en")  # with a term before it, this was taken for a description


def test_tests_and_tracing_are_not_explained_unless_they_are_what_is_asked_for():
    files = ("kernel/printk/printk.c", "kernel/trace/ring_buffer_benchmark.c", "kernel/sched/core.c")
    found = [Passage(n, replace(chunk(), source=file), 1.0, 0.9) for n, file in enumerate(files, start=1)]
    assert [passage.number for passage in to_explain(found[:1], found)] == [1, 3]
    assert [passage.number for passage in to_explain(found[1:2], found)] == [2, 1, 3]
