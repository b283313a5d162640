"""What a function does, in words read off its code."""

import pytest

from osrag.kernel.code import all_lines
from osrag.kernel.in_words import doings, in_words
from osrag.types import ChunkKind, CodeChunk, LineRef

CODE = """\
int wake(struct task *p)
{
	if (p == current &&
			!p->stopped) {
		account(p);
		return -EBUSY;
	} else {
		trace_wake(p);
		p->state = RUNNING;
	}
	switch (p->policy) {
	case FIFO:
		enqueue(p);
	}
	if (!p->ops)
		return -ENOSYS;
	else
		p->ops->start(p);
	while (p->busy)
		relax(p);
	return select_queue(p);
}
"""
WAKE = CodeChunk("k.c:1-22", CODE, "k.c", LineRef(1, 22), ChunkKind.FUNCTION, "wake")


def said(language: str) -> str:
    every = {line.number for line in all_lines(WAKE)}
    some = doings(WAKE, every, {"account", "trace_wake", "enqueue", "relax", "select_queue"}.__contains__)
    return in_words(some, {"relax": "waits a moment"}.get, language)


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "en",
            "If `p == current && !p->stopped`, it calls `account()`. "
            "If `p == current && !p->stopped`, it returns `-EBUSY`. "
            "If `!(p == current && !p->stopped)`, it sets `p->state` to `RUNNING`. "
            "If `!p->ops`, it returns `-ENOSYS`. If `p->ops`, it calls through the pointer `p->ops->start`. "
            "It calls `relax()` (waits a moment) in a loop. It calls `select_queue()`.",
        ),
        (
            "zh",
            "`p == current && !p->stopped` 时调用 `account()`。`p == current && !p->stopped` 时返回 `-EBUSY`。"
            "`!(p == current && !p->stopped)` 时把 `p->state` 设为 `RUNNING`。"
            "`!p->ops` 时返回 `-ENOSYS`。`p->ops` 时经函数指针 `p->ops->start` 调用。"
            "在循环中调用 `relax()`（waits a moment）。调用 `select_queue()`。",
        ),
    ],
)
def test_each_thing_is_said_under_its_condition_and_what_hangs_on_a_case_is_not_said(language: str, sentences: str):
    assert said(language) == sentences


def test_what_hangs_on_the_configuration_is_not_said() -> None:
    code = """\
static int check(unsigned long flags)
{
#ifndef CONFIG_NET_NS
	if (flags & CLONE_NEWNET)
		return -EINVAL;
#endif
	if (!flags)
		return -EPERM;
	return 0;
}
"""
    chunk = CodeChunk("n.c:1-10", code, "n.c", LineRef(1, 10), ChunkKind.FUNCTION, "check")
    some = doings(chunk, {line.number for line in all_lines(chunk)}, {"check"}.__contains__)
    assert in_words(some, {}.get, "en") == "If `!flags`, it returns `-EPERM`."
