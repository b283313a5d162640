"""Attempts to get out of the sandbox, to exhaust the machine, or to forge the results of tests.

They need bubblewrap, which `make test` installs; without it they are skipped by name.
"""

import os
import re
import time
from pathlib import Path

import pytest

from osrag.quiz.bank import shipped_bank
from osrag.quiz.programs import sandbox
from osrag.quiz.programs.program import Program
from osrag.quiz.programs.sandbox import Limits, run
from osrag.quiz.programs.trial import COMPILING, RUNNING, attempt

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(sandbox.missing()), reason=f"no sandbox: {sandbox.missing()}"),
]
SMALL = Limits(seconds=6, cpu_s=3, memory=200_000_000, processes=24)
HEAD = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
"""


def ran(body: str, limits: Limits = SMALL) -> sandbox.Ran:
    """What a program does that is compiled and run without any help from the tests."""
    source = f"{HEAD}\nint main(void) {{ {body} return 0; }}"
    built = run(["sh", "-c", "gcc -w -o a a.c && cat a"], {"a.c": source.encode()}, COMPILING, devices=False)
    assert built.code == 0, built.err
    return run(["./a"], {"a": built.out}, limits)


def text(body: str) -> str:
    return ran(body).out.decode()


def survivors() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return [line for line in found if line.startswith(("/usr/bin/bwrap", "bwrap")) or line == "./a "]


@pytest.fixture(autouse=True)
def _nothing_is_left():
    yield
    end = time.monotonic() + 5
    while survivors() and time.monotonic() < end:
        time.sleep(0.05)
    assert survivors() == []


def test_a_fork_bomb_ends():
    assert ran("for (;;) fork();").ended in ("time", "processes")
    made = text('int n = 0; while (fork() > 0) n++; if (getppid() == 2 || n) printf("%d\\n", n);')
    assert max(map(int, made.split())) < SMALL.processes


def test_an_endless_loop_an_endless_sleep_and_endless_output_end():
    loop = ran("for (;;) ;")
    assert loop.ended == "time" or loop.code in (128 + 9, 128 + 24)
    assert ran("for (;;) pause();").ended == "time"
    flood = ran('for (;;) puts("ok everything");')
    assert flood.ended == "output" and len(flood.out) <= sandbox.OUTPUT


def test_huge_memory_ends():
    assert ran("for (;;) { char *p = malloc(1 << 24); memset(p, 1, 1 << 24); }").ended in ("memory", "time")
    shared = "for (int i = 0; i < 20; i++) fork(); char *p = mmap(0, 1 << 28, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0); "
    assert ran(shared + "memset(p, 1, 1 << 28); pause();").ended in ("memory", "time", "processes")
    assert "-1" in text('printf("%d", memfd_create("x", 0));')


def test_a_huge_file_is_cut_and_many_files_fill_only_their_own_disk():
    assert ran('int f = open("x", O_CREAT | O_RDWR, 0600); for (;;) write(f, "abcdefgh", 8);').code == 128 + 25
    body = (
        'signal(SIGXFSZ, SIG_IGN); char b[65536] = {1}; long n = 0; char name[20];'
        'for (int i = 0; i < 90; i++) { sprintf(name, "f%d", i); int f = open(name, O_CREAT | O_WRONLY, 0600);'
        'for (long k; (k = write(f, b, sizeof b)) > 0;) n += k; } printf("%ld", n);'
    )  # fmt: skip
    assert int(text(body)) <= SMALL.disk
    shared = 'int f = open("/dev/shm/x", O_CREAT | O_RDWR, 0600); char b[65536] = {1}; long n = 0;'
    assert int(text(shared + 'for (long k; (k = write(f, b, sizeof b)) > 0;) n += k; printf("%ld", n);')) < 1_100_000


def test_there_is_no_network():
    assert text('int s = socket(AF_INET, SOCK_STREAM, 0); printf("%d %d", s, errno);') == "-1 1"
    assert text('int s[2]; printf("%d", socketpair(AF_UNIX, SOCK_STREAM, 0, s));') == "-1"
    assert text('char b[999] = ""; int f = open("/proc/net/dev", 0); read(f, b, 998); printf("%s", b);').count(":") <= 1


def test_no_file_of_the_machine_and_no_secret_can_be_read(monkeypatch, tmp_path):
    monkeypatch.setenv("OSRAG_INSTRUCTOR_KEY", "a-secret-of-the-class")
    (tmp_path / "secret").write_text("a-secret-of-the-class")
    paths = ["/etc/passwd", "/etc/shadow", "/root", "/home", str(tmp_path / "secret"), str(sandbox.ROOT / "app.py"),
             "/var", "/proc/1/root/etc/passwd", "/proc/self/root/../etc/passwd", "/sys", "/run"]  # fmt: skip
    for path in paths:
        assert text(f'printf("%d", open("{path}", O_RDONLY));') == "-1", path
    assert text('symlink("/etc/passwd", "link"); printf("%d", open("link", O_RDONLY));') == "-1"
    everything = (
        "extern char **environ; for (char **e = environ; *e; e++) puts(*e); char name[40], b[70000];"
        'for (int pid = 1; pid < 40; pid++) { sprintf(name, "/proc/%d/environ", pid); int f = open(name, 0);'
        "long n = read(f, b, sizeof b); if (n > 0) write(1, b, n); }"
    )
    said = text(everything)
    assert "secret" not in said and set(re.findall(r"\b([A-Z_]{3,})=", said)) <= {"PATH", "HOME", "PWD"}


def test_nothing_can_be_written_outside_and_no_other_process_is_reached():
    for path in ("/x", "/usr/x", "/usr/bin/x", "/dev/x", "/tmp/../x"):
        assert text(f'printf("%d", open("{path}", O_CREAT | O_WRONLY, 0600));') == "-1", path
    assert text(f'printf("%d", kill({os.getpid()}, 0));') == "-1"
    assert text(f'printf("%ld", ptrace(PTRACE_ATTACH, {os.getpid()}, 0, 0));') == "-1"
    assert text('kill(-1, SIGKILL); printf("here");') in ("here", "")
    assert text('printf("%d", getppid() <= 2 && getpid() < 40);') == "1"


def test_no_new_namespace_and_no_mount():
    said = text(
        'printf("%d %d %d", unshare(CLONE_NEWUSER), mount("a", "/work", "tmpfs", 0, 0), chroot("/work"));'.replace(
            "CLONE_NEWUSER", "0x10000000"
        )
    )
    assert said == "-1 -1 -1"


def test_the_compiler_is_in_the_sandbox_too():
    program = Program(solutions=("int f(void) { return 1; }",), tests=TESTS, cases=CASES)
    for source in ('#include "/etc/passwd"', "#include </dev/zero>", '#include "/proc/self/environ"'):
        found = attempt(program, f"{source}\nint f(void) {{ return 1; }}")
        assert found.state == "not_compiled" and "No such file" in found.told and found.line == 1
    bomb = "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(A(A(A(A(A(A(x))))))))))\nint f(void) { B(B(1;)) }"
    found = attempt(program, bomb)
    assert found.state == "not_compiled"
    array = attempt(program, "char big[1UL << 40] = {1}; int f(void) { return big[0]; }")
    assert array.state in ("not_compiled", "stopped", "suspect")
    assert attempt(program, "x" * 2_000_000).told == "too_long"


TESTS = """
#include <stdio.h>
#include <unistd.h>
int f(void);
int main(void)
{
    alarm(5);
    setvbuf(stdout, NULL, _IONBF, 0);
    if (f() == 7)
        printf("ok seven\\n");
    else
        printf("FAIL seven: expected 7, got another\\n");
    if (f() == 7)
        printf("ok again\\n");
    else
        printf("FAIL again: expected 7, got another\\n");
    return 0;
}
"""
CASES = (("seven", (1,)), ("again", (1,)))
HEADERS = "#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"


@pytest.mark.parametrize(
    "forged",
    [
        'int f(void) { write(1, "ok seven\\nok again\\n", 18); _exit(0); }',
        'int f(void) { puts("ok seven"); puts("ok again"); exit(0); }',
        "int printf(const char *s, ...) { return puts(s); } int f(void) { return 1; }",
        'int main(void) { write(1, "ok seven\\nok again\\n", 18); return 0; } int f(void) { return 1; }',
        'int f(void) { char b[99]; int d = open("/dev/stdout", 0); read(d, b, 99); return 1; }',
        "int f(void) { close(1); return 7; }",
        '#include "test.c"\nint f(void) { return 1; }',
    ],
)
def test_results_cannot_be_forged(forged):
    program = Program(solutions=("int f(void) { return 7; }",), tests=TESTS, cases=CASES)
    found = attempt(program, HEADERS + forged)
    assert not found.whole and (found.failed or found.state in ("not_compiled", "suspect"))


def test_sanitizers_and_warnings_are_reported_with_their_line():
    program = Program(solutions=("int f(void) { return 7; }",), tests=TESTS, cases=CASES)
    good = attempt(program, "int f(void) { return 7; }")
    assert good.whole and good.passed == ("seven", "again")
    overflow = "#include <stdlib.h>\nint f(void)\n{\n    int *p = malloc(4), n;\n    return p[1] ? 7 : 8;\n}"
    broken = attempt(program, overflow)
    assert dict(broken.failed)["!memory"] == "heap-buffer-overflow" and broken.line == 5
    assert broken.warnings and broken.warnings[0][0] == 4
    leak = "#include <stdlib.h>\nint f(void) { char *volatile p = malloc(4); p = 0; return 7; }"
    assert "!leak" in dict(attempt(program, leak).failed)
    assert attempt(program, "int g(void) { return 7; }").told == "f"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("id_", ["prog-fit", "prog-exec-command", "prog-condvar-queue", "prog-ring-bytes"])
def test_right_programs_pass_and_wrong_ones_do_not(id_):
    program = shipped_bank().get(f"{id_}/en").program
    for source in program.solutions:
        assert attempt(program, source).whole
    for mistake in program.mistakes:
        assert not attempt(program, mistake.code).whole
    assert RUNNING.seconds < 15
