"""Whom a log blames, written out small: one report for each thing that once went wrong."""

import pytest

from osrag.answer.events import Token
from osrag.answer.source import Question
from osrag.evaluate.figures import plain
from osrag.evaluate.logs import LogReport, same_function
from osrag.evaluate.logs import rows as rows_of
from osrag.kernel.logs.answer import answer_log
from osrag.kernel.logs.blame import kinds
from osrag.kernel.logs.lines import clean, source_name
from osrag.kernel.logs.read import read_log

STACK = "Call Trace:\n <TASK>\n"
END = " do_syscall_64+0x5c/0x90\n entry_SYSCALL_64_after_hwframe+0x63/0xcd\n"


def named(text: str) -> list[str]:
    return [frame.name for frame in read_log(text).suspects]


@pytest.mark.parametrize(
    ("kind", "text", "function"),
    [
        ("kfence", "BUG: KFENCE: use-after-free read in ring_read+0x1c/0x80\n", "ring_read"),
        (
            "memory_leak",
            "BUG: memory leak\nunreferenced object 0xffff888107a9e400 (size 64):\n  backtrace:\n"
            "    [<00000000f1>] kmalloc_trace+0x25/0x90\n    [<00000000f2>] ring_open+0x3e/0x140\n",
            "ring_open",
        ),
        (
            "hung_task",
            "INFO: task dd:77 blocked in I/O wait for more than 120 seconds.\nCall Trace:\n __schedule+0x1/0x2\n"
            " io_schedule+0x1/0x2\n bit_wait_io+0x1/0x2\n ext4_bread+0x1/0x2\n",
            "ext4_bread",
        ),
        (
            "odebug",
            "ODEBUG: free active (active state 0) object type: timer_list hint: on_tick+0x0/0x40\n"
            "WARNING: CPU: 0 PID: 9 at lib/debugobjects.c:502 debug_print_object+0x6e/0x90\n"
            + STACK
            + " debug_check_no_obj_freed+0x1/0x2\n kfree+0x1/0x2\n ring_release+0x30/0x50\n",
            "ring_release",
        ),
        (
            "refcount",
            "refcount_t: addition on 0; use-after-free.\nWARNING: CPU: 0 PID: 9 at lib/refcount.c:25 "
            "refcount_warn_saturate+0x74/0x110\n" + STACK + " kobject_get+0x1/0x2\n ring_get+0x30/0x50\n",
            "ring_get",
        ),
        (
            "bad_page",
            "BUG: Bad page state in process cat  pfn:12345\npage last allocated via order 0\n"
            " prep_new_page+0x1/0x2\n __alloc_pages+0x1/0x2\n ring_fault+0x1/0x2\n",
            "ring_fault",
        ),
        (
            "lockdep_inconsistent",
            "WARNING: inconsistent lock state\ncat/9 [HC0[0]:SC0[0]:HE1:SE1] takes:\n"
            "ffff (ring_lock){?.-.}-{2:2}, at: ring_poll+0x1/0x2\n{IN-HARDIRQ-W} state was registered at:\n"
            "  lock_acquire+0x1/0x2\n  ring_irq+0x1/0x2\n",
            "ring_poll",
        ),
    ],
)
def test_each_kind_knows_where_its_culprit_stands(kind, text, function):
    log = read_log(text)
    assert (log.kind.name, log.suspects[0].name) == (kind, function)


@pytest.mark.parametrize(
    "helper",
    [
        "_atomic_dec_and_lock_irqsave",
        "__x86_indirect_thunk_rax",
        "rcu_lock_acquire",
        "register_lock_class",
        "check_preemption_disabled",
        "__do_kernel_fault",
        "kvfree",
        "__sanitizer_cov_trace_pc",
        "fortify_panic",
    ],
)
def test_a_helper_is_never_to_blame(helper):
    text = f"general protection fault: 0000 [#1] SMP\nRIP: 0010:{helper}+0x1a/0x60\n{STACK} ring_free+0x30/0x50\n{END}"
    assert named(text)[0] == "ring_free"


def test_the_entry_of_a_system_call_can_be_to_blame():
    text = f"BUG: KASAN: user-memory-access in __x64_sys_memfd_secret+0x40/0x90\n{STACK}{END}"
    (frame, *_) = read_log(text).suspects
    assert (frame.name, source_name("SyS_read"), source_name("__se_sys_read")) == (
        "sys_memfd_secret",
        "sys_read",
        "sys_read",
    )


def test_a_frame_above_the_trace_counts():
    arm = "Unhandled fault: page domain fault (0x01b) at 0x00000e30\nPC is at ring_map+0x4c/0x78\nLR is at f+0x1/0x2\n"
    assert (
        named(arm + "Backtrace:\n[<802b3ffc>] (ring_map) from [<802e1324>] (ring_open+0x6c/0x120)\n")[0] == "ring_map"
    )
    riscv = "Oops [#1]\nepc : ring_tail+0x72/0xb2\n ra : ring_head+0x70/0xb2\nstatus: 0120\n"
    assert named(riscv)[0] == "ring_tail"


def test_of_two_reports_the_first_counts():
    text = (
        "WARNING: CPU: 1 PID: 5 at mm/a.c:9 one+0x1/0x2\nCPU: 1 PID: 5 Comm: cat Not tainted 6.1.0 #1\n"
        + STACK
        + " two+0x1/0x2\n"
        + END
        + "BUG: KASAN: use-after-free in later+0x1/0x2\nCPU: 0 PID: 7 Comm: ls Tainted: G    B W 6.1.0 #1\n"
    )
    log = read_log(text)
    assert (log.suspects[0].name, log.environment.taint, log.environment.task) == ("one", "", "cat (PID 5)")
    assert log.later.startswith("BUG: KASAN") and "log_gap_later" in log.gaps


def test_what_another_task_prints_in_between_is_left_out():
    text = (
        "[ 1.000001][  T5] BUG: KASAN: use-after-free in kfree+0x1/0x2\n[ 1.000002][  T5] Call Trace:\n"
        "[ 1.000003][  T6]  other+0x1/0x2\n[ 1.000004][  T5]  mine+0x1/0x2\n"
    )
    assert named(text) == ["mine"]


@pytest.mark.parametrize(
    ("text", "kernel", "taint"),
    [
        ("CPU: 3 PID: 9 Comm: a b Tainted: G           OE    --------- -  - 4.18.0-477.el8.x86_64 #1", "4.18.0", "GOE"),
        ("Pid: 9, comm: cat Tainted: P        W  2.6.32-71.el6uek.x86_64 #1", "2.6.32", "PW"),
        ("CPU: 0 UID: 0 PID: 9 Comm: cat Not tainted 6.12.0 #1", "6.12.0", ""),
        ("CPU: 0 UID: 0 PID: 9 Comm: cat Tainted: G        W          6.12.0-rc1 #1", "6.12.0", "GW"),
    ],
)
def test_the_machine_of_a_vendors_kernel(text, kernel, taint):
    found = read_log(f"kernel BUG at mm/a.c:9!\n{text}\nRIP: 0010:f+0x1/0x2\n").environment
    assert found.kernel.startswith(kernel) and found.taint == taint and found.pid == "9"


def test_a_list_of_modules_that_mail_has_wrapped():
    text = (
        "kernel BUG at mm/a.c:9!\nModules linked in: nfs lockd\n sunrpc xfs(O) [last unloaded: ext4]\nCPU: 0 PID: 1\n"
    )
    assert read_log(text).environment.modules == ("nfs", "lockd", "sunrpc", "xfs(O)")


@pytest.mark.parametrize(
    "line",
    [
        "> > [   12.345678] BUG: x",
        "\x1b[32m[   12.345678]\x1b[0m BUG: x",
        "[Mon Nov 23 02:35:01 2026] BUG: x",
        "2026-11-23T02:35:01.123456+08:00 host kernel: BUG: x",
        "kern  :err   : [   12.345678] BUG: x",
        "<4>[   12.345678][  T123] BUG: x",
        "login: [   12.345678][    C0] BUG: x",
    ],
)
def test_prefixes_of_every_shape_go(line):
    assert clean(line).text.replace("\x1b[0m", "").strip() == "BUG: x"


def test_digits_that_a_screenshot_lost_come_back():
    log = read_log(
        "BUG: KASAN: slab-out-of-bounds in ring_put+Ox1c/0x8O\nCall Trace:\n ring_put+Ox1c/0x8O\n x+0xl/0x2\n"
    )
    assert log.suspects[0].label == "ring_put+0x1c/0x80" and "log_gap_picture" in log.gaps


HUNG = """INFO: task waiter:10 blocked for more than 120 seconds.
Call Trace:
 __schedule+0x1/0x2
 __mutex_lock+0x1/0x2
 ring_write+0x8/0x90
 vfs_write+0x1/0x2
INFO: task owner:20 blocked for more than 120 seconds.
Call Trace:
 __schedule+0x1/0x2
 msleep+0x1/0x2
 ring_flush+0x1/0x2
Showing all locks held in the system:
1 lock held by waiter/10:
 #0: ffff0001 (ring_lock){+.+.}-{3:3}, at: ring_write+0x8/0x90
1 lock held by other/30:
 #0: ffff0001 (ring_lock){+.+.}-{3:3}, at: ring_read+0x8/0x90
2 locks held by owner/20:
 #0: ffff0001 (ring_lock){+.+.}-{3:3}, at: ring_sync+0x8/0x90
 #1: ffff0002 (disk_lock){+.+.}-{3:3}, at: ring_flush+0x8/0x90
NMI backtrace for cpu 1
CPU: 1 PID: 0 Comm: swapper/1
RIP: 0010:native_safe_halt+0x1/0x2
 default_idle+0x1/0x2
"""


def test_of_a_hung_task_both_sides_are_named():
    log = read_log(HUNG)
    assert [frame.name for frame in log.suspects[:2]] == [
        "ring_write",
        "ring_flush",
    ] or log.holder.frame.name == "msleep"
    assert (log.holder.task, log.holder.lock) == ("owner (PID 20)", "ring_lock")
    assert (log.inside.name, log.second.name, log.environment.task) == ("__mutex_lock", "ring_flush", "waiter (PID 10)")
    assert not {"native_safe_halt", "default_idle"} & {frame.name for frame in log.blamed}


def test_the_kernels_own_word_on_the_owner_counts():
    text = HUNG.split("INFO: task owner")[0] + (
        "INFO: task waiter:10 is blocked on a mutex likely owned by task owner:20.\n"
        "task:owner           state:D stack:0     pid:20    ppid:1\nCall Trace:\n"
        " __schedule+0x1/0x2\n fsync_all+0x1/0x2\n"
    )
    log = read_log(text)
    assert (log.holder.task, log.holder.frame.name) == ("owner (PID 20)", "fsync_all")


def test_a_stall_names_what_runs_too_long_and_where_it_was_seen():
    text = (
        "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\nrcu: \t1-....: (1 GPs behind)\n"
        "NMI backtrace for cpu 0\nRIP: 0010:default_idle+0x1/0x2\n"
        "NMI backtrace for cpu 1\nRIP: 0010:ring_hash+0x1/0x2\nCall Trace:\n"
        " ring_rebuild+0x1/0x2\n ring_ioctl+0x1/0x2\n"
        " vfs_ioctl+0x1/0x2\n" + END
    )
    assert named(text)[:2] == ["ring_ioctl", "ring_hash"]


def test_a_stall_is_below_the_interrupt_that_found_it():
    text = (
        "rcu: INFO: rcu_sched self-detected stall on CPU\nrcu: \t0-....: (9 ticks this GP)\nCall Trace:\n <IRQ>\n"
        " rcu_sched_clock_irq+0x1/0x2\n update_process_times+0x1/0x2\n"
        " asm_sysvec_apic_timer_interrupt+0x1/0x2\n </IRQ>\n"
        " ring_spin+0x1/0x2\n ring_write+0x1/0x2\n vfs_write+0x1/0x2\n" + END
    )
    assert named(text)[:2] == ["ring_write", "ring_spin"]
    assert read_log(text).second.name == "ring_spin"


def test_a_stall_at_the_top_itself_has_no_second_place():
    text = (
        "watchdog: BUG: soft lockup - CPU#0 stuck for 26s!\nRIP: 0010:ring_run+0x1/0x2\nCall Trace:\n kthread+0x1/0x2\n"
    )
    assert read_log(text).second is None and named(text)[0] == "ring_run"


@pytest.mark.parametrize("head", ["at 0x0, CPU#0: cat/12", "at ring_set+0x1/0x2, CPU#0: cat/12", "ring_set+0x1/0x2"])
def test_every_form_of_a_warning_names_the_function(head):
    assert named(f"WARNING: mm/a.c:9 {head}\nRIP: 0010:ring_set+0x1/0x2\n{STACK}{END}")[0] == "ring_set"


@pytest.mark.parametrize("head", ["", "q=3 ncpus=2)\n"])
def test_registers_above_the_trace_count_where_the_error_line_is_cut_off(head):
    text = (
        f"{head}CPU: 1 PID: 3 Comm: c Not tainted 6.1.0 #1\nRIP: 0010:ring_set+0x1/0x2\n{STACK} ring_io+0x1/0x2\n{END}"
    )
    assert named(text)[:2] == ["ring_set", "ring_io"] and read_log(text).gaps == ("log_gap_head",)


def test_a_fault_of_a_user_program_blames_no_function_of_the_kernel():
    log = read_log("traps: a.out[123] general protection fault ip:401000 sp:7ffc error:0 in a.out[400000+1000]")
    assert (log.kind.name, log.suspects) == ("segfault", ())


def test_helpers_of_the_report_tell_nothing():
    text = f"kernel BUG at mm/a.c:9!\nRIP: 0010:one+0x1/0x2\n{STACK} panic+0x1/0x2\n two+0x1/0x2\n{END}"
    assert [frame.name for frame in read_log(text).telling] == ["one", "two"]


def test_a_module_from_outside_comes_before_the_kernel():
    text = (
        "kernel BUG at lib/x.c:9!\nModules linked in: mine(O) theirs\nRIP: 0010:core+0x1/0x2\n"
        + STACK
        + " theirs_fn+0x1/0x2 [theirs]\n mine_fn+0x1/0x2 [mine]\n"
    )
    assert named(text)[0] == "mine_fn"


@pytest.mark.parametrize(
    ("text", "gap"),
    [
        ("Call Trace:\n one+0x1/0x2\n" + END, "log_gap_head"),
        ("kernel BUG at mm/a.c:9!\n", "log_gap_stack"),
        ("kernel BUG at mm/a.c:9!\nCall Trace:\n [<ffffffff81494f40>]\n", "log_gap_symbols"),
        ("kernel BUG at mm/a.c:9!\nCall Trace:\n ? one+0x1/0x2\n", "log_gap_doubt"),
        ("kernel BUG at mm/a.c:9!\nCall Trace:\n one+0x1/0x2\n two+0x1/0x2\n", "log_gap_cut"),
        ("kernel BUG at mm/a.c:9!\nCall Trace:\n one+0x1/0x2\n two+0x", "log_gap_cut"),
    ],
)
def test_the_reply_says_what_is_missing(text, gap):
    assert gap in read_log(text).gaps


def test_a_whole_report_has_no_gap():
    assert read_log(f"kernel BUG at mm/a.c:9!\n{STACK} one+0x1/0x2\n{END}").gaps == ()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_next_commands_carry_the_real_frames(language):
    log = read_log(HUNG.replace(" ring_write", " [<ffffffff81494f40>] ring_write"))
    events = answer_log(log, Question("x", language=language), None, None)
    text = "".join(event.text for event in events if isinstance(event, Token))
    assert "./scripts/faddr2line vmlinux ring_write+0x8/0x90" in text
    assert "addr2line -fipe vmlinux 0xffffffff81494f40" in text
    assert "`bt 10`" in text and "{" not in text.split("## ")[2].replace("{+.+.}", "")


@pytest.mark.slow  # 44,000 lines
def test_two_megabytes_are_read():
    filler = "[    2.000000] usb 1-1: new high-speed USB device number 9 using xhci_hcd at port foo.bar\n" * 22_000
    assert named(filler + "kernel BUG at mm/a.c:9!\nRIP: 0010:culprit+0x1/0x2\n" + filler) == ["culprit"]


def test_a_title_of_syzkaller_means_a_function():
    assert same_function("sys_read", "read") and same_function("smp_call_function_many", "smp_call_function")
    assert same_function("__synchronize_srcu", "synchronize_rcu") and not same_function(
        "rcu_barrier", "synchronize_rcu"
    )


def test_figures_tell_the_index_from_elsewhere():
    rows = [
        LogReport(id="a", function="one", text="kernel BUG at mm/a.c:9!\nRIP: 0010:one+0x1/0x2\n"),
        LogReport(id="b", function="two", text="kernel BUG at mm/a.c:9!\nRIP: 0010:one+0x1/0x2\n two+0x1/0x2\n"),
        LogReport(id="c", function="six", text="a question"),
    ]
    found = list(rows_of(rows, lambda name: name == "one"))
    assert plain(found)["in_the_index"] == {"n": 1, "first": 1.0, "of_three": 1.0, "unread": 0}
    assert plain(found)["elsewhere"] == {"n": 2, "first": 0.0, "of_three": 0.5, "unread": 0.5}
    assert [row.note["id"] for row in found if row.note] == ["b", "c"]


def test_every_kind_is_told_in_both_languages():
    for kind in kinds().values():
        assert len(kind.fix_zh) == len(kind.fix_en) > 0 and len(kind.dump_zh) == len(kind.dump_en)


def test_a_log_whose_ends_of_lines_were_lost_is_taken_apart_at_its_stamps():
    lines = ["kernel BUG at mm/a.c:9!", "CPU: 0 PID: 7 Comm: cat Not tainted 6.1.0 #1", "Call Trace:"]
    stack = [f" fn_{n}+0x{n:x}/0x80" for n in range(20)]
    log = read_log(" ".join(f"[    1.{n:06}] {line}" for n, line in enumerate([*lines, *stack])) + "\nWhy?")
    assert log.suspects[0].name == "fn_0" and log.environment.pid == "7" and log.asked == "Why?"


def test_riscv_is_not_taken_for_x86_by_its_addresses():
    text = "Oops [#1]\nepc : ring_tail+0x72/0xb2\n ra : f+0x1/0x2\n[<ffffffff8002d8a2>] ring_tail+0x72/0xb2\n"
    assert read_log(text).environment.architecture == "riscv"
