"""Pasted logs: recognised, read, answered. The sample logs say which function is to blame."""

import json
import time
from pathlib import Path

import pytest

from osrag.answer.events import SourceDone, Token
from osrag.answer.source import Question
from osrag.kernel.logs.answer import answer_log
from osrag.kernel.logs.facts import facts, taint_words
from osrag.kernel.logs.lines import clean, frames_in
from osrag.kernel.logs.read import language_asked, read_log

LOGS = Path(__file__).parents[2] / "examples" / "logs"
NAMES = sorted(path.stem for path in LOGS.glob("*.txt"))
# Logs that do not name the function at all: its author has to know the module.
UNNAMED = {"dentry-still-in-use", "module-unknown-symbol", "user-segfault"}


def log_text(name: str) -> str:
    return (LOGS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_log_is_recognised_and_its_error_line_is_verbatim(name):
    log = read_log(f"我的内核出错了，怎么办？\n{log_text(name)}\n谢谢！")
    assert log is not None
    assert log.line in log_text(name)
    assert "怎么办" in log.asked and "Call Trace" not in log.asked


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNNAMED])
def test_the_function_to_blame_is_among_the_first_five(name):
    blamed = json.loads((LOGS / f"{name}.json").read_text(encoding="utf-8"))["function"]
    assert blamed in [frame.name for frame in read_log(log_text(name)).blamed[:5]]


def test_most_are_blamed_first():
    first = 0
    for name in NAMES:
        blamed = json.loads((LOGS / f"{name}.json").read_text(encoding="utf-8"))["function"]
        first += [frame.name for frame in read_log(log_text(name)).blamed[:1]] == [blamed]
    assert first >= 20


@pytest.mark.parametrize(
    "question",
    [
        "什么是 kernel panic？",
        "What is the OOM killer and whom does it choose?",
        "Why does a page fault happen?",
        "How does lockdep find a deadlock?",
        "what does try_to_wake_up do",
        'How does the kernel decide that a task is stuck and print "blocked for more than 120 seconds"?',
        "内核什么时候打印 INFO: task xx:123 blocked for more than 120 seconds？",
        "BUG: scheduling while atomic 是什么意思",
        'What does "BUG: Bad page state in process" mean?',
    ],
)
def test_a_question_is_no_log(question):
    assert read_log(question) is None


def test_the_language_is_that_of_the_words_around_the_log():
    assert language_asked(f"这是什么问题？\n{log_text('divide-error')}", "en") == "zh"
    assert language_asked(log_text("divide-error"), "zh") == "zh"
    assert language_asked("What is a thread?", "zh") == "en"


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("[    1.79] x", "[    1.79] x"),
        ("[    1.795580] BUG: x", "BUG: x"),
        ("[  410.433138][ T5348] BUG: x", "BUG: x"),
        ("Jun 18 07:44:52 host kernel: [64377.426677] a invoked oom-killer", "a invoked oom-killer"),
        ("INFO: task jbd2/[34315.188943]  __rq_qos_throttle+0x23/0x30", " __rq_qos_throttle+0x23/0x30"),
        (">> INFO: task x", "INFO: task x"),
    ],
)
def test_a_line_without_its_decoration(line, bare):
    assert clean(line).text == bare


@pytest.mark.parametrize(
    ("text", "is_log"),
    [
        ("./a.out\n段错误（吐核）", True),
        ("段错误 (核心已转储)", True),
        ("Segmentation fault (core dumped)", True),
        ("如果程序把段错误对应的信号屏蔽掉，然后去访问空指针，会怎样？", False),
        ("什么是段错误", False),
    ],
)
def test_a_question_about_a_fault_is_no_log(text, is_log):
    assert (read_log(text) is not None) == is_log


def test_frames_with_module_source_and_doubt():
    (frame,) = frames_in([" ? lab_hash.constprop.0.isra.0+0x16/0x17 [lab_mem]"])
    assert (frame.name, frame.offset, frame.module, frame.reliable) == ("lab_hash", "0x16/0x17", "lab_mem", False)
    (frame,) = frames_in(["NIP [c00] partition_sched_domains_locked+0x1ac/0x5f0 kernel/sched/topology.c:2216"])
    assert (frame.file, frame.line, frame.reliable) == ("kernel/sched/topology.c", 2216, True)


def test_the_environment_of_a_log():
    found = read_log(log_text("atomic-sleep-kmalloc")).environment
    assert (found.kernel, found.architecture, found.task) == ("6.1.192-lab", "x86_64", "insmod (PID 38)")
    assert found.taint == "GO"
    assert taint_words("GO", "en") == "O (a module from outside the source tree was loaded)"
    assert read_log(log_text("list-corruption")).environment.modules == ("lab_mem(O+)",)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("oops-null-deref", "offset 4"),
        ("gpf-list-poison", "LIST_POISON2"),
        ("panic-attempted-to-kill-init", "status 3"),
        ("user-segfault", "user mode, read, page not present"),
        ("oom-killer", "no swap"),
        ("ubsan-array-index", "Index 12"),
    ],
)
def test_what_the_numbers_mean(name, told):
    assert told in " ".join(facts(read_log(log_text(name)).lines, "en"))


@pytest.mark.parametrize(("language", "parts"), [("zh", ("问题分析", "解决方案", "环境")), ("en", ("Analysis", "Fix"))])
def test_a_reply_without_index_or_model_has_its_three_parts(language, parts):
    log = read_log(log_text("atomic-sleep-kmalloc"))
    events = list(answer_log(log, Question("x", language=language), None, None))
    text = "".join(event.text for event in events if isinstance(event, Token))
    assert all(f"## {part}" in text for part in parts)
    assert log.line in text and "add_entry" in text and "faddr2line lab_locks.ko" in text
    assert isinstance(events[-1], SourceDone) and events[-1].text == text


@pytest.mark.parametrize("text", ["a" * 60_000, "a.b/" * 15_000, "BUG: KASAN: " + "x-y " * 15_000, "A " * 30_000])
def test_a_long_line_is_read_in_no_time(text):
    start = time.perf_counter()
    assert read_log(text) is None
    assert time.perf_counter() - start < 2
