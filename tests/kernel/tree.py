"""A kernel tree of a few small files, in memory or as an archive."""

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

MAKEFILE = "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 192\nEXTRAVERSION =\n"
CORE = """\
/*
 * Core of the scheduler.
 */
#include "sched.h"

/* Pick the next task to run and switch to it. */
void schedule(void)
{
	struct task_struct *next = pick_next_task(this_rq());

	context_switch(next);
}

/* Switch the address space and the registers to another task. */
static void context_switch(struct task_struct *next)
{
	switch_mm(next->mm);
	switch_to(next);
}

static struct task_struct *pick_next_task(struct rq *rq)
{
	return fair_pick(rq);
}

/**
 * try_to_wake_up - wake up a sleeping thread
 * @p: the thread
 *
 * Puts a sleeping thread on a run queue.
 */
int try_to_wake_up(struct task_struct *p)
{
	enqueue_task(p);
	resched_curr(p->rq);
	return 1;
}
"""
FAIR = """\
/* Completely fair scheduling class. */
struct task_struct *fair_pick(struct rq *rq)
{
	return rb_first(rq);
}

void enqueue_task(struct task_struct *p)
{
	fair_pick(p->rq);
}
"""
FAULT = """\
/* Page fault handling. */

/* Handle a page fault on anonymous memory: allocate a zeroed page. */
int do_anonymous_page(struct vm_fault *vmf)
{
	return alloc_zeroed(vmf);
}

SYSCALL_DEFINE1(brk, unsigned long, brk)
{
	return do_brk_flags(brk);
}
"""
FILES = {
    "Makefile": MAKEFILE,
    "kernel/sched/core.c": CORE,
    "kernel/sched/fair.c": FAIR,
    "mm/memory.c": FAULT,
    "net/ipv4/tcp.c": "int tcp_connect(void)\n{\n\treturn 0;\n}\n",
    "Documentation/x.rst": "text",
}


def write_tree(root: Path, files: Mapping[str, str] = FILES) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def write_archive(path: Path, files: Mapping[str, str] = FILES, *, top: str = "linux-source-6.1") -> Path:
    with tarfile.open(path, "w:xz") as tar:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(f"{top}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path
