"""Order of calls and place of conditions in a generated sentence."""

import pytest

from osrag.kernel.order import condition_elsewhere, out_of_order
from osrag.kernel.support import CodeCheck, CodeEvidence
from osrag.types import ChunkKind, CodeChunk, LineRef, Origin, Passage

CODE = """\
void do_exit(long code)
{
	exit_signals(tsk);
	exit_mm();
	if (group_dead) {
		/* the last thread of the process group is gone */
		exit_files(tsk);
	}
	/* free the stack where a page fault is pending */
	if (fault_pending(tsk))
		free_stack(tsk);
	exit_signals(NULL);
}
"""


def chunk(name: str, text: str, calls: tuple[str, ...] = (), en: str = "") -> CodeChunk:
    where = LineRef(1, text.count("\n"))
    return CodeChunk(
        f"k.c:{name}", text, "k.c", where, ChunkKind.FUNCTION, name, en, origin=Origin.COMMENT, calls=calls
    )


CALLS = ("exit_signals", "exit_mm", "exit_files", "fault_pending", "free_stack")
MAIN = chunk("do_exit", CODE, CALLS, "Ends a task.")
NAMES = ("do_exit", *CALLS)
ABOUT = {"exit_files": chunk("exit_files", "", (), "Closes the open files.")}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("It first calls `exit_mm`, then `exit_files`.", False),
        ("It first calls `exit_files`, then `exit_mm`.", True),
        ("先由 `exit_files` 关闭文件，再由 `exit_mm` 放弃地址空间。", True),
        ("先由 `exit_mm` 放弃地址空间，再由 `exit_files` 关闭文件。", False),
        ("`exit_files` closes files, but before that, then, `exit_mm` runs.", False),  # turned: not judged
        ("`exit_files` and `exit_mm` are called.", False),  # no order told
        ("It calls `exit_files`, and then `exit_signals`.", False),  # called a second time below
        ("It calls `exit_mm`, then `schedule`.", False),  # not both of one function
    ],
)
def test_steps_told_in_another_order_than_that_of_the_code(text: str, wrong: bool):
    names = [name for name in (*NAMES, "schedule") if name in text]
    assert out_of_order(text, names, [MAIN]) is wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("If the thread group is dead, `exit_files` is called.", False),
        ("If a page fault is pending, `exit_files` is called.", True),
        ("`free_stack` is called if a page fault is pending.", False),
        ("`exit_files` is called if a page fault is pending.", True),
        ("如果有未处理的缺页，就调用 `exit_files`。", True),
        ("When files are open, `exit_files` closes them.", False),  # said of the function itself
        ("If the memory is full, nothing is done.", False),  # no call
    ],
)
def test_a_condition_stands_where_the_code_has_it(text: str, wrong: bool):
    names = [name for name in NAMES if name in text]
    assert condition_elsewhere(text, names, [MAIN], ABOUT, frozenset({"call", "calls"})) is wrong


FREE = chunk(
    "free_slab",
    "void free_slab(struct slab *s)\n{\n\tdiscard(s);\n\tput_partial(s);\n}\n",
    ("discard", "put_partial"),
    "Frees an object.",
)
ALLOC = chunk(
    "alloc_slab",
    "void *alloc_slab(void)\n{\n\treturn take_partial();\n}\n",
    ("take_partial",),
    "Takes an object from the list of the processor without a lock.",
)
MAIN_LOOP = chunk("kthread_main", "int kthread_main(void *p)\n{\n\treturn 0;\n}\n", (), "Waits.")


def checked(question: str, *said: str) -> list[str]:
    """The reasons of the check for sentences in a row; "" for what is supported."""
    passages = [Passage(n, one, 1.0, 0.9) for n, one in enumerate((FREE, ALLOC, MAIN_LOOP), start=1)]
    check = CodeCheck(CodeEvidence(passages, told=("free_slab", "alloc_slab")), question)
    return [check(text).reason for text in said]


def test_it_and_then_speak_of_the_function_named_last():
    follow = "Then it takes an object from the list of the processor without a lock."
    assert checked("Explain.", "`alloc_slab` is the way to an object.", follow)[1] == ""
    assert checked("Explain.", "`free_slab` frees an object.", follow) == ["", "words"]


def test_an_echo_of_the_question_needs_the_function_to_speak_of_it():
    question = "What frees an object?"
    assert checked(question, "`free_slab` frees an object.") == [""]
    question = "Which function balances the load between processors?"
    assert checked(question, "`alloc_slab` balances the load between processors.") == ["echo"]


def test_what_nobody_calls_is_not_called():
    assert checked("Explain.", "A module starts by calling `kthread_main`.") == ["calls"]
