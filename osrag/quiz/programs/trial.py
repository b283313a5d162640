"""Compiles an answer in C and runs it against the tests of its exercise, in the sandbox.

A case counts as passed only if the test's own line says so: the lines of a run begin with a key that is made for this
run, the other symbols of the answer are hidden from the test, and a program that reaches for what could read the key
(`asm`, constructors, `/proc`, …) is not run at all.
"""

import re
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from osrag.quiz.programs import sandbox
from osrag.quiz.programs.code import MAX_SOURCE, Code, text_of, walk
from osrag.quiz.programs.program import Program
from osrag.quiz.programs.sandbox import Limits, Ran

Sanitizer = Literal["address,undefined", "thread"]
State = Literal["ran", "not_compiled", "not_run", "stopped", "suspect"]
MEMORY, LEAK = "!memory", "!leak"  # cases that the sanitizers decide
COMPILING = Limits(seconds=20, cpu_s=15, memory=700_000_000, processes=16, address=1_500_000_000, output=16_000_000)
RUNNING = Limits(seconds=12, cpu_s=8, memory=400_000_000, processes=48)
AT_ONCE = 2  # sandboxes; further answers wait for their turn
WAIT_S = 60.0
_FLAGS = "-std=c17 -Wall -Wextra -pthread -g -fno-omit-frame-pointer -fdiagnostics-plain-output -fmax-errors=10"
# What an exercise never needs and what may read the memory, the files or the outputs of the test beside it.
SUSPECT = frozenset(
    """
    asm __asm__ __asm constructor destructor syscall dlopen dlsym ptrace process_vm_readv process_vm_writev
    __libc_start_main _IO_2_1_stdout_ stdout_ setvbuf fopencookie __malloc_hook environ __environ _start
    """.split()  # noqa: SIM905
)
_SUSPECT_PATH = re.compile(r"/proc\b|/dev/(?!null)")
_PRINTS = re.compile(r'\bprintf\s*\(\s*(?=")')
_ERROR = re.compile(r"^solution\.c:(\d+)(?::\d+)?: (?:fatal )?error: (.*)$", re.M)
_WARNING = re.compile(r"^solution\.c:(\d+)(?::\d+)?: warning: (.*?)(?: \[-W[\w=+-]+\])?$", re.M)
_SANITIZER = re.compile(r"(?:ERROR|WARNING): (\w+Sanitizer): ([^\n(]*)")
_UNDEFINED = re.compile(r"solution\.c:(\d+):\d+: runtime error: ([^\n]*)")
_FRAME = re.compile(r"solution\.c:(\d+)")
_turns = threading.Semaphore(AT_ONCE)


@dataclass(frozen=True, slots=True)
class Trial:
    """What compiler, sanitizers and tests said."""

    state: State
    passed: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()  # a case, and what the test said: "expected 3, got 4"
    told: str = ""  # what the compiler or a sanitizer said, or how the run ended
    line: int = 0  # of the answer, from 1, that `told` is about
    warnings: tuple[tuple[int, str], ...] = ()  # of the compiler: line, words
    ended: sandbox.Ended = "exit"

    @property
    def whole(self) -> bool:
        """Whether every case passed and no sanitizer said anything."""
        return self.state == "ran" and not self.failed


def attempt(program: Program, answer: str, *, sanitizer: Sanitizer = "address,undefined") -> Trial:
    """Compile and run an answer; one that only ran out of time is given a second run."""
    if len(answer.encode()) > MAX_SOURCE:
        return Trial("not_run", told="too_long")
    if word := suspect(answer):
        return Trial("suspect", told=word)
    if not _turns.acquire(timeout=WAIT_S):
        return Trial("not_run", told="busy")
    try:
        return _attempt(program, answer, sanitizer)
    finally:
        _turns.release()


def suspect(answer: str) -> str:
    """The first word of an answer that could forge the result of a test; empty where there is none."""
    code = Code(answer)
    for node in walk(code.tree):
        if node.child_count == 0 and text_of(node) in SUSPECT:
            return text_of(node)
        included = node.parent is not None and node.parent.type == "preproc_include"  # the compiler says what is wrong
        if node.type == "string_literal" and not included and (found := _SUSPECT_PATH.search(text_of(node))):
            return found[0]
        if node.type == "preproc_def" and (found := re.search(r"\b(?:__)?asm|##", text_of(node))):
            return found[0]
    return ""


def _attempt(program: Program, answer: str, sanitizer: Sanitizer) -> Trial:
    flags = f"{_FLAGS} -fsanitize={sanitizer}"
    compiled = sandbox.run(
        ["sh", "-c", f"gcc {flags} -c solution.c -o made.o && cat made.o"],
        {"solution.c": answer.encode()},
        COMPILING,
        devices=False,
    )
    said = compiled.err.decode("utf-8", "replace")
    warnings = tuple((int(line), words) for line, words in _WARNING.findall(said))
    if compiled.ended != "exit" or compiled.code:
        return _uncompiled(compiled, said, warnings)
    key = secrets.token_hex(8)
    tests = _PRINTS.sub(f'printf("{key}" ', program.tests)
    keep = " ".join(f"--keep-global-symbol={name}" for name in sorted(interface(program)))
    linked = sandbox.run(
        [
            "sh",
            "-c",
            f"objcopy {keep} made.o kept.o && gcc {flags} -w -c test.c && gcc {flags} kept.o test.o -o all && cat all",
        ],
        {"made.o": compiled.out, "test.c": tests.encode()},
        COMPILING,
        devices=False,
    )
    if linked.ended != "exit" or linked.code:
        lacking = re.search(r"undefined reference to [`'](\w+)'", linked.err.decode("utf-8", "replace"))
        return Trial("not_compiled", told=lacking[1] if lacking else "link", warnings=warnings)
    names = [name for name, _ in program.cases if not name.startswith("!")]
    for _ in range(2):
        ran = sandbox.run(["./program"], {"program": linked.out}, RUNNING)
        found = _read(ran, key, names, warnings)
        if ran.ended != "time" and not any("it still waits" in said for _, said in found.failed):
            break
    return found


def _uncompiled(ran: Ran, said: str, warnings: tuple[tuple[int, str], ...]) -> Trial:
    if ran.ended != "exit":
        return Trial("not_compiled", told=ran.ended, ended=ran.ended, warnings=warnings)
    error = _ERROR.search(said)
    if error is None:
        return Trial("not_compiled", told=said.strip().splitlines()[0][:200] if said.strip() else "")
    return Trial("not_compiled", told=error[2], line=int(error[1]), warnings=warnings)


def interface(program: Program) -> frozenset[str]:
    """The functions and variables of a solution that its tests use."""
    names = set(re.findall(r"\w+", program.tests))
    return frozenset(name for name in Code(program.solutions[0]).functions if name in names) or frozenset(("none",))


def _read(ran: Ran, key: str, names: list[str], warnings: tuple[tuple[int, str], ...]) -> Trial:
    """The cases that passed and failed. The first that is not reached failed as the run ended; others are unknown."""
    passed, failed = [], dict[str, str]()
    for sure, name, said in _lines(ran.out.decode("utf-8", "replace"), key, frozenset(names)):
        if said:
            failed.setdefault(name, said)
        elif sure:
            passed.append(name)
    told, line, kind = _sanitized(ran.err.decode("utf-8", "replace"))
    left = [name for name in names if name not in failed and name not in passed]
    late = any("it still waits" in said for said in failed.values())
    if kind:
        failed[kind] = told
    elif left and not late:
        failed[left[0]] = ""
    passed = [name for name in passed if name not in failed]
    state: State = "ran" if not left and ran.ended == "exit" else "stopped"
    said = told or ("" if state == "ran" else ran.ended)
    return Trial(state, tuple(passed), tuple(failed.items()), said, line, warnings, ran.ended)


def _lines(text: str, key: str, names: frozenset[str]) -> Iterator[tuple[bool, str, str]]:
    """(whether the test itself says so, case, what failed or "") of each line about a case."""
    for line in text.splitlines():
        sure, plain = line.startswith(key), line.removeprefix(key)
        word, _, rest = plain.partition(" ")
        if word == "ok" and rest in names:
            yield sure, rest, ""
        elif word == "FAIL":
            name = max((name for name in names if rest.startswith(f"{name}:")), key=len, default="")
            if name:
                yield sure, name, rest[len(name) + 1 :].strip() or "failed"


def _sanitized(text: str) -> tuple[str, int, str]:
    """What the sanitizers said, the line of the answer, and the case it belongs to."""
    if found := _SANITIZER.search(text):
        frame = _FRAME.search(text, found.end())
        what = found[2].split(" on ")[0].strip()
        return what, int(frame[1]) if frame else 0, LEAK if found[1] == "LeakSanitizer" else MEMORY
    if found := _UNDEFINED.search(text):
        return found[2], int(found[1]), MEMORY
    return "", 0, ""
